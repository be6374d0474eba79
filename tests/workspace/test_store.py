"""The index of calls: what it lists, what it trusts, and what it survives (contract 3.3, 3.6)."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.hydrate.pipeline import open_call
from engine.model.calls import CallRow
from engine.model.errors import EngineError
from engine.service.library import Folder
from engine.workspace.discovery import discover
from engine.workspace.examine import examine
from engine.workspace.store import MIGRATIONS, Store, _Known
from tests.calls import row, write_call

SAMPLES = Path(__file__).parents[2] / "sample_artifacts"


class Counted:
    """`examine`, and which calls it read."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def __call__(self, root: Path, path: str) -> list[CallRow]:
        self.read.append(path)
        return examine(root, path)


def started(name: str, at: float | None, where: Path) -> Path:
    event = row(1, "session_started", 0, initial_state="menu", session_id=name, ts=at)
    return write_call(where, events=[event], name=name)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "calls"
    for name in ("property-menu", "legacy-ring"):
        shutil.copytree(SAMPLES / name, root / "2026" / name)
    return root


def test_the_newest_call_comes_first_by_what_was_recorded(root: Path, tmp_path: Path) -> None:
    for name, at in (("b", 1_900_000_000.0), ("a", 1_900_000_000.0), ("unknown", None)):
        started(name, at, root)
    os.utime(root / "unknown" / "bus_events.jsonl", (4e9, 4e9))
    rows = Store(root, tmp_path / "index").rows()
    assert [one.path for one in rows] == ["a", "b", "2026/property-menu", "2026/legacy-ring", "unknown"]
    assert rows[2].started_at == "2026-07-10T14:02:11Z"


def test_a_row_says_what_the_call_is(root: Path, tmp_path: Path) -> None:
    (found,) = [one for one in Store(root, tmp_path / "index").rows() if one.path == "2026/property-menu"]
    assert (found.session_id, found.completeness, found.findings) == (
        "v3:pm-0001", "complete", {"TRANSCRIPT_DISAGREEMENT": 1},
    )  # fmt: skip
    assert found.artifact_hash is not None
    assert found.error is None


def test_what_is_unchanged_is_read_once(root: Path, tmp_path: Path) -> None:
    counted = Counted()
    first = Store(root, tmp_path / "index", counted).rows()
    assert Store(root, tmp_path / "index", counted).rows() == first
    assert len(counted.read) == 2
    with (root / "2026" / "legacy-ring" / "turns.jsonl").open("a") as file:
        file.write("\n")
    Store(root, tmp_path / "index", counted).rows()
    assert counted.read[2:] == ["2026/legacy-ring"]
    Store(root, tmp_path / "index", counted, verify=True).rows()
    assert len(counted.read) == 5
    shutil.rmtree(root / "2026" / "legacy-ring")
    assert [one.path for one in Store(root, tmp_path / "index", counted).rows()] == ["2026/property-menu"]


def test_a_call_that_fails_is_a_row(root: Path, tmp_path: Path) -> None:
    (root / "broken.zip").write_bytes(b"no zip")
    (root / "lost").mkdir()
    (root / "lost" / "manifest.json").write_text("{}")
    errors = {one.path: one.error.code for one in Store(root, tmp_path / "index").rows() if one.error}
    assert errors == {"broken.zip": "UNSUPPORTED_ARTIFACT", "lost": "NO_EVENT_SOURCE"}


def test_turns_of_several_sessions_are_a_row_each(tmp_path: Path) -> None:
    turns = [
        {"turn_index": 0, "session_id": name, "from_state": "a", "to_state": "b"} for name in ("one", "two")
    ]
    (tmp_path / "calls").mkdir()
    write_call(tmp_path / "calls", turns=turns, name="web")
    rows = Store(tmp_path / "calls", tmp_path / "index").rows()
    assert [(one.path, one.session_id, one.error) for one in rows] == [
        ("web", "one", None),
        ("web", "two", None),
    ]


def test_every_session_of_a_long_file_of_turns_is_listed(tmp_path: Path) -> None:
    ids = [f"eval:{number:04}" for number in range(1_001)]
    turns = [{"turn_index": 0, "session_id": name, "from_state": "a", "to_state": "b"} for name in ids]
    (tmp_path / "calls").mkdir()
    call = write_call(tmp_path / "calls", turns=turns)
    rows = Store(tmp_path / "calls", tmp_path / "calls.sqlite").rows()
    assert sorted(str(row.session_id) for row in rows) == ids
    chosen = next(row for row in rows if row.session_id == ids[-1])
    assert chosen.artifact_hash == open_call(call, session=ids[-1]).artifact_hash


def test_two_calls_of_one_session_are_never_guessed_between(root: Path, tmp_path: Path) -> None:
    store = Store(root, tmp_path / "index")
    assert store.find("v3:pm-0001").path == "2026/property-menu"
    shutil.copytree(root / "2026" / "property-menu", root / "copy")
    with pytest.raises(EngineError) as refused:
        store.find("v3:pm-0001")
    assert (refused.value.code, refused.value.details["paths"]) == (
        "AMBIGUOUS_LINK", ["2026/property-menu", "copy"],
    )  # fmt: skip
    with pytest.raises(EngineError, match="no call of that session"):
        store.find("nobody")


@pytest.mark.parametrize("damage", ["text", "later", "rows", "empty"])
def test_an_index_that_is_not_good_is_made_anew(root: Path, tmp_path: Path, damage: str) -> None:
    index = tmp_path / "index"
    first = Store(root, index).rows()
    if damage in ("text", "empty"):
        index.write_bytes(b"this is no index" * 1000 if damage == "text" else b"")
    else:
        with sqlite3.connect(index) as db:
            wrong = (
                f"PRAGMA user_version = {len(MIGRATIONS) + 1}"
                if damage == "later"
                else "UPDATE calls SET row = 'x'"
            )
            db.execute(wrong)
        db.close()
    counted = Counted()
    assert Store(root, index, counted).rows() == first
    assert len(counted.read) == 2


def test_without_a_place_to_write_every_call_is_read(root: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert len(Store(root, tmp_path / "file" / "index").rows()) == 2


def test_where_the_index_has_no_room_every_call_is_read(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = Store(root, tmp_path / "good").rows()
    kept = _Known.keep

    def full(self: _Known, *rest: Any) -> None:
        if self._index.execute("PRAGMA database_list").fetchone()[2]:
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR
            raise error
        kept(self, *rest)

    monkeypatch.setattr(_Known, "keep", full)
    assert Store(root, tmp_path / "full").rows() == wanted


def test_an_index_that_is_held_is_busy(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.workspace.store.BUSY_SECONDS", 0.05)
    Store(root, tmp_path / "index").rows()
    holder = sqlite3.connect(tmp_path / "index", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    shutil.copytree(root / "2026" / "property-menu", root / "copy")
    with pytest.raises(EngineError) as refused:
        Store(root, tmp_path / "index").rows()
    assert refused.value.code == "STORE_BUSY"
    holder.execute("ROLLBACK")
    holder.close()
    assert len(Store(root, tmp_path / "index").rows()) == 3


def test_several_processes_use_one_index(root: Path, tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from engine.workspace.store import Store\n"
        "print(len(Store(Path(sys.argv[1]), Path(sys.argv[2])).rows()))"
    )
    words = [sys.executable, "-c", script, str(root), str(tmp_path / "index")]
    running = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert [one.communicate()[0] for one in running] == ["2\n"] * 4


def test_links_are_not_followed_and_nothing_lies_within_a_call(root: Path, tmp_path: Path) -> None:
    (root / "loop").symlink_to(root, target_is_directory=True)
    shutil.copytree(SAMPLES / "property-menu", root / "2026" / "legacy-ring" / "audio" / "inner")
    assert [one.path for one in discover(root)] == ["2026/legacy-ring", "2026/property-menu"]
    assert [one.path for one in discover(SAMPLES / "property-menu")] == ["."]
    with pytest.raises(EngineError) as refused:
        discover(tmp_path / "nowhere")
    assert refused.value.code == "NO_EVENT_SOURCE"


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems take UTF-8 names only")
def test_a_name_that_is_no_utf8_is_a_row(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root / "2026" / "legacy-ring", root / os.fsdecode(b"caf\xe9"))
    rows = {one.path: one.error for one in Store(root, tmp_path / "index").rows()}
    error = rows["caf\ufffd"]
    assert error is not None
    assert error.code == "UNSUPPORTED_ARTIFACT"


def test_listing_can_be_cancelled(root: Path, tmp_path: Path) -> None:
    with pytest.raises(EngineError) as refused:
        Store(root, tmp_path / "index").rows(cancelled=lambda: True)
    assert refused.value.code == "CANCELLED"


def test_a_call_that_changes_is_opened_anew(root: Path, tmp_path: Path) -> None:
    folder = Folder(Store(root, tmp_path / "index"))
    first = folder.call("v3:pm-0001")
    assert folder.call("v3:pm-0001") is first
    with (root / "2026" / "property-menu" / "bus_events.jsonl").open("a") as file:
        file.write("no event\n")
    again = folder.call("v3:pm-0001")
    assert again is not first
    assert again.artifact_hash != first.artifact_hash
    shutil.rmtree(root / "2026" / "property-menu")
    with pytest.raises(EngineError) as refused:
        folder.call("v3:pm-0001")
    assert refused.value.code == "UNKNOWN_SESSION"
