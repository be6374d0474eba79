"""``state_audio_timeline.json``: playback spans of calls older than the audio rows (contract 1.1)."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from engine.model.events import Clock
from engine.model.limits import Limits
from engine.sources.contents import pick
from engine.sources.document import Fields, read_document
from engine.sources.files import CallFiles
from engine.sources.ledger import LineFault

NAME = "state_audio_timeline.json"


class Span(msgspec.Struct, frozen=True):
    """One stretch of agent audio, at a stage nobody recorded.

    Attributes:
        event_id: ``tl:<row>``; row: its ordinal in the list, from 0.
        start_ms, end_ms: On the call clock; None where the file states no usable number.
        payload: The object as stated, with `malformed` where it has malformed keys.
        malformed: Keys that are wrong, or lack and are needed (`start_ms`, `end_ms`), sorted.
    """

    event_id: str
    row: int
    playback_id: str | None
    asset_id: str | None
    text: str | None
    start_ms: float | int | None
    end_ms: float | int | None
    outcome: str | None
    payload: dict[str, Any]
    malformed: tuple[str, ...]


class Timeline(NamedTuple):
    """The spans in file order, and a fault where the file was not UTF-8."""

    spans: list[Span]
    faults: list[LineFault]


def read_timeline(files: CallFiles, ledgers_have_audio: bool, limits: Limits) -> Timeline:
    """Read the spans, unless the ledgers hold ``audio_*`` rows: then the file is listed as ``unused``.

    Raises:
        EngineError: ``LIMIT_EXCEEDED`` (``document_bytes``, ``json_depth``).
    """
    artifact = pick(files, NAME)
    if ledgers_have_audio and artifact.status == "read":
        artifact.status = "unused"
        artifact.reason = "the ledgers hold audio rows"
        return Timeline([], [])
    document = read_document(artifact, limits)
    if document is None:
        return Timeline([], [])
    problems: list[str] = []
    top = Fields(document.value, "", problems)
    spans = [_span(number, fields) for number, fields in top.objects("playback_spans")]
    artifact.rows = len(spans)
    artifact.malformed += len(problems) + sum(bool(span.malformed) for span in spans)
    return Timeline(spans, document.faults)


def _span(row: int, stated: Fields) -> Span:
    malformed: list[str] = []
    fields = Fields(stated.value, "", malformed)
    times = {key: fields.need(key, Clock) for key in ("start_ms", "end_ms")}
    texts = {key: fields.get(key, str) for key in ("playback_id", "asset_id", "text", "outcome")}
    wrong = tuple(sorted(malformed))
    return Span(
        **times,
        **texts,
        event_id=f"tl:{row}",
        row=row,
        payload=dict(stated.value) | ({"malformed": list(wrong)} if wrong else {}),
        malformed=wrong,
    )
