"""What the keys of the debugger do: motions through time, looking, breakpoints."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.worker import get_current_worker

from engine.model.errors import EngineError
from engine.model.views import Cursor, Stop
from riff_tui.content import Target
from riff_tui.messages import Arrived
from riff_tui.screens.frame import Frame
from riff_tui.viewstate import ViewState, with_fields

if TYPE_CHECKING:
    from engine.model.breakpoint import Breakpoint

WORDS = {
    "step": "event that means something",
    "event": "event",
    "visit": "visit",
    "same": "visit of this state",
    "write": "write",
    "finding": "finding",
}
"""What a motion goes through."""


def told(error: EngineError | OSError) -> str:
    """Why a question has no answer, in one line."""
    if isinstance(error, EngineError):
        return f"{error.code}: {error.message}"
    return f"no answer here: {error}; other places still work"


class Motions(Frame):
    """The actions that need an open call."""

    running: bool = False
    _asking: bool = False

    def count(self) -> int:
        """The count typed before this key; none is one."""
        raise NotImplementedError

    # --- time ------------------------------------------------------------------------------------------

    def action_move(self, motion: str, direction: int) -> None:
        """Move through time."""
        count = self.count()
        if not self.ready():
            return
        from riff_tui import asking

        view = self.view
        try:
            stop = asking.move(view, motion, direction * count)
        except (EngineError, OSError) as error:
            self.say(told(error), "bad")
            return
        self.stand_at(stop.cursor, self._after_move(motion, direction, count, stop))

    def _after_move(self, motion: str, direction: int, count: int, stop: Stop) -> tuple[str, str] | None:
        """What to say about a motion: that it ran out, or that a number before it was a count."""
        if motion == "bound":
            return None
        what = WORDS[motion] + (f" of {self.view.slot}" if motion == "write" else "")
        if stop.at is not None:
            return f"no {'earlier' if stop.at == 'start' else 'later'} {what}", "warn"
        return (f"{count:,} × {'next' if direction > 0 else 'previous'} {what}", "dim") if count > 1 else None

    def stand_at(self, cursor: Cursor, notice: tuple[str, str] | None = None) -> None:
        """Move the event cursor. Answers are asked once for all keys that wait."""
        closed = self.view.closed - {cursor.visit}
        self.view = with_fields(self.view, cursor=cursor, look=None, closed=closed, notice=notice)
        if not self._asking:
            self._asking = True
            self.call_later(self._answer)

    def _answer(self) -> None:
        if self._asking:
            self.ask_again()

    def ask_again(self, *, follow: bool = True) -> None:
        """Ask the engine for the answers at the view's place, and show them."""
        self._asking = False
        from riff_tui import asking

        try:
            self.set_view(asking.ask(self.view), follow=follow)
        except (EngineError, OSError) as error:
            self.say(told(error), "bad")

    def action_edge_of_call(self, direction: int) -> None:
        """Go to the first or the last event."""
        if self.ready():
            from riff_tui import asking

            self.stand_at(asking.move(self.view, "edge", direction).cursor)

    def action_to_row(self) -> None:
        """Move the cursor to the selected row."""
        if not self.ready():
            return
        try:
            cursor = self.cursor_of(self.pane(self.focused_pane).target)
        except (EngineError, OSError) as error:
            self.say(told(error), "bad")
            return
        if cursor is None:
            self.say("this row has no place in time", "warn")
        else:
            self.stand_at(cursor)

    def cursor_of(self, target: Target) -> Cursor | None:
        """The place in time of a row."""
        from riff_tui import asking, pages

        view, lists = self.view, pages.of(self.view.call)
        if target.cursor is not None:
            return target.cursor
        if target.kind == "visit" and target.visit is not None:
            return asking.seek(view, visit_id=lists.visits[target.visit].visit_id)
        if target.kind == "unattributed" and target.index is not None:
            return asking.seek(view, event_id=lists.lane[target.index].event_id)
        if target.kind == "finding" and target.name is not None:
            return asking.seek(view, finding_id=target.name)
        return asking.seek(view, event_id=target.event_id) if target.event_id else None

    # --- running to a breakpoint -----------------------------------------------------------------------

    def action_run_to(self, direction: int) -> None:
        """Run to the next breakpoint in a thread; Esc interrupts."""
        count = self.count()
        if not self.ready():
            return
        if not any(point.enabled for point in self.view.breakpoints):
            self.say("no breakpoint is set: b sets one on the selected row, B edits them", "warn")
            return
        self.running = True
        self.say("running… Esc interrupts", "accent")
        work = partial(self._run, self.view, direction < 0, count)
        self.run_worker(work, thread=True, exclusive=True, group="run", exit_on_error=False)

    def _run(self, view: ViewState, reverse: bool, count: int) -> None:
        from riff_tui import asking

        worker = get_current_worker()
        try:
            stop = asking.run(view, reverse, count, lambda: worker.is_cancelled)
        except (EngineError, OSError) as error:
            stopped = isinstance(error, EngineError) and error.code == "CANCELLED"
            self.post_message(Arrived(None, "interrupted" if stopped else told(error)))
        else:
            self.post_message(Arrived(stop))

    def on_arrived(self, message: Arrived) -> None:
        """A run to a breakpoint ended."""
        self.running = False
        if message.reached is None:
            self.say(message.trouble or "interrupted", "warn")
            return
        words = {"start": "start of the call, no breakpoint hit", "end": "end of the call, no breakpoint hit"}
        stop = message.reached
        hit = (f"● stopped at {stop.hit.text}", "accent") if stop.hit else None
        self.stand_at(stop.cursor, (words[stop.at], "warn") if stop.at else hit)

    # --- looking ---------------------------------------------------------------------------------------

    def action_look(self, direction: int) -> None:
        """Look at a neighbouring visit; time stays."""
        count = self.count()
        if not self.ready():
            return
        from riff_tui import pages

        last = len(pages.of(self.view.call).visits) - 1
        look: int | None = max(0, min(last, self.view.shown_visit + direction * count))
        if direction == 0 or look == self.view.cursor.visit:
            look = None
        self.view = with_fields(self.view, look=look, notice=None)
        self.ask_again()

    def action_changed_only(self) -> None:
        """Show all variables, or those that changed in this visit."""
        if self.ready():
            self.pane("variables").follows = True
            self.set_view(with_fields(self.view, changed_only=not self.view.changed_only, notice=None))

    # --- breakpoints -----------------------------------------------------------------------------------

    def action_breakpoint(self) -> None:
        """Set or remove a breakpoint on what the selected row stands for."""
        if not self.ready():
            return
        from riff_tui import client

        text = self._breakpoint_text(self.pane(self.focused_pane).target)
        points = self.view.breakpoints
        kept = tuple(point for point in points if point.text != text)
        if len(kept) < len(points):
            self.set_breakpoints(kept, f"breakpoint {text} removed")
            return
        try:
            self.set_breakpoints((*points, client.breakpoint(self.view.call, text)), f"● breakpoint {text}")
        except EngineError as error:
            self.say(f"{error.code}: {error.message}", "bad")

    def _breakpoint_text(self, target: Target) -> str:
        from riff_tui import pages

        lists = pages.of(self.view.call)
        if target.kind == "slot":
            return f"slot:{target.name}"
        if target.kind == "event" and target.visit is not None and target.index is not None:
            return f"event:{lists.events(target.visit)[target.index].kind}"
        visit = target.visit if target.visit is not None else self.view.shown_visit
        return f"state:{lists.visits[visit].state_id if visit < len(lists.visits) else ''}"

    def set_breakpoints(self, points: tuple[Breakpoint, ...], words: str) -> None:
        """Show other breakpoints."""
        self.set_view(with_fields(self.view, breakpoints=points, notice=(words, "accent")))

    # --- small things ----------------------------------------------------------------------------------

    def ready(self) -> bool:
        """Whether keys can act: the call is open and nothing runs. Drops a count that waits."""
        if self.view.pending:
            self.view = with_fields(self.view, pending="")
        if self.view.phase == "loading":
            self.say("still loading: this key works once the call is open", "warn")
        return self.view.phase == "ready" and not self.running

    def say(self, text: str, role: str = "") -> None:
        """Put one line where the keys stand; the next key takes it away."""
        self.view = with_fields(self.view, notice=(text, role))
        self.show_bars()
