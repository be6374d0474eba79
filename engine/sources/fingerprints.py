"""Fingerprints that a row states of its own values (contract 2.4), held against those values.

Each check looks at one row only, so any process that has the bytes can make it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from engine.canonical import encode_trusted
from engine.model.events import ENVELOPE_KEYS
from engine.sources import rowschema, tolerant
from engine.sources.part import LedgerPart

_NOT_CONTEXT = ENVELOPE_KEYS | {
    "phase", "context_fingerprint", "session_id", "state_id", "visit_id", "turn_index", "malformed",
}  # fmt: skip


def stating_rows(part: LedgerPart) -> list[int]:
    """The snapshots of a part that state a fingerprint of values that they list."""
    columns = part.captured["state_slot_snapshot"]
    rows = part.rows_of("state_slot_snapshot").tolist()
    found = [
        row
        for row, slots, stated, partial in zip(
            rows, columns["slots"], columns["fingerprint"], columns["partial"], strict=True
        )
        if slots is not None and stated is not None and partial is not True
    ]
    contexts = part.captured["state_context_snapshot"]["context_fingerprint"]
    rows = part.rows_of("state_context_snapshot").tolist()
    return found + [row for row, stated in zip(rows, contexts, strict=True) if stated is not None]


def wrong_fingerprints(part: LedgerPart, rows: Iterable[int]) -> dict[int, str]:
    """Row → the fingerprint of its own values, for those of some `stating_rows` that state another one."""
    found = {row: _contradicted(flat_row(part, row)) for row in rows}
    return {row: actual for row, actual in found.items() if actual is not None}


def wrong_fingerprints_at(data: memoryview, starts: list[int], ends: list[int]) -> dict[int, str]:
    """The same for rows at some bytes, by their ordinals."""
    wrong: dict[int, str] = {}
    for ordinal, (start, end) in enumerate(zip(starts, ends, strict=True)):
        actual = _contradicted(_flat(data[start:end]))
        if actual is not None:
            wrong[ordinal] = actual
    return wrong


def _contradicted(row: dict[str, Any]) -> str | None:
    """The fingerprint of a row's values, where it is not the one that the row states."""
    stated = row.get("context_fingerprint")
    if row.get("type") == "state_context_snapshot":
        values = {key: value for key, value in row.items() if key not in _NOT_CONTEXT}
    else:
        stated, values = row.get("fingerprint"), row["slots"]
    actual = "sha256:" + hashlib.sha256(encode_trusted(values)).hexdigest()
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
