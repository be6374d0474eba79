"""The keys that work now, made from the table of actions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.binding import BindingType
from textual.screen import Screen
from textual.widget import Widget

from riff_tui.actions import INTRO, table
from riff_tui.content import Content, fixed
from riff_tui.spans import Spans, fit, sides
from riff_tui.text import wrap
from riff_tui.widgets.line import Lines
from riff_tui.widgets.virtual_list import VirtualList

TWO_COLUMNS = 116
"""Width from which the groups stand in two columns."""

GLYPHS = (
    ("plain", "", "as the call recorded it"),
    ("~", "dim", "derived by the engine from recorded events"),
    ("?", "warn", "unavailable, with the reason"),
    ("█", "dim", "redacted"),
    ("✗", "bad", "disproven, or an error"),
    ("▶ ›", "accent", "the event cursor; the selected row"),
    ("●", "accent", "a breakpoint"),
)


def group_lines(width: int) -> list[list[Spans]]:
    """The groups as blocks of lines."""
    blocks: list[list[Spans]] = []
    for group, rows in table():
        block: list[Spans] = [((group, "strong"),)]
        block += [((f"  {keys:<11}", "accent"), (help_, "")) for keys, help_ in rows]
        blocks.append([*(fit(line, width) for line in block), ()])
    signs: list[Spans] = [(("Signs", "strong"),)]
    signs += [((f"  {glyph:<11}", role), (meaning, "")) for glyph, role, meaning in GLYPHS]
    blocks.append([fit(line, width) for line in signs])
    return blocks


def help_lines(width: int) -> list[Spans]:
    """All lines of the help at a width."""
    intro: list[Spans] = [((part, "dim"),) for line in INTRO for part in wrap(line, width, 3)]
    intro.append(())
    if width < TWO_COLUMNS:
        return intro + [line for block in group_lines(width) for line in block]
    half = width // 2 - 2
    blocks = group_lines(half)
    left = [line for block in (blocks[0], blocks[1], blocks[3], blocks[4]) for line in block]
    right = [line for block in (blocks[2], blocks[5]) for line in block]
    rows = max(len(left), len(right))
    left += [()] * (rows - len(left))
    right += [()] * (rows - len(right))
    return intro + [(*fit(a, half + 4), *b) for a, b in zip(left, right, strict=True)]


class HelpScreen(Screen[None]):
    """The key card."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape", "dismiss_screen", "close"),
        ("question_mark", "dismiss_screen", "close"),
        ("q", "dismiss_screen", "close"),
    ]

    def compose(self) -> Iterator[Widget]:
        """The card and how to leave it."""
        yield VirtualList(self._rows, id="help", tabs=(("", "Keys", True),))
        keys: Spans = (("↑↓ PgUp PgDn", "strong"), (" scroll  ", "dim"), ("Esc", "strong"), (" back ", "dim"))
        yield Lines(lambda width: [sides((), keys, width)], id="status")

    def _rows(self, width: int) -> Content:
        return fixed(help_lines(width))

    def action_dismiss_screen(self) -> None:
        """Go back."""
        self.dismiss()
