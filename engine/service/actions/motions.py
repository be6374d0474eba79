"""Motions: where a cursor goes next (contract 3.3). At an end the cursor stays and the result says so."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from engine.debug import cursor as moves
from engine.debug import seek as places
from engine.debug.candidates import check_code, check_kind, check_state, findings_of
from engine.debug.index import index
from engine.debug.turns import at_turn, turn_track
from engine.model.commands import Field
from engine.model.errors import EngineError
from engine.model.views import Cursor, Stop
from engine.service.action import Action, Args, Asked, Outcome

SHOWN: tuple[Field, ...] = ("visit", "event", "clock_ms", "findings_here")
LARGEST_COUNT = 10_000_000


class Moved(msgspec.Struct, frozen=True):
    """Result of a motion: ``at`` is the end of the call that it ran into."""

    at: Literal["start", "end"] | None


class CountArgs(Args, frozen=True, kw_only=True):
    """``count``: how many times, from 1."""

    count: int = 1


def check_count(count: int) -> int:
    """A count that a motion can take.

    Raises:
        EngineError: ``BAD_ARGUMENT``.
    """
    if not 1 <= count <= LARGEST_COUNT:
        raise EngineError(
            "BAD_ARGUMENT", f"count is a number from 1 to {LARGEST_COUNT}", argument="args.count"
        )
    return count


def _counted(args: CountArgs) -> int:
    return check_count(args.count)


def _moved(stop: Stop) -> Outcome:
    return Outcome(Moved(stop.at), stop.cursor)


def step_into(asked: Asked, args: CountArgs) -> Outcome:
    """The next micro-event, across visits."""
    return _moved(moves.step(asked.call, asked.cursor, _counted(args)))


def step_back(asked: Asked, args: CountArgs) -> Outcome:
    """The previous micro-event, across visits."""
    return _moved(moves.step(asked.call, asked.cursor, -_counted(args)))


def step_over(asked: Asked, args: CountArgs) -> Outcome:
    """The next visit's entry."""
    return _moved(moves.over(asked.call, asked.cursor, _counted(args)))


def reverse_over(asked: Asked, args: CountArgs) -> Outcome:
    """The previous visit's entry."""
    return _moved(moves.over(asked.call, asked.cursor, -_counted(args)))


def step_out(asked: Asked, args: Args) -> Outcome:
    """This visit's exit boundary."""
    return _moved(moves.out(asked.call, asked.cursor))


def reverse_out(asked: Asked, args: Args) -> Outcome:
    """This visit's entry boundary."""
    return _moved(moves.entry(asked.call, asked.cursor))


class Towards(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to go to next: exactly one of these."""

    kind: str | None = None
    meaningful: Literal[True] | None = None
    slot: str | None = None
    finding: Literal[True] | str | None = None
    state: str | None = None
    turn: Literal[True] | None = None


class SeekArgs(Args, frozen=True, kw_only=True):
    """Where to go: exactly one of these; ``count`` says how many times, with ``next`` or ``previous``.

    ``place`` is any place as a person writes it: ``#482``, ``12.4s``, ``menu#2``, a finding, an event id.
    """

    count: int = 1
    place: str | None = None
    visit_id: str | None = None
    event_id: str | None = None
    time_ms: float | None = None
    finding_id: str | None = None
    turn_index: int | None = None
    start: Literal[True] | None = None
    end: Literal[True] | None = None
    next: Towards | None = None
    previous: Towards | None = None


_TO = (
    "place",
    "visit_id",
    "event_id",
    "time_ms",
    "finding_id",
    "turn_index",
    "start",
    "end",
    "next",
    "previous",
)
_ALONG = ("kind", "meaningful", "slot", "finding", "state", "turn")


def seek(asked: Asked, args: SeekArgs) -> Outcome:
    """Go to a place that is named."""
    call = asked.call
    if args.count != 1 and args.next is args.previous is None:
        message = "count goes with next or previous"
        raise EngineError("BAD_ARGUMENT", message, argument="args.count")
    match _only(args, _TO, "args"):
        case "place", text:
            return _arrived(places.goto(call, text))
        case "visit_id", name:
            return _arrived(places.at_visit(call, name))
        case "event_id", name:
            return _arrived(places.at_event(call, name))
        case "time_ms", ms:
            return _arrived(places.at_time(call, ms))
        case "finding_id", name:
            return _arrived(places.at_finding(call, name))
        case "turn_index", number:
            return _arrived(at_turn(call, number))
        case "start", _:
            return _arrived(moves.start(call))
        case "end", _:
            return _arrived(moves.end(call))
        case way, towards:
            count = check_count(args.count)
            return _moved(_along(asked, towards, count if way == "next" else -count, f"args.{way}"))


def _arrived(cursor: Cursor) -> Outcome:
    return Outcome(Moved(None), cursor)


def _along(asked: Asked, towards: Towards, count: int, argument: str) -> Stop:
    call, known = asked.call, index(asked.call)
    match _only(towards, _ALONG, argument):
        case "meaningful", _:
            return moves.step_meaningful(call, asked.cursor, count)
        case "slot", slot:
            return moves.next_write(call, asked.cursor, slot, count)
        case "finding", name:
            return _to_finding(asked, name, count, f"{argument}.finding")
        case "turn", _:
            return moves.along(call, asked.cursor, turn_track(call), count)
        case "kind", kind:
            check_kind(call, kind, f"{argument}.kind")
            return moves.along(call, asked.cursor, known.kind(call, kind), count)
        case _, state:
            check_state(call, state, f"{argument}.state")
            return moves.along(call, asked.cursor, known.state(call, state), count)


def _to_finding(asked: Asked, name: Literal[True] | str, count: int, argument: str) -> Stop:
    """The next event that a finding stands at, of any code or of one."""
    if name is True:
        return moves.next_finding(asked.call, asked.cursor, count)
    check_code(asked.call, name, argument)
    return moves.along(asked.call, asked.cursor, findings_of(asked.call, name), count)


def _only(args: msgspec.Struct, names: tuple[str, ...], argument: str) -> tuple[str, Any]:
    """The one argument that is given.

    Raises:
        EngineError: ``BAD_ARGUMENT`` for none, or several.
    """
    given = [(name, value) for name in names if (value := getattr(args, name)) is not None]
    if len(given) != 1:
        raise EngineError("BAD_ARGUMENT", f"give exactly one of {', '.join(names)}", argument=argument)
    return given[0]


ACTIONS = (
    Action("seek", SeekArgs, seek, Moved, "Go to a place that is named.", SHOWN),
    Action("step_into", CountArgs, step_into, Moved, "The next micro-event, across visits.", SHOWN),
    Action("step_back", CountArgs, step_back, Moved, "The previous micro-event, across visits.", SHOWN),
    Action("step_over", CountArgs, step_over, Moved, "The next visit's entry.", SHOWN),
    Action("reverse_over", CountArgs, reverse_over, Moved, "The previous visit's entry.", SHOWN),
    Action("step_out", Args, step_out, Moved, "This visit's exit boundary.", SHOWN),
    Action("reverse_out", Args, reverse_out, Moved, "This visit's entry boundary.", SHOWN),
)
