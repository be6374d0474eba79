"""Breakpoints and running to them, forwards and backwards (contract 3.4).

Candidates come from an index, so a run costs a search a breakpoint, whatever lies between. Both directions
stop at the same events; the event that the cursor is on is never a hit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import msgspec
import numpy as np

from engine.debug.cursor import check_slot
from engine.debug.index import Track, index
from engine.debug.names import hint, shown
from engine.debug.place import cursor_of, end, place_of, start
from engine.hydrate.call import ALL_KINDS, Call
from engine.model.errors import EngineError
from engine.model.views import Cursor, Stop

On = Literal["state", "event", "slot"]
FORMS = "state:<state>, event:<kind>, slot:<name>"


class Breakpoint(msgspec.Struct, frozen=True):
    """Where a run stops.

    Attributes:
        text: As written, for example ``slot:_route``; it names the breakpoint.
        on: ``state`` stops at the entry of each of its visits, ``event`` at each event of a kind, ``slot`` at
            each write of a slot.
        name: The state, kind or slot.
        enabled: Whether a run stops there.
    """

    text: str
    on: On
    name: str
    enabled: bool = True


def parse(call: Call, text: str) -> Breakpoint:
    """A breakpoint as a person writes it.

    Raises:
        EngineError: ``UNKNOWN_SLOT``; ``BAD_ARGUMENT`` for another form, and for a state or kind that this
            call does not know (naming similar ones).
    """
    written = text.strip()
    on, colon, name = written.partition(":")
    if not colon or not name:
        raise EngineError(
            "BAD_ARGUMENT", f"{shown(written) or 'nothing'} is no breakpoint: write {FORMS}", argument="on"
        )
    if on == "slot":
        check_slot(call, name)
        return Breakpoint(written, "slot", name)
    if on == "state":
        _known("state", name, _states(call))
        return Breakpoint(written, "state", name)
    if on == "event":
        _known("event kind", name, set(ALL_KINDS))
        return Breakpoint(written, "event", name)
    raise _no_breakpoint(written)


def _no_breakpoint(written: str) -> EngineError:
    message = f"{shown(written) or 'nothing'} is no breakpoint: write {FORMS}"
    return EngineError("BAD_ARGUMENT", message, argument="on")


def _states(call: Call) -> set[str]:
    declared = call.flow.by_state.keys() if call.flow is not None else ()
    return {visit.state_id for visit in call.visits}.union(declared)


def _known(what: str, name: str, known: set[str]) -> None:
    if name not in known:
        message = f"no {what} {shown(name)} in this call{hint(name, sorted(known))}"
        raise EngineError("BAD_ARGUMENT", message, argument="on", name=name[:200])


def track_of(call: Call, point: Breakpoint) -> Track:
    """The events a breakpoint stops at."""
    known = index(call)
    if point.on == "state":
        return known.state(call, point.name)
    return known.slot(call, point.name) if point.on == "slot" else known.kind(call, point.name)


def run_to(
    call: Call,
    cursor: Cursor,
    breakpoints: Iterable[Breakpoint],
    *,
    reverse: bool = False,
    count: int = 1,
    cancelled: Callable[[], bool] | None = None,
) -> Stop:
    """The `count`-th hit from a cursor, else the end (backwards: the start) of the call.

    Args:
        call: The call.
        cursor: Where the run begins.
        breakpoints: Where it stops; of several at one event the first listed is the one that hit.
        reverse: Run backwards.
        count: Which hit to stop at; a negative one runs the other way.
        cancelled: Asked now and then whether to give up.

    Raises:
        EngineError: ``CANCELLED``.
    """
    here = place_of(call, cursor)
    back = reverse != (count < 0)
    points = [point for point in breakpoints if point.enabled]
    tracks: list[Track] = []
    for point in points:
        _check(cancelled)
        tracks.append(track_of(call, point))
    hit: tuple[int, Breakpoint] | None = None
    for _ in range(abs(count)):
        _check(cancelled)
        hit = _next(points, tracks, here, back)
        if hit is None:
            return _ran_out(call, cursor, back)
        here = int(index(call).place[hit[0]])
    return Stop(cursor) if hit is None else Stop(cursor_of(call, hit[0]), hit=hit[1].text)


def _check(cancelled: Callable[[], bool] | None) -> None:
    if cancelled is not None and cancelled():
        raise EngineError("CANCELLED", "the run was interrupted")


def _next(
    points: Sequence[Breakpoint], tracks: Sequence[Track], here: int, back: bool
) -> tuple[int, Breakpoint] | None:
    """The nearest event of any track in one direction, and the breakpoint that hit."""
    best: tuple[int, int, Breakpoint] | None = None
    for point, track in zip(points, tracks, strict=True):
        number = int(np.searchsorted(track.places, here, "left" if back else "right")) - back
        if not 0 <= number < len(track.places):
            continue
        place = int(track.places[number])
        if best is None or (place > best[0] if back else place < best[0]):
            best = (place, int(track.events[number]), point)
    return None if best is None else best[1:]


def _ran_out(call: Call, cursor: Cursor, back: bool) -> Stop:
    """No hit: to the end of the call, or where the cursor is at or past it."""
    last = start(call) if back else end(call)
    here, there = place_of(call, cursor), place_of(call, last)
    passed = here <= there if back else here >= there
    return Stop(cursor if passed else last, "start" if back else "end")
