"""The values of slots over the whole call, asked by place (contract 2.4).

A *place* is an integer: event ``i`` stands at ``8i + 4``. Around it lie the places where an event is said to
act though it was recorded elsewhere: a missing range before it (``8i``), boundary writes recorded after the
target's entry (``8i + 2``), and the reading of entry values (``8i + 3``).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", int, NDArray[np.int64])


class _Unset:
    """A slot that was never assigned, or was removed. It differs from null."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = _Unset()


class Gone(NamedTuple):
    """A value that can't be known, and why."""

    reason: str


class Point(NamedTuple):
    """What holds for a slot from a place on."""

    value: Any
    """A recorded value, `UNSET`, or `Gone`."""
    event: int
    """The event that says so, or -1."""
    place: int


START = -(2**62)
NEVER = Point(Gone("no_baseline"), -1, START)


def at(event: T) -> T:
    """Where an event acts; also for an array of events."""
    return 8 * event + 4


def gap_before(event: T) -> T:
    """Where a missing range before an event acts; also for an array of events."""
    return 8 * event


def band_before(event: int) -> int:
    """Where a boundary write acts that was recorded after its target's entry ``event``."""
    return 8 * event + 2


def entry_of(event: int) -> int:
    """Where entry values are read for a visit entered at ``event``."""
    return 8 * event + 3


class Line:
    """Points of one slot, or of all, in ascending places."""

    __slots__ = ("events", "places", "values")

    def __init__(
        self,
        places: list[int] | None = None,
        values: list[Any] | None = None,
        events: list[int] | None = None,
    ) -> None:
        self.places: list[int] = [] if places is None else places
        self.values: list[Any] = [] if values is None else values
        self.events: list[int] = [] if events is None else events

    def add(self, place: int, value: Any, event: int) -> None:
        """Say what holds from a place on. Places must not fall."""
        self.places.append(place)
        self.values.append(value)
        self.events.append(event)


class Timeline:
    """Every slot's values; a question costs a bisection, whatever the length of the call."""

    def __init__(self) -> None:
        self._lines: dict[str, Line] = {}
        self._late: Mapping[str, Callable[[], Line]] = {}
        self._base = Line()
        self._base.add(START, NEVER.value, -1)

    @classmethod
    def of_lines(cls, base: Line, lines: Mapping[str, Callable[[], Line]]) -> Timeline:
        """A timeline that is complete; the line of a slot is fetched when it is first asked for."""
        made = cls()
        made._base, made._late = base, lines
        return made

    def lines(self) -> tuple[Line, dict[str, Line]]:
        """What is said of every slot without a later point of its own, and the line of each slot."""
        return self._base, {slot: line for slot in sorted(self.slots) if (line := self._line(slot))}

    def _line(self, slot: str) -> Line | None:
        line = self._lines.get(slot)
        if line is None and (fetch := self._late.get(slot)) is not None:
            line = self._lines[slot] = fetch()
        return line

    @property
    def slots(self) -> set[str]:
        """Every slot that was ever seen."""
        return {*self._lines, *self._late}

    def add(self, slot: str, place: int, value: Any, event: int) -> None:
        """Say what holds for a slot from a place on. Places must not fall."""
        line = self._lines.get(slot)
        if line is None:
            line = self._lines[slot] = Line()
        line.places.append(place)  # once for each write of a call: a call of `Line.add` would show
        line.values.append(value)
        line.events.append(event)

    def add_base(self, place: int, value: Any, event: int) -> None:
        """Say what holds from a place on for every slot without a later point of its own."""
        self._base.add(place, value, event)

    def hold_from(self, slot: str, place: int) -> None:
        """Let what a slot has at a place stand, whatever is said there of all slots."""
        point, line = self.read(slot, place), self._lines[slot]
        if point.place != place:
            index = bisect_right(line.places, place)
            line.places.insert(index, place)
            line.values.insert(index, point.value)
            line.events.insert(index, point.event)

    def points(self, slot: str) -> list[Point]:
        """Every point from which on something else is said of a slot, ascending."""
        line = self._line(slot)
        places = {*self._base.places, *(line.places if line is not None else ())}
        found: list[Point] = []
        for place in sorted(places):
            point = self.read(slot, place)
            if not found or point != found[-1]:
                found.append(point)
        return found

    def read(self, slot: str, place: int) -> Point:
        """What is known of a slot at a place."""
        base = bisect_right(self._base.places, place) - 1
        line = self._line(slot)
        if line is not None:
            index = bisect_right(line.places, place) - 1
            if index >= 0 and line.places[index] >= self._base.places[base]:
                return Point(line.values[index], line.events[index], line.places[index])
        return Point(self._base.values[base], self._base.events[base], self._base.places[base])
