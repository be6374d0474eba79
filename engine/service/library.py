"""Where a client's calls come from: one path, or a folder of calls (contract 3.2, 3.5)."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from engine.hydrate.call import Call
from engine.model.calls import CallRow
from engine.model.errors import EngineError
from engine.workspace.columncache import ColumnCache
from engine.workspace.discovery import signature

if TYPE_CHECKING:
    from engine.workspace.store import Store


class Library(Protocol):
    """Gives calls by session id, and lists them."""

    def call(self, session_id: str | None) -> Call:
        """The call of a session.

        Raises:
            EngineError: ``UNKNOWN_SESSION``, ``AMBIGUOUS_LINK``; ``BAD_ARGUMENT`` where it has to be named;
                what opening it raises.
        """

    def rows(self) -> list[CallRow]:
        """Every call, the newest first.

        Raises:
            EngineError: ``BAD_ARGUMENT`` where there is no folder of calls; what listing it raises.
        """


class _NoFolder:
    """What a library is that stands for no folder of calls."""

    def rows(self) -> list[CallRow]:
        """None."""
        message = "there is no folder of calls: name one with --calls"
        raise EngineError("BAD_ARGUMENT", message, argument="calls")


class Opened(_NoFolder):
    """A library of one call that is open already."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def call(self, session_id: str | None) -> Call:
        """The call, where it is named right."""
        if session_id != self._call.session_id:
            if session_id is None:
                raise _unnamed()
            raise _unknown(session_id)
        return self._call


class OnePath(_NoFolder):
    """The sessions of one path, opened when they are asked for."""

    def __init__(self, path: Path, cache: ColumnCache | None = None) -> None:
        self._path = path
        self._cache = ColumnCache() if cache is None else cache
        self._open: dict[str | None, Call] = {}

    def only(self, session_id: str | None = None) -> Call:
        """The call of a session, or the only one there is.

        Raises:
            EngineError: As `open_call`.
        """
        if session_id not in self._open:
            call = self._cache.open(self._path, session=session_id)
            self._cache.keep_beside()
            self._open[session_id] = self._open[call.session_id] = call
        return self._open[session_id]

    def call(self, session_id: str | None) -> Call:
        """The call that a request names; without a name only one that has none."""
        try:
            return Opened(self.only(session_id)).call(session_id)
        except EngineError as error:
            if error.code == "UNKNOWN_SESSION" and session_id is not None:
                raise _unknown(session_id) from None
            raise


class Beside:
    """A library of one call that was named, and of the folder that further calls are asked of."""

    def __init__(self, named: Library, folder: Folder) -> None:
        self._named = named
        self._folder = folder

    def call(self, session_id: str | None) -> Call:
        """The named call, else one of the folder."""
        try:
            return self._named.call(session_id)
        except EngineError as error:
            if error.code != "UNKNOWN_SESSION":
                raise
            return self._folder.call(session_id)

    def rows(self) -> list[CallRow]:
        """The calls of the folder."""
        return self._folder.rows()


class Nothing(_NoFolder):
    """No calls at all: for actions that need none."""

    def call(self, session_id: str | None) -> Call:
        """None."""
        raise EngineError("BAD_ARGUMENT", "name the call", argument="call")


KEPT = 4
"""Calls that a folder keeps open."""


class _Kept(NamedTuple):
    """A call that is open, and the signature of its files from before it was read."""

    path: str
    signature: str | None
    call: Call


class Folder:
    """The calls below a folder. Safe with several threads; a call that has changed is opened anew."""

    def __init__(self, store: Store, cache: ColumnCache | None = None) -> None:
        self._store = store
        self._cache = ColumnCache() if cache is None else cache
        self._open: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def call(self, session_id: str | None) -> Call:
        """The call of a session; of those asked for last some stay open."""
        if session_id is None:
            raise _unnamed()
        with self._lock:
            kept = self._open.get(session_id)
            if kept is None or kept.signature != signature(self._store.root, kept.path):
                kept = self._open[session_id] = self._opened(session_id)
                if len(self._open) > KEPT:
                    self._open.popitem(last=False)
            self._open.move_to_end(session_id)
            return kept.call

    def _opened(self, session_id: str) -> _Kept:
        row = self._store.find(session_id)
        if row.error is not None:
            raise EngineError(row.error.code, row.error.message)
        before = signature(self._store.root, row.path)
        call = self._cache.open(self._store.root / row.path, session=session_id)
        self._cache.keep_beside()
        return _Kept(row.path, before, call)

    def rows(self) -> list[CallRow]:
        """Every call, the newest first."""
        with self._lock:
            return self._store.rows()


def _unknown(session_id: str) -> EngineError:
    return EngineError("UNKNOWN_SESSION", "no call of that session is here", session=session_id[:200])


def _unnamed() -> EngineError:
    return EngineError("BAD_ARGUMENT", "name the session_id", argument="session_id")
