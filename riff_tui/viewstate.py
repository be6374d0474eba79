"""The one immutable value that all of the screen is drawn from: a place, and the engine's answers there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from engine.model.artifact import Turn
from engine.model.views import ContextRow, Cursor, EdgeTable, VariableRow

if TYPE_CHECKING:
    from engine.hydrate.call import Call
    from engine.model.breakpoint import Breakpoint
    from engine.service.actions.lists import VisitRow

Phase = Literal["loading", "ready", "failed"]


class Answers(msgspec.Struct, frozen=True):
    """What the engine says about one place in the call.

    Attributes:
        place: The cursor of these answers: the event cursor, or a visit that is looked at.
        visit: The visit of the event cursor.
        event_id, clock_ms, clock: The event at the cursor, its call clock and where that is from.
        visits: All visits of the call, for the trail.
        turn: The last item of the conversation lane at or before the cursor; None before the lane is there.
        spoken: The last caller line that was acted on and the last agent line, at or before the cursor.
    """

    place: Cursor
    visit: int
    visit_id: str
    variables: list[VariableRow]
    context: list[ContextRow]
    edges: EdgeTable
    visits: Sequence[VisitRow]
    event_id: str | None
    clock_ms: float | int | None
    clock: str
    turn: int | None
    spoken: tuple[Turn | None, Turn | None]
    findings: list[str]


class ViewState(msgspec.Struct, frozen=True):
    """All that the panes draw. A motion makes another one; nothing in it changes.

    Attributes:
        loaded: Stage of hydration and how far it is, while loading.
        trouble: Error code and message when the call could not be opened.
        talk: Whether the conversation lane is there yet: it is built after the call is shown.
        talk_trouble: Why there is no conversation lane.
        gone: The call can no longer be found where it was opened.
        cursor: The event cursor: time.
        look: A visit that is looked at while time stays.
        divergent: The visit of the first divergence; its events are open.
        opened, closed: Visits that were opened or closed by hand.
        slot: The slot that `w` follows.
        notice: A line about what just happened, with its role.
        pending: Digits of a count that wait for their motion.
        size: Columns and rows of the terminal.
        deck: The pane that shares a small screen with the events.
        complete: Whether the evidence is.
        marked: Where findings stand, with the role of their mark.
    """

    title: str = ""
    phase: Phase = "loading"
    loaded: tuple[str, float | None] = ("", None)
    trouble: tuple[str, str] | None = None
    revealed: bool = False
    talk: Phase = "loading"
    talk_trouble: str = ""
    gone: bool = False
    cursor: Cursor = Cursor(0, 0)
    look: int | None = None
    divergent: int | None = None
    opened: frozenset[int] = frozenset()
    closed: frozenset[int] = frozenset()
    lane_open: bool = False
    slot: str | None = None
    changed_only: bool = False
    notice: tuple[str, str] | None = None
    pending: str = ""
    size: tuple[int, int] = (0, 0)
    narrow: bool = False
    deck: str = "call"
    breakpoints: tuple[Breakpoint, ...] = ()
    complete: bool = False
    marked: tuple[tuple[Cursor, str], ...] = ()
    opened_call: Call | None = None
    asked: Answers | None = None

    @property
    def call(self) -> Call:
        """The call; there is none before it is ready."""
        if self.opened_call is None:
            raise LookupError("the call is not open yet")
        return self.opened_call

    @property
    def answers(self) -> Answers:
        """The engine's answers; there are none before the call is ready."""
        if self.asked is None:
            raise LookupError("nothing was asked yet")
        return self.asked

    @property
    def open_visits(self) -> frozenset[int]:
        """Visits whose events are listed: the shown one, the first divergent one, those opened by hand."""
        always = {self.shown_visit} if self.divergent is None else {self.shown_visit, self.divergent}
        return (self.opened | always) - self.closed

    @property
    def shown_visit(self) -> int:
        """The visit that the panes show."""
        return self.cursor.visit if self.look is None else self.look


def with_fields(view: ViewState, **fields: Any) -> ViewState:
    """The same view with some fields replaced."""
    return msgspec.structs.replace(view, **fields)
