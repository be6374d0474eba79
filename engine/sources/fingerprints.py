"""Fingerprints that a row states of its own values (contract 2.4), held against those values.

Each check looks at one row only, so any process that has the bytes can make it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from engine.canonical import encode_trusted, sha256
from engine.model.events import ENVELOPE_KEYS
from engine.sources import rowschema, tolerant
from engine.sources.part import LedgerPart, Names

_NOT_CONTEXT = ENVELOPE_KEYS | {
    "phase", "context_fingerprint", "session_id", "state_id", "visit_id", "turn_index", "malformed",
}  # fmt: skip


def wrong_snapshots(part: LedgerPart, names: Names) -> dict[int, str]:
    """Slot snapshot → the fingerprint of the slots it lists, where it states another one."""
    columns = part.captured["state_slot_snapshot"]
    slots, stated = columns["slots"], columns["fingerprint"]
    full = np.array([partial is not True for partial in columns["partial"]], np.bool_)
    rows = np.flatnonzero(full & (slots >= 0) & (stated >= 0))
    texts = names.texts.names
    events = part.rows_of("state_slot_snapshot")
    pairs, which = np.unique(slots[rows].astype(np.int64) << 32 | stated[rows], return_inverse=True)
    actual = [sha256(texts[pair >> 32]) for pair in pairs.tolist()]
    wrong = [actual[at] != texts[pair & 0xFFFFFFFF] for at, pair in enumerate(pairs.tolist())]
    return {
        int(events[rows[at]]): actual[which[at]] for at in np.flatnonzero(np.array(wrong, np.bool_)[which])
    }


def contexts(part: LedgerPart) -> list[int]:
    """The context snapshots of a part. Which of them state a fingerprint is seen when they are looked at."""
    found: list[int] = part.rows_of("state_context_snapshot").tolist()
    return found


def wrong_contexts(part: LedgerPart, rows: Iterable[int]) -> dict[int, str]:
    """Row → the fingerprint of its fields, for those of some `contexts` that state another one."""
    found = {row: _contradicted(flat_row(part, row)) for row in rows}
    return {row: actual for row, actual in found.items() if actual is not None}


def wrong_contexts_at(data: memoryview, starts: list[int], ends: list[int]) -> dict[int, str]:
    """The same for rows at some bytes, by their ordinals."""
    wrong: dict[int, str] = {}
    for ordinal, (start, end) in enumerate(zip(starts, ends, strict=True)):
        actual = _contradicted(_flat(bytes(data[start:end])))
        if actual is not None:
            wrong[ordinal] = actual
    return wrong


def _contradicted(row: dict[str, Any]) -> str | None:
    """The fingerprint of a context's fields, where the row states another one."""
    stated = row.get("context_fingerprint")
    if not isinstance(stated, str):
        return None
    actual = sha256(encode_trusted({key: value for key, value in row.items() if key not in _NOT_CONTEXT}))
    return None if actual == stated else actual


def flat_row(part: LedgerPart, row: int) -> dict[str, Any]:
    """A row of a part, un-nested and normalised."""
    mended = part.mended.get(row)
    if mended is not None:
        return mended
    start = int(part.start[row])
    return _flat(part.data[start : start + int(part.length[row])])


def _flat(raw: bytes | memoryview) -> dict[str, Any]:
    value = tolerant.load(raw)
    return rowschema.flatten(value) if isinstance(value, dict) else {}
