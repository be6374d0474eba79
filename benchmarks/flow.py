"""The flow of the generated calls: a claims menu and a property menu, one ring that never ends."""

from __future__ import annotations

from typing import Any, NamedTuple

from engine.canonical import fingerprint


class Edge(NamedTuple):
    """One declared transition."""

    to: str
    when: str
    reason: str
    sets: tuple[tuple[str, Any], ...] = ()
    clears: tuple[str, ...] = ()


EDGES: dict[str, tuple[Edge, ...]] = {
    "hello": (Edge("menu", "audio_done", "greeted"),),
    "menu": (
        Edge("agree", "slot_equals:_route:claim", "caller chose claim"),
        Edge("list", "slot_equals:_route:check", "caller chose check"),
        Edge("retry", "timeout", "nothing heard"),
    ),
    "retry": (Edge("menu", "audio_done", "asked again"),),
    "agree": (
        Edge("claim", "slot_equals:consent:yes", "caller consented"),
        Edge("bye", "slot_equals:consent:no", "caller declined"),
        Edge("agree", "stalled", "no progress"),
    ),
    "claim": (Edge("bye", "all_state_slots_filled_and_valid", "claim known"),),
    "bye": (Edge("full", "audio_done", "claim done", clears=("consent",)),),
    "full": (
        Edge("main", "audio_done", "menu read", sets=(("_via", "full"),)),
        Edge("main", "audio_failed", "menu audio failed"),
    ),
    "main": (
        Edge("desk", "slot_equals:_route:new", "caller chose new"),
        Edge(
            "list", "slot_equals:_route:old", "caller chose old", sets=(("_via", "menu"),), clears=("_fired",)
        ),
    ),
    "list": (
        Edge("tell", "tool_ok:tickets", "tickets listed"),
        Edge("main", "tool_failed:tickets", "failed"),
    ),
    "tell": (Edge("done", "slot_equals:_route:done", "caller is done"), Edge("main", "always", "more")),
    "done": (Edge("hello", "audio_done", "next round"), Edge("desk", "always", "to the desk")),
    "desk": (Edge("hello", "always", "desk done"),),
}
"""State → its edges in declaration order."""
GOALS = {
    "hello": ("announce", "Greet"),
    "menu": ("menu", "Route the caller"),
    "retry": ("announce", "Ask again"),
    "agree": ("confirm", "Get recording consent"),
    "claim": ("collect", "What kind of claim"),
    "bye": ("announce", "Close the claim"),
    "full": ("announce", "Read the full menu once"),
    "main": ("menu", "Find out what the caller wants"),
    "list": ("tool", "List the open tickets"),
    "tell": ("confirm", "Tell the status"),
    "done": ("announce", "Close the round"),
    "desk": ("collect", "A long talk with the desk"),
}
CHOICES = {"menu": ("claim", "check"), "main": ("new", "old")}
SLOTS: tuple[tuple[str, str, str], ...] = (
    ("caller", "string", "pii"),
    ("_route", "string", "internal"),
    ("consent", "string", "internal"),
    ("kind", "string", "public"),
    ("_via", "string", "internal"),
    ("tickets", "array", "public"),
    ("_fired", "string", "internal"),
)
"""Name, type and classification."""


def flow() -> dict[str, Any]:
    """The flow document, with the version that its canonical bytes give."""
    made: dict[str, Any] = {
        "schema": "riff.flow/v1",
        "flow_id": "bench",
        "initial_state": "hello",
        "progress": {"reset_on": ["stalled_edge"]},
        "slots": [
            {"name": name, "type": kind, "classification": classification, "default": None}
            for name, kind, classification in SLOTS
        ],
        "states": [_state(state) for state in EDGES],
    }
    made["flow_version"] = fingerprint(made)
    return made


def _state(state: str) -> dict[str, Any]:
    kind, goal = GOALS[state]
    choice = CHOICES.get(state)
    return {
        "id": state,
        "kind": kind,
        "goal": goal,
        "prompt": {"text": f"{goal}.", "asset_id": f"asset:{state}" if kind == "announce" else None},
        "audio_policy": {"barge_in": True, "timeout_ms": 8000},
        "required_slots": ["_route"] if kind == "menu" else [],
        "static_reads": ["_route"] if kind == "menu" else [],
        "max_no_progress_loops": 2,
        "check_on_entry": state == "agree",
        "locked_choice": choice
        and {
            "slot": "_route",
            "options": [
                {"value": value, "phrases": [value], "dtmf": str(number)}
                for number, value in enumerate(choice, 1)
            ],
        },
        "tools": [_TOOL] if state == "list" else [],
        "transitions": [
            {
                "edge_id": f"{state}:{index}",
                "declaration_index": index,
                "to": edge.to,
                "when": edge.when,
                "reason": edge.reason,
                "sets": [{"slot": slot, "value": value} for slot, value in edge.sets],
                "clears": list(edge.clears),
            }
            for index, edge in enumerate(EDGES[state])
        ],
    }


_TOOL = {"name": "tickets", "read_only": True, "args": ["unit"], "saves": {"tickets": "tickets"}}
