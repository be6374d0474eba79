"""Generated call folders: any number of events, in the row mix of the recorded samples."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.flow import flow
from benchmarks.recorder import SESSION, Recorder
from benchmarks.script import fade, lap, talk
from engine.canonical import sha256

RING = 500
"""Rows of the RAM ring."""
SEEDS = {"_route": "done", "kind": "home", "_via": "menu", "tickets": [], "_fired": "yes"}


def write_call(path: Path, events: int, *, visit_events: int | None = None) -> None:
    """Write a retained call folder.

    Args:
        path: A folder that does not exist yet.
        events: How many bus events it has.
        visit_events: How many of them one visit owns; None leaves every visit short.
    """
    path.mkdir(parents=True)
    document = flow()
    with (path / "state_trace.jsonl").open("wb") as sink:
        _record(Recorder(sink), document, events, visit_events)
    manifest = {
        "schema": "riff.call_manifest/v1",
        "session_id": SESSION,
        "flow_id": document["flow_id"],
        "kind": "phone",
        "transport": "telnyx_outbound",
        "started_at": "2026-07-10T14:02:11Z",
        "recorded_engine_revision": "git:0123456789abcdef",
        "recorded_build_id": "bench",
        "flow_version": document["flow_version"],
        "run_id": None,
        "capture": {"output_attempts": True, "events_emitted": events, "emit_failures": 0},
    }
    (path / "manifest.json").write_text(json.dumps(manifest))
    (path / "flow.json").write_text(json.dumps(document))
    (path / "bus_events.jsonl").write_bytes(_tail(path / "state_trace.jsonl"))


def _record(call: Recorder, document: dict[str, Any], events: int, visit_events: int | None) -> None:
    call.begin("hello", SEEDS, document)
    number = longest = 0
    planted = False
    if visit_events is not None:
        number = 1
        lap(call, number, desk=True)
        talk(call, visit_events)
    while call.seq + longest < events - 1 or not number:
        before = call.seq
        number += 1
        plant = not planted and number > 1 and before >= events // 2
        planted |= plant
        lap(call, number, plant)
        longest = call.seq - before
    fade(call, events - 1)
    call.emit("session_ended", reason="completed")
    call.flush()
    if call.seq != events:
        raise ValueError(f"a call of this shape has at least {call.seq} events")


def _tail(ledger: Path) -> bytes:
    """The last rows of a ledger, as the RAM ring holds them."""
    with ledger.open("rb") as source:
        source.seek(max(0, source.seek(0, os.SEEK_END) - RING * 2048))
        return b"".join(source.readlines()[-RING:])


def cached_call(events: int, *, visit_events: int | None = None) -> Path:
    """A call folder made once and kept in the temporary folder, under a name that says how it was made."""
    parts = (Path(__file__).parent / name for name in ("calls.py", "flow.py", "recorder.py", "script.py"))
    recipe = sha256(b"".join(part.read_bytes() for part in parts))[7:19]
    home = Path(tempfile.gettempdir()) / f"riff-tui-bench-{os.getuid()}"
    home.mkdir(mode=0o700, exist_ok=True)
    if home.stat().st_uid != os.getuid() or home.is_symlink():
        raise PermissionError(f"{home} is not ours")
    made = home / f"call-{events}-{visit_events or 0}-{recipe}"
    if not made.exists():
        draft = Path(tempfile.mkdtemp(dir=home))
        write_call(draft / "call", events, visit_events=visit_events)
        (draft / "call").rename(made)
        shutil.rmtree(draft)
    return made
