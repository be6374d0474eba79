"""Sections in one file: written whole or not at all, checked whole before it is believed (contract 3.6).

A header, the sections, each on a boundary of 64 bytes, and an index of them in JSON. Everything has a CRC-32:
against a torn or rotten file, not against a forger, who could as well change what reads it.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.hydrate.kept.sections import Sections

_MAGIC = b"riffcols"
_HEADER = struct.Struct("<8sIIQQ")
"""Magic, form, CRC-32 of the index, where it begins, how long it is."""
_FORM = 1
_ALIGN = 64
PARTIAL = ".partial"
_NUMBERS = "biuf"
"""Kinds of numpy types that a section may have."""


class Damaged(Exception):
    """The file is not one that `write` made, or not all of it."""


class _Section(msgspec.Struct, frozen=True):
    """One section; ``type`` is None for a document."""

    name: str
    type: str | None
    begin: int
    length: int
    crc: int


def write(path: Path, sections: Sections) -> None:
    """Write a file, in the place of one that may be there.

    Raises:
        OSError: It can't be written. Nothing is left of it then.
    """
    with in_place_of(path) as file:
        file.write(bytes(_HEADER.size))
        listed = [_write(file, name, section) for name, section in sections.items()]
        index, begin = msgspec.json.encode(listed), file.tell()
        file.write(index)
        file.seek(0)
        file.write(_HEADER.pack(_MAGIC, _FORM, zlib.crc32(index), begin, len(index)))


@contextlib.contextmanager
def in_place_of(path: Path) -> Iterator[BinaryIO]:
    """A new file, only its owner's, that takes the place of an old one when all of it is written."""
    descriptor, name = tempfile.mkstemp(prefix=path.stem, suffix=PARTIAL, dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _write(file: BinaryIO, name: str, section: NDArray[Any] | memoryview) -> _Section:
    file.write(bytes(-file.tell() % _ALIGN))
    begin = file.tell()
    if isinstance(section, memoryview):
        octets, kind = section, None
    else:
        octets, kind = np.ascontiguousarray(section).view(np.uint8).data, section.dtype.str
    file.write(octets)
    return _Section(name, kind, begin, len(octets), zlib.crc32(octets))


def read(path: Path) -> Sections:
    """The sections of a file, mapped. They stay what they are, also when the file is removed.

    Raises:
        OSError: It can't be opened.
        Damaged: It is not as `write` made it.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        size = os.fstat(descriptor).st_size
        if size < _HEADER.size:
            raise Damaged("too short")
        mapped = memoryview(mmap.mmap(descriptor, size, access=mmap.ACCESS_READ))
    except ValueError as problem:  # a size of 0, or no regular file
        raise Damaged(str(problem)) from None
    finally:
        os.close(descriptor)
    magic, form, crc, begin, length = _HEADER.unpack(mapped[: _HEADER.size])
    index = mapped[begin : begin + length]
    if (magic, form) != (_MAGIC, _FORM) or len(index) != length or zlib.crc32(index) != crc:
        raise Damaged("no index")
    try:
        listed = msgspec.json.decode(index, type=list[_Section])
    except msgspec.DecodeError as problem:
        raise Damaged(str(problem)) from None
    return {section.name: _section(mapped, section) for section in listed}


def _section(mapped: memoryview, told: _Section) -> NDArray[Any] | memoryview:
    octets = mapped[told.begin : told.begin + told.length]
    if len(octets) != told.length or zlib.crc32(octets) != told.crc:
        raise Damaged(told.name)
    if told.type is None:
        return octets
    kind = np.dtype(told.type)
    if kind.kind not in _NUMBERS or told.length % kind.itemsize:
        raise Damaged(told.name)
    return np.frombuffer(octets, kind)
