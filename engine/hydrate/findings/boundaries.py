"""Findings about visits: missing boundaries, events that fit nowhere, the clock, the flow (contract 2.3)."""

from __future__ import annotations

from engine.hydrate.call import Call
from engine.model.findings import Raised


def visits(call: Call) -> list[Raised]:
    """Visits without a recorded entry or exit."""
    found = []
    for index, visit in enumerate(call.visits):
        if visit.entry_missing:
            found.append(
                Raised("ENTRY_MISSING", visit.first, f"{visit.visit_id} was never seen entered", visit=index)
            )
        if visit.closed_by is not None:
            closer = call.event_id(visit.closed_by)
            found.append(
                Raised(
                    "EXIT_MISSING",
                    visit.closed_by,
                    f"{visit.visit_id} was still open at {closer}",
                    visit=index,
                )
            )
    return found


def quarantined(call: Call) -> list[Raised]:
    """Events that no visit can be shown to own."""
    found = [
        Raised(why.code, event, f"{call.kind(event)}: {why.reason}")
        for event, why in sorted(call.owned.quarantined.items())
        if why.code is not None
    ]
    for number, extra in enumerate(call.parts.extras, call.first_extra):
        if extra.quarantine is not None and extra.quarantine.code is not None:
            found.append(Raised(extra.quarantine.code, number, f"{extra.kind}: {extra.quarantine.reason}"))
    return found


def clock(call: Call) -> list[Raised]:
    """Runs of events whose clock falls behind."""
    return [
        Raised(
            "CLOCK_REGRESSION", event, f"the call clock falls back at {call.event_id(event)}; it is not used"
        )
        for event in call.parts.clock.regressions
    ]


def flow_version(call: Call) -> list[Raised]:
    """A flow that is not the one the call ran."""
    reason = call.parts.flow_mismatch
    return [Raised("FLOW_VERSION_MISMATCH", None, reason)] if reason else []
