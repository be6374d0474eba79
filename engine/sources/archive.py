"""A call kept as one ``.zip``, ``.tar`` or ``.tar.gz``, read without unpacking it (contract 1, 1.9)."""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from engine.model.errors import EngineError
from engine.model.limits import Limits
from engine.sources import contents, paths
from engine.sources.contents import AUDIO_FOLDER, FOLDERS, Entry, Unread, assemble
from engine.sources.files import CallFiles
from engine.sources.gunzip import Budget
from engine.sources.members import Member, members

_WANTED = frozenset(PurePosixPath(name).name for name in contents.EXPECTED)


def open_archive(path: Path, limits: Limits) -> CallFiles:
    """Read the one call an archive holds, at its top or in one folder of it.

    Where two members have one path the later one stands, as it would after unpacking. Audio is hashed in
    passing and copied out only when its path is asked for (`Copies`).

    Raises:
        EngineError: ``LIMIT_EXCEEDED`` (``archive_bytes``; ``archive_members``; ``archive_path`` when a
            member's path leaves the archive); ``UNSUPPORTED_ARTIFACT`` for a damaged or encrypted archive,
            another kind of file, or several calls (``details.calls`` names them); ``NO_EVENT_SOURCE``.
        OSError: the file can't be opened.
    """
    budget = Budget(limits)
    seen = _Seen()
    with open(path, "rb") as file:
        for member in members(file, limits, budget):
            seen.add(member)
    root = seen.root()
    found = seen.below(root)
    stated = {
        name: seen.stated[f"{root}/{name}" if root else name]
        for name, entry in found.items()
        if entry.refused is None and name.startswith(AUDIO_FOLDER + "/") and name not in contents.DOCUMENTS
    }
    digests = {name: found[name].sha256 or "" for name in stated}
    return assemble(str(path), found, Copies(path, stated, digests, limits), budget)


class _Seen:
    """The members of an archive by path, as far as a call could need them."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.stated: dict[str, str] = {}
        self.others: dict[str, str] = {}
        """Paths of what is no regular file → what it is."""

    def add(self, member: Member) -> None:
        path = paths.resolve(member.name)
        if path is None:
            raise EngineError(
                "LIMIT_EXCEEDED",
                f"the archive holds a path that leaves it: {member.name!r}",
                limit="archive_path",
                member=member.name,
            )
        self.entries.pop(path, None)
        self.others.pop(path, None)
        if member.refused is not None:
            self.others[path] = member.refused
            self.entries[path] = contents.refused(member.refused)
        elif _is_wanted(path):
            self.stated[path] = member.name
            self.entries[path] = _read(member, keep=not _is_audio(path))

    def root(self) -> str:
        """The folder of the archive that is the call; "" for its top."""
        roots = sorted(
            {
                str(PurePosixPath(path).parent)
                for path in self.entries
                if contents.is_event_source(PurePosixPath(path).name)
            }
        )
        if not roots:
            message = "no event ledger and no turns.jsonl in the archive"
            raise EngineError("NO_EVENT_SOURCE", message)
        if len(roots) > 1:
            raise EngineError(
                "UNSUPPORTED_ARTIFACT",
                f"the archive holds several calls: {', '.join(roots)}; open one of them by itself",
                calls=roots,
            )
        return "" if roots[0] == "." else roots[0]

    def below(self, root: str) -> dict[str, Entry]:
        """Name inside the call → entry; what lies below a linked folder is refused with it."""
        prefix = root + "/" if root else ""
        found = {
            path.removeprefix(prefix): entry
            for path, entry in self.entries.items()
            if path.startswith(prefix) and path != prefix
        }
        for folder in FOLDERS:
            kind = self.others.get(prefix + folder, "a folder")
            if kind != "a folder":
                refused = contents.refused(f"{folder} is {kind}")
                names = {name for name in found if name.startswith(folder + "/")}
                names |= {name for name in contents.EXPECTED if name.startswith(folder + "/")}
                found |= dict.fromkeys(names, refused)
        return found


def _is_audio(path: str) -> bool:
    """Whether a path could be a recording: below a folder ``audio`` and no document."""
    parts = path.split("/")
    return AUDIO_FOLDER in parts[:-1] and parts[-1] != "manifest.json"


def _is_wanted(path: str) -> bool:
    base = path.rpartition("/")[2]
    return base.removesuffix(".gz") in _WANTED or contents.part_number(base) is not None or _is_audio(path)


def _read(member: Member, keep: bool) -> Entry:
    """Take a member's bytes, or only their digest."""
    digest = hashlib.sha256()
    kept: list[bytes] = []
    try:
        for chunk in member.chunks():
            digest.update(chunk)
            if keep:
                kept.append(chunk)
    except Unread as problem:
        return contents.refused(problem.reason, problem.status)
    data = b"".join(kept)
    return Entry(lambda: data, digest.hexdigest())


class Copies(Mapping[str, str]):
    """Name of an audio file inside the call → path of a private copy, made when it is first asked for.

    The copies lie in one temporary folder, which goes with this object or at exit.

    Raises:
        KeyError: the call holds no such file.
        OSError: on access, when the archive has changed or can't be read any more.
    """

    def __init__(
        self, archive: Path, stated: Mapping[str, str], digests: Mapping[str, str], limits: Limits
    ) -> None:
        self._archive = archive
        self._stated = dict(sorted(stated.items()))
        self._digests = digests
        self._limits = limits
        self._made: dict[str, str] = {}
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._stated)

    def __iter__(self) -> Iterator[str]:
        return iter(self._stated)

    def __contains__(self, name: object) -> bool:
        return name in self._stated

    def __getitem__(self, name: str) -> str:
        if name not in self._stated:
            raise KeyError(name)
        with self._lock:
            if name not in self._made:
                self._made[name] = self._copy(name)
            return self._made[name]

    def _copy(self, name: str) -> str:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="riff-audio-")
        # Numbered, so that no name of the archive becomes a path here.
        target = os.path.join(self._folder.name, f"{len(self._made)}.audio")
        try:
            digest = self._write(self._stated[name], target)
        except (EngineError, Unread) as problem:
            raise OSError(f"{name}: {problem}") from None
        if digest != self._digests[name]:
            raise OSError(f"{name}: the archive has changed since it was opened")
        return target

    def _write(self, stated: str, target: str) -> str:
        digest = ""
        with open(self._archive, "rb") as file:
            for member in members(file, self._limits, Budget(self._limits)):
                if member.name == stated and member.refused is None:  # the last of this name stands
                    hashed = hashlib.sha256()
                    with open(target, "wb") as copy:
                        for chunk in member.chunks():
                            hashed.update(chunk)
                            copy.write(chunk)
                    digest = hashed.hexdigest()
        return digest
