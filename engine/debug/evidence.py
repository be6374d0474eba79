"""Access evidence at a cursor (contract 2.6): every row of a visit is read once, then searched."""

from __future__ import annotations

from engine.debug.index import index
from engine.debug.place import reading_end
from engine.hydrate.access import ANY_FIELD, Evidence, context_evidence, slot_evidence
from engine.hydrate.call import Call
from engine.model.views import Access, Cursor


def access_here(call: Call, cursor: Cursor) -> dict[str, list[Access]]:
    """Slot → its evidence in the visit up to the cursor, from the exit boundary on all of it.

    Each label names its latest event. A slot without any evidence is not listed.
    """
    if not call.visits:
        return {}
    known = index(call).memo(("evidence", cursor.visit), lambda: slot_evidence(call, cursor.visit))
    return _here(call, cursor, known)


def context_access_here(call: Call, cursor: Cursor) -> tuple[dict[str, list[Access]], list[Access]]:
    """Context field → its evidence up to the cursor, and what is said of a field without any."""
    if not call.visits:
        return {}, []
    known = index(call).memo(("context evidence", cursor.visit), lambda: context_evidence(call, cursor.visit))
    found = _here(call, cursor, known)
    return found, found.pop(ANY_FIELD, [])


def _here(call: Call, cursor: Cursor, known: dict[str, list[Evidence]]) -> dict[str, list[Access]]:
    until = reading_end(call, cursor)
    made = {
        name: [access for one in evidence if (access := one.until(call, until)) is not None]
        for name, evidence in known.items()
    }
    return {name: listed for name, listed in made.items() if listed}
