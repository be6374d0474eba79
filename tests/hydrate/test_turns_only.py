"""A call of turn records and no ledger (contract 1.1)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.hydrate.call import Call
from engine.hydrate.document import artifact
from engine.hydrate.pipeline import open_call
from engine.model.errors import EngineError
from tests.calls import SESSION, flow, lines, slot, state, write_call
from tests.hydrate.ask import UNSET, at_cursor, entries, event, exit, exits, found, ids, shown, steps

NO_BASELINE = "unavailable", "no_baseline"
OPEN = "unavailable", "no_exit_boundary"
Row = dict[str, Any]


def turn(index: int, source: str | None, to: str | None = None, slots: Any = None, **more: Any) -> Row:
    made: Row = {"turn_index": index, "session_id": SESSION, "from_state": source, "to_state": to or source}
    return made | ({} if slots is None else {"post_turn_snapshot": slots}) | more


def told(where: Path, turns: list[Row], session: str | None = None, **files: Any) -> Call:
    return open_call(write_call(where, turns=turns, **files), session=session)


VISITS: dict[str, tuple[list[Row], dict[str, list[str]], list[str]]] = {
    "one turn": ([turn(0, "menu")], {"menu#1": ["turn:0"]}, []),
    "turns of one state are one visit": (
        [turn(0, "menu"), turn(1, "menu")], {"menu#1": ["turn:0", "turn:1"]}, [],
    ),
    "a turn that leads on ends the visit": (
        [turn(0, "menu", "bye"), turn(1, "bye")], {"menu#1": ["turn:0"], "bye#1": ["turn:1"]}, [],
    ),
    "re-entry": (
        [turn(0, "menu", "bye"), turn(1, "bye", "menu"), turn(2, "menu")],
        {"menu#1": ["turn:0"], "bye#1": ["turn:1"], "menu#2": ["turn:2"]}, [],
    ),
    "a state that nobody was seen to lead to": (
        [turn(0, "menu"), turn(1, "bye")], {"menu#1": ["turn:0"], "bye#1": ["turn:1"]},
        ["EXIT_MISSING:turn:1"],
    ),
    "another state than the turn before led to": (
        [turn(0, "menu", "away"), turn(1, "bye")], {"menu#1": ["turn:0"], "bye#1": ["turn:1"]}, [],
    ),
    "the state that the turn before had left": (
        [turn(0, "menu", "bye"), turn(1, "menu")], {"menu#1": ["turn:0"], "menu#2": ["turn:1"]}, [],
    ),
    "by index, not by line": (
        [turn(1, "bye"), turn(0, "menu", "bye")], {"menu#1": ["turn:0"], "bye#1": ["turn:1"]}, [],
    ),
    "a turn that names no state belongs to nobody and changes nothing": (
        [turn(0, "menu"), turn(1, None), turn(2, "menu")], {"menu#1": ["turn:0", "turn:2"]},
        ["CONFLICTING_ATTRIBUTION:turn:1"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", VISITS)
def test_visits_follow_from_the_states_of_the_turns(tmp_path: Path, case: str) -> None:
    turns, visits, findings = VISITS[case]
    call = told(tmp_path, turns)
    assert {name: steps(call, index) for index, name in enumerate(ids(call))} == visits
    others = [one for one in found(call) if not one.startswith(("LEDGER_MISSING", "BASELINE_MISSING"))]
    assert others == findings
    listed = [call.event_id(number) for number in call.unattributed]
    assert sorted([*listed, *(one for turns in visits.values() for one in turns)]) == sorted(
        f"turn:{made['turn_index']}" for made in turns
    )


def test_a_turn_is_one_derived_event(tmp_path: Path) -> None:
    call = told(tmp_path, [turn(3, "menu", user_utterance="hello", ts=1.5)])
    shown_ = event(call, "turn:3")
    assert (shown_.kind, shown_.provenance, shown_.attribution) == ("turn", "derived", "derived")
    assert (shown_.seq, shown_.clock_ms, shown_.clock) == (None, None, "none")
    assert shown_.source_refs == [{"artifact": "turns.jsonl", "line": 1}]
    assert shown_.payload["user_utterance"] == "hello"


CELLS: dict[str, tuple[list[Row], list[Any], list[Any]]] = {
    "before the first turn nothing is known": ([turn(0, "menu", "bye", {"x": 1})], [NO_BASELINE], [1]),
    "a visit begins with what the turn before left": (
        [turn(0, "menu", "bye", {"x": 1}), turn(1, "bye", "menu", {"x": 2})], [NO_BASELINE, 1], [1, 2],
    ),
    "a snapshot lists every set slot": (
        [turn(0, "menu", "bye", {"x": 1}), turn(1, "bye", "menu", {})], [NO_BASELINE, 1], [1, UNSET],
    ),
    "null is not unset": ([turn(0, "menu", "bye", {"x": None})], [NO_BASELINE], [None]),
    "a turn without a snapshot": (
        [turn(0, "menu", "bye", {"x": 1}), turn(1, "bye", "menu"), turn(2, "menu", "bye", {"x": 3})],
        [NO_BASELINE, 1, ("unavailable", "no_post_turn_snapshot")],
        [1, ("unavailable", "no_post_turn_snapshot"), 3],
    ),
    "turns are missing before a visit": (
        [turn(0, "menu", "bye", {"x": 1}), turn(3, "bye", "menu", {"x": 2})],
        [NO_BASELINE, ("unavailable", "turns_missing")], [1, 2],
    ),
    "the last visit is open": ([turn(0, "menu", "menu", {"x": 1})], [NO_BASELINE], [OPEN]),
}  # fmt: skip


@pytest.mark.parametrize("case", CELLS)
def test_cells_come_from_the_snapshots_after_the_turns(tmp_path: Path, case: str) -> None:
    turns, at_entry, at_exit = CELLS[case]
    declared = flow([state("menu", [("always", "bye")]), state("bye")], [slot("x")])
    call = told(tmp_path, turns, flow=declared)
    assert (entries(call, "x"), exits(call, "x")) == (at_entry, at_exit)


def test_a_cell_at_a_turn(tmp_path: Path) -> None:
    call = told(tmp_path, [turn(0, "menu", "menu", {"x": 1}), turn(1, "menu", "bye", {"x": 2})])
    now = at_cursor(call, "turn:0", "x")
    assert (shown(now), now.event_id, now.provenance) == (1, "turn:0", "derived")
    assert shown(at_cursor(call, "turn:1", "x")) == 2
    assert exit(call, "menu#1").event_id == "turn:1"


def test_everything_else_is_unavailable(tmp_path: Path) -> None:
    call = told(tmp_path, [turn(0, "menu", "bye"), turn(1, "bye")])
    made = artifact(call)
    assert found(call, "LEDGER_MISSING") == ["LEDGER_MISSING:-"]
    assert (made["completeness"], made["output_attempts"], made["playback_spans"]) == ("incomplete", [], [])
    missing = {f"missing:{name}" for name in ("bus_events.jsonl", "state_trace.jsonl", "flow.json")}
    assert missing < set(made["completeness_reasons"])
    for visit in made["visits"]:
        assert (visit["final_verdict"], visit["exit_commit"]) == (None, None)
        assert visit["evidence_beats"]["heard"]["status"] == "unavailable"


def test_a_bare_file_is_the_same_call(tmp_path: Path) -> None:
    turns = [turn(0, "menu", "bye", {"x": 1}), turn(1, "bye")]
    bare = tmp_path / "turns.jsonl"
    bare.write_text(lines(turns))
    one, other = artifact(open_call(bare)), artifact(told(tmp_path, turns))
    assert one["visits"] == other["visits"]


# Several sessions.

TWO = [turn(0, "menu"), turn(0, "bye", session_id="other"), turn(1, "menu", "bye")]


def test_each_session_is_a_call_of_its_own(tmp_path: Path) -> None:
    call = told(tmp_path, TWO, SESSION)
    assert (call.session_id, ids(call), steps(call, 0)) == (SESSION, ["menu#1"], ["turn:0", "turn:1"])
    assert ids(open_call(tmp_path / "call", session="other")) == ["bye#1"]


@pytest.mark.parametrize(("session", "code"), [(None, "BAD_ARGUMENT"), ("third", "UNKNOWN_SESSION")])
def test_a_session_must_be_named(tmp_path: Path, session: str | None, code: str) -> None:
    with pytest.raises(EngineError) as raised:
        told(tmp_path, TWO, session)
    assert raised.value.code == code
    assert {SESSION, "other"} <= set(
        json.dumps(raised.value.details).replace('"', " ").replace(",", " ").split()
    )


def test_one_session_needs_no_name_and_no_turn_is_no_source(tmp_path: Path) -> None:
    assert told(tmp_path, [turn(0, "menu")]).session_id == SESSION
    for number, files in enumerate([{"turns": []}, {"flow": flow()}, {"turns": ["not json"]}]):
        with pytest.raises(EngineError) as raised:
            open_call(write_call(tmp_path, name=str(number), **files))  # type: ignore[arg-type]
        assert raised.value.code == "NO_EVENT_SOURCE"
