"""Which values of a call are classified `pii` or `secret`, and where they can stand (contract 2.4)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from engine.canonical import encode_trusted
from engine.hydrate.call import Call
from engine.hydrate.marks import HIDDEN, is_mark, stricter
from engine.sources import tolerant


class Classified(NamedTuple):
    """What a call hides.

    Attributes:
        slots: Names of the classified slots.
        strings: Every non-empty string recorded as a value of theirs, or within one.
        choices: States whose locked choice fills a classified slot.
        saved: Tool → keys of its result that are saved in a classified slot.
    """

    slots: frozenset[str] = frozenset()
    strings: frozenset[str] = frozenset()
    choices: frozenset[str] = frozenset()
    saved: Mapping[str, frozenset[str]] = {}


def classification(call: Call, slot: str) -> str | None:
    """The stricter of what flow and seeds say of a slot; None where neither says anything."""
    declared = call.flow.by_slot.get(slot) if call.flow else None
    return stricter(declared.classification if declared else None, call.parts.folded.seed_class.get(slot))


def classified(call: Call) -> Classified:
    """Everything of a call that must be hidden."""
    slots = {slot for slot in call.slot_order if classification(call, slot) in HIDDEN}
    if not slots:
        return Classified()
    states = call.flow.states if call.flow else ()
    choices = {state.id for state in states if state.locked_choice and state.locked_choice.slot in slots}
    saved: dict[str, frozenset[str]] = {}
    for tool in (tool for state in states for tool in state.tools):
        keys = {key for key, slot in tool.saves.items() if slot in slots}
        saved[tool.name] = saved.get(tool.name, frozenset()) | keys
    return Classified(frozenset(slots), frozenset(_strings(call, slots)), frozenset(choices), saved)


def _strings(call: Call, slots: set[str]) -> Iterator[str]:
    captured = call.ledger.captured
    writes = captured.get("slot_write")
    if writes is not None:
        of_slots = [at for at, slot in enumerate(writes.columns["slot"]) if slot in slots]
        for key in ("new", "old"):
            yield from _texts([writes.columns[key][at] for at in of_slots])
    keys = b"|".join(re.escape(encode_trusted(slot)) for slot in sorted(slots))
    clear = re.compile(b"(?:" + keys + rb'):(?!"<str:[0-9]+>")')
    for kind in ("session_slots_seeded", "state_slot_snapshot"):
        rows = captured.get(kind)
        raws = [raw for raw in dict.fromkeys(rows.columns["slots"]) if raw is not None] if rows else []
        for raw in raws if _may_be_clear(b"\n".join(raws), clear) else ():
            if _may_be_clear(raw, clear):
                yield from _listed(kind, tolerant.load(raw), slots)
    for conflict in call.ledger.conflicts:
        for ref in conflict.refs[1:]:
            yield from _loose(call.kind(conflict.event), call.ledger.flat_at(ref), slots)
    for extra in call.parts.extras:
        yield from _loose(extra.kind, extra.payload, slots)
    for turn in call.parts.turns:
        yield from _listed("turn", turn.post_turn_snapshot, slots)
        for change in turn.slot_diff or ():
            yield from _loose("slot_write", change, slots)


def _may_be_clear(raw: bytes, clear: re.Pattern[bytes]) -> bool:
    """Whether JSON may say more of some slots than a mark; most need not be decoded to tell.

    Args:
        raw: Objects of slots.
        clear: One of the slots as a JSON key, with what follows but a mark.
    """
    # Names may be escaped, or set off by spaces.
    return b"\\" in raw or b": " in raw or clear.search(raw) is not None


def _listed(kind: str, values: Any, slots: set[str]) -> Iterator[str]:
    """Strings of classified slots in an object of slots, or of seeds."""
    for slot in slots & values.keys() if isinstance(values, dict) else ():
        value = values[slot]
        seeded = kind == "session_slots_seeded" and isinstance(value, dict)
        yield from _texts(value.get("value") if seeded else value)


def _loose(kind: str, row: dict[str, Any], slots: set[str]) -> Iterator[str]:
    """Strings of classified slots in a row that acts on nothing, but was recorded all the same."""
    if kind == "slot_write" and isinstance(row.get("slot"), str) and row["slot"] in slots:
        yield from _texts([row.get("old"), row.get("new")])
    elif kind in ("session_slots_seeded", "state_slot_snapshot"):
        yield from _listed(kind, row.get("slots"), slots)


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
