"""The frame of the debugger: which panes there are, where they stand, and which size of screen this is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from textual.containers import Container, Vertical
from textual.screen import Screen
from textual.widget import Widget

from riff_tui.actions import PANES
from riff_tui.content import Content, fixed
from riff_tui.panes import chrome
from riff_tui.spans import Spans
from riff_tui.viewstate import ViewState, with_fields
from riff_tui.widgets.line import Lines
from riff_tui.widgets.virtual_list import Tab, VirtualList

COLUMNS = {
    "flow": ("events", "call"),
    "talk": ("conversation", "edges", "findings"),
    "facts": ("variables",),
}
"""The containers and the panes in each, in document order."""


def size_class(width: int, height: int) -> str:
    """The class of a screen size: everything that differs by size hangs on it, in CSS."""
    if width < 110 or height < 32:
        return "-narrow"
    return "-wide" if width >= 170 and height >= 48 else "-medium"


def tabs_for(view: ViewState, name: str) -> tuple[Tab, ...]:
    """The names in a pane's title: on a small screen, all that share its place."""
    numbers = {pane: str(number) for number, pane in enumerate(PANES, 1)}
    if not view.narrow or name == "events":
        return ((numbers[name], PANES[name], True),)
    return tuple((numbers[pane], PANES[pane], pane == name) for pane in PANES if pane != "events")


class Frame(Screen[None]):
    """Shows one view at a time; holds no other state."""

    def __init__(self, view: ViewState) -> None:
        super().__init__()
        self.view = view
        self._contents: dict[str, Callable[[ViewState, int], Content]] = {}

    def compose(self) -> Iterator[Widget]:
        """The bars and the panes."""
        self._fit()
        yield Lines(self._crumbs, id="crumbs")
        with Container(id="body"):
            for column, names in COLUMNS.items():
                with Vertical(id=column):
                    for name in names:
                        yield VirtualList(partial(self._rows, name), id=name, tabs=tabs_for(self.view, name))
        yield Lines(self._spoken, id="spoken")
        yield Lines(self._status, id="status")

    def on_resize(self) -> None:
        """Fit the classes to the size; the style sheet does the rest."""
        self._fit()
        self.set_view(self.view)

    def _fit(self) -> None:
        width, height = self.app.size
        wanted = size_class(width, height)
        for name in ("-narrow", "-medium", "-wide"):
            self.set_class(name == wanted, name)
        self.set_class(True, f"-{self.view.deck}")
        self.view = with_fields(self.view, narrow=wanted == "-narrow")

    def pane(self, name: str) -> VirtualList:
        """A pane by its name."""
        return self.query_one(f"#{name}", VirtualList)

    @property
    def focused_pane(self) -> str:
        """The name of the pane that has the focus."""
        focused = self.focused
        return focused.id if isinstance(focused, VirtualList) and focused.id else "events"

    def set_view(self, view: ViewState, *, follow: bool = False) -> None:
        """Draw another view; lines that stay the same are not painted again.

        Args:
            view: What to draw.
            follow: Let the lists follow the cursor.
        """
        if view.phase == "ready" and not self._contents:
            from riff_tui.panes.table import CONTENTS

            self._contents = CONTENTS
        self.view = view
        for name in PANES:
            self.set_class(view.deck == name, f"-{name}")
            pane = self.pane(name)
            pane.tabs = tabs_for(view, name)
            if pane.size.height and not (view.narrow and name not in ("events", view.deck)):
                pane.pull(follow=follow)
        self.show_bars()

    def show_bars(self) -> None:
        """Draw the bars above and below anew."""
        for name, draw in (("crumbs", self._crumbs), ("spoken", self._spoken), ("status", self._status)):
            self.query_one(f"#{name}", Lines).show(draw)

    # --- what stands where -----------------------------------------------------------------------------

    def _rows(self, name: str, width: int) -> Content:
        function = self._contents.get(name)
        if function is not None and self.view.phase == "ready":
            return function(self.view, width)
        if self.view.trouble is not None:
            lines: list[Spans] = [(("— the call is not open", "dim"),)]
            if name == "call":
                code, message = self.view.trouble
                lines = [((f"✗ {code}", "bad strong"),), ((message, ""),), (("q leaves", "dim"),)]
            return fixed(lines, (("failed", "bad"),))
        return fixed([(("loading…", "dim"),)], (("loading", "dim"),))

    def _crumbs(self, width: int) -> list[Spans]:
        return chrome.breadcrumb(self.view, width)

    def _status(self, width: int) -> list[Spans]:
        return chrome.status(self.view, width)

    def _spoken(self, width: int) -> list[Spans]:
        if self.view.phase != "ready":
            return []
        from riff_tui.panes.conversation import spoken

        return spoken(self.view, width)
