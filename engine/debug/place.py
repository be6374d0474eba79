"""Cursor and event: the two ways to name a place in a call, one made from the other."""

from __future__ import annotations

from engine.debug.index import entry_micro, index
from engine.hydrate.call import Call
from engine.model.errors import EngineError
from engine.model.views import Cursor


def event_of(call: Call, cursor: Cursor) -> int:
    """The event number a cursor stands on; -1 in a call or a visit without events.

    Raises:
        EngineError: ``BAD_ARGUMENT`` for a cursor that is not of this call.
    """
    if cursor.unattributed is not None:
        if 0 <= cursor.unattributed < call.event_count and call.visit_of[cursor.unattributed] == -1:
            return cursor.unattributed
        raise _foreign(cursor)
    count = micro_count(call, cursor.visit)
    if 0 <= cursor.micro < count:
        return int(call.order.micro[int(call.order.start[cursor.visit]) + cursor.micro])
    if cursor.micro == 0 and count == 0 and 0 <= cursor.visit < max(1, len(call.visits)):
        return -1
    raise _foreign(cursor)


def _foreign(cursor: Cursor) -> EngineError:
    return EngineError(
        "BAD_ARGUMENT",
        f"the cursor ({cursor.visit}, {cursor.micro}) is not of this call",
        visit_index=cursor.visit,
        micro_event_index=cursor.micro,
    )


def micro_count(call: Call, visit: int) -> int:
    """How many micro-events a visit has; 0 for a visit that is not there."""
    if not 0 <= visit < len(call.visits):
        return 0
    return int(call.order.start[visit + 1] - call.order.start[visit])


def cursor_of(call: Call, event: int) -> Cursor:
    """The cursor at an event; where no visit owns it, in the visit open there, else in the one before.

    Raises:
        EngineError: ``UNKNOWN_EVENT`` for an event that no cursor can stand on.
    """
    if not 0 <= event < call.event_count or call.visit_of[event] < -1:
        raise EngineError("UNKNOWN_EVENT", f"the call has no event number {event}")
    position = int(call.order.position[event])
    if position >= 0:
        visit = int(call.visit_of[event])
        return Cursor(visit, position - int(call.order.start[visit]))
    known = index(call)
    before, number = divmod(int(known.place[event]) - 1, known.stride)
    visit = int(known.lane_visit[number])
    first = int(call.order.start[visit]) if call.visits else 0
    return Cursor(visit, max(0, before - first), event)


def place_of(call: Call, cursor: Cursor) -> int:
    """Where a cursor stands on the line of all events (`engine.debug.index`)."""
    event, known = event_of(call, cursor), index(call)
    if event >= 0:
        return int(known.place[event])
    return int(call.order.start[cursor.visit]) * known.stride if call.visits else 0


def reading_end(call: Call, cursor: Cursor) -> int | None:
    """The bus event up to which a visit has been seen at a cursor; None from its exit boundary on."""
    event = event_of(call, cursor)
    if event < 0 or not call.visits:
        return -1
    if event >= call.first_exit:
        return None
    anchor = call.bus_anchor(event)
    exited = call.visits[cursor.visit].exited
    return None if exited is not None and anchor > exited else anchor


def visit_entry(call: Call, visit: int) -> Cursor:
    """The entry of a visit: its boundary, or its first event where no entry was recorded."""
    return Cursor(visit, entry_micro(call, visit))


def start(call: Call) -> Cursor:
    """The first event of the call."""
    return cursor_of(call, int(call.order.micro[0])) if len(call.order.micro) else Cursor(0, 0)


def end(call: Call) -> Cursor:
    """The last event of the call."""
    return cursor_of(call, int(call.order.micro[-1])) if len(call.order.micro) else Cursor(0, 0)
