"""The keys that work now, made from the table of actions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from riff_tui.actions import GROUPS, INTRO, table
from riff_tui.content import Content, fixed
from riff_tui.spans import Spans, fit, sides
from riff_tui.text import wrap
from riff_tui.widgets.line import Lines
from riff_tui.widgets.painted import RoleScreen
from riff_tui.widgets.virtual_list import VirtualList

TWO_COLUMNS = 116
"""Width from which the groups stand in two columns."""

LEAD = 13
"""Cells before what a key does."""
GLYPHS = (
    ("plain", "", "as the call recorded it"),
    ("~", "dim", "derived by the engine from recorded events"),
    ("?", "warn", "unavailable, with the reason"),
    ("█", "dim", "redacted"),
    ("✗ ! ·", "bad", "a finding: error, warning, info; ✗ also disproven"),
    ("▶ ›", "accent", "the event cursor; the selected row"),
    ("▸ ▾", "dim", "a visit that is closed, open; Enter changes it"),
    ("*", "accent", "a slot that changed since the visit's entry"),
    ("●", "accent", "a breakpoint"),
    ("╸", "warn", "beside a list: a finding stands there"),
    ("∅ ≠", "dim", "unset; two things that differ"),
)


def group_lines(width: int, groups: Sequence[str] = GROUPS) -> list[list[Spans]]:
    """The groups as blocks of lines; those left out are empty."""
    rows = dict(table())
    blocks = [
        [
            ((group, "strong"),),
            *(part for keys, help_ in rows[group] for part in _row(keys, help_, "accent", width)),
            (),
        ]
        if group in groups
        else []
        for group in GROUPS
    ]
    signs = (part for glyph, role, meaning in GLYPHS for part in _row(glyph, meaning, role, width))
    return [*blocks, [(("Signs", "strong"),), *signs]]


def _row(name: str, text: str, role: str, width: int) -> list[Spans]:
    """Keys or a sign, and what they mean; long words go on below."""
    parts = wrap(text, width - LEAD, 3)
    return [
        fit(((f"  {'' if number else name:<{LEAD - 2}}", role), (part, "")), width)
        for number, part in enumerate(parts)
    ]


def help_lines(width: int, groups: Sequence[str] = GROUPS) -> list[Spans]:
    """All lines of the help at a width."""
    intro: list[Spans] = [((part, "dim"),) for line in INTRO for part in wrap(line, width, 3)]
    intro.append(())
    if width < TWO_COLUMNS:
        return intro + [line for block in group_lines(width, groups) for line in block]
    half = width // 2 - 2
    blocks = group_lines(half, groups)
    left = [line for block in (blocks[0], blocks[1], blocks[5]) for line in block]
    right = [line for block in (blocks[2], blocks[3], blocks[4]) for line in block]
    rows = max(len(left), len(right))
    left += [()] * (rows - len(left))
    right += [()] * (rows - len(right))
    return intro + [(*fit(a, half + 4), *b) for a, b in zip(left, right, strict=True)]


class HelpScreen(RoleScreen):
    """The key card: the keys that work now."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss_screen", "close", priority=True),
        Binding("question_mark", "dismiss_screen", "close", priority=True),
        Binding("q", "dismiss_screen", "close", priority=True),
    ]

    def __init__(self, ready: bool = True) -> None:
        """Make the card.

        Args:
            ready: Whether a call is open; without one only the keys of the app work.
        """
        super().__init__()
        self._groups = GROUPS if ready else GROUPS[-1:]

    def compose(self) -> Iterator[Widget]:
        """The card and how to leave it."""
        yield VirtualList(self._rows, id="help", tabs=(("", "Keys", True),))
        keys: Spans = (("↑↓ PgUp PgDn", "strong"), (" scroll  ", "dim"), ("Esc", "strong"), (" back ", "dim"))
        yield Lines(lambda width: [sides((), keys, width)], id="status")

    def _rows(self, width: int, _: int) -> Content:
        return fixed(help_lines(width, self._groups))

    def action_dismiss_screen(self) -> None:
        """Go back."""
        self.dismiss()
