"""``artifact_hash``: names an artifact's bytes without writing them (contract 3.1)."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.canonical import fingerprint
from engine.model.artifact import Source
from engine.model.limits import Settings

CONTRACT = "riff.state_program_debugger/v1"
HYDRATION_REVISION = 4
"""Raised whenever the artifact of an unchanged folder changes in any byte."""


def artifact_hash(
    sources: list[Source], settings: Settings, reveal: bool = False, session: str | None = None
) -> str:
    """The hash of everything the artifact is a function of.

    Args:
        sources: What became of each file.
        settings: The thresholds.
        reveal: Whether classified values are shown.
        session: The session chosen of a ``turns.jsonl``, which may hold several; None for any other call.
    """
    facts: dict[str, Any] = {
        "schema": CONTRACT,
        "contract": 2,
        "hydration_revision": HYDRATION_REVISION,
        "settings": msgspec.to_builtins(settings),
        "redaction": "revealed" if reveal else "redacted",
        "sources": [
            {"artifact": source.artifact, "status": source.status, "sha256": source.sha256}
            for source in sources
        ],
    }
    return fingerprint(facts if session is None else facts | {"session": session})
