"""Small call folders for tests: rows as dicts (or lines verbatim) in, a folder on disk out.

    call = write_call(tmp_path, events=[row(1, "session_started", 0, initial_state="menu"), ...], flow=flow())

Every argument left out is a file that is not written. `durable=None` writes the rows of `events` into both
ledgers; `durable=NO_FILE` leaves the durable ledger out.
"""

from __future__ import annotations

import io
import json
import math
import wave
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Final

from engine.canonical import fingerprint

Rows = Iterable[dict[str, Any] | str]
"""Rows of a JSONL file; a str is one line verbatim, without its newline."""

SESSION = "v3:test-0001"
EPOCH = 1_783_692_131.0
"""Wall clock of call clock 0 in the rows that `row` makes."""


class _NoFile(Enum):
    NO_FILE = "no file"


NO_FILE: Final = _NoFile.NO_FILE


def row(seq: int, type: str, clock: float | None = None, **payload: Any) -> dict[str, Any]:
    """One event row.

    `ts` follows the clock, or the seq (10 ms a step) where there is none; ``ts=None`` or ``session_id=None``
    leaves that key out, any other value replaces it.
    """
    moment = clock / 1000 if clock is not None else seq / 100
    made: dict[str, Any] = {"seq": seq, "ts": round(EPOCH + moment, 6), "type": type, "session_id": SESSION}
    if clock is not None:
        made["clock_ms"] = clock
    made |= payload
    return {key: value for key, value in made.items() if value is not None or key not in ("ts", "session_id")}


def lines(rows: Rows) -> str:
    """Rows as the text of a JSONL file."""
    return "".join((item if isinstance(item, str) else json.dumps(item)) + "\n" for item in rows)


def state(name: str, transitions: Iterable[tuple[str, str]] = (), **more: Any) -> dict[str, Any]:
    """A state of a flow; each transition is ``(when, to)``. `more` replaces or adds keys."""
    made: dict[str, Any] = {
        "id": name,
        "kind": "menu",
        "goal": "",
        "prompt": {"text": f"This is {name}.", "asset_id": None},
        "audio_policy": {"barge_in": True, "timeout_ms": 8000},
        "required_slots": [],
        "static_reads": [],
        "max_no_progress_loops": 2,
        "check_on_entry": False,
        "tools": [],
        "transitions": [
            {"edge_id": f"{name}:{index}", "declaration_index": index, "to": to, "when": when,
             "reason": when, "sets": [], "clears": []}
            for index, (when, to) in enumerate(transitions)
        ],
    }  # fmt: skip
    return made | more


def slot(name: str, classification: str | None = "internal", **more: Any) -> dict[str, Any]:
    """A declared slot of a flow."""
    return {"name": name, "type": "string", "classification": classification, "default": None} | more


def flow(
    states: Iterable[dict[str, Any]] = (), slots: Iterable[dict[str, Any]] = (), **more: Any
) -> dict[str, Any]:
    """A flow with the right `flow_version`; without states: `menu`, which goes to `bye` always."""
    listed = list(states) or [state("menu", [("always", "bye")]), state("bye", kind="terminal")]
    made: dict[str, Any] = {
        "schema": "riff.flow/v1",
        "flow_id": "test_flow",
        "initial_state": listed[0]["id"],
        "progress": {"reset_on": ["match", "stalled_edge"]},
        "slots": list(slots),
        "states": listed,
    } | more
    return {"flow_version": fingerprint(made)} | made


def manifest(**more: Any) -> dict[str, Any]:
    """A manifest of `SESSION`, kind phone, with the capture counts left out."""
    made: dict[str, Any] = {
        "schema": "riff.call_manifest/v1",
        "session_id": SESSION,
        "flow_id": "test_flow",
        "kind": "phone",
        "transport": "test",
        "started_at": "2026-07-10T14:02:11Z",
        "recorded_engine_revision": "git:test",
        "recorded_build_id": "build.1",
        "run_id": None,
        "capture": {"output_attempts": True, "emit_failures": 0},
    }
    return made | more


def wav(seconds: float = 1.0, rate: int = 8000, channels: int = 1, tone_hz: float = 0.0) -> bytes:
    """The bytes of a 16-bit WAV file: a tone of half amplitude, or silence."""
    held = io.BytesIO()
    count = round(seconds * rate)
    with wave.open(held, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        samples = (round(16000 * math.sin(2 * math.pi * tone_hz * at / rate)) for at in range(count))
        file.writeframes(b"".join(value.to_bytes(2, "little", signed=True) * channels for value in samples))
    return held.getvalue()


def write_call(
    where: Path,
    *,
    events: Rows | None = None,
    durable: Rows | _NoFile | None = None,
    flow: Mapping[str, Any] | None = None,
    manifest: Mapping[str, Any] | None = None,
    turns: Rows | None = None,
    trace: Rows | None = None,
    live: Rows | None = None,
    timed: Rows | None = None,
    fixtures: Rows | None = None,
    timeline: Mapping[str, Any] | None = None,
    audio_manifest: Mapping[str, Any] | None = None,
    files: Mapping[str, bytes | str] | None = None,
    name: str = "call",
) -> Path:
    """Write a call folder and return its path.

    Args:
        where: The folder to write into, `tmp_path` as a rule.
        events: Rows of ``bus_events.jsonl``.
        durable: Rows of ``state_trace.jsonl``; None for those of `events`, `NO_FILE` for no such file.
        flow, manifest, turns, trace, live, timed, fixtures, timeline, audio_manifest: The other files.
        files: Further files by their name in the call, written last (so they can replace one): audio,
            rotated parts, gzip'd files.
        name: Name of the folder.
    """
    ring = list(events) if events is not None else None
    kept = None if isinstance(durable, _NoFile) else list(durable) if durable is not None else ring
    jsonl = {
        "bus_events.jsonl": ring,
        "state_trace.jsonl": kept,
        "turns.jsonl": turns,
        "trace.jsonl": trace,
        "transcripts/live.jsonl": live,
        "transcripts/timed.jsonl": timed,
        "tool_fixtures.jsonl": fixtures,
    }
    documents = {
        "flow.json": flow,
        "manifest.json": manifest,
        "state_audio_timeline.json": timeline,
        "audio/manifest.json": audio_manifest,
    }
    made: dict[str, bytes | str] = {key: lines(rows) for key, rows in jsonl.items() if rows is not None}
    made |= {key: json.dumps(value, indent=1) for key, value in documents.items() if value is not None}
    made |= dict(files or {})
    call = where / name
    call.mkdir()
    for key, content in made.items():
        path = call / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content)
    return call
