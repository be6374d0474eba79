"""manifest.json, state_audio_timeline.json, and what any JSON document may hold (contract 1.1, 1.2, 1.9)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.model.errors import EngineError
from engine.model.limits import LIMITS, Limits
from engine.sources.files import CallFiles
from engine.sources.folder import open_files
from engine.sources.ledger import LineFault
from engine.sources.manifest import Manifest, read_manifest
from engine.sources.timeline import read_timeline
from tests.calls import SESSION, manifest, write_call

SAMPLES = Path(__file__).parents[2] / "sample_artifacts"


def opened(tmp_path: Path, content: bytes | str | None = None, **files: Any) -> CallFiles:
    extra = {} if content is None else {"manifest.json": content}
    return open_files(write_call(tmp_path, events=[], files=extra, **files), LIMITS)


def test_the_sample_states_everything() -> None:
    read = read_manifest(open_files(SAMPLES / "property-menu", LIMITS), LIMITS)
    assert read is not None
    assert (read.session_id, read.kind, read.run_id) == ("v3:pm-0001", "phone", None)
    assert (read.output_attempts, read.events_emitted, read.emit_failures) == (True, 83, 0)
    assert read.malformed == ()


def test_every_key_may_lack(tmp_path: Path) -> None:
    assert read_manifest(opened(tmp_path, "{}"), LIMITS) == Manifest()


def test_unknown_keys_and_kinds_are_kept(tmp_path: Path) -> None:
    read = read_manifest(opened(tmp_path, manifest=manifest(kind="carrier-pigeon", more=[1])), LIMITS)
    assert read is not None
    assert (read.kind, read.raw["more"], read.malformed) == ("carrier-pigeon", [1], ())


@pytest.mark.parametrize(
    ("more", "malformed"),
    [
        ({"session_id": 7}, ("session_id",)),
        ({"kind": ["phone"], "run_id": 1}, ("kind", "run_id")),
        ({"capture": 3}, ("capture",)),
        ({"capture": {"events_emitted": "526"}}, ("capture.events_emitted",)),
        ({"capture": {"events_emitted": -1}}, ("capture.events_emitted",)),
        ({"capture": {"events_emitted": True}}, ("capture.events_emitted",)),
        ({"capture": {"output_attempts": 1, "emit_failures": 0.5}},
         ("capture.emit_failures", "capture.output_attempts")),
        ({"capture": None, "session_id": None}, ()),
    ],
)  # fmt: skip
def test_wrong_types_are_noted(tmp_path: Path, more: dict[str, Any], malformed: tuple[str, ...]) -> None:
    read = read_manifest(opened(tmp_path, manifest=manifest(**more)), LIMITS)
    assert read is not None
    assert read.malformed == malformed
    assert read.session_id == (SESSION if "session_id" not in more else None)


def test_a_missing_manifest_is_none(tmp_path: Path) -> None:
    files = opened(tmp_path)
    assert read_manifest(files, LIMITS) is None
    assert files.artifacts["manifest.json"].status == "missing"


@pytest.mark.parametrize(
    ("content", "reason"),
    [("", "not JSON"), ("{", "not JSON"), ("[]", "not a JSON object"), ("null", "not a JSON object")],
)
def test_a_broken_manifest_is_unreadable(tmp_path: Path, content: str, reason: str) -> None:
    files = opened(tmp_path, content)
    assert read_manifest(files, LIMITS) is None
    artifact = files.artifacts["manifest.json"]
    assert (artifact.status, artifact.reason) == ("unreadable", reason)
    assert artifact.sha256 is not None


def test_a_manifest_of_another_schema_is_another_format(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as caught:
        read_manifest(opened(tmp_path, manifest=manifest(schema="riff.call_manifest/v2")), LIMITS)
    assert caught.value.code == "UNSUPPORTED_ARTIFACT"


def test_a_document_may_have_a_bom_and_bytes_that_are_no_text(tmp_path: Path) -> None:
    read = read_manifest(opened(tmp_path, b'\xef\xbb\xbf{"kind": "phone",\r\n"flow_id": "\xff"}'), LIMITS)
    assert read is not None
    assert (read.kind, read.flow_id) == ("phone", "\ufffd")
    assert read.faults == (LineFault(2, False, True, "not UTF-8"),)


@pytest.mark.parametrize(
    ("content", "limits", "limit"),
    [
        ('{"a": ' + "[" * 64 + "]" * 64 + "}", LIMITS, "json_depth"),
        ('{"a": "xxxxxxxxxx"}', Limits(document_bytes=10), "document_bytes"),
    ],
)
def test_what_is_refused(tmp_path: Path, content: str, limits: Limits, limit: str) -> None:
    with pytest.raises(EngineError) as caught:
        read_manifest(opened(tmp_path, content), limits)
    assert (caught.value.code, caught.value.details["limit"]) == ("LIMIT_EXCEEDED", limit)
    assert caught.value.details["artifact"] == "manifest.json"


SPANS = [
    {"playback_id": "p1", "text": "hello", "start_ms": 0, "end_ms": 900.5, "outcome": "completed"},
    {"start_ms": "0", "end_ms": None, "asset_id": 4},
    "no span",
    {"start_ms": 5, "end_ms": 6},
]


def test_spans_of_an_older_call(tmp_path: Path) -> None:
    files = opened(tmp_path, timeline={"playback_spans": SPANS})
    spans = read_timeline(files, False, LIMITS).spans
    assert [span.event_id for span in spans] == ["tl:0", "tl:1", "tl:3"]
    assert (spans[0].start_ms, spans[0].end_ms, spans[0].text) == (0, 900.5, "hello")
    assert spans[0].payload == SPANS[0]
    assert spans[1].malformed == ("asset_id", "end_ms", "start_ms")
    assert spans[1].payload["malformed"] == ["asset_id", "end_ms", "start_ms"]
    artifact = files.artifacts["state_audio_timeline.json"]
    assert (artifact.rows, artifact.malformed) == (3, 2)


def test_spans_are_unused_beside_audio_rows(tmp_path: Path) -> None:
    files = opened(tmp_path, timeline={"playback_spans": SPANS})
    assert read_timeline(files, True, LIMITS).spans == []
    artifact = files.artifacts["state_audio_timeline.json"]
    assert (artifact.status, artifact.reason) == ("unused", "the ledgers hold audio rows")


@pytest.mark.parametrize("ledgers_have_audio", [True, False])
def test_a_missing_timeline_stays_missing(tmp_path: Path, ledgers_have_audio: bool) -> None:
    files = opened(tmp_path)
    assert read_timeline(files, ledgers_have_audio, LIMITS).spans == []
    assert files.artifacts["state_audio_timeline.json"].status == "missing"


@pytest.mark.parametrize("timeline", [{}, {"playback_spans": None}, {"playback_spans": {}}])
def test_a_timeline_without_spans(tmp_path: Path, timeline: dict[str, Any]) -> None:
    assert read_timeline(opened(tmp_path, timeline=timeline), False, LIMITS).spans == []
