"""The first screen: what happened, where it first went wrong, whose it is, what to do (contract 2.11)."""

from __future__ import annotations

from engine.hydrate.call import Call
from engine.hydrate.story import story
from engine.model.artifact import Finding, Summary


def first_divergence(findings: list[Finding]) -> Finding | None:
    """The earliest finding not of capture, errors before warnings; a capture error only failing those."""
    ours = [finding for finding in findings if finding.owner != "capture"]
    for group, severity in ((ours, "error"), (ours, "warning"), (findings, "error")):
        for finding in group:
            if finding.severity == severity:
                return finding
    return None


def summarise(call: Call) -> Summary:
    """The summary of a hydrated call."""
    first = first_divergence(call.findings)
    return Summary(
        story=story(call, first),
        breadcrumb=[visit.visit_id for visit in call.visits],
        first_divergence=first.finding_id if first else None,
        completeness="complete" if call.completeness == "complete" else "incomplete",
        completeness_reasons=call.completeness_reasons,
        owner=first.owner if first else None,
        next_action=first.next_action if first else None,
    )


def breadcrumb_at(call: Call, visit: int) -> list[str]:
    """The visits up to one of them, as they were entered."""
    return [seen.visit_id for seen in call.visits[: visit + 1]]
