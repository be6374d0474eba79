"""Why a slot holds what it holds: one chain from value to write to what the caller did (``why`` of 3.3).

Each link is one that a row names. Where no row does, the chain ends there and says so.
"""

from __future__ import annotations

from typing import Any

import msgspec

from engine.debug.cursor import check_slot
from engine.debug.place import event_of
from engine.debug.values import last_writer, point_at
from engine.hydrate.call import Call
from engine.hydrate.conversation import conversation
from engine.hydrate.edgetable import edge_table
from engine.hydrate.envelope import payload
from engine.hydrate.variables import cell
from engine.model.artifact import Cell, Edge, Turn
from engine.model.views import Cursor


class Write(msgspec.Struct, frozen=True):
    """The row that gave a slot its value."""

    event_id: str
    kind: str
    visit_id: str | None
    clock_ms: float | int | None
    writer: str | None
    edge_id: str | None
    input_id: str | None


class Decision(msgspec.Struct, frozen=True):
    """The edge that an edge write belongs to, and the verdict that chose it."""

    verdict_event_id: str | None
    edge: Edge


class Why(msgspec.Struct, frozen=True):
    """One causal chain.

    Attributes:
        value: What the slot holds at the cursor.
        write: The row that gave it, or None.
        decision: For a write that an edge makes: that edge and its guards.
        input: What the caller did under the write's ``input_id``: observations, what was acted on, audio.
        ends: Why the chain goes no further.
    """

    slot: str
    value: Cell
    write: Write | None
    decision: Decision | None
    input: Turn | None
    ends: str


def why(call: Call, cursor: Cursor, slot: str) -> Why:
    """The causal chain of a slot's value at a cursor.

    Raises:
        EngineError: ``UNKNOWN_SLOT``.
    """
    check_slot(call, slot)
    event_of(call, cursor)
    if not call.visits:
        return Why(slot, Cell("unavailable", reason="no_visit"), None, None, None, "the call has no visit")
    point = point_at(call, cursor, slot)
    value = cell(call, slot, point)
    writer, written = last_writer(call, slot, point)
    if written is None:
        silent = "nothing wrote it up to here" if value.unset else "it rests on a snapshot, not on a write"
        return Why(slot, value, None, None, None, value.reason or silent)
    row = payload(call, written)
    write = _write(call, written, writer, row)
    decision = _decision(call, written, write.edge_id)
    told = None if write.input_id is None else conversation(call).of_input(write.input_id)
    return Why(slot, value, write, decision, told, _end(write, decision, told))


def _write(call: Call, event: int, writer: str | None, row: dict[str, Any]) -> Write:
    visit = int(call.visit_of[event])
    return Write(
        event_id=call.event_id(event),
        kind=call.kind(event),
        visit_id=call.visit_id(visit),
        clock_ms=call.clock_ms(event),
        writer=writer,
        edge_id=_text(row, "edge_id"),
        input_id=_text(row, "input_id"),
    )


def _text(row: dict[str, Any], key: str) -> str | None:
    value = row.get(key)
    return value if isinstance(value, str) else None


def _decision(call: Call, event: int, edge_id: str | None) -> Decision | None:
    """The edge that a write names, in its visit's table at the exit."""
    visit = int(call.visit_of[event])
    if edge_id is None or visit < 0:
        return None
    table = edge_table(call, visit)
    edge = next((row for row in table.rows if row.edge_id == edge_id), None)
    return None if edge is None else Decision(table.verdict_event, edge)


def _end(write: Write, decision: Decision | None, told: Turn | None) -> str:
    if told is not None:
        return "what the caller did"
    if write.input_id is not None:
        return f"no row of the caller names input {write.input_id}"
    if decision is not None:
        return "the edge's verdict"
    return "the baseline" if write.kind == "session_slots_seeded" else "the write names no input"
