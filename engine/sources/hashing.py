"""Digests of large files, taken beside the parsing (hashlib lets other threads run)."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable

from engine.sources.files import Artifact, CallFiles

_CHUNK = 1 << 20


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


def start_hashing(files: CallFiles) -> Callable[[], None]:
    """Begin to hash what `open_files` left out: large files and audio.

    Returns:
        A function that waits and fills in `Artifact.sha256`. An audio file that can't be read becomes
        ``unreadable`` then. Until it is called, nothing in `files` changes.
    """
    waiting = [
        artifact for artifact in files.artifacts.values() if artifact.status == "read" and not artifact.sha256
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


def _digest(artifact: Artifact, files: CallFiles) -> str:
    if artifact.data is not None:
        return hashlib.sha256(artifact.data).hexdigest()
    return hash_file(files.audio[artifact.name])
