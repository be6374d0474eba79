"""What a response says beside its result: cursor, projection, delta, exit decision, hash (contract 3.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.canonical import fingerprint
from engine.debug import cursor as moves
from engine.debug import projection
from engine.hydrate.call import Call
from engine.hydrate.edgetable import edge_table
from engine.hydrate.redaction import redactor
from engine.model.artifact import Cell, Turn
from engine.model.commands import Candidate, Delta, ExitDecision, Place
from engine.model.errors import EngineError
from engine.model.views import Cursor

CONTRACT = "riff.debug/1"
WINDOW = 3
"""Conversation items shown before the cursor, and after it."""


def place(call: Call, cursor: Cursor) -> Place | None:
    """A cursor by names; None in a call without events."""
    event = moves.event_of(call, cursor)
    if event < 0:
        return None
    return Place(
        visit_id=projection.visit_id(call, cursor.visit) or None,
        event_id=call.event_id(event),
        visit_index=cursor.visit if call.visits else None,
        micro_event_index=cursor.micro if cursor.unattributed is None and call.visits else None,
    )


def cursor_at(call: Call, asked: Place | None) -> Cursor:
    """The cursor that a request names: an event, a visit's entry, or the start.

    Raises:
        EngineError: ``UNKNOWN_EVENT``, ``UNKNOWN_VISIT``; ``BAD_ARGUMENT`` where its parts are of two places.
    """
    if asked is None or asked == Place():
        return moves.start(call)
    if asked.event_id is not None:
        found = moves.at_event(call, asked.event_id)
    elif asked.visit_id is not None:
        found = moves.at_visit(call, asked.visit_id)
    else:
        raise EngineError("BAD_ARGUMENT", "a cursor names an event or a visit", argument="cursor")
    if asked.visit_id is not None:
        moves.at_visit(call, asked.visit_id)  # a visit that is not there is named as such
    stands = place(call, found)
    for name in ("visit_id", "visit_index", "micro_event_index"):
        wanted = getattr(asked, name)
        if wanted is not None and (stands is None or wanted != getattr(stands, name)):
            raise EngineError(
                "BAD_ARGUMENT",
                f"the cursor's {name} is not that of its event or visit",
                argument=f"cursor.{name}",
            )
    return found


def determinism_hash(call: Call, cursor: Cursor) -> str:
    """The hash of everything that an answer at a cursor of the record depends on (contract 3.1)."""
    stands = place(call, cursor)
    named = None if stands is None else {"visit_id": stands.visit_id, "event_id": stands.event_id}
    return fingerprint(
        {
            "artifact_hash": call.artifact_hash, "cursor": named, "branch": None, "overlays": [],
            "inputs": [], "execution_target": None, "contract": CONTRACT,
        }
    )  # fmt: skip


def delta(call: Call, before: Cursor, after: Cursor) -> list[Delta]:
    """The slots that hold something else at another cursor."""
    if before == after:
        return []
    rows = zip(projection.variables(call, before), projection.variables(call, after), strict=True)
    return [
        Delta(new.slot, old.at_cursor, new.at_cursor, new.at_cursor.event_id)
        for old, new in rows
        if _held(old.at_cursor) != _held(new.at_cursor)
    ]


def _held(cell: Cell) -> tuple[Any, ...]:
    """What a cell says; two hidden values that rest on different rows may differ."""
    rests = cell.event_id if cell.availability == "redacted" else None
    return cell.availability, cell.unset, type(cell.value), cell.value, cell.reason, rests


def exit_decision(call: Call, visit: int) -> ExitDecision | None:
    """How a visit was left; None where no verdict and no exit is recorded."""
    if not 0 <= visit < len(call.visits):
        return None
    seen, table = call.visits[visit], edge_table(call, visit, with_guards=False)
    if table.verdict_event is None and seen.exited is None:
        return None
    silent = ("not_evaluated", "unavailable")
    text = redactor(call).text
    return ExitDecision(
        visit_id=seen.visit_id,
        winning_edge_id=table.winner,
        to_state=seen.to_state,
        reason=None if seen.exit_reason is None else text(seen.exit_reason),
        candidates=[
            Candidate(row.edge_id, row.to, row.verdict) for row in table.rows if row.verdict not in silent
        ],
        event_id=table.verdict_event,
    )


def fields(call: Call, cursor: Cursor, names: tuple[str, ...]) -> dict[str, Any]:
    """The projection at a cursor, with the fields that are named."""
    return {name: _FIELDS[name](call, cursor) for name in names}


def event(call: Call, cursor: Cursor) -> dict[str, Any] | None:
    """The envelope of the event at a cursor, redacted; None in a call without events."""
    if moves.event_of(call, cursor) < 0:
        return None
    if cursor.unattributed is not None:
        return projection.unattributed_envelope(call, projection.unattributed_near(call, cursor))
    return projection.event_payload(call, cursor.visit, cursor.micro)


def _visit(call: Call, cursor: Cursor) -> dict[str, Any] | None:
    if not call.visits:
        return None
    seen = call.visits[cursor.visit]
    return {
        "visit_id": seen.visit_id,
        "state_id": seen.state_id,
        "ordinal": seen.ordinal,
        "goal": projection.goal(call, cursor.visit),
        "micro_events": projection.micro_count(call, cursor.visit),
    }


def _breadcrumb(call: Call, cursor: Cursor) -> list[str]:
    """The visits before the cursor's and its own, at most the last fifty."""
    first = max(0, cursor.visit - 49)
    return [seen.visit_id for seen in call.visits[first : cursor.visit + 1]]


def window(call: Call, cursor: Cursor) -> list[Turn]:
    """The conversation items around a cursor."""
    here, count = projection.conversation_index(call, cursor), projection.conversation_count(call)
    numbers = range(max(0, here - WINDOW), min(count, here + WINDOW + 1))
    return [projection.conversation_item(call, number) for number in numbers]


_FIELDS: dict[str, Callable[[Call, Cursor], Any]] = {
    "visit": _visit,
    "breadcrumb": _breadcrumb,
    "event": event,
    "variables": projection.variables,
    "edges": projection.edges,
    "beats": lambda call, cursor: projection.beats(call, cursor.visit),
    "conversation_window": window,
    "context": projection.context,
    "clock_ms": lambda call, cursor: projection.status(call, cursor).clock_ms,
    "findings_here": projection.findings_here,
    "mode": lambda call, cursor: "recorded",
}
