"""What a zip or tar archive holds, member by member, in one pass, nothing unpacked (contract 1.9).

Sizes that an archive declares decide nothing: what comes out is counted, and a member that gives more or less
than declared is damaged.
"""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import BinaryIO, NamedTuple, Self

from engine.model.errors import EngineError
from engine.model.limits import Limits
from engine.sources.contents import Unread, not_a_file
from engine.sources.gunzip import Budget, too_large

CHUNK = 1 << 20
_HEADER_BYTES = 1 << 20
"""An extended tar header above this holds no path of a call; the library would take it into memory whole."""
_LONG_HEADERS = frozenset(
    {
        tarfile.XHDTYPE,
        tarfile.XGLTYPE,
        tarfile.SOLARIS_XHDTYPE,
        tarfile.GNUTYPE_LONGNAME,
        tarfile.GNUTYPE_LONGLINK,
    }
)
_BROKEN: tuple[type[Exception], ...] = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    OverflowError,
    RuntimeError,
)
"""What the standard readers raise over bytes that are no good archive."""


class Member(NamedTuple):
    """One member of an archive.

    Attributes:
        name: Its path as the archive states it.
        refused: What it is when it is no regular file ("a symbolic link", "a folder"), else None.
        chunks: Its bytes in pieces, to be taken before the next member is asked for. They raise `Unread`
            where only this member is damaged.
    """

    name: str
    refused: str | None
    chunks: Callable[[], Iterator[bytes]]


def members(file: BinaryIO, limits: Limits, budget: Budget) -> Iterator[Member]:
    """The members of an open archive, whichever kind it is.

    Raises:
        EngineError: ``UNSUPPORTED_ARTIFACT`` for bytes that are no zip, tar or gzip'd tar, for a damaged or
            encrypted archive; ``LIMIT_EXCEEDED`` (``archive_bytes``, ``archive_members``).
    """
    head = file.read(512)
    file.seek(0)
    try:
        if head.startswith(b"PK"):
            yield from _zip(file, limits, budget)
        elif head.startswith(b"\x1f\x8b"):
            yield from _tar(gzip.GzipFile(fileobj=file), limits, budget)
        elif head[257:262] == b"ustar":
            yield from _tar(file, limits, budget)
        else:
            raise EngineError(
                "UNSUPPORTED_ARTIFACT", "neither a call folder nor a zip, tar or gzip'd tar archive of one"
            )
    except _BROKEN:
        raise damaged() from None


def damaged() -> EngineError:
    """The error of an archive that can't be read through."""
    return EngineError("UNSUPPORTED_ARTIFACT", "the archive is damaged or cut short")


def _too_many(limits: Limits) -> EngineError:
    return EngineError(
        "LIMIT_EXCEEDED",
        f"the archive holds more than {limits.archive_members} members",
        limit="archive_members",
        maximum=limits.archive_members,
    )


def _zip(file: BinaryIO, limits: Limits, budget: Budget) -> Iterator[Member]:
    with zipfile.ZipFile(file) as archive:
        infos = archive.infolist()
        if len(infos) > limits.archive_members:
            raise _too_many(limits)
        for info in infos:
            if info.flag_bits & 1:
                raise EngineError("UNSUPPORTED_ARTIFACT", "the archive is encrypted", member=info.filename)
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise EngineError(
                    "UNSUPPORTED_ARTIFACT", "the archive uses a compression other than deflate",
                    member=info.filename,
                )  # fmt: skip
        # The library gives at most the declared size of a member, so the sum bounds what could come out.
        if sum(info.file_size for info in infos) > limits.archive_bytes:
            raise too_large(limits.archive_bytes)
        for info in infos:
            yield Member(info.filename, _zip_kind(info), partial(_zip_chunks, archive, info, budget))


def _zip_kind(info: zipfile.ZipInfo) -> str | None:
    if info.is_dir():
        return "a folder"
    mode = info.external_attr >> 16
    made_on_unix = info.create_system == 3 and mode >> 12
    return not_a_file(mode) if made_on_unix else None


def _zip_chunks(archive: zipfile.ZipFile, info: zipfile.ZipInfo, budget: Budget) -> Iterator[bytes]:
    try:
        with archive.open(info) as member:
            while chunk := member.read(CHUNK):
                budget.spend(len(chunk))
                yield chunk
    except _BROKEN:
        raise Unread("unreadable", "damaged in the archive") from None


class _Counted(io.RawIOBase):
    """A stream that spends a budget as it is read."""

    def __init__(self, stream: BinaryIO | gzip.GzipFile, budget: Budget) -> None:
        super().__init__()
        self.stream = stream
        self.budget = budget

    def read(self, size: int = -1) -> bytes:
        made = self.stream.read(size)
        self.budget.spend(len(made))
        return made


class _Header(tarfile.TarInfo):
    """A tar header that refuses what would mislead the library.

    The library ends quietly at a header it can't read, and takes an extended header of any size into memory.
    """

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        try:
            info = super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError:
            if not buf.strip(b"\0"):  # the end of the archive
                raise
            raise damaged() from None
        if info.size < 0 or (info.type in _LONG_HEADERS and info.size > _HEADER_BYTES):
            raise damaged()
        return info


def _tar(stream: BinaryIO | gzip.GzipFile, limits: Limits, budget: Budget) -> Iterator[Member]:
    counted = _Counted(stream, budget)
    with tarfile.open(
        fileobj=counted, mode="r|", tarinfo=_Header, encoding="utf-8", errors="surrogateescape", bufsize=CHUNK
    ) as archive:
        for count, info in enumerate(archive):
            if count >= limits.archive_members:
                raise _too_many(limits)
            if info.size < 0:  # an extended header may have replaced it
                raise damaged()
            yield Member(info.name, _tar_kind(info), partial(_tar_chunks, archive, info))


def _tar_kind(info: tarfile.TarInfo) -> str | None:
    if info.issym() or info.islnk():
        return "a symbolic link" if info.issym() else "a hard link"
    if info.isdir():
        return "a folder"
    if info.isfifo():
        return "a named pipe"
    if info.issparse():  # its holes cost nothing to declare
        return "a sparse file"
    return None if info.isreg() else "a device"


def _tar_chunks(archive: tarfile.TarFile, info: tarfile.TarInfo) -> Iterator[bytes]:
    left = info.size
    try:
        member = archive.extractfile(info)
        while member is not None and left and (chunk := member.read(min(CHUNK, left))):
            left -= len(chunk)
            yield chunk
    except _BROKEN:
        raise damaged() from None
    if left:
        raise damaged()
