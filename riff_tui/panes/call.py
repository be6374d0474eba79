"""The call pane, the first answers: the story, its first divergence, the evidence, what to do next."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from riff_tui.asking import divergence
from riff_tui.content import Content, Target, fixed
from riff_tui.spans import SEVERITY, Spans
from riff_tui.text import seconds, wrap
from riff_tui.viewstate import ViewState

if TYPE_CHECKING:
    from engine.hydrate.call import Call

LABEL = 9
"""Cells of the label before a line."""


def content(view: ViewState, width: int) -> Content:
    """The rows of the call pane at a width."""
    return _content(view.call, width)


@lru_cache(maxsize=4)
def _content(call: Call, width: int) -> Content:
    lines: list[Spans] = []
    targets: dict[int, Target] = {}
    first = divergence(call)
    if first is None:
        lines.append((_label("first"), ("✓ no divergence found", "good")))
    else:
        glyph, role = SEVERITY[first.severity]
        lines.append((_label("first"), (f"{glyph} {first.title}", f"{role} strong")))
        lines += [_more(part) for part in wrap(first.explanation, width - LABEL, 2)]
        places = (first.visit_id, first.event_id, None if first.clock_ms is None else seconds(first.clock_ms))
        where = " · ".join(place for place in places if place)
        lines.append((_label("owner"), (call.summary.owner or first.owner, "strong"), (f" · {where}", "dim")))
        step = call.summary.next_action or first.next_action
        lines.append((_label("next"), (step.text, "strong")))
        targets = dict.fromkeys(range(len(lines)), Target("finding", name=first.finding_id))
    lines += _completeness(call, width)
    story = call.summary.story or ["— no line of the conversation was recorded"]
    for index, text in enumerate(story):
        lines.append((_label("story" if index == 0 else ""), (text, "")))
    return fixed(lines, ((call.flow_id or "no flow", "dim"),), targets)


def _label(word: str) -> tuple[str, str]:
    return (f"{word:<{LABEL}}", "dim")


def _more(text: str) -> Spans:
    return (_label(""), (text, ""))


def _completeness(call: Call, width: int) -> list[Spans]:
    """How complete the evidence is, and why."""
    if call.completeness == "complete":
        return [(_label("evidence"), ("● complete", "good"))]
    reasons = ", ".join(call.completeness_reasons) or "no reason given"
    parts = wrap(reasons, width - LABEL - 15, 2)
    head: Spans = (_label("evidence"), ("◐ incomplete   ", "warn"), (parts[0], ""))
    return [head, *((_label(""), (" " * 15 + part, "")) for part in parts[1:])]
