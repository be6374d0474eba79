"""Moving through a call: from a cursor to the next one (contract 3.3, keys of contract 7.3).

Every function is pure: it takes a cursor and returns another. Counts work both ways (a negative one goes
back). A motion that runs out stops at its last place, or keeps the cursor where there is none, and says so in
`Stop.at`; none wraps around. A call without any owned event has the one cursor ``Cursor(0, 0)``.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from engine.debug.index import Track, index
from engine.debug.names import hint, shown
from engine.debug.place import cursor_of, end, event_of, micro_count, place_of, start, visit_entry
from engine.debug.seek import at_event, at_finding, at_time, at_visit, goto, opening
from engine.hydrate.call import Call
from engine.model.errors import EngineError
from engine.model.views import Cursor, Stop

__all__ = [
    "along",
    "at_event",
    "at_finding",
    "at_time",
    "at_visit",
    "check_slot",
    "cursor_of",
    "end",
    "entry",
    "event_of",
    "goto",
    "next_finding",
    "next_write",
    "opening",
    "out",
    "over",
    "place_of",
    "same_state",
    "start",
    "step",
    "step_meaningful",
]

At = Literal["start", "end"]


def _reach(place: int, count: int, last: int) -> tuple[int | None, At | None]:
    """Where `count` steps among ``0…last`` lead (None: nowhere else), and whether they ran out."""
    wanted = place + count
    reached = min(max(wanted, 0), last)
    at: At | None = "end" if wanted > last and count > 0 else "start" if wanted < 0 and count < 0 else None
    return (reached if last >= 0 and (reached - place) * count > 0 else None), at


def along(call: Call, cursor: Cursor, track: Track, count: int) -> Stop:
    """The `count`-th event of a track after the cursor, or before it where `count` is negative."""
    here = place_of(call, cursor)
    if count >= 0:
        before = int(np.searchsorted(track.places, here, "right")) - 1
    else:
        before = int(np.searchsorted(track.places, here, "left"))
    reached, at = _reach(before, count, len(track.places) - 1)
    return Stop(cursor if reached is None else cursor_of(call, int(track.events[reached])), at)


def step(call: Call, cursor: Cursor, count: int = 1) -> Stop:
    """The next or previous micro-event, nothing skipped, across visits."""
    here, stride = place_of(call, cursor), index(call).stride
    before = here // stride if count >= 0 else -(-here // stride)
    reached, at = _reach(before, count, len(call.order.micro) - 1)
    return Stop(cursor if reached is None else cursor_of(call, int(call.order.micro[reached])), at)


def step_meaningful(call: Call, cursor: Cursor, count: int = 1) -> Stop:
    """The next or previous micro-event that means something (contract 3.3)."""
    return along(call, cursor, index(call).meaningful(call), count)


def over(call: Call, cursor: Cursor, count: int = 1) -> Stop:
    """The entry of the next visit, or (also from inside a visit) of the previous one."""
    event_of(call, cursor)
    reached, at = _reach(cursor.visit, count, len(call.visits) - 1)
    return Stop(cursor if reached is None else visit_entry(call, reached), at)


def same_state(call: Call, cursor: Cursor, count: int = 1) -> Stop:
    """The entry of the next or previous visit of the cursor's state."""
    event_of(call, cursor)
    state_id = call.visits[cursor.visit].state_id if call.visits else ""
    visits = index(call).visits_of(call, state_id)
    reached, at = _reach(int(np.searchsorted(visits, cursor.visit)), count, len(visits) - 1)
    return Stop(cursor if reached is None else visit_entry(call, int(visits[reached])), at)


def entry(call: Call, cursor: Cursor) -> Stop:
    """This visit's entry boundary."""
    event_of(call, cursor)
    return Stop(visit_entry(call, cursor.visit) if call.visits else cursor)


def out(call: Call, cursor: Cursor) -> Stop:
    """This visit's exit boundary; the last micro-event of a visit that has none."""
    event_of(call, cursor)
    if not call.visits:
        return Stop(cursor)
    position = int(call.order.position[call.first_exit + cursor.visit])
    micro = position - int(call.order.start[cursor.visit])
    return Stop(Cursor(cursor.visit, micro if position >= 0 else max(0, micro_count(call, cursor.visit) - 1)))


def next_write(call: Call, cursor: Cursor, slot: str, count: int = 1) -> Stop:
    """The next or previous write of a slot; a write that no visit owns is one too.

    Raises:
        EngineError: ``UNKNOWN_SLOT``.
    """
    check_slot(call, slot)
    return along(call, cursor, index(call).slot(call, slot), count)


def check_slot(call: Call, slot: str) -> None:
    """Refuse a slot that is neither declared nor observed.

    Raises:
        EngineError: ``UNKNOWN_SLOT``, naming slots of similar names.
    """
    known = index(call).slot_names(call)
    if slot not in known:
        raise EngineError(
            "UNKNOWN_SLOT", f"no slot {shown(slot)} in this call{hint(slot, known)}", slot=slot[:200]
        )


def next_finding(call: Call, cursor: Cursor, count: int = 1) -> Stop:
    """The next or previous event that a finding stands at; findings without an event are passed over."""
    known = index(call)
    return along(call, cursor, known.track("findings", lambda: known.findings(call)), count)
