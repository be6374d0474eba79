"""The debugger screen: counts and panes, rows that open, and what opens over it."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.timer import Timer

from engine.model.errors import EngineError
from riff_tui.actions import ACTIONS, PANES
from riff_tui.content import Target
from riff_tui.opening import Request
from riff_tui.screens.motions import told
from riff_tui.screens.opener import Opener
from riff_tui.viewstate import with_fields
from riff_tui.widgets.virtual_list import VirtualList

COUNT_WAITS = 0.6
"""Seconds that a digit waits for its motion; after that it has only chosen a pane."""
MOST_COUNT = 6
"""Digits of the longest count."""


class DebuggerScreen(Opener):
    """One recorded call."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            key,
            action.run.format(key=key),
            action.title,
            show=False,
            id=f"{action.name}.{key}",
            priority=True,  # in the order typed: what follows a key that opens a screen is for that screen
        )
        for action in ACTIONS
        for key in action.keys
    ]
    AUTO_FOCUS = "#events"

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        self._timer: Timer | None = None
        self._before_digits = "events"

    # --- counts and panes ------------------------------------------------------------------------------

    def count(self) -> int:
        """The count typed before this key, used up; the focus goes back to where it was before the digits."""
        pending = self.view.pending
        if not pending:
            return 1
        self.view = with_fields(self.view, pending="")
        self._focus(self._before_digits)
        return max(1, int(pending))

    def action_digit(self, digit: int) -> None:
        """A pane's number or a digit of a count: the focus moves at once, and back if a motion follows."""
        pending = self.view.pending
        if not pending:
            if digit == 0:
                return
            self._before_digits = self.focused_pane
        self.view = with_fields(self.view, pending=(pending + str(digit))[:MOST_COUNT], notice=None)
        if 0 < digit <= len(PANES):
            self._focus(list(PANES)[digit - 1])
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(COUNT_WAITS, self._forget_count)
        self.show_bars()

    def _forget_count(self) -> None:
        if self.view.pending:
            self.view = with_fields(self.view, pending="")
            self.show_bars()

    def action_cycle(self, direction: int) -> None:
        """Go through the panes by number."""
        names = list(PANES)
        self._focus(names[(names.index(self.focused_pane) + direction) % len(names)])

    def _focus(self, name: str) -> None:
        if name != "events" and name != self.view.deck:
            narrow = self.view.narrow
            self.view = with_fields(self.view, deck=name)
            if narrow:
                self.set_view(self.view)
        self.set_focus(self.pane(name))

    # --- rows ------------------------------------------------------------------------------------------

    def on_virtual_list_highlighted(self, message: VirtualList.Highlighted) -> None:
        """A selected slot is the one that `w` follows."""
        if message.target.kind == "slot":
            self.view = with_fields(self.view, slot=message.target.name)

    def on_virtual_list_opened(self) -> None:
        """A second click does what Enter does."""
        self.action_open_row()

    def action_open_row(self) -> None:
        """Open the selected row of the focused pane."""
        if not self.ready():
            return
        pane = self.pane(self.focused_pane)
        target = pane.target if pane.content.count else Target()
        if target.kind == "visit" and target.visit is not None:
            self._toggle_visit(target.visit)
        elif target.kind == "lane":
            self.set_view(with_fields(self.view, lane_open=not self.view.lane_open, notice=None))
        elif target.kind == "finding":
            self.action_to_row()
        elif target.kind != "none":
            self._show_detail(target)

    def _toggle_visit(self, visit: int) -> None:
        view = self.view
        if visit in view.open_visits:
            view = with_fields(view, closed=view.closed | {visit}, opened=view.opened - {visit})
        else:
            view = with_fields(view, closed=view.closed - {visit}, opened=view.opened | {visit})
        self.set_view(with_fields(view, notice=None))

    def _show_detail(self, target: Target) -> None:
        from riff_tui.detail import describe
        from riff_tui.screens.detail import DetailScreen

        try:
            title, lines = describe(self.view, target)
        except (EngineError, OSError) as error:
            self.say(f"can't be read: {error}; other rows still work", "bad")
            return
        self.app.push_screen(DetailScreen(title, lines))

    # --- what opens over the screen --------------------------------------------------------------------

    def action_goto(self) -> None:
        """Ask where to go."""
        if not self.ready():
            return
        from riff_tui import asking
        from riff_tui.screens.prompt import PromptScreen

        def go(text: str) -> str | None:
            try:
                found = asking.seek(self.view, place=text)
            except (EngineError, OSError) as error:
                return told(error)
            self.stand_at(found)
            return None

        self.app.push_screen(PromptScreen("go to", "#482  12.4s  menu#2  a finding  an event id", go))

    def action_breakpoints(self) -> None:
        """Edit all breakpoints as one line."""
        if not self.ready():
            return
        from riff_tui.points import points_from, points_text
        from riff_tui.screens.prompt import PromptScreen

        def keep(text: str) -> str | None:
            try:
                points = points_from(self.view.call, text)
            except EngineError as error:
                return f"{error.code}: {error.message}"
            self.set_breakpoints(points, f"{len(points)} breakpoints")
            return None

        hint = "state:menu, slot:_route, event:…, guard:…, edge:…, finding:…, input; -: off"
        self.app.push_screen(PromptScreen("breakpoints", hint, keep, points_text(self.view.breakpoints)))

    def action_help(self) -> None:
        """Show the keys."""
        from riff_tui.screens.help import HelpScreen

        self.app.push_screen(HelpScreen(self.view.phase == "ready"))

    def action_close(self) -> None:
        """Interrupt what runs, else drop a count, a look or a notice."""
        if self.view.phase == "loading":
            self.cancel_opening()
        elif self.running:
            self.workers.cancel_group(self, "run")
        elif self.view.look is not None:
            self.action_look(0)
        else:
            self.set_view(with_fields(self.view, pending="", notice=None))
