"""Untrusted text made safe to draw: control characters, bidi overrides and huge values are escaped and cut.

Everything that comes out of a call passes through here on its way to the screen. Nothing is ever parsed as
markup: rows are built from plain segments.
"""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

ELLIPSIS = "…"
LONG = 2_000
"""Characters of one text that are looked at for one line; the rest is counted, not drawn."""

_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1b": "\\e"}


def _escape(character: str) -> str:
    """One character as itself, or as the escape that a programmer would type for it."""
    if character.isprintable() or character == "\u00a0":
        return character
    named = _NAMED.get(character)
    if named is not None:
        return named
    point = ord(character)
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def clean(text: str, limit: int = LONG) -> str:
    """Escape what a terminal could obey, and cut to `limit` characters.

    Args:
        text: Text of any origin and size.
        limit: Longest text that is looked at.

    Returns:
        Printable text on one line.
    """
    if len(text) > limit:
        text = text[:limit] + ELLIPSIS
    if text.isprintable():
        return text
    return "".join(map(_escape, text))


def cut(text: str, width: int) -> str:
    """Cut printable text to `width` terminal cells; what is lost is shown as an ellipsis."""
    if len(text) <= width and text.isascii():
        return text
    if cell_len(text) <= width:
        return text
    if width <= 0:
        return ""
    return set_cell_size(text, width - 1).rstrip() + ELLIPSIS


def cut_middle(text: str, width: int) -> str:
    """Cut a name in its middle: both ends of a name tell it from its neighbours."""
    text = clean(text, 4 * width + 8)
    if cell_len(text) <= width or width < 8:
        return cut(text, width)
    head = width // 2 - 1
    return text[:head] + ELLIPSIS + text[-(width - head - 1) :]


def pad(text: str, width: int) -> str:
    """Clean, cut and pad text to exactly `width` cells."""
    text = cut(clean(text, max(width, 1) * 2 + 8), width)
    return text + " " * (width - cell_len(text))


def wrap(text: str, width: int, most: int) -> list[str]:
    """Printable text broken at spaces into at most `most` lines of `width` cells."""
    words = clean(text).split(" ")
    lines: list[str] = []
    line = ""
    while words:
        word = words.pop(0)
        joined = f"{line} {word}" if line else word
        if cell_len(joined) <= width:
            line = joined
            continue
        if len(lines) == most - 1:
            return [*lines, cut(" ".join([joined, *words]), width)]
        if not line:
            line, rest = _split(word, width)
            words.insert(0, rest)
        else:
            words.insert(0, word)
        lines.append(line)
        line = ""
    return [*lines, line] if line or not lines else lines


def _split(word: str, width: int) -> tuple[str, str]:
    """A word longer than the line, in two: at least one character goes into the first part."""
    taken = 1
    while taken < len(word) and cell_len(word[: taken + 1]) <= width:
        taken += 1
    return word[:taken], word[taken:]


def seconds(clock_ms: float | None) -> str:
    """A call clock in the form that goto reads, or a dash where there is none."""
    return "—" if clock_ms is None else f"{clock_ms / 1000:.3f}s"


def plural(count: int, noun: str) -> str:
    """A count with its noun: ``1 event``, ``2,000 events``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
