"""Turns as places (contract 3.3 ``seek``): a turn begins behind the end of the one before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.debug import cursor as moves
from engine.debug.turns import at_turn, turn_track
from engine.hydrate.call import Call
from engine.hydrate.pipeline import open_call
from engine.model.errors import EngineError
from tests.calls import row, write_call
from tests.debug.helpers import at, here, stopped

IN_MENU = {"visit_id": "menu#1", "state_id": "menu"}
ROWS: list[dict[str, Any]] = [
    row(1, "session_started", 0, initial_state="menu"),
    row(2, "state_entered", 0, **IN_MENU),
    row(3, "caller_transcript", 100, text="one", source="gemini", **IN_MENU),
    row(4, "turn_complete", 200, turn_index=0, **IN_MENU),
    row(5, "caller_transcript", 300, text="two", source="gemini", **IN_MENU),
    row(6, "turn_complete", 400, turn_index="late", **IN_MENU),
    row(7, "turn_complete", 500, turn_index=2, **IN_MENU),
    row(8, "turn_complete", 600, turn_index=3, **IN_MENU),
    row(9, "turn_complete", 700, turn_index=3, **IN_MENU),
    row(10, "caller_transcript", 800, text="three", source="gemini", **IN_MENU),
]


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Call:
    return open_call(write_call(tmp_path_factory.mktemp("turns"), events=ROWS))


@pytest.mark.parametrize(("turn", "event_id"), [(0, "bus:1"), (2, "bus:5")])
def test_a_turn_begins_behind_the_end_of_the_one_before(call: Call, turn: int, event_id: str) -> None:
    assert here(call, at_turn(call, turn)) == event_id


@pytest.mark.parametrize(
    ("turn", "code"), [(1, "UNKNOWN_EVENT"), (4, "UNKNOWN_EVENT"), (3, "AMBIGUOUS_LINK")]
)
def test_a_turn_without_one_recorded_end_is_no_place(call: Call, turn: int, code: str) -> None:
    with pytest.raises(EngineError) as caught:
        at_turn(call, turn)
    assert caught.value.code == code


def test_next_and_previous_turn(call: Call) -> None:
    track, start = turn_track(call), at(call, "bus:3")
    forward = [stopped(call, moves.along(call, start, track, count)) for count in (1, 2, 3, 4)]
    assert forward == [("bus:5", None), ("bus:8", None), ("bus:9", None), ("bus:9", "end")]
    back = [stopped(call, moves.along(call, at(call, "bus:10"), track, count)) for count in (-1, -3, -4, -5)]
    assert back == [("bus:9", None), ("bus:5", None), ("bus:1", None), ("bus:1", "start")]


def test_turn_records_are_turns(tmp_path: Path) -> None:
    records = [{"turn_index": n, "session_id": "v3:t", "from_state": "menu"} for n in (4, 5)]
    call = open_call(write_call(tmp_path, events=None, turns=records))
    assert here(call, at_turn(call, 5)) == "turn:5"
    assert stopped(call, moves.along(call, at(call, "turn:4"), turn_track(call), 1)) == ("turn:5", None)
