"""Which folders and archives below a folder are calls, and whether one has changed (contract 3.6)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from engine.canonical import sha256
from engine.model.errors import EngineError
from engine.sources.contents import is_event_source

_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
_DEEPEST = 32


class Found(NamedTuple):
    """One call below a folder.

    Attributes:
        path: Below the folder, with slashes; ``.`` for the folder itself.
        signature: Changes with the size, the modification time or the identity of any of its files.
    """

    path: str
    signature: str


def discover(root: Path) -> list[Found]:
    """Every call below a folder, sorted by path; links are not followed, and nothing lies within a call.

    Raises:
        EngineError: ``NO_EVENT_SOURCE`` where the folder is not there or can't be read.
    """
    try:
        with os.scandir(root):
            pass
    except OSError as problem:
        message = f"{root} is no folder of calls: {os.strerror(problem.errno or 0)}"
        raise EngineError("NO_EVENT_SOURCE", message) from None
    return sorted(_below(root, "", 0))


def signature(root: Path, path: str) -> str | None:
    """The signature of one call that `discover` found; None where it is gone."""
    whole = root / path
    try:
        if stat.S_ISDIR(whole.lstat().st_mode):
            return _signature(_files(whole, "", 0))
    except OSError:
        return None
    return _signature([(whole.name, str(whole))])


def _below(folder: Path, prefix: str, depth: int) -> Iterator[Found]:
    entries = _entries(folder)
    if any(_speaks(entry) for entry in entries):
        yield Found(prefix.rstrip("/") or ".", _signature(_files(folder, "", 0)))
        return
    for entry in entries:
        path = prefix + entry.name
        if entry.is_dir(follow_symlinks=False) and depth < _DEEPEST:
            yield from _below(folder / entry.name, path + "/", depth + 1)
        elif entry.is_file(follow_symlinks=False) and entry.name.endswith(_ARCHIVES):
            yield Found(path, _signature([(entry.name, entry.path)]))


def is_call(path: Path) -> bool:
    """Whether a path is a call as `discover` takes them: a folder of one, or an archive."""
    if os.path.isdir(path):
        return any(_speaks(entry) for entry in _entries(path))
    return path.name.endswith(_ARCHIVES) and os.path.exists(path)


def _speaks(entry: os.DirEntry[str]) -> bool:
    """Whether a file makes its folder a call, if only one that lost its events."""
    named = is_event_source(entry.name) or entry.name == "manifest.json"
    return named and entry.is_file(follow_symlinks=False)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """What a folder holds, by name; nothing where it can't be read."""
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []


def _files(folder: Path, prefix: str, depth: int) -> Iterator[tuple[str, str]]:
    """Every file below a folder: its name from there, and its path."""
    for entry in _entries(folder):
        if entry.is_dir(follow_symlinks=False) and depth < _DEEPEST:
            yield from _files(folder / entry.name, f"{prefix}{entry.name}/", depth + 1)
        else:
            yield prefix + entry.name, entry.path


def _signature(files: Iterable[tuple[str, str]]) -> str:
    told = []
    for name, path in files:
        try:
            state = os.lstat(path)
        except OSError:
            told.append(f"{name}\0gone")  # it went while we looked
            continue
        kind = stat.S_IFMT(state.st_mode)
        told.append(f"{name}\0{kind}\0{state.st_size}\0{state.st_mtime_ns}\0{state.st_ino}\0{state.st_dev}")
    return sha256("\n".join(told).encode("utf-8", "surrogateescape"))
