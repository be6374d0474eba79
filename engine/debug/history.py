"""How one slot, or one field of the context, came to what it is (``inspect_…_history`` of contract 3.3)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from engine.debug.cursor import check_slot
from engine.debug.index import index
from engine.debug.names import hint, shown
from engine.debug.values import CONTEXT_FIELDS, context_field, last_writer
from engine.hydrate.call import Call
from engine.hydrate.envelope import payload
from engine.hydrate.timeline import Point
from engine.hydrate.variables import cell
from engine.model.artifact import Cell
from engine.model.errors import EngineError
from engine.model.views import ContextChange, SlotChange


def slot_points(call: Call, slot: str) -> Sequence[Point]:
    """Every point from which on something else is known of a slot, in the order of the call.

    Raises:
        EngineError: ``UNKNOWN_SLOT``.
    """
    check_slot(call, slot)
    return index(call).memo(("history", slot), lambda: call.timeline.points(slot))


def slot_change(call: Call, slot: str, point: Point) -> SlotChange:
    """One point as a row: what it says, the event it rests on, and who wrote it."""
    event = point.event
    writer, written = last_writer(call, slot, point)
    visit = int(call.visit_of[event]) if event >= 0 else -1
    return SlotChange(
        event_id=call.event_id(event) if event >= 0 else None,
        kind=call.kind(event) if event >= 0 else None,
        visit_id=call.visit_id(visit),
        clock_ms=call.clock_ms(event) if event >= 0 else None,
        cell=cell(call, slot, point),
        writer=writer if written == event else None,
    )


def context_snapshots(call: Call, field: str) -> Sequence[int]:
    """The context snapshots of a call, in order.

    Raises:
        EngineError: ``BAD_ARGUMENT`` for a field that neither the contract nor any snapshot names.
    """
    captured = call.ledger.captured.get("state_context_snapshot")
    rows = captured.rows if captured is not None else []
    if field not in CONTEXT_FIELDS:
        known = index(call).once(
            "context fields", lambda: {key for row in rows for key in payload(call, row)}
        )
        if field not in known:
            message = f"no context field {shown(field)} in this call{hint(field, CONTEXT_FIELDS)}"
            raise EngineError("BAD_ARGUMENT", message, argument="args.field")
    return rows


def context_change(call: Call, event: int, field: str) -> ContextChange:
    """What one context snapshot says of a field."""
    captured = call.ledger.captured["state_context_snapshot"]
    visit = int(call.visit_of[event])
    said: Cell = context_field(call, event, payload(call, event), field)
    return ContextChange(
        event_id=call.event_id(event),
        phase=captured.columns["phase"][bisect_left(captured.rows, event)],
        visit_id=call.visit_id(visit),
        clock_ms=call.clock_ms(event),
        cell=said,
    )
