"""Data of a call as one line of text: escaped, quoted and cut, never interpreted (contract 7.4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.hydrate.marks import is_mark

CUT = 160
"""Characters of one string that are shown."""
UNSET_SIGN = "∅"
ELLIPSIS = "…"
_DEEP = 6
_HUGE_BITS = 4096


def escape(text: str, limit: int = CUT) -> str:
    r"""Text that no terminal obeys: cut, and what is not printable written as ``\xNN`` or ``\uNNNN``."""
    cut = text[: limit - 1] + ELLIPSIS if len(text) > limit else text
    if cut.isprintable():
        return cut
    done = "".join(char if char.isprintable() else _escaped(char) for char in cut)
    return done if len(done) <= limit else done[: limit - 1] + ELLIPSIS


def _escaped(char: str) -> str:
    point = ord(char)
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def quoted(text: str, limit: int = CUT) -> str:
    """A string in double quotes; a redaction mark stands without."""
    if is_mark(text):
        return text
    cut = text[: limit - 1] + ELLIPSIS if len(text) > limit else text
    return '"' + escape(cut.replace("\\", "\\\\").replace('"', '\\"'), 2 * limit) + '"'


def brief(value: Any, limit: int = CUT) -> str:
    """Any JSON value on one line of about `limit` characters; a large one is never written whole."""
    text = ""
    for piece in _pieces(value, limit, 0):
        text += piece
        if len(text) > limit:
            return text if isinstance(value, str) else text[: limit - 1] + ELLIPSIS
    return text


def _pieces(value: Any, limit: int, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield quoted(value, limit)
    elif isinstance(value, bool) or value is None:
        yield {True: "true", False: "false", None: "null"}[value]
    elif isinstance(value, int):
        yield str(value) if value.bit_length() < _HUGE_BITS else f"<integer of {value.bit_length()} bits>"
    elif isinstance(value, dict | list) and depth >= _DEEP:
        yield ELLIPSIS
    elif isinstance(value, dict):
        yield "{"
        for number, (key, item) in enumerate(value.items()):
            yield (", " if number else "") + escape(str(key), 60) + ": "
            yield from _pieces(item, limit, depth + 1)
        yield "}"
    elif isinstance(value, list):
        yield "["
        for number, item in enumerate(value):
            yield ", " if number else ""
            yield from _pieces(item, limit, depth + 1)
        yield "]"
    else:
        yield escape(str(value), limit)


def word(value: Any) -> str:
    """A name or an id as it stands; another value as JSON; nothing for null."""
    return "" if value is None else escape(value) if isinstance(value, str) else brief(value)
