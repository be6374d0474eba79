"""Lines as data: a line is a tuple of (text, role) runs; a role is a name that a theme gives a look."""

from __future__ import annotations

from collections.abc import Iterable

from rich.cells import cell_len

from riff_tui.text import clean, cut, pad

Span = tuple[str, str]
Spans = tuple[Span, ...]

ROLES = (
    *("dim", "strong", "good", "bad", "warn", "sim", "accent", "select", "time"),
    *("title", "title-focus", "rule", "badge"),
)
"""Every role; the empty role is plain text."""

SEVERITY = {"error": ("✗", "bad"), "warning": ("!", "warn"), "info": ("·", "dim")}
"""Glyph and role of a finding's severity."""


def width_of(spans: Iterable[Span]) -> int:
    """Terminal cells that a line takes."""
    return sum(cell_len(text) for text, _ in spans)


def fit(spans: Iterable[Span], width: int) -> Spans:
    """Clean every run, merge neighbours of one role, and cut or pad the line to exactly `width` cells."""
    made: list[Span] = []
    left = width
    for text, role in spans:
        if left <= 0:
            break
        whole = clean(text, left * 2 + 8)
        text = cut(whole, left)
        left = left - cell_len(text) if text is whole else 0
        if made and made[-1][1] == role:
            made[-1] = (made[-1][0] + text, role)
        elif text:
            made.append((text, role))
    left = width - width_of(made)
    if left > 0:
        if made and made[-1][1] == "":
            made[-1] = (made[-1][0] + " " * left, "")
        else:
            made.append((" " * left, ""))
    return tuple(made)


def shorten(spans: Spans, width: int) -> Spans:
    """The line as it is, or cut to at most `width` cells."""
    if width_of(spans) <= width:
        return spans
    return fit(spans, width) if width > 3 else ()


def column(text: str, width: int, role: str = "") -> Span:
    """A cell of a table: exactly `width` cells and a space after it."""
    return (pad(text, width) + " ", role)


def sides(left: Spans, right: Spans, width: int, fill: str = " ", fill_role: str = "") -> Spans:
    """A line with a left and a right part; the right part gives way when there is no room for both."""
    right_width = width_of(right)
    room = width - width_of(left) - right_width
    if room < 1:
        return fit((*left, (fill * max(0, width - width_of(left)), fill_role)), width)
    return fit((*left, (fill * room, fill_role), *right), width)
