"""Invariants of exits: one winner, declared, with the target and writes it says (contract 2.5)."""

from __future__ import annotations

from engine.hydrate.call import Call
from engine.hydrate.edges import declared_edges, guard_edge
from engine.hydrate.redaction import agree
from engine.hydrate.timeline import UNSET, Gone
from engine.hydrate.variables import exit_point
from engine.model.findings import Raised
from engine.model.flow import Transition

_HANGUPS = frozenset({"hangup", "caller_hangup", "call_ended", "session_ended", "disconnect"})


def joins(call: Call) -> list[Raised]:
    """Guards, candidates and winners that fit several declared edges, and verdicts that leave some out."""
    found = _ambiguous_guards(call)
    verdicts = call.verdicts
    for visit, rows in verdicts.by_visit.items():
        for index in rows:
            left = verdicts.truncated(index)
            if left:
                count = "some" if left is True else str(left)
                told = f"{count} candidates were left out"
                found.append(Raised("CANDIDATES_TRUNCATED", verdicts.event(index), told, visit=visit))
            if verdicts.usable(index) and verdicts.read(visit, index).ambiguous:
                told = "a candidate or the winner fits several declared edges"
                found.append(Raised("EDGE_JOIN_AMBIGUOUS", verdicts.event(index), told, visit=visit))
    return found


def _ambiguous_guards(call: Call) -> list[Raised]:
    captured = call.ledger.captured.get("guard_evaluated")
    if captured is None or call.flow is None:
        return []
    found = []
    for event, guard, edge_id in zip(
        captured.rows, captured.columns["guard"], captured.columns["edge_id"], strict=True
    ):
        if edge_id is not None or guard is None:
            continue
        visit = int(call.owned.visit[event])
        if visit >= 0 and guard_edge(guard, None, declared_edges(call.flow, call.visits[visit].state_id))[1]:
            found.append(
                Raised("EDGE_JOIN_AMBIGUOUS", event, f"several declared edges have the guard {guard}")
            )
    return found


def winners(call: Call) -> list[Raised]:
    """More than one winner, none though the visit was left, or one that is not declared."""
    found = []
    for visit, rows in call.verdicts.by_visit.items():
        final = call.verdicts.final(visit)
        for index in rows:
            if not call.verdicts.usable(index):
                continue
            reading = call.verdicts.read(visit, index)
            event = call.verdicts.event(index)
            if reading.matched > 1:
                found.append(
                    Raised("MULTIPLE_WINNERS", event, f"{reading.matched} candidates are recorded as matched",
                           visit=visit)
                )  # fmt: skip
            if reading.unknown:
                found.append(
                    Raised(
                        "UNKNOWN_EDGE", event, f"the winner {reading.named} is no declared edge", visit=visit
                    )
                )
            if index == final and reading.named is None and _left(call, visit):
                name = call.visits[visit].visit_id
                found.append(Raised("NO_WINNER", event, f"{name} was left, but no edge won", visit=visit))
    return found


def _left(call: Call, visit: int) -> bool:
    """Whether the visit has a committed exit."""
    seen = call.visits[visit]
    return seen.exited is not None and seen.to_state is not None and seen.exit_reason not in _HANGUPS


def targets(call: Call) -> list[Raised]:
    """Verdict, exit and commit that name different targets."""
    found = []
    for visit, seen in enumerate(call.visits):
        if seen.exited is None and seen.commit is None:
            continue
        reading = call.verdicts.final_reading(visit)
        decided = reading.target if reading is not None and not reading.ambiguous else None
        named = (decided, seen.to_state, seen.commit_to)
        if named[0] == named[1] == named[2] or len({target for target in named if target is not None}) < 2:
            continue
        final = call.verdicts.final(visit)
        event = call.verdicts.event(final) if final is not None else seen.exited
        who = dict(zip(("verdict", "state_exited", "transition_committed"), named, strict=True))
        told = ", ".join(f"{name} {target}" for name, target in who.items() if target is not None)
        found.append(
            Raised("WINNER_TARGET_MISMATCH", event if event is not None else seen.commit,
                   f"different targets: {told}", visit=visit,
                   events=tuple(e for e in (seen.exited, seen.commit) if e is not None), data=dict(who))
        )  # fmt: skip
    return found


def boundary_writes(call: Call) -> list[Raised]:
    """Boundary writes that are not the sets and clears of the winning edge; one finding a slot."""
    found: list[Raised] = []
    if call.flow is None:
        return found
    band = call.owned.band
    writing = {edge_id for edge_id, edge in call.flow.by_edge.items() if edge.sets or edge.clears}
    for visit, index in call.verdicts.finals.items():
        reading = call.verdicts.final_reading(visit)
        if reading is None or reading.winner is None or not (reading.winner in writing or visit in band):
            continue
        edge = call.flow.by_edge.get(reading.winner)
        if edge is None or edge.source != call.visits[visit].state_id or not _left(call, visit):
            continue
        found += _compare_writes(call, visit, call.verdicts.event(index), edge)
    return found


def _compare_writes(call: Call, visit: int, event: int, edge: Transition) -> list[Raised]:
    expected: dict[str, object] = {slot: UNSET for slot in edge.clears}
    expected |= {item.slot: item.value for item in edge.sets}
    written = _band_values(call, visit)
    found = []
    for slot in sorted(expected.keys() | written.keys()):
        point = exit_point(call, visit, slot)
        if isinstance(point.value, Gone):
            continue
        wanted = expected.get(slot, _UNDECLARED)
        got = written.get(slot, point.value)
        if wanted is _UNDECLARED:
            told = f"{slot} was written, but {edge.edge_id} declares no write of it"
        elif wanted is got or (wanted is not UNSET and got is not UNSET and agree(wanted, got)):
            continue
        else:
            told = f"{slot} did not become what {edge.edge_id} declares"
        found.append(
            Raised("BOUNDARY_WRITE_MISMATCH", event, told, visit=visit, part=slot, data={"slot": slot})
        )
    return found


_UNDECLARED = object()


def _band_values(call: Call, visit: int) -> dict[str, object]:
    """Slot → the last value that the visit's boundary wrote."""
    values: dict[str, object] = {}
    for event in call.owned.band.get(visit, ()):
        slot, new, removed = call.write(event)
        if slot is not None:
            values[slot] = UNSET if removed else new
    return values
