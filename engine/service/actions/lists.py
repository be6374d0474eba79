"""Lists of a call's parts, by pages (contract 3.2, 3.3)."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from engine.debug import listing, projection
from engine.debug.names import shown
from engine.debug.seek import at_finding, at_visit, find_event
from engine.hydrate.call import Call
from engine.model.artifact import Finding, Severity, Turn
from engine.model.commands import Place
from engine.model.errors import EngineError
from engine.model.findings import SEVERITIES
from engine.model.views import EventRow
from engine.service import answers
from engine.service.action import Action, Asked, Outcome, PageArgs, check_code, paged


class VisitRow(msgspec.Struct, frozen=True):
    """One visit in a list.

    Attributes:
        entry_ms, exit_ms: Clocks of the recorded entry and exit; None for what was not recorded.
        first_ms: Clock of its first micro-event.
        goal: What the flow of the call's own version says its state is for.
        micro_events, findings: How many it has.
        severity: That of its gravest finding.
    """

    visit_id: str
    state_id: str
    ordinal: int
    entry_event_id: str | None
    exit_event_id: str | None
    entry_ms: float | int | None
    exit_ms: float | int | None
    first_ms: float | int | None
    to_state: str | None
    goal: str | None
    micro_events: int
    findings: int
    severity: Severity | None


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
    """A page of findings, and where each stands; None in a call without events."""

    findings: list[Finding]
    cursors: list[Place | None]


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
    from_event: str | None = None
    """The page begins with this event of the list, instead of after another page."""


class VisitArgs(PageArgs, frozen=True, kw_only=True):
    """Which visits: those that meet a range of the clock."""

    start_ms: float | None = None
    end_ms: float | None = None


class FindingArgs(PageArgs, frozen=True, kw_only=True):
    """Which findings: of one code, of one visit, with a clock in a range; the gravest first, if asked so."""

    code: str | None = None
    by: Literal["event", "severity"] = "event"
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
    count, findings = projection.micro_count(call, visit), call.findings_of(visit)
    return VisitRow(
        visit_id=seen.visit_id,
        state_id=seen.state_id,
        ordinal=seen.ordinal,
        entry_event_id=None if seen.entered is None else call.event_id(seen.entered),
        exit_event_id=None if seen.exited is None else call.event_id(seen.exited),
        entry_ms=entry_ms,
        exit_ms=exit_ms,
        first_ms=call.clock_ms(int(call.micro_events(visit)[0])) if count else None,
        to_state=seen.to_state,
        goal=projection.goal(call, visit),
        micro_events=count,
        findings=len(findings),
        severity=min((one.severity for one in findings), key=SEVERITIES.index, default=None),
    )


def list_events(asked: Asked, args: EventArgs) -> Outcome:
    """Events in call order, filtered."""
    call = asked.call
    listing.check_range(args.start_ms, args.end_ms)
    wanted = listing.EventFilter(
        args.visit_id, args.kind, args.slot, args.provenance, args.start_ms, args.end_ms, args.unattributed
    )
    found = listing.events(call, wanted)
    page = paged(len(found), _from_event(call, found, args))
    rows = [_event(call, int(found[number])) for number in page.numbers]
    return Outcome(EventPage(rows), page=page.page)


def _from_event(call: Call, found: listing.Numbers, args: EventArgs) -> EventArgs:
    """The same arguments with the number of the event that the page begins with."""
    if args.from_event is None:
        return args
    if args.after is not None:
        raise EngineError("BAD_ARGUMENT", "give after or from_event, not both", argument="args.from_event")
    event = find_event(call, args.from_event)
    place = np.flatnonzero(found == event) if event is not None else found[:0]
    if not len(place):
        message = f"no event {shown(args.from_event)} in this list"
        raise EngineError("UNKNOWN_EVENT", message, event_id=args.from_event[:200])
    return msgspec.structs.replace(args, after=str(int(place[0])))


def _event(call: Call, event: int) -> ListedEvent:
    visit = int(call.visit_of[event])
    row = projection.row(call, event)
    return ListedEvent(**msgspec.structs.asdict(row), visit_id=call.visit_id(visit))


def list_findings(asked: Asked, args: FindingArgs) -> Outcome:
    """Findings in event order or by severity, filtered."""
    check_code(args.code, "args.code")
    listing.check_range(args.start_ms, args.end_ms)
    call = asked.call
    found = listing.findings(call, args.code, args.visit_id, args.start_ms, args.end_ms)
    if args.by == "severity":
        found = listing.gravest_first(call, found)
    page = paged(len(found), args)
    rows = [found[number] for number in page.numbers]
    refs = [finding.event_id for finding in rows if finding.event_id is not None]
    cursors = [answers.place(call, at_finding(call, finding.finding_id)) for finding in rows]
    return Outcome(FindingPage(rows, cursors), refs=list(dict.fromkeys(refs)), page=page.page)


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
    Action(
        "list_findings", FindingArgs, list_findings, FindingPage, "Findings in event order, or by severity."
    ),
    Action(
        "list_conversation", ConversationArgs, list_conversation, ConversationPage, "The conversation lane."
    ),
)
