"""A widget that draws lines of spans: roles become styles here, and only changed lines are painted again."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from riff_tui.spans import ROLES, Spans


class RoleScreen(Screen[None]):
    """Base of screens with painted widgets: a theme gives a look to its component classes ``role--<role>``.

    The screen's, not each widget's: Textual styles a widget's component classes anew when its focus changes.
    """

    COMPONENT_CLASSES = {f"role--{role}" for role in ROLES}


class Painted(Widget):
    """Base of every widget that draws through the line API.

    A subclass says what stands on a line; `repaint` compares the lines with those on the screen and refreshes
    those that differ, never the layout.
    """

    _styles_of: dict[str, Style]
    _last_lines: list[Strip]

    def line_at(self, y: int) -> Strip:
        """The finished line `y` of the widget."""
        raise NotImplementedError

    def style_of(self, role: str) -> Style:
        """The style of a role, or of two joined by a space (the last one wins)."""
        try:
            known = self._styles_of
        except AttributeError:
            known = self._styles_of = {}
        style = known.get(role)
        if style is None:
            style = self.rich_style
            for name in role.split():
                style += self.screen.get_component_rich_style(f"role--{name}", partial=True)
            known[role] = style
        return style

    def strip_of(self, spans: Spans, row_role: str = "") -> Strip:
        """A line of spans as segments, one for each run of a style."""
        segments = [
            Segment(text, self.style_of(f"{role} {row_role}".strip() if row_role else role))
            for text, role in spans
        ]
        return Strip(segments, sum(segment.cell_length for segment in segments))

    def notify_style_update(self) -> None:
        """Forget styles and lines of the old look."""
        super().notify_style_update()
        self._styles_of = {}
        self._last_lines = []

    def render_line(self, y: int) -> Strip:
        """A line for the compositor."""
        return self.line_at(y)

    def repaint(self) -> None:
        """Refresh the lines that differ from what was painted last."""
        width, height = self.size
        lines = [self.line_at(y) for y in range(height)]
        old = getattr(self, "_last_lines", [])
        self._last_lines = lines
        if len(old) != height:
            self.refresh()
            return
        changed = [Region(0, y, width, 1) for y in range(height) if lines[y] != old[y]]
        if changed:
            self.refresh(*changed)
