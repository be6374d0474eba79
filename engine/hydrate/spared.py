"""What redaction never touches: keys of ids and names, and the words the contract lists (contract 1.3, 1.4).

Each stays only where the vocabulary puts it: a tool's own ``to`` or ``account_id`` is a value like any other.
"""

from __future__ import annotations

import re
from typing import Any

from engine.model.events import DIALECTS

IDS = frozenset(
    {
        "session_id", "flow_id", "run_id", "state_id", "visit_id", "edge_id", "input_id", "call_id",
        "causal_visit_id", "observed_visit_id", "model_request_id", "model_response_id", "logical_output_id",
        "output_attempt_id", "parent_attempt_id", "active_logical_output_id", "active_output_attempt_id",
        "playback_id", "parent_playback_id", "asset_id",
    }
)  # fmt: skip
"""Keys of ids: session-scoped, without caller text."""

NAMES = frozenset(
    {
        "slot", "from_state", "to_state", "initial_state", "node", "winner", "guard", "when", "slots_read",
        "recent_states", "pending_transition", "required_slots", "missing_required_slots",
        "filled_required_slots", "required_slots_in_state", "malformed", "unavailable_fields",
    }
)  # fmt: skip
"""Keys whose values are names of states, edges and slots, guard texts, or keys."""

_REFS = frozenset({"observations", "selected_observation"})
_EVENT_ID = re.compile(r"(?:bus|trace|live|timed|tl|turn|drv|sim):\S+\Z")

_AUDIO_STAGES = frozenset(
    {"model_received", "outbound_accepted", "client_playback", "carrier_recorded", "unrecorded"}
)
_SOURCES = frozenset({"gemini", "whisper", "dtmf"})
_LISTED: dict[str, frozenset[str]] = {
    "phase": frozenset({"entry", "exit"}),
    "kind": frozenset(
        {"tool", "resolver", "transition_set", "transition_clear", "direct"}
        | {"phone", "web", "console", "simulator", "eval"}
    ),
    "classification": frozenset({"public", "internal", "pii", "secret"}),
    "result": frozenset({"matched", "no", "shadowed", "error"}),
    "source": _SOURCES,
    "selected_source": _SOURCES,
    "output_expectation": frozenset({"required", "allowed", "forbidden", "unknown"}),
    "dispatch_outcome": frozenset({"accepted", "failed"}),
    "response_id_source": frozenset({"provider", "derived_local"}),
    "outcome": frozenset({"completed", "interrupted", "failed", "abandoned"}),
    "attempt_confidence": frozenset({"provider_signalled", "derived"}),
    "boundary": frozenset(
        {"generation_complete", "turn_complete", "interrupted", "changed", "entry", "exit"}
    ),
    "evidence_stage": _AUDIO_STAGES,
    "stage": _AUDIO_STAGES,
    "source_kind": frozenset({"static_asset", "template_tts", "model_audio", *DIALECTS}),
    "timer": frozenset({"timeout"}),
    "speaker": frozenset({"caller", "agent"}),
}
"""Key → the values that the contract lists for it (contract 1.2 to 1.7)."""


def stays(key: str, value: Any, names: frozenset[str]) -> bool:
    """Whether a value is an id, a name, or a word that the contract lists for its key.

    Args:
        key: The key it stands under.
        value: The value; of a list, every item must stay.
        names: The keys whose values are ids or names here.
    """
    if isinstance(value, list):
        return key in names | _REFS and all(stays(key, item, names) for item in value)
    if not isinstance(value, str):
        return False
    if key in _REFS:
        return _EVENT_ID.match(value) is not None
    return key in names or value in _LISTED.get(key, ())
