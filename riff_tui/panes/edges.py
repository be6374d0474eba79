"""The edges pane: every declared way out of the visit, what became of it, and the guards that decided."""

from __future__ import annotations

from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING

from engine.debug.text import brief
from engine.model.artifact import Cell, Edge, Guard
from riff_tui import pages
from riff_tui.content import NOTHING, Content, Target, listed
from riff_tui.panes.cells import cell_span
from riff_tui.spans import Span, Spans, width_of
from riff_tui.text import cut_middle, plural, wrap
from riff_tui.viewstate import ViewState

if TYPE_CHECKING:
    from engine.hydrate.call import Call

VERDICT = {
    "won": ("✓ won", "good"),
    "lost": ("· lost", "dim"),
    "shadowed": ("∙ shadowed", "dim"),
    "error": ("✗ error", "bad"),
    "not_evaluated": ("○ not evaluated", "dim"),
    "unavailable": ("? unavailable", "warn"),
}
"""Glyph, word and role of each verdict."""
RESULT = {True: ("✓", "good"), False: ("✗", "dim"), None: ("?", "warn")}
"""Glyph and role of what a guard gave."""
NO_SLOT = Cell("unavailable", reason="no_such_slot")
"""What a guard read that is no slot of the call."""
INDENT = 2
LEAST = 16
"""Cells that a target needs beside the id of its edge."""
MOST = 3
"""Lines of one condition."""


def content(view: ViewState, width: int) -> Content:
    """The rows of the edges pane at a width."""
    table = view.answers.edges
    blocks = [_block(view.call, edge, width) for edge in table.rows]
    lines = [line for block in blocks for line in block]
    ends = list(accumulate(len(block) for block in blocks))
    owners = [index for index, block in enumerate(blocks) for _ in block]
    verdict = f"verdict {table.verdict_event}" if table.verdict_event else "no verdict yet"
    winner = next((at for at, edge in enumerate(table.rows) if edge.verdict == "won"), None)
    note = listed("complete", plural(len(blocks), "edge"), view.answers.visit_id, verdict)
    if pages.of(view.call).opened.flow_mismatch is not None and any(edge.from_flow for edge in table.rows):
        note = (("flow of another version", "warn"), (" · ", "dim"), *note)
    return Content(
        note=note,
        count=len(lines),
        draw=lambda row, _: lines[row],
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


def _block(call: Call, edge: Edge, width: int) -> list[Spans]:
    """An edge: verdict and target; its condition with the values that its guard read; what it sets."""
    lines = _name(edge, width)
    lines += _condition(call, edge.when, edge.guards[-1] if edge.guards else None, width)
    changes = [f"sets {item.get('slot')} = {brief(item.get('value'), 40)}" for item in edge.sets]
    changes += [f"clears {slot}" for slot in edge.clears]
    return [*lines, *(_indented(cut_middle(change, width - INDENT - 2)) for change in changes)]


def _name(edge: Edge, width: int) -> list[Spans]:
    """Verdict, id and target; the target goes below where there is no room for both names."""
    word, role = VERDICT[edge.verdict]
    weight = "strong" if edge.verdict == "won" else ""
    verdict: Span = (f"{word:<16}", role)
    undeclared: Spans = () if edge.from_flow else (("  not in a flow", "warn"),)
    lead: Spans = (verdict, (edge.edge_id, weight), (" → ", "dim"))
    room = width - width_of(lead) - width_of(undeclared)
    if room >= min(LEAST, len(edge.to or "—")):
        return [(*lead, (cut_middle(edge.to or "—", room), weight), *undeclared)]
    below = (" " * INDENT, ""), ("→ ", "dim"), (cut_middle(edge.to or "—", width - INDENT - 2), weight)
    return [(verdict, (cut_middle(edge.edge_id, width - 16), weight)), (*below, *undeclared)]


def _indented(text: str, glyph: Span = (" ", "")) -> Spans:
    return ((" " * INDENT, ""), glyph, (f" {text}", "dim"))


def _condition(call: Call, when: str | None, guard: Guard | None, width: int) -> list[Spans]:
    """The condition of an edge, its result, and what the guard read; beside it where there is room."""
    glyph: Span = (" ", "") if guard is None else RESULT[guard.result]
    text = when or (guard.guard if guard is not None else None) or "always"
    lines = [
        _indented(part, (" ", "") if number else glyph)
        for number, part in enumerate(wrap(f"when {text}", width - INDENT - 2, MOST))
    ]
    for read in _reads(call, guard) if guard is not None else ():
        if width_of(lines[-1]) + width_of(read) + 2 <= width:
            lines[-1] = (*lines[-1], ("  ", ""), *read)
        else:
            lines.append((*_indented(""), *read))
    return lines


def _reads(call: Call, guard: Guard) -> list[Spans]:
    """Each slot and context field that a guard read, with the value it had then."""
    held = pages.of(call).held(guard.event_id) if guard.slots_read else {}
    reads: list[Spans] = [
        ((f"read {slot} ", "dim"), cell_span(held.get(slot, NO_SLOT), 40)) for slot in guard.slots_read
    ]
    for name, found in (guard.context_reads or {}).items():
        reads.append(((f"read {name} ", "dim"), (brief(found, 40), "")))
    return reads


def _target(edges: list[Edge], owners: list[int], verdict: str | None, row: int) -> Target:
    if row >= len(owners):
        return NOTHING
    edge = edges[owners[row]]
    event = edge.guards[-1].event_id if edge.guards else verdict
    return Target("edge", index=owners[row], name=edge.edge_id, event_id=event)
