"""Rows beside the ledgers as events: trace, transcripts, playback spans (contract 1.1, 1.6, 1.7)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from engine.hydrate.extras import Extra
from engine.model.events import SUBORDER, TRACE_KINDS
from engine.model.limits import Limits
from engine.sources import audio, timeline, trace, transcripts
from engine.sources.contents import pick
from engine.sources.files import CallFiles
from engine.sources.fixtures import read_fixtures
from engine.sources.merge import Ledger
from engine.sources.part import LineFault
from engine.sources.rowschema import KIND_CODE
from engine.sources.timeline import Span
from engine.sources.trace import TraceRow
from engine.sources.transcripts import Utterance

_TOOL_KINDS = ("tool_called", "tool_result")


class Sidecars(NamedTuple):
    """What the files beside the ledgers hold."""

    trace: list[TraceRow]
    live: list[Utterance]
    timed: list[Utterance]
    spans: list[Span]
    tracks: tuple[audio.Track, ...]
    faults: list[tuple[str, list[LineFault]]]

    def extras(self, ledger: Ledger) -> list[Extra]:
        """All rows that are events of their own, without a place yet."""
        repeated = {id(row) for rows in self._repeats(ledger).values() for row in rows}
        found = [_trace_event(row) for row in self.trace if id(row) not in repeated]
        found += [_transcript_event(row, "live") for row in self.live]
        found += [_transcript_event(row, "timed") for row in self.timed]
        return found + [_span_event(row) for row in self.spans]

    def tool_refs(self, ledger: Ledger) -> dict[int, list[dict[str, Any]]]:
        """Bus tool event → refs of the trace rows that repeat it."""
        return {
            event: [{"artifact": row.artifact, "line": row.line, "row": row.row} for row in rows]
            for event, rows in self._repeats(ledger).items()
        }

    def _repeats(self, ledger: Ledger) -> dict[int, list[TraceRow]]:
        rows = [row for row in self.trace if row.type in _TOOL_KINDS and row.call_id is not None]
        if not rows:
            return {}
        known: dict[tuple[str, str], int] = {}
        for kind in _TOOL_KINDS:
            for event in np.flatnonzero(ledger.kind == KIND_CODE[kind]).tolist():
                call_id = ledger.payload(event).get("call_id")
                if isinstance(call_id, str):
                    known.setdefault((kind, call_id), event)
        found: dict[int, list[TraceRow]] = {}
        for row in rows:
            repeated = known.get((row.type, row.call_id or ""))
            if repeated is not None:
                found.setdefault(repeated, []).append(row)
        return found


def read_sidecars(files: CallFiles, ledgers_have_audio: bool, limits: Limits) -> Sidecars:
    """Read every file beside the ledgers, flow, manifest and turns left aside.

    Raises:
        EngineError: ``LIMIT_EXCEEDED`` or ``PATH_OUTSIDE_CALL``.
    """
    traced = trace.read_trace(files, limits)
    live = transcripts.read_transcript(files, "live", limits)
    timed = transcripts.read_transcript(files, "timed", limits)
    spans = timeline.read_timeline(files, ledgers_have_audio, limits)
    fixtures = read_fixtures(files, limits)
    tracks = audio.read_tracks(files, limits)
    faults = [
        (pick(files, "trace.jsonl").name, traced.faults),
        (pick(files, "transcripts/live.jsonl").name, live.faults),
        (pick(files, "transcripts/timed.jsonl").name, timed.faults),
        (timeline.NAME, spans.faults),
        (pick(files, "tool_fixtures.jsonl").name, fixtures.faults),
        ("audio/manifest.json", list(tracks.faults)),
    ]
    return Sidecars(traced.rows, live.rows, timed.rows, spans.spans, tracks.tracks, faults)


def _trace_event(row: TraceRow) -> Extra:
    kind = row.type if row.type in TRACE_KINDS else "other"
    payload = dict(row.payload)
    if row.node is not None:
        payload.setdefault("node", row.node)
    return Extra(
        row.event_id, kind, row.type or None, payload,
        [{"artifact": row.artifact, "line": row.line, "row": row.row}], SUBORDER["trace"],
        seq=row.seq, clock_ms=row.clock_ms, state_id=row.node, visit_id=row.visit_id,
    )  # fmt: skip


def _transcript_event(row: Utterance, source: str) -> Extra:
    kind = f"{source}_transcript"
    return Extra(
        row.event_id, kind, kind, dict(row.payload),
        [{"artifact": row.artifact, "line": row.line, "row": row.row}], SUBORDER[source],
        clock_ms=row.start_ms, visit_id=row.visit_id,
        input_id=row.input_id if row.speaker == "caller" else None,
    )  # fmt: skip


def _span_event(row: Span) -> Extra:
    return Extra(
        row.event_id, "audio_span", "audio_span", dict(row.payload) | {"evidence_stage": "unrecorded"},
        [{"artifact": timeline.NAME, "row": row.row}], SUBORDER["trace"],
        clock_ms=row.start_ms,
    )  # fmt: skip
