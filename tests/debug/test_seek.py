"""Named places (contract 3.3 ``seek``, 7.3 ``:``)."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import pytest

from engine.debug import cursor as moves
from engine.hydrate.call import Call
from engine.hydrate.pipeline import open_call
from engine.model.errors import EngineError
from engine.model.views import Cursor
from tests.calls import row, write_call
from tests.debug.helpers import here, journey, nothing, sample


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Call:
    return journey(tmp_path_factory.mktemp("seek"))


@pytest.mark.parametrize(
    ("text", "event_id"),
    [
        ("#12", "bus:12"),
        (" #012 ", "bus:12"),
        ("bus:12", "bus:12"),
        ("bus:8", "bus:8"),
        ("drv:exit_boundary:bus:7", "drv:exit_boundary:bus:7"),
        ("menu#2", "drv:entry_boundary:bus:17"),
        ("0.4s", "bus:12"),
        ("400ms", "bus:12"),
        ("400 ms", "bus:12"),
        ("0.4999s", "bus:12"),
        ("0ms", "bus:3"),
        ("99s", "bus:18"),  # bus:19 has no clock
        ("CONFLICTING_ATTRIBUTION", "bus:8"),
        ("CONFLICTING_ATTRIBUTION:bus:13", "bus:13"),
    ],
)
def test_goto(call: Call, text: str, event_id: str) -> None:
    assert here(call, moves.goto(call, text)) == event_id


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("#99", "UNKNOWN_EVENT"),
        ("bus:99", "UNKNOWN_EVENT"),
        ("bus:012", "UNKNOWN_EVENT"),
        ("bus:" + "9" * 40, "UNKNOWN_EVENT"),
        ("bus:" + "9" * 9000, "UNKNOWN_EVENT"),
        ("drv:exit_boundary:bus:19", "UNKNOWN_EVENT"),
        ("menu#9", "UNKNOWN_VISIT"),
        ("NO_WINNER", "UNKNOWN_FINDING"),
        ("NO_WINNER:bus:3", "UNKNOWN_FINDING"),
        ("", "BAD_ARGUMENT"),
        ("menu", "BAD_ARGUMENT"),
        ("12", "BAD_ARGUMENT"),
        ("12.4.5s", "BAD_ARGUMENT"),
        ("-3s", "BAD_ARGUMENT"),
        ("#", "BAD_ARGUMENT"),
        ("#" + "9" * 60, "BAD_ARGUMENT"),
        ("٣s", "BAD_ARGUMENT"),
        ("\x1b[2J" * 500, "BAD_ARGUMENT"),
    ],
)
def test_goto_refuses(call: Call, text: str, code: str) -> None:
    with pytest.raises(EngineError) as refused:
        moves.goto(call, text)
    assert refused.value.code == code
    assert len(refused.value.message) < 400
    assert refused.value.message.isprintable()
    if code == "BAD_ARGUMENT":
        assert "#482" in refused.value.message and "menu#2" in refused.value.message


def test_unknown_names_say_what_was_near(call: Call) -> None:
    with pytest.raises(EngineError, match=r"did you mean menu#2, menu#1\?"):
        moves.at_visit(call, "menu#3")
    with pytest.raises(EngineError, match="did you mean CONFLICTING_ATTRIBUTION"):
        moves.at_finding(call, "CONFLICTING_ATRIBUTION")


def test_time_before_the_first_clock_is_the_start(call: Call) -> None:
    assert moves.at_time(call, -1) == moves.start(call)


@pytest.mark.parametrize("ms", [math.nan, math.inf, -math.inf])
def test_time_is_finite(call: Call, ms: float) -> None:
    with pytest.raises(EngineError) as refused:
        moves.at_time(call, ms)
    assert refused.value.code == "BAD_ARGUMENT"


def test_time_is_the_last_event_in_call_order_at_or_before_it() -> None:
    call = sample("consent-restart")
    micro = call.order.micro.tolist()
    clocks = [call.clock_ms(event) for event in micro]
    for ms in [0.0, 39.9, 13_132, 50_000.5, 104_104, 1e9]:
        expected = max(number for number, clock in enumerate(clocks) if clock is not None and clock <= ms)
        assert moves.event_of(call, moves.at_time(call, ms)) == micro[expected]


def test_a_finding_without_an_event_stands_at_its_visits_entry_else_at_the_start() -> None:
    call = sample("legacy-ring")
    assert moves.at_finding(call, "BASELINE_MISSING") == moves.start(call)
    assert here(call, moves.at_finding(call, "EVENTS_MISSING")) == "bus:5"


def test_a_finding_that_has_a_visit_only(tmp_path: Path) -> None:
    call = journey(tmp_path)
    made = msgspec.structs.replace(
        call.findings[0], code="AUDIO", finding_id="AUDIO:-", event_id=None, visit_id="ask#1"
    )
    nowhere = msgspec.structs.replace(made, finding_id="AUDIO:-:1", visit_id=None)
    call.findings = [nowhere, made]
    assert here(call, moves.at_finding(call, "AUDIO:-")) == "drv:entry_boundary:bus:9"
    assert moves.at_finding(call, "AUDIO:-:1") == moves.start(call)
    assert moves.at_finding(call, "AUDIO") == moves.at_finding(
        call, "AUDIO:-"
    )  # a code: the first with a place
    assert moves.next_finding(call, moves.start(call)).at == "end"


def test_names_of_the_call_come_before_forms(tmp_path: Path) -> None:
    call = open_call(
        write_call(
            tmp_path,
            events=[
                row(1, "session_started", 0, initial_state="a"),
                row(2, "state_entered", 0, state_id="a", visit_id="#3"),
                row(3, "turn_complete", 900, turn_index=0, visit_id="#3"),
            ],
        )
    )
    assert moves.goto(call, "#3") == moves.at_visit(call, "#3") == Cursor(0, 0)


def test_a_call_without_visits(tmp_path: Path) -> None:
    call = nothing(tmp_path)
    assert moves.at_time(call, 100) == Cursor(0, 0)
    assert moves.goto(call, "#1") == Cursor(0, 0, 0)
    assert moves.at_finding(call, "CAPTURE_FAILURE").visit == 0
    with pytest.raises(EngineError):
        moves.at_visit(call, "menu#1")
