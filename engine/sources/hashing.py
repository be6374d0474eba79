"""Digests of large files, taken beside the parsing (hashlib lets other threads run)."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Collection

from engine.sources.files import Artifact, CallFiles
from engine.sources.mapping import mapping_of

_CHUNK = 1 << 20
_PIECE = 1 << 24
"""Of a file that is hashed while another thread works, which may keep this one waiting at each piece."""


def open_unlinked(path: str) -> int:
    """A file descriptor of a file that is not a symbolic link.

    Raises:
        OSError: it can't be opened, or has become a link.
    """
    return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)


def hash_file(path: str) -> str:
    """Hex SHA-256 of a file, read in pieces.

    Raises:
        OSError: it can't be read.
    """
    digest = hashlib.sha256()
    with os.fdopen(open_unlinked(path), "rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def start_hashing(files: CallFiles, leave_out: Collection[str] = ()) -> Callable[[], None]:
    """Begin to hash what `open_files` left out: large files and audio.

    Args:
        files: The call.
        leave_out: Files that something else hashes.

    Returns:
        A function that waits and fills in `Artifact.sha256`. An audio file that can't be read becomes
        ``unreadable`` then. Until it is called, nothing in `files` changes.
    """
    waiting = [
        artifact
        for artifact in files.artifacts.values()
        if artifact.status == "read" and not artifact.sha256 and artifact.name not in leave_out
    ]
    if not waiting:
        return lambda: None
    found: dict[str, str | OSError] = {}

    def work() -> None:
        for artifact in waiting:
            try:
                found[artifact.name] = _digest(artifact, files)
            except OSError as problem:
                found[artifact.name] = problem

    thread = threading.Thread(target=work, name="riff-hashing", daemon=True)
    thread.start()

    def finish() -> None:
        thread.join()
        for artifact in waiting:
            digest = found[artifact.name]
            if isinstance(digest, str):
                artifact.sha256 = digest
            else:
                artifact.status = "unreadable"
                artifact.reason = os.strerror(digest.errno) if digest.errno else "can't be read"

    return finish


def hash_open_file(descriptor: int, size: int) -> str:
    """Hex SHA-256 of a mapped file, read beside its mapping: no page of that comes into memory for it."""
    digest = hashlib.sha256()
    for at in range(0, size, _PIECE):
        digest.update(os.pread(descriptor, min(_PIECE, size - at), at))
    return digest.hexdigest()


def _digest(artifact: Artifact, files: CallFiles) -> str:
    if artifact.data is not None:
        mapped = mapping_of(artifact.data)
        if mapped is not None:
            return hash_open_file(mapped.descriptor, len(mapped))
        return hashlib.sha256(artifact.data).hexdigest()
    return hash_file(files.audio[artifact.name])
