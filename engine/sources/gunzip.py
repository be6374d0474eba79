"""Decompression that counts what really comes out, and stops at the limit (contract 1.9)."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import NamedTuple

from engine.model.errors import EngineError
from engine.model.limits import Limits

_CHUNK = 1 << 20
_GZIP = 31
"""zlib's window size for a gzip header and trailer."""
CUT = "the gzip data ends early"


class Budget:
    """How many decompressed bytes one call may still cost, over all its files."""

    def __init__(self, limits: Limits) -> None:
        self.maximum = limits.archive_bytes
        self.spent = 0

    def spend(self, count: int) -> None:
        """Count decompressed bytes.

        Raises:
            EngineError: ``LIMIT_EXCEEDED`` (``archive_bytes``).
        """
        self.spent += count
        if self.spent > self.maximum:
            raise too_large(self.maximum)


def too_large(maximum: int) -> EngineError:
    """The error of an archive, or of gzip'd files, that expands past `maximum` bytes."""
    return EngineError(
        "LIMIT_EXCEEDED",
        f"the call expands past {maximum} bytes",
        limit="archive_bytes",
        maximum=maximum,
    )


class Unpacked(NamedTuple):
    """What came out of a gzip'd file.

    Attributes:
        data: All of it, or what stands before the place where the file was cut off.
        cut: It was cut off.
    """

    data: bytes
    cut: bool


def gunzip(stored: bytes | memoryview, budget: Budget) -> Unpacked:
    """All members of a gzip'd file, one after the other.

    Raises:
        ValueError: it is damaged, or ends before anything came out; the message names no path.
        EngineError: ``LIMIT_EXCEEDED`` (``archive_bytes``).
    """
    made: list[bytes] = []
    try:
        made.extend(_chunks(memoryview(stored), budget))
    except EOFError:
        if not any(made):
            raise ValueError(CUT) from None
        return Unpacked(b"".join(made), True)
    return Unpacked(b"".join(made), False)


def _chunks(stored: memoryview, budget: Budget) -> Iterator[bytes]:
    at = 0
    while True:
        inflater = zlib.decompressobj(_GZIP)
        while not inflater.eof:
            given = inflater.unconsumed_tail
            if not given:
                given = bytes(stored[at : at + _CHUNK])
                at += len(given)
            try:
                made = inflater.decompress(given, _CHUNK)
            except zlib.error:
                raise ValueError("damaged gzip data") from None
            if not given and not made:
                raise EOFError
            budget.spend(len(made))
            yield made
        at -= len(inflater.unused_data)
        while at < len(stored) and stored[at] == 0:  # zeros that pad a file are no member
            at += 1
        if at >= len(stored):
            return
