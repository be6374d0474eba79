"""The whole call at once: its summary, and its visits as a trace (contract 3.3)."""

from __future__ import annotations

from collections import Counter

import msgspec

from engine.debug import projection
from engine.debug.listing import visit_span
from engine.debug.values import ends
from engine.hydrate.call import Call
from engine.hydrate.edgetable import edge_table
from engine.hydrate.summary import first_divergence
from engine.model.artifact import Cell, Finding, Guard, Severity, Summary
from engine.service.action import Action, Args, Asked, Outcome, PageArgs, paged


class Counts(msgspec.Struct, frozen=True):
    """How much of each the call has."""

    visits: int
    events: int
    unattributed: int
    findings: int
    severities: dict[Severity, int]
    """How many findings of each."""


class Opened(msgspec.Struct, frozen=True):
    """A call that was opened: the first screen (contract 2.11), counts and hashes.

    Attributes:
        divergence: The finding of the summary's first divergence.
        flow_mismatch: Why the flow can't speak for this call, or None.
    """

    summary: Summary
    divergence: Finding | None
    counts: Counts
    flow_id: str | None
    flow_version: str | None
    flow_mismatch: str | None
    artifact_hash: str


class SlotDiff(msgspec.Struct, frozen=True):
    """A slot that left a visit with something else than it entered with."""

    slot: str
    entry: Cell
    exit: Cell


class Verdict(msgspec.Struct, frozen=True):
    """The final verdict of a visit."""

    event_id: str
    winner: str | None


class TracedVisit(msgspec.Struct, frozen=True):
    """One visit of the state trace."""

    visit_id: str
    state_id: str
    entry_ms: float | int | None
    exit_ms: float | int | None
    guards: list[Guard]
    verdict: Verdict | None
    slot_diff: list[SlotDiff]


class StateTrace(msgspec.Struct, frozen=True):
    """The visits of a call, with what decided each."""

    session_id: str | None
    visits: list[TracedVisit]


LONGEST = 200
"""Visits of the breadcrumb that ``open`` tells; ``list_visits`` tells all."""


def open_call(asked: Asked, args: Args) -> Outcome:
    """The summary of the call, counts and hashes."""
    call = asked.call
    summary = msgspec.structs.replace(call.summary, breadcrumb=call.summary.breadcrumb[:LONGEST])
    counts = Counts(
        visits=len(call.visits),
        events=len(call.order.micro),
        unattributed=projection.unattributed_count(call),
        findings=len(call.findings),
        severities=dict(sorted(Counter(one.severity for one in call.findings).items())),
    )
    first = first_divergence(call.findings)
    found = Opened(
        summary, first, counts, call.identity.flow_id, call.identity.flow_version, call.parts.flow_mismatch,
        call.artifact_hash,
    )  # fmt: skip
    return Outcome(found, refs=[] if first is None else first.event_ids)


def state_trace(asked: Asked, args: PageArgs) -> Outcome:
    """Each visit with its guards, its verdict and the slots it changed."""
    page = paged(len(asked.call.visits), args)
    visits = [_traced(asked.call, visit) for visit in page.numbers]
    return Outcome(StateTrace(asked.call.session_id, visits), page=page.page)


def _traced(call: Call, visit: int) -> TracedVisit:
    seen, table = call.visits[visit], edge_table(call, visit)
    changed = [one for one in ends(call, visit) if one.differ]
    entry_ms, exit_ms = visit_span(call, visit)
    return TracedVisit(
        visit_id=seen.visit_id,
        state_id=seen.state_id,
        entry_ms=entry_ms,
        exit_ms=exit_ms,
        guards=[guard for row in table.rows for guard in row.guards],
        verdict=None if table.verdict_event is None else Verdict(table.verdict_event, table.winner),
        slot_diff=[SlotDiff(one.slot, one.entry_cell, one.exit_cell) for one in changed],
    )


ACTIONS = (
    Action("open", Args, open_call, Opened, "The summary of the call, counts and hashes."),
    Action(
        "state_trace",
        PageArgs,
        state_trace,
        StateTrace,
        "Each visit with what decided it and what it changed.",
    ),
)
