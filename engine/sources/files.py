"""What the readers found of one call folder or archive: named artifacts and their bytes (contract 1.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

Status = Literal["read", "missing", "refused", "unreadable", "unused"]


class Artifact(msgspec.Struct):
    """One file the contract names.

    Attributes:
        name: Its name inside the call, with forward slashes (``transcripts/live.jsonl``); for a gzip'd file
            the name it stands under, with ``.gz``.
        status: ``read`` until a reader says otherwise.
        data: Its bytes, decompressed; a mapping of the file where it is large. None unless read.
        sha256: Hex digest of the bytes as stored (before decompression), or None when nothing was read.
        reason: Why it is not ``read``, or not to its end.
        rows: Rows understood; malformed: lines or rows that were not.
    """

    name: str
    status: Status
    data: bytes | memoryview | None = None
    sha256: str | None = None
    reason: str | None = None
    rows: int | None = None
    malformed: int = 0


class CallFiles(msgspec.Struct):
    """Every artifact of one call, by name; missing ones are listed too.

    Attributes:
        label: What the operator named, for messages only; it never enters the artifact.
        artifacts: Name → artifact, in name order.
        ledgers: Names of the ledger files in the order their rows were written: rotated parts of
            ``state_trace`` from 1 up, then ``state_trace.jsonl``, then ``bus_events.jsonl``.
        audio: Names of the files below ``audio/`` that exist as regular files (bytes not loaded).
    """

    label: str
    artifacts: dict[str, Artifact]
    ledgers: list[str]
    audio: Mapping[str, str]
    """Name inside the call → real path of the file (for an archive: of a private temporary copy)."""
