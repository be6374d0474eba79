"""One list for every pane: rows are asked for when they are drawn, so a million cost what ten cost."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable

from rich.segment import Segment
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from engine.model.errors import EngineError
from riff_tui.content import FOOT, NOTHING, Content, Target
from riff_tui.spans import Spans, fit, shorten, sides, width_of
from riff_tui.widgets.painted import Painted

Tab = tuple[str, str, bool]
"""Number, name and whether this tab is the one on top."""

Source = Callable[[int, int], Content]
"""Rows for a width, and how many of them can be seen at once."""

CACHED_LINES = 1_024
PREFIX = 2
FOOT_FROM = 9
"""Height of a list that has room for a foot."""
"""Cells before a row: the selection mark and the event cursor mark."""


def _drawn(content: Content, row: int, width: int) -> Spans:
    """A row, or why it can't be read: a folder may vanish under an open call."""
    try:
        return content.draw(row, width)
    except (EngineError, OSError) as error:
        return (("? can't be read: ", "warn"), (str(error), "dim"))


class VirtualList(Painted, ScrollView, can_focus=True):
    """A titled list drawn line by line.

    The title and the column headings stand on the first lines; the last column is the scrollbar, with its
    marks. Selecting and scrolling move nothing but the selection.
    """

    class Highlighted(Message):
        """Another row was selected with the keys or the mouse."""

        def __init__(self, list_: VirtualList, target: Target) -> None:
            super().__init__()
            self.list = list_
            self.target = target

    class Opened(Message):
        """A row was opened with a second click; Enter is a key of the screen."""

        def __init__(self, list_: VirtualList, target: Target) -> None:
            super().__init__()
            self.list = list_
            self.target = target

    def __init__(self, source: Source, *, id: str, tabs: tuple[Tab, ...] = ()) -> None:
        """Make a list.

        Args:
            source: Gives the rows at a width; asked again when the width changes.
            id: The pane's name.
            tabs: Names for the title.
        """
        super().__init__(id=id)
        self.tabs = tabs
        self.source = source
        self.content = Content()
        self.selected = 0
        self.follows = False
        self._lines: OrderedDict[Hashable, Strip] = OrderedDict()
        self._marks_at: dict[int, str] = {}

    # --- what is shown ---------------------------------------------------------------------------------

    @property
    def top_lines(self) -> int:
        """Lines above the first row: the title and the column headings."""
        return 1 if self.content.heading is None else 2

    @property
    def foot_lines(self) -> int:
        """Lines below the last row."""
        return FOOT if self.content.foot is not None and self.size.height >= FOOT_FROM else 0

    @property
    def _around(self) -> int:
        return self.top_lines + self.foot_lines

    @property
    def page(self) -> int:
        """Rows that fit under the headings."""
        return max(1, self.size.height - self._around)

    @property
    def target(self) -> Target:
        """What the selected row stands for."""
        return self.content.target(self.selected) if self.selected < self.content.count else NOTHING

    def pull(self) -> None:
        """Ask the source for rows and show them.

        With `follows` set, the row that the content asks for is selected and brought into view, once.
        """
        if not self.size.height:
            return
        follow, self.follows = self.follows, False
        content = self.content = self.source(self.size.width - PREFIX - 1, self.size.height - 1)
        # Not through the reactive: a count that changes needs no layout, the list has its place already.
        self.set_reactive(ScrollView.virtual_size, Size(self.size.width, content.count + self._around))
        wanted = content.select if follow and content.select is not None else self.selected
        self.selected = max(0, min(wanted, content.count - 1))
        self._place_marks()
        if follow and content.select is not None:
            self._bring_into_view(self.selected)
        elif self.scroll_offset.y > self._most_scroll:
            self._jump(self._most_scroll)
        self.repaint()

    @property
    def _most_scroll(self) -> int:
        return max(0, self.content.count + self._around - self.size.height)

    def _place_marks(self) -> None:
        """Where each marked row falls on the scrollbar."""
        count, page = max(1, self.content.count), self.page
        scale = page / count if count > page else 1.0
        self._marks_at = {int(row * scale): role for row, role in self.content.marks.items()}

    def on_resize(self) -> None:
        """Keep the selection in view when the size changes."""
        self._lines.clear()
        self.pull()
        self._bring_into_view(self.selected)
        self.refresh()

    def notify_style_update(self) -> None:
        """Drop the lines of the old look."""
        super().notify_style_update()
        if hasattr(self, "_lines"):
            self._lines.clear()

    # --- drawing ---------------------------------------------------------------------------------------

    def line_at(self, y: int) -> Strip:
        """The finished line `y`: title, heading or row, with its cell of the scrollbar."""
        width = self.size.width
        if y == 0:
            return self.strip_of(self._title(width))
        if y < self.top_lines and self.content.heading is not None:
            heading = self.content.heading(width - PREFIX - 1)
            return self.strip_of(fit(((" " * PREFIX, ""), *heading), width))
        if y >= self.size.height - self.foot_lines and self.content.foot is not None:
            lines = self.content.foot(self.selected, width - PREFIX - 1)
            line = y - self.size.height + self.foot_lines
            return self.strip_of(
                fit(((" " * PREFIX, ""), *(lines[line] if line < len(lines) else ())), width)
            )
        row = y - self.top_lines + self.scroll_offset.y
        if row >= self.content.count:
            empty: Spans = ((" " * PREFIX, ""), ("— none", "dim")) if row == 0 else ()
            return self.strip_of(fit(empty, width))
        strip = self._row(row, width - 1)
        bar, role = self._bar(y - self.top_lines)
        return Strip([*strip, Segment(bar, self.style_of(role))], width)

    def _row(self, row: int, width: int) -> Strip:
        content = self.content
        first, last = content.item(self.selected)
        chosen = self.has_focus and first <= row <= last
        key = (row, row == content.current, chosen, width, 0, content.revision)
        strip = self._lines.get(key)
        if strip is not None:
            self._lines.move_to_end(key)
            return strip
        mark = "›" if chosen and row == first else " "
        here = "▶" if row == content.current else " "
        row_role = "select" if chosen else "time" if row == content.current else ""
        prefix = ((mark, "accent"), (here, "accent"))
        spans = fit((*prefix, *_drawn(content, row, width - PREFIX)), width)
        strip = self.strip_of(spans, row_role)
        self._lines[key] = strip
        if len(self._lines) > CACHED_LINES:
            self._lines.popitem(last=False)
        return strip

    def _bar(self, y: int) -> tuple[str, str]:
        """One cell of the scrollbar: a mark, the thumb, or nothing when all rows are in view."""
        mark = self._marks_at.get(y)
        count, page = self.content.count, self.page
        if count <= page:
            return ("╸", mark) if mark else (" ", "")
        size = max(1, page * page // count)
        top = round((page - size) * self.scroll_offset.y / max(1, self._most_scroll))
        thumb = top <= y < top + size
        if mark:
            return ("╸", mark)
        return ("┃", "dim") if thumb else ("│", "rule")

    def _title(self, width: int) -> Spans:
        names: list[tuple[str, str]] = []
        for number, name, top in self.tabs:
            role = "title-focus" if top and self.has_focus else "title" if top else "dim"
            names += [(f" {number} {name}" if number else f" {name}", role)]
        names.append((" ", ""))
        room = width - width_of(names) - 4
        note = shorten(self.content.note, room)
        right = ((" ", ""), *note, (" ", "")) if note else ()
        return sides(tuple(names), right, width, "─", "rule")

    # --- selecting -------------------------------------------------------------------------------------

    def select(self, row: int) -> None:
        """Select the item of a row, as far as the list goes, and bring it into view."""
        if not self.content.count:
            return
        row = self.content.item(max(0, min(row, self.content.count - 1)))[0]
        if row != self.selected:
            self.selected = row
            self.post_message(self.Highlighted(self, self.target))
        self._bring_into_view(row)
        self.repaint()

    def _bring_into_view(self, row: int) -> None:
        """Scroll by half a page when the row is out of view: a held key then paints far less."""
        first, last = self.content.item(row) if row < self.content.count else (row, row)
        top = self.scroll_offset.y
        if top <= first and last < top + self.page:
            return
        self._jump(first - self.page // 2)

    def _jump(self, top: int) -> None:
        self.scroll_to(y=max(0, min(top, self._most_scroll)), animate=False, immediate=True, force=True)

    def action_scroll_up(self) -> None:
        """Select the item above."""
        self.select(self.content.item(self.selected)[0] - 1)

    def action_scroll_down(self) -> None:
        """Select the item below."""
        last = self.content.item(self.selected)[1]
        self.select(last + 1 if last + 1 < self.content.count else self.selected)

    def action_page_up(self) -> None:
        """Select a page further up."""
        self.select(self.selected - self.page)

    def action_page_down(self) -> None:
        """Select a page further down."""
        self.select(self.selected + self.page)

    def action_scroll_home(self) -> None:
        """Select the first row."""
        self.select(0)

    def action_scroll_end(self) -> None:
        """Select the last row."""
        self.select(self.content.count - 1)

    def on_click(self, event: Click) -> None:
        """Select the row under the mouse; a second click opens it."""
        row = event.y - self.top_lines + self.scroll_offset.y
        if not self.top_lines <= event.y < self.size.height - self.foot_lines or row >= self.content.count:
            return
        self.select(row)
        if event.chain == 2:
            self.post_message(self.Opened(self, self.target))

    def on_focus(self) -> None:
        """Show the selection."""
        self.repaint()

    def on_blur(self) -> None:
        """Hide the selection; it stays where it is."""
        self.repaint()
