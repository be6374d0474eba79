"""The call pane, the first answers: the story, its first divergence, the evidence, what to do next."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from engine.model.artifact import Summary
from engine.model.findings import FINDINGS
from riff_tui import pages
from riff_tui.content import Content, Target, fixed, listed
from riff_tui.spans import SEVERITY, Spans
from riff_tui.text import cut, plural, seconds, wrap
from riff_tui.viewstate import ViewState

if TYPE_CHECKING:
    from engine.hydrate.call import Call
    from engine.service.actions.overview import Opened

LABEL = 11
"""Cells of the label before a line."""
REASONS = 6
"""Reasons of an incomplete call that are listed."""
OPENING = 3
"""Lines of a story before its turns: the call, its visits, the greeting. The turns are told in full first."""


def content(view: ViewState, width: int, rows: int) -> Content:
    """The rows of the call pane at a width."""
    return _content(view.call, width, rows)


@lru_cache(maxsize=4)
def _content(call: Call, width: int, rows: int) -> Content:
    opened = pages.of(call).opened
    lines, targets = _divergence(opened, width)
    lines += _evidence(opened.summary)
    lines += _story(opened.summary, width, rows - len(lines))
    return fixed(lines, listed("complete", opened.flow_id or "no flow"), targets)


def _label(word: str) -> tuple[str, str]:
    return (f"{word:<{LABEL}}", "dim")


def _divergence(opened: Opened, width: int) -> tuple[list[Spans], dict[int, Target]]:
    """Where intended and observed first part, whose it looks like and what to do; Enter goes there."""
    first, summary = opened.divergence, opened.summary
    if first is None:
        where = "" if summary.completeness == "complete" else ", in what was recorded"
        return [(_label("divergence"), (f"— none found by the checks of this version{where}", ""))], {}
    glyph, role = SEVERITY[first.severity]
    lines: list[Spans] = [(_label("divergence"), (f"{glyph} {first.title}", f"{role} strong"))]
    lines += [(_label(""), (part, "")) for part in wrap(first.explanation, width - LABEL, 2)]
    places = (first.visit_id, first.event_id, None if first.clock_ms is None else seconds(first.clock_ms))
    where = " · ".join(place for place in places if place)
    lines.append((_label("owner"), (summary.owner or first.owner, "strong"), (f" · {where}", "dim")))
    step = summary.next_action or first.next_action
    lines.append((_label("next"), (step.text, "strong")))
    return lines, dict.fromkeys(range(len(lines)), Target("finding", name=first.finding_id))


def _evidence(summary: Summary) -> list[Spans]:
    """How complete the evidence is, and why: in the words of the findings, where there are any."""
    if summary.completeness == "complete":
        return [(_label("evidence"), ("✓ complete", "good"))]
    reasons = [
        f"{FINDINGS[code].title} ({code})" if code in FINDINGS else code
        for code in summary.completeness_reasons
    ]
    head = f"◐ incomplete: {plural(len(reasons), 'reason')}" if reasons else "◐ incomplete, no reason given"
    lines: list[Spans] = [(_label("evidence"), (head, "warn"), ("  5 lists the findings", "dim"))]
    lines += [(_label(""), (f"· {reason}", "")) for reason in reasons[:REASONS]]
    if len(reasons) > REASONS:
        lines.append((_label(""), (f"· {len(reasons) - REASONS:,} more", "dim")))
    return lines


def _story(summary: Summary, width: int, room: int) -> list[Spans]:
    """The caller's story; a long line is broken where there is room, the caller's turns before the rest."""
    story = summary.story or ["— no line of the conversation was recorded"]
    spare = room - len(story)
    parts = [[cut(line, width - LABEL)] for line in story]
    for index in (*range(OPENING, len(story)), *range(min(OPENING, len(story)))):
        whole = wrap(story[index], width - LABEL - 2, 3)
        if len(whole) - 1 <= spare and parts[index] != [story[index]]:
            parts[index] = [whole[0], *(f"  {part}" for part in whole[1:])]
            spare -= len(whole) - 1
    lines = [part for one in parts for part in one]
    return [(_label("story" if index == 0 else ""), (part, "")) for index, part in enumerate(lines)]
