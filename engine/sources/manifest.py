"""``manifest.json``: the identity of a call, as far as it is stated (contract 1.2)."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from engine.model.errors import EngineError
from engine.model.limits import Limits
from engine.sources.contents import pick
from engine.sources.document import Fields, read_document
from engine.sources.files import CallFiles
from engine.sources.ledger import LineFault

SCHEMA = "riff.call_manifest/v1"
_Count = Annotated[int, Meta(ge=0)]


class Manifest(msgspec.Struct, frozen=True):
    """What the manifest states. None is "not stated", also for a value of a wrong type.

    Attributes:
        output_attempts: Whether the runtime recorded output attempts.
        events_emitted: Bus events the runtime emitted.
        emit_failures: Emits that failed.
        malformed: Paths of values of a wrong type (``capture.events_emitted``), sorted.
        faults: A fault where the file was not UTF-8.
        raw: The whole object, unknown keys included.
    """

    session_id: str | None = None
    flow_id: str | None = None
    kind: str | None = None
    transport: str | None = None
    started_at: str | None = None
    recorded_engine_revision: str | None = None
    recorded_build_id: str | None = None
    flow_version: str | None = None
    run_id: str | None = None
    output_attempts: bool | None = None
    events_emitted: int | None = None
    emit_failures: int | None = None
    malformed: tuple[str, ...] = ()
    faults: tuple[LineFault, ...] = ()
    raw: dict[str, Any] = {}


_TEXTS = (
    "session_id",
    "flow_id",
    "kind",
    "transport",
    "started_at",
    "recorded_engine_revision",
    "recorded_build_id",
    "flow_version",
    "run_id",
)


def read_manifest(files: CallFiles, limits: Limits) -> Manifest | None:
    """The manifest, or None when the call has none that can be read (its artifact says why).

    Raises:
        EngineError: ``UNSUPPORTED_ARTIFACT`` when it names another schema; ``LIMIT_EXCEEDED``.
    """
    document = read_document(pick(files, "manifest.json"), limits)
    if document is None:
        return None
    problems: list[str] = []
    fields = Fields(document.value, "", problems)
    schema = fields.get("schema", str, SCHEMA)
    if schema != SCHEMA:
        raise EngineError(
            "UNSUPPORTED_ARTIFACT",
            f"manifest.json is of schema {schema!r}; this engine reads {SCHEMA}",
            artifact="manifest.json",
            schema=schema,
        )
    capture = fields.within("capture")
    stated = {name: fields.get(name, str) for name in _TEXTS}
    return Manifest(
        **stated,
        output_attempts=capture.get("output_attempts", bool),
        events_emitted=capture.get("events_emitted", _Count),
        emit_failures=capture.get("emit_failures", _Count),
        malformed=tuple(sorted(problems)),
        faults=tuple(document.faults),
        raw=document.value,
    )
