"""Access evidence of slots in a visit: only what a row or the flow proves (contract 2.6)."""

from __future__ import annotations

from engine.hydrate.call import KIND_CODES, Call
from engine.model.views import Access

_GUARD, _WRITE = KIND_CODES["guard_evaluated"], KIND_CODES["slot_write"]

RUNTIME_READ = ("◉", "runtime read (guard)")
CONTEXT_READ = ("◎", "context read (guard)")
CONTEXT_NOT_RECORDED = ("?", "context reads not recorded")
WRITTEN = ("✎", "written here")
EDGE_WRITE = ("⇥", "edge write")
STATIC = ("·", "static reference")
NO_EVIDENCE = ("—", "no read evidence")


def slot_access(call: Call, visit: int, until: int | None = None) -> dict[str, list[Access]]:
    """Slot → its access evidence in a visit, up to a bus event; a slot without any is not listed."""
    micro = call.micro_events(visit)
    kinds = call.kind_of[micro]
    band = set(call.owned.band.get(visit, ()))
    found: dict[str, dict[str, Access]] = {}
    for event in micro[(kinds == _GUARD) | (kinds == _WRITE)].tolist():
        if until is not None and event > until:
            continue
        if call.kind_of[event] == _WRITE:
            slot, _, _ = call.write(event)
            if slot is not None:
                _note(found, slot, EDGE_WRITE if event in band else WRITTEN, call.event_id(event))
            continue
        reads = call.ledger.payload(event).get("slots_read")
        for slot in reads if isinstance(reads, list) else ():
            if isinstance(slot, str):
                _note(found, slot, RUNTIME_READ, call.event_id(event))
    state = call.flow.by_state.get(call.visits[visit].state_id) if call.flow else None
    for slot in state.static_reads if state and not call.parts.flow_mismatch else ():
        _note(found, slot, STATIC, None)
    return {slot: list(labels.values()) for slot, labels in found.items()}


def _note(
    found: dict[str, dict[str, Access]], slot: str, label: tuple[str, str], event_id: str | None
) -> None:
    found.setdefault(slot, {})[label[1]] = Access(label[0], label[1], event_id)


def no_evidence() -> list[Access]:
    """What is said of a slot that nothing is recorded to have read or written."""
    return [Access(*NO_EVIDENCE, None)]


def context_access(call: Call, visit: int, until: int | None = None) -> dict[str, list[Access]]:
    """Context field → its access evidence; the key ``*`` says where guards recorded no context reads."""
    micro = call.micro_events(visit)
    found: dict[str, dict[str, Access]] = {}
    for event in micro[call.kind_of[micro] == _GUARD].tolist():
        if until is not None and event > until:
            continue
        payload = call.ledger.payload(event)
        reads = payload.get("context_reads")
        if isinstance(reads, dict):
            for field in reads:
                _note(found, field, CONTEXT_READ, call.event_id(event))
        elif "context_reads" not in payload:
            _note(found, "*", CONTEXT_NOT_RECORDED, call.event_id(event))
    return {field: list(labels.values()) for field, labels in found.items()}
