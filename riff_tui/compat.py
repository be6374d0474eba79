"""The only place that touches private parts of Textual; each with its reason."""

from __future__ import annotations

import os

from textual.app import App

from riff_tui.text import clean


class CalmExit(App[None]):
    """An app that leaves the terminal clean, with one line instead of a traceback, when something breaks.

    Textual prints a traceback with local values from `App._handle_exception`; there is no public hook. In a
    test (headless) and with RIFF_DEBUG set, Textual's own way is kept.
    """

    crash: BaseException | None = None

    def _handle_exception(self, error: Exception) -> None:
        if self.is_headless or os.environ.get("RIFF_DEBUG"):
            super()._handle_exception(error)
            return
        if self.crash is None:
            self.crash = error
        self._return_code = 1
        self._close_messages_no_wait()


def crash_line(app: CalmExit) -> str | None:
    """One line about the exception that ended an app, if one did."""
    if app.crash is None:
        return None
    words = clean(f"{type(app.crash).__name__}: {app.crash}")
    return f"internal error: {words} (RIFF_DEBUG=1 shows where)"
