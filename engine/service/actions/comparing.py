"""Causes and comparisons (contract 3.3)."""

from __future__ import annotations

import msgspec

from engine.debug import cause, compare
from engine.debug.seek import at_visit
from engine.service.action import Action, Args, Asked, Outcome


class WhyArgs(Args, frozen=True, kw_only=True):
    """Which slot."""

    slot: str


class VisitsArgs(Args, frozen=True, kw_only=True):
    """Which two visits of the call."""

    baseline_visit_id: str
    candidate_visit_id: str


class CallsArgs(Args, frozen=True, kw_only=True):
    """``other``: the session id of the call to compare with."""

    other: str


class Calls(msgspec.Struct, frozen=True):
    """Two calls, aligned by visit."""

    baseline: str | None
    candidate: str | None
    divergence: compare.Divergence


def why(asked: Asked, args: WhyArgs) -> Outcome:
    """The write that gave the value at the cursor, and what the caller did to cause it."""
    found = cause.why(asked.call, asked.cursor, args.slot)
    refs = [] if found.write is None else [found.write.event_id]
    if found.decision is not None:
        refs += [one for one in (found.decision.verdict_event_id,) if one is not None]
        refs += [guard.event_id for guard in found.decision.edge.guards]
    refs += found.input.refs if found.input is not None else []
    return Outcome(found, refs=list(dict.fromkeys(refs)))


def compare_visits(asked: Asked, args: VisitsArgs) -> Outcome:
    """Where two visits first differ: event, variable, edge, output."""
    call = asked.call
    pair = (at_visit(call, one).visit for one in (args.baseline_visit_id, args.candidate_visit_id))
    baseline, candidate = pair
    found = compare.compare_visits(call, baseline, call, candidate)
    rows = (found.event.baseline, found.event.candidate) if found.event is not None else ()
    return Outcome(found, refs=[row.event_id for row in rows if row is not None])


def compare_calls(asked: Asked, args: CallsArgs) -> Outcome:
    """Where another call first goes another way."""
    other = asked.library.call(args.other)
    found = compare.compare_calls(asked.call, other)
    return Outcome(Calls(asked.call.session_id, other.session_id, found))


ACTIONS = (
    Action("why", WhyArgs, why, cause.Why, "Why a slot holds what it holds at the cursor."),
    Action("compare_visits", VisitsArgs, compare_visits, compare.Compared, "Where two visits first differ."),
    Action("compare_calls", CallsArgs, compare_calls, Calls, "Where another call first goes another way."),
)
