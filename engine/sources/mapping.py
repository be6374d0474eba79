"""Large files mapped into memory, so that a payload costs nothing until it is looked at."""

from __future__ import annotations

import mmap
import os

_POPULATE = getattr(mmap, "MAP_POPULATE", 0)
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


def map_file(descriptor: int, size: int, populate: bool = True) -> MappedFile:
    """Map a file.

    Args:
        descriptor: An open regular file; the caller keeps and closes it.
        size: Its size in bytes, above 0.
        populate: All of its pages are about to be read: map them at once, where the system can.
    """
    if _POPULATE and populate:
        mapped = MappedFile(descriptor, size, flags=mmap.MAP_SHARED | _POPULATE, prot=mmap.PROT_READ)
    else:
        mapped = MappedFile(descriptor, size, access=mmap.ACCESS_READ)
    mapped.descriptor = os.dup(descriptor)
    return mapped


def mapping_of(data: bytes | memoryview) -> MappedFile | None:
    """The mapping behind some data, or None when it lies in ordinary memory."""
    backing = data.obj if isinstance(data, memoryview) else None
    return backing if isinstance(backing, MappedFile) else None


def release_pages(data: bytes | memoryview) -> None:
    """Let the system take back the pages of a mapping until they are looked at again."""
    mapped = mapping_of(data)
    if mapped is not None and _DONTNEED is not None:
        mapped.madvise(_DONTNEED)
