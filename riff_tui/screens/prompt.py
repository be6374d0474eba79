"""One line to type into at the bottom of the screen; what is wrong with it is said above it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.events import Key
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Label, Static

from riff_tui.text import clean

Submit = Callable[[str], str | None]
"""Takes the text; returns what is wrong with it, or None."""
LONGEST_WAY = 1.0
"""Seconds that a key has to reach the line: a screen that breaks must not hold the app."""


class PromptScreen(ModalScreen[None]):
    """Asks for one line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # In the order typed: what follows a key that closes the prompt is for the screen below.
        Binding("enter", "submit", "take the line", priority=True),
        Binding("escape", "leave", "close", priority=True),
    ]

    def __init__(self, title: str, hint: str, submit: Submit, value: str = "") -> None:
        super().__init__()
        self._title = title
        self._may_be_empty = bool(value)
        self._submit = submit
        self._line = Input(value=value, placeholder=hint, select_on_focus=False)
        self._trouble = Static("", id="trouble", markup=False)

    def compose(self) -> Iterator[Widget]:
        """The trouble line and the input."""
        yield self._trouble
        with Horizontal():
            yield Label(self._title, markup=False)
            yield self._line

    def on_key(self, event: Key) -> None:
        """Take what came before the input had the focus: over a slow line a command comes in one piece."""
        if event.is_printable and event.character:
            self._line.insert_text_at_cursor(event.character)

    def on_input_changed(self) -> None:
        """What was wrong with the text may be so no longer."""
        self._trouble.display = False

    async def action_submit(self) -> None:
        """Try the text; stay open when it is wrong.

        The app waits here, and with it the keys after Enter; those before it may still be on their way: to
        the screen, from before the input had the focus, or to the input, which then tells the screen.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(LONGEST_WAY):
                for pump in (self, self._line, self):
                    arrived = asyncio.Event()
                    pump.call_later(arrived.set)
                    await arrived.wait()
        text = self._line.value.strip()
        trouble = self._submit(text) if text or self._may_be_empty else None
        if trouble is None:
            self.dismiss()
            return
        self._trouble.update(clean(trouble))
        self._trouble.display = True

    def action_leave(self) -> None:
        """Leave without doing anything."""
        self.dismiss()
