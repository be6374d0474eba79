"""Opening a call folder: which files are listed, read, refused (contract 1.1, 1.9)."""

from __future__ import annotations

import gzip
import hashlib
import os
import socket
from pathlib import Path

import pytest

from engine.model.errors import EngineError
from engine.model.limits import LIMITS, Limits
from engine.sources import folder
from engine.sources.contents import EXPECTED, pick
from engine.sources.folder import open_files
from engine.sources.hashing import start_hashing
from tests.calls import NO_FILE, flow, lines, manifest, row, wav, write_call

SAMPLES = Path(__file__).parents[2] / "sample_artifacts"
STARTED = row(1, "session_started", 0, initial_state="menu")


def refused(path: Path, limits: Limits = LIMITS) -> EngineError:
    with pytest.raises(EngineError) as caught:
        open_files(path, limits)
    return caught.value


def tree(call: Path) -> dict[str, bytes]:
    return {str(path.relative_to(call)): path.read_bytes() for path in call.rglob("*") if path.is_file()}


def test_lists_every_file_of_the_contract_and_no_other(tmp_path: Path) -> None:
    call = write_call(tmp_path, events=[STARTED], files={"expected.json": "{}", "notes.txt": "x"})
    files = open_files(call, LIMITS)
    assert list(files.artifacts) == sorted(EXPECTED)
    statuses = {name: artifact.status for name, artifact in files.artifacts.items()}
    read = {"bus_events.jsonl", "state_trace.jsonl"}
    assert statuses == {name: "read" if name in read else "missing" for name in EXPECTED}
    assert all(item.reason for item in files.artifacts.values() if item.status == "missing")


def test_reads_bytes_and_hashes_them(tmp_path: Path) -> None:
    call = write_call(tmp_path, events=[STARTED], flow=flow())
    artifact = open_files(call, LIMITS).artifacts["flow.json"]
    assert artifact.data == (call / "flow.json").read_bytes()
    assert artifact.sha256 == hashlib.sha256((call / "flow.json").read_bytes()).hexdigest()


@pytest.mark.parametrize("name", ["property-menu", "consent-restart", "legacy-ring"])
def test_samples_open_and_stay_as_they_are(name: str) -> None:
    before = tree(SAMPLES / name)
    files = open_files(SAMPLES / name, LIMITS)
    start_hashing(files)()
    assert files.ledgers == ["state_trace.jsonl", "bus_events.jsonl"]
    read = [artifact for artifact in files.artifacts.values() if artifact.status == "read"]
    assert all(artifact.sha256 for artifact in read)
    assert tree(SAMPLES / name) == before


def test_rotated_parts_come_first_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    text = lines([STARTED])
    parts: dict[str, bytes | str] = {f"state_trace.{number}.jsonl": text for number in (1, 2, 10)}
    parts |= {"state_trace.0.jsonl": text, "state_trace.01.jsonl": text, "state_trace.x.jsonl": text}
    parts["state_trace.3.jsonl.gz"] = gzip.compress(text.encode())
    files = open_files(write_call(tmp_path, events=[STARTED], files=parts), LIMITS)
    assert files.ledgers == [
        "state_trace.1.jsonl",
        "state_trace.2.jsonl",
        "state_trace.3.jsonl.gz",
        "state_trace.10.jsonl",
        "state_trace.jsonl",
        "bus_events.jsonl",
    ]
    assert "state_trace.0.jsonl" not in files.artifacts
    assert files.artifacts["state_trace.3.jsonl.gz"].data == text.encode()


def test_links_are_refused_wherever_they_lead(tmp_path: Path) -> None:
    call = write_call(tmp_path, events=[STARTED], durable=NO_FILE)
    secret = tmp_path / "secret"
    secret.write_text('{"password": 1}\n')
    for name in ("trace.jsonl", "flow.json", "state_trace.1.jsonl", "turns.jsonl.gz"):
        (call / name).symlink_to(secret)
    (call / "manifest.json").symlink_to("nowhere")
    (call / "state_trace.jsonl").symlink_to("bus_events.jsonl")
    files = open_files(call, LIMITS)
    for name in ("trace.jsonl", "flow.json", "state_trace.1.jsonl", "turns.jsonl.gz", "manifest.json"):
        artifact = files.artifacts[name]
        assert (artifact.status, artifact.reason) == ("refused", "a symbolic link")
        assert artifact.data is None and artifact.sha256 is None
    assert files.ledgers == ["bus_events.jsonl"]


def test_linked_folders_are_refused_whole(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "caller.wav").write_bytes(wav(0.1))
    (outside / "live.jsonl").write_text("{}\n")
    call = write_call(tmp_path, events=[STARTED])
    (call / "audio").symlink_to(outside)
    (call / "transcripts").symlink_to(outside)
    files = open_files(call, LIMITS)
    for name in ("audio/manifest.json", "transcripts/live.jsonl", "transcripts/timed.jsonl"):
        folder_name = name.partition("/")[0]
        assert files.artifacts[name].status == "refused"
        assert files.artifacts[name].reason == f"{folder_name} is a symbolic link"
    assert not files.audio


def test_pipes_sockets_devices_and_folders_are_refused_unopened(tmp_path: Path) -> None:
    call = write_call(tmp_path, events=[STARTED])
    os.mkfifo(call / "trace.jsonl")
    (call / "flow.json").mkdir()
    expected = {"trace.jsonl": "a named pipe", "flow.json": "a folder"}
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.open(call, os.O_RDONLY)
        listening.bind(f"/proc/self/fd/{here}/turns.jsonl" if Path("/proc/self/fd").exists() else "s")
        os.close(here)
        if (call / "turns.jsonl").exists():
            expected["turns.jsonl"] = "a socket"
        files = open_files(call, LIMITS)
    for name, reason in expected.items():
        assert (files.artifacts[name].status, files.artifacts[name].reason) == ("refused", reason)


def test_a_file_that_becomes_a_pipe_after_the_look_does_not_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = write_call(tmp_path, events=[STARTED])
    (call / "trace.jsonl").write_text("")
    real = folder._entry

    def swapped(handle: int, base: str) -> object:
        made = real(handle, base)
        if base == "trace.jsonl":
            (call / base).unlink()
            os.mkfifo(call / base)
        return made

    monkeypatch.setattr(folder, "_entry", swapped)
    artifact = open_files(call, LIMITS).artifacts["trace.jsonl"]
    assert (artifact.status, artifact.reason) == ("refused", "a named pipe")


def test_a_file_that_becomes_a_link_after_the_look_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = write_call(tmp_path, events=[STARTED], trace=[])
    real = folder._entry

    def swapped(handle: int, base: str) -> object:
        made = real(handle, base)
        if base == "trace.jsonl":
            (call / base).unlink()
            (call / base).symlink_to("/etc/hostname")
        return made

    monkeypatch.setattr(folder, "_entry", swapped)
    artifact = open_files(call, LIMITS).artifacts["trace.jsonl"]
    assert (artifact.status, artifact.data) == ("refused", None)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_is_unreadable(tmp_path: Path) -> None:
    call = write_call(tmp_path, events=[STARTED], trace=[])
    (call / "trace.jsonl").chmod(0)
    artifact = open_files(call, LIMITS).artifacts["trace.jsonl"]
    assert (artifact.status, artifact.reason) == ("unreadable", "Permission denied")


def test_a_read_error_is_unreadable_and_names_no_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = write_call(tmp_path, events=[STARTED], trace=[])
    real = os.open

    def failing(path: str, *args: int, **kwargs: int) -> int:
        if path == "trace.jsonl":
            raise OSError(5, "Input/output error", str(call / path))
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", failing)
    artifact = open_files(call, LIMITS).artifacts["trace.jsonl"]
    assert (artifact.status, artifact.reason) == ("unreadable", "Input/output error")


def test_large_files_are_mapped_and_hashed_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "MAPPED_BYTES", 100)
    call = write_call(tmp_path, events=[STARTED] * 9, flow={"a": 1}, files={"audio/caller.wav": wav(0.1)})
    files = open_files(call, LIMITS)
    ledger = files.artifacts["bus_events.jsonl"]
    assert isinstance(ledger.data, memoryview) and ledger.sha256 is None
    assert isinstance(files.artifacts["flow.json"].data, bytes)
    start_hashing(files)()
    for name in ("bus_events.jsonl", "state_trace.jsonl", "audio/caller.wav"):
        assert files.artifacts[name].sha256 == hashlib.sha256((call / name).read_bytes()).hexdigest()
    assert start_hashing(files)() is None  # nothing left to do


def test_audio_that_vanishes_is_unreadable(tmp_path: Path) -> None:
    call = write_call(tmp_path, events=[STARTED], files={"audio/caller.wav": wav(0.1)})
    files = open_files(call, LIMITS)
    (call / "audio/caller.wav").unlink()
    start_hashing(files)()
    artifact = files.artifacts["audio/caller.wav"]
    assert (artifact.status, artifact.reason) == ("unreadable", "No such file or directory")


def test_recordings_are_listed_and_others_below_audio_are_only_found(tmp_path: Path) -> None:
    tracks = {"audio/caller.wav": wav(0.1), "audio/x.flac": b"", "audio/takes/agent.wav": wav(0.1)}
    call = write_call(tmp_path, events=[STARTED], audio_manifest={}, files=tracks)
    (call / "audio/agent.wav").symlink_to("caller.wav")
    files = open_files(call, LIMITS)
    assert list(files.audio) == ["audio/caller.wav", "audio/takes/agent.wav", "audio/x.flac"]
    assert files.audio["audio/caller.wav"] == str(call.resolve() / "audio/caller.wav")
    listed = {name: item.status for name, item in files.artifacts.items() if name.endswith(".wav")}
    assert listed == {"audio/agent.wav": "refused", "audio/caller.wav": "read"}


def test_the_call_itself_may_be_a_link(tmp_path: Path) -> None:
    call = write_call(tmp_path, events=[STARTED])
    (tmp_path / "latest").symlink_to(call)
    assert open_files(tmp_path / "latest", LIMITS).ledgers == ["state_trace.jsonl", "bus_events.jsonl"]


def test_a_lone_turns_file_is_a_call(tmp_path: Path) -> None:
    call = write_call(tmp_path, turns=[{"turn_index": 0}], manifest=manifest())
    (tmp_path / "gz").mkdir()
    packed = tmp_path / "gz" / "turns.jsonl.gz"
    packed.write_bytes(gzip.compress(b'{"turn_index": 0}\n'))
    for path in (call / "turns.jsonl", packed):
        files = open_files(path, LIMITS)
        assert pick(files, "turns.jsonl").data == b'{"turn_index": 0}\n'
        assert not files.ledgers
        assert files.artifacts["manifest.json"].status == "missing"
    assert open_files(call, LIMITS).artifacts["manifest.json"].status == "read"
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "turns.jsonl").symlink_to(packed)
    assert open_files(tmp_path / "link" / "turns.jsonl", LIMITS).artifacts["turns.jsonl"].status == "read"


def test_an_empty_ledger_is_an_event_source(tmp_path: Path) -> None:
    assert open_files(write_call(tmp_path, events=[]), LIMITS).artifacts["bus_events.jsonl"].data == b""


def test_no_event_source(tmp_path: Path) -> None:
    call = write_call(tmp_path, flow=flow(), live=[])
    (call / "bus_events.jsonl").symlink_to("/etc/hostname")
    for path in (call, tmp_path / "nowhere", Path("a\0b")):
        assert refused(path).code == "NO_EVENT_SOURCE"
    assert "bus_events.jsonl is a symbolic link" in refused(call).message
    assert refused(call).details["sources"]["turns.jsonl"] == "not in the call"


@pytest.mark.parametrize("name", ["bus_events.jsonl", "notes.txt", "call.zip", "call.tar.gz", "caller.wav"])
def test_another_kind_of_file_is_unsupported(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(wav(0.1) if name.endswith("wav") else b'{"seq": 1}\n')
    assert refused(tmp_path / name).code == "UNSUPPORTED_ARTIFACT"


def test_a_pipe_as_the_call_is_unsupported(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "turns.jsonl")
    assert refused(tmp_path / "turns.jsonl").code == "UNSUPPORTED_ARTIFACT"


def test_a_call_folder_can_be_read_only(tmp_path: Path) -> None:
    call = write_call(tmp_path, events=[STARTED], live=[])
    before = tree(call)
    for path in (call, call / "transcripts"):
        path.chmod(0o555)
    try:
        open_files(call, LIMITS)
    finally:
        for path in (call, call / "transcripts"):
            path.chmod(0o755)
    assert tree(call) == before
