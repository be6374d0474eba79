"""Which values of a call are hidden, and a redactor that hides them (contract 2.4)."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

from engine.hydrate.call import Call
from engine.hydrate.hiding import Hidden, Redactor
from engine.hydrate.redaction import HIDDEN, is_mark
from engine.hydrate.variables import classification
from engine.sources import tolerant

_redactors: weakref.WeakKeyDictionary[Call, Redactor] = weakref.WeakKeyDictionary()


def redactor(call: Call) -> Redactor:
    """The redactor of a call; with ``reveal`` it hides nothing that was recorded in the clear."""
    known = _redactors.get(call)
    if known is None:
        known = _redactors[call] = Redactor(_hidden(call))
    return known


def _hidden(call: Call) -> Hidden:
    slots = set() if call.reveal else {s for s in call.slot_order if classification(call, s) in HIDDEN}
    if not slots:
        return Hidden()
    states = call.flow.states if call.flow else ()
    choices = {state.id for state in states if state.locked_choice and state.locked_choice.slot in slots}
    saved: dict[str, frozenset[str]] = {}
    for tool in (tool for state in states for tool in state.tools):
        keys = {key for key, slot in tool.saves.items() if slot in slots}
        saved[tool.name] = saved.get(tool.name, frozenset()) | keys
    strings = set(_strings(call, slots)) - _names(call)
    return Hidden(frozenset(slots), frozenset(strings), frozenset(choices), saved)


def _names(call: Call) -> set[str]:
    """Names of states, edges and slots, and the guards of edges: these are never a caller's value."""
    names = {visit.state_id for visit in call.visits} | set(call.slot_order)
    if call.flow is not None:
        names |= call.flow.by_state.keys() | call.flow.by_edge.keys()
        names |= {edge.when for edge in call.flow.by_edge.values() if edge.when is not None}
    return names


def _strings(call: Call, hidden: set[str]) -> Iterator[str]:
    """Every non-empty string that was recorded as the value, or within the value, of a hidden slot."""
    captured = call.ledger.captured
    writes = captured.get("slot_write")
    if writes is not None:
        for key in ("new", "old"):
            for slot, value in zip(writes.columns["slot"], writes.columns[key], strict=True):
                if slot in hidden:
                    yield from _texts(value)
    for kind in ("session_slots_seeded", "state_slot_snapshot"):
        rows = captured.get(kind)
        for raw in rows.columns["slots"] if rows is not None else ():
            yield from _listed(kind, tolerant.load(raw) if raw is not None else None, hidden)
    for extra in call.parts.extras:
        yield from _loose(extra.kind, extra.payload, hidden)
    for turn in call.parts.turns:
        yield from _listed("turn", turn.post_turn_snapshot, hidden)
        for change in turn.slot_diff or ():
            yield from _loose("slot_write", change, hidden)


def _listed(kind: str, slots: Any, hidden: set[str]) -> Iterator[str]:
    """Strings of hidden slots in an object of slots, or of seeds."""
    for slot in hidden & slots.keys() if isinstance(slots, dict) else ():
        value = slots[slot]
        seeded = kind == "session_slots_seeded" and isinstance(value, dict)
        yield from _texts(value.get("value") if seeded else value)


def _loose(kind: str, row: dict[str, Any], hidden: set[str]) -> Iterator[str]:
    """Strings of hidden slots in a row that acts on nothing, but was recorded all the same."""
    if kind == "slot_write" and isinstance(row.get("slot"), str) and row["slot"] in hidden:
        yield from _texts([row.get("old"), row.get("new")])
    elif kind in ("session_slots_seeded", "state_slot_snapshot"):
        yield from _listed(kind, row.get("slots"), hidden)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if value and not is_mark(value):
            yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
