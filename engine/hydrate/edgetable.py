"""The edges of a visit as rows, at a cursor or at its exit (contract 2.5)."""

from __future__ import annotations

from typing import Any

from engine.hydrate.call import KIND_CODES, Call
from engine.hydrate.edges import Joined, Reading, declared_edges, guard_edge
from engine.hydrate.redaction import redactor
from engine.model.artifact import Edge, Guard, Verdict
from engine.model.flow import Transition
from engine.model.views import EdgeTable

_GUARD = KIND_CODES["guard_evaluated"]


def edge_table(call: Call, visit: int, event: int | None = None, *, with_guards: bool = True) -> EdgeTable:
    """Every declared edge of a visit and what became of it.

    Args:
        call: The call.
        visit: Visit index.
        event: The bus event the cursor stands at; None for the visit's exit (its final verdict).
        with_guards: Read the guards that were evaluated; there may be very many.
    """
    index = call.verdicts.final(visit) if event is None else call.verdicts.latest(visit, event)
    reading = call.verdicts.read(visit, index) if index is not None and call.verdicts.usable(index) else None
    absent = _absent(call, visit, event, index, reading)
    guards = _guards(call, visit, event) if with_guards else {}
    declared = declared_edges(call.flow, call.visits[visit].state_id) or ()
    ids = {edge.edge_id for edge in declared}
    rows = [_declared(call, edge, reading, absent, guards.get(edge.edge_id, [])) for edge in declared]
    if reading is not None:
        rows += [
            _recorded(call, visit, place, item, guards)
            for place, item in enumerate(reading.candidates)
            if item.edge_id not in ids and not item.among
        ]
    verdict_event = call.event_id(call.verdicts.event(index)) if index is not None else None
    return EdgeTable(rows, verdict_event, reading.shown if reading is not None else None)


def _absent(call: Call, visit: int, event: int | None, index: int | None, reading: Reading | None) -> Verdict:
    """What to say of a declared edge that no verdict lists.

    A flow of another version can't say that the call had this edge, so not that it was not evaluated either.
    """
    if call.parts.flow_mismatch is not None:
        return "unavailable"
    if reading is not None and index is not None:
        return "unavailable" if call.verdicts.truncated(index) else "not_evaluated"
    seen = call.visits[visit]
    if index is not None or call.parts.turns_only:
        return "unavailable"
    left = seen.exited is not None or seen.closed_by is not None
    later = event is not None and bool(call.verdicts.of_visit(visit))
    return "unavailable" if left and not later else "not_evaluated"


def _declared(
    call: Call, edge: Transition, reading: Reading | None, absent: Verdict, guards: list[Guard]
) -> Edge:
    hide = redactor(call)
    return Edge(
        edge_id=edge.edge_id,
        declaration_index=edge.declaration_index,
        source=edge.source,
        to=edge.to,
        when=edge.when,
        reason=None if edge.reason is None else hide.text(edge.reason),
        sets=[{"slot": item.slot, "value": hide.value(item.slot, item.value)} for item in edge.sets],
        clears=list(edge.clears),
        from_flow=True,
        verdict=absent if reading is None else _verdict(edge.edge_id, reading, absent),
        guards=guards,
    )


def _verdict(edge_id: str, reading: Reading, absent: Verdict) -> Verdict:
    listed = [item.verdict for item in reading.candidates if item.edge_id == edge_id]
    if listed:
        return "won" if "won" in listed else listed[-1]
    if any(edge_id in item.among for item in reading.candidates):
        return "unavailable"
    return "won" if reading.winner == edge_id else absent


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
    rows = micro[(call.kind_of[micro] == _GUARD) & (micro < call.first_extra)].tolist()
    declared = declared_edges(call.flow, call.visits[visit].state_id)
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
        found.setdefault(joined, []).append(_guard(call, row, text, payload))
    return found


def _guard(call: Call, row: int, text: str, payload: dict[str, Any]) -> Guard:
    reads, context, result = (payload.get(key) for key in ("slots_read", "context_reads", "result"))
    hide = redactor(call)
    return Guard(
        event_id=call.event_id(row),
        guard=text,
        result=result if isinstance(result, bool) else None,
        slots_read=[slot for slot in reads if isinstance(slot, str)] if isinstance(reads, list) else [],
        context_reads={field: hide.value(field, value) for field, value in context.items()}
        if isinstance(context, dict)
        else None,
    )
