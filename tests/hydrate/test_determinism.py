"""The artifact is a pure function of the folder's bytes (contract 2)."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from engine.hydrate.document import artifact, artifact_bytes
from engine.hydrate.pipeline import open_call
from tests.calls import flow, row, write_call
from tests.hydrate.ask import committed, entered, exited, found, seeded, started, write

SAMPLES = Path(__file__).parents[2] / "sample_artifacts"
NAMES = ("consent-restart", "legacy-ring", "property-menu", "rough")


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of calls: the samples, and one in which many things are wrong."""
    where = tmp_path_factory.mktemp("calls")
    for name in NAMES[:-1]:
        shutil.copytree(SAMPLES / name, where / name)
    rough(where)
    return where


def rough(where: Path) -> Path:
    rows = [
        started(2, ts="2026-07-10T14:02:11.5+02:00"),
        seeded(3, {"ü": 1, "İ": "x", "a": {"b": [1, "<str:3>"]}}),
        entered(4, "menu", "menu#1"), write(5, "ü", 7, 8), write(5, "a", None, 1, state_id="bye"),
        row(6, "gemini_transcript", 900.5, text="İstanbul ı", input_id="i1"),
        row(7, "note", 10), row(7, "barge_in", 10),
        row(8, "transition_verdict", winner="menu:9", candidates=[{"to": "bye", "result": "matched"}]),
        exited(9, "menu", "bye"), write(11, "z", None, 1), entered(12, "bye"),
        committed(13, "menu", "away", 1), row(14, "note", visit_id="x#1"), row(15, "note", state_id="menu"),
    ]  # fmt: skip
    live, timed = (
        [{"row": at, "speaker": "caller", "text": text, "start_ms": 800, "input_id": name}
         for at, name in enumerate(["i1", "i2", None])]
        for text in ("İstanbul ı", "Istanbul it is")
    )  # fmt: skip
    odd = ['{"type": "note", "clock_ms": 950}', "not json", '{"seq": "7", "type": "note"}']
    return write_call(
        where, name="rough", events=[*rows, *odd], durable=[*reversed(rows[:9]), *odd], flow=flow(),
        live=live, timed=timed, trace=[{"row": 3, "seq": 9, "type": "suppressed", "node": "menu"}],
    )  # fmt: skip


def digests(where: Path) -> list[str]:
    return [sha256(artifact_bytes(open_call(where / name))).hexdigest() for name in NAMES]


SCRIPT = """
import hashlib, sys
from pathlib import Path
from engine.hydrate.document import artifact_bytes
from engine.hydrate.pipeline import open_call
for path in sys.argv[1:]:
    print(hashlib.sha256(artifact_bytes(open_call(Path(path)))).hexdigest())
"""
ELSEWHERE: dict[str, dict[str, str]] = {
    "one hash order": {"PYTHONHASHSEED": "0"},
    "another": {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "Pacific/Auckland"},
    "any": {"PYTHONHASHSEED": "random", "LC_ALL": "tr_TR.UTF-8", "TZ": "America/St_Johns", "LANG": "de_DE"},
    "no UTF-8": {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "LC_ALL": "POSIX", "TZ": "UTC"},
}


@pytest.mark.parametrize("where", ELSEWHERE)
def test_neither_hash_order_locale_nor_time_zone_takes_part(calls: Path, tmp_path: Path, where: str) -> None:
    command = [sys.executable, "-c", SCRIPT, *(str(calls / name) for name in NAMES)]
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(SAMPLES.parent)}
    printed = subprocess.check_output(command, env=environment | ELSEWHERE[where], cwd=tmp_path, text=True)
    assert printed.split() == digests(calls)


def test_the_command_writes_the_same_bytes(calls: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "engine.service.cli", "hydrate", "rough", "-o", str(tmp_path / "out")]
    environment = os.environ | {"PYTHONPATH": str(SAMPLES.parent), "PYTHONHASHSEED": "7"}
    subprocess.run(command, env=environment, cwd=calls, check=True, capture_output=True)
    assert (tmp_path / "out").read_bytes().strip() == artifact_bytes(open_call(calls / "rough"))


@pytest.mark.parametrize("name", NAMES)
def test_neither_place_nor_times_nor_order_of_the_files_takes_part(
    calls: Path, tmp_path: Path, name: str
) -> None:
    wanted = artifact_bytes(open_call(calls / name))
    other = tmp_path / "a folder" / "ünder" / "another name"
    files = sorted((path for path in (calls / name).rglob("*") if path.is_file()), reverse=True)
    for number, path in enumerate(files):
        copied = other / path.relative_to(calls / name)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copied)
        os.utime(copied, (number, number * 86_400))
    assert artifact_bytes(open_call(other)) == wanted
    assert artifact_bytes(open_call(Path(os.path.relpath(other)))) == wanted


def packed(folder: Path, where: Path) -> Iterator[Path]:
    """Archives of a folder: with and without the folder's own name in them, members in either order."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for number, (prefix, members) in enumerate([("", files), ("call/", files[::-1])]):
        zipped = where / f"{number}.zip"
        with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in members:
                archive.write(path, prefix + path.relative_to(folder).as_posix())
        yield zipped
        tarred = where / f"{number}.tar.gz"
        with tarfile.open(tarred, "w:gz") as tar:
            for path in members:
                tar.add(path, prefix + path.relative_to(folder).as_posix())
        yield tarred


@pytest.mark.parametrize("name", NAMES)
def test_an_archive_of_the_folder_is_the_same_call_to_the_byte(
    calls: Path, tmp_path: Path, name: str
) -> None:
    """`sources` too: each file is listed under its name in the call, with the hash of its own bytes."""
    wanted = artifact_bytes(open_call(calls / name))
    for path in packed(calls / name, tmp_path):
        assert artifact_bytes(open_call(path)) == wanted, path.name


def test_a_gzipped_ledger_is_the_same_call_but_for_its_name(calls: Path, tmp_path: Path) -> None:
    where = Path(shutil.copytree(calls / "rough", tmp_path / "rough"))
    plain = where / "state_trace.jsonl"
    (where / "state_trace.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    one, other = artifact(open_call(calls / "rough")), artifact(open_call(where))
    assert [visit["visit_id"] for visit in one["visits"]] == [visit["visit_id"] for visit in other["visits"]]
    assert [visit["exit_snapshot"] for visit in one["visits"]] == [
        visit["exit_snapshot"] for visit in other["visits"]
    ]


def test_hydrating_twice_in_one_process_gives_the_same(calls: Path) -> None:
    assert digests(calls) == digests(calls)


def test_the_rough_call_is_rough(calls: Path) -> None:
    """So that what is compared above holds conflicts, gaps, loose rows and derived clocks."""
    codes = {one.partition(":")[0] for one in found(open_call(calls / "rough"))}
    assert codes >= {
        "MALFORMED_LINE", "MALFORMED_EVENT", "EVENTS_MISSING", "FOLD_MISMATCH", "DUPLICATE_SEQ",
        "SOURCE_ROW_CONFLICT", "CONFLICTING_ATTRIBUTION", "CLOCK_REGRESSION", "TRANSCRIPT_DISAGREEMENT",
    }  # fmt: skip


def test_no_wall_clock_takes_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call = write_call(tmp_path, events=[started(1), row(2, "note")])
    before = artifact_bytes(open_call(call))
    monkeypatch.setattr("time.time", lambda: 0.0)
    assert artifact_bytes(open_call(call)) == before
