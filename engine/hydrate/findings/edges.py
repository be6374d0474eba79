"""Invariants of exits: one winner, declared, with the target and writes it says (contract 2.5)."""

from __future__ import annotations

import numpy as np

from engine.hydrate.call import Call
from engine.hydrate.edges import declared_edges, guard_edge
from engine.hydrate.marks import agree
from engine.hydrate.timeline import UNSET, Gone
from engine.hydrate.variables import exit_point
from engine.model.findings import Raised
from engine.model.flow import Transition

_HANGUPS = frozenset({"hangup", "caller_hangup", "call_ended", "session_ended", "disconnect"})


def joins(call: Call) -> list[Raised]:
    """Guards, candidates and winners that fit several declared edges, and verdicts that leave some out."""
    found = _ambiguous_guards(call)
    verdicts = call.verdicts
    for visit, index in verdicts.questionable:
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
    columns, repeated = captured.columns, frozenset(call.flow.repeated_edges)
    found = []
    unclear: dict[tuple[str, str, str | None], bool] = {}
    for event, guard, edge_id in zip(captured.rows, columns["guard"], columns["edge_id"], strict=True):
        if guard is None or (edge_id is not None and edge_id not in repeated):
            continue
        visit = int(call.owned.visit[event])
        if visit < 0:
            continue
        key = (call.visits[visit].state_id, guard, edge_id)
        if key not in unclear:
            unclear[key] = guard_edge(guard, edge_id, declared_edges(call.flow, key[0]))[1]
        if unclear[key]:
            told = f"several declared edges have the guard {guard}"
            found.append(Raised("EDGE_JOIN_AMBIGUOUS", event, told))
    return found


def winners(call: Call) -> list[Raised]:
    """More than one winner, none though the visit was left, or one that is not declared.

    A flow of another version declares nothing for this call.
    """
    found = []
    for visit, index in call.verdicts.questionable:
        if not call.verdicts.usable(index):
            continue
        reading = call.verdicts.read(visit, index)
        event = call.verdicts.event(index)
        if reading.won > 1:
            told = f"{reading.won} edges are recorded as matched or as the winner"
            found.append(Raised("MULTIPLE_WINNERS", event, told, visit=visit))
        judged = reading.unknown and call.parts.flow_mismatch is None
        if judged and not _left_out(call, visit, index, reading.named):
            told = f"the winner {reading.named} is no declared edge"
            found.append(Raised("UNKNOWN_EDGE", event, told, visit=visit))
        if index == call.verdicts.final(visit) and reading.named is None and _left(call, visit):
            told = f"{call.visits[visit].visit_id} was left, but no edge won"
            found.append(Raised("NO_WINNER", event, told, visit=visit))
    return found


def _left_out(call: Call, visit: int, index: int, named: str | None) -> bool:
    """Whether a winner stated as a target may be a candidate that the verdict leaves out."""
    declared = declared_edges(call.flow, call.visits[visit].state_id) or ()
    return bool(call.verdicts.truncated(index)) and any(edge.to == named for edge in declared)


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
        decided = reading.target if reading is not None else None
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
    if call.flow is None or call.parts.flow_mismatch is not None:
        return found
    band, finals = call.owned.band, call.verdicts.finals
    declared = {(state.id, edge.edge_id): edge for state in call.flow.states for edge in state.transitions}
    expected = {key: _declared_writes(edge) for key, edge in declared.items()}
    writing = {edge.edge_id for edge in declared.values() if edge.sets or edge.clears}
    writes = np.array([*(reading.winner in writing for reading in call.verdicts.readings), False])
    concerned = {*np.flatnonzero(writes[call.verdicts.judged.decided]).tolist(), *band}
    for visit in sorted(concerned):
        reading = call.verdicts.final_reading(visit)
        if reading is None or reading.winner is None:
            continue
        key = call.visits[visit].state_id, reading.winner
        if key in declared and _left(call, visit):
            event = call.verdicts.event(int(finals[visit]))
            found += _compare_writes(call, visit, event, declared[key], expected[key])
    return found


def _declared_writes(edge: Transition) -> dict[str, object]:
    """Slot → the value that taking an edge leaves it with."""
    cleared: dict[str, object] = dict.fromkeys(edge.clears, UNSET)
    return cleared | {item.slot: item.value for item in edge.sets}


def _compare_writes(
    call: Call, visit: int, event: int, edge: Transition, expected: dict[str, object]
) -> list[Raised]:
    written = _band_values(call, visit)
    if expected.keys() == written.keys() and all(_same(expected[slot], written[slot]) for slot in written):
        return []
    found = []
    for slot in sorted(expected.keys() | written.keys()):
        if slot in expected and slot in written and _same(expected[slot], written[slot]):
            continue
        left_with = exit_point(call, visit, slot).value
        if isinstance(left_with, Gone):
            continue
        if slot not in expected:
            told = f"{slot} was written, but {edge.edge_id} declares no write of it"
        elif slot not in written and (_same(expected[slot], left_with) or _may_be_missing(call, visit)):
            continue
        else:
            told = f"{slot} did not become what {edge.edge_id} declares"
        found.append(
            Raised("BOUNDARY_WRITE_MISMATCH", event, told, visit=visit, part=slot, data={"slot": slot})
        )
    return found


def _may_be_missing(call: Call, visit: int) -> bool:
    """Whether a write of the boundary may lie in a range that is missing after the exit (rule 8)."""
    exited, gaps, verdicts = call.visits[visit].exited, call.parts.gaps, call.verdicts
    if exited is None or not gaps.may_hold_writes:
        return False
    ahead = verdicts.of_visit(visit + 1)
    return gaps.within(exited, verdicts.event(ahead[0]) if ahead else call.first_extra)


def _same(wanted: object, got: object) -> bool:
    return wanted is got or (wanted is not UNSET and got is not UNSET and agree(wanted, got))


def _band_values(call: Call, visit: int) -> dict[str, object]:
    """Slot → the last value that the visit's boundary wrote; a clear that wrote null cleared all the same."""
    values: dict[str, object] = {}
    for event in call.owned.band.get(visit, ()):
        slot, new, removed = call.write(event)
        if slot is not None:
            cleared = new is None and call.write_kind(event) == "transition_clear"
            values[slot] = UNSET if removed or cleared else new
    return values
