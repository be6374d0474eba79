"""The picker: every call below a folder, filtered as you type."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.events import Key
from textual.message import Message
from textual.widget import Widget

from engine.model.errors import EngineError
from riff_tui.content import Content, fixed, listed
from riff_tui.opening import Request
from riff_tui.spans import Spans, sides
from riff_tui.text import clean
from riff_tui.widgets.line import Lines
from riff_tui.widgets.painted import RoleScreen
from riff_tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from engine.model.calls import CallRow

LONGEST = 200
"""Characters of a filter."""


class PickerScreen(RoleScreen):
    """The calls of a folder, the newest first.

    Args:
        folder: Where the calls lie.
        reveal: Open them with classified values shown.
        clock: Seconds since 1970.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open the call", priority=True),
        Binding("escape", "back", "clear the filter, or leave", priority=True),
        Binding("backspace", "rub", "shorten the filter"),
    ]
    AUTO_FOCUS = "#calls"

    class Listed(Message):
        """The calls were found, or why not."""

        def __init__(self, rows: list[CallRow], trouble: tuple[str, str] | None) -> None:
            super().__init__()
            self.rows = rows
            self.trouble = trouble

    class Read(Message):
        """So many calls of so many have been read."""

        def __init__(self, done: int, total: int) -> None:
            super().__init__()
            self.done, self.total = done, total

        def can_replace(self, message: Message) -> bool:
            """Only the last one counts."""
            return isinstance(message, PickerScreen.Read)

    def __init__(self, folder: Path, reveal: bool = False, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self.folder = folder
        self.stopped = threading.Event()
        self.trouble: tuple[str, str] | None = None
        self.words = ""
        self._reveal = reveal
        self._clock = clock
        self._rows: list[CallRow] | None = None
        self._shown: list[CallRow] = []
        self._read = ""

    def compose(self) -> Iterator[Widget]:
        """The folder, the calls, the filter."""
        yield Lines(lambda width: [sides(((" ", ""), (str(self.folder), "strong")), (), width)], id="crumbs")
        yield VirtualList(self._content, id="calls", tabs=(("", "Calls", True),))
        yield Lines(self._filter, id="status")

    def on_mount(self) -> None:
        """Paint first; the calls are listed behind it."""
        self.call_after_refresh(self.list_again)

    def on_unmount(self) -> None:
        """Stop reading: the process waits for its threads."""
        self.stopped.set()

    def on_screen_resume(self) -> None:
        """Back from a call: what is new or has changed meanwhile is read."""
        if self._rows is not None:
            self.list_again()

    def list_again(self) -> None:
        """List the calls in a thread."""
        self.run_worker(self._list, thread=True, exclusive=True, group="list", exit_on_error=False)

    def _list(self) -> None:
        """Runs in a thread: whatever happens comes back as a message."""
        from engine.workspace.store import Store

        rows: list[CallRow] = []
        trouble = None
        try:
            rows = Store(self.folder).rows(
                cancelled=self.stopped.is_set,
                progress=lambda done, total: self.post_message(self.Read(done, total)),
            )
        except EngineError as error:
            trouble = error.code, error.message
        except Exception as error:
            trouble = "INTERNAL", f"{type(error).__name__}: {error}"
        self.post_message(self.Listed(rows, trouble))

    def on_picker_screen_read(self, message: Read) -> None:
        """Say how far the reading is."""
        self._read = f"{message.done:,} of {message.total:,}"
        if self._rows is None:
            self._calls.pull()

    def on_picker_screen_listed(self, message: Listed) -> None:
        """Show the calls."""
        self._rows, self.trouble = message.rows, message.trouble
        self._show()

    # --- what is shown ---------------------------------------------------------------------------------

    @property
    def _calls(self) -> VirtualList:
        return self.query_one("#calls", VirtualList)

    def _show(self) -> None:
        if self._rows is not None:
            from riff_tui.panes.calls import chosen

            self._shown = chosen(self._rows, self.words)
        self._calls.pull()
        self.query_one("#status", Lines).show(self._filter)

    def _content(self, width: int, _: int) -> Content:
        if self.trouble is not None:
            return fixed([(("✗ ", "bad"), (": ".join(self.trouble), ""))], listed("failed", role="bad"))
        if self._rows is None:
            return fixed([((f"reading the calls… {self._read}", "dim"),)], listed("loading"))
        from riff_tui.panes.calls import content

        return content(self._shown, len(self._rows), self._clock())

    def _filter(self, width: int) -> list[Spans]:
        left: Spans = ((" ", ""), ("filter ", "dim"), (self.words + "▏", "accent"))
        leave = "clear" if self.words else "leave"
        keys: Spans = (("Enter", "strong"), (" open  ", "dim"), ("Esc", "strong"), (f" {leave} ", "dim"))
        return [sides(left, keys, width)]

    # --- keys ------------------------------------------------------------------------------------------

    def on_key(self, event: Key) -> None:
        """Whatever can be printed is for the filter."""
        if event.is_printable and event.character is not None and len(self.words) < LONGEST:
            event.stop()
            self._search(self.words + clean(event.character))

    def action_rub(self) -> None:
        """Take away the filter's last character."""
        self._search(self.words[:-1])

    def _search(self, words: str) -> None:
        self.words = words
        self._calls.selected = 0
        self._show()

    def action_back(self) -> None:
        """Clear the filter; without one leave."""
        if self.words:
            self._search("")
        else:
            self.stopped.set()
            self.app.exit(return_code=0)

    def action_open(self) -> None:
        """Open the selected call."""
        if self.trouble is not None or not self._shown:
            return
        row = self._shown[self._calls.selected]
        from riff_tui.screens.debugger import DebuggerScreen

        self.app.push_screen(DebuggerScreen(Request(self.folder / row.path, row.session_id, self._reveal)))

    def on_virtual_list_opened(self) -> None:
        """A second click opens too."""
        self.action_open()
