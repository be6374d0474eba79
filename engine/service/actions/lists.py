"""Lists of a call's parts, by pages (contract 3.2, 3.3)."""

from __future__ import annotations

from typing import Literal

import msgspec

from engine.debug import listing, projection
from engine.debug.seek import at_visit
from engine.hydrate.call import Call
from engine.model.artifact import Finding, Turn
from engine.model.views import EventRow
from engine.service.action import Action, Asked, Outcome, PageArgs, check_code, paged


class VisitRow(msgspec.Struct, frozen=True):
    """One visit in a list; ``exited`` is False where no exit was recorded."""

    visit_id: str
    state_id: str
    ordinal: int
    entry_event_id: str | None
    exit_event_id: str | None
    entry_ms: float | int | None
    exit_ms: float | int | None
    to_state: str | None
    micro_events: int
    findings: int


class ListedEvent(EventRow, frozen=True):
    """One event in a list."""

    visit_id: str | None = None


class VisitPage(msgspec.Struct, frozen=True):
    """A page of visits."""

    visits: list[VisitRow]


class EventPage(msgspec.Struct, frozen=True):
    """A page of events."""

    events: list[ListedEvent]


class FindingPage(msgspec.Struct, frozen=True):
    """A page of findings."""

    findings: list[Finding]


class ConversationPage(msgspec.Struct, frozen=True):
    """A page of the conversation lane."""

    items: list[Turn]


class EventArgs(PageArgs, frozen=True, kw_only=True):
    """Which events; all of a call without an argument."""

    visit_id: str | None = None
    kind: str | None = None
    slot: str | None = None
    provenance: Literal["recorded", "derived"] | None = None
    start_ms: float | None = None
    end_ms: float | None = None
    unattributed: bool | None = None


class VisitArgs(PageArgs, frozen=True, kw_only=True):
    """Which visits: those that meet a range of the clock."""

    start_ms: float | None = None
    end_ms: float | None = None


class FindingArgs(PageArgs, frozen=True, kw_only=True):
    """Which findings: of one code, of one visit, with a clock in a range."""

    code: str | None = None
    visit_id: str | None = None
    start_ms: float | None = None
    end_ms: float | None = None


class ConversationArgs(PageArgs, frozen=True, kw_only=True):
    """Which items: of one visit, or that meet a range of the clock."""

    visit_id: str | None = None
    start_ms: float | None = None
    end_ms: float | None = None


def list_visits(asked: Asked, args: VisitArgs) -> Outcome:
    """Visits, in the order they were entered."""
    listing.check_range(args.start_ms, args.end_ms)
    found = listing.visits(asked.call, args.start_ms, args.end_ms)
    page = paged(len(found), args)
    rows = [_visit(asked.call, found[number]) for number in page.numbers]
    return Outcome(VisitPage(rows), page=page.page)


def _visit(call: Call, visit: int) -> VisitRow:
    seen, (entry_ms, exit_ms) = call.visits[visit], listing.visit_span(call, visit)
    return VisitRow(
        visit_id=seen.visit_id,
        state_id=seen.state_id,
        ordinal=seen.ordinal,
        entry_event_id=None if seen.entered is None else call.event_id(seen.entered),
        exit_event_id=None if seen.exited is None else call.event_id(seen.exited),
        entry_ms=entry_ms,
        exit_ms=exit_ms,
        to_state=seen.to_state,
        micro_events=projection.micro_count(call, visit),
        findings=len(call.findings_of(visit)),
    )


def list_events(asked: Asked, args: EventArgs) -> Outcome:
    """Events in call order, filtered."""
    call = asked.call
    listing.check_range(args.start_ms, args.end_ms)
    wanted = listing.EventFilter(
        args.visit_id, args.kind, args.slot, args.provenance, args.start_ms, args.end_ms, args.unattributed
    )
    found = listing.events(call, wanted)
    page = paged(len(found), args)
    rows = [_event(call, int(found[number])) for number in page.numbers]
    return Outcome(EventPage(rows), page=page.page)


def _event(call: Call, event: int) -> ListedEvent:
    visit = int(call.visit_of[event])
    row = projection.row(call, event)
    return ListedEvent(**msgspec.structs.asdict(row), visit_id=call.visit_id(visit))


def list_findings(asked: Asked, args: FindingArgs) -> Outcome:
    """Findings in event order, filtered."""
    check_code(args.code, "args.code")
    listing.check_range(args.start_ms, args.end_ms)
    found = listing.findings(asked.call, args.code, args.visit_id, args.start_ms, args.end_ms)
    page = paged(len(found), args)
    rows = [found[number] for number in page.numbers]
    refs = [finding.event_id for finding in rows if finding.event_id is not None]
    return Outcome(FindingPage(rows), refs=list(dict.fromkeys(refs)), page=page.page)


def list_conversation(asked: Asked, args: ConversationArgs) -> Outcome:
    """Items of the conversation lane, in its order."""
    call = asked.call
    listing.check_range(args.start_ms, args.end_ms)
    if args.visit_id is not None:
        at_visit(call, args.visit_id)
    found = listing.conversation(call, args.visit_id, args.start_ms, args.end_ms)
    page = paged(len(found), args)
    items = [projection.conversation_item(call, found[number]) for number in page.numbers]
    return Outcome(ConversationPage(items), page=page.page)


ACTIONS = (
    Action("list_visits", VisitArgs, list_visits, VisitPage, "Visits, in the order they were entered."),
    Action("list_events", EventArgs, list_events, EventPage, "Events in call order, filtered."),
    Action("list_findings", FindingArgs, list_findings, FindingPage, "Findings in event order."),
    Action(
        "list_conversation", ConversationArgs, list_conversation, ConversationPage, "The conversation lane."
    ),
)
