"""The variables pane: every slot at entry, at the cursor and at exit; the context fields below."""

from __future__ import annotations

from functools import partial

from engine.model.artifact import Cell
from engine.model.views import ContextRow, VariableRow
from riff_tui.content import NOTHING, Content, Target, listed
from riff_tui.panes.cells import cell_span
from riff_tui.spans import Span, Spans, column, width_of
from riff_tui.text import clean, cut, cut_middle, plural
from riff_tui.viewstate import ViewState

Widths = tuple[int, int, int, int]
"""Variable, one value column, access, last writer."""


def widths(width: int, longest: int) -> Widths:
    """Share the width among the columns; the name takes what it needs, up to a fifth.

    Args:
        width: Cells of a row.
        longest: Length of the longest name.
    """
    access = 14 if width < 90 else 24
    writer = 8 if width < 90 else 18
    rest = width - access - writer - 7
    name = max(8, min(longest, max(18, width // 5)))
    return name, max(7, (rest - name) // 3), access, writer


def content(view: ViewState) -> Content:
    """The rows of the variables pane."""
    answers = view.answers
    slots = tuple(row for row in answers.variables if row.changed or not view.changed_only)
    fields = tuple(answers.context)
    changed = sum(row.changed for row in answers.variables)
    total = len(answers.variables)
    note = listed("complete", plural(total, "slot"), f"{changed:,} changed", answers.visit_id)
    if view.changed_only:
        some = f"partial ({len(slots):,} of {total:,})"
        note = listed(some, "v shows all", answers.visit_id, role="accent")
    names = [row.slot for row in slots]
    points = frozenset(point.text for point in view.breakpoints if point.enabled)
    longest = max((len(name) for name in (*names, *(row.field for row in fields))), default=0)
    gap = 1 if fields else 0
    return Content(
        note=note,
        heading=partial(_heading, longest),
        foot=partial(_foot, slots, fields),
        count=len(slots) + gap + len(fields),
        draw=partial(_draw, slots, fields, points, longest),
        revision=(answers.place, view.changed_only, points),
        select=names.index(view.slot) if view.slot in names else None,
        target=partial(_target, slots, fields),
    )


def _heading(longest: int, width: int) -> Spans:
    """The column headings at a width."""
    name, value, access, writer = widths(width, longest)
    return (
        column("Variable", name + 1, "dim"),
        column("Entry", value, "dim"),
        column("At cursor", value, "dim"),
        column("Recorded exit" if value >= 13 else "At exit", value, "dim"),
        column("Access", access, "dim"),
        column("Last writer" if writer >= 11 else "Writer", writer, "dim"),
    )


def _draw(
    slots: tuple[VariableRow, ...],
    fields: tuple[ContextRow, ...],
    points: frozenset[str],
    longest: int,
    row: int,
    width: int,
) -> Spans:
    if row < len(slots):
        return _slot(slots[row], points, widths(width, longest))
    if row == len(slots):
        return (("context", "strong"), ("  at entry and exit of the visit, not slots", "dim"))
    return _field(fields[row - len(slots) - 1], widths(width, longest))


def _slot(row: VariableRow, points: frozenset[str], columns: Widths) -> Spans:
    name, value, access, writer = columns
    mark = "●" if f"slot:{row.slot}" in points else "*" if row.changed else " "
    now = cell_span(row.at_cursor, value)
    if row.changed:
        now = (now[0], f"{now[1]} accent strong".strip())
    return (
        (mark, "accent"),
        column(cut_middle(row.slot, name), name, "strong" if row.changed else ""),
        _cell(cell_span(row.entry, value), value),
        _cell(now, value),
        _cell(cell_span(row.exit, value), value),
        column(_access(row, access), access, "dim"),
        column(row.last_writer or "—", writer, "dim"),
    )


def _foot(
    slots: tuple[VariableRow, ...], fields: tuple[ContextRow, ...], row: int, width: int
) -> list[Spans]:
    """All about the selected row: what the columns had no room for."""
    at = row - len(slots) - 1
    if row >= len(slots):
        if not 0 <= at < len(fields):
            return []
        field = fields[at]
        return [_values(field.field, {"entry": field.entry, "exit": field.exit}, width), _labels(field)]
    slot = slots[row]
    cells = {"entry": slot.entry, "at cursor": slot.at_cursor, "exit": slot.exit}
    last = f"last writer {slot.last_writer or '—'} {slot.last_write or ''}".rstrip()
    return [_values(slot.slot, cells, width), ((f"{last}  ", ""), *_labels(slot))]


def _labels(row: VariableRow | ContextRow) -> Spans:
    """All access evidence of a row, each piece with its event."""
    labels = [f"{item.glyph} {item.label} {item.event_id or ''}".rstrip() for item in row.access]
    return (("  ".join(labels), "dim"),)


def _values(name: str, cells: dict[str, Cell], width: int) -> Spans:
    """A name and its cells on one line: whole where they fit, else each in an equal share."""
    for room in (width, max(6, (width - min(len(name), width // 3)) // len(cells) - 13)):
        values: list[Span] = [(cut_middle(name, max(8, width // 3)), "strong")]
        for word, cell in cells.items():
            text, role = cell_span(cell, room)
            values += [(f"  {word} ", "dim"), (cut(clean(text), room), role)]
        if width_of(values) <= width:
            break
    return tuple(values)


def _cell(span: Span, width: int) -> Span:
    return column(span[0], width, span[1])


def _access(row: VariableRow | ContextRow, width: int) -> str:
    """The evidence with its words while they fit; glyphs alone after that."""
    if not row.access:
        return ""
    first = f"{row.access[0].glyph} {row.access[0].label}"
    if len(row.access) == 1:
        return first
    return f"{' '.join(access.glyph for access in row.access)} {row.access[0].label}"


def _field(row: ContextRow, columns: Widths) -> Spans:
    name, value, access, _ = columns
    differs = row.entry != row.exit and row.exit.availability == "available"
    return (
        (" ", ""),
        column(row.field, name, "dim"),
        _cell(cell_span(row.entry, value), value),
        column("exit ≠ entry" if differs and value >= 12 else "≠" if differs else "", value, "accent"),
        _cell(cell_span(row.exit, value), value),
        column(_access(row, access), access, "dim"),
    )


def _target(slots: tuple[VariableRow, ...], fields: tuple[ContextRow, ...], row: int) -> Target:
    if row < len(slots):
        return Target("slot", index=row, name=slots[row].slot, event_id=slots[row].last_write)
    if row == len(slots):
        return NOTHING
    return Target("field", index=row - len(slots) - 1, name=fields[row - len(slots) - 1].field)
