"""What stands at the cursor, one subject an action (contract 3.3)."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.debug import projection
from engine.model.artifact import Beat, Finding, Turn
from engine.model.views import ContextRow, EdgeTable, VariableRow
from engine.service import answers
from engine.service.action import Action, Args, Asked, Outcome


class Variables(msgspec.Struct, frozen=True):
    """Every slot at the visit's entry, at the cursor and at the recorded exit."""

    visit_id: str | None
    slots: list[VariableRow]


class Context(msgspec.Struct, frozen=True):
    """The fields of the state that are no slots."""

    visit_id: str | None
    fields: list[ContextRow]


class Edges(EdgeTable, frozen=True):
    """The exits of the cursor's visit."""

    visit_id: str | None = None


class Evidence(msgspec.Struct, frozen=True):
    """The six beats of the cursor's visit, and its findings."""

    visit_id: str | None
    beats: dict[str, Beat]
    findings: list[Finding]


class Window(msgspec.Struct, frozen=True):
    """The conversation around the cursor; ``index`` is the last item at or before it, -1 before the first."""

    index: int
    items: list[Turn]


def _visit_id(asked: Asked) -> str | None:
    return projection.visit_id(asked.call, asked.cursor.visit) or None


def variables(asked: Asked, args: Args) -> Outcome:
    """Every slot at entry, at the cursor and at exit."""
    rows = projection.variables(asked.call, asked.cursor)
    cells = [cell.event_id for row in rows for cell in (row.entry, row.at_cursor, row.exit)]
    return Outcome(Variables(_visit_id(asked), rows), refs=_cited(cells))


def context(asked: Asked, args: Args) -> Outcome:
    """The fields of the state that are no slots, at entry and exit."""
    rows = projection.context(asked.call, asked.cursor)
    refs = _cited([cell.event_id for row in rows for cell in (row.entry, row.exit)])
    return Outcome(Context(_visit_id(asked), rows), refs=refs)


def edges(asked: Asked, args: Args) -> Outcome:
    """The exits of the visit, and the verdict at the cursor."""
    table = projection.edges(asked.call, asked.cursor)
    refs = _cited([table.verdict_event, *(guard.event_id for row in table.rows for guard in row.guards)])
    found = Edges(table.rows, table.verdict_event, table.winner, _visit_id(asked))
    return Outcome(found, refs=refs)


def evidence(asked: Asked, args: Args) -> Outcome:
    """The six beats of the visit, and its findings."""
    beats = projection.beats(asked.call, asked.cursor.visit)
    findings = projection.visit_findings(asked.call, asked.cursor.visit)
    refs = _cited([ref for beat in beats.values() for ref in beat.refs])
    return Outcome(Evidence(_visit_id(asked), beats, findings), refs=refs)


def conversation(asked: Asked, args: Args) -> Outcome:
    """The conversation around the cursor."""
    items = answers.window(asked.call, asked.cursor)
    index = projection.conversation_index(asked.call, asked.cursor)
    return Outcome(Window(index, items), refs=_cited([ref for item in items for ref in item.refs]))


def event(asked: Asked, args: Args) -> Outcome:
    """The event at the cursor, whole."""
    found = answers.event(asked.call, asked.cursor)
    return Outcome(found, refs=[] if found is None else [found["event_id"]])


def _cited(refs: list[str | None]) -> list[str]:
    """Event ids in the order they are first cited."""
    return [ref for ref in dict.fromkeys(refs) if ref is not None]


ACTIONS = (
    Action(
        "inspect_variables", Args, variables, Variables, "Every slot at entry, at the cursor and at exit."
    ),
    Action(
        "inspect_context", Args, context, Context, "What the state holds beside slots, at entry and exit."
    ),
    Action("inspect_edges", Args, edges, Edges, "The exits of the visit, and the verdict at the cursor."),
    Action("inspect_evidence", Args, evidence, Evidence, "The six beats of the visit, and its findings."),
    Action("inspect_conversation", Args, conversation, Window, "The conversation around the cursor."),
    Action("inspect_event", Args, event, dict[str, Any] | None, "The event at the cursor, whole."),
)
