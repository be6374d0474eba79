"""Large files mapped into memory, so that a payload costs nothing until it is looked at."""

from __future__ import annotations

import contextlib
import mmap
import os
import sys

_POPULATE_READ = 22
"""What Linux calls ``MADV_POPULATE_READ``, since 5.14; Python has no name for it yet."""
_DONTNEED = getattr(mmap, "MADV_DONTNEED", None)


class MappedFile(mmap.mmap):
    """A read-only mapping that keeps its file open, so that a second process can map it too.

    Attributes:
        descriptor: The open file; closed with the mapping.
    """

    descriptor: int

    def __del__(self) -> None:
        descriptor, self.descriptor = getattr(self, "descriptor", -1), -1
        if descriptor >= 0 and os is not None:  # at interpreter shutdown the module is gone already
            os.close(descriptor)


def map_file(descriptor: int, size: int) -> MappedFile:
    """Map a file.

    Args:
        descriptor: An open regular file; the caller keeps and closes it.
        size: Its size in bytes, above 0.
    """
    mapped = MappedFile(descriptor, size, access=mmap.ACCESS_READ)
    mapped.descriptor = os.dup(descriptor)
    return mapped


def mapping_of(data: bytes | memoryview) -> MappedFile | None:
    """The mapping behind some data, or None when it lies in ordinary memory."""
    backing = data.obj if isinstance(data, memoryview) else None
    return backing if isinstance(backing, MappedFile) else None


def expect_reading(data: bytes | memoryview, size: int) -> None:
    """Bring the first pages of a mapping in at once, where the system can: they are about to be read.

    Args:
        data: A mapping, or other data, for which nothing is done.
        size: How many bytes of it.
    """
    mapped = mapping_of(data)
    if mapped is not None and sys.platform == "linux":
        with contextlib.suppress(OSError):  # an older system brings them in one by one
            mapped.madvise(_POPULATE_READ, 0, size)


def release_pages(data: bytes | memoryview) -> None:
    """Let the system take back the pages of a mapping until they are looked at again."""
    mapped = mapping_of(data)
    if mapped is not None and _DONTNEED is not None:
        mapped.madvise(_DONTNEED)
