"""Limits of the readers (contract 1.9) and the named thresholds of hydration (contract 2).

Tests lower a limit by passing their own `Limits`; nothing reads a module global behind a caller's back.
"""

from __future__ import annotations

import msgspec


class Limits(msgspec.Struct, frozen=True):
    """How much a reader takes before it refuses with ``LIMIT_EXCEEDED`` and the limit's name."""

    json_depth: int = 64
    line_bytes: int = 16 * 1024 * 1024
    events: int = 5_000_000
    archive_bytes: int = 4 * 1024 * 1024 * 1024
    document_bytes: int = 64 * 1024 * 1024
    """Size of one JSON document (manifest, flow, audio manifest, timeline)."""
    archive_members: int = 100_000


class Settings(msgspec.Struct, frozen=True):
    """Named thresholds; they take part in `artifact_hash` (contract 2.12, 3.1)."""

    clock_tolerance_ms: float = 250.0
    """A clock that falls more than this below an earlier trusted one is a regression (contract 2.2)."""
    overlap_share: float = 0.5
    """Share of the shorter range two observations must have in common to be one turn (contract 2.8)."""


LIMITS = Limits()
SETTINGS = Settings()
