"""Access evidence of slots at a cursor (contract 2.6): every row of a visit is read once, then searched."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from engine.debug.index import index
from engine.debug.place import reading_end
from engine.hydrate.access import EDGE_WRITE, RUNTIME_READ, STATIC, WRITTEN
from engine.hydrate.call import KIND_CODES, Call
from engine.model.views import Access, Cursor

_WRITE = KIND_CODES["slot_write"]


class Evidence(NamedTuple):
    """One label of one slot, and the bus events that give it, ascending; static evidence has none."""

    label: tuple[str, str]
    events: list[int]


def access_here(call: Call, cursor: Cursor) -> dict[str, list[Access]]:
    """Slot → its evidence in the visit up to the cursor, from the exit boundary on all of it.

    Each label names its latest event. A slot without any evidence is not listed.
    """
    if not call.visits:
        return {}
    until, visit = reading_end(call, cursor), cursor.visit
    found = index(call).memo(("evidence", visit), lambda: _evidence(call, visit))
    made: dict[str, list[Access]] = {}
    for slot, labels in found.items():
        for label, events in labels:
            seen = len(events) if until is None else bisect_right(events, until)
            if seen or label is STATIC:
                event_id = call.event_id(events[seen - 1]) if seen else None
                made.setdefault(slot, []).append(Access(*label, event_id))
    return made


def _evidence(call: Call, visit: int) -> dict[str, list[Evidence]]:
    """Slot → its labels in the order they first appear, static references last."""
    band = set(call.owned.band.get(visit, ()))
    found: dict[str, dict[tuple[str, str], list[int]]] = {}
    for event in index(call).of_visit(call, visit, "guard_evaluated", "slot_write").tolist():
        if call.kind_of[event] == _WRITE:
            slot, _, _ = call.write(event)
            if slot is not None:
                found.setdefault(slot, {}).setdefault(EDGE_WRITE if event in band else WRITTEN, []).append(
                    event
                )
            continue
        reads = call.ledger.payload(event).get("slots_read")
        for slot in reads if isinstance(reads, list) else ():
            if isinstance(slot, str):
                found.setdefault(slot, {}).setdefault(RUNTIME_READ, []).append(event)
    state = call.flow.by_state.get(call.visits[visit].state_id) if call.flow else None
    for slot in state.static_reads if state is not None and call.parts.flow_mismatch is None else ():
        found.setdefault(slot, {})[STATIC] = []
    return {slot: [Evidence(*item) for item in labels.items()] for slot, labels in found.items()}
