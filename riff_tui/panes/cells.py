"""A cell's value in one line: words and glyphs first, colour second."""

from __future__ import annotations

import re

from engine.debug.text import brief
from engine.model.artifact import Cell
from riff_tui.spans import Span

PLAIN = re.compile(r"[A-Za-z_][\w.:-]*")
WORDS = {"null", "true", "false", "unset", "redacted", "NaN", "Infinity"}
"""Strings that would look like something else without their quotes."""


def cell_span(cell: Cell, width: int) -> Span:
    """What a cell holds, at most about `width` characters; what is not known says why."""
    if cell.availability == "unavailable":
        return (f"? {cell.reason or 'unavailable'}", "warn")
    if cell.availability == "redacted":
        return ("█ redacted", "dim")
    if cell.unset:
        return ("unset", "dim")
    glyph = {"derived": "~ ", "simulated": "≈ "}.get(cell.provenance, "")
    role = "sim" if cell.provenance == "simulated" else ""
    return (glyph + value_text(cell.value, width), role)


def value_text(value: object, width: int) -> str:
    """A value on one line; a plain word stands without quotes, anything that could be mistaken keeps them."""
    if isinstance(value, str) and value not in WORDS and PLAIN.fullmatch(value[: width + 1]):
        return value[: width + 1]
    return brief(value, width)
