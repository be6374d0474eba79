"""Kept columns: what comes back answers as what was kept, and nothing doubtful is believed (contract 3.6)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from engine.canonical import fingerprint
from engine.hydrate.call import Call
from engine.hydrate.document import artifact_bytes
from engine.hydrate.kept import call as kept
from engine.hydrate.kept.sections import document
from engine.hydrate.pipeline import open_call
from engine.model.errors import EngineError
from engine.model.limits import SETTINGS
from engine.service.dispatcher import answer
from engine.service.library import Opened
from engine.workspace import columncache, columnfile
from engine.workspace.columncache import ColumnCache
from tests.calls import NO_FILE, Rows, row, write_call
from tests.debug.test_properties import odd_calls
from tests.hydrate.made import MadeCall, edges, made_calls
from tests.service.asked import request
from tests.service.test_every_action import GOOD

SAMPLES = Path(__file__).parents[2] / "sample_artifacts"
few = settings(max_examples=40, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(autouse=True)
def short_calls_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columncache, "KEPT_FROM", 0)


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLES / "property-menu", tmp_path / "call"))


def restored(path: Path, folder: Path) -> Call:
    """A call that went through the disk."""
    columnfile.write(folder / "x", kept.keep(open_call(path)))
    return kept.restore(path, columnfile.read(folder / "x"), SETTINGS, False)


class Watched:
    """A cache, and how often a call was hydrated through it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
        self.folder = folder
        self.options = options
        self.hydrated = 0

        def counted(*args: Any, **named: Any) -> Call:
            self.hydrated += 1
            return open_call(*args, **named)

        monkeypatch.setattr(columncache, "open_call", counted)

    def open(self, path: Path, **options: Any) -> Call:
        """The call; kept for the next time."""
        cache = ColumnCache(self.folder, **self.options)
        call = cache.open(path, **options)
        cache.keep_waiting()
        return call


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(tmp_path / "columns", monkeypatch)


# What comes back is what was kept.


@given(made=made_calls())
@few
def test_a_restored_call_has_the_same_artifact(
    tmp_path_factory: pytest.TempPathFactory, made: MadeCall
) -> None:
    folder = tmp_path_factory.mktemp("made")
    path = write_call(folder, events=made.rows, flow=edges())
    assert artifact_bytes(restored(path, folder)) == artifact_bytes(open_call(path))


@given(files=odd_calls())
@few
def test_an_odd_call_too(tmp_path_factory: pytest.TempPathFactory, files: dict[str, Rows]) -> None:
    folder = tmp_path_factory.mktemp("odd")
    path = write_call(folder, **files, flow=edges())  # type: ignore[arg-type]
    assert artifact_bytes(restored(path, folder)) == artifact_bytes(open_call(path))


ROUGH: dict[str, list[dict[str, Any] | str]] = {
    "a broken line": [row(1, "session_started", 0, initial_state="a"), "{", row(2, "note", 1)],
    "a row without seq": ['{"type":"note","clock_ms":5}', row(1, "state_entered", 0, state_id="a")],
    "unlisted and mended": [row(1, "strange", 0, deep={"x": [1.0, None]}), row(2, "slot_write", 1, slot=3)],
    "large and small numbers": [
        row(1, "slot_write", 0, slot="x", old=10**30, new=1.0, kind="k", writer="w"),
        row(2, "slot_write", 1, slot="x", old=-0.0, new={"b": 1, "a": [True]}, kind="k", writer="w"),
    ],
    "rows of one seq": [row(1, "note", 0, a=1), row(1, "note", 0, a=2), row(1, "barge_in", 0)],
    "a gap": [row(3, "state_entered", 0, state_id="a"), row(9, "state_exited", 5, state_id="a")],
    "nothing but a note": [row(1, "note", 0)],
}


@pytest.mark.parametrize("rows", ROUGH.values(), ids=ROUGH)
@pytest.mark.parametrize("durable", [None, NO_FILE])
def test_a_rough_call_too(tmp_path: Path, rows: Rows, durable: Any) -> None:
    path = write_call(tmp_path, events=rows, durable=durable)
    assert artifact_bytes(restored(path, tmp_path)) == artifact_bytes(open_call(path))


@pytest.mark.parametrize("name", ["property-menu", "consent-restart", "legacy-ring"])
def test_a_restored_sample_has_the_same_artifact(tmp_path: Path, name: str) -> None:
    assert artifact_bytes(restored(SAMPLES / name, tmp_path)) == artifact_bytes(open_call(SAMPLES / name))


@pytest.mark.parametrize(("action", "cursor", "args"), GOOD)
def test_a_restored_call_answers_every_action_alike(
    tmp_path_factory: pytest.TempPathFactory, action: str, cursor: Any, args: dict[str, Any]
) -> None:
    path = SAMPLES / "property-menu"
    again, fresh = restored(path, tmp_path_factory.mktemp("kept")), open_call(path)
    asked = msgspec.json.encode(request(action, fresh.session_id, cursor, **args))
    assert answer(asked, Opened(again)).document == answer(asked, Opened(fresh)).document


# It is opened from there as long as nothing has changed.


def test_an_unchanged_call_is_hydrated_once(sample: Path, cache: Watched) -> None:
    first, second = cache.open(sample), cache.open(sample)
    assert cache.hydrated == 1
    assert artifact_bytes(second) == artifact_bytes(first)


def test_what_is_asked_otherwise_is_hydrated_too(sample: Path, cache: Watched) -> None:
    cache.open(sample)
    revealed = cache.open(sample, reveal=True)
    assert cache.hydrated == 2
    assert revealed.artifact_hash != open_call(sample).artifact_hash
    cache.open(sample, settings=msgspec.structs.replace(SETTINGS, clock_tolerance_ms=1.0))
    assert cache.hydrated == 3
    with pytest.raises(EngineError, match="this call is of session"):
        cache.open(sample, session="another")
    assert artifact_bytes(cache.open(sample, reveal=True)) == artifact_bytes(revealed)
    assert cache.hydrated == 4


def test_a_link_to_a_call_is_that_call(sample: Path, cache: Watched) -> None:
    cache.open(sample)
    (sample.parent / "link").symlink_to(sample)
    cache.open(sample.parent / "link")
    assert cache.hydrated == 1


def grown(call: Path) -> None:
    with (call / "bus_events.jsonl").open("a") as ledger:
        ledger.write('{"seq":90000,"type":"note"}\n')


def touched(call: Path) -> None:
    os.utime(call / "flow.json", (1, 1))


def joined(call: Path) -> None:
    (call / "trace.jsonl").write_text("")


def replaced(call: Path) -> None:
    """Another file of the same size and time."""
    flow = call / "flow.json"
    state = flow.stat()
    shutil.copy(flow, call / "new")
    os.utime(call / "new", ns=(state.st_atime_ns, state.st_mtime_ns))
    os.replace(call / "new", flow)


def gone(call: Path) -> None:
    (call / "flow.json").unlink()


@pytest.mark.parametrize("change", [grown, touched, joined, replaced, gone])
def test_a_call_that_changed_is_hydrated_anew(
    sample: Path, cache: Watched, change: Callable[[Path], None]
) -> None:
    cache.open(sample)
    change(sample)
    assert artifact_bytes(cache.open(sample)) == artifact_bytes(open_call(sample))
    assert cache.hydrated == 2


def rewritten(call: Path) -> None:
    """Other bytes in the same file, of the same size, that deny it."""
    ledger = call / "state_trace.jsonl"
    state, text = ledger.stat(), ledger.read_bytes()
    with ledger.open("r+b") as file:
        file.write(text.replace(b'"menu"', b'"MENU"'))
    os.utime(ledger, ns=(state.st_atime_ns, state.st_mtime_ns))


def test_verify_finds_what_size_time_and_inode_hide(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Watched(tmp_path / "columns", monkeypatch, verify=True)
    cache.open(sample)
    cache.open(sample)
    assert cache.hydrated == 1
    rewritten(sample)
    assert artifact_bytes(cache.open(sample)) == artifact_bytes(open_call(sample))
    assert cache.hydrated == 2


def test_verify_knows_a_call_that_was_only_touched(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Watched(tmp_path / "columns", monkeypatch, verify=True)
    cache.open(sample)
    touched(sample)
    cache.open(sample)
    assert cache.hydrated == 1


@pytest.mark.parametrize("path", ["nowhere", "a\0b", "x" * 5000])
def test_what_is_no_call_has_its_own_error(tmp_path: Path, cache: Watched, path: str) -> None:
    with pytest.raises(EngineError) as refused:
        cache.open(tmp_path / path)
    assert refused.value.code == "NO_EVENT_SOURCE"


# Nothing damaged or foreign is believed.


def columns_of(cache: Watched) -> Path:
    (found,) = cache.folder.glob("*.columns")
    return found


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def emptied(file: Path) -> None:
    os.truncate(file, 0)


def foreign(file: Path) -> None:
    file.write_bytes(b"SQLite format 3\0" * 100)


def removed(file: Path) -> None:
    file.unlink()


def linked(file: Path) -> None:
    file.rename(file.with_suffix(".elsewhere"))
    file.symlink_to(file.with_suffix(".elsewhere"))


def later_form(file: Path) -> None:
    octets = bytearray(file.read_bytes())
    octets[8] += 1
    file.write_bytes(octets)


def without_a_section(file: Path) -> None:
    sections = dict(columnfile.read(file))
    del sections["visit_of"]
    columnfile.write(file, sections)


def documents_swapped(file: Path) -> None:
    sections = dict(columnfile.read(file))
    sections["call"], sections["slots"] = sections["slots"], sections["call"]
    columnfile.write(file, sections)


DAMAGES = [cut, emptied, foreign, removed, linked, later_form, without_a_section, documents_swapped]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_columns_are_thrown_away(
    sample: Path, cache: Watched, damage: Callable[[Path], None]
) -> None:
    cache.open(sample)
    damage(columns_of(cache))
    assert artifact_bytes(cache.open(sample)) == artifact_bytes(open_call(sample))
    assert cache.hydrated == 2
    cache.open(sample)
    assert cache.hydrated == 2


def test_one_wrong_byte_anywhere_is_seen(sample: Path, cache: Watched) -> None:
    cache.open(sample)
    file = columns_of(cache)
    whole, used = file.read_bytes(), 0
    for at in range(0, len(whole), 97):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :])
        try:
            found = columnfile.read(file)
        except columnfile.Damaged:
            continue
        used += 1  # a byte between two sections: it belongs to none
        assert found.keys() == kept.keep(open_call(sample)).keys()
    assert used < len(whole) / 97 / 2


@pytest.mark.parametrize(
    ("what", "becomes"),
    [
        ("FORM", 999),
        ("HYDRATION_REVISION", 999),
        ("__version__", "9.9"),
        ("ALL_KINDS", ("note",)),
        ("CODED", {}),
    ],
)
def test_columns_of_another_version_are_thrown_away(
    sample: Path, cache: Watched, monkeypatch: pytest.MonkeyPatch, what: str, becomes: Any
) -> None:
    cache.open(sample)
    monkeypatch.setattr(kept, what, becomes)
    cache.open(sample)
    cache.open(sample)
    assert cache.hydrated == 2


def test_the_form_is_raised_with_the_sections() -> None:
    """Change `FORM` with this hash: columns that an older engine kept must not be read as today's."""
    sections = kept.keep(open_call(SAMPLES / "property-menu"))
    told = {name: one.dtype.str if isinstance(one, np.ndarray) else None for name, one in sections.items()}
    documents = [sorted(document(sections, name, dict)) for name in ("call", "ledger", "slots")]
    assert fingerprint([kept.FORM, told, documents]) == (
        "sha256:076ef1362d0e5df2b03a595b2a5c82a032b7b3984e1d1fd63c04a5b8ab8741b9"
    )


def test_a_damaged_place_is_not_believed(sample: Path, cache: Watched) -> None:
    cache.open(sample)
    (place,) = cache.folder.glob("*.place")
    place.write_bytes(b"\xff")
    cache.open(sample)
    assert cache.hydrated == 2


# The cache stays within its bounds, and out of the way.


def test_what_is_kept_is_its_owners_alone(sample: Path, cache: Watched) -> None:
    cache.open(sample)
    assert cache.folder.stat().st_mode & 0o077 == 0
    assert all(file.stat().st_mode & 0o077 == 0 for file in cache.folder.iterdir())


def test_the_call_opened_longest_ago_makes_room(
    tmp_path: Path, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Path(shutil.copytree(SAMPLES / "consent-restart", tmp_path / "other"))
    cache = Watched(tmp_path / "columns", monkeypatch, most=1)
    cache.open(sample)
    assert len(list(cache.folder.glob("*.columns"))) == 1
    cache.open(other)
    assert len(list(cache.folder.glob("*.columns"))) == 1
    cache.open(other)
    assert cache.hydrated == 2


def test_columns_of_a_call_that_is_gone_are_removed(tmp_path: Path, sample: Path, cache: Watched) -> None:
    cache.open(sample)
    other = Path(shutil.copytree(SAMPLES / "consent-restart", tmp_path / "other"))
    shutil.rmtree(sample)
    abandoned = cache.folder / "x.partial"
    abandoned.write_bytes(b"")
    os.utime(abandoned, (1, 1))
    cache.open(other)
    assert sorted(file.suffix for file in cache.folder.iterdir()) == [".columns", ".place"]


def test_where_nothing_can_be_kept_calls_open_all_the_same(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    cache = Watched(tmp_path / "file" / "columns", monkeypatch)
    cache.open(sample)
    cache.open(sample)
    assert cache.hydrated == 2


def test_a_call_that_changes_while_it_is_read_is_not_kept(sample: Path, cache: Watched) -> None:
    opened = ColumnCache(cache.folder)
    opened.open(sample)
    grown(sample)
    opened.keep_waiting()
    assert not cache.folder.exists()


def test_short_calls_and_archives_are_not_kept(
    sample: Path, cache: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.make_archive(str(sample), "zip", sample)
    cache.open(sample.with_suffix(".zip"))
    monkeypatch.setattr(columncache, "KEPT_FROM", 50_000)
    cache.open(sample)
    assert not cache.folder.exists()


def test_the_call_folder_is_never_written(sample: Path, cache: Watched) -> None:
    before = sorted((path, path.stat().st_mtime_ns) for path in sample.rglob("*"))
    cache.open(sample)
    cache.open(sample)
    assert sorted((path, path.stat().st_mtime_ns) for path in sample.rglob("*")) == before


def test_several_at_once(sample: Path, cache: Watched) -> None:
    wanted, wrong = artifact_bytes(open_call(sample)), []

    def use() -> None:
        for _ in range(5):
            if artifact_bytes(cache.open(sample)) != wanted:
                wrong.append(True)

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert sorted(file.suffix for file in cache.folder.iterdir()) == [".columns", ".place"]


def test_the_command_line_keeps_and_uses_columns(sample: Path, tmp_path: Path) -> None:
    """A process keeps what it hydrated before it ends; the next one answers from it, with the same bytes."""
    code = (
        "import sys; from engine.workspace import columncache; columncache.KEPT_FROM = 0;"
        "from engine.service.cli import main; main(sys.argv[1:])"
    )
    words = ("step_into", str(sample), "--json")
    environment = dict(os.environ, HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path / "cache"))

    def run(*more: str) -> bytes:
        command = [sys.executable, "-c", code, *more, *words]
        return subprocess.run(command, env=environment, capture_output=True, check=True).stdout

    first = run()
    (columns,) = (tmp_path / "cache").rglob("*.columns")
    before = columns.stat().st_ino
    assert run() == first
    assert columns.stat().st_ino == before
    assert run("--verify") == first
