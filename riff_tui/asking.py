"""Asks the engine what a view needs. Imported when a call is open: the first frame needs none of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from engine.model.artifact import Cell, Turn
from engine.model.views import Cursor, Stop
from riff_tui import client, pages
from riff_tui.spans import SEVERITY
from riff_tui.viewstate import Answers, ViewState, with_fields

if TYPE_CHECKING:
    from engine.hydrate.call import Call

MARKED = 1_000
"""Findings that get a mark on the scrollbar."""
SHOWN = ["variables", "context", "edges"]
"""What the panes show of a place."""
TOWARDS: dict[str, Callable[[ViewState], dict[str, Any]]] = {
    "step": lambda _: {"meaningful": True},
    "write": lambda view: {"slot": view.slot or ""},
    "finding": lambda _: {"finding": True},
}
"""Motion → what ``seek`` goes to next."""
SPOKEN_BACK = 200
"""Conversation items that are searched backwards for the last caller and agent lines."""


def first_view(view: ViewState, call: Call, cursor: Cursor) -> ViewState:
    """The view of a call that was just opened."""
    lists = pages.of(call)
    first = lists.opened.divergence
    divergent = None if first is None else client.seek(call, finding_id=first.finding_id).visit
    marked = tuple(
        (pages.cursor_of(call, number), SEVERITY[finding.severity][1])
        for number, finding in enumerate(lists.findings[:MARKED])
        if finding.event_id is not None or finding.visit_id is not None
    )
    return ask(
        with_fields(
            view,
            phase="ready",
            opened_call=call,
            cursor=cursor,
            divergent=divergent,
            complete=lists.opened.summary.completeness == "complete",
            marked=marked,
        )
    )


def ask(view: ViewState) -> ViewState:
    """The view with the engine's answers at its place."""
    call, old = view.call, view.asked
    place = place_of(view)
    here = client.ask(call, "inspect_event", view.cursor, fields=[*SHOWN, "clock_ms"])
    shown = here if place == view.cursor else client.ask(call, "inspect_event", place, fields=SHOWN)
    turn = None
    if view.talk == "ready":
        turn = client.ask(call, "inspect_conversation", view.cursor, fields=[]).result.index
    answers = Answers(
        place=place,
        visit=view.cursor.visit,
        visit_id="" if shown.cursor is None else shown.cursor.visit_id or "",
        variables=shown.projection["variables"],
        context=shown.projection["context"],
        edges=shown.projection["edges"],
        visits=pages.of(call).visits,
        event_id=None if here.cursor is None else here.cursor.event_id,
        clock_ms=here.projection["clock_ms"],
        clock="none" if here.result is None else here.result["clock"],
        turn=turn,
        spoken=old.spoken if old and old.turn == turn else spoken(call, turn),
        findings=here.findings,
    )
    slot = view.slot
    if slot is None and answers.variables:
        moved = (row.slot for row in answers.variables if row.changed or _held(row.entry) != _held(row.exit))
        slot = next(moved, answers.variables[0].slot)
    return with_fields(view, asked=answers, slot=slot)


def _held(cell: Cell) -> tuple[str, bool, object]:
    return cell.availability, cell.unset, cell.value


def place_of(view: ViewState) -> Cursor:
    """Where variables and edges are asked: the cursor, or the near end of the visit that is looked at."""
    look, cursor = view.look, view.cursor
    if look is None or look == cursor.visit:
        return cursor
    last = max(0, pages.of(view.call).visits[look].micro_events - 1)
    return Cursor(look, last if look < cursor.visit else 0)


def hear(call: Call) -> None:
    """Build the conversation lane, which takes a while in a long call; the engine keeps it."""
    len(pages.of(call).items)


def spoken(call: Call, turn: int | None) -> tuple[Turn | None, Turn | None]:
    """The last caller line and the last agent line, at or before a conversation item."""
    caller: Turn | None = None
    agent: Turn | None = None
    if turn is None:
        return None, None
    items = pages.of(call).items
    for index in range(turn, max(-1, turn - SPOKEN_BACK), -1):
        item = items[index]
        if caller is None and item.lane in ("caller", "dtmf"):
            caller = item
        if agent is None and item.lane == "agent":
            agent = item
        if caller is not None and agent is not None:
            break
    return caller, agent


def move(view: ViewState, motion: str, count: int) -> Stop:
    """Where a motion of the key table leads; a negative count goes back."""
    forth, times = count > 0, abs(count)
    way = "next" if forth else "previous"
    match motion:
        case "event":
            return _moved(view, "step_into" if forth else "step_back", count=times)
        case "visit":
            return _moved(view, "step_over" if forth else "reverse_over", count=times)
        case "bound":
            return _moved(view, "step_out" if forth else "reverse_out")
        case "edge":
            return _moved(view, "seek", **{"end" if forth else "start": True})
        case "same":  # from its entry, so that back leads to the visit before, also from inside
            at_entry = with_fields(view, cursor=_moved(view, "reverse_out").cursor)
            visits = pages.of(view.call).visits
            state = visits[view.cursor.visit].state_id if visits else ""
            stop = _moved(at_entry, "seek", count=times, **{way: {"state": state}})
            return stop if stop.cursor != at_entry.cursor else Stop(view.cursor, stop.at)
        case _:
            return _moved(view, "seek", count=times, **{way: TOWARDS[motion](view)})


def _moved(view: ViewState, action: str, **args: Any) -> Stop:
    response = client.ask(view.call, action, view.cursor, fields=[], **args)
    return Stop(client.reached(view.call, response), response.result.at)


def seek(view: ViewState, **where: Any) -> Cursor:
    """A place that is named, as ``seek`` names it; ``place`` takes what a person typed.

    Raises:
        EngineError: There is none of that name.
    """
    return client.seek(view.call, view.cursor, **where)


def run(view: ViewState, reverse: bool, count: int, cancelled: Callable[[], bool]) -> Stop:
    """Where a run over the view's breakpoints ends.

    Raises:
        EngineError: ``CANCELLED``.
    """
    points = [
        {"on": point.text, "when": point.when, "hit_count": point.hit_count, "enabled": point.enabled}
        for point in view.breakpoints
    ]
    response = client.ask(
        *(view.call, "reverse_continue" if reverse else "continue", view.cursor, cancelled),
        fields=[], count=count, breakpoints=points,
    )  # fmt: skip
    told = response.result
    hit = next((point for point in view.breakpoints if told.hit and point.id == told.hit.id), None)
    return Stop(client.reached(view.call, response), told.at, hit)
