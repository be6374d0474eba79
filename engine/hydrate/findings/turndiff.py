"""Slots that changed between turns without a recorded write (contract 6.1)."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from typing import Any

from engine.hydrate.call import Call
from engine.hydrate.marks import agree
from engine.hydrate.timeline import UNSET
from engine.hydrate.turnends import turn_ends
from engine.model.findings import Raised


def unattributed(call: Call) -> list[Raised]:
    """Slots whose value differs between consecutive post-turn snapshots with no ``slot_write`` between.

    Only turns whose ``turn_complete`` was recorded can be compared: it says which events lie between.
    """
    if call.parts.turns_only:
        return []
    closing = _closing_events(call) if call.parts.turns else {}
    writes = call.ledger.captured.get("slot_write")
    found: list[Raised] = []
    before: dict[str, Any] | None = None
    start: int | None = None
    for turn in call.parts.turns:
        end = closing.get(turn.turn_index)
        after = turn.post_turn_snapshot
        if end is None or after is None:
            before, start = None, None
            continue
        # Rows of one index, or closed in another order, leave no stretch in which a write could stand.
        if before is not None and start is not None and start < end:
            written = _written(writes.rows, writes.columns["slot"], start, end) if writes else set()
            if None not in written:
                found += _differences(before, after, written, start, end)
        before, start = after, end
    return found


def _closing_events(call: Call) -> dict[int, int]:
    """Turn index → its ``turn_complete``; an index closed twice says nothing."""
    ends = turn_ends(call)
    times = Counter(number for number, _ in ends)
    return {number: event for number, event in ends if times[number] == 1}


def _written(rows: list[int], slots: list[Any], start: int, end: int) -> set[Any]:
    return set(slots[bisect_left(rows, start) : bisect_left(rows, end)])


def _differences(
    before: dict[str, Any], after: dict[str, Any], written: set[Any], start: int, end: int
) -> list[Raised]:
    found = []
    for slot in sorted((before.keys() | after.keys()) - written):
        old, new = before.get(slot, UNSET), after.get(slot, UNSET)
        if old is new or (old is not UNSET and new is not UNSET and agree(old, new)):
            continue
        found.append(
            Raised("UNATTRIBUTED_DIFF", end, f"{slot} changed between two turns, and no write was recorded",
                   part=slot, events=(start,),
                   data={"slot": slot, "before": None if old is UNSET else old,
                         "after": None if new is UNSET else new, "before_unset": old is UNSET,
                         "after_unset": new is UNSET})
        )  # fmt: skip
    return found
