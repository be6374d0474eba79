"""Hydrated columns, kept on disk by source hash and mapped when the same call is opened again (contract 3.6).

A call is trusted by the path, size, modification time and inode of its files. What can't be read, or is of
another version, is thrown away: everything in the cache can be made anew from the calls.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from platformdirs import user_cache_path

from engine.canonical import sha256
from engine.hydrate.call import Call
from engine.hydrate.kept.call import Unfit, keep, restore
from engine.hydrate.pipeline import open_call
from engine.model.errors import EngineError
from engine.model.limits import SETTINGS, Settings
from engine.workspace import columnfile
from engine.workspace.discovery import signature

KEPT_FROM = 50_000
"""Events from which on a call is kept: a shorter one is hydrated as fast as its files are looked through."""
MOST_BYTES = 2 << 30
"""What the cache may hold; the calls that were opened longest ago make room."""
_ABANDONED = 3600.0
"""Seconds after which nobody writes on at a file that was begun."""
_COLUMNS, _PLACE = ".columns", ".place"


class _Place(msgspec.Struct, frozen=True):
    """Which columns are those of a path.

    Attributes:
        path: Of the call, as the system has it.
        signature: Of its files when they were read.
        columns: Name of the column file: the hash of all that the columns are a function of.
    """

    path: bytes
    signature: str
    columns: str


class ColumnCache:
    """Opens calls, from their columns where those are kept. Any number of processes may share one folder.

    Args:
        folder: Where columns are kept; in the user's cache directory without a say.
        verify: Trust no signature: hash the files of a call again.
        most: What the folder may hold, in bytes.
    """

    def __init__(self, folder: Path | None = None, verify: bool = False, most: int = MOST_BYTES) -> None:
        self._folder = user_cache_path("riff-tui", appauthor=False) / "columns" if folder is None else folder
        self._verify = verify
        self._most = most
        self._waiting: list[tuple[Path, str, Call]] = []
        self._lock = threading.Lock()

    def open(
        self,
        path: Path,
        *,
        session: str | None = None,
        reveal: bool = False,
        settings: Settings = SETTINGS,
        progress: Callable[[str, float], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Call:
        """As `open_call`, which see for arguments and errors.

        What is hydrated here is kept when `keep_waiting` is called.
        """
        before = None
        if os.path.isdir(path):  # also False for what is no path, or may not be looked at
            real = Path(os.path.realpath(path))
            before = signature(real, ".")
        if before is not None:
            found = self._kept(path, real, before, reveal, settings)
            if found is not None and session in (None, found.session_id):
                return found
        call = open_call(
            path, session=session, reveal=reveal, settings=settings, progress=progress, cancelled=cancelled
        )
        if before is not None and call.event_count >= KEPT_FROM and not call.parts.turns_only:
            with self._lock:
                self._waiting.append((real, before, call))
        return call

    def keep_waiting(self) -> None:
        """Write the columns of calls that were hydrated; where there is no room they are not kept."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for real, before, call in waiting:
            if signature(real, ".") == before:  # else it may have been read half before and half after
                with contextlib.suppress(OSError, UnicodeEncodeError):  # no room; a file's name is no text
                    self._keep(real, before, call)

    def keep_beside(self) -> None:
        """The same in a thread of its own, which the process waits for at its end."""
        if self._waiting:
            threading.Thread(target=self.keep_waiting, name="riff-keep").start()

    # What is kept.

    def _place_of(self, real: Path, reveal: bool, settings: Settings) -> Path:
        options = msgspec.json.encode((reveal, settings))
        return self._folder / (sha256(os.fsencode(real) + b"\0" + options).removeprefix("sha256:") + _PLACE)

    def _kept(self, path: Path, real: Path, before: str, reveal: bool, settings: Settings) -> Call | None:
        """The call from its columns, where they are kept and it has not changed since."""
        where = self._place_of(real, reveal, settings)
        place = _read(where)
        if place is None or not (self._verify or place.signature == before):
            return None
        columns = self._folder / (place.columns + _COLUMNS)
        try:
            call = restore(path, columnfile.read(columns), settings, reveal, self._verify)
            if signature(real, ".") != before:
                return None
        except (OSError, columnfile.Damaged, Unfit):
            _remove(columns)
            _remove(where)
            return None
        except EngineError:
            return None  # the files are no longer what they were: who reads them says it
        with contextlib.suppress(OSError):
            os.utime(columns)
        return call

    def _keep(self, real: Path, before: str, call: Call) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = call.artifact_hash.removeprefix("sha256:")
        columns = self._folder / (name + _COLUMNS)
        columnfile.write(columns, keep(call))
        where = self._place_of(real, call.reveal, call.parts.settings)
        with columnfile.in_place_of(where) as file:
            file.write(msgspec.msgpack.encode(_Place(os.fsencode(real), before, name)))
        self._make_room(columns)

    def _make_room(self, newest: Path) -> None:
        """Remove what is left over, columns of calls that are gone, then those opened longest ago."""
        for path in self._files(columnfile.PARTIAL):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > _ABANDONED:
                    path.unlink()
        places = [(path, _read(path)) for path in self._files(_PLACE)]
        for path, place in places:
            if place is None or not os.path.lexists(place.path):
                _remove(path)
        wanted = {place.columns for path, place in places if place is not None and os.path.lexists(path)}
        sizes: list[tuple[float, int, Path]] = []
        for path in self._files(_COLUMNS):
            with contextlib.suppress(OSError):
                state = path.stat()
                if path != newest and path.stem not in wanted:
                    _remove(path)
                else:
                    sizes.append((state.st_mtime, state.st_size, path))
        total = sum(size for _, size, _ in sizes)
        for _, size, path in sorted(sizes):
            if total <= self._most or path == newest:
                continue
            _remove(path)
            total -= size

    def _files(self, suffix: str) -> Iterator[Path]:
        return (path for path in sorted(self._folder.iterdir()) if path.suffix == suffix)


def _read(where: Path) -> _Place | None:
    try:
        return msgspec.msgpack.decode(where.read_bytes(), type=_Place)
    except (OSError, msgspec.DecodeError):
        return None


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
