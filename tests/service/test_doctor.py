"""What `riff-engine doctor` says of a call (contract 3.5)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.model.errors import EngineError
from engine.model.limits import Limits
from engine.service import doctor
from tests.calls import flow, manifest, row, wav, write_call

SAMPLES = Path(__file__).parents[2] / "sample_artifacts"


def source(report: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [item for item in report["sources"] if item["artifact"] == name]
    return dict(found)


def test_a_whole_call_is_understood() -> None:
    report = doctor.report(SAMPLES / "property-menu")
    assert json.loads(json.dumps(report)) == report
    assert report["sessions"] == ["v3:pm-0001"]
    assert report["turns"] == {"v3:pm-0001": 2}
    assert [track["seconds"] for track in report["tracks"]] == [20.478, 20.478]
    assert not any(report["not_understood"]["counts"].values())
    assert source(report, "bus_events.jsonl")["rows"] == 83
    assert doctor.draw(report).endswith("everything was understood\n")


def test_the_older_sample_shows_its_oddities() -> None:
    report = doctor.report(SAMPLES / "legacy-ring")
    found = report["not_understood"]
    assert found["lines"] == [
        {
            "artifact": "state_trace.jsonl",
            "line": 4,
            "code": "MALFORMED_LINE",
            "kept": False,
            "reason": "not JSON",
        }
    ]
    assert found["unknown_types"] == {"weather_probe": 1}
    text = doctor.draw(report)
    assert "state_trace.jsonl:4" in text and "weather_probe × 1" in text


def test_every_oddity_is_named_once(tmp_path: Path) -> None:
    call = write_call(
        tmp_path,
        events=[
            row(1, "session_started", 0),
            row(2, "slot_write", 5, slot="a", new=1),
            {"seq": "x", "type": "state_entered", "state_id": "a"},
            row(4, "made_up", 9),
            {"type": "unheard"},
            '{"seq": 5, "type": "ba',
        ],
        durable=[],
        flow=flow(flow_id=3),
        manifest=manifest(kind=1),
        turns=[{"session_id": "s"}],
        trace=[{"row": 0}],
        live=["x"],
        timed=[{"speaker": "agent"}],
        fixtures=[{}],
        timeline={"playback_spans": [{"start_ms": 1}]},
        audio_manifest={"tracks": [{"track": "caller", "path": "caller.wav", "channel": "left"}]},
        files={"audio/caller.wav": wav(0.1)},
    )
    report = doctor.report(call)
    found = report["not_understood"]
    assert [(item["artifact"], item["line"]) for item in found["lines"]] == [
        ("bus_events.jsonl", 6), ("transcripts/live.jsonl", 1),
    ]  # fmt: skip
    assert {(item["artifact"], item["line"], *item["keys"]) for item in found["rows"]} == {
        ("bus_events.jsonl", 1, "initial_state"),
        ("bus_events.jsonl", 2, "kind", "old", "writer"),
        ("bus_events.jsonl", 3, "seq"),
        ("bus_events.jsonl", 5, "seq"),
        ("turns.jsonl", 1, "turn_index"),
        ("trace.jsonl", 1, "type"),
        ("transcripts/timed.jsonl", 1, "text"),
        ("tool_fixtures.jsonl", 1, "tool"),
    }
    assert found["unknown_types"] == {"made_up": 1, "unheard": 1}
    assert {(item["artifact"], item["value"]) for item in found["values"]} == {
        ("flow.json", "flow_id"),
        ("manifest.json", "kind"),
        ("audio/manifest.json", "tracks[0].channel"),
        ("state_audio_timeline.json", "playback_spans[0].end_ms"),
    }
    bus = source(report, "bus_events.jsonl")
    assert (bus["rows"], bus["malformed"]) == (5, 5)


def test_long_lists_are_cut_and_counted(tmp_path: Path) -> None:
    call = write_call(tmp_path, events=["x"] * 60, durable=[])
    report = doctor.report(call)
    assert len(report["not_understood"]["lines"]) == doctor.SHOWN
    assert report["not_understood"]["counts"]["lines"] == 60
    assert "and 10 more lines" in doctor.draw(report)


def test_a_file_over_a_limit_does_not_hide_the_others(tmp_path: Path) -> None:
    call = write_call(
        tmp_path,
        events=[row(1, "session_started", 0, initial_state="a" * 500)],
        durable=[],
        manifest=manifest(schema="riff.call_manifest/v9"),
        audio_manifest={"tracks": [{"track": "caller", "path": "../../x.wav"}]},
        trace=[{"row": 0, "type": "suppressed"}],
    )
    report = doctor.report(call, Limits(line_bytes=400))
    codes = [item["code"] for item in report["not_understood"]["refused"]]
    assert sorted(codes) == ["LIMIT_EXCEEDED", "PATH_OUTSIDE_CALL", "UNSUPPORTED_ARTIFACT"]
    assert source(report, "trace.jsonl")["rows"] == 1
    assert "PATH_OUTSIDE_CALL" in doctor.draw(report)


def test_values_of_rows_are_not_shown(tmp_path: Path) -> None:
    call = write_call(
        tmp_path,
        events=[row(1, "caller_transcript", 0, text="my card is 4111", source=5)],
        turns=[{"turn_index": "4111", "user_utterance": "4111"}],
        live=[{"speaker": 4111, "text": "4111"}],
    )
    report = doctor.report(call)
    assert report["not_understood"]["counts"]["rows"] == 4
    assert "4111" not in json.dumps(report) + doctor.draw(report)


def test_names_from_the_recording_can_not_steer_a_terminal(tmp_path: Path) -> None:
    call = write_call(tmp_path, events=[row(1, "\x1b[2Jgone", 0, session_id="s\x07")])
    text = doctor.draw(doctor.report(call))
    assert "\x1b" not in text and "\x07" not in text
    assert "\\x1b[2Jgone" in text


def test_a_turns_file_alone(tmp_path: Path) -> None:
    call = write_call(tmp_path, turns=[{"turn_index": 0, "session_id": name} for name in ("b", "a")])
    report = doctor.report(call / "turns.jsonl")
    assert report["turns"] == {"b": 1, "a": 1}
    assert "session   b, a" in doctor.draw(report)


def test_what_is_no_call_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EngineError):
        doctor.report(tmp_path)
