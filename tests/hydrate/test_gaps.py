"""Events that were emitted and not retained (contract 1.2), and what that hides (contract 2.4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.calls import NO_FILE, SESSION, manifest, row
from tests.hydrate.ask import (
    UNSET,
    at_cursor,
    entries,
    entry,
    exited,
    exits,
    found,
    opened,
    seeded,
    shown,
    snapshot,
    started,
    write,
)

CODES = "EVENTS_MISSING", "CAPTURE_FAILURE"


def notes(*numbers: int) -> list[dict[str, Any]]:
    return [row(seq, "note") for seq in numbers]


def counted(emitted: int | None = None, failures: int | None = None) -> dict[str, Any]:
    capture = {"events_emitted": emitted, "emit_failures": failures}
    return manifest(capture={key: value for key, value in capture.items() if value is not None})


LOOSE: dict[str, Any] = {"type": "note", "session_id": SESSION}

RANGES: dict[str, tuple[list[dict[str, Any]], dict[str, Any], list[str]]] = {
    "none": (notes(1, 2, 3), counted(3), []),
    "from 0": (notes(0, 1, 2), counted(3), []),
    "the lowest is above 1": (notes(2, 3), counted(), ["EVENTS_MISSING:bus:2"]),
    "one range is one finding": (notes(1, 5, 6), counted(6), ["EVENTS_MISSING:bus:5"]),
    "two ranges": (notes(1, 3, 7), counted(), ["EVENTS_MISSING:bus:3", "EVENTS_MISSING:bus:7"]),
    "fewer read than emitted": (notes(1, 2), counted(3), ["EVENTS_MISSING:-"]),
    "ranges count as known": (notes(1, 5), counted(5), ["EVENTS_MISSING:bus:5"]),
    "a range and more": (notes(1, 5), counted(6), ["EVENTS_MISSING:-", "EVENTS_MISSING:bus:5"]),
    "more read than emitted": (notes(1, 2), counted(1), []),
    "a row twice is one event": ([*notes(1, 2), *notes(1)], counted(3), ["EVENTS_MISSING:-"]),
    "two events at one seq are two": ([*notes(1, 2), row(2, "barge_in")], counted(3), []),
    "emits that failed": (notes(1), counted(failures=2), ["CAPTURE_FAILURE:-"]),
    "no emit that failed": (notes(1), counted(failures=0), []),
}


@pytest.mark.parametrize("case", RANGES)
def test_missing_ranges(tmp_path: Path, case: str) -> None:
    rows, stated, findings = RANGES[case]
    assert found(opened(tmp_path, rows, manifest=stated), *CODES) == findings


def test_a_row_without_a_valid_seq_counts_as_read(tmp_path: Path) -> None:
    call = opened(tmp_path, notes(1, 2), durable=[*notes(1, 2), LOOSE], manifest=counted(3))
    assert found(call, "EVENTS_MISSING") == []


# Whether a missing range may have held a write: no durable file, one without any write, or failed emits.

HELD: dict[str, tuple[dict[str, Any], bool]] = {
    "a durable file with writes": ({}, False),
    "no durable file": ({"durable": NO_FILE}, True),
    "a durable file without any write": ({"durable": notes(1)}, True),
    "emits failed": ({"manifest": counted(failures=1)}, True),
    "a rotated part with writes": (
        {"durable": NO_FILE, "files": {"state_trace.1.jsonl": '{"seq": 1, "type": "slot_write"}\n'}}, False,
    ),
}  # fmt: skip
BEFORE = [
    started(1),
    seeded(2, {"x": 1, "y": 2}),
    row(3, "state_entered", state_id="menu"),
    write(4, "x", 1, 5),
]


@pytest.mark.parametrize("case", HELD)
def test_what_a_missing_range_may_have_held(tmp_path: Path, case: str) -> None:
    files, hidden = HELD[case]
    call = opened(tmp_path, [*BEFORE, row(9, "note")], **files)
    assert shown(at_cursor(call, "bus:4", "x")) == 5
    gone = ("unavailable", "seq_gap")
    assert [shown(at_cursor(call, "bus:9", name)) for name in "xy"] == ([gone, gone] if hidden else [5, 2])


def test_events_missing_beyond_the_ranges_hide_nothing(tmp_path: Path) -> None:
    call = opened(tmp_path, [*BEFORE, row(5, "note")], durable=NO_FILE, manifest=counted(99))
    assert found(call, "EVENTS_MISSING") == ["EVENTS_MISSING:-"]
    assert shown(at_cursor(call, "bus:5", "x")) == 5


GONE = "unavailable", "seq_gap"
AFTER: dict[str, tuple[dict[str, Any], tuple[Any, Any, Any]]] = {
    "nothing": (row(10, "note"), (GONE, GONE, GONE)),
    "a write of the slot, whatever its old": (write(10, "x", 7, 8), (8, GONE, GONE)),
    "a removal": (write(10, "x", 7, None, present=False), (UNSET, GONE, GONE)),
    "a full snapshot": (snapshot(10, "entry", {"x": 3}), (3, UNSET, UNSET)),
    "a partial snapshot": (snapshot(10, "entry", {"x": 3}, partial=True), (3, GONE, GONE)),
    "seeds once more fold as writes": (seeded(10, {"x": 3}), (3, GONE, GONE)),
    "a fingerprint proves nothing": (snapshot(10, "entry", fingerprint="sha256:0"), (GONE, GONE, GONE)),
}


@pytest.mark.parametrize("case", AFTER)
def test_values_after_a_missing_range(tmp_path: Path, case: str) -> None:
    more, wanted = AFTER[case]
    call = opened(tmp_path, [*BEFORE, row(9, "note"), more, write(11, "z", None, 1)], durable=NO_FILE)
    assert tuple(shown(at_cursor(call, "bus:10", name)) for name in "xyz") == wanted
    assert found(call, "FOLD_MISMATCH") == []


def test_a_range_before_an_entry_hides_it_and_the_exit_before_it_stays(tmp_path: Path) -> None:
    rows = [*BEFORE, exited(5, "menu", "bye"), row(9, "state_entered", state_id="bye"), write(10, "x", 7, 8),
            exited(11, "bye", None)]  # fmt: skip
    call = opened(tmp_path, rows, durable=NO_FILE)
    assert (entries(call, "x"), exits(call, "x")) == ([1, GONE], [5, 8])
    assert (entries(call, "y"), exits(call, "y")) == ([2, GONE], [2, GONE])
    snapshot_ = entry(call, "bye#1")
    assert (snapshot_.evidence, snapshot_.reason) == ("unavailable", "seq_gap")


def test_a_range_before_an_exit_hides_it(tmp_path: Path) -> None:
    call = opened(tmp_path, [*BEFORE, exited(9, "menu", "bye")], durable=NO_FILE)
    assert exits(call, "x") == [GONE]


def test_a_baseline_after_a_start_that_is_cut_off(tmp_path: Path) -> None:
    rows = [started(3), seeded(4, {"x": 1}), row(5, "state_entered", state_id="menu"), row(6, "note")]
    call = opened(tmp_path, rows, durable=NO_FILE)
    assert (entries(call, "x"), found(call, "EVENTS_MISSING")) == ([1], ["EVENTS_MISSING:bus:3"])
    assert shown(at_cursor(call, "bus:3", "x", "menu#1")) == 1
