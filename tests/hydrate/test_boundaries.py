"""Rules 5 and 8: commits and boundary writes, on whichever side of the boundary they stand (contract 2.3)."""

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
    exited,
    exits,
    found,
    left,
    opened,
    owner,
    shown,
    slots_of,
    start,
    steps,
    two_states,
    verdict,
    write,
)

QUARANTINED = (None, "none")


# Rule 5: commits.

COMMITS: dict[str, tuple[list[dict[str, Any]], str, str | None]] = {
    "after the target's entry": (start(*left(4), committed(6, "menu", "bye")), "bus:6", "menu#1"),
    "between the visits": (
        start(exited(4, "menu", "bye"), committed(5, "menu", "bye"), entered(6, "bye")), "bus:5", "menu#1",
    ),
    "before the exit": (start(committed(4, "menu", "bye"), *left(5)), "bus:4", "menu#1"),
    "after the last exit": (start(exited(4, "menu", None), committed(5, "menu", "bye")), "bus:5", "menu#1"),
    "the target's id does not make it the target's": (
        start(exited(4, "menu", "bye"), entered(5, "bye", "bye#1"),
              committed(6, "menu", "bye", visit_id="bye#1")), "bus:6", "menu#1",
    ),
    "a second commit of one visit": (
        start(*left(4), committed(6, "menu", "bye"), committed(7, "menu", "bye")), "bus:7", None,
    ),
    "not directly before the open visit": (
        start(*left(4), exited(6, "bye", "away"), entered(7, "away"), committed(8, "menu", "bye")),
        "bus:8", None,
    ),
    "of a state that was never visited": (start(committed(4, "away", "bye")), "bus:4", None),
    "of a visit whose exit is missing": (
        start(entered(4, "bye"), committed(5, "menu", "bye")), "bus:5", "menu#1",
    ),
    "both fit, to the open visit's state": (
        start(exited(4, "menu", "menu"), entered(5, "menu"), committed(6, "menu", "menu")), "bus:6", "menu#1",
    ),
    "both fit, to another state": (
        start(exited(4, "menu", "menu"), entered(5, "menu"), committed(6, "menu", "bye")), "bus:6", "menu#2",
    ),
    "a self-transition whose first commit is taken": (
        start(exited(4, "menu", "menu"), entered(5, "menu"), committed(6, "menu", "menu"),
              committed(7, "menu", "menu")), "bus:7", "menu#2",
    ),
    "its own target need not be the one entered": (
        start(*left(4), committed(6, "menu", "away")), "bus:6", "menu#1",
    ),
    "without from_state it is nobody's": (
        start(*left(4), row(6, "transition_committed", to_state="bye")), "bus:6", None,
    ),
    "without to_state its source is still known": (
        start(*left(4), row(6, "transition_committed", from_state="menu")), "bus:6", "menu#1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", COMMITS)
def test_commits_belong_to_the_outgoing_boundary(tmp_path: Path, case: str) -> None:
    rows, event_id, wanted = COMMITS[case]
    call = opened(tmp_path, rows)
    assert owner(call, event_id) == ((wanted, "boundary") if wanted else QUARANTINED)
    conflicts = [f"CONFLICTING_ATTRIBUTION:{event_id}"] if wanted is None else []
    assert found(call, "CONFLICTING_ATTRIBUTION") == conflicts


def test_a_target_that_disagrees_is_a_finding_not_a_quarantine(tmp_path: Path) -> None:
    call = opened(tmp_path, start(*left(4), committed(6, "menu", "away")))
    assert found(call, "WINNER_TARGET_MISMATCH") == ["WINNER_TARGET_MISMATCH:bus:4"]


def test_a_late_commit_stands_last_in_its_source(tmp_path: Path) -> None:
    call = opened(tmp_path, start(*left(4), committed(6, "menu", "bye"), row(7, "note")))
    assert steps(call, 0, derived=True)[-3:] == ["bus:4", "drv:exit_boundary:bus:4", "bus:6"]
    assert steps(call, 1) == ["bus:5", "bus:7"]


# Rule 8: writes of an edge, recorded from the source's exit to the target's first verdict.

WON = verdict(4, "menu:0")
FLOW = two_states(sets=[("x", 5)], clears=["y"])


def edge_write(seq: int, name: str = "x", new: Any = 5, **more: Any) -> dict[str, Any]:
    return write(seq, name, None, new, "transition_set", **more)


def clear(seq: int, name: str = "y", **more: Any) -> dict[str, Any]:
    return write(seq, name, None, None, "transition_clear", present=False, **more)


def between(made: dict[str, Any]) -> list[dict[str, Any]]:
    """The write at seq 6, after the exit of menu and before the entry of bye."""
    return start(WON, exited(5, "menu", "bye"), made, entered(7, "bye", "bye#1"))


def after(*made: dict[str, Any], last: bool = True) -> list[dict[str, Any]]:
    """Writes from seq 7 on, in bye; then bye is left."""
    end = [verdict(20, "bye:0", "menu"), exited(21, "bye", "menu")] if last else []
    return start(WON, exited(5, "menu", "bye"), entered(6, "bye", "bye#1"), *made, *end)


SOURCE, TARGET = ("menu#1", "boundary"), ("bye#1", "interval")
BAND: dict[str, tuple[list[dict[str, Any]], str, tuple[str | None, str]]] = {
    "before the exit it is an ordinary row of its visit": (
        start(WON, edge_write(5, edge_id="menu:0"), exited(6, "menu", "bye")),
        "bus:5", ("menu#1", "interval"),
    ),
    "between, by edge": (between(edge_write(6, edge_id="menu:0")), "bus:6", SOURCE),
    "between, of another edge": (between(edge_write(6, edge_id="menu:7")), "bus:6", QUARANTINED),
    "between, the edge outweighs the id": (
        between(edge_write(6, edge_id="menu:0", visit_id="bye#1")), "bus:6", SOURCE,
    ),
    "between, by id": (between(edge_write(6, "z", 1, visit_id="menu#1")), "bus:6", SOURCE),
    "between, by an id that is entered only later": (
        between(edge_write(6, visit_id="bye#1")), "bus:6", QUARANTINED,
    ),
    "between, by an id that is never entered": (
        start(WON, exited(5, "menu", "bye"), edge_write(6, visit_id="no#1"), entered(7, "bye")),
        "bus:6", QUARANTINED,
    ),
    "between, by the sets of the winning edge": (between(edge_write(6)), "bus:6", SOURCE),
    "between, another value": (between(edge_write(6, new=6)), "bus:6", QUARANTINED),
    "between, another slot": (between(edge_write(6, "z")), "bus:6", QUARANTINED),
    "between, by its clears": (between(clear(6)), "bus:6", SOURCE),
    "between, a clear of a slot that is set": (between(clear(6, "x")), "bus:6", QUARANTINED),
    "between, a set of a slot that is cleared": (between(edge_write(6, "y")), "bus:6", QUARANTINED),
    "between, of another kind": (between(write(6, "x", None, 5)), "bus:6", QUARANTINED),
    "between, the state it names does not matter": (
        between(edge_write(6, edge_id="menu:0", state_id="bye")), "bus:6", SOURCE,
    ),
    "after, by edge": (after(edge_write(7, edge_id="menu:0")), "bus:7", SOURCE),
    "after, by an edge of the open visit's state": (after(edge_write(7, edge_id="bye:0")), "bus:7", TARGET),
    "after, by an edge of neither": (after(edge_write(7, edge_id="away:0")), "bus:7", QUARANTINED),
    "after, by an edge that did not win": (after(edge_write(7, edge_id="menu:1")), "bus:7", QUARANTINED),
    "after, by the source's id": (after(edge_write(7, "z", 1, visit_id="menu#1")), "bus:7", SOURCE),
    "after, by the open visit's id": (
        after(edge_write(7, visit_id="bye#1")), "bus:7", ("bye#1", "explicit"),
    ),
    "after, by an id of neither": (after(edge_write(7, visit_id="no#1")), "bus:7", QUARANTINED),
    "after, by the sets of the winning edge": (after(edge_write(7)), "bus:7", SOURCE),
    "after, it counts once": (after(edge_write(7), edge_write(8)), "bus:8", QUARANTINED),
    "after, unlike anything": (after(edge_write(7, "z", 1)), "bus:7", QUARANTINED),
    "after the target's first verdict": (
        after(verdict(7, None), edge_write(8), last=False), "bus:8", TARGET,
    ),
    "after the target's first verdict, the source's edge does not move it": (
        after(verdict(7, None), edge_write(8, edge_id="menu:0"), last=False), "bus:8", TARGET,
    ),
    "after the target's first verdict, by the source's id": (
        after(verdict(7, None), edge_write(8, visit_id="menu#1"), last=False), "bus:8", QUARANTINED,
    ),
    "in the first visit": (start(edge_write(4, edge_id="menu:0")), "bus:4", ("menu#1", "interval")),
    "between, of an edge that only the exit names": (
        start(exited(4, "menu", "bye", edge_id="menu:0"), edge_write(5), entered(6, "bye")), "bus:5", SOURCE,
    ),
    "of a self-transition, the edge is the open visit's": (
        start(verdict(4, "menu:0", "menu"), exited(5, "menu", "menu"), entered(6, "menu"),
              edge_write(7, edge_id="menu:0")), "bus:7", ("menu#2", "interval"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAND)
def test_writes_of_an_edge(tmp_path: Path, case: str) -> None:
    rows, event_id, wanted = BAND[case]
    call = opened(tmp_path, rows, flow=FLOW)
    assert owner(call, event_id) == wanted
    assert (found(call, "CONFLICTING_ATTRIBUTION") == [f"CONFLICTING_ATTRIBUTION:{event_id}"]) is (
        wanted == QUARANTINED
    )
    assert "ENTRY_MISSING" not in {one.code for one in call.findings}


# A boundary write shows once, in the source's exit and the target's entry.

SETS = two_states(sets=[("x", 5)], clears=["y"], slots=slots_of("x", "y"))
SET: dict[str, list[dict[str, Any]]] = {
    "before the exit": start(
        verdict(4, "menu:0"), write(5, "x", 1, 5, "transition_set", edge_id="menu:0"), *left(6),
        slots={"x": 1},
    ),
    "between exit and entry": start(
        verdict(4, "menu:0"), *left(5, write(6, "x", 1, 5, "transition_set", edge_id="menu:0")),
        slots={"x": 1},
    ),
    "after the entry": start(
        verdict(4, "menu:0"), *left(5), write(7, "x", 1, 5, "transition_set", edge_id="menu:0"),
        slots={"x": 1},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SET)
def test_a_boundary_write_is_of_both_sides_of_the_boundary(tmp_path: Path, case: str) -> None:
    call = opened(tmp_path, [*SET[case], exited(9, "bye")], flow=SETS)
    assert (entries(call, "x"), exits(call, "x")) == ([1, 5], [5, 5])
    written = next(made["seq"] for made in SET[case] if made["type"] == "slot_write")
    assert [visit["boundary_band"] for visit in artifact(call)["visits"]] == [[f"bus:{written}"], []]
    assert found(call, "FOLD_MISMATCH", "CONFLICTING_ATTRIBUTION", "BOUNDARY_WRITE_MISMATCH") == []


def test_a_late_boundary_write_acts_before_the_targets_own_writes(tmp_path: Path) -> None:
    rows = start(
        verdict(4, "menu:0"), *left(5), write(7, "z", None, 1),
        write(8, "x", 1, 5, "transition_set", edge_id="menu:0"), write(9, "x", 5, 6), exited(10, "bye"),
        slots={"x": 1},
    )  # fmt: skip
    call = opened(tmp_path, rows, flow=SETS)
    assert (entries(call, "x"), exits(call, "x")) == ([1, 5], [5, 6])
    assert [shown(at_cursor(call, event_id, "x")) for event_id in ("bus:5", "bus:8", "bus:7", "bus:9")] == [
        1, 5, 5, 6,
    ]  # fmt: skip
    assert found(call, "FOLD_MISMATCH") == []


def test_a_clear_of_the_boundary_removes_the_slot(tmp_path: Path) -> None:
    cleared = write(7, "y", 2, None, "transition_clear", present=False)
    call = opened(tmp_path, start(verdict(4, "menu:0"), *left(5), cleared, slots={"y": 2}), flow=SETS)
    assert (entries(call, "y"), exits(call, "y")[0]) == ([2, UNSET], UNSET)
