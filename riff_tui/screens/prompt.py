"""One line to type into at the bottom of the screen; what is wrong with it is said above it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

from textual.binding import BindingType
from textual.containers import Horizontal
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Label, Static

from riff_tui.text import clean

Submit = Callable[[str], str | None]
"""Takes the text; returns what is wrong with it, or None."""


class PromptScreen(ModalScreen[None]):
    """Asks for one line."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "leave", "close")]

    def __init__(self, title: str, hint: str, submit: Submit, value: str = "") -> None:
        super().__init__()
        self._words = (title, hint, value)
        self._submit = submit

    def compose(self) -> Iterator[Widget]:
        """The trouble line and the input."""
        title, hint, value = self._words
        yield Static("", id="trouble", markup=False)
        with Horizontal():
            yield Label(title, markup=False)
            yield Input(value=value, placeholder=hint, select_on_focus=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Try the text; stay open when it is wrong."""
        event.stop()
        trouble = self._submit(event.value.strip()) if event.value.strip() or self._words[2] else None
        if trouble is None:
            self.dismiss()
            return
        line = self.query_one("#trouble", Static)
        line.update(clean(trouble))
        line.display = True

    def action_leave(self) -> None:
        """Leave without doing anything."""
        self.dismiss()
