"""Motions (contract 3.3, 7.3): where each leads, with counts, at the ends, and from events nobody owns."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.debug import cursor as moves
from engine.hydrate.call import Call
from engine.model.errors import EngineError
from engine.model.views import Cursor, Stop
from tests.debug.helpers import at, here, journey, nothing, sample, stopped

MOTIONS = {
    "step": moves.step,
    "meaningful": moves.step_meaningful,
    "over": moves.over,
    "same": moves.same_state,
    "finding": moves.next_finding,
    "write a": lambda call, cursor, count: moves.next_write(call, cursor, "a", count),
    "write stray": lambda call, cursor, count: moves.next_write(call, cursor, "stray", count),
}

TABLE = [
    ("step", "bus:4", 1, "bus:5", None),
    ("step", "bus:4", 0, "bus:4", None),
    ("step", "bus:5", -1, "bus:4", None),
    ("step", "bus:4", 3, "bus:7", None),
    ("step", "bus:7", 1, "drv:exit_boundary:bus:7", None),
    ("step", "bus:7", 2, "bus:10", None),  # the commit stands last in its source visit
    ("step", "bus:10", 1, "drv:entry_boundary:bus:9", None),
    ("step", "drv:entry_boundary:bus:9", -1, "bus:10", None),
    ("step", "bus:18", 5, "bus:19", "end"),
    ("step", "bus:19", 1, "bus:19", "end"),
    ("step", "bus:1", -7, "drv:entry_boundary:bus:1", "start"),
    ("step", "drv:entry_boundary:bus:1", -1, "drv:entry_boundary:bus:1", "start"),
    ("meaningful", "drv:entry_boundary:bus:1", 1, "bus:3", None),
    ("meaningful", "bus:7", 1, "bus:9", None),
    ("meaningful", "bus:12", 1, "bus:15", None),
    ("meaningful", "bus:12", -1, "bus:11", None),
    ("meaningful", "bus:12", -99, "bus:3", "start"),
    ("meaningful", "bus:18", 1, "bus:18", "end"),
    ("over", "bus:1", 1, "drv:entry_boundary:bus:9", None),
    ("over", "bus:1", 2, "drv:entry_boundary:bus:17", None),
    ("over", "bus:12", -1, "drv:entry_boundary:bus:1", None),  # never this visit's own entry
    ("over", "bus:12", 9, "drv:entry_boundary:bus:17", "end"),
    ("over", "bus:18", 1, "bus:18", "end"),
    ("over", "bus:5", -1, "bus:5", "start"),
    ("same", "bus:5", 1, "drv:entry_boundary:bus:17", None),
    ("same", "bus:18", -1, "drv:entry_boundary:bus:1", None),
    ("same", "bus:18", -4, "drv:entry_boundary:bus:1", "start"),
    ("same", "bus:12", 1, "bus:12", "end"),
    ("same", "bus:12", -1, "bus:12", "start"),
    ("finding", "bus:1", 1, "bus:8", None),
    ("finding", "bus:1", 2, "bus:13", None),
    ("finding", "bus:19", -1, "bus:13", None),
    ("finding", "bus:8", 1, "bus:13", None),
    ("finding", "bus:13", 1, "bus:13", "end"),
    ("write a", "bus:1", 1, "bus:12", None),
    ("write a", "bus:12", 1, "bus:18", None),
    ("write a", "bus:19", -2, "bus:12", None),
    ("write a", "bus:12", -1, "bus:12", "start"),
    ("write stray", "bus:1", 1, "bus:8", None),  # a write that nobody owns is a write
    ("write stray", "bus:10", 1, "bus:10", "end"),
    ("write stray", "bus:10", -1, "bus:8", None),
    ("step", "bus:8", 1, "bus:10", None),  # between the events it was recorded between
    ("step", "bus:8", -1, "drv:exit_boundary:bus:7", None),
    ("over", "bus:8", 1, "drv:entry_boundary:bus:9", None),
    ("meaningful", "bus:13", -1, "bus:12", None),
    ("meaningful", "bus:13", 1, "bus:15", None),
]


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Call:
    return journey(tmp_path_factory.mktemp("cursor"))


@pytest.mark.parametrize(("motion", "begin", "count", "reached", "ran_out"), TABLE)
def test_motion(call: Call, motion: str, begin: str, count: int, reached: str, ran_out: str | None) -> None:
    stop = MOTIONS[motion](call, at(call, begin), count)  # type: ignore[no-untyped-call]
    assert stopped(call, stop) == (reached, ran_out)
    assert stop.hit is None


@pytest.mark.parametrize(
    ("begin", "entry", "exit"),
    [
        ("bus:4", "drv:entry_boundary:bus:1", "drv:exit_boundary:bus:7"),
        ("bus:10", "drv:entry_boundary:bus:1", "drv:exit_boundary:bus:7"),
        ("bus:8", "drv:entry_boundary:bus:1", "drv:exit_boundary:bus:7"),
        ("bus:13", "drv:entry_boundary:bus:9", "drv:exit_boundary:bus:15"),
        ("bus:18", "drv:entry_boundary:bus:17", "bus:19"),  # no exit recorded: the last event
    ],
)
def test_entry_and_exit_of_a_visit(call: Call, begin: str, entry: str, exit: str) -> None:
    assert stopped(call, moves.entry(call, at(call, begin))) == (entry, None)
    assert stopped(call, moves.out(call, at(call, begin))) == (exit, None)


def test_an_unattributed_event_keeps_the_visit_open_there_or_the_one_before(call: Call) -> None:
    between, inside = at(call, "bus:8"), at(call, "bus:13")
    assert (between.visit, here(call, Cursor(between.visit, between.micro))) == (0, "drv:exit_boundary:bus:7")
    assert (inside.visit, here(call, Cursor(inside.visit, inside.micro))) == (1, "bus:12")
    assert moves.cursor_of(call, moves.event_of(call, inside)) == inside
    assert (here(call, between), here(call, inside)) == ("bus:8", "bus:13")


def test_ends_of_the_call(call: Call) -> None:
    assert here(call, moves.start(call)) == "drv:entry_boundary:bus:1"
    assert here(call, moves.end(call)) == "bus:19"
    assert moves.opening(call) == moves.start(call)  # all its findings are gaps of the recording


def test_opening_is_the_first_divergence() -> None:
    call = sample("property-menu")
    assert here(call, moves.opening(call)) == "timed:0"
    assert moves.opening(sample("legacy-ring")) == moves.start(sample("legacy-ring"))


def test_unknown_slot_names_similar_ones(call: Call) -> None:
    with pytest.raises(EngineError, match=r"no slot strey in this call; did you mean stray\?") as refused:
        moves.next_write(call, moves.start(call), "strey")
    assert refused.value.code == "UNKNOWN_SLOT"


def test_a_declared_slot_that_was_never_written_has_no_next_write(call: Call) -> None:
    assert moves.next_write(call, at(call, "bus:4"), "phone") == Stop(at(call, "bus:4"), "end")


@pytest.mark.parametrize(
    "cursor",
    [
        Cursor(0, 99),
        Cursor(0, -1),
        Cursor(3, 0),
        Cursor(-1, 0),
        Cursor(0, 0, 999),
        Cursor(0, 0, 0),
        Cursor(0, 0, -5),
    ],
)
def test_a_foreign_cursor_is_refused(call: Call, cursor: Cursor) -> None:
    for motion in MOTIONS.values():
        with pytest.raises(EngineError) as refused:
            motion(call, cursor, 1)  # type: ignore[no-untyped-call]
        assert refused.value.code == "BAD_ARGUMENT"


@pytest.mark.parametrize("count", [10**30, -(10**30)])
def test_a_count_may_be_of_any_size(call: Call, count: int) -> None:
    for motion in MOTIONS.values():
        stop = motion(call, at(call, "bus:12"), count)  # type: ignore[no-untyped-call]
        assert stop.at == ("end" if count > 0 else "start")


def test_a_call_without_visits_has_one_cursor(tmp_path: Path) -> None:
    call = nothing(tmp_path)
    only = Cursor(0, 0)
    assert moves.start(call) == moves.end(call) == moves.opening(call) == only
    assert moves.event_of(call, only) == -1
    for motion in (moves.step, moves.step_meaningful, moves.over, moves.same_state, moves.next_finding):
        assert motion(call, only, 1) == Stop(only, "end")
    for motion in (moves.step, moves.step_meaningful, moves.over, moves.same_state):
        assert motion(call, only, -1) == Stop(only, "start")
    assert moves.entry(call, only) == moves.out(call, only) == Stop(only)
    lost = moves.next_finding(call, only, -1)
    assert (here(call, lost.cursor), lost.cursor.unattributed) == ("bus:1", 0)
    assert moves.step(call, lost.cursor, 1) == Stop(lost.cursor, "end")


@pytest.mark.parametrize("name", ["property-menu", "consent-restart", "legacy-ring"])
def test_stepping_over_a_sample_visits_every_owned_event_once(name: str) -> None:
    call = sample(name)
    seen, stop = [], Stop(moves.start(call))
    while stop.at is None:
        seen.append(moves.event_of(call, stop.cursor))
        stop = moves.step(call, stop.cursor)
    assert seen == call.order.micro.tolist()
    assert len(set(seen)) == int((call.visit_of >= 0).sum())
