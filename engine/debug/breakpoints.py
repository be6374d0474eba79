"""Breakpoints and running to them, forwards and backwards (contract 3.4).

Candidates come from an index, so a run costs a search a breakpoint, whatever lies between; a condition is
asked at candidates only. Both directions stop at the same events; the event that the cursor is on is never a
hit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from engine.debug import condition
from engine.debug.candidates import FORMS, USAGE, split
from engine.debug.index import Track, index
from engine.debug.place import cursor_of, end, place_of, start
from engine.hydrate.call import Call
from engine.model.breakpoint import Breakpoint
from engine.model.errors import EngineError
from engine.model.views import Cursor, Stop

__all__ = ["USAGE", "Breakpoint", "Undecided", "parse", "run_to", "track_of"]
UNDECIDED = 50
"""How many undecided candidates a run tells of."""


class Undecided(NamedTuple):
    """A candidate whose condition can't be decided, and why."""

    breakpoint: Breakpoint
    event: int
    reason: str


def parse(call: Call, text: str, when: str | None = None, hit_count: int | None = None) -> Breakpoint:
    """A breakpoint as a person writes it.

    Raises:
        EngineError: ``UNKNOWN_SLOT``, ``UNKNOWN_VISIT``; ``BAD_ARGUMENT`` for another form, for a name that
            this call does not know (naming similar ones), and for what is no condition or count.
    """
    written = text.strip()
    form, name = split(written)
    FORMS[form].check(call, name)
    if when is not None:
        condition.compiled(when)
    if hit_count is not None and hit_count < 1:
        raise EngineError("BAD_ARGUMENT", "hit_count counts from 1", argument="hit_count")
    return Breakpoint(written, when, hit_count)


def track_of(call: Call, point: Breakpoint) -> Track:
    """The candidates of a breakpoint."""
    form, name = split(point.text)
    return FORMS[form].track(call, name)


def run_to(
    call: Call,
    cursor: Cursor,
    breakpoints: Iterable[Breakpoint],
    *,
    reverse: bool = False,
    count: int = 1,
    cancelled: Callable[[], bool] | None = None,
    undecided: list[Undecided] | None = None,
) -> Stop:
    """The `count`-th hit from a cursor, else the end (backwards: the start) of the call.

    Args:
        call: The call.
        cursor: Where the run begins.
        breakpoints: Where it stops; of several at one event the first listed is the one that hit.
        reverse: Run backwards.
        count: Which hit to stop at; a negative one runs the other way.
        cancelled: Asked now and then whether to give up.
        undecided: Takes the candidates on the way that were passed over because their condition can't be
            decided, the first `UNDECIDED` of them.

    Raises:
        EngineError: ``CANCELLED``.
    """
    back = reverse != (count < 0)
    runs = []
    for point in breakpoints:
        if point.enabled:
            _check(cancelled)
            runs.append(_Run(call, point, cancelled))
    begin = here = place_of(call, cursor)
    hit: tuple[int, Breakpoint] | None = None
    for _ in range(abs(count)):
        _check(cancelled)
        hit = _nearest(runs, here, back)
        if hit is None:
            break
        here = int(index(call).place[hit[0]])
    if undecided is not None and count:
        undecided += _passed(runs, begin, here if hit is not None else None, back)
    if hit is None:
        return _ran_out(call, cursor, back) if count else Stop(cursor)
    return Stop(cursor_of(call, hit[0]), hit=hit[1])


def _passed(runs: Sequence[_Run], begin: int, stop: int | None, back: bool) -> list[Undecided]:
    """The undecided candidates between where a run began and where it ended, in its order."""
    low, high = (stop, begin) if back else (begin, stop)
    found = [
        (place, number, told)
        for number, run in enumerate(runs)
        for place, told in run.undecided.items()
        if place != begin and (low is None or low <= place) and (high is None or place <= high)
    ]
    found.sort(key=lambda one: (-one[0] if back else one[0], one[1]))
    return [told for _, _, told in found[:UNDECIDED]]


def _check(cancelled: Callable[[], bool] | None) -> None:
    if cancelled is not None and cancelled():
        raise EngineError("CANCELLED", "the run was interrupted")


class _Run:
    """One breakpoint in a run: where its next hit is."""

    def __init__(
        self,
        call: Call,
        point: Breakpoint,
        cancelled: Callable[[], bool] | None,
    ) -> None:
        self.point = point
        self._call = call
        self._cancelled = cancelled
        self.undecided: dict[int, Undecided] = {}
        """Place → the candidate there that can't be decided."""
        self._track = track_of(call, point)
        if point.hit_count is not None:
            self._track = self._counted(point.hit_count)

    def _counted(self, count: int) -> Track:
        """The one hit of a number."""
        seen = 0
        for number in range(len(self._track.places)):
            seen += self._hit(number)
            if seen == count:
                return Track(self._track.places[number : number + 1], self._track.events[number : number + 1])
        return Track(self._track.places[:0], self._track.events[:0])

    def next(self, here: int, back: bool) -> tuple[int, int] | None:
        """Place and event of the nearest hit in one direction."""
        places, step = self._track.places, -1 if back else 1
        number = int(np.searchsorted(places, here, "left" if back else "right")) - back
        while 0 <= number < len(places):
            if self.point.hit_count is not None or self._hit(number):
                return int(places[number]), int(self._track.events[number])
            number += step
        return None

    def _hit(self, number: int) -> bool:
        when = self.point.when
        if when is None:
            return True
        if not number % _ASKED:
            _check(self._cancelled)
        event = int(self._track.events[number])
        found = condition.holds(self._call, event, when)
        if isinstance(found, bool):
            return found
        # Of a run the nearest come first; a count goes through all from the start of the call.
        if len(self.undecided) < UNDECIDED or self.point.hit_count is not None:
            self.undecided[int(self._track.places[number])] = Undecided(self.point, event, found)
        return False


_ASKED = 64
"""Conditions between two questions whether to give up."""


def _nearest(runs: Sequence[_Run], here: int, back: bool) -> tuple[int, Breakpoint] | None:
    """The nearest hit of any breakpoint in one direction."""
    best: tuple[int, int, Breakpoint] | None = None
    for run in runs:
        found = run.next(here, back)
        if found is not None and (best is None or (found[0] > best[0] if back else found[0] < best[0])):
            best = (*found, run.point)
    return None if best is None else best[1:]


def _ran_out(call: Call, cursor: Cursor, back: bool) -> Stop:
    """No hit: to the end of the call, or where the cursor is at or past it."""
    last = start(call) if back else end(call)
    here, there = place_of(call, cursor), place_of(call, last)
    passed = here <= there if back else here >= there
    return Stop(cursor if passed else last, "start" if back else "end")
