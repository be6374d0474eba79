"""The findings pane: what is wrong, the gravest first; whose it is and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from engine.model.artifact import Finding
from engine.model.findings import SEVERITIES
from riff_tui import pages
from riff_tui.content import Content, Target, listed
from riff_tui.spans import SEVERITY, Spans, sides
from riff_tui.text import plural, seconds
from riff_tui.viewstate import ViewState

SEARCHED = 1_000
"""Findings, the gravest first, among which that of the cursor is looked for."""
LINES = 3
"""Lines of one finding."""


def content(view: ViewState) -> Content:
    """The rows of the findings pane."""
    lists = pages.of(view.call)
    findings, here = lists.findings, frozenset(view.answers.findings)
    near = range(min(len(findings), SEARCHED)) if here else ()
    at = next((index for index in near if findings[index].finding_id in here), None)
    counts = {name: lists.opened.counts.severities.get(name, 0) for name in SEVERITIES}
    words = [
        f"{count:,} info" if name == "info" else plural(count, name)
        for name, count in counts.items()
        if count
    ]
    return Content(
        note=listed("complete", *(words or ["none"])),
        count=len(findings) * LINES,
        draw=partial(_draw, findings),
        revision=len(findings),
        current=None if at is None else at * LINES,
        select=None if at is None else at * LINES,
        target=lambda row: _target(findings[row // LINES]),
        item=lambda row: (row // LINES * LINES, row // LINES * LINES + LINES - 1),
    )


def _draw(findings: Sequence[Finding], row: int, width: int) -> Spans:
    finding = findings[row // LINES]
    glyph, role = SEVERITY[finding.severity]
    if row % LINES == 1:
        return ((f"  {finding.explanation}", ""),)
    if row % LINES == 2:
        return ((f"  owner {finding.owner} · next: {finding.next_action.text}", "dim"),)
    left = ((f"{glyph} ", role), (finding.title, role if role == "bad" else ""))
    where = finding.visit_id or finding.event_id or "call"
    right = ((f"  {where}", "dim"), (f" {seconds(finding.clock_ms):>9}", "dim"))
    return sides(left, right, width)


def _target(finding: Finding) -> Target:
    return Target("finding", name=finding.finding_id)
