"""Breakpoints, and running to them both ways (contract 3.3, 3.4)."""

from __future__ import annotations

from typing import Literal

import msgspec

from engine.debug import breakpoints as stops
from engine.debug.breakpoints import Undecided
from engine.debug.names import hint, shown
from engine.hydrate.call import Call
from engine.model.breakpoint import Breakpoint
from engine.model.errors import EngineError
from engine.service.action import Action, Args, Asked, Outcome
from engine.service.actions.motions import SHOWN, check_count

MOST = 100
"""Breakpoints of a session, and of a request."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A breakpoint as a request writes it: ``on`` selects candidates, ``when`` is a CEL condition."""

    on: str
    when: str | None = None
    hit_count: int | None = None
    enabled: bool = True


class Point(msgspec.Struct, frozen=True):
    """A breakpoint as it is kept; its id depends on nothing but ``on``, ``when`` and ``hit_count``."""

    id: str
    on: str
    when: str | None
    hit_count: int | None
    enabled: bool


class Points(msgspec.Struct, frozen=True):
    """Every breakpoint of the session."""

    breakpoints: list[Point]


class Passed(msgspec.Struct, frozen=True):
    """A candidate that was no hit because its condition can't be decided there."""

    id: str
    event_id: str
    reason: str


class Ran(msgspec.Struct, frozen=True):
    """Result of a run.

    Attributes:
        at: The end of the call that it ran into.
        hit: The breakpoint that was hit.
        undecided: At most fifty candidates that could not be decided.
    """

    at: Literal["start", "end"] | None
    hit: Point | None
    undecided: list[Passed]


class RunArgs(Args, frozen=True, kw_only=True):
    """``breakpoints``: those of this run, instead of the session's; ``count``: which hit to stop at."""

    count: int = 1
    breakpoints: list[Wanted] | None = None


class SetArgs(Args, frozen=True, kw_only=True):
    """The breakpoint to set, as in `Wanted`."""

    on: str
    when: str | None = None
    hit_count: int | None = None
    enabled: bool = True


class ClearArgs(Args, frozen=True, kw_only=True):
    """Which: one by its ``id``, or ``all``."""

    id: str | None = None
    all: Literal[True] | None = None


def run_on(asked: Asked, args: RunArgs) -> Outcome:
    """Forward to the first hit, or the end."""
    return _run(asked, args, reverse=False)


def run_back(asked: Asked, args: RunArgs) -> Outcome:
    """Backwards to the first hit, or the start."""
    return _run(asked, args, reverse=True)


def _run(asked: Asked, args: RunArgs, reverse: bool) -> Outcome:
    call, points = asked.call, asked.session.breakpoints
    if args.breakpoints is not None:
        _refuse_above(len(args.breakpoints))
        points = tuple(
            _parsed(call, one, f"args.breakpoints[{at}]") for at, one in enumerate(args.breakpoints)
        )
    passed: list[Undecided] = []
    stop = stops.run_to(
        *(call, asked.cursor, points),
        reverse=reverse,
        count=check_count(args.count),
        cancelled=asked.cancelled,
        undecided=passed,
    )
    told = [Passed(one.breakpoint.id, call.event_id(one.event), one.reason) for one in passed]
    return Outcome(Ran(stop.at, None if stop.hit is None else _told(stop.hit), told), stop.cursor)


def _parsed(call: Call, wanted: Wanted, argument: str) -> Breakpoint:
    try:
        point = stops.parse(call, wanted.on, wanted.when, wanted.hit_count)
    except EngineError as error:
        name = error.details.get("argument", "on")
        raise EngineError(
            error.code, error.message, **error.details | {"argument": f"{argument}.{name}"}
        ) from None
    return msgspec.structs.replace(point, enabled=wanted.enabled)


def _refuse_above(count: int) -> None:
    if count > MOST:
        raise EngineError("LIMIT_EXCEEDED", f"at most {MOST} breakpoints", limit="breakpoints", maximum=MOST)


def _told(point: Breakpoint) -> Point:
    return Point(point.id, point.text, point.when, point.hit_count, point.enabled)


def set_breakpoint(asked: Asked, args: SetArgs) -> Outcome:
    """Set a breakpoint; the same one again replaces it."""
    wanted = Wanted(on=args.on, when=args.when, hit_count=args.hit_count, enabled=args.enabled)
    point = _parsed(asked.call, wanted, "args")
    session = asked.session.with_breakpoint(point)
    _refuse_above(len(session.breakpoints))
    return Outcome(_told(point), session=session)


def list_breakpoints(asked: Asked, args: Args) -> Outcome:
    """Every breakpoint of the session."""
    return Outcome(Points([_told(one) for one in asked.session.breakpoints]))


def clear_breakpoint(asked: Asked, args: ClearArgs) -> Outcome:
    """Take away one breakpoint, or all."""
    if (args.id is None) == (args.all is None):
        raise EngineError("BAD_ARGUMENT", "give exactly one of id, all", argument="args.id")
    known = {one.id for one in asked.session.breakpoints}
    if args.id is not None and args.id not in known:
        message = f"no breakpoint {shown(args.id)} is set{hint(args.id, known)}"
        raise EngineError("UNKNOWN_BREAKPOINT", message, id=args.id[:200])
    session = asked.session.without(frozenset(known if args.id is None else {args.id}))
    return Outcome(Points([_told(one) for one in session.breakpoints]), session=session)


ACTIONS = (
    Action("continue", RunArgs, run_on, Ran, "Forward to the first breakpoint, or the end.", SHOWN),
    Action("reverse_continue", RunArgs, run_back, Ran, "Back to the first breakpoint, or the start.", SHOWN),
    Action("set_breakpoint", SetArgs, set_breakpoint, Point, "Set a breakpoint."),
    Action("list_breakpoints", Args, list_breakpoints, Points, "Every breakpoint of the session."),
    Action("clear_breakpoint", ClearArgs, clear_breakpoint, Points, "Take away one breakpoint, or all."),
)
