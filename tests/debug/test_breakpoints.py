"""Breakpoints (contract 3.4): what they are written like, where runs stop, both ways, and how they end."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.debug import cursor as moves
from engine.debug.breakpoints import Breakpoint, parse, run_to
from engine.hydrate.call import Call
from engine.hydrate.pipeline import open_call
from engine.model.errors import EngineError
from engine.model.views import Cursor, Stop
from tests.calls import row, write_call
from tests.debug.helpers import at, here, journey, nothing, sample


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Call:
    return journey(tmp_path_factory.mktemp("breakpoints"))


def test_forms(call: Call) -> None:
    assert parse(call, " state:menu ") == Breakpoint("state:menu")
    assert parse(call, "slot:a", "slots.a == 1", 2) == Breakpoint("slot:a", "slots.a == 1", 2)


def test_a_slot_name_may_hold_colons() -> None:
    name = "_required_tool_fired:cap_existing_request__list_tickets:replicant_list_tickets"
    assert parse(sample("property-menu"), f"slot:{name}").text == f"slot:{name}"


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("slot:strey", "UNKNOWN_SLOT", "did you mean stray?"),
        ("state:meny", "BAD_ARGUMENT", "did you mean menu?"),
        ("event:slot_writ", "BAD_ARGUMENT", "did you mean slot_write"),
        ("writer:flow", "BAD_ARGUMENT", "state:<state>, visit:<visit>, event:<kind>, slot:<name>"),
        ("guard:alwys", "BAD_ARGUMENT", "no guard alwys"),
        ("edge:nowhere", "BAD_ARGUMENT", "no edge nowhere"),
        ("visit:meny#1", "UNKNOWN_VISIT", "did you mean menu#1"),
        ("finding:EXIT_MISING", "BAD_ARGUMENT", "did you mean EXIT_MISSING"),
        ("time:soon", "BAD_ARGUMENT", "soon is no number of milliseconds"),
        ("time:inf", "BAD_ARGUMENT", "inf is no number of milliseconds"),
        ("input:1", "BAD_ARGUMENT", "input:1 is no breakpoint"),
        ("menu", "BAD_ARGUMENT", "menu is no breakpoint"),
        ("slot:", "BAD_ARGUMENT", "is no breakpoint"),
        ("", "BAD_ARGUMENT", "nothing is no breakpoint"),
        ("state:" + "x" * 100_000, "BAD_ARGUMENT", "no state xxx"),
    ],
)
def test_refused(call: Call, text: str, code: str, says: str) -> None:
    with pytest.raises(EngineError) as refused:
        parse(call, text)
    assert refused.value.code == code
    assert says in refused.value.message
    assert len(refused.value.message) < 400


def test_a_declared_state_that_was_never_visited_is_known() -> None:
    call = sample("property-menu")
    assert parse(call, "state:cap_pay_rent__amount").text == "state:cap_pay_rent__amount"
    assert run_to(call, moves.start(call), [parse(call, "state:cap_pay_rent__amount")]).at == "end"


@pytest.mark.parametrize(
    ("texts", "begin", "reverse", "count", "reached", "hit"),
    [
        (["slot:a"], "bus:1", False, 1, "bus:12", "slot:a"),
        (["slot:a"], "bus:12", False, 1, "bus:18", "slot:a"),  # never the event the cursor is on
        (["slot:a"], "bus:12", True, 1, "drv:entry_boundary:bus:1", None),
        (["slot:a"], "bus:18", True, 1, "bus:12", "slot:a"),
        (["slot:a"], "bus:1", False, 2, "bus:18", "slot:a"),
        (["slot:a"], "bus:1", False, 3, "bus:19", None),
        (["slot:a"], "bus:19", False, -1, "bus:18", "slot:a"),
        (["state:menu"], "bus:1", False, 1, "drv:entry_boundary:bus:17", "state:menu"),
        (["state:menu"], "bus:1", True, 1, "drv:entry_boundary:bus:1", "state:menu"),
        (["state:ask", "slot:a"], "bus:1", False, 1, "drv:entry_boundary:bus:9", "state:ask"),
        (["state:ask", "slot:a"], "bus:1", False, 2, "bus:12", "slot:a"),
        (["event:slot_write", "slot:a"], "bus:11", False, 1, "bus:12", "event:slot_write"),
        (["slot:a", "event:slot_write"], "bus:11", False, 1, "bus:12", "slot:a"),
        (["event:slot_write"], "bus:6", False, 1, "bus:8", "event:slot_write"),  # nobody owns it
        (["slot:stray"], "bus:19", True, 1, "bus:8", "slot:stray"),
        (["event:tool_called"], "bus:4", False, 1, "bus:19", None),
        ([], "bus:4", False, 1, "bus:19", None),
        ([], "bus:4", True, 1, "drv:entry_boundary:bus:1", None),
    ],
)
def test_run(
    call: Call, texts: list[str], begin: str, reverse: bool, count: int, reached: str, hit: str | None
) -> None:
    points = [parse(call, text) for text in texts]
    stop = run_to(call, at(call, begin), points, reverse=reverse, count=count)
    assert (here(call, stop.cursor), stop.hit and stop.hit.text) == (reached, hit)
    back = reverse != (count < 0)
    assert stop.at == (None if hit else "start" if back else "end")


def test_an_unlisted_type_of_any_source_stops_as_other(tmp_path: Path) -> None:
    call = open_call(
        write_call(
            tmp_path,
            events=[
                row(1, "session_started", 0, initial_state="menu"),
                row(2, "state_entered", 0, state_id="menu"),
                row(3, "weather", 5),
                row(4, "turn_complete", 9, turn_index=0),
            ],
            trace=[{"row": 0, "node": "menu", "seq": 2, "type": "mood_guessed", "mood": "calm"}],
        )
    )
    begin = moves.start(call)
    point = [parse(call, "event:other")]
    assert here(call, run_to(call, begin, point).cursor) == "trace:0"
    assert here(call, run_to(call, begin, point, count=2).cursor) == "bus:3"
    assert run_to(call, begin, point, count=3).at == "end"
    with pytest.raises(EngineError, match="no event kind mood_guessed"):
        parse(call, "event:mood_guessed")


def test_a_disabled_breakpoint_is_no_stop(call: Call) -> None:
    off = Breakpoint("slot:a", enabled=False)
    assert run_to(call, at(call, "bus:1"), [off]).at == "end"


def test_at_the_end_the_cursor_stays(call: Call) -> None:
    for cursor in (moves.end(call), at(call, "bus:19")):
        assert run_to(call, cursor, []) == Stop(cursor, "end")
    assert run_to(call, moves.start(call), [], reverse=True) == Stop(moves.start(call), "start")


def test_a_lost_event_after_the_last_one_is_no_reason_to_go_back(tmp_path: Path) -> None:
    call = nothing(tmp_path)
    assert run_to(call, Cursor(0, 0, 0), []) == Stop(Cursor(0, 0), "end")
    assert run_to(call, Cursor(0, 0), []) == Stop(Cursor(0, 0), "end")
    assert run_to(call, Cursor(0, 0, 0), [], reverse=True) == Stop(Cursor(0, 0, 0), "start")
    point = parse(call, "event:capture_failure")
    assert run_to(call, Cursor(0, 0), [point], reverse=True) == Stop(Cursor(0, 0, 0), hit=point)


def test_a_run_can_be_cancelled(call: Call) -> None:
    with pytest.raises(EngineError) as refused:
        run_to(call, moves.start(call), [parse(call, "slot:a")], cancelled=lambda: True)
    assert refused.value.code == "CANCELLED"
    answers = iter([False, False, True])
    with pytest.raises(EngineError, match="interrupted"):
        run_to(call, moves.start(call), [parse(call, "slot:a")], count=2, cancelled=lambda: next(answers))
    point = parse(call, "slot:a")
    assert run_to(call, moves.start(call), [point], cancelled=lambda: False).hit == point


def test_both_directions_stop_at_the_same_places() -> None:
    call = sample("consent-restart")
    points = [parse(call, text) for text in ("state:menu", "event:slot_write", "slot:_route")]
    forward, stop = [], run_to(call, moves.start(call), points)
    while stop.hit is not None:
        forward.append((stop.cursor, stop.hit))
        stop = run_to(call, stop.cursor, points)
    back, stop = [], run_to(call, moves.end(call), points, reverse=True)
    while stop.hit is not None:
        back.append((stop.cursor, stop.hit))
        stop = run_to(call, stop.cursor, points, reverse=True)
    assert forward and forward == back[::-1]
