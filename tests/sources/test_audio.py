"""Recorded tracks, with and without their manifest (contract 1.5)."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from engine.model.errors import EngineError
from engine.model.limits import LIMITS
from engine.sources.audio import Track, measure, read_tracks, verify
from engine.sources.files import CallFiles
from engine.sources.folder import open_files
from tests.calls import wav, write_call

SAMPLES = Path(__file__).parents[2] / "sample_artifacts"
CALLER = wav(0.5)
STATED: dict[str, Any] = {
    "track": "caller",
    "path": "caller.wav",
    "channel": 0,
    "perspective": "client_playback",
    "clock_offset_ms": 125,
}


def opened(
    tmp_path: Path, tracks: list[Any] | None = None, files: dict[str, bytes | str] | None = None
) -> CallFiles:
    manifest = None if tracks is None else {"schema": "riff.call_audio/v1", "tracks": tracks}
    return open_files(write_call(tmp_path, events=[], audio_manifest=manifest, files=files), LIMITS)


def only(files: CallFiles) -> Track:
    (track,) = read_tracks(files, LIMITS).tracks
    return measure(track, files)


def test_importing_the_reader_loads_no_sound_library() -> None:
    code = "import sys, engine.sources.audio; sys.exit('soundfile' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=SAMPLES.parent).returncode == 0


@pytest.mark.parametrize("name", ["property-menu", "consent-restart"])
def test_samples(name: str) -> None:
    files = open_files(SAMPLES / name, LIMITS)
    found = read_tracks(files, LIMITS)
    assert [track.track for track in found.tracks] == ["caller", "agent"]
    for track in found.tracks:
        assert verify(track, files) is True
        measured = measure(track, files)
        assert (measured.sample_rate, measured.channels, measured.unavailable) == (8000, 1, None)
        assert (measured.clock_offset_ms, measured.offset_reason) == (0, None)


def test_the_manifest_is_believed(tmp_path: Path) -> None:
    stated = STATED | {"sha256": "SHA256:" + hashlib.sha256(CALLER).hexdigest().upper()}
    files = opened(tmp_path, [stated], {"audio/caller.wav": CALLER})
    track = only(files)
    assert (track.name, track.perspective, track.clock_offset_ms) == (
        "audio/caller.wav",
        "client_playback",
        125,
    )
    assert (track.sample_rate, track.frames, track.channels, track.unavailable) == (8000, 4000, 1, None)
    assert verify(track, files) is True


def test_a_hash_that_disagrees_makes_the_track_unavailable(tmp_path: Path) -> None:
    files = opened(tmp_path, [STATED | {"sha256": "0" * 64}], {"audio/caller.wav": CALLER})
    track = only(files)
    assert verify(track, files) is False
    assert track.unavailable is not None and "hash" in track.unavailable
    assert files.artifacts["audio/caller.wav"].sha256 == hashlib.sha256(CALLER).hexdigest()


def test_without_a_stated_hash_nothing_is_verified(tmp_path: Path) -> None:
    files = opened(tmp_path, [STATED], {"audio/caller.wav": CALLER})
    assert verify(only(files), files) is None


@pytest.mark.parametrize(
    "path", ["../../secret.wav", "/etc/passwd", "..\\..\\x.wav", "C:\\x.wav", "a/../../../x.wav", "\\x.wav"]
)
def test_a_path_that_leaves_the_call(tmp_path: Path, path: str) -> None:
    (tmp_path / "secret.wav").write_bytes(CALLER)
    with pytest.raises(EngineError) as caught:
        read_tracks(opened(tmp_path, [STATED | {"path": path}]), LIMITS)
    assert (caught.value.code, caught.value.details["path"]) == ("PATH_OUTSIDE_CALL", path)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("./caller.wav", "audio/caller.wav"),
        ("takes/one.wav", "audio/takes/one.wav"),
        ("audio/caller.wav", "audio/caller.wav"),
        ("takes\\one.wav", "audio/takes/one.wav"),
        ("../audio/caller.wav", "audio/caller.wav"),
    ],
)
def test_paths_inside_the_call(tmp_path: Path, path: str, name: str) -> None:
    sound: dict[str, bytes | str] = {"audio/caller.wav": CALLER, "audio/takes/one.wav": CALLER}
    track = only(opened(tmp_path, [STATED | {"path": path}], sound))
    assert (track.name, track.unavailable) == (name, None)


def test_files_are_listed_as_they_are_used(tmp_path: Path) -> None:
    sound: dict[str, bytes | str] = {"audio/caller.flac": b"", "audio/agent.wav": CALLER, "audio/x.txt": ""}
    stated = [STATED | {"path": "caller.flac"}, STATED | {"path": "gone.wav"}]
    files = opened(tmp_path, stated, sound)
    tracks = read_tracks(files, LIMITS).tracks
    listed = {
        name: (item.status, item.reason)
        for name, item in files.artifacts.items()
        if name.startswith("audio/")
    }
    assert listed == {
        "audio/agent.wav": ("unused", "audio/manifest.json does not name it"),
        "audio/caller.flac": ("read", None),
        "audio/gone.wav": ("missing", "not in the call"),
        "audio/manifest.json": ("read", None),
    }
    assert list(files.artifacts) == sorted(files.artifacts)
    assert [track.unavailable for track in tracks] == [None, "audio/gone.wav is missing: not in the call"]


def test_a_linked_recording_is_no_evidence(tmp_path: Path) -> None:
    call = write_call(tmp_path, events=[], audio_manifest={"tracks": [STATED]})
    (tmp_path / "x.wav").write_bytes(CALLER)
    (call / "audio/caller.wav").symlink_to(tmp_path / "x.wav")
    track = only(open_files(call, LIMITS))
    assert track.unavailable == "audio/caller.wav is refused: a symbolic link"


@pytest.mark.parametrize(
    ("more", "malformed"),
    [
        ({"channel": "0"}, ("tracks[0].channel",)),
        ({"channel": -1}, ("tracks[0].channel",)),
        ({"clock_offset_ms": "0"}, ("tracks[0].clock_offset_ms",)),
        ({"perspective": 1, "sha256": 1}, ("tracks[0].perspective", "tracks[0].sha256")),
        ({"path": None}, ("tracks[0].path",)),
        ({"track": 3}, ("tracks[0].track",)),
        ({"perspective": "elsewhere", "new": 1}, ()),
    ],
)
def test_wrong_types_in_the_manifest(
    tmp_path: Path, more: dict[str, Any], malformed: tuple[str, ...]
) -> None:
    files = opened(tmp_path, [STATED | more], {"audio/caller.wav": CALLER})
    found = read_tracks(files, LIMITS)
    assert found.malformed == malformed
    assert files.artifacts["audio/manifest.json"].malformed == len(malformed)
    unusable = "path" in more or "track" in more
    assert (found.tracks[0].unavailable is not None) is unusable


@pytest.mark.parametrize("offset", [None, "later"])
def test_without_an_offset_no_event_can_claim_a_range(tmp_path: Path, offset: str | None) -> None:
    track = only(opened(tmp_path, [STATED | {"clock_offset_ms": offset}], {"audio/caller.wav": CALLER}))
    assert (track.clock_offset_ms, track.unavailable) == (None, None)
    assert track.offset_reason == "audio/manifest.json states no clock offset"


def test_a_channel_the_file_has_not(tmp_path: Path) -> None:
    track = only(opened(tmp_path, [STATED | {"channel": 1}], {"audio/caller.wav": CALLER}))
    assert track.unavailable == "audio/caller.wav has no channel 1"


@pytest.mark.parametrize(
    ("files", "tracks"),
    [
        (["caller", "agent", "mixed", "other"], [("caller", 0), ("agent", 0), ("mixed", 0)]),
        (["mixed", "recording"], [("mixed", 0)]),
        (["other"], []),
        ([], []),
    ],
)
def test_names_without_a_manifest(tmp_path: Path, files: list[str], tracks: list[tuple[str, int]]) -> None:
    call = opened(tmp_path, None, {f"audio/{name}.wav": CALLER for name in files})
    found = read_tracks(call, LIMITS).tracks
    assert [(track.track, track.channel) for track in found] == tracks
    assert all(track.perspective == "carrier_recorded" for track in found)
    assert all(track.clock_offset_ms is None and track.offset_reason for track in found)
    used = {track.name for track in found}
    for name in files:
        listed = call.artifacts[f"audio/{name}.wav"]
        assert listed.status == ("read" if listed.name in used else "unused")


@pytest.mark.parametrize(("channels", "tracks"), [(2, ["caller", "agent"]), (1, []), (3, [])])
def test_a_recording_needs_two_channels(tmp_path: Path, channels: int, tracks: list[str]) -> None:
    files = opened(tmp_path, None, {"audio/recording.wav": wav(0.1, channels=channels)})
    found = read_tracks(files, LIMITS).tracks
    assert [track.track for track in found] == tracks
    assert [track.channel for track in found] == list(range(len(tracks)))
    assert files.artifacts["audio/recording.wav"].status == ("read" if tracks else "unused")


@pytest.mark.parametrize("content", ["{", "[]", '{"schema": "riff.call_audio/v2"}', '{"tracks": 4}', "{}"])
def test_a_manifest_that_says_nothing_counts_as_none(tmp_path: Path, content: str) -> None:
    files = opened(tmp_path, None, {"audio/manifest.json": content, "audio/agent.wav": CALLER})
    (track,) = read_tracks(files, LIMITS).tracks
    assert (track.track, track.clock_offset_ms) == ("agent", None)


def test_a_manifest_may_list_no_track(tmp_path: Path) -> None:
    files = opened(tmp_path, [], {"audio/agent.wav": CALLER})
    assert read_tracks(files, LIMITS).tracks == ()
    assert files.artifacts["audio/agent.wav"].status == "unused"


@pytest.mark.parametrize(
    ("form", "subtype"),
    [
        ("WAV", "ULAW"), ("WAV", "ALAW"), ("WAV", "PCM_16"), ("WAV", "PCM_24"), ("WAV", "FLOAT"),
        ("RF64", "PCM_16"), ("AIFF", "PCM_16"), ("FLAC", "PCM_16"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("channels", [1, 2])
def test_formats(tmp_path: Path, form: str, subtype: str, channels: int) -> None:
    held = io.BytesIO()
    soundfile.write(held, np.zeros((800, channels)), 8000, subtype=subtype, format=form)
    track = only(opened(tmp_path, [STATED], {"audio/caller.wav": held.getvalue()}))
    assert (track.frames, track.channels, track.unavailable) == (800, channels, None)


@pytest.mark.parametrize("size", [0, 3, 12, 40])
def test_a_cut_header_is_unavailable_and_names_no_path(tmp_path: Path, size: int) -> None:
    track = only(opened(tmp_path, [STATED], {"audio/caller.wav": CALLER[:size]}))
    assert track.frames is None
    assert track.unavailable is not None and track.unavailable.startswith("audio/caller.wav: ")
    assert str(tmp_path) not in track.unavailable and "<" not in track.unavailable


def test_a_cut_file_has_the_frames_it_holds(tmp_path: Path) -> None:
    assert only(opened(tmp_path, [STATED], {"audio/caller.wav": CALLER[: 44 + 2 * 1000]})).frames == 1000


def test_a_file_that_vanishes_is_unavailable(tmp_path: Path) -> None:
    files = opened(tmp_path, [STATED | {"sha256": "0" * 64}], {"audio/caller.wav": CALLER})
    (track,) = read_tracks(files, LIMITS).tracks
    Path(files.audio["audio/caller.wav"]).unlink()
    assert verify(track, files) is None
    assert measure(track, files).unavailable == "audio/caller.wav: No such file or directory"
