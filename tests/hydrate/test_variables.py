"""Slots at entry, at a cursor and at exit (contract 2.4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.hydrate.document import artifact
from tests.calls import row
from tests.hydrate.ask import (
    UNSET,
    at_cursor,
    committed,
    entered,
    entries,
    entry,
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
LOST = "unavailable", "malformed_write"
UNOWNED = "unavailable", "unattributed_write"
Row = dict[str, Any]


# The columns: entry and exit of every visit, of slot x.

FOLDED: dict[str, tuple[list[Row], list[Any], list[Any]]] = {
    "a seed": (start(*left(4), slots={"x": 1}), [1, 1], [1, ("unavailable", "no_exit_boundary")]),
    "a slot that the baseline does not list is unset": (start(exited(4, "menu")), [UNSET], [UNSET]),
    "a seeded null is not unset": (start(exited(4, "menu"), slots={"x": None}), [None], [None]),
    "a write shows at the exit and at the next entry": (
        start(write(4, "x", 1, 2), *left(5), exited(7, "bye"), slots={"x": 1}), [1, 2], [2, 2],
    ),
    "the last of two writes": (
        start(write(4, "x", 1, 2), write(5, "x", 2, 3), exited(6, "menu"), slots={"x": 1}), [1], [3],
    ),
    "a removal": (
        start(write(4, "x", 1, None, present=False), exited(5, "menu"), slots={"x": 1}), [1], [UNSET],
    ),
    "a write of null": (start(write(4, "x", 1, None), exited(5, "menu"), slots={"x": 1}), [1], [None]),
    "present may say true": (
        start(write(4, "x", 1, 2, present=True), exited(5, "menu"), slots={"x": 1}), [1], [2],
    ),
    "a write before the first entry": (
        [started(1), seeded(2, {"x": 1}), write(3, "x", 1, 2), entered(4, "menu"), exited(5, "menu")],
        [2], [2],
    ),
    "seeds just after the first entry are the baseline": (
        [started(1), entered(2, "menu"), seeded(3, {"x": 1}), exited(4, "menu")], [1], [1],
    ),
    "other rows may lie between": (
        [started(1), entered(2, "menu"), row(3, "note"), seeded(4, {"x": 1}), exited(5, "menu")], [1], [1],
    ),
    "seeds that can't be read are no baseline": (
        [started(1), row(2, "session_slots_seeded", slots=[1]), entered(3, "menu"), seeded(4, {"x": 1}),
         exited(5, "menu")], [1], [1],
    ),
    "a seed without a value": (
        [started(1), row(2, "session_slots_seeded", slots={"x": {"writer": "t"}}), entered(3, "menu"),
         exited(4, "menu")], [LOST], [LOST],
    ),
    "seeds after a write are not just after the entry": (
        [started(1), entered(2, "menu"), write(3, "y", None, 2), seeded(4, {"x": 1}), exited(5, "menu")],
        [NO_BASELINE], [1],
    ),
    "no seeds: unknown until the first write": (
        [started(1), entered(2, "menu"), write(3, "x", 4, 5), *left(4), exited(6, "bye")],
        [NO_BASELINE, 5], [5, 5],
    ),
    "no seeds: unknown until a full snapshot, which lists every set slot": (
        [started(1), entered(2, "menu"), snapshot(3, "exit", {"y": 1}), *left(4), exited(6, "bye")],
        [NO_BASELINE, UNSET], [UNSET, UNSET],
    ),
    "no seeds: a partial snapshot says nothing of others": (
        [started(1), entered(2, "menu"), snapshot(3, "exit", {"y": 1}, partial=True), exited(4, "menu")],
        [NO_BASELINE], [NO_BASELINE],
    ),
    "seeds once more fold as writes": (
        start(seeded(4, {"x": 2}), exited(5, "menu"), slots={"x": 1, "y": 1}), [1], [2],
    ),
    "any JSON": (start(exited(4, "menu"), slots={"x": {"a": [1, 2.5, None, "ü"]}}),
                 [{"a": [1, 2.5, None, "ü"]}], [{"a": [1, 2.5, None, "ü"]}]),
    "a write without new": (
        start(row(4, "slot_write", slot="x", old=1, kind="direct", writer="t"), exited(5, "menu"),
              slots={"x": 1}), [1], [LOST],
    ),
    "… until the next write": (
        start(row(4, "slot_write", slot="x", old=1, kind="direct", writer="t"), write(5, "x", 7, 8),
              exited(6, "menu"), slots={"x": 1}), [1], [8],
    ),
    "… or snapshot": (
        start(row(4, "slot_write", slot="x", old=1, kind="direct", writer="t"), snapshot(5, "exit", {"x": 3}),
              exited(6, "menu"), slots={"x": 1}), [1], [3],
    ),
    "a write without old, kind or writer still applies": (
        start(row(4, "slot_write", slot="x", new=2), exited(5, "menu"), slots={"x": 1}), [1], [2],
    ),
    "a removal needs no new": (
        start(row(4, "slot_write", slot="x", old=1, kind="direct", writer="t", present=False),
              exited(5, "menu"), slots={"x": 1}), [1], [UNSET],
    ),
    "a write that names no slot hides every slot": (
        start(row(4, "slot_write", old=1, new=2, kind="direct", writer="t"), exited(5, "menu"),
              slots={"x": 1}), [1], [LOST],
    ),
    "a row without a valid seq acts on nothing": (
        start(exited(4, "menu"), write(0, "x", 1, 9) | {"seq": "5"}, slots={"x": 1}), [1], [1],
    ),
    "slot_filled is not a write": (
        start(row(4, "slot_filled", slot="x", source="caller"), exited(5, "menu"), slots={"x": 1}), [1], [1],
    ),
    "a closed visit has no exit values": (
        start(write(4, "x", 1, 2), entered(5, "bye"), slots={"x": 1}),
        [1, 2], [("unavailable", "exit_missing"), ("unavailable", "no_exit_boundary")],
    ),
    "a quarantined write inside a visit": (
        start(write(4, "x", 1, 2, state_id="bye"), *left(5), exited(7, "bye"), slots={"x": 1}),
        [1, 2], [UNOWNED, 2],
    ),
    "… though the visit writes it again": (
        start(write(4, "x", 1, 2, visit_id="no#1"), write(5, "x", 2, 3), *left(6), exited(8, "bye"),
              slots={"x": 1}), [1, 3], [UNOWNED, 3],
    ),
    "a quarantined write between visits": (
        start(*left(4, write(5, "x", 1, 2)), exited(7, "bye"), slots={"x": 1}), [1, 2], [1, 2],
    ),
    "a quarantined write of another slot": (
        start(write(4, "y", None, 2, state_id="bye"), exited(5, "menu"), slots={"x": 1}), [1], [1],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FOLDED)
def test_entry_and_exit(tmp_path: Path, case: str) -> None:
    rows, at_entry, at_exit = FOLDED[case]
    call = opened(tmp_path, rows, flow=two_states(slots=slots_of("x")))
    assert entries(call, "x") == at_entry
    assert exits(call, "x")[: len(at_exit)] == at_exit
    assert found(call, "FOLD_MISMATCH") == []


def test_a_missing_baseline_and_a_repeated_one(tmp_path: Path) -> None:
    assert found(opened(tmp_path, [started(1), entered(2, "menu")])) == ["BASELINE_MISSING:-"]
    twice = opened(tmp_path, start(seeded(4), seeded(5)), name="twice")
    assert found(twice) == ["BASELINE_REPEATED:bus:4", "BASELINE_REPEATED:bus:5"]


def test_a_flow_default_is_no_value(tmp_path: Path) -> None:
    slots = [slots_of("x")[0] | {"default": "hello"}]
    assert entries(opened(tmp_path, start(), flow=two_states(slots=slots)), "x") == [UNSET]


def test_a_cell_names_what_it_rests_on(tmp_path: Path) -> None:
    rows = start(write(4, "x", 1, 2), exited(5, "menu"), slots={"x": 1})
    call = opened(tmp_path, rows, flow=two_states(slots=slots_of("y", "x", hidden="secret")))
    seed, late = entry(call, "menu#1").cells["x"], exit(call, "menu#1").cells["x"]
    assert (seed.event_id, seed.provenance, seed.classification) == ("bus:2", "recorded", "internal")
    assert late.event_id == "bus:4"
    unset = entry(call, "menu#1").cells["y"]
    assert (unset.availability, unset.value, unset.unset, unset.reason, unset.event_id) == (
        "available", None, True, None, None,
    )  # fmt: skip


def test_declared_slots_stand_first_then_the_others_by_name(tmp_path: Path) -> None:
    rows = start(write(4, "b", None, 1), snapshot(5, "entry", {"a": 1}, partial=True), slots={"x": 1, "c": 1})
    call = opened(tmp_path, rows, flow=two_states(slots=slots_of("z", "x")))
    assert artifact(call)["slot_order"] == ["z", "x", "a", "b", "c"]
    assert list(entry(call, "menu#1").cells) == ["z", "x", "a", "b", "c"]


# At the cursor: entry plus the visit's own writes at or before it.

CURSOR = start(
    write(4, "x", 1, 2), row(5, "note"), write(6, "x", 2, 3, state_id="bye"), row(7, "note"),
    exited(8, "menu", "bye"), write(9, "x", 3, 4), entered(10, "bye"), committed(11, "menu", "bye", 1),
    row(12, "note"), slots={"x": 1},
)  # fmt: skip


@pytest.mark.parametrize(
    ("event_id", "wanted"),
    [
        ("drv:entry_boundary:bus:1", 1), ("bus:1", 1), ("bus:3", 1), ("bus:4", 2), ("bus:5", 2), ("bus:7", 3),
        ("drv:exit_boundary:bus:8", UNOWNED), ("bus:11", UNOWNED), ("drv:entry_boundary:bus:10", 4),
        ("bus:10", 4), ("bus:12", 4),
    ],
)  # fmt: skip
def test_at_the_cursor(tmp_path: Path, event_id: str, wanted: Any) -> None:
    assert shown(at_cursor(opened(tmp_path, CURSOR), event_id, "x")) == wanted


def test_what_is_recorded_before_the_entry_shows_the_entry(tmp_path: Path) -> None:
    rows = [started(1), seeded(2, {"x": 1}), write(3, "x", 1, 2), entered(4, "menu")]
    call = opened(tmp_path, rows)
    assert [shown(at_cursor(call, f"bus:{seq}", "x")) for seq in (1, 2, 3, 4)] == [2, 2, 2, 2]


def test_a_closed_visit_does_not_show_what_the_next_one_writes(tmp_path: Path) -> None:
    rows = [
        started(1), seeded(2, {"x": 1, "y": 1}), entered(3, "menu", "menu#1"), entered(4, "bye", "bye#1"),
        write(5, "x", 1, 2), row(6, "note", visit_id="menu#1"), write(7, "y", 1, 3, visit_id="menu#1"),
        write(8, "y", 3, 4), row(9, "note", visit_id="menu#1"), row(10, "note"),
    ]  # fmt: skip
    call = opened(tmp_path, rows)
    assert [shown(at_cursor(call, f"bus:{seq}", "x")) for seq in (5, 6, 9, 10)] == [2, 1, 1, 2]
    assert [shown(at_cursor(call, f"bus:{seq}", "y")) for seq in (6, 7, 9, 10)] == [1, 3, 3, 4]
    assert found(call, "FOLD_MISMATCH", "CONFLICTING_ATTRIBUTION") == []


# Redacted cells.


@pytest.mark.parametrize(
    ("value", "grade", "wanted"),
    [
        ("abc", "pii", ("redacted", "classification:pii")),
        ("abc", "secret", ("redacted", "classification:secret")),
        ("abc", "internal", "abc"),
        ("abc", "public", "abc"),
        ("abc", None, "abc"),
        (None, "pii", ("redacted", "classification:pii")),
        ("<str:8>", "public", ("redacted", "recorded_redacted")),
        ({"a": ["<int>"]}, "public", ("redacted", "recorded_redacted")),
    ],
)
def test_redacted_cells(tmp_path: Path, value: Any, grade: str | None, wanted: Any) -> None:
    rows = [started(1), row(2, "session_slots_seeded", slots={"x": {"value": value, "writer": "t"}}),
            entered(3, "menu"), write(4, "x", value, None, present=False), exited(5, "menu")]  # fmt: skip
    slots = [] if grade is None else slots_of(x=grade)
    call = opened(tmp_path, rows, flow=two_states(slots=slots))
    cell = entry(call, "menu#1").cells["x"]
    assert shown(cell) == wanted
    assert (cell.unset, cell.classification) == (False, grade)
    if cell.availability == "redacted":
        assert cell.value is None
    assert shown(exit(call, "menu#1").cells["x"]) == UNSET
    assert entry(call, "menu#1").evidence == "proven"


def test_the_stricter_classification_holds(tmp_path: Path) -> None:
    grades = ["public", "internal", "pii", "secret"]
    for declared in grades:
        for seed in grades:
            seeds = {"x": {"value": 1, "writer": "t", "classification": seed}}
            rows = [started(1), row(2, "session_slots_seeded", slots=seeds), entered(3, "menu")]
            call = opened(tmp_path, rows, name=f"{declared}-{seed}",
                          flow=two_states(slots=slots_of(x=declared)))  # fmt: skip
            stricter = max(declared, seed, key=grades.index)
            assert entry(call, "menu#1").cells["x"].classification == stricter


# A snapshot of a visit as a whole.


@pytest.mark.parametrize(
    ("rows", "evidence", "reason"),
    [
        (start(slots={"x": 1}), "proven", None),
        ([started(1), entered(2, "menu")], "unavailable", "no_baseline"),
    ],
)
def test_a_snapshot_is_unavailable_only_if_every_cell_is(
    tmp_path: Path, rows: list[Row], evidence: str, reason: str | None
) -> None:
    seen = entry(opened(tmp_path, rows, flow=two_states(slots=slots_of("x"))), "menu#1")
    assert (seen.evidence, seen.reason) == (evidence, reason)


def test_a_snapshot_without_any_slot_is_unavailable(tmp_path: Path) -> None:
    seen = entry(opened(tmp_path, start()), "menu#1")
    assert (seen.evidence, seen.cells) == ("unavailable", {})
