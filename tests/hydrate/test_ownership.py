"""Rules 3, 4, 6, 7, 9 and 10: which visit owns a row, and which rows none (contract 2.3)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.hydrate.beats import beats
from tests.calls import flow, manifest, row, state
from tests.hydrate.ask import (
    committed,
    entered,
    entry,
    event,
    exit,
    exited,
    found,
    ids,
    left,
    opened,
    owner,
    recorded,
    start,
    started,
    steps,
)

QUARANTINED = (None, "none")
ODD = "EXIT_MISSING", "ENTRY_MISSING", "EXIT_WITHOUT_ENTRY", "CONFLICTING_ATTRIBUTION"


# Rules 3 and 4: ids, states and position.

PLACED: dict[str, tuple[list[dict[str, Any]], str, tuple[str | None, str]]] = {
    "the open visit's id": (start(row(4, "note", visit_id="menu#1")), "bus:4", ("menu#1", "explicit")),
    "an id, whatever the state says": (
        start(row(4, "note", visit_id="menu#1", state_id="bye")), "bus:4", ("menu#1", "explicit"),
    ),
    "position": (start(row(4, "note")), "bus:4", ("menu#1", "interval")),
    "position and the state": (start(row(4, "note", state_id="menu")), "bus:4", ("menu#1", "interval")),
    "another state": (start(row(4, "note", state_id="bye")), "bus:4", QUARANTINED),
    "a state_id of a wrong type names no state": (
        start(row(4, "note", state_id=5)), "bus:4", ("menu#1", "interval"),
    ),
    "an id that is never entered, inside a visit": (
        start(row(4, "note", visit_id="bye#1")), "bus:4", QUARANTINED,
    ),
    "an id entered only later": (
        [started(1), row(2, "note", visit_id="bye#1"), exited(3, "menu", "bye"), entered(4, "bye", "bye#1")],
        "bus:2", QUARANTINED,
    ),
    "an id whose visit had exited": (
        start(*left(4), row(6, "note", visit_id="menu#1")), "bus:6", QUARANTINED,
    ),
    "an id whose visit had exited, between visits": (
        start(exited(4, "menu", "bye"), row(5, "note", visit_id="menu#1"), entered(6, "bye")),
        "bus:5", QUARANTINED,
    ),
    "between visits": (
        start(exited(4, "menu", "bye"), row(5, "note"), entered(6, "bye")), "bus:5", QUARANTINED,
    ),
    "before the first visit": ([row(1, "note"), entered(2, "menu")], "bus:1", QUARANTINED),
    "after the last exit": (start(exited(4, "menu", None), row(5, "note")), "bus:5", QUARANTINED),
    "an id whose visit was closed without an exit": (
        [started(1), entered(2, "menu", "menu#1"), entered(3, "bye"), row(4, "note", visit_id="menu#1")],
        "bus:4", ("menu#1", "explicit"),
    ),
    "a state whose visit was closed without an exit": (
        start(entered(4, "bye"), row(5, "note", state_id="menu")), "bus:5", QUARANTINED,
    ),
    "telemetry of an id whose visit was closed without an exit": (
        start(entered(4, "bye"), row(5, "assistant_transcript", text="hi", visit_id="menu#1")),
        "bus:5", ("menu#1", "explicit"),
    ),
    "the exit of an id whose visit was closed": (
        start(entered(4, "bye"), exited(5, "menu", "bye", "menu#1")), "bus:5", QUARANTINED,
    ),
    "an exit-phase snapshot after its exit": (
        start(exited(4, "menu", "bye"), row(5, "state_slot_snapshot", phase="exit", slots={}),
              entered(6, "bye")), "bus:5", QUARANTINED,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", PLACED)
def test_rows_go_by_id_then_position(tmp_path: Path, case: str) -> None:
    rows, event_id, wanted = PLACED[case]
    call = opened(tmp_path, rows)
    assert owner(call, event_id) == wanted
    quarantined = wanted == QUARANTINED
    code = "EXIT_WITHOUT_ENTRY" if "exit of" in case else "CONFLICTING_ATTRIBUTION"
    assert (f"{code}:{event_id}" in found(call)) is quarantined
    listed = {call.event_id(number) for number in call.unattributed}
    assert (event_id in listed) is quarantined
    if quarantined:
        assert getattr(event(call, event_id), "reason", None)


def test_the_observed_visit_is_the_one_open_at_the_row(tmp_path: Path) -> None:
    call = opened(tmp_path, start(*left(4), committed(6, "menu", "bye"), row(7, "note", state_id="menu")))
    assert [event(call, f"bus:{seq}").observed_visit_id for seq in (3, 4, 5, 6, 7)] == [
        "menu#1", "menu#1", "bye#1", "bye#1", "bye#1",
    ]  # fmt: skip


def test_an_unknown_id_opens_a_visit_when_none_is_open(tmp_path: Path) -> None:
    rows = start(exited(4, "menu", "bye"), row(5, "note", visit_id="bye#1"), row(6, "note"))
    call = opened(tmp_path, rows)
    assert ids(call) == ["menu#1", "bye#1"]
    assert (owner(call, "bus:5"), owner(call, "bus:6")) == (("bye#1", "explicit"), ("bye#1", "interval"))
    snapshot = entry(call, "bye#1")
    assert (snapshot.evidence, snapshot.reason, snapshot.cells) == ("unavailable", "entry_missing", {})
    assert found(call) == ["ENTRY_MISSING:bus:5"]
    assert call.findings[0].visit_id == "bye#1"
    assert "drv:entry_boundary:bus:5" not in steps(call, 1, derived=True)


@pytest.mark.parametrize(
    ("more", "state_id"), [({"state_id": "other"}, "other"), ({}, "bye"), ({"state_id": None}, "bye")]
)
def test_the_state_of_a_visit_that_was_never_entered(
    tmp_path: Path, more: dict[str, Any], state_id: str
) -> None:
    call = opened(tmp_path, start(exited(4, "menu", "bye"), row(5, "note", visit_id="bye#7", **more)))
    assert [(visit.visit_id, visit.state_id) for visit in call.visits][1:] == [("bye#7", state_id)]


MISSING_RANGE: dict[str, tuple[list[dict[str, Any]], list[str], list[str]]] = {
    "a range lies between": (
        [row(8, "note", visit_id="bye#1", state_id="bye")], ["menu#1", "bye#1"],
        ["EXIT_MISSING:bus:8", "ENTRY_MISSING:bus:8"],
    ),
    "the range lies before the visit's last row": (
        [row(8, "note"), row(9, "note", visit_id="bye#1", state_id="bye")], ["menu#1"],
        ["CONFLICTING_ATTRIBUTION:bus:9"],
    ),
    "quarantined rows are not the visit's": (
        [row(8, "note", state_id="away"), row(9, "note", visit_id="bye#1", state_id="bye")],
        ["menu#1", "bye#1"], ["CONFLICTING_ATTRIBUTION:bus:8", "EXIT_MISSING:bus:9", "ENTRY_MISSING:bus:9"],
    ),
    "rows that no boundary could place are not the visit's": (
        [row(8, "transition_committed", to_state="bye"), row(9, "note", visit_id="bye#1", state_id="bye")],
        ["menu#1", "bye#1"], ["CONFLICTING_ATTRIBUTION:bus:8", "EXIT_MISSING:bus:9", "ENTRY_MISSING:bus:9"],
    ),
    "the same state": (
        [row(8, "note", visit_id="menu#2", state_id="menu")], ["menu#1"], ["CONFLICTING_ATTRIBUTION:bus:8"],
    ),
    "no state": ([row(8, "note", visit_id="bye#1")], ["menu#1"], ["CONFLICTING_ATTRIBUTION:bus:8"]),
    "no range": (
        [row(4, "note", visit_id="bye#1", state_id="bye")], ["menu#1"], ["CONFLICTING_ATTRIBUTION:bus:4"],
    ),
    "the second row of the id is the new visit's": (
        [row(8, "note", visit_id="bye#1", state_id="bye"), row(9, "note", visit_id="bye#1")],
        ["menu#1", "bye#1"], ["EXIT_MISSING:bus:8", "ENTRY_MISSING:bus:8"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MISSING_RANGE)
def test_an_unknown_id_after_a_missing_range(tmp_path: Path, case: str) -> None:
    more, visits, findings = MISSING_RANGE[case]
    call = opened(tmp_path, start(*more))
    assert ids(call) == visits
    assert sorted(found(call, *ODD)) == sorted(findings)


CUT_OFF: dict[str, tuple[list[dict[str, Any]], list[str], list[str]]] = {
    "one state": (
        [row(5, "note", state_id="menu"), row(6, "note"), *left(7)], ["menu#1", "bye#1"],
        ["ENTRY_MISSING:bus:5"],
    ),
    "one state and one id": (
        [row(5, "note", visit_id="menu#4", state_id="menu"), row(6, "note"), *left(7)],
        ["menu#4", "bye#1"], ["ENTRY_MISSING:bus:5"],
    ),
    "only an exit": (left(5), ["menu#1", "bye#1"], ["ENTRY_MISSING:bus:5"]),
    "no entry at all": (
        [row(5, "note", state_id="menu"), row(6, "note")], ["menu#1"], ["ENTRY_MISSING:bus:5"],
    ),
    "the next entry closes it": (
        [row(5, "note", state_id="menu"), entered(6, "bye")], ["menu#1", "bye#1"],
        ["ENTRY_MISSING:bus:5", "EXIT_MISSING:bus:6"],
    ),
    "no state": (
        [row(5, "note"), entered(6, "bye")], ["bye#1"], ["CONFLICTING_ATTRIBUTION:bus:5"],
    ),
    "two states": (
        [row(5, "note", state_id="menu"), row(6, "note", state_id="wait"), entered(7, "bye")], ["bye#1"],
        ["CONFLICTING_ATTRIBUTION:bus:5", "CONFLICTING_ATTRIBUTION:bus:6"],
    ),
    "two ids open by the general rule": (
        [row(5, "note", visit_id="menu#1", state_id="menu"),
         row(6, "note", visit_id="menu#2", state_id="menu"), entered(7, "bye")],
        ["menu#1", "bye#1"],
        ["ENTRY_MISSING:bus:5", "CONFLICTING_ATTRIBUTION:bus:6", "EXIT_MISSING:bus:7"],
    ),
    "the id is entered later": (
        [row(5, "note", visit_id="menu#1", state_id="menu"), entered(6, "menu", "menu#1")], ["menu#1"],
        ["CONFLICTING_ATTRIBUTION:bus:5"],
    ),
    "the lowest seq is 1": (
        [row(1, "note", state_id="menu"), entered(2, "bye")], ["bye#1"], ["CONFLICTING_ATTRIBUTION:bus:1"],
    ),
    "session_started was kept": (
        [row(5, "note", state_id="menu"), started(6), entered(7, "menu")], ["menu#1"],
        ["CONFLICTING_ATTRIBUTION:bus:5"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CUT_OFF)
def test_a_start_that_is_cut_off(tmp_path: Path, case: str) -> None:
    rows, visits, findings = CUT_OFF[case]
    call = opened(tmp_path, rows)
    assert (ids(call), sorted(found(call, *ODD))) == (visits, sorted(findings))


def test_every_row_before_the_first_entry_is_the_cut_off_visits(tmp_path: Path) -> None:
    call = opened(tmp_path, [row(5, "note"), row(6, "note", state_id="menu"), *left(7), row(9, "note")])
    assert [owner(call, f"bus:{seq}")[0] for seq in range(5, 10)] == ["menu#1"] * 3 + ["bye#1"] * 2
    assert exit(call, "menu#1").reason == "no_baseline,seq_gap" or exit(call, "menu#1").reason == "no_slots"


# Rule 6: completion rows after the commit.


def choice(seq: int, source: str | None, turn: Any = 1, **more: Any) -> dict[str, Any]:
    return row(seq, "locked_choice_evaluated", from_state=source, turn_index=turn, choice="a", **more)


LOOP = [exited(4, "menu", "menu"), entered(5, "menu")]
LATE: dict[str, tuple[list[dict[str, Any]], str, tuple[str | None, str]]] = {
    "in its own visit": (start(choice(4, "menu")), "bus:4", ("menu#1", "interval")),
    "without from_state position decides": (start(choice(4, None)), "bus:4", ("menu#1", "interval")),
    "after the commit, in the target": (
        start(*left(4), committed(6, "menu", "bye", 1), choice(7, "menu")), "bus:7", ("menu#1", "derived"),
    ),
    "after the commit, between visits": (
        start(exited(4, "menu", "bye"), committed(5, "menu", "bye", 1), choice(6, "menu"), entered(7, "bye")),
        "bus:6", ("menu#1", "derived"),
    ),
    "the state it names does not matter then": (
        start(*left(4), committed(6, "menu", "bye", 1), choice(7, "menu", state_id="menu")),
        "bus:7", ("menu#1", "derived"),
    ),
    "the id of the exited source agrees": (
        start(*left(4), committed(6, "menu", "bye", 1), choice(7, "menu", visit_id="menu#1")),
        "bus:7", ("menu#1", "derived"),
    ),
    "another turn": (
        start(*left(4), committed(6, "menu", "bye", 1), choice(7, "menu", 2)), "bus:7", QUARANTINED,
    ),
    "no turn": (
        start(*left(4), committed(6, "menu", "bye", 1), choice(7, "menu", None)), "bus:7", QUARANTINED,
    ),
    "another state": (
        start(*left(4), committed(6, "menu", "bye", 1), choice(7, "away")), "bus:7", QUARANTINED,
    ),
    "before any commit": (start(*left(4), choice(6, "menu"), committed(7, "menu", "bye", 1)),
        "bus:6", QUARANTINED,
    ),
    "two commits match": (
        start(*left(4), committed(6, "menu", "bye", 1), exited(7, "bye", "menu"), entered(8, "menu"),
              exited(9, "menu", "bye"), entered(10, "bye"), committed(11, "menu", "bye", 1),
              choice(12, "menu")), "bus:12", QUARANTINED,
    ),
    "a commit that is itself quarantined counts too": (
        start(*left(4), committed(6, "menu", "bye", 1), committed(7, "menu", "bye", 1), choice(8, "menu")),
        "bus:8", QUARANTINED,
    ),
    "a visit further back": (
        start(*left(4), committed(6, "menu", "bye", 1), exited(7, "bye", "away"), entered(8, "away"),
              choice(9, "menu")), "bus:9", ("menu#1", "derived"),
    ),
    "an id whose visit was closed without an exit": (
        start(entered(4, "bye"), choice(5, "menu", visit_id="menu#1")), "bus:5", ("menu#1", "explicit"),
    ),
    "in a self-transition of a turn that is not recorded": (
        start(*LOOP, committed(6, "menu", "menu"), choice(7, "menu", None)), "bus:7", ("menu#2", "interval"),
    ),
    "in a self-transition of that turn": (
        start(*LOOP, committed(6, "menu", "menu", 1), choice(7, "menu")), "bus:7", ("menu#1", "derived"),
    ),
    "in a self-transition of another turn": (
        start(*LOOP, committed(6, "menu", "menu", 0), choice(7, "menu")), "bus:7", ("menu#2", "interval"),
    ),
    "an explicit id of the open visit": (
        start(exited(4, "menu", "bye"), entered(5, "bye", "bye#1"), committed(6, "menu", "bye", 1),
              choice(7, "menu", visit_id="bye#1")), "bus:7", ("bye#1", "explicit"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LATE)
def test_completion_rows(tmp_path: Path, case: str) -> None:
    rows, event_id, wanted = LATE[case]
    call = opened(tmp_path, rows)
    assert owner(call, event_id) == wanted


def test_a_late_completion_cites_both_and_stands_last_in_its_source(tmp_path: Path) -> None:
    call = opened(tmp_path, start(*left(4), committed(6, "menu", "bye", 1), choice(7, "menu")))
    assert event(call, "bus:7").derived_from == ["bus:7", "bus:6"]
    assert event(call, "bus:7").observed_visit_id == "bye#1"
    assert steps(call, 0)[-2:] == ["bus:6", "bus:7"]
    assert steps(call, 1) == ["bus:5"]


# Rule 7: nothing else after the exit belongs to the closed visit.

TELEMETRY = [
    row(6, "output_attempt_first_text", output_attempt_id="a"),
    row(6, "output_attempt_first_audio", output_attempt_id="a"),
    row(6, "output_attempt_last_audio", output_attempt_id="a"),
    row(6, "output_attempt_terminal", output_attempt_id="a", outcome="completed"),
    row(6, "audio_started", playback_id="p", evidence_stage="client_playback"),
    row(6, "audio_completed", playback_id="p", evidence_stage="client_playback"),
    row(6, "audio_done", playback_id="p", evidence_stage="client_playback"),
    row(6, "audio_interrupted", playback_id="p", evidence_stage="client_playback"),
    row(6, "audio_failed", playback_id="p", evidence_stage="client_playback"),
    row(6, "assistant_transcript", text="hi"),
    row(6, "output_transcription", text="hi"),
    row(6, "assistant_first_audio"),
    row(6, "model_response_boundary", model_response_id="r", boundary="turn_complete"),
]
OTHERS = [
    row(6, "output_attempt_started", output_attempt_id="a", logical_output_id="o"),
    row(6, "audio_requested", playback_id="p", evidence_stage="client_playback"),
    row(6, "tool_result", tool="t", call_id="c", ok=True),
    row(6, "note"),
]
NAMING = [{"visit_id": "menu#1"}, {"state_id": "menu", "causal_visit_id": "menu#1"}]


@pytest.mark.parametrize("naming", NAMING)
@pytest.mark.parametrize("late", TELEMETRY, ids=lambda late: late["type"])
def test_late_telemetry_is_listed_where_it_was_observed(
    tmp_path: Path, late: dict[str, Any], naming: dict[str, Any]
) -> None:
    call = opened(tmp_path, start(*left(4), late | naming))
    shown = event(call, "bus:6")
    assert (shown.visit_id, shown.observed_visit_id, shown.attribution) == ("bye#1", "bye#1", "interval")
    assert shown.payload["causal_visit_id"] == "menu#1"
    assert found(call, "CONFLICTING_ATTRIBUTION") == []


@pytest.mark.parametrize("late", OTHERS, ids=lambda late: late["type"])
def test_no_other_row_follows_its_visit(tmp_path: Path, late: dict[str, Any]) -> None:
    call = opened(tmp_path, start(*left(4), late | {"visit_id": "menu#1"}))
    assert owner(call, "bus:6") == QUARANTINED


def test_a_recorded_cause_stays(tmp_path: Path) -> None:
    late = row(6, "audio_completed", playback_id="p", visit_id="menu#1", causal_visit_id="other#1")
    call = opened(tmp_path, start(*left(4), late))
    assert event(call, "bus:6").payload["causal_visit_id"] == "other#1"
    assert owner(call, "bus:6") == ("bye#1", "interval")


@pytest.mark.parametrize("naming", [*NAMING, {}])
def test_late_telemetry_between_visits_is_quarantined(tmp_path: Path, naming: dict[str, Any]) -> None:
    late = row(5, "audio_completed", playback_id="p", **naming)
    call = opened(tmp_path, start(exited(4, "menu", "bye"), late, entered(6, "bye")))
    assert owner(call, "bus:5") == QUARANTINED


@pytest.mark.parametrize("naming", [{"visit_id": "bye#1"}, {"causal_visit_id": "bye#1", "state_id": "bye"}])
def test_telemetry_of_a_visit_that_is_no_exited_one(tmp_path: Path, naming: dict[str, Any]) -> None:
    early = row(4, "audio_completed", playback_id="p", **naming)
    call = opened(tmp_path, start(early, exited(5, "menu", "bye"), entered(6, "bye", "bye#1")))
    assert owner(call, "bus:4") == QUARANTINED
    assert event(call, "bus:4").payload.get("causal_visit_id") == naming.get("causal_visit_id")


# Rule 10: when an announcement has caller input.

HEARD = row(9, "caller_transcript", text="hello", source="gemini", visit_id="menu#1")
SPOKE = {
    "barge_in": True, "dtmf_received": True, "caller_audio_started": True, "caller_audio_ended": True,
    "user_started_speaking": True, "timer_fired": False, "note": False,
}  # fmt: skip


@pytest.mark.parametrize("name", SPOKE)
@pytest.mark.parametrize("kind", ["phone", "console", "web", "simulator", "eval"])
@pytest.mark.parametrize("seq", [5, 20])
def test_caller_input_of_an_announcement(tmp_path: Path, name: str, kind: str, seq: int) -> None:
    """The visit ends at seq 10; what shows that the caller spoke up stands before that or after."""
    rows = [HEARD, *left(10), row(seq, name, digit="1", timer="t")]
    states = flow([state("menu", [("always", "bye")], kind="announce"), state("bye")])
    call = opened(tmp_path, start(*rows), flow=states, manifest=manifest(kind=kind))
    counts = kind != "phone" or (SPOKE[name] and seq < 10)
    assert beats(call, 0)["caller_said"].status == ("proven" if counts else "unavailable")


# Everything is somewhere, once.


def test_every_event_is_owned_once_or_listed(tmp_path: Path) -> None:
    call = opened(tmp_path, start(*left(4), committed(6, "menu", "bye"), row(7, "note", state_id="menu")))
    inside = [event_id for visit in range(len(call.visits)) for event_id in steps(call, visit)]
    outside = [call.event_id(number) for number in call.unattributed]
    assert sorted(inside + outside) == sorted(recorded(call))
    assert outside == ["bus:7"]
