"""One value on a screen of its own: long lines are broken, Esc goes back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.widget import Widget

from riff_tui.content import Content, listed
from riff_tui.detail import CUT
from riff_tui.spans import Span, Spans, sides
from riff_tui.text import clean, plural
from riff_tui.widgets.line import Lines
from riff_tui.widgets.painted import RoleScreen
from riff_tui.widgets.virtual_list import VirtualList


def broken(spans: Spans, width: int) -> list[Spans]:
    """A line as several of at most `width` cells; what follows is indented like the line."""
    lines: list[Spans] = []
    line: list[Span] = []
    first = spans[0][0] if spans else ""
    indent = "  " * (1 + (len(first) - len(first.lstrip())) // 2)
    used = 0
    for text, role in spans:
        text = clean(text, 1_000_000)
        while text:
            taken = _fitting(text, max(1, width - used))
            line.append((text[:taken], role))
            used += cell_len(text[:taken])
            text = text[taken:]
            if text:
                lines.append(tuple(line))
                line, used = [(indent, "")], len(indent)
    lines.append(tuple(line))
    return lines


def _fitting(text: str, room: int) -> int:
    """How many characters fit into a number of cells; at least one."""
    if text.isascii():
        return max(1, min(len(text), room))
    taken = 0
    for character in text:
        room -= cell_len(character)
        if room < 0:
            break
        taken += 1
    return max(1, taken)


class DetailScreen(RoleScreen):
    """Lines under a title."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss_screen", "close", priority=True),
        Binding("enter", "dismiss_screen", "close", priority=True),
        Binding("q", "dismiss_screen", "close", priority=True),
    ]

    def __init__(self, title: str, lines: list[Spans]) -> None:
        super().__init__()
        self._heading = title
        self._all = lines

    def compose(self) -> Iterator[Widget]:
        """The title, the lines, the keys."""
        yield Lines(lambda width: [sides(((" ", ""), (self._heading, "strong")), (), width)], id="crumbs")
        yield VirtualList(self._rows, id="detail", tabs=(("", "Value", True),))
        keys: Spans = (("↑↓ PgUp PgDn", "strong"), (" scroll  ", "dim"), ("Esc", "strong"), (" back ", "dim"))
        yield Lines(lambda width: [sides((), keys, width)], id="status")

    def _rows(self, width: int, _: int) -> Content:
        lines = [part for line in self._all for part in broken(line, width)]
        partial = any(CUT in line for line in self._all)
        return Content(
            note=listed("partial" if partial else "complete", plural(len(lines), "line")),
            count=len(lines),
            draw=lambda row, _: lines[row],
            revision=width,
        )

    def action_dismiss_screen(self) -> None:
        """Go back."""
        self.dismiss()
