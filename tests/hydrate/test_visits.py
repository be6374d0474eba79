"""Rules 1 and 2: where visits begin and end (contract 2.3)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.hydrate.document import artifact
from tests.calls import row
from tests.hydrate.ask import (
    committed,
    entered,
    entry,
    event,
    exit,
    exited,
    found,
    ids,
    opened,
    owner,
    owners,
    seeded,
    start,
    started,
    steps,
    verdict,
)

ODD = "EXIT_MISSING", "ENTRY_MISSING", "EXIT_WITHOUT_ENTRY", "CONFLICTING_ATTRIBUTION"

TABLE: dict[str, tuple[list[dict[str, Any]], list[str], list[str]]] = {
    "session_started and its state_entered are one visit": (
        [started(1), seeded(2), entered(3, "menu")], ["menu#1"], [],
    ),
    "the emitted id of the entry is the visit's": (
        [started(1), seeded(2), entered(3, "menu", "visit-a")], ["visit-a"], [],
    ),
    "session_started opens without any state_entered": (
        [started(1), seeded(2), exited(3, "menu", "bye")], ["menu#1"], [],
    ),
    "a first entry of another state closes the initial one": (
        [started(1), seeded(2), entered(3, "bye")], ["menu#1", "bye#1"], ["EXIT_MISSING:bus:3"],
    ),
    "an exit between is another boundary": (
        [started(1), exited(2, "menu", "menu"), entered(3, "menu")], ["menu#1", "menu#2"], [],
    ),
    "a commit between is another boundary": (
        [started(1), committed(2, "menu", "menu"), entered(3, "menu")], ["menu#1", "menu#2"],
        ["EXIT_MISSING:bus:3"],
    ),
    "only the first session_started begins a visit": (
        [started(1), entered(2, "menu"), started(3, "bye")], ["menu#1"], [],
    ),
    "a malformed session_started begins none": (
        [row(1, "session_started", initial_state=7), entered(2, "menu")], ["menu#1"],
        ["CONFLICTING_ATTRIBUTION:bus:1"],
    ),
    "a call without session_started": (
        [entered(1, "menu"), exited(2, "menu", "bye"), entered(3, "bye")], ["menu#1", "bye#1"], [],
    ),
    "re-entry is a new visit": (
        start(exited(4, "menu", "bye"), entered(5, "bye"), exited(6, "bye", "menu"), entered(7, "menu")),
        ["menu#1", "bye#1", "menu#2"], [],
    ),
    "a self-transition is a new visit": (
        start(exited(4, "menu", "menu"), entered(5, "menu")), ["menu#1", "menu#2"], [],
    ),
    "a repeated legacy entry is a re-entry without an exit": (
        start(entered(4, "menu")), ["menu#1", "menu#2"], ["EXIT_MISSING:bus:4"],
    ),
    "a repeat of the open visit_id is the visit's own event": (
        [started(1), entered(2, "menu", "menu#1"), entered(3, "menu", "menu#1")], ["menu#1"], [],
    ),
    "an entry without the exit before it closes the open visit": (
        start(entered(4, "bye")), ["menu#1", "bye#1"], ["EXIT_MISSING:bus:4"],
    ),
    "an exit of another state matches nothing": (
        start(exited(4, "bye", "menu")), ["menu#1"], ["EXIT_WITHOUT_ENTRY:bus:4"],
    ),
    "an exit of another visit_id matches nothing": (
        start(exited(4, "menu", "bye", "menu#9")), ["menu#1"], ["EXIT_WITHOUT_ENTRY:bus:4"],
    ),
    "an exit with the visit_id matches whatever its state": (
        start(exited(4, "other", "bye", "menu#1"), entered(5, "bye")), ["menu#1", "bye#1"], [],
    ),
    "a second exit matches nothing": (
        start(exited(4, "menu", "bye"), exited(5, "menu", "bye")), ["menu#1"], ["EXIT_WITHOUT_ENTRY:bus:5"],
    ),
    "an exit of an id never entered opens nothing": (
        start(exited(4, "menu", "bye"), exited(5, "bye", None, "bye#1")), ["menu#1"],
        ["EXIT_WITHOUT_ENTRY:bus:5"],
    ),
    "the entry of an id that has exited opens nothing": (
        [started(1), entered(2, "menu", "menu#1"), exited(3, "menu", "bye", "menu#1"),
         entered(4, "menu", "menu#1"), row(5, "note")],
        ["menu#1"], ["CONFLICTING_ATTRIBUTION:bus:4", "CONFLICTING_ATTRIBUTION:bus:5"],
    ),
    "the entry of an id whose visit was closed opens nothing": (
        [started(1), entered(2, "menu", "menu#1"), entered(3, "bye", "bye#1"), entered(4, "menu", "menu#1")],
        ["menu#1", "bye#1"], ["EXIT_MISSING:bus:3", "CONFLICTING_ATTRIBUTION:bus:4"],
    ),
    "emitted ids and derived ones do not meet": (
        [started(1), entered(2, "menu", "bye#1"), exited(3, "menu", "bye"), entered(4, "bye")],
        ["bye#1", "bye#2"], [],
    ),
    "a row without a valid seq opens and closes nothing": (
        start(row(0, "state_exited", 5, state_id="menu") | {"seq": None}), ["menu#1"], [],
    ),
    "a malformed entry opens nothing": (
        start(row(4, "state_entered", state_id=4)), ["menu#1"], [],
    ),
    "a malformed exit closes nothing": (
        start(row(4, "state_exited", state_id=None), row(5, "note")), ["menu#1"], [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", TABLE)
def test_visits(tmp_path: Path, case: str) -> None:
    rows, visits, findings = TABLE[case]
    call = opened(tmp_path, rows)
    assert (ids(call), found(call, *ODD)) == (visits, findings)


def test_the_first_visit_owns_its_start(tmp_path: Path) -> None:
    call = opened(tmp_path, [started(1), seeded(2), row(3, "note"), entered(4, "menu"), row(5, "note")])
    assert set(owners(call).values()) == {"menu#1"}
    assert owner(call, "bus:1") == owner(call, "bus:4") == ("menu#1", "boundary")
    assert entry(call, "menu#1").event_id == "bus:4"
    assert steps(call, 0, derived=True)[0] == "drv:entry_boundary:bus:1"


def test_an_entry_without_state_entered_is_that_of_session_started(tmp_path: Path) -> None:
    call = opened(tmp_path, [started(1), seeded(2, {"x": 1}), exited(3, "menu", "bye")])
    assert entry(call, "menu#1").event_id == "bus:1"
    assert entry(call, "menu#1").cells["x"].value == 1


@pytest.mark.parametrize("first", [entered(2, "menu"), started(2)])
def test_seeds_before_the_first_visit_are_its_event(tmp_path: Path, first: dict[str, Any]) -> None:
    call = opened(tmp_path, [seeded(1, {"x": 1}), first, row(3, "note")])
    assert owner(call, "bus:1") == ("menu#1", "boundary")
    assert entry(call, "menu#1").cells["x"].value == 1
    assert found(call) == []


def test_seeds_that_name_another_visit_are_not_the_first_visits(tmp_path: Path) -> None:
    call = opened(tmp_path, [seeded(1, {"x": 1}, state_id="bye"), entered(2, "menu")])
    assert found(call) == ["CONFLICTING_ATTRIBUTION:bus:1"]


def test_a_visit_closed_by_the_next_entry_has_no_exit(tmp_path: Path) -> None:
    call = opened(tmp_path, start(row(4, "note"), entered(5, "bye")))
    assert (exit(call, "menu#1").evidence, exit(call, "menu#1").reason) == ("unavailable", "exit_missing")
    assert exit(call, "menu#1").cells == {}
    (finding,) = [one for one in call.findings if one.code == "EXIT_MISSING"]
    assert (finding.visit_id, finding.event_id, finding.severity) == ("menu#1", "bus:5", "warning")


def test_the_last_visit_may_be_open(tmp_path: Path) -> None:
    call = opened(tmp_path, start(row(4, "note")))
    snapshot = exit(call, "menu#1")
    assert (snapshot.evidence, snapshot.reason, snapshot.event_id, snapshot.cells) == (
        "unavailable", "no_exit_boundary", None, {},
    )  # fmt: skip
    assert found(call) == []


def test_session_ended_leaves_the_open_visit_open(tmp_path: Path) -> None:
    call = opened(tmp_path, start(row(4, "session_ended", reason="hangup")))
    assert owner(call, "bus:4") == ("menu#1", "interval")
    assert exit(call, "menu#1").reason == "no_exit_boundary"


def test_session_ended_after_the_last_exit_is_its_boundary(tmp_path: Path) -> None:
    rows = start(exited(4, "menu", None), row(5, "note"), row(6, "call_ended"))
    call = opened(tmp_path, rows)
    assert owner(call, "bus:6") == ("menu#1", "boundary")
    assert owner(call, "bus:5") == (None, "none")
    assert event(call, "bus:6").observed_visit_id is None


def test_session_ended_between_visits_is_quarantined(tmp_path: Path) -> None:
    call = opened(tmp_path, start(exited(4, "menu", "bye"), row(5, "session_ended"), entered(6, "bye")))
    assert owner(call, "bus:5") == (None, "none")
    assert found(call) == ["CONFLICTING_ATTRIBUTION:bus:5"]


def test_ordinals_count_the_entries_of_one_state(tmp_path: Path) -> None:
    rows = [started(1), exited(2, "menu", "menu")]
    for seq in range(3, 13, 2):
        rows += [entered(seq, "menu"), exited(seq + 1, "menu", "menu")]
    call = opened(tmp_path, rows)
    assert [(visit.visit_id, visit.ordinal) for visit in call.visits] == [
        (f"menu#{number}", number) for number in range(1, 7)
    ]


WAYS: dict[str, tuple[dict[str, Any], dict[str, Any], tuple[str | None, str | None]]] = {
    "the exit leads here": (
        exited(4, "menu", "bye", edge_id="menu:0"), entered(5, "bye"), ("menu:0", "menu#1"),
    ),
    "the exit says no target": (exited(4, "menu", edge_id="menu:0"), entered(5, "bye"), ("menu:0", "menu#1")),
    "the exit leads elsewhere": (exited(4, "menu", "end", edge_id="menu:1"), entered(5, "bye"), (None, None)),
    "the entry names its source, the exit leads elsewhere": (
        exited(4, "menu", "end", edge_id="menu:1"), entered(5, "bye", from_state="menu"), (None, "menu#1"),
    ),
    "the entry names its edge": (
        exited(4, "menu", "end", edge_id="menu:1"), entered(5, "bye", edge_id="menu:0"), ("menu:0", None),
    ),
    "visits may be missing in between": (
        exited(4, "menu", "bye", edge_id="menu:0"), entered(9, "bye"), (None, None),
    ),
    "the entry names another source": (
        exited(4, "menu", "bye", edge_id="menu:0"), entered(5, "bye", from_state="end"), (None, None),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WAYS)
def test_the_way_into_a_visit_is_claimed_only_where_nothing_says_or_hides_another(
    tmp_path: Path, case: str
) -> None:
    left, came, (edge_id, source) = WAYS[case]
    edge = artifact(opened(tmp_path, start(left, came)))["visits"][1]["entry_edge"]
    assert edge == {"edge_id": edge_id, "from_visit_id": source, "event_id": f"bus:{came['seq']}"}


def test_a_commit_tells_where_an_exit_without_a_target_leads(tmp_path: Path) -> None:
    rows = [exited(4, "menu", edge_id="menu:0"), committed(5, "menu", "end"), entered(6, "bye")]
    edge = artifact(opened(tmp_path, start(*rows)))["visits"][1]["entry_edge"]
    assert edge == {"edge_id": None, "from_visit_id": None, "event_id": "bus:6"}


def test_a_verdict_names_the_way_into_a_visit_only_where_its_winner_leads_there(tmp_path: Path) -> None:
    rows = [exited(5, "menu"), entered(6, "bye")]
    led = [
        artifact(opened(tmp_path, start(verdict(4, "menu:0", to), *rows), name=to))["visits"][1]["entry_edge"]
        for to in ("bye", "end")
    ]
    assert [edge["edge_id"] for edge in led] == ["menu:0", None]
