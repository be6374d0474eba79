"""``artifact_hash``: names an artifact's bytes without writing them (contract 3.1)."""

from __future__ import annotations

import msgspec

from engine.canonical import fingerprint
from engine.model.limits import Settings
from engine.sources.files import CallFiles

CONTRACT = "riff.state_program_debugger/v1"
HYDRATION_REVISION = 1
"""Raised whenever the artifact of an unchanged folder changes in any byte."""


def artifact_hash(files: CallFiles, settings: Settings, session: str | None, reveal: bool) -> str:
    """The hash of everything the artifact is a function of."""
    return fingerprint(
        {
            "schema": CONTRACT,
            "contract": 2,
            "hydration_revision": HYDRATION_REVISION,
            "settings": msgspec.to_builtins(settings),
            "session": session,
            "redaction": "revealed" if reveal else "redacted",
            "sources": [
                {
                    "artifact": artifact.name,
                    "status": artifact.status,
                    "sha256": artifact.sha256,
                }
                for artifact in files.artifacts.values()
            ],
        }
    )
