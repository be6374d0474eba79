"""A widget of a few fixed lines: breadcrumb, spoken lines, status."""

from __future__ import annotations

from collections.abc import Callable

from textual.strip import Strip

from riff_tui.spans import Spans, fit
from riff_tui.widgets.painted import Painted

Draw = Callable[[int], list[Spans]]
"""Lines of the widget at a width."""


class Lines(Painted):
    """Draws what a function of the width returns."""

    def __init__(self, draw: Draw, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._draw = draw
        self._made: tuple[int, list[Spans]] | None = None

    def show(self, draw: Draw) -> None:
        """Draw something else from now on."""
        self._draw = draw
        self._made = None
        if self.is_attached and self.size.width:
            self.repaint()

    def line_at(self, y: int) -> Strip:
        """The finished line `y`."""
        width = self.size.width
        if self._made is None or self._made[0] != width:
            self._made = (width, self._draw(width))
        lines = self._made[1]
        return self.strip_of(fit(lines[y] if y < len(lines) else (), width))
