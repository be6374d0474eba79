"""Writes and snapshots that agree with the fold of the others, or do not (contract 2.4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.canonical import fingerprint
from tests.calls import row
from tests.hydrate.ask import (
    UNSET,
    at_cursor,
    entered,
    entries,
    exit,
    exited,
    exits,
    found,
    left,
    opened,
    seeded,
    shown,
    slots_of,
    snapshot,
    start,
    started,
    two_states,
    write,
)

NO_BASELINE = "unavailable", "no_baseline"
MISMATCH = "unavailable", "fold_mismatch"
LOST = "unavailable", "malformed_write"
Row = dict[str, Any]


# A write whose `old` disagrees.


def wrote(old: Any, folded: Any) -> list[Row]:
    """x is seeded with `folded` (or not at all), menu is left, and bye writes it with `old`."""
    seeds = {} if folded == UNSET else {"x": folded}
    return start(*left(4), write(6, "x", old, "new"), exited(7, "bye"), slots=seeds)


OLD: dict[str, tuple[Any, Any, bool]] = {
    "equal": (1, 1, True),
    "another value": (2, 1, False),
    "another type": (1.0, 1, False),
    "true is not 1": (True, 1, False),
    "null and null": (None, None, True),
    "null and unset": (None, UNSET, True),
    "null and a value": (None, 1, False),
    "a value and unset": (1, UNSET, False),
    "a value and null": (1, None, False),
    "key order": ({"b": 1, "a": 2}, {"a": 2, "b": 1}, True),
    "deep": ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, False),
    "a mark of its type and length": ("<str:3>", "abc", True),
    "a mark of another length": ("<str:4>", "abc", False),
    "a mark of another type": ("<list:3>", "abc", False),
    "a list": ("<list:2>", [1, 2], True),
    "a dict": ("<dict:1>", {"a": 1}, True),
    "an int": ("<int>", 7, True),
    "an int is no float": ("<float>", 7, False),
    "a bool": ("<bool>", True, True),
    "a bool is no int": ("<int>", True, False),
    "redacted agrees with anything": ("<redacted>", {"a": 1}, True),
    "the fold holds the mark": ("abc", "<str:3>", True),
    "at depth": ({"a": "<str:3>"}, {"a": "abc"}, True),
    "at depth of another length": ({"a": "<str:2>"}, {"a": "abc"}, False),
    "a mark does not agree with unset": ("<redacted>", UNSET, False),
    "two marks of one length": ("<str:3>", "<str:3>", True),
    "two marks of two lengths": ("<str:3>", "<str:4>", False),
    "no mark at all": ("<str:x>", "abc", False),
}


@pytest.mark.parametrize("case", OLD)
def test_old_and_the_folded_value(tmp_path: Path, case: str) -> None:
    old, folded, agree = OLD[case]
    call = opened(tmp_path, wrote(old, folded))
    assert found(call, "FOLD_MISMATCH") == ([] if agree else ["FOLD_MISMATCH:bus:6:x"])
    assert (entries(call, "x")[1] == MISMATCH) is not agree
    assert exits(call, "x")[1] == "new"


def test_a_mismatch_hides_what_lies_since_the_last_agreeing_point(tmp_path: Path) -> None:
    rows = start(
        write(4, "x", 1, 2), row(5, "note"), *left(6), write(8, "y", 1, 2), write(9, "x", 7, 8),
        exited(10, "bye"), slots={"x": 1, "y": 1},
    )  # fmt: skip
    call = opened(tmp_path, rows)
    seen = [shown(at_cursor(call, f"bus:{seq}", "x")) for seq in (3, 4, 5, 6, 7, 8, 9)]
    assert seen == [1, 2, MISMATCH, MISMATCH, MISMATCH, MISMATCH, 8]
    assert (entries(call, "x"), exits(call, "x")) == ([1, MISMATCH], [MISMATCH, 8])
    assert (entries(call, "y"), exits(call, "y")) == ([1, 1], [1, 2])
    (finding,) = [one for one in call.findings if one.code == "FOLD_MISMATCH"]
    told = {key: finding.data[key] for key in ("slot", "folded", "claimed", "between")}
    assert told == {"slot": "x", "folded": 2, "claimed": 7, "between": ["bus:4", "bus:9"]}


def test_the_baseline_and_the_first_entry_stay(tmp_path: Path) -> None:
    rows = start(row(4, "note"), *left(5), write(7, "x", 7, 8), exited(8, "bye"), slots={"x": 1})
    call = opened(tmp_path, rows)
    assert (entries(call, "x"), exits(call, "x")) == ([1, MISMATCH], [MISMATCH, 8])
    assert shown(at_cursor(call, "drv:entry_boundary:bus:1", "x")) == 1
    assert shown(at_cursor(call, "bus:4", "x")) == MISMATCH


def test_a_first_entry_after_another_point_does_not_stay(tmp_path: Path) -> None:
    rows = [started(1), seeded(2, {"x": 1}), write(3, "x", 1, 2), entered(4, "menu"), write(5, "x", 7, 8)]
    assert entries(opened(tmp_path, rows), "x") == [MISMATCH]


def test_old_is_not_folded_backwards(tmp_path: Path) -> None:
    call = opened(tmp_path, [started(1), entered(2, "menu"), row(3, "note"), write(4, "x", 1, 2)])
    assert [shown(at_cursor(call, f"bus:{seq}", "x")) for seq in (3, 4)] == [NO_BASELINE, 2]


# Snapshots.

SNAPS: dict[str, tuple[list[Row], dict[str, Any], list[str]]] = {
    "a full one that agrees": ([snapshot(5, "exit", {"x": 2, "y": 1})], {"x": 2, "y": 1, "z": UNSET}, []),
    "a full one lists every set slot": (
        [snapshot(5, "exit", {"x": 2})], {"x": 2, "y": UNSET, "z": UNSET}, ["FOLD_MISMATCH:bus:5:y"],
    ),
    "a full one is the truth": (
        [snapshot(5, "exit", {"x": 3, "y": 1, "z": 4})], {"x": 3, "y": 1, "z": 4},
        ["FOLD_MISMATCH:bus:5:x", "FOLD_MISMATCH:bus:5:z"],
    ),
    "null is not unset": (
        [snapshot(5, "exit", {"x": 2, "y": 1, "z": None})], {"z": None}, ["FOLD_MISMATCH:bus:5:z"],
    ),
    "a partial one says nothing of others": ([snapshot(5, "exit", {"x": 2}, partial=True)], {"y": 1}, []),
    "a partial one that disagrees": (
        [snapshot(5, "exit", {"x": 3}, partial=True)], {"x": 3, "y": 1}, ["FOLD_MISMATCH:bus:5:x"],
    ),
    "partial: false is a full one": (
        [snapshot(5, "exit", {"x": 2}, partial=False)], {"y": UNSET}, ["FOLD_MISMATCH:bus:5:y"],
    ),
    "the fingerprint of a partial one is not compared": (
        [snapshot(5, "exit", {"x": 2}, partial=True, fingerprint="sha256:0")], {"x": 2}, [],
    ),
    "a fingerprint of all set slots that agrees": (
        [snapshot(5, "exit", fingerprint=fingerprint({"x": 2, "y": 1}))], {"x": 2, "y": 1}, [],
    ),
    "a fingerprint that disagrees": (
        [snapshot(5, "exit", fingerprint="sha256:0")], {"x": MISMATCH, "y": MISMATCH, "z": MISMATCH},
        ["FOLD_MISMATCH:bus:5"],
    ),
    "… until a write of that slot": (
        [snapshot(5, "exit", fingerprint="sha256:0"), write(6, "x", 9, 7)], {"x": 7, "y": MISMATCH},
        ["FOLD_MISMATCH:bus:5"],
    ),
    "… or a full snapshot": (
        [snapshot(5, "exit", fingerprint="sha256:0"), snapshot(6, "exit", {"x": 7})],
        {"x": 7, "y": UNSET, "z": UNSET}, ["FOLD_MISMATCH:bus:5"],
    ),
    "later writes apply on top": (
        [snapshot(5, "exit", {"x": 2, "y": 1}), write(6, "x", 2, 9)], {"x": 9, "y": 1}, [],
    ),
    "a phase of another word": ([snapshot(5, "middle", {"x": 2, "y": 1, "z": 1})], {"z": 1},
                                ["FOLD_MISMATCH:bus:5:z"]),
    "a mark proves no more": ([snapshot(5, "exit", {"x": "<int>", "y": 1})], {"x": 2, "y": 1}, []),
    "slots of a wrong type say nothing": (
        [row(5, "state_slot_snapshot", phase="exit", slots=[1])], {"x": 2}, [],
    ),
    "its own fingerprint disagrees": (
        [snapshot(5, "exit", {"x": 2, "y": 1}, fingerprint="sha256:0")], {"x": 2, "y": 1},
        ["FINGERPRINT_MISMATCH:bus:5"],
    ),
    "its own fingerprint agrees": (
        [snapshot(5, "exit", {"x": 2, "y": 1}, fingerprint=fingerprint({"x": 2, "y": 1}))], {"x": 2}, [],
    ),
    "a quarantined one speaks too": (
        [snapshot(5, "entry", {"x": 3, "y": 1}, state_id="bye")], {"x": 3}, ["FOLD_MISMATCH:bus:5:x"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SNAPS)
def test_snapshots(tmp_path: Path, case: str) -> None:
    rows, values, findings = SNAPS[case]
    call = opened(tmp_path, start(write(4, "x", 1, 2), *rows, exited(7, "menu"), slots={"x": 1, "y": 1}),
                  flow=two_states(slots=slots_of("x", "y", "z")))  # fmt: skip
    cells = exit(call, "menu#1").cells
    assert {name: shown(cells[name]) for name in values} == values
    assert found(call, "FOLD_MISMATCH", "FINGERPRINT_MISMATCH") == findings


def test_a_snapshot_that_disagrees_hides_its_slot_since_the_last_agreeing_point(tmp_path: Path) -> None:
    rows = start(write(4, "x", 1, 2), row(5, "note"), snapshot(6, "exit", {"x": 3, "y": 1}), row(7, "note"),
                 exited(8, "menu"), slots={"x": 1, "y": 1})  # fmt: skip
    call = opened(tmp_path, rows)
    assert [shown(at_cursor(call, f"bus:{seq}", "x")) for seq in (3, 4, 5, 6, 7)] == [1, 2, MISMATCH, 3, 3]
    assert [shown(at_cursor(call, f"bus:{seq}", "y")) for seq in (3, 5, 7)] == [1, 1, 1]
    (finding,) = [one for one in call.findings if one.code == "FOLD_MISMATCH"]
    assert finding.visit_id == "menu#1"


def test_a_fingerprint_that_disagrees_hides_every_slot_since_its_last_agreeing_point(tmp_path: Path) -> None:
    rows = start(
        row(4, "note"), write(5, "x", 1, 2), row(6, "note"), snapshot(7, "exit", fingerprint="sha256:0"),
        row(8, "note"), slots={"x": 1, "y": 1},
    )  # fmt: skip
    call = opened(tmp_path, rows)
    hidden = [MISMATCH] * 3
    assert [shown(at_cursor(call, f"bus:{seq}", "x")) for seq in (5, 6, 7, 8)] == [2, *hidden]
    assert [shown(at_cursor(call, f"bus:{seq}", "y")) for seq in (6, 7, 8)] == hidden
    assert (entries(call, "x"), entries(call, "y")) == ([1], [1])
    (finding,) = [one for one in call.findings if one.code == "FOLD_MISMATCH"]
    assert finding.data["slot"] is None


def test_a_fingerprint_that_disagrees_leaves_what_lies_before_a_later_write(tmp_path: Path) -> None:
    rows = start(
        row(4, "note"), write(5, "x", 1, 2), write(6, "y", None, 3),
        snapshot(7, "exit", fingerprint="sha256:0"), slots={"x": 1},
    )  # fmt: skip
    call = opened(tmp_path, rows)
    assert [shown(at_cursor(call, f"bus:{seq}", "x")) for seq in (4, 5, 6, 7)] == [1, 2, MISMATCH, MISMATCH]
    assert [shown(at_cursor(call, f"bus:{seq}", "y")) for seq in (4, 5, 6, 7)] == [UNSET, UNSET, 3, MISMATCH]


def test_a_snapshot_is_held_against_every_slot_that_is_known(tmp_path: Path) -> None:
    """Also where another slot is not: x was written without a value."""
    unreadable = row(4, "slot_write", slot="x", old=1, kind="direct", writer="t")
    rows = start(unreadable, snapshot(5, "exit", {"x": 2, "y": 3}), exited(6, "menu"), slots={"x": 1, "z": 1})
    call = opened(tmp_path, rows)
    assert found(call, "FOLD_MISMATCH") == ["FOLD_MISMATCH:bus:5:y", "FOLD_MISMATCH:bus:5:z"]
    assert [shown(exit(call, "menu#1").cells[name]) for name in "xyz"] == [2, 3, UNSET]
    assert [shown(at_cursor(call, "bus:4", name)) for name in "xyz"] == [LOST, MISMATCH, MISMATCH]


def test_a_snapshot_that_agreed_is_the_last_agreeing_point(tmp_path: Path) -> None:
    rows = start(snapshot(4, "entry", {"x": 1, "y": 1}), row(5, "note"), *left(6), write(8, "x", 7, 8),
                 slots={"x": 1, "y": 1})  # fmt: skip
    call = opened(tmp_path, rows)
    assert [shown(at_cursor(call, f"bus:{seq}", "x")) for seq in (3, 4, 5)] == [1, 1, MISMATCH]
    assert entries(call, "x") == [1, MISMATCH]


EXIT_PHASE: dict[str, tuple[list[Row], Any]] = {
    "it speaks for the exit": ([snapshot(4, "exit", {"x": 1}), row(5, "note")], 1),
    "a partial one for its slots": ([snapshot(4, "exit", {"x": 1}, partial=True), row(5, "note")], 1),
    "a partial one says nothing of others": (
        [snapshot(4, "exit", {"y": 2}, partial=True), row(5, "note")], MISMATCH,
    ),
    "a fingerprint too": (
        [snapshot(4, "exit", fingerprint=fingerprint({"x": 1, "y": 2})), row(5, "note")], 1,
    ),
    "an entry-phase one does not": ([snapshot(4, "entry", {"x": 1}), row(5, "note")], MISMATCH),
    "a write between the two speaks for itself": (
        [snapshot(4, "exit", {"x": 1}), write(5, "x", 1, 2)], MISMATCH,
    ),
    "a write of another slot does not matter": ([snapshot(4, "exit", {"x": 1}), write(5, "y", None, 3)], 1),
    "none": ([row(4, "note"), row(5, "note")], MISMATCH),
}  # fmt: skip


@pytest.mark.parametrize("case", EXIT_PHASE)
def test_an_exit_phase_snapshot_speaks_for_the_exit(tmp_path: Path, case: str) -> None:
    """The next visit's write claims an old value that nothing recorded explains."""
    rows, wanted = EXIT_PHASE[case]
    full = {"y": 2} if case.startswith(("a partial", "a fingerprint", "none")) else {}
    call = opened(tmp_path, start(*rows, *left(6), write(8, "x", 7, 8), slots={"x": 1} | full))
    assert exits(call, "x")[0] == wanted
    assert entries(call, "x") == [1, MISMATCH]


def test_seeds_whose_fingerprint_is_not_theirs(tmp_path: Path) -> None:
    right = [started(1), seeded(2, {"x": 1}, fingerprint=fingerprint({"x": 1})), entered(3, "menu")]
    wrong = [started(1), seeded(2, {"x": 1}, fingerprint="sha256:0"), entered(3, "menu")]
    assert found(opened(tmp_path, right)) == []
    call = opened(tmp_path, wrong, name="wrong")
    assert (found(call), entries(call, "x")) == (["FINGERPRINT_MISMATCH:bus:2"], [1])


def test_context_fingerprints(tmp_path: Path) -> None:
    """Of the payload without phase, itself and where it was emitted; the epoch is in."""
    fields: Row = {"turn_count": 1, "decision_epoch": 3, "recent_states": ["menu"]}
    around: Row = {"phase": "entry", "state_id": "menu", "turn_index": 4}
    for number, (stated, findings) in enumerate(
        [(fingerprint(fields), []), (fingerprint(fields | {"turn_count": 2}), ["FINGERPRINT_MISMATCH:bus:4"]),
         (fingerprint(fields | around), ["FINGERPRINT_MISMATCH:bus:4"])]
    ):  # fmt: skip
        made = row(4, "state_context_snapshot", **fields, **around, context_fingerprint=stated)
        assert found(opened(tmp_path, start(made), name=str(number))) == findings


def test_a_negative_zero_is_zero_in_a_fingerprint(tmp_path: Path) -> None:
    shown_ = snapshot(5, "exit", fingerprint=fingerprint({"a": [0.0]}))
    call = opened(tmp_path, start(write(4, "a", None, [-0.0]), shown_))
    assert found(call, "FOLD_MISMATCH") == []


CONTRADICTED_LATER: dict[str, tuple[list[dict[str, Any]], Any]] = {
    "an agreeing row in between changes nothing": (
        [snapshot(5, "exit", {"x": 1}), snapshot(6, "entry", {"x": 1}, partial=True)], 1,
    ),
    "several speak for a slot each": (
        [snapshot(5, "exit", {"x": 1}, partial=True), snapshot(6, "exit", {"y": 1}, partial=True)], 1,
    ),
    "another value in between": (
        [snapshot(5, "exit", {"x": 1}), snapshot(6, "entry", {"x": 2}, partial=True)],
        ("unavailable", "fold_mismatch"),
    ),
    "a write in between": (
        [snapshot(5, "exit", {"x": 1}), write(6, "x", 1, 1)], ("unavailable", "fold_mismatch"),
    ),
    "none that speaks for the slot": (
        [snapshot(5, "exit", {"y": 1}, partial=True), snapshot(6, "entry", {"y": 1}, partial=True)],
        ("unavailable", "fold_mismatch"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CONTRADICTED_LATER)
def test_an_exit_phase_snapshot_speaks_for_the_exit_though_a_later_row_contradicts(
    tmp_path: Path, case: str
) -> None:
    between, expected = CONTRADICTED_LATER[case]
    rows = start(write(4, "x", None, 1), *between, *left(7), snapshot(9, "entry", {"x": 9, "y": 1}))
    assert exits(opened(tmp_path, rows), "x")[0] == expected
