"""A call as it lies on disk: a folder, a lone ``turns.jsonl``, or an archive (contract 1.1, 1.9).

Files are opened relative to their folder's descriptor and never through a link, so nothing that changes
between looking and opening can lead elsewhere. Nothing is written.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from engine.model.errors import EngineError
from engine.model.limits import LIMITS, Limits
from engine.sources import archive, contents
from engine.sources.contents import (
    AUDIO_FOLDER,
    DOCUMENTS,
    EXPECTED,
    FOLDERS,
    TURNS,
    Entry,
    Unread,
    assemble,
    is_named,
    not_a_file,
)
from engine.sources.files import CallFiles
from engine.sources.gunzip import Budget
from engine.sources.mapping import map_file

MAPPED_BYTES = 32 * 1024 * 1024
"""Files above this are mapped. A small one is copied: cut short while mapped, it would end the process."""
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_AUDIO_DEPTH = 8
"""How many folders below ``audio/`` a track may lie."""


def open_files(path: Path, limits: Limits = LIMITS) -> CallFiles:
    """Find and read the files of one call.

    Small files are hashed when this returns; `hashing.start_hashing` does the others.

    Args:
        path: A call folder, a file ``turns.jsonl`` (or ``turns.jsonl.gz``), or a ``.zip``, ``.tar`` or
            ``.tar.gz`` of one such folder. The path itself may be a symbolic link; nothing below it may.
        limits: What to refuse.

    Raises:
        EngineError: ``NO_EVENT_SOURCE`` when it is not there, can't be read, or holds neither a ledger nor
            turns; ``UNSUPPORTED_ARTIFACT`` when it is something else, or several calls; ``LIMIT_EXCEEDED``.
    """
    if "\0" in str(path):
        raise EngineError("NO_EVENT_SOURCE", "a path holds no NUL character")
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            return _open_folder(path, limits)
        kind = not_a_file(mode)
        if kind is not None:
            raise EngineError("UNSUPPORTED_ARTIFACT", f"{path} is {kind}, not a call folder or archive")
        if path.name in (TURNS, TURNS + ".gz"):
            return _open_turns(path, limits)
        return archive.open_archive(path, limits)
    except OSError as problem:
        reason = os.strerror(problem.errno) if problem.errno else "can't be read"
        raise EngineError("NO_EVENT_SOURCE", f"{path}: {reason}", path=str(path)) from None


def _open_folder(path: Path, limits: Limits) -> CallFiles:
    with ExitStack() as open_folders:
        root = os.open(path, _FOLDER)
        open_folders.callback(os.close, root)
        found = _entries(root, "")
        audio: dict[str, str] = {}
        for name in FOLDERS:
            inner = _subfolder(root, name)
            if isinstance(inner, int):
                open_folders.callback(os.close, inner)
                found |= _entries(inner, name + "/")
                if name == AUDIO_FOLDER:
                    audio = _audio(inner, path, limits)
            elif inner is not None:
                found |= {item: inner for item in EXPECTED if item.startswith(name + "/")}
        return assemble(str(path), found, audio, Budget(limits))


def _open_turns(path: Path, limits: Limits) -> CallFiles:
    with ExitStack() as open_folders:
        # The operator named this file, so a link is followed: its target is opened like a file of a folder.
        real = os.path.realpath(path)
        folder = os.open(os.path.dirname(real), _FOLDER)
        open_folders.callback(os.close, folder)
        entry = Entry(partial(_load, folder, os.path.basename(real)))
        return assemble(str(path), {path.name: entry}, {}, Budget(limits))


def _entries(folder: int, prefix: str) -> dict[str, Entry]:
    """Every file of one folder that the contract names."""
    names = (base for base in os.listdir(folder) if is_named(prefix + base))
    return {prefix + base: _entry(folder, base) for base in names}


def _entry(folder: int, base: str) -> Entry:
    try:
        kind = not_a_file(os.stat(base, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError as problem:
        return contents.refused(os.strerror(problem.errno or 0), "unreadable")
    return Entry(partial(_load, folder, base)) if kind is None else contents.refused(kind)


def _load(folder: int, base: str) -> bytes | memoryview:
    """The bytes of a regular file, as many as it had when it was opened."""
    try:
        with os.fdopen(os.open(base, _FILE, dir_fd=folder), "rb") as file:
            found = os.fstat(file.fileno())
            kind = not_a_file(found.st_mode)
            if kind is not None:
                raise Unread("refused", kind)
            if found.st_size > MAPPED_BYTES:
                return memoryview(map_file(file.fileno(), found.st_size))
            return file.read(found.st_size)
    except OSError as problem:
        if problem.errno == errno.ELOOP:
            raise Unread("refused", "a symbolic link") from None
        raise Unread("unreadable", os.strerror(problem.errno or 0)) from None


def _subfolder(root: int, name: str) -> int | Entry | None:
    """The descriptor of a folder of the call, an entry that says why not, or None when it is not there."""
    try:
        kind = not_a_file(os.stat(name, dir_fd=root, follow_symlinks=False).st_mode)
        if kind == "a symbolic link":
            return contents.refused(f"{name} is a symbolic link")
        return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=root)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        return contents.refused(f"{name}: {os.strerror(problem.errno or 0)}", "unreadable")


def _audio(folder: int, call: Path, limits: Limits) -> dict[str, str]:
    """Every regular file below ``audio/``: name inside the call → real path."""
    found: list[str] = []
    for place, folders, bases, inner in os.fwalk(".", dir_fd=folder, follow_symlinks=False):
        if place.count("/") >= _AUDIO_DEPTH:
            folders.clear()
        for base in bases:
            name = os.path.normpath(os.path.join(AUDIO_FOLDER, place, base))
            if name not in DOCUMENTS and _is_regular(inner, base):
                found.append(name)
        if len(found) > limits.archive_members:
            raise EngineError(
                "LIMIT_EXCEEDED",
                f"more than {limits.archive_members} files below audio/",
                limit="archive_members",
                maximum=limits.archive_members,
            )
    real = os.path.realpath(call)
    return {name: os.path.join(real, name) for name in sorted(found)}


def _is_regular(folder: int, base: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(base, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False
