"""The call clock of bus events: recorded, derived from wall clock, or not trusted (contract 2.2)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sortedcontainers import SortedList

from engine.sources.merge import Ledger
from engine.sources.part import NO_TS, Ints

NONE, RECORDED, DERIVED = 0, 1, 2
CLOCK_NAMES = ("none", "recorded", "derived")


class Wall(NamedTuple):
    """Wall clock to call clock. Wall clocks are told from ``origin``, near which a float is exact enough."""

    origin: int
    """Epoch microseconds."""
    offset: float
    """The call clock at the origin, in ms."""

    def call_ms(self, micros: Ints) -> NDArray[np.float64]:
        """Call clocks of wall clocks, to the microsecond."""
        rounded: NDArray[np.float64] = np.round((micros - self.origin) / 1000.0 + self.offset, 3)
        return rounded + 0.0


class Clock(NamedTuple):
    """Clocks of bus events.

    Attributes:
        ms: Milliseconds since answer, NaN where there is none to trust.
        state: `NONE`, `RECORDED` or `DERIVED` for each event.
        regressions: First event of each run of consecutive untrusted events.
        wall: Tells how a wall clock becomes a call clock; None where nothing tells it.
    """

    ms: NDArray[np.float64]
    state: NDArray[np.int8]
    regressions: list[int]
    wall: Callable[[], Wall | None] = lambda: None

    def derive(self, micros: int | None) -> float | None:
        """The call clock of a wall clock (epoch microseconds), or None."""
        wall = self.wall() if micros is not None else None
        return None if wall is None else float(wall.call_ms(np.array([micros], np.int64))[0])


def read_clock(ledger: Ledger, started: int | None, tolerance_ms: float) -> Clock:
    """Give each event the clock the contract allows.

    Args:
        ledger: The distinct events.
        started: The event of ``session_started``, the fallback origin of a derived clock.
        tolerance_ms: How far a clock may fall below an earlier trusted one.
    """
    ms = ledger.clock.copy()
    has_clock = ~np.isnan(ms)
    state = np.where(has_clock, RECORDED, NONE).astype(np.int8)
    wall = wall_of(ledger, started)
    if not has_clock.all() and (known := wall()) is not None:
        target = ~has_clock & (ledger.ts != NO_TS)
        ms[target] = known.call_ms(ledger.ts[target])
        state[target] = DERIVED
    regressions: list[int] = []
    if bool((ms[1:] >= ms[:-1]).all()):  # each has one, and none falls
        return Clock(ms, state, regressions, wall)
    clocked = np.flatnonzero(state != NONE)
    untrusted = clocked[untrusted_positions(ms[clocked], tolerance_ms)]
    if len(untrusted):
        run_starts = np.flatnonzero(np.diff(np.searchsorted(clocked, untrusted), prepend=-2) != 1)
        regressions = [int(event) for event in untrusted[run_starts]]
        ms[untrusted] = np.nan
        state[untrusted] = NONE
    return Clock(ms, state, regressions, wall)


def wall_of(ledger: Ledger, started: int | None) -> Callable[[], Wall | None]:
    """What tells how a wall clock becomes a call clock: worked out when it is first asked.

    Args:
        ledger: The distinct events.
        started: As in `read_clock`.
    """
    return cache(lambda: _wall(ledger.ts, ledger.clock, ~np.isnan(ledger.clock), started))


def _wall(
    ts: Ints, ms: NDArray[np.float64], has_clock: NDArray[np.bool_], started: int | None
) -> Wall | None:
    """Call clock − wall clock: the median where a row has both, else from ``session_started``."""
    both = np.flatnonzero(has_clock & (ts != NO_TS))
    if len(both):
        origin = int(ts[both[0]])
        return Wall(origin, float(np.median(ms[both] - (ts[both] - origin) / 1000.0)))
    if started is not None and ts[started] != NO_TS:
        return Wall(int(ts[started]), 0.0)
    return None


def untrusted_positions(values: NDArray[np.float64], tolerance: float) -> NDArray[np.int64]:
    """The smallest set whose removal leaves each value >= the largest earlier kept one - tolerance.

    Of equally small sets, the one whose sorted positions come first.
    """
    if len(values) < 2:
        return np.zeros(0, np.int64)
    highest = np.maximum.accumulate(values)
    if bool((values >= highest - tolerance).all()):
        return np.zeros(0, np.int64)
    lowest_after = np.minimum.accumulate(values[::-1])[::-1]
    cuts = np.flatnonzero(highest[:-1] <= lowest_after[1:] + tolerance) + 1
    bounds = [0, *cuts.tolist(), len(values)]
    sizes = np.diff(bounds)
    removed: list[int] = []
    for index in np.flatnonzero(sizes > 1).tolist():
        begin, end = bounds[index], bounds[index + 1]
        segment = values[begin:end]
        if bool((segment >= np.maximum.accumulate(segment) - tolerance).all()):
            continue
        removed += [begin + position for position in _remove_fewest(segment.tolist(), tolerance)]
    return np.array(removed, np.int64)


def _remove_fewest(values: list[float], tolerance: float) -> list[int]:
    """`untrusted_positions` on one stretch that no cut divides.

    Let ``kept(m)`` be how many of the values from a position on can be kept when the largest kept so far is
    ``m``. It falls with ``m`` in steps of one, so it is held as the sorted places of its steps. Going
    backwards, a value ``c`` moves the step just below ``c`` up to ``c + tolerance`` (or adds one there);
    undoing these moves forwards tells at each position whether removing it still reaches the optimum.
    """
    steps: SortedList[float] = SortedList()
    moves: list[tuple[float | None, float]] = []
    for value in reversed(values):
        below = steps.bisect_left(value) - 1
        gone = steps.pop(below) if below >= 0 else None
        steps.add(value + tolerance)
        moves.append((gone, value + tolerance))
    largest = float("-inf")
    removed: list[int] = []
    for position, value in enumerate(values):
        gone, added = moves.pop()
        steps.remove(added)
        if gone is not None:
            steps.add(gone)
        if largest > value + tolerance:
            removed.append(position)
            continue
        skip = len(steps) - steps.bisect_left(largest)
        keep = 1 + len(steps) - steps.bisect_left(max(largest, value))
        if skip >= keep:
            removed.append(position)
        else:
            largest = max(largest, value)
    return removed
