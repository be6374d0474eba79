"""Where events stand on one line, and which of them a motion may stop at: built once a call, then searched.

A *place* is an integer that orders all events a cursor can stand on. Owned events stand at multiples of a
stride, in stepping order; an event that no visit owns stands between the two events it was recorded between.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.hydrate.call import KIND_CODES, Call
from engine.model.artifact import Finding
from engine.model.events import MEANINGFUL

T = TypeVar("T")
Ints = NDArray[np.int64]
NOWHERE = -(2**62)
"""The place of an event that no cursor can stand on."""
_NONE: Ints = np.zeros(0, np.int64)
_VISIT = 1 << 32
_LATE = 1 << 30
_KEPT = 64
"""Remembered answers: a few visits' worth."""


class Track(NamedTuple):
    """Events a motion stops at, by place."""

    places: Ints
    events: Ints


class Index:
    """The places of one call's events and the tracks that were asked for. It holds no reference to the call.

    Attributes:
        stride: Distance of two neighbouring owned events.
        place: Event number → place, or `NOWHERE`.
        lane: Events that no visit owns, in order.
        lane_visit: The visit that a cursor keeps at each of them.
        writers: ``slot_write`` → ``writer (kind)``, of those that were looked at.
    """

    def __init__(self, call: Call) -> None:
        order = call.order
        self.lane: Ints = np.array(call.unattributed, np.int64)
        self.stride = len(self.lane) + 1
        self.place: Ints = order.position.astype(np.int64) * self.stride
        self.place[order.position < 0] = NOWHERE
        self.lane_visit, before = _kept(call, self.lane)
        self.place[self.lane] = before * self.stride + 1 + np.arange(len(self.lane))
        self.writers: dict[int, str] = {}
        self._tracks: dict[Hashable, Track] = {}
        self._lock = threading.Lock()
        self._tables: dict[Hashable, Any] = {}
        self._memo: OrderedDict[Hashable, tuple[int, Any]] = OrderedDict()
        self._clock: tuple[NDArray[np.float64], Ints] | None = None
        self._states: dict[str, Ints] | None = None
        self._slots: frozenset[str] | None = None

    def track(self, key: Hashable, events: Callable[[], Iterable[int]]) -> Track:
        """The track kept under a key; `events` is asked once."""
        known = self._tracks.get(key)
        if known is None:
            found = np.array(list(events()), np.int64)
            places = self.place[found]
            chosen = np.flatnonzero(places != NOWHERE)
            chosen = chosen[np.argsort(places[chosen], kind="stable")]
            known = self._tracks[key] = Track(places[chosen], found[chosen])
        return known

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """A table of the whole call, made at the first question and kept."""
        if key not in self._tables:
            self._tables[key] = make()
        table: T = self._tables[key]
        return table

    def memo(self, key: Hashable, make: Callable[[], T], version: int = 0) -> T:
        """A value kept under a key in its latest version; of many keys those asked for last stay."""
        kept = self._memo.get(key)
        if kept is None or kept[0] != version:
            kept = version, make()
        with self._lock:  # several threads may ask about one call
            self._memo[key] = kept
            self._memo.move_to_end(key)
            if len(self._memo) > _KEPT:
                self._memo.popitem(last=False)
        value: T = kept[1]
        return value

    def meaningful(self, call: Call) -> Track:
        """Micro-events that mean something (contract 3.3)."""
        codes = [KIND_CODES[kind] for kind in MEANINGFUL]
        return self.track(
            "meaningful", lambda: np.flatnonzero(np.isin(call.kind_of, codes) & (call.visit_of >= 0)).tolist()
        )

    def kind(self, call: Call, kind: str) -> Track:
        """Every event of a kind, owned or not."""
        return self.track(("event", kind), lambda: _of_kind(call, kind))

    def slot(self, call: Call, slot: str) -> Track:
        """Every write of a slot, owned or not."""
        return self.track(("slot", slot), lambda: call.writes_of(slot))

    def state(self, call: Call, state_id: str) -> Track:
        """The entries of a state's visits."""
        return self.track(
            ("state", state_id),
            lambda: [
                int(call.micro_events(visit)[entry_micro(call, visit)])
                for visit in self.visits_of(call, state_id).tolist()
                if len(call.micro_events(visit))
            ],
        )

    def of_visit(self, call: Call, visit: int, *kinds: str) -> Ints:
        """The events of some kinds in a visit, in durable order."""

        def find() -> Ints:
            micro = call.micro_events(visit)
            return np.sort(micro[np.isin(call.kind_of[micro], [KIND_CODES[kind] for kind in kinds])])

        return self.memo(("of visit", visit, kinds), find)

    def visits_of(self, call: Call, state_id: str) -> Ints:
        """The visits of a state, in order."""
        if self._states is None:
            states: dict[str, list[int]] = {}
            for visit, seen in enumerate(call.visits):
                states.setdefault(seen.state_id, []).append(visit)
            self._states = {state: np.array(visits, np.int64) for state, visits in states.items()}
        return self._states.get(state_id, _NONE)

    def slot_names(self, call: Call) -> frozenset[str]:
        """Every declared and every observed slot."""
        if self._slots is None:
            self._slots = frozenset(call.slot_order)
        return self._slots

    def findings(self, call: Call) -> dict[int, list[Finding]]:
        """Event → the findings anchored at it, in their order."""

        def made() -> dict[int, list[Finding]]:
            found: dict[int, list[Finding]] = {}
            for finding in call.findings:
                event = call.find(finding.event_id) if finding.event_id is not None else None
                if event is not None:
                    found.setdefault(event, []).append(finding)
            return found

        return self.once("findings", made)

    def finding_names(self, call: Call) -> dict[str, Finding]:
        """Findings by id, and by code the first one that stands at an event or a visit, else the first."""

        def made() -> dict[str, Finding]:
            placed = [one for one in call.findings if one.event_id is not None or one.visit_id is not None]
            found: dict[str, Finding] = {}
            for finding in (*placed, *call.findings):
                found.setdefault(finding.code, finding)
            return found | {finding.finding_id: finding for finding in call.findings}

        return self.once("finding names", made)

    def in_order(self, call: Call) -> Ints:
        """Every event that a cursor can stand on, owned or not, in the order of places."""

        def made() -> Ints:
            both = np.concatenate([call.order.micro, self.lane])
            return both[np.argsort(self.place[both], kind="stable")]

        return self.once("in order", made)

    def clocks(self, call: Call) -> NDArray[np.float64]:
        """The clock of every event in ms, NaN where there is none."""
        return self.once("clocks", lambda: _clocks(call))

    def clock(self, call: Call) -> tuple[NDArray[np.float64], Ints]:
        """For each owned event with a clock: the lowest clock from it on, and its position."""
        if self._clock is None:
            ms = self.clocks(call)[call.order.micro]
            clocked = np.flatnonzero(~np.isnan(ms))
            self._clock = np.minimum.accumulate(ms[clocked][::-1])[::-1], clocked
        return self._clock


def entry_micro(call: Call, visit: int) -> int:
    """Which micro-event of a visit is its entry: the boundary, else the first one."""
    position = int(call.order.position[call.first_entry + visit])
    return position - int(call.order.start[visit]) if position >= 0 else 0


def _kept(call: Call, lane: Ints) -> tuple[Ints, Ints]:
    """For each event of the lane, the visit a cursor keeps there and the last position before it (or -1)."""
    order = call.order
    if not (call.visits and len(lane)):
        return np.zeros(len(lane), np.int64), np.full(len(lane), -1, np.int64)
    anchors = np.fromiter((call.bus_anchor(event) for event in lane.tolist()), np.int64, len(lane))
    kept = np.maximum(np.searchsorted(call.parts.built.firsts, anchors, "right") - 1, 0)
    keys = call.visit_of[order.micro].astype(np.int64) * _VISIT + call.keys[order.micro]
    bus = order.micro < call.first_extra
    keys[bus] += np.where(call.owned.late[order.micro[bus]], _LATE, 0)
    return kept, np.searchsorted(keys, kept * _VISIT + call.keys[lane], "right") - 1


def _of_kind(call: Call, kind: str) -> list[int]:
    code = KIND_CODES.get(kind)
    events: list[int] = [] if code is None else np.flatnonzero(call.kind_of == code).tolist()
    return events


def _clocks(call: Call) -> NDArray[np.float64]:
    """The clock of every event, NaN where there is none."""
    ms = np.full(call.event_count, np.nan)
    ms[: call.first_extra] = call.parts.clock.ms
    for event in range(call.first_extra, call.event_count):
        clock = call.clock_ms(event)
        if clock is not None:
            ms[event] = clock
    return ms


_indexes: weakref.WeakKeyDictionary[Call, Index] = weakref.WeakKeyDictionary()


def index(call: Call) -> Index:
    """The index of a call."""
    known = _indexes.get(call)
    if known is None:
        known = _indexes[call] = Index(call)
    return known
