"""The frame of the debugger: which panes there are, where they stand, and which size of screen this is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from textual.containers import Container
from textual.widget import Widget

from riff_tui.actions import PANES
from riff_tui.content import Content, fixed, listed
from riff_tui.panes import chrome
from riff_tui.spans import Spans
from riff_tui.viewstate import ViewState, with_fields
from riff_tui.widgets.line import Lines
from riff_tui.widgets.painted import RoleScreen
from riff_tui.widgets.virtual_list import Tab, VirtualList

TALK = ("conversation", "edges", "findings")
"""Panes that stand together in a container."""
FEW, MORE = 5, 8
"""Lines of the events on a small screen, above the call pane and above another one."""


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


def _failed(what: str, why: str, remains: str) -> Content:
    """What a list shows that can't be had: what failed, why, and what still works."""
    lines: list[Spans] = [((f"✗ {what}", "bad strong"),), ((why, ""),), ((remains, "dim"),)]
    return fixed(lines, listed("failed", role="bad"))


class Frame(RoleScreen):
    """Shows one view at a time; holds no other state."""

    def __init__(self, view: ViewState) -> None:
        super().__init__()
        self.view = view
        self._contents: dict[str, Callable[[ViewState, int, int], Content]] = {}

    def compose(self) -> Iterator[Widget]:
        """The bars and the panes, in the order in which a grid places them."""
        self._fit()
        yield Lines(self._crumbs, id="crumbs")
        with Container(id="body"):
            yield self._list("call")
            with Container(id="talk"):
                yield from map(self._list, TALK)
            yield self._list("events")
            yield self._list("variables")
        yield Lines(self._spoken, id="spoken")
        yield Lines(self._status, id="status")

    def _list(self, name: str) -> VirtualList:
        return VirtualList(partial(self._rows, name), id=name, tabs=tabs_for(self.view, name))

    def on_resize(self) -> None:
        """Fit the classes to the size; the style sheet does the rest."""
        self._fit()
        self.set_view(self.view)

    def _fit(self) -> None:
        width, height = self.app.size
        wanted = size_class(width, height)
        for name in ("-narrow", "-medium", "-wide"):
            self.set_class(name == wanted, name)
        deck = self.view.deck if self.focused_pane == "events" else self.focused_pane
        self.view = with_fields(self.view, narrow=wanted == "-narrow", size=(width, height), deck=deck)

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
            follow: Let the lists follow the cursor; one that is hidden does when it is shown again.
        """
        if view.phase == "ready" and not self._contents:
            from riff_tui.panes.table import CONTENTS

            self._contents = CONTENTS
        self.view = view
        self._deal()
        for name in PANES:
            pane = self.pane(name)
            pane.tabs = tabs_for(view, name)
            pane.follows |= follow
            if pane.display:
                pane.pull()
        self.show_bars()

    def _deal(self) -> None:
        """On a small screen: the events and one other pane. Classes would cost a new style for everything."""
        view = self.view
        for name in PANES:
            self.pane(name).display = not view.narrow or name in ("events", view.deck)
        self.query_one("#talk").display = not view.narrow or view.deck in TALK
        self.pane("events").styles.height = None if not view.narrow else FEW if view.deck == "call" else MORE

    def show_bars(self) -> None:
        """Draw the bars above and below anew."""
        for name, draw in (("crumbs", self._crumbs), ("spoken", self._spoken), ("status", self._status)):
            self.query_one(f"#{name}", Lines).show(draw)

    # --- what stands where -----------------------------------------------------------------------------

    def _rows(self, name: str, width: int, rows: int) -> Content:
        function, view = self._contents.get(name), self.view
        waits = name == "conversation" and view.talk != "ready"
        if function is not None and view.phase == "ready" and not waits:
            return function(view, width, rows)
        if view.trouble is not None:
            return _failed(*view.trouble, "the call is not open; q leaves")
        if waits and view.talk == "failed":
            return _failed("the conversation can't be read", view.talk_trouble, "the other panes still work")
        return fixed([(("loading…", "dim"),)], listed("loading"))

    def _crumbs(self, width: int) -> list[Spans]:
        return chrome.breadcrumb(self.view, width)

    def _status(self, width: int) -> list[Spans]:
        return chrome.status(self.view, width)

    def _spoken(self, width: int) -> list[Spans]:
        if self.view.phase != "ready":
            return []
        from riff_tui.panes.conversation import spoken

        return spoken(self.view, width)
