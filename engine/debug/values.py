"""Variables and context of a visit at a cursor (contract 2.4, 2.6)."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from engine.canonical import encode_trusted
from engine.debug.evidence import access_here, context_access_here
from engine.debug.index import index
from engine.debug.place import event_of
from engine.hydrate.access import no_evidence
from engine.hydrate.call import KIND_CODES, Call
from engine.hydrate.classified import classification
from engine.hydrate.envelope import payload
from engine.hydrate.marks import agree, holds_mark
from engine.hydrate.redaction import redactor
from engine.hydrate.timeline import START, UNSET, Gone, Point
from engine.hydrate.variables import cell, cursor_point, entry_point, exit_point
from engine.model.artifact import Cell
from engine.model.views import Access, ContextRow, Cursor, VariableRow
from engine.sources import tolerant

_WRITE, _SEED = KIND_CODES["slot_write"], KIND_CODES["session_slots_seeded"]
_SNAPSHOT = KIND_CODES["state_slot_snapshot"]
CONTEXT_FIELDS = (
    "turn_count",
    "no_progress_streak",
    "max_no_progress_loops",
    "decision_epoch",
    "recent_states",
    "pending_transition",
    "active_logical_output_id",
    "active_output_attempt_id",
)
"""The fields of a context snapshot that the contract names, in its order."""
_NO_FIELD = frozenset(
    {
        "phase",
        "session_id",
        "state_id",
        "visit_id",
        "turn_index",
        "malformed",
        "context_fingerprint",
        "unavailable_fields",
    }
)


class Ends(NamedTuple):
    """What a slot entered and left a visit with."""

    slot: str
    entry: Point
    exit: Point
    entry_cell: Cell
    exit_cell: Cell

    @property
    def differ(self) -> bool:
        """Whether entry and exit are both known, and say different things."""
        held = (self.entry_cell, self.exit_cell)
        known = all(cell.availability != "unavailable" for cell in held)
        return known and self.entry is not self.exit and _differ(self.entry, self.exit)

    def cell(self, call: Call, point: Point) -> Cell:
        """A point of the slot as a cell; most slots hold all through a visit what they entered it with."""
        return self.entry_cell if _same(point, self.entry) else cell(call, self.slot, point)


def variables(call: Call, cursor: Cursor) -> list[VariableRow]:
    """Every declared and observed slot at entry, at the cursor and at exit; none in a call without visits.

    The last writer is that of the write or seed which the value at the cursor rests on; where it rests on a
    snapshot, or is unavailable, nobody is named.
    """
    event = event_of(call, cursor)
    if not call.visits:
        return []
    access = access_here(call, cursor)
    return [_row(call, cursor.visit, event, held, access.get(held.slot)) for held in ends(call, cursor.visit)]


def _row(call: Call, visit: int, event: int, held: Ends, access: list[Access] | None) -> VariableRow:
    point = _point(call, visit, event, held)
    writer, written = last_writer(call, held.slot, point)
    return VariableRow(
        slot=held.slot,
        entry=held.entry_cell,
        at_cursor=held.cell(call, point),
        exit=held.exit_cell,
        access=access or no_evidence(),
        last_writer=writer,
        last_write=call.event_id(written) if written is not None else None,
        changed=_differ(held.entry, point),
    )


def point_at(call: Call, cursor: Cursor, slot: str) -> Point:
    """What is known at a cursor of a slot that the call knows; the call has visits."""
    event = event_of(call, cursor)
    held = next(one for one in ends(call, cursor.visit) if one.slot == slot)
    return _point(call, cursor.visit, event, held)


def _point(call: Call, visit: int, event: int, held: Ends) -> Point:
    return cursor_point(call, visit, held.slot, event) if event >= 0 else held.entry


def ends(call: Call, visit: int) -> list[Ends]:
    """Entry and exit of every slot: the same at every cursor of a visit."""
    return index(call).memo(("ends", visit), lambda: [end(call, visit, slot) for slot in call.slot_order])


def end(call: Call, visit: int, slot: str) -> Ends:
    """One slot, also one that the call does not know, at the entry and the exit of a visit."""
    seen = call.visits[visit]
    if seen.entry_missing:
        entry = Point(Gone("entry_missing"), -1, START)
    else:
        entry = entry_point(call, visit, slot)
    entered = cell(call, slot, entry)
    if seen.exited is None:
        reason = "exit_missing" if seen.closed_by is not None else "no_exit_boundary"
        left = Cell("unavailable", reason=reason, classification=classification(call, slot))
        return Ends(slot, entry, Point(Gone(reason), -1, START), entered, left)
    exit = exit_point(call, visit, slot)
    return Ends(slot, entry, exit, entered, entered if _same(exit, entry) else cell(call, slot, exit))


def _same(one: Point, other: Point) -> bool:
    """Whether two points of one slot are the same statement."""
    return one.value is other.value and (one.event, one.place) == (other.event, other.place)


def last_writer(call: Call, slot: str, point: Point) -> tuple[str | None, int | None]:
    """``writer (kind)`` and event of the write or seed that a value rests on; None where no row says it."""
    while not isinstance(point.value, Gone) and 0 <= point.event < call.first_extra:
        kind = int(call.kind_of[point.event])
        if kind == _WRITE:
            return _writer(call, point.event), point.event
        if kind == _SEED:
            seeded = _seed_writers(call, point.event)
            return (f"{seeded[slot]} (seed)", point.event) if slot in seeded else (None, None)
        if kind != _SNAPSHOT:
            break
        before = call.timeline.read(slot, point.place - 1)
        shows_more = (
            holds_mark(before.value) and before.place < point.place and agree(before.value, point.value)
        )
        if not shows_more:
            break
        point = before  # the snapshot told in the clear what a write had told redacted
    return None, None


def _writer(call: Call, event: int) -> str:
    known = index(call).writers
    if event not in known:
        row = call.ledger.payload(event)
        row = redactor(call).payload("slot_write", {key: row.get(key) for key in ("writer", "kind")})
        writer, kind = (value if isinstance(value, str) else "?" for value in row.values())
        known[event] = f"{writer} ({kind})"
    return known[event]


def _seed_writers(call: Call, event: int) -> dict[str, str]:
    """Slot → who seeded it, of one ``session_slots_seeded`` row."""

    def read() -> dict[str, str]:
        captured = call.ledger.captured["session_slots_seeded"]
        raw = captured.columns["slots"][captured.rows.index(event)]
        slots = tolerant.load(raw) if raw is not None else {}
        return {
            slot: redactor(call).text(seed["writer"]) if isinstance(seed.get("writer"), str) else "?"
            for slot, seed in slots.items()
            if isinstance(seed, dict)
        }

    return index(call).memo(("seed writers", event), read)


def _differ(entry: Point, now: Point) -> bool:
    """Whether two points say different things of a slot; two unknown values say nothing."""
    one, other = entry.value, now.value
    if one is other or (entry.event, entry.place) == (now.event, now.place):
        return False
    if isinstance(one, Gone) or isinstance(other, Gone):
        return not (isinstance(one, Gone) and isinstance(other, Gone))
    if one is UNSET or other is UNSET:
        return True
    if isinstance(one, str) and isinstance(other, str):
        return one != other
    return encode_trusted(one) != encode_trusted(other)


def context(call: Call, cursor: Cursor) -> list[ContextRow]:
    """The fields of the state that are no slots, at the visit's entry and exit, with the reads of guards."""
    event_of(call, cursor)
    if not call.visits:
        return []
    rows = index(call).memo(("context", cursor.visit), lambda: _context(call, cursor.visit))
    read, otherwise = context_access_here(call, cursor)
    return [
        msgspec.structs.replace(row, access=read.get(row.field) or otherwise or no_evidence()) for row in rows
    ]


def _context(call: Call, visit: int) -> list[ContextRow]:
    events = [call.context_event(visit, phase) for phase in ("entry", "exit")]
    seen = [payload(call, event) if event is not None else {} for event in events]
    further = sorted({name for fields in seen for name in fields} - _NO_FIELD - set(CONTEXT_FIELDS))
    return [
        ContextRow(
            name, context_field(call, events[0], seen[0], name), context_field(call, events[1], seen[1], name)
        )
        for name in (*CONTEXT_FIELDS, *further)
    ]


def context_field(call: Call, event: int | None, fields: dict[str, Any], name: str) -> Cell:
    """What a context snapshot says of a field: its redacted payload, as a cell."""
    event_id = call.event_id(event) if event is not None else None
    listed = fields.get("unavailable_fields")
    if isinstance(listed, list | dict) and name in listed:
        return Cell("unavailable", reason="listed_unavailable", event_id=event_id)
    if name not in fields:
        return Cell("unavailable", reason="not_recorded", event_id=event_id)
    if holds_mark(fields[name]):
        return Cell("redacted", reason="recorded_redacted", event_id=event_id)
    return Cell("available", fields[name], event_id=event_id)
