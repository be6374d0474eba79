"""Fingerprints that a row states of its own values (contract 2.4), checked while the rows are read.

Each check looks at one row only, so it is done by whichever process reads the row.
"""

from __future__ import annotations

import hashlib
from typing import Any

from engine.canonical import encode_trusted
from engine.model.events import ENVELOPE_KEYS
from engine.sources import rowschema, tolerant
from engine.sources.part import LedgerPart

_NOT_CONTEXT = ENVELOPE_KEYS | {
    "phase", "context_fingerprint", "session_id", "state_id", "visit_id", "turn_index", "malformed",
}  # fmt: skip


def digest(encoded: bytes) -> str:
    """``sha256:<hex>`` of canonical bytes."""
    return "sha256:" + hashlib.sha256(encoded).hexdigest()


def check_fingerprints(part: LedgerPart) -> dict[int, str]:
    """Row → the fingerprint of its own values, for snapshots that state another one."""
    wrong: dict[int, str] = {}
    snapshots = part.captured["state_slot_snapshot"]
    known: dict[bytes, str] = {}
    columns = snapshots.columns
    for row, encoded, stated, partial in zip(
        snapshots.rows, columns["slots"], columns["fingerprint"], columns["partial"], strict=True
    ):
        if encoded is None or stated is None or partial is True:
            continue
        actual = known.get(encoded)
        if actual is None:
            actual = known[encoded] = digest(encoded)
        if actual != stated:
            wrong[row] = actual
    contexts = part.captured["state_context_snapshot"]
    for row, stated in zip(contexts.rows, contexts.columns["context_fingerprint"], strict=True):
        if stated is None:
            continue
        fields = {key: value for key, value in flat_row(part, row).items() if key not in _NOT_CONTEXT}
        actual = digest(encode_trusted(fields))
        if actual != stated:
            wrong[row] = actual
    return wrong


def flat_row(part: LedgerPart, row: int) -> dict[str, Any]:
    """A row of a part, un-nested and normalised."""
    mended = part.mended.get(row)
    if mended is not None:
        return mended
    start = int(part.start[row])
    value = tolerant.load(part.data[start : start + int(part.length[row])])
    return rowschema.flatten(value) if isinstance(value, dict) else {}
