"""The edges pane: every declared way out of the visit, what became of it, and the guards that decided."""

from __future__ import annotations

from functools import partial
from itertools import accumulate

from engine.debug.text import brief
from engine.model.artifact import Edge, Guard
from engine.model.views import VariableRow
from riff_tui.content import NOTHING, Content, Target
from riff_tui.panes.cells import cell_span
from riff_tui.spans import Spans
from riff_tui.text import plural
from riff_tui.viewstate import ViewState

VERDICT = {
    "won": ("✓ won", "good"),
    "lost": ("· lost", "dim"),
    "shadowed": ("∙ shadowed", "dim"),
    "error": ("✗ error", "bad"),
    "not_evaluated": ("○ not evaluated", "dim"),
    "unavailable": ("? unavailable", "warn"),
}
"""Glyph, word and role of each verdict."""


def content(view: ViewState) -> Content:
    """The rows of the edges pane."""
    table = view.answers.edges
    values = {row.slot: row for row in view.answers.variables}
    blocks = [_block(edge, values) for edge in table.rows]
    lines = [line for block in blocks for line in block]
    ends = list(accumulate(len(block) for block in blocks))
    owners = [index for index, block in enumerate(blocks) for _ in block]
    where = view.answers.visit_id
    verdict = f"verdict {table.verdict_event}" if table.verdict_event else "no verdict yet"
    note: Spans = ((f"{plural(len(blocks), 'edge')} · {verdict} · {where}", "dim"),)
    winner = next((at for at, edge in enumerate(table.rows) if edge.verdict == "won"), None)
    return Content(
        note=note,
        count=len(lines),
        draw=lambda row, width: lines[row],
        revision=tuple(lines),
        select=ends[winner] - len(blocks[winner]) if winner is not None else None,
        target=partial(_target, table.rows, owners, table.verdict_event),
        item=lambda row: _span(ends, owners, row),
    )


def _span(ends: list[int], owners: list[int], row: int) -> tuple[int, int]:
    if not owners:
        return row, row
    owner = owners[row]
    return (ends[owner - 1] if owner else 0), ends[owner] - 1


def _block(edge: Edge, values: dict[str, VariableRow]) -> list[Spans]:
    """An edge: verdict and target; its condition with the values that its guard read; what it sets."""
    word, role = VERDICT[edge.verdict]
    won = edge.verdict == "won"
    name: Spans = ((f"{word:<16}", role), (edge.edge_id, "strong" if won else ""), ("  → ", "dim"))
    target = (edge.to or "—", "strong" if won else "")
    undeclared = () if edge.from_flow else (("  not in a flow", "warn"),)
    lines: list[Spans] = [(*name, target, *undeclared)]
    lines.append(_condition(edge.when, edge.guards[-1] if edge.guards else None, values))
    changes = [f"{item.get('slot')} = {brief(item.get('value'), 40)}" for item in edge.sets]
    if changes or edge.clears:
        parts = ([f"sets {', '.join(changes)}"] if changes else []) + (
            [f"clears {', '.join(edge.clears)}"] if edge.clears else []
        )
        lines.append(((" " * 16 + "; ".join(parts), "dim"),))
    return lines


def _condition(when: str | None, guard: Guard | None, values: dict[str, VariableRow]) -> Spans:
    """The condition of an edge, its result, and what the guard read."""
    if guard is None:
        return ((f"{'':<14}  when {when or 'always'}", "dim"),)
    glyph, role = {True: ("✓", "good"), False: ("✗", "dim"), None: ("?", "warn")}[guard.result]
    spans: list[tuple[str, str]] = [
        (f"{'':<14}", ""),
        (f"{glyph} ", role),
        (f"when {when or guard.guard}", "dim"),
    ]
    for slot in guard.slots_read:
        text, look = cell_span(values[slot].at_cursor, 40) if slot in values else ("? unavailable", "warn")
        spans += [(f"  read {slot} ", "dim"), (text, look)]
    for name, value in (guard.context_reads or {}).items():
        spans += [(f"  read {name} ", "dim"), (brief(value, 40), "")]
    return tuple(spans)


def _target(edges: list[Edge], owners: list[int], verdict: str | None, row: int) -> Target:
    if row >= len(owners):
        return NOTHING
    edge = edges[owners[row]]
    event = edge.guards[-1].event_id if edge.guards else verdict
    return Target("edge", index=owners[row], name=edge.edge_id, event_id=event)
