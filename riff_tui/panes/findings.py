"""The findings pane: what is wrong, the gravest first; whose it is and what to do next."""

from __future__ import annotations

from functools import partial

from engine.model.artifact import Finding
from riff_tui.content import Content, Target, listed
from riff_tui.spans import SEVERITY, Spans, sides
from riff_tui.text import plural, seconds
from riff_tui.viewstate import ViewState

LINES = 3
"""Lines of one finding."""


def content(view: ViewState) -> Content:
    """The rows of the findings pane."""
    findings = view.findings
    here = frozenset(view.answers.findings)
    at = next((index for index, finding in enumerate(findings) if finding.finding_id in here), None)
    counts = {name: sum(finding.severity == name for finding in findings) for name in SEVERITY}
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


def _draw(findings: tuple[Finding, ...], row: int, width: int) -> Spans:
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
