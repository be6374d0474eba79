"""Messages from worker threads to the screen. Posting is safe from a thread and never waits for the app."""

from __future__ import annotations

from textual.message import Message

from engine.model.views import Stop
from riff_tui.viewstate import ViewState


class Loading(Message):
    """How far hydration is."""

    def __init__(self, stage: str, share: float | None) -> None:
        super().__init__()
        self.stage = stage
        self.share = share

    def can_replace(self, message: Message) -> bool:
        """Only the newest progress matters."""
        return isinstance(message, Loading)


class Opened(Message):
    """The call is open, and this is its first view."""

    def __init__(self, view: ViewState) -> None:
        super().__init__()
        self.view = view


class Heard(Message):
    """The conversation lane is there, or why it is not."""

    def __init__(self, trouble: str = "") -> None:
        super().__init__()
        self.trouble = trouble


class Seen(Message):
    """Whether the call is gone from where it was opened."""

    def __init__(self, gone: bool) -> None:
        super().__init__()
        self.gone = gone


class Failed(Message):
    """The call could not be opened."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__()
        self.code = code
        self.message = message


class Arrived(Message):
    """A run to a breakpoint ended; without a stop when it was interrupted or failed."""

    def __init__(self, reached: Stop | None, trouble: str | None = None) -> None:
        super().__init__()
        self.reached = reached
        self.trouble = trouble
