"""The edges of a visit as rows, at a cursor or at its exit (contract 2.5)."""

from __future__ import annotations

from engine.hydrate.call import KIND_CODES, Call
from engine.hydrate.edges import Joined, Reading, declared_edges, guard_edge
from engine.hydrate.secrets import redactor
from engine.model.artifact import Edge, Guard, Verdict
from engine.model.flow import Transition
from engine.model.views import EdgeTable

_GUARD = KIND_CODES["guard_evaluated"]


def edge_table(call: Call, visit: int, event: int | None = None) -> EdgeTable:
    """Every declared edge of a visit and what became of it.

    Args:
        call: The call.
        visit: Visit index.
        event: The bus event the cursor stands at; None for the visit's exit (its final verdict).
    """
    index = call.verdicts.final(visit) if event is None else call.verdicts.latest(visit, event)
    usable = index is not None and call.verdicts.usable(index)
    reading = call.verdicts.read(visit, index) if index is not None and usable else None
    truncated = index is not None and bool(call.verdicts.truncated(index))
    absent = _without_verdict(call, visit, event, reading, truncated)
    guards = _guards(call, visit, event)
    declared = declared_edges(call.flow, call.visits[visit].state_id) or ()
    ids = {edge.edge_id for edge in declared}
    rows = [_declared(call, edge, reading, absent, guards.get(edge.edge_id, [])) for edge in declared]
    if reading is not None:
        rows += [
            _recorded(call, visit, place, item, guards)
            for place, item in enumerate(reading.candidates)
            if item.edge_id not in ids and not item.ambiguous
        ]
    verdict_event = call.event_id(call.verdicts.event(index)) if index is not None else None
    winner = reading.winner if reading is not None and not reading.ambiguous else None
    return EdgeTable(rows, verdict_event, winner)


def _without_verdict(
    call: Call, visit: int, event: int | None, reading: Reading | None, truncated: bool
) -> Verdict:
    """What to say of a declared edge that the verdict does not list."""
    if reading is not None:
        ambiguous = any(item.ambiguous for item in reading.candidates)
        return "unavailable" if truncated or ambiguous else "not_evaluated"
    seen = call.visits[visit]
    if call.verdicts.by_visit.get(visit):
        return "not_evaluated" if event is not None else "unavailable"
    exited = seen.exited is not None or seen.closed_by is not None
    return "unavailable" if exited else "not_evaluated"


def _declared(
    call: Call, edge: Transition, reading: Reading | None, absent: Verdict, guards: list[Guard]
) -> Edge:
    found = [item for item in reading.candidates if item.edge_id == edge.edge_id] if reading else []
    hide = redactor(call)
    return Edge(
        edge_id=edge.edge_id,
        declaration_index=edge.declaration_index,
        source=edge.source,
        to=edge.to,
        when=edge.when,
        reason=edge.reason,
        sets=[{"slot": item.slot, "value": hide.value(item.slot, item.value)} for item in edge.sets],
        clears=list(edge.clears),
        from_flow=True,
        verdict=found[-1].verdict if found else absent,
        guards=guards,
    )


def _recorded(call: Call, visit: int, place: int, item: Joined, guards: dict[str, list[Guard]]) -> Edge:
    """A candidate that no declared edge is: shown as it was recorded."""
    name = item.edge_id if item.edge_id is not None else f"candidate:{place}"
    return Edge(
        edge_id=name, declaration_index=None, source=call.visits[visit].state_id, to=item.to, when=item.when,
        reason=None, sets=[], clears=[], from_flow=False, verdict=item.verdict, guards=guards.get(name, []),
    )  # fmt: skip


def _guards(call: Call, visit: int, event: int | None) -> dict[str, list[Guard]]:
    """Guard evaluations of a visit up to an event, by edge."""
    micro = call.micro_events(visit)
    rows = micro[call.kind_of[micro] == _GUARD].tolist()
    declared = declared_edges(call.flow, call.visits[visit].state_id)
    hide = redactor(call)
    found: dict[str, list[Guard]] = {}
    for row in rows:
        if event is not None and row > event:
            continue
        payload = call.ledger.payload(row)
        text, edge_id = payload.get("guard"), payload.get("edge_id")
        if not isinstance(text, str):
            continue
        joined, _ = guard_edge(text, edge_id if isinstance(edge_id, str) else None, declared)
        if joined is None:
            continue
        reads, context, result = (
            payload.get("slots_read"),
            payload.get("context_reads"),
            payload.get("result"),
        )
        found.setdefault(joined, []).append(
            Guard(
                call.event_id(row), text, result if isinstance(result, bool) else None,
                [slot for slot in reads if isinstance(slot, str)] if isinstance(reads, list) else [],
                hide.value(None, context) if isinstance(context, dict) else None,
            )
        )  # fmt: skip
    return found
