"""Files that are written for the user: whole or not at all, and never into a call."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from engine.model.errors import EngineError
from engine.workspace.discovery import is_call


class Written(NamedTuple):
    """What was written: SHA-256 as ``sha256:<hex>``, and how many bytes."""

    sha256: str
    size: int


def refuse_inside(output: Path, call: Path, argument: str) -> None:
    """Refuse a place within a call, this one or any other: calls are never written.

    Raises:
        EngineError: ``BAD_ARGUMENT``.
    """
    target = output.resolve()
    if any(is_call(place) for place in (target, *target.parents)):
        raise EngineError(
            "BAD_ARGUMENT", "the output lies inside a call, which is never written", argument=argument
        )
    if call.is_dir() and (target == call.resolve() or call.resolve() in target.parents):
        message = "the output lies inside the call folder, which is never written"
        raise EngineError("BAD_ARGUMENT", message, argument=argument)
    if not call.is_dir() and target == call.resolve():
        raise EngineError("BAD_ARGUMENT", "the output is the call itself", argument=argument)


def write_whole(output: Path, chunks: Iterable[bytes], argument: str) -> Written:
    """Write a file and a last newline, so that it is there whole or not at all.

    Raises:
        EngineError: ``BAD_ARGUMENT`` where it can't be written.
    """
    if not output.name:
        raise EngineError("BAD_ARGUMENT", f"{output} names no file", argument=argument)
    partial = output.with_name(f".{output.name[:100]}.{secrets.token_hex(4)}.partial")
    digest, size = hashlib.sha256(), 0
    try:
        with partial.open("xb") as file:  # nobody's file, and no link to one
            for chunk in _ended(chunks):
                file.write(chunk)
                digest.update(chunk)
                size += len(chunk)
        partial.replace(output)
    except OSError as problem:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        message = f"{output} can't be written: {os.strerror(problem.errno or 0)}"
        raise EngineError("BAD_ARGUMENT", message, argument=argument) from None
    return Written(f"sha256:{digest.hexdigest()}", size)


def _ended(chunks: Iterable[bytes]) -> Iterable[bytes]:
    yield from chunks
    yield b"\n"
