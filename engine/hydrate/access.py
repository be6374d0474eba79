"""Access evidence of slots and fields in a visit: only what a row or the flow proves (contract 2.6)."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from engine.hydrate.call import KIND_CODES, Call
from engine.model.views import Access

_GUARD, _WRITE = KIND_CODES["guard_evaluated"], KIND_CODES["slot_write"]


class Label(NamedTuple):
    """One kind of evidence: how it is drawn, what it is called, and what gives it."""

    glyph: str
    word: str
    source: str


RUNTIME_READ = Label("◉", "runtime read (guard)", "guard_evaluated.slots_read")
CONTEXT_READ = Label("◎", "context read (guard)", "guard_evaluated.context_reads")
CONTEXT_NOT_RECORDED = Label("?", "context reads not recorded", "guard_evaluated without context_reads")
WRITTEN = Label("✎", "written here", "slot_write")
EDGE_WRITE = Label("⇥", "edge write", "slot_write of the outgoing boundary")
STATIC = Label("·", "static reference", "flow.json")
NO_EVIDENCE = Label("—", "no read evidence", "no row of this visit")


class Evidence(NamedTuple):
    """One label of one name, and the bus events that give it, ascending; the flow's own evidence has none."""

    label: Label
    events: list[int]

    def until(self, call: Call, event: int | None) -> Access | None:
        """The evidence at a bus event (None: all of it), naming its latest row; None where there is none."""
        seen = len(self.events) if event is None else bisect_right(self.events, event)
        if self.events and not seen:
            return None
        return Access(*self.label, call.event_id(self.events[seen - 1]) if seen else None)


def slot_evidence(call: Call, visit: int) -> dict[str, list[Evidence]]:
    """Slot → its evidence in a visit, in the order it first appears, static references last.

    A slot without any is not listed.
    """
    band = set(call.owned.band.get(visit, ()))
    found: dict[str, dict[Label, list[int]]] = {}
    for event in _rows(call, visit, _GUARD, _WRITE):
        if call.kind_of[event] == _WRITE:
            slot, _, _ = call.write(event)
            if slot is not None:
                _note(found, slot, EDGE_WRITE if event in band else WRITTEN, event)
            continue
        reads = call.ledger.payload(event).get("slots_read")
        for slot in reads if isinstance(reads, list) else ():
            if isinstance(slot, str):
                _note(found, slot, RUNTIME_READ, event)
    state = call.flow.by_state.get(call.visits[visit].state_id) if call.flow else None
    for slot in state.static_reads if state is not None and call.parts.flow_mismatch is None else ():
        found.setdefault(slot, {})[STATIC] = []
    return _listed(found)


ANY_FIELD = "*"
"""Under this name stands what guards leave open about every field of the context."""


def context_evidence(call: Call, visit: int) -> dict[str, list[Evidence]]:
    """Context field → its evidence in a visit; under `ANY_FIELD` the guards that recorded no such reads."""
    found: dict[str, dict[Label, list[int]]] = {}
    for event in _rows(call, visit, _GUARD):
        payload = call.ledger.payload(event)
        reads = payload.get("context_reads")
        for field in reads if isinstance(reads, dict) else ():
            _note(found, field, CONTEXT_READ, event)
        if "context_reads" not in payload:
            _note(found, ANY_FIELD, CONTEXT_NOT_RECORDED, event)
    return _listed(found)


def no_evidence() -> list[Access]:
    """What is said of a name that nothing is recorded to have read or written."""
    return [Access(*NO_EVIDENCE, None)]


def _rows(call: Call, visit: int, *kinds: int) -> list[int]:
    """A visit's own bus events of some kinds, in durable order."""
    micro = call.micro_events(visit)
    chosen = micro[(call.kind_of[micro] == kinds[0]) | (call.kind_of[micro] == kinds[-1])]
    rows: list[int] = sorted(chosen[chosen < call.first_extra].tolist())
    return rows


def _note(found: dict[str, dict[Label, list[int]]], name: str, label: Label, event: int) -> None:
    events = found.setdefault(name, {}).setdefault(label, [])
    if not events or events[-1] != event:
        events.append(event)


def _listed(found: dict[str, dict[Label, list[int]]]) -> dict[str, list[Evidence]]:
    return {name: [Evidence(*item) for item in labels.items()] for name, labels in found.items()}
