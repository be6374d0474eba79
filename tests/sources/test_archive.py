"""A call in a zip or tar archive: same answers as its folder, and what is refused (contract 1, 1.9)."""

from __future__ import annotations

import gzip
import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.model.errors import EngineError
from engine.model.limits import LIMITS, Limits
from engine.sources.files import CallFiles
from engine.sources.folder import open_files
from engine.sources.hashing import start_hashing
from tests.calls import flow, lines, row, wav, write_call

ROWS = lines([row(1, "session_started", 0, initial_state="menu")]).encode()
CALL = {"bus_events.jsonl": ROWS}
Make = Callable[[Path, dict[str, bytes]], Path]


def as_zip(where: Path, members: dict[str, bytes]) -> Path:
    path = where / "made.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def _tar(path: Path, mode: str, members: dict[str, bytes]) -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def as_tar(where: Path, members: dict[str, bytes]) -> Path:
    return _tar(where / "made.tar", "w", members)


def as_tgz(where: Path, members: dict[str, bytes]) -> Path:
    return _tar(where / "made.tar.gz", "w:gz", members)


MAKERS = pytest.mark.parametrize("make", [as_zip, as_tar, as_tgz])


def refused(path: Path, limits: Limits = LIMITS) -> EngineError:
    with pytest.raises(EngineError) as caught:
        open_files(path, limits)
    return caught.value


def found(files: CallFiles) -> list[tuple[object, ...]]:
    start_hashing(files)()
    return [
        (item.name, item.status, item.reason, item.sha256, None if item.data is None else bytes(item.data))
        for item in files.artifacts.values()
    ]


@MAKERS
@pytest.mark.parametrize("prefix", ["", "v3-pm-0001/", "./", "calls/2026/a call/"])
def test_an_archive_answers_as_its_folder_does(tmp_path: Path, make: Make, prefix: str) -> None:
    call = write_call(
        tmp_path,
        events=[row(1, "session_started", 0)],
        flow=flow(),
        live=[{"text": "hello"}],
        audio_manifest={"tracks": []},
        files={
            "audio/caller.wav": wav(0.1),
            "state_trace.1.jsonl.gz": gzip.compress(ROWS, mtime=0),
            "expected.json": b"{}",
        },
    )
    members = {
        prefix + str(path.relative_to(call)): path.read_bytes() for path in call.rglob("*") if path.is_file()
    }
    from_folder, from_archive = open_files(call, LIMITS), open_files(make(tmp_path, members), LIMITS)
    assert found(from_archive) == found(from_folder)
    assert from_archive.ledgers == from_folder.ledgers
    assert list(from_archive.audio) == list(from_folder.audio)


@MAKERS
def test_audio_is_copied_out_when_asked_for(tmp_path: Path, make: Make) -> None:
    tracks = {"audio/caller.wav": wav(0.1), "audio/takes/x.flac": b"flac"}
    files = open_files(make(tmp_path, CALL | tracks), LIMITS)
    path = files.audio["audio/takes/x.flac"]
    folder = Path(path).parent
    assert Path(path).read_bytes() == b"flac"
    assert [item.name for item in folder.iterdir()] == [Path(path).name]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert Path(files.audio["audio/caller.wav"]).read_bytes() == wav(0.1)
    assert files.audio["audio/takes/x.flac"] == path
    with pytest.raises(KeyError):
        files.audio["audio/none.wav"]
    del files
    assert not folder.exists()


@MAKERS
def test_an_archive_that_changed_gives_no_copy(tmp_path: Path, make: Make) -> None:
    files = open_files(make(tmp_path, CALL | {"audio/caller.wav": b"one"}), LIMITS)
    path = make(tmp_path, CALL | {"audio/caller.wav": b"two"})
    with pytest.raises(OSError, match="changed"):
        files.audio["audio/caller.wav"]
    path.write_bytes(b"PK gone")
    with pytest.raises(OSError, match="damaged"):
        files.audio["audio/caller.wav"]


@MAKERS
@pytest.mark.parametrize(
    "name",
    [
        "../bus_events.jsonl",
        "call/../../bus_events.jsonl",
        "/etc/passwd",
        "..\\evil",
        "call\\..\\..\\evil",
        "\\\\server\\share",
        "C:\\evil",
        "c:evil",
        "..",
    ],
)
def test_a_path_that_leaves_the_archive_refuses_it_whole(tmp_path: Path, make: Make, name: str) -> None:
    error = refused(make(tmp_path, CALL | {name: b"x"}))
    assert (error.code, error.details["limit"]) == ("LIMIT_EXCEEDED", "archive_path")


@MAKERS
def test_a_path_that_turns_inside_is_read_where_it_ends(tmp_path: Path, make: Make) -> None:
    files = open_files(
        make(tmp_path, {"a/../bus_events.jsonl": ROWS, "transcripts\\live.jsonl": b""}), LIMITS
    )
    assert files.ledgers == ["bus_events.jsonl"]
    assert files.artifacts["transcripts/live.jsonl"].status == "read"


@MAKERS
def test_what_comes_out_is_counted(tmp_path: Path, make: Make) -> None:
    path = make(tmp_path, CALL | {"notes.bin": bytes(3_000_000)})
    error = refused(path, Limits(archive_bytes=2_000_000))
    assert (error.code, error.details["limit"]) == ("LIMIT_EXCEEDED", "archive_bytes")
    open_files(path, LIMITS)


@MAKERS
def test_gzip_inside_an_archive_is_counted_too(tmp_path: Path, make: Make) -> None:
    path = make(tmp_path, CALL | {"trace.jsonl.gz": gzip.compress(bytes(3_000_000))})
    error = refused(path, Limits(archive_bytes=2_000_000))
    assert (error.code, error.details["limit"]) == ("LIMIT_EXCEEDED", "archive_bytes")


@MAKERS
def test_members_are_counted(tmp_path: Path, make: Make) -> None:
    path = make(tmp_path, CALL | {f"x{number}": b"" for number in range(10)})
    error = refused(path, Limits(archive_members=10))
    assert (error.code, error.details["limit"]) == ("LIMIT_EXCEEDED", "archive_members")
    open_files(path, Limits(archive_members=11))


def test_a_zip_that_declares_too_little_gives_no_more_than_that(tmp_path: Path) -> None:
    path = as_zip(tmp_path, CALL | {"trace.jsonl": bytes(1_000_000)})
    size = (1_000_000).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(size, (10).to_bytes(4, "little")))
    artifact = open_files(path, Limits(archive_bytes=100_000)).artifacts["trace.jsonl"]
    assert (artifact.status, artifact.reason) == ("unreadable", "damaged in the archive")


def test_a_damaged_member_of_a_zip_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "made.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("bus_events.jsonl", ROWS)
        archive.writestr("trace.jsonl", b"some bytes of a trace")
    path.write_bytes(path.read_bytes().replace(b"bytes of", b"bytes OF"))
    files = open_files(path, LIMITS)
    assert files.artifacts["trace.jsonl"].status == "unreadable"
    assert files.artifacts["bus_events.jsonl"].status == "read"


@MAKERS
def test_several_calls_are_named(tmp_path: Path, make: Make) -> None:
    error = refused(make(tmp_path, {"one/bus_events.jsonl": ROWS, "two/turns.jsonl": b""}))
    assert (error.code, error.details["calls"]) == ("UNSUPPORTED_ARTIFACT", ["one", "two"])


@MAKERS
def test_no_call_inside(tmp_path: Path, make: Make) -> None:
    assert refused(make(tmp_path, {"flow.json": b"{}"})).code == "NO_EVENT_SOURCE"


@MAKERS
def test_what_the_mac_adds_is_left_out(tmp_path: Path, make: Make) -> None:
    extra = {
        "__MACOSX/call/._bus_events.jsonl": b"\0",
        "call/bus_events.jsonl": ROWS,
        "call/.DS_Store": b"\0",
    }
    assert open_files(make(tmp_path, extra), LIMITS).ledgers == ["bus_events.jsonl"]


@MAKERS
@pytest.mark.parametrize("kept", [0.3, 0.6, 0.95])
def test_an_archive_cut_short_is_unsupported(tmp_path: Path, make: Make, kept: float) -> None:
    path = make(tmp_path, {"bus_events.jsonl": ROWS, "trace.jsonl": os.urandom(30_000)})
    data = path.read_bytes()
    # A tar ends with empty blocks, which may be cut without harm.
    whole = 512 * 2 + 512 + 30_720 if path.suffix == ".tar" else len(data)
    path.write_bytes(data[: int(whole * kept)])
    assert refused(path).code == "UNSUPPORTED_ARTIFACT"


def test_a_damaged_tar_header_is_not_taken_for_the_end(tmp_path: Path) -> None:
    path = as_tar(tmp_path, {"bus_events.jsonl": ROWS, "trace.jsonl": b"x"})
    data = bytearray(path.read_bytes())
    at = data.index(b"trace.jsonl")
    data[at] ^= 1
    path.write_bytes(data)
    assert refused(path).code == "UNSUPPORTED_ARTIFACT"


def test_a_huge_extended_tar_header_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "made.tar"
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 2**31
    path.write_bytes(info.tobuf(tarfile.GNU_FORMAT) + bytes(2048))
    assert refused(path).code == "UNSUPPORTED_ARTIFACT"


def test_an_encrypted_zip_is_unsupported(tmp_path: Path) -> None:
    path = as_zip(tmp_path, CALL)
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    path.write_bytes(data)
    error = refused(path)
    assert (error.code, error.message) == ("UNSUPPORTED_ARTIFACT", "the archive is encrypted")


def test_a_zip_of_another_compression_is_unsupported(tmp_path: Path) -> None:
    path = tmp_path / "made.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("bus_events.jsonl", ROWS)
    assert refused(path).code == "UNSUPPORTED_ARTIFACT"


def test_links_and_devices_in_a_tar_are_refused_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "made.tgz"
    kinds = {
        "trace.jsonl": (tarfile.SYMTYPE, "a symbolic link"),
        "flow.json": (tarfile.LNKTYPE, "a hard link"),
        "turns.jsonl": (tarfile.FIFOTYPE, "a named pipe"),
        "manifest.json": (tarfile.CHRTYPE, "a device"),
        "state_trace.jsonl": (tarfile.DIRTYPE, "a folder"),
        "audio": (tarfile.SYMTYPE, ""),
    }
    with tarfile.open(path, "w:gz") as archive:
        for name, (kind, _) in kinds.items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        for name, data in (CALL | {"audio/caller.wav": wav(0.1), "audio/manifest.json": b"{}"}).items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    files = open_files(path, LIMITS)
    assert files.ledgers == ["bus_events.jsonl"]
    for name, (_, reason) in kinds.items():
        if reason:
            assert (files.artifacts[name].status, files.artifacts[name].reason) == ("refused", reason)
    for name in ("audio/caller.wav", "audio/manifest.json"):
        assert files.artifacts[name].reason == "audio is a symbolic link"
    assert not files.audio


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    path = as_zip(tmp_path, CALL)
    info = zipfile.ZipInfo("trace.jsonl")
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(info, "/etc/passwd")
    artifact = open_files(path, LIMITS).artifacts["trace.jsonl"]
    assert (artifact.status, artifact.reason, artifact.data) == ("refused", "a symbolic link", None)


@MAKERS
def test_the_later_member_of_one_name_stands(tmp_path: Path, make: Make) -> None:
    path = make(tmp_path, {"./bus_events.jsonl": b"{}\n", "bus_events.jsonl": ROWS})
    assert open_files(path, LIMITS).artifacts["bus_events.jsonl"].data == ROWS
