"""The sections that a call is kept in: arrays as they lie in memory, and documents in JSON.

A document is read when it is first needed, and only by a decoder of its type: nothing in it is run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, overload

import msgspec
import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
Sections = Mapping[str, "NDArray[Any] | memoryview"]
"""Name → an array, or the bytes of a document."""


class Writing(dict[str, "NDArray[Any] | memoryview"]):
    """Sections that are made."""

    def put(self, name: str, value: Any) -> None:
        """Add a document."""
        self[name] = memoryview(msgspec.json.encode(value))

    def put_texts(self, name: str, texts: Sequence[str | bytes]) -> None:
        """Add a list of texts, some of which may be bytes."""
        self[name] = memoryview(msgspec.msgpack.encode(list(texts)))


def document(sections: Sections, name: str, kind: Any) -> Any:
    """The value of a document, of a type.

    Raises:
        KeyError: There is no such section.
        msgspec.DecodeError: It is not of that type.
    """
    return msgspec.json.decode(_bytes(sections, name), type=kind)


def texts(sections: Sections, name: str) -> list[Any]:
    """A list of texts."""
    found: list[Any] = msgspec.msgpack.decode(_bytes(sections, name), type=list)
    return found


def _bytes(sections: Sections, name: str) -> memoryview:
    found = sections[name]
    if not isinstance(found, memoryview):
        raise KeyError(name)
    return found


def array(sections: Sections, name: str) -> NDArray[Any]:
    """An array."""
    found = sections[name]
    if not isinstance(found, np.ndarray):
        raise KeyError(name)
    return found


class Late(Sequence[T]):
    """A list of known length that is read when it is first looked into."""

    def __init__(self, length: int, read: Callable[[], Sequence[T]]) -> None:
        self._length = length
        self._read: Callable[[], Sequence[T]] | None = read
        self._items: Sequence[T] = ()

    def _all(self) -> Sequence[T]:
        read = self._read
        if read is not None:
            self._items = read()
            self._read = None  # after the items: another thread may ask in between
        return self._items

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[T]:
        return iter(self._all())

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        return self._all()[index]
