"""Asks the engine what a view needs. Imported when a call is open: the first frame needs none of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.debug import cursor as moves
from engine.debug import projection
from engine.hydrate.summary import first_divergence
from engine.model.artifact import Cell, Turn
from engine.model.views import Cursor, Stop
from riff_tui.spans import SEVERITY
from riff_tui.viewstate import Answers, ViewState, with_fields

if TYPE_CHECKING:
    from engine.hydrate.call import Call

GRAVEST = ("error", "warning", "info")
MARKED = 1_000
"""Findings that get a mark on the scrollbar."""
SPOKEN_BACK = 200
"""Conversation items that are searched backwards for the last caller and agent lines."""


def first_view(view: ViewState, call: Call, cursor: Cursor) -> ViewState:
    """The view of a call that was just opened."""
    first = first_divergence(call.findings)
    divergent = moves.at_finding(call, first.finding_id).visit if first is not None else None
    findings = tuple(sorted(call.findings, key=lambda finding: GRAVEST.index(finding.severity)))
    marked = tuple(
        (moves.at_finding(call, finding.finding_id), SEVERITY[finding.severity][1])
        for finding in findings[:MARKED]
        if finding.event_id is not None or finding.visit_id is not None
    )
    return ask(
        with_fields(
            view,
            phase="ready",
            opened_call=call,
            cursor=cursor,
            divergent=divergent,
            findings=findings,
            marked=marked,
        )
    )


def ask(view: ViewState) -> ViewState:
    """The view with the engine's answers at its place; a trail that is still true is kept."""
    call, old = view.call, view.asked
    place = place_of(view)
    status = projection.status(call, view.cursor)
    turn = projection.conversation_index(call, view.cursor) if view.talk == "ready" else None
    same_visit = old is not None and old.status.visit_id == status.visit_id
    answers = Answers(
        place=place,
        visit_id=projection.visit_id(call, place.visit),
        variables=projection.variables(call, place),
        context=projection.context(call, place),
        edges=projection.edges(call, place),
        crumbs=old.crumbs if old and same_visit else projection.breadcrumb(call, view.cursor),
        status=status,
        turn=turn,
        spoken=old.spoken if old and old.turn == turn else spoken(call, turn),
        findings=[finding.finding_id for finding in projection.findings_here(call, view.cursor)],
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
    last = max(0, projection.micro_count(view.call, look) - 1)
    return Cursor(look, last if look < cursor.visit else 0)


def hear(call: Call) -> None:
    """Build the conversation lane, which takes a while in a long call; the engine keeps it."""
    projection.conversation_count(call)


def spoken(call: Call, turn: int | None) -> tuple[Turn | None, Turn | None]:
    """The last caller line and the last agent line, at or before a conversation item."""
    caller: Turn | None = None
    agent: Turn | None = None
    if turn is None:
        return None, None
    for index in range(turn, max(-1, turn - SPOKEN_BACK), -1):
        item = projection.conversation_item(call, index)
        if caller is None and item.lane in ("caller", "dtmf"):
            caller = item
        if agent is None and item.lane == "agent":
            agent = item
        if caller is not None and agent is not None:
            break
    return caller, agent


def move(view: ViewState, motion: str, count: int) -> Stop:
    """Where a motion of the key table leads; a negative count goes back."""
    call, cursor = view.call, view.cursor
    if motion == "bound":
        return moves.out(call, cursor) if count > 0 else moves.entry(call, cursor)
    if motion == "write":
        return moves.next_write(call, cursor, view.slot or "", count)
    motions = {
        "step": moves.step_meaningful,
        "event": moves.step,
        "visit": moves.over,
        "same": moves.same_state,
        "finding": moves.next_finding,
    }
    return motions[motion](call, cursor, count)
