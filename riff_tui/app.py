"""The app: themes, signals and the one screen; everything else has a room of its own."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from functools import partial
from pathlib import Path

from textual.screen import Screen

from riff_tui import hangup
from riff_tui.compat import CalmExit
from riff_tui.opening import Request
from riff_tui.palette import ActionCommands
from riff_tui.screens.debugger import DebuggerScreen
from riff_tui.themes import THEMES, choose

FAILED = 3
"""Exit status when the call could not be opened."""


class RiffApp(CalmExit):
    """The debugger for one recorded call, or for those of a folder.

    Args:
        request: The call to open.
        calls: The folder whose calls are offered, where no call is named.
    """

    CSS_PATH = Path(__file__).parent / "themes" / "riff.tcss"
    TITLE = "riff-tui"
    COMMANDS = {ActionCommands}
    BINDINGS = []

    def __init__(self, request: Request | None, calls: Path | None = None) -> None:
        theme = choose(os.environ)
        # Told at once: Textual picks its colour filters before it knows the theme.
        super().__init__(ansi_color=theme.ansi or None)
        self.request = request
        self.calls = calls
        self.left_trouble: tuple[str, str] | None = None
        for known in THEMES.values():
            self.register_theme(known)
        self.theme = theme.name

    def get_default_screen(self) -> Screen[None]:
        """The debugger, or the picker, is the first screen: no empty one is painted before it."""
        if self.request is not None:
            return DebuggerScreen(self.request)
        from riff_tui.screens.picker import PickerScreen

        assert self.calls is not None
        return PickerScreen(self.calls)

    def on_mount(self) -> None:
        """Leave the terminal clean when the session ends under us, and end when the terminal goes away."""
        loop = asyncio.get_running_loop()
        if not self.is_headless:
            gone = partial(self.exit, return_code=hangup.STATUS)
            hangup.watch(sys.stdin.fileno(), partial(loop.call_soon_threadsafe, gone))
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            try:
                loop.add_signal_handler(number, partial(self.exit, return_code=128 + number))
            except (NotImplementedError, RuntimeError, ValueError):
                return  # not the main thread, or no such signals here

    def action_help_quit(self) -> None:
        """Ctrl+C, which Textual binds: say what leaves."""
        for screen in self.screen_stack:
            if isinstance(screen, DebuggerScreen):
                screen.say("q leaves", "accent")

    async def action_quit(self) -> None:
        """Leave; a call that could not be opened is an error for the shell too. A picked call goes back."""
        if self.request is None and len(self.screen_stack) > 1:
            self.pop_screen()
            return
        screen = self.screen_stack[0]
        if isinstance(screen, DebuggerScreen):
            screen.stopped.set()
            self.left_trouble = screen.view.trouble
        self.exit(return_code=FAILED if self.left_trouble is not None else 0)
