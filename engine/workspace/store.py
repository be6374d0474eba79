"""An index of the calls below a folder, in SQLite: what is unchanged is not hydrated again (contract 3.6).

A row is trusted by the size, modification time and identity of its files, and by the revision of the engine
that made it. A file that is damaged, or of another version, is thrown away and made anew: nothing in it can't
be read from the calls.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from platformdirs import user_cache_path

from engine.hydrate.hashes import HYDRATION_REVISION
from engine.model.calls import CallRow, newest_first
from engine.model.errors import EngineError
from engine.workspace.discovery import discover
from engine.workspace.examine import examine

MIGRATIONS = (
    """
    CREATE TABLE calls (
        root BLOB NOT NULL, path BLOB NOT NULL, number INTEGER NOT NULL,
        signature TEXT NOT NULL, revision INTEGER NOT NULL, row BLOB NOT NULL,
        PRIMARY KEY (root, path, number)
    ) WITHOUT ROWID
    """,
)
"""One step from each version of the file to the next."""
BUSY_SECONDS = 10.0
_decode = msgspec.json.Decoder(CallRow).decode
_encode = msgspec.json.Encoder(order="sorted").encode
Examine = Callable[[Path, str], list[CallRow]]
Cancelled = Callable[[], bool]
Progress = Callable[[int, int], object]


def index_path() -> Path:
    """Where the index lies without a say: in the user's cache directory."""
    return user_cache_path("riff-tui", appauthor=False) / "calls.sqlite"


class Store:
    """The calls below one folder. Any number of processes may use one index at a time.

    Args:
        root: The folder; nothing below it is ever written.
        index: The index file; `index_path` without one.
        examine: Reads one call; hydrates it.
        verify: Trust no row of the index: hydrate every call.
    """

    def __init__(
        self, root: Path, index: Path | None = None, examine: Examine = examine, verify: bool = False
    ) -> None:
        self.root = root
        self._index = index_path() if index is None else index
        self._examine = examine
        self._verify = verify

    def rows(self, *, cancelled: Cancelled | None = None, progress: Progress | None = None) -> list[CallRow]:
        """Every call, the newest first; those that are new or have changed are hydrated now.

        Args:
            cancelled: Asked between calls whether to give up.
            progress: Told how many calls of how many are known, when one was hydrated.

        Raises:
            EngineError: ``NO_EVENT_SOURCE`` where the folder can't be read; ``STORE_BUSY`` where another
                process holds the index for too long; ``CANCELLED``.
        """
        try:
            return self._rows(cancelled, progress)
        except sqlite3.OperationalError as problem:
            if problem.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise EngineError("STORE_BUSY", "another process holds the index of calls") from None
            self._throw_away()
        except sqlite3.DatabaseError:
            self._throw_away()
        try:
            return self._rows(cancelled, progress)
        except sqlite3.DatabaseError:  # there is no room, or what is damaged can't be thrown away
            return self._rows(cancelled, progress, nowhere=True)

    def _rows(
        self, cancelled: Cancelled | None, progress: Progress | None, nowhere: bool = False
    ) -> list[CallRow]:
        found = discover(self.root)
        root = os.fsencode(self.root.resolve())
        with self._opened(nowhere) as index:
            known = _Known(index, root)
            for path in known.paths() - {call.path for call in found}:
                known.forget(path)
            rows: list[CallRow] = []
            for number, call in enumerate(found, 1):
                if cancelled is not None and cancelled():
                    raise EngineError("CANCELLED", "listing the calls was cancelled")
                kept = None if self._verify else known.rows(call.path, call.signature)
                if kept is None:
                    kept = self._examine(self.root, call.path)
                    known.keep(call.path, call.signature, kept)
                    if progress is not None:
                        progress(number, len(found))
                rows += kept
        return newest_first(rows)

    def find(self, session_id: str) -> CallRow:
        """The call of a session.

        Raises:
            EngineError: ``UNKNOWN_SESSION``; ``AMBIGUOUS_LINK`` where several calls are of that session.
        """
        found = [row for row in self.rows() if row.session_id == session_id]
        if not found:
            raise EngineError("UNKNOWN_SESSION", "no call of that session is here", session=session_id[:200])
        if len(found) > 1:
            paths = [row.path for row in found[:20]]
            raise EngineError("AMBIGUOUS_LINK", f"{len(found)} calls are of that session", paths=paths)
        return found[0]

    @contextlib.contextmanager
    def _opened(self, nowhere: bool) -> Iterator[sqlite3.Connection]:
        index = _in_memory() if nowhere else self._connect()
        try:
            yield index
        finally:
            index.close()

    def _connect(self) -> sqlite3.Connection:
        """The index, migrated; one in memory where there is no place to write."""
        try:
            self._index.parent.mkdir(parents=True, exist_ok=True)
            index = sqlite3.connect(self._index, timeout=BUSY_SECONDS, isolation_level=None)
        except (OSError, sqlite3.OperationalError):
            return _in_memory()
        try:
            _migrate(index)
        except sqlite3.OperationalError as problem:
            index.close()
            if problem.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
                raise
            return _in_memory()
        except BaseException:
            index.close()
            raise
        return index

    def _throw_away(self) -> None:
        for ending in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                os.unlink(f"{self._index}{ending}")


def _in_memory() -> sqlite3.Connection:
    """An index for where there is no place to write."""
    index = sqlite3.connect(":memory:", isolation_level=None)
    _migrate(index)
    return index


def _migrate(index: sqlite3.Connection) -> None:
    """Bring an index to the version of this engine.

    Raises:
        sqlite3.DatabaseError: It is no index, or one of a later version.
    """
    index.execute("PRAGMA journal_mode = WAL")
    index.execute("PRAGMA synchronous = NORMAL")
    (version,) = index.execute("PRAGMA user_version").fetchone()
    if version == len(MIGRATIONS):
        return
    if version > len(MIGRATIONS):
        raise sqlite3.DatabaseError("the index is of a later version")
    index.execute("BEGIN IMMEDIATE")
    try:
        (version,) = index.execute("PRAGMA user_version").fetchone()
        for number in range(version, len(MIGRATIONS)):
            index.execute(MIGRATIONS[number])
            index.execute(f"PRAGMA user_version = {number + 1}")
        index.execute("COMMIT")
    except BaseException:
        if index.in_transaction:
            index.execute("ROLLBACK")
        raise


class _Known:
    """What an index says of the calls below one folder."""

    def __init__(self, index: sqlite3.Connection, root: bytes) -> None:
        self._index = index
        self._root = root

    def paths(self) -> set[str]:
        found = self._index.execute("SELECT DISTINCT path FROM calls WHERE root = ?", (self._root,))
        return {os.fsdecode(path) for (path,) in found}

    def rows(self, path: str, signature: str) -> list[CallRow] | None:
        """The rows of a call that has not changed since, or None."""
        found = self._index.execute(
            "SELECT row FROM calls WHERE root = ? AND path = ? AND signature = ? AND revision = ?"
            " ORDER BY number",
            (self._root, os.fsencode(path), signature, HYDRATION_REVISION),
        ).fetchall()
        try:
            return [_decode(row) for (row,) in found] or None
        except (msgspec.DecodeError, TypeError):
            return None

    def keep(self, path: str, signature: str, rows: list[CallRow]) -> None:
        self._index.execute("BEGIN IMMEDIATE")
        self._index.execute("DELETE FROM calls WHERE root = ? AND path = ?", (self._root, os.fsencode(path)))
        self._index.executemany(
            "INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?)",
            [
                (self._root, os.fsencode(path), number, signature, HYDRATION_REVISION, _encode(row))
                for number, row in enumerate(rows)
            ],
        )
        self._index.execute("COMMIT")

    def forget(self, path: str) -> None:
        self._index.execute("DELETE FROM calls WHERE root = ? AND path = ?", (self._root, os.fsencode(path)))
