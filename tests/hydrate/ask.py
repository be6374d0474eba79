"""Short questions to a hydrated call, for table-driven tests.

call = opened(tmp_path, [started(1), entered(2, "menu"), write(3, "x", None, 1), exited(4, "menu", "bye")])
assert owners(call) == {"bus:1": "menu#1", ...}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from engine.hydrate.call import Call
from engine.hydrate.envelope import envelope
from engine.hydrate.pipeline import open_call
from engine.hydrate.variables import cell, cursor_point, entry_snapshot, exit_snapshot
from engine.model.artifact import Cell, Envelope, Snapshot
from tests.calls import Rows, flow, manifest, row, slot, state, write_call

BETWEEN = frozenset({"drv"})


def opened(where: Path, events: Rows, *, name: str = "call", reveal: bool = False, **files: Any) -> Call:
    """Write a call folder with a flow and a manifest, and open it; `files` as for `write_call`."""
    given = {"flow": flow(), "manifest": manifest()} | files
    return open_call(write_call(where, events=events, name=name, **given), reveal=reveal)


def started(seq: int, state_id: str = "menu", **more: Any) -> dict[str, Any]:
    return row(seq, "session_started", initial_state=state_id, **more)


def seeded(seq: int, slots: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """Seeds of plain values by writer ``test``."""
    seeds = {name: {"value": value, "writer": "test"} for name, value in (slots or {}).items()}
    return row(seq, "session_slots_seeded", slots=seeds, **more)


def entered(seq: int, state_id: str, visit_id: str | None = None, **more: Any) -> dict[str, Any]:
    return row(seq, "state_entered", state_id=state_id, **_visit(visit_id), **more)


def exited(
    seq: int, state_id: str, to: str | None = None, visit_id: str | None = None, **more: Any
) -> dict[str, Any]:
    return row(seq, "state_exited", state_id=state_id, to_state=to, **_visit(visit_id), **more)


def committed(seq: int, source: str, to: str, turn: int | None = None, **more: Any) -> dict[str, Any]:
    return row(seq, "transition_committed", from_state=source, to_state=to, turn_index=turn, **more)


def write(seq: int, name: str, old: Any, new: Any, kind: str = "direct", **more: Any) -> dict[str, Any]:
    return row(seq, "slot_write", slot=name, old=old, new=new, kind=kind, writer="test", **more)


def snapshot(seq: int, phase: str, slots: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    shown: dict[str, Any] = {} if slots is None else {"slots": dict(slots)}
    return row(seq, "state_slot_snapshot", phase=phase, **shown, **more)


def verdict(seq: int, winner: str | None, to: str = "bye", **more: Any) -> dict[str, Any]:
    """A final verdict with the one candidate that won, or none."""
    candidates = (
        [] if winner is None else [{"edge_id": winner, "to": to, "when": "always", "result": "matched"}]
    )
    return row(seq, "transition_verdict", winner=winner, candidates=candidates, final=True, **more)


def _visit(visit_id: str | None) -> dict[str, Any]:
    return {} if visit_id is None else {"visit_id": visit_id}


def start(*more: dict[str, Any], slots: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """Seq 1 to 3 of a call: started, seeded, `menu` entered; then more rows."""
    return [started(1), seeded(2, slots), entered(3, "menu"), *more]


def left(seq: int, *between: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    """menu is left for bye: exit at `seq`, what lies between, then the entry."""
    return [exited(seq, "menu", "bye", **more), *between, entered(seq + 1 + len(between), "bye")]


def two_states(
    sets: Iterable[tuple[str, Any]] = (), clears: Iterable[str] = (), **more: Any
) -> dict[str, Any]:
    """A flow menu → bye over ``menu:0`` with these writes; bye goes back over ``bye:0``."""
    menu, bye = state("menu", [("always", "bye")]), state("bye", [("always", "menu")])
    menu["transitions"][0] |= {
        "sets": [{"slot": name, "value": value} for name, value in sets], "clears": list(clears)
    }  # fmt: skip
    return flow([menu, bye], **more)


def slots_of(*names: str, **graded: str) -> list[dict[str, Any]]:
    """Declared slots; keywords give a classification."""
    return [*(slot(name) for name in names), *(slot(name, grade) for name, grade in graded.items())]


# Questions.


def envelopes(call: Call) -> dict[str, Envelope]:
    """Every event that has a place, recorded and derived, by id."""
    count = call.event_count
    return {
        found.event_id: found
        for found in (envelope(call, event) for event in range(count) if call.visit_of[event] != -2)
    }


def recorded(call: Call) -> dict[str, Envelope]:
    """Every event that is not derived by the engine itself, by id."""
    return {key: found for key, found in envelopes(call).items() if not key.startswith("drv:")}


def owners(call: Call) -> dict[str, str | None]:
    """Event id → visit id."""
    return {key: found.visit_id for key, found in recorded(call).items()}


def owner(call: Call, event_id: str) -> tuple[str | None, str]:
    """Visit id and attribution of one event."""
    found = event(call, event_id)
    return found.visit_id, found.attribution


def event(call: Call, event_id: str) -> Envelope:
    number = call.find(event_id)
    assert number is not None, event_id
    return envelope(call, number)


def ids(call: Call) -> list[str]:
    return [visit.visit_id for visit in call.visits]


def steps(call: Call, visit: int, derived: bool = False) -> list[str]:
    """Ids of a visit in stepping order, those of derived events left out or not."""
    found = [call.event_id(number) for number in call.micro_events(visit).tolist()]
    return found if derived else [event_id for event_id in found if not event_id.startswith("drv:")]


def found(call: Call, *codes: str) -> list[str]:
    """Finding ids; with codes only those of these codes."""
    return [one.finding_id for one in call.findings if not codes or one.code in codes]


def visit_of(call: Call, visit_id: str) -> int:
    return ids(call).index(visit_id)


def entry(call: Call, visit_id: str) -> Snapshot:
    return entry_snapshot(call, visit_of(call, visit_id))


def exit(call: Call, visit_id: str) -> Snapshot:
    return exit_snapshot(call, visit_of(call, visit_id))


def at_cursor(call: Call, event_id: str, name: str, visit_id: str | None = None) -> Cell:
    """A slot's cell at an event (of its own visit, unless another is named)."""
    number = call.find(event_id)
    assert number is not None, event_id
    visit = int(call.visit_of[number]) if visit_id is None else visit_of(call, visit_id)
    return cell(call, name, cursor_point(call, visit, name, number))


UNSET = "unset"


def shown(found: Cell) -> Any:
    """A cell in one word: its value, `UNSET`, or availability and reason."""
    if found.availability != "available":
        return found.availability, found.reason
    return UNSET if found.unset else found.value


def entries(call: Call, name: str) -> list[Any]:
    """One slot at the entry of every visit; the reason where there are no cells."""
    return [_in(entry_snapshot(call, visit), name) for visit in range(len(call.visits))]


def exits(call: Call, name: str) -> list[Any]:
    """One slot at the exit of every visit; the reason where there are no cells."""
    return [_in(exit_snapshot(call, visit), name) for visit in range(len(call.visits))]


def _in(snapshot: Snapshot, name: str) -> Any:
    return shown(snapshot.cells[name]) if name in snapshot.cells else ("unavailable", snapshot.reason)
