"""What Enter shows of a row: the whole payload, the whole value, line by line and cut where it is huge."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from engine.debug.text import brief
from engine.model.artifact import Cell, Edge
from riff_tui import client, pages
from riff_tui.content import Target
from riff_tui.panes.cells import cell_span
from riff_tui.spans import Span, Spans
from riff_tui.text import clean, plural
from riff_tui.viewstate import ViewState

if TYPE_CHECKING:
    from engine.hydrate.call import Call

LONGEST = 4_000
"""Characters of one string that are shown."""
MOST_LINES = 5_000
"""Lines of one value that are shown."""

CUT: Span = (f"… the first {MOST_LINES:,} lines", "warn")
"""The last line of a value that is longer."""

Detail = tuple[str, list[Spans]]
"""A title and the lines below it."""


def describe(view: ViewState, target: Target) -> Detail:
    """Title and lines of a row."""
    call = view.call
    lists = pages.of(call)
    if target.kind == "event" and target.visit is not None and target.index is not None:
        return _of_event(call, lists.events(target.visit)[target.index].event_id)
    index = target.index or 0
    if target.kind == "unattributed":
        return _of_event(call, lists.lane[index].event_id)
    if target.kind == "turn":
        return _of_struct(target.name or "", lists.items[index])
    if target.kind == "edge":
        edge: Edge = view.answers.edges.rows[index]
        return _of_struct(edge.edge_id, edge)
    if target.kind == "slot":
        slot = next(row for row in view.answers.variables if row.slot == target.name)
        cells = [("entry", slot.entry), ("at cursor", slot.at_cursor), ("recorded exit", slot.exit)]
        lines = [line for name, cell in cells for line in _cell(name, cell)]
        lines += [
            (("access", "strong"),),
            *((_access(item.glyph, item.label, item.event_id)) for item in slot.access),
        ]
        lines.append(
            (("last writer  ", "strong"), (f"{slot.last_writer or '—'}  {slot.last_write or ''}", ""))
        )
        return slot.slot, lines
    field = view.answers.context[index]
    return field.field, [*_cell("entry", field.entry), *_cell("exit", field.exit)]


def _of_event(call: Call, event_id: str) -> Detail:
    """The whole envelope of an event."""
    at = client.seek(call, event_id=event_id)
    envelope = client.ask(call, "inspect_event", at, fields=[]).result
    return f"{event_id}  {envelope['kind']}", json_lines(envelope)


def _access(glyph: str, label: str, event_id: str | None) -> Spans:
    return ((f"  {glyph} {label}", ""), (f"  {event_id or ''}", "dim"))


def _cell(name: str, cell: Cell) -> list[Spans]:
    """A cell with everything that is known about it."""
    facts = [cell.availability, cell.provenance, cell.classification or "", cell.event_id or ""]
    head: Spans = ((name, "strong"), (f"  {' · '.join(filter(None, facts))}", "dim"))
    if cell.availability != "available" or cell.unset:
        return [head, (("  ", ""), cell_span(cell, 200)), ()]
    return [head, *((("  ", ""), *line) for line in json_lines(cell.value)), ()]


def _of_struct(title: str, value: Any) -> Detail:
    import msgspec

    return title, json_lines(msgspec.to_builtins(value))


def json_lines(value: Any) -> list[Spans]:
    """A JSON value as lines; long strings and long values are cut, and say so."""
    lines: list[Spans] = []
    for line in _walk(value, "", ""):
        if len(lines) == MOST_LINES:
            lines.append((CUT,))
            break
        lines.append(line)
    return lines


def _walk(value: Any, indent: str, end: str, key: str | None = None) -> Iterator[Spans]:
    lead: Spans = ((indent, ""),) if key is None else ((indent, ""), (f"{_string(key)[0]}: ", "accent"))
    if isinstance(value, dict | list) and value and len(indent) < 128:
        is_map = isinstance(value, dict)
        yield (*lead, ("{" if is_map else "[", "dim"))
        last = len(value) - 1
        pairs = value.items() if isinstance(value, dict) else ((None, item) for item in value)
        for index, (name, item) in enumerate(pairs):
            yield from _walk(item, indent + "  ", "," if index < last else "", name)
        yield ((indent, ""), (("}" if is_map else "]") + end, "dim"))
    elif isinstance(value, str):
        text, note = _string(value)
        yield (*lead, (text, "good"), (end, "dim"), (note, "warn"))
    else:
        text = "…" if isinstance(value, dict | list) and value else brief(value)
        yield (*lead, (text, ""), (end, "dim"))


def _string(value: str) -> tuple[str, str]:
    """A string in quotes, control characters escaped, and a note when it was cut."""
    text = clean(json.dumps(value[:LONGEST], ensure_ascii=False), 2 * LONGEST)
    return text, "" if len(value) <= LONGEST else f"  cut: {plural(len(value), 'character')} in all"
