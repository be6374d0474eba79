"""One line to type into at the bottom of the screen; what is wrong with it is said above it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

from textual.binding import BindingType
from textual.containers import Horizontal
from textual.events import Key
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Label, Static

from riff_tui.text import clean

Submit = Callable[[str], str | None]
"""Takes the text; returns what is wrong with it, or None."""


class PromptInput(Input):
    """Submits at once: a key that follows Enter in one piece is not part of the line."""

    def on_key(self, event: Key) -> None:
        """Take Enter before it waits in another queue."""
        if event.key == "enter":
            event.stop()
            self.post_message(Input.Submitted(self, self.value))


class PromptScreen(ModalScreen[None]):
    """Asks for one line."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "leave", "close")]

    def __init__(self, title: str, hint: str, submit: Submit, value: str = "") -> None:
        super().__init__()
        self._title = title
        self._may_be_empty = bool(value)
        self._submit = submit
        self._line = PromptInput(value=value, placeholder=hint, select_on_focus=False)
        self._trouble = Static("", id="trouble", markup=False)

    def compose(self) -> Iterator[Widget]:
        """The trouble line and the input."""
        yield self._trouble
        with Horizontal():
            yield Label(self._title, markup=False)
            yield self._line

    def on_key(self, event: Key) -> None:
        """Take what came before the input had the focus: over a slow line a command comes in one piece."""
        if event.key == "enter":
            event.stop()
            self._try(self._line.value)
        elif event.is_printable and event.character:
            self._line.insert_text_at_cursor(event.character)

    def on_input_changed(self) -> None:
        """What was wrong with the text may be so no longer."""
        self._trouble.display = False

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Try the text; stay open when it is wrong."""
        event.stop()
        self._try(event.value)

    def _try(self, value: str) -> None:
        text = value.strip()
        trouble = self._submit(text) if text or self._may_be_empty else None
        if trouble is None:
            self.dismiss()
            return
        self._trouble.update(clean(trouble))
        self._trouble.display = True

    def action_leave(self) -> None:
        """Leave without doing anything."""
        self.dismiss()
