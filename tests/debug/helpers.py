"""Calls for the tests of engine.debug, and short ways to say where a cursor is."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from engine.debug import cursor as moves
from engine.hydrate.call import Call
from engine.hydrate.pipeline import open_call
from engine.model.views import Cursor, Stop
from tests.calls import flow, row, slot, state, write_call

SAMPLES = Path(__file__).parents[2] / "sample_artifacts"


@cache
def sample(name: str) -> Call:
    """A sample call, hydrated once a run."""
    return open_call(SAMPLES / name)


def here(call: Call, cursor: Cursor) -> str:
    """The id of the event a cursor stands on."""
    return call.event_id(moves.event_of(call, cursor))


def stopped(call: Call, stop: Stop) -> tuple[str, str | None]:
    """Where a motion ended, and whether it ran out."""
    return here(call, stop.cursor), stop.at


def at(call: Call, event_id: str) -> Cursor:
    """The cursor at an event."""
    return moves.at_event(call, event_id)


JOURNEY: list[dict[str, Any]] = [
    row(1, "session_started", 0, initial_state="menu"),
    row(2, "session_slots_seeded", 0, slots={
        "a": {"value": "x", "writer": "host"},
        "phone": {"value": "555 0100", "writer": "transport", "classification": "pii"},
    }),
    row(3, "state_entered", 0, state_id="menu", visit_id="menu#1"),
    row(4, "guard_evaluated", 100, visit_id="menu#1", guard="always", result=True, slots_read=["a"],
        edge_id="menu:0"),
    row(5, "transition_verdict", 100, visit_id="menu#1", winner="menu:0", final=True,
        candidates=[{"edge_id": "menu:0", "to": "ask", "when": "always", "result": "matched"}]),
    row(6, "slot_write", 100, visit_id="menu#1", slot="via", old=None, new="menu", kind="transition_set",
        writer="edge:menu:0", edge_id="menu:0"),
    row(7, "state_exited", 200, state_id="menu", visit_id="menu#1", to_state="ask", edge_id="menu:0"),
    row(8, "slot_write", 210, slot="stray", old=None, new=1, kind="direct", writer="nobody"),
    row(9, "state_entered", 220, state_id="ask", visit_id="ask#1"),
    row(10, "transition_committed", 230, from_state="menu", to_state="ask", edge_id="menu:0"),
    row(11, "caller_transcript", 300, visit_id="ask#1", text="hello", source="gemini"),
    row(12, "slot_write", 400, visit_id="ask#1", slot="a", old="x", new="y", kind="resolver",
        writer="choice"),
    row(13, "guard_evaluated", 410, state_id="menu", guard="always", result=False, slots_read=["a"]),
    row(14, "model_response_boundary", 500, visit_id="ask#1", model_response_id="r1",
        boundary="turn_complete"),
    row(15, "state_exited", 600, state_id="ask", visit_id="ask#1", to_state="menu", edge_id="ask:0"),
    row(16, "transition_committed", 600, from_state="ask", to_state="menu", edge_id="ask:0"),
    row(17, "state_entered", 700, state_id="menu", visit_id="menu#2"),
    row(18, "slot_write", 800, visit_id="menu#2", slot="a", old="y", new=None, kind="direct", writer="reset",
        present=False),
    row(19, "turn_complete", None, visit_id="menu#2", turn_index=1, ts=None),
]  # fmt: skip
"""Three visits, the last one open; a write between visits and a guard of another state that nobody owns."""


def journey(where: Path, **more: Any) -> Call:
    """The call of `JOURNEY`."""
    menu = state("menu", [("always", "ask")], static_reads=["phone"], goal="Find out what is wanted")
    menu["transitions"][0]["sets"] = [{"slot": "via", "value": "menu"}]
    declared = flow(
        [menu, state("ask", [("always", "menu")])], [slot("a"), slot("via"), slot("phone", "pii")]
    )
    return open_call(write_call(where, events=JOURNEY, flow=declared), **more)


def nothing(where: Path) -> Call:
    """A call in which no visit was ever entered; its one event belongs to nobody."""
    return open_call(
        write_call(where, events=[row(1, "capture_failure", 5, what="disk full")], name="nothing")
    )
