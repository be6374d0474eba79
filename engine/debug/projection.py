"""What is known at a cursor, as rows that a client draws (contract 2.4 to 2.11, 3.2).

Every function takes the call and a place in it. In a call without visits counts are 0, lists are empty and
ids are empty text; only functions that name one row raise there.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from engine.debug.evidence import access_here
from engine.debug.index import index
from engine.debug.meaning import meaning
from engine.debug.place import event_of, micro_count, place_of, reading_end
from engine.debug.values import context, variables
from engine.hydrate.beats import beats as beats_of
from engine.hydrate.call import Call
from engine.hydrate.conversation import conversation
from engine.hydrate.document import goal as declared_goal
from engine.hydrate.edgetable import edge_table
from engine.hydrate.envelope import envelope
from engine.model.artifact import Beat, Finding, Turn
from engine.model.errors import EngineError
from engine.model.views import Cursor, EdgeTable, EventRow, Status

__all__ = [
    "access_here",
    "beats",
    "context",
    "conversation_count",
    "conversation_index",
    "conversation_item",
    "edges",
    "event_payload",
    "event_row",
    "findings_here",
    "goal",
    "micro_count",
    "row",
    "state_id",
    "status",
    "unattributed_count",
    "unattributed_envelope",
    "unattributed_near",
    "unattributed_row",
    "variables",
    "visit_count",
    "visit_findings",
    "visit_id",
]


# Visits.


def visit_count(call: Call) -> int:
    """How many visits the call has."""
    return len(call.visits)


def visit_id(call: Call, visit: int) -> str:
    """Id of a visit."""
    return call.visits[visit].visit_id if 0 <= visit < len(call.visits) else ""


def state_id(call: Call, visit: int) -> str:
    """The state of a visit."""
    return call.visits[visit].state_id if 0 <= visit < len(call.visits) else ""


def goal(call: Call, visit: int) -> str | None:
    """What the flow of the call's own version says the state is for; None where it can't say."""
    return declared_goal(call, visit) if 0 <= visit < len(call.visits) else None


def visit_findings(call: Call, visit: int) -> list[Finding]:
    """The findings of a visit, in event order, redacted."""
    if not 0 <= visit < len(call.visits):
        return []
    return call.findings_of(visit)


def beats(call: Call, visit: int) -> dict[str, Beat]:
    """The six beats of a visit (contract 2.9)."""
    return beats_of(call, visit) if 0 <= visit < len(call.visits) else {}


# Events.


def event_row(call: Call, visit: int, micro: int) -> EventRow:
    """One line of the events pane.

    Raises:
        EngineError: ``BAD_ARGUMENT`` where there is no such event.
    """
    return row(call, _event(call, visit, micro))


def event_payload(call: Call, visit: int, micro: int) -> dict[str, Any]:
    """The full envelope of an event, redacted, as plain values.

    Raises:
        EngineError: ``BAD_ARGUMENT`` where there is no such event.
    """
    return _document(call, _event(call, visit, micro))


def _event(call: Call, visit: int, micro: int) -> int:
    event = event_of(call, Cursor(visit, micro))
    if event < 0:
        raise EngineError(
            "BAD_ARGUMENT", "there is no event here", visit_index=visit, micro_event_index=micro
        )
    return event


def row(call: Call, event: int) -> EventRow:
    """Any event of the call as a line of a list."""
    seen = envelope(call, event)
    return EventRow(
        event_id=seen.event_id,
        seq=seen.seq,
        clock_ms=seen.clock_ms,
        clock=seen.clock,
        kind=seen.kind,
        meaning=meaning(call, event, seen.kind, seen.payload),
        provenance=seen.provenance,
        attribution=seen.attribution,
    )


def _document(call: Call, event: int) -> dict[str, Any]:
    document: dict[str, Any] = msgspec.to_builtins(envelope(call, event))
    return document


# Events that no visit owns.


def unattributed_count(call: Call) -> int:
    """How many events no visit can be shown to own."""
    return len(index(call).lane)


def unattributed_row(call: Call, number: int) -> EventRow:
    """One line of the lane of unattributed events."""
    return row(call, _lane_event(call, number))


def unattributed_envelope(call: Call, number: int) -> dict[str, Any]:
    """The full envelope of an unattributed event, with the reason, redacted."""
    return _document(call, _lane_event(call, number))


def _lane_event(call: Call, number: int) -> int:
    lane = index(call).lane
    if not 0 <= number < len(lane):
        raise EngineError("BAD_ARGUMENT", f"there is no unattributed event number {number}", number=number)
    return int(lane[number])


def unattributed_near(call: Call, cursor: Cursor) -> int:
    """The number in the lane of the event at the cursor, else of the next one after it (the count: none)."""
    known = index(call)
    return int(np.searchsorted(known.place[known.lane], place_of(call, cursor), "left"))


# At the cursor.


def edges(call: Call, cursor: Cursor) -> EdgeTable:
    """The exits of the cursor's visit: the latest verdict, from the exit boundary on the final one (2.5)."""
    event_of(call, cursor)
    if not call.visits:
        return EdgeTable([], None, None)
    visit, until = cursor.visit, reading_end(call, cursor)
    decided = index(call).of_visit(call, visit, "guard_evaluated", "transition_verdict")
    seen = -1 if until is None else int(np.searchsorted(decided, until, "right"))
    return index(call).memo(("edges", visit), lambda: edge_table(call, visit, until), seen)


def findings_here(call: Call, cursor: Cursor) -> list[Finding]:
    """The findings anchored at the cursor's event, redacted."""
    return list(index(call).findings(call).get(event_of(call, cursor), []))


def status(call: Call, cursor: Cursor) -> Status:
    """The status line: event, visit, clock, completeness, and where among all this is."""
    event = event_of(call, cursor)
    here = event >= 0
    owned = here and cursor.unattributed is None
    return Status(
        event_id=call.event_id(event) if here else None,
        visit_id=visit_id(call, cursor.visit) or None,
        clock_ms=call.clock_ms(event) if here else None,
        clock=call.clock_name(event) if here else "none",
        completeness=call.completeness,
        reasons=list(call.completeness_reasons),
        extra={
            "kind": call.kind(event) if here else None,
            "state_id": state_id(call, cursor.visit) or None,
            "visit_index": cursor.visit,
            "micro_event_index": cursor.micro,
            "micro_events": micro_count(call, cursor.visit),
            "position": int(call.order.position[event]) if owned else None,
            "events": len(call.order.micro),
            "unattributed": cursor.unattributed is not None,
        },
    )


# The conversation.


def conversation_count(call: Call) -> int:
    """How many items the conversation lane has."""
    return conversation(call).count


def conversation_item(call: Call, number: int) -> Turn:
    """One item of the conversation lane (contract 2.8)."""
    return conversation(call).item(number)


def conversation_index(call: Call, cursor: Cursor) -> int:
    """The number of the last conversation item at or before the cursor; −1 before the first one."""
    event = event_of(call, cursor)
    return conversation(call).items_until(event) if event >= 0 else -1
