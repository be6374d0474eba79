"""``riff-engine doctor``: what was found in a call, what was read, what was not understood (contract 3.5).

It reads the files one by one and joins nothing, so it also speaks about calls that can't be hydrated. It
shows no value of a row, only names, types, keys and counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from engine.model.errors import EngineError
from engine.model.limits import LIMITS, Limits
from engine.service.doctor_text import draw
from engine.sources import audio, fixtures, flow, manifest, rowschema, timeline, trace, transcripts, turns
from engine.sources.contents import TURNS, pick
from engine.sources.files import Artifact, CallFiles
from engine.sources.folder import open_files
from engine.sources.hashing import start_hashing
from engine.sources.ledger import LedgerPart, LineFault, Names, check_depth, line_ends, read_part
from engine.sources.part import note_cut

SCHEMA = "riff.doctor/v1"
SHOWN = 50
"""How many lines and rows are listed one by one; the counts are always whole."""
__all__ = ["SCHEMA", "SHOWN", "draw", "report"]
_T = TypeVar("_T")


def report(path: Path, limits: Limits = LIMITS) -> dict[str, Any]:
    """What a call holds, as plain JSON values.

    Args:
        path: As for `open_files`.
        limits: What to refuse.

    Returns:
        ``{schema, call, sources: [{artifact, status, rows, malformed, sha256, reason}], sessions, turns,
        manifest, flow, tracks, ledger_rows: {kind: count}, not_understood: {lines, rows, unknown_types,
        values, refused, counts}}``. ``refused`` are the typed errors of single files; the others are read.

    Raises:
        EngineError: `open_files` refuses the call.
    """
    files = open_files(path, limits)
    hashed = start_hashing(files)
    examined = _Examination(files, limits)
    parts = {
        "sessions": examined.ledgers(),
        "turns": examined.turns(),
        "manifest": examined.manifest(),
        "flow": examined.flow(),
        "tracks": examined.tracks(),
    }
    examined.small_files()
    hashed()
    return {
        "schema": SCHEMA,
        "call": path.name,
        "sources": [_source(artifact) for artifact in files.artifacts.values()],
        **parts,
        "ledger_rows": dict(sorted(examined.kinds.items())),
        "not_understood": examined.not_understood(),
    }


def _source(artifact: Artifact) -> dict[str, Any]:
    return {
        "artifact": artifact.name,
        "status": artifact.status,
        "rows": artifact.rows,
        "malformed": artifact.malformed,
        "sha256": artifact.sha256,
        "reason": artifact.reason,
    }


class _Examination:
    """Reads the files of a call and gathers what was not understood."""

    def __init__(self, files: CallFiles, limits: Limits) -> None:
        self.files = files
        self.limits = limits
        self.kinds: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.lines: list[dict[str, Any]] = []
        self.rows: list[dict[str, Any]] = []
        self.values: list[dict[str, Any]] = []
        self.refused: list[dict[str, Any]] = []

    def not_understood(self) -> dict[str, Any]:
        return {
            "lines": self.lines[:SHOWN],
            "rows": self.rows[:SHOWN],
            "unknown_types": dict(sorted(self.unknown.items())),
            "values": self.values,
            "refused": self.refused,
            "counts": {
                "lines": len(self.lines),
                "rows": len(self.rows),
                "unknown_types": self.unknown.total(),
                "values": len(self.values),
                "refused": len(self.refused),
            },
        }

    def ledgers(self) -> list[str]:
        """Read every ledger file; the session ids they carry."""
        names = Names.new()
        sessions: set[str] = set()
        for name in self.files.ledgers:
            artifact = self.files.artifacts[name]
            part = self._read(partial(_part, artifact, names, self.limits))
            if part is None:
                continue
            note_cut(part.faults, part.lines, artifact.reason)
            sessions |= part.sessions
            odd = sorted(
                [(int(part.line[row]), rowschema.KINDS[int(part.kind[row])], keys)
                 for row, keys in part.malformed.items()]
                + [(row.line, row.kind, row.malformed) for row in part.loose]
            )  # fmt: skip
            artifact.rows = part.rows_read
            artifact.malformed = len({fault.line for fault in part.faults} | {line for line, _, _ in odd})
            self._faults(name, part.faults)
            for line, kind, keys in odd:
                self._row(name, line, kind, keys)
            self._count_kinds(part, names)
        return sorted(sessions)

    def _count_kinds(self, part: LedgerPart, names: Names) -> None:
        self.kinds.update(rowschema.KINDS[kind] for kind in part.kind.tolist())
        self.kinds.update(row.kind for row in part.loose)
        others = part.type_code[part.kind == rowschema.OTHER_CODE].tolist()
        self.unknown.update(names.types.names[code] for code in others)
        self.unknown.update(
            row.source_type for row in part.loose if row.kind == rowschema.KINDS[rowschema.OTHER_CODE]
        )

    def turns(self) -> dict[str, int]:
        """Turns by session; "" for turns that name none."""
        read = self._read(lambda: turns.read_turns(self.files, self.limits))
        if read is None:
            return {}
        self._faults(pick(self.files, TURNS).name, read.faults)
        for turn in (turn for listed in read.sessions.values() for turn in listed):
            self._row(turn.artifact, turn.line, "turn", turn.malformed)
        return {name or "": len(listed) for name, listed in read.sessions.items()}

    def manifest(self) -> dict[str, Any] | None:
        read = self._read(lambda: manifest.read_manifest(self.files, self.limits))
        if read is None:
            return None
        self._document("manifest.json", read.faults, read.malformed)
        return {"session_id": read.session_id, "flow_id": read.flow_id, "kind": read.kind}

    def flow(self) -> dict[str, Any] | None:
        read = self._read(lambda: flow.read_flow(self.files, self.limits))
        if read is None:
            return None
        self._document("flow.json", (), read.problems)
        return {
            "flow_id": read.flow_id,
            "flow_version": read.flow_version,
            "stated_version": read.stated_version,
            "version_disagrees": read.version_disagrees,
            "states": len(read.states),
            "edges": sum(len(state.transitions) for state in read.states),
            "slots": len(read.slots),
        }

    def tracks(self) -> list[dict[str, Any]]:
        read = self._read(lambda: audio.read_tracks(self.files, self.limits))
        if read is None:
            return []
        self._document(audio.MANIFEST, read.faults, read.malformed)
        return [_track(audio.measure(track, self.files)) for track in read.tracks]

    def small_files(self) -> None:
        """Trace, transcripts, fixtures and the legacy timeline."""
        files, limits = self.files, self.limits
        traced = self._read(lambda: trace.read_trace(files, limits))
        if traced is not None:
            self._faults(pick(files, "trace.jsonl").name, traced.faults)
            for row in traced.rows:
                self._row(row.artifact, row.line, row.type, row.malformed)
        for source in transcripts.SOURCES:
            heard = self._read(partial(transcripts.read_transcript, files, source, limits))
            if heard is not None:
                self._faults(pick(files, f"transcripts/{source}.jsonl").name, heard.faults)
                for said in heard.rows:
                    self._row(said.artifact, said.line, f"{source}_transcript", said.malformed)
        recorded = self._read(lambda: fixtures.read_fixtures(files, limits))
        if recorded is not None:
            name = pick(files, "tool_fixtures.jsonl").name
            self._faults(name, recorded.faults)
            for fixture in recorded.rows:
                self._row(name, fixture.line, "tool_fixture", fixture.malformed)
        has_audio = any(kind.startswith("audio_") for kind in self.kinds)
        summary = self._read(lambda: timeline.read_timeline(files, has_audio, limits))
        if summary is not None:
            wrong = [f"playback_spans[{span.row}].{key}" for span in summary.spans for key in span.malformed]
            self._document(timeline.NAME, summary.faults, wrong)

    def _read(self, read: Callable[[], _T]) -> _T | None:
        try:
            return read()
        except EngineError as error:
            self.refused.append({"code": error.code, "message": error.message, "details": error.details})
            return None

    def _faults(self, artifact: str, faults: Iterable[LineFault]) -> None:
        for fault in faults:
            code = "TRUNCATED_LINE" if fault.truncated else "MALFORMED_LINE"
            where = {"artifact": artifact, "line": fault.line}
            self.lines.append({**where, "code": code, "kept": fault.kept, "reason": fault.reason})

    def _row(self, artifact: str, line: int, kind: str, keys: tuple[str, ...]) -> None:
        if keys:
            self.rows.append({"artifact": artifact, "line": line, "kind": kind, "keys": list(keys)})

    def _document(self, artifact: str, faults: Iterable[LineFault], problems: Iterable[str]) -> None:
        self._faults(artifact, faults)
        self.values += [{"artifact": artifact, "value": problem} for problem in problems]


def _part(artifact: Artifact, names: Names, limits: Limits) -> LedgerPart:
    data = artifact.data if artifact.data is not None else b""
    ends = line_ends(data)
    check_depth(artifact.name, data, ends, limits)
    return read_part(artifact.name, data, ends, names, limits)


def _track(track: audio.Track) -> dict[str, Any]:
    known = track.frames is not None and track.sample_rate
    return {
        "track": track.track,
        "artifact": track.name,
        "channel": track.channel,
        "perspective": track.perspective,
        "clock_offset_ms": track.clock_offset_ms,
        "seconds": round((track.frames or 0) / (track.sample_rate or 1), 3) if known else None,
        "sample_rate": track.sample_rate,
        "unavailable": track.unavailable,
        "unaligned": track.offset_reason,
    }
