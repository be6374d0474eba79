"""The event vocabulary of contract 1.4: kinds, their keys, dialects, ids and orders.

`EVENT_KEYS` is the one table. The ledger reader builds its decoders from it and the validator of odd rows
reads it, so a key's type is said once. A key marked ``required`` is bold in the contract.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

Text = str
TextOrNull = str | None
CLOCK_END = 2**53
"""A moment in ms lies below this: a double holds every whole number up to it."""
Clock = (
    Annotated[int, Meta(gt=-CLOCK_END, lt=CLOCK_END)]
    | Annotated[float, Meta(gt=-CLOCK_END, lt=CLOCK_END)]
    | None
)
"""A moment of the call clock, in ms."""
Flag = bool | None


class Key(msgspec.Struct, frozen=True):
    """One payload key of a kind: the type its value must have, and whether the meaning needs it."""

    type: Any
    required: bool = False


def _need(kind: Any) -> Key:
    return Key(kind, True)


def _may(kind: Any) -> Key:
    return Key(kind, False)


_ID = _may(TextOrNull)

_AUDIO: dict[str, Key] = {"playback_id": _need(Text), "evidence_stage": _ID, "output_attempt_id": _ID}

_ATTEMPT_MARK: dict[str, Key] = {"output_attempt_id": _need(Text)}

EVENT_KEYS: dict[str, dict[str, Key]] = {
    "session_started": {
        "initial_state": _need(Text),
        "flow_id": _ID,
        "flow_version": _ID,
        "kind": _ID,
        "transport": _ID,
    },
    "session_slots_seeded": {"slots": _need(dict[str, Any]), "fingerprint": _ID},
    "session_ended": {"reason": _ID},
    "state_entered": {"state_id": _need(Text), "from_state": _ID, "edge_id": _ID},
    "state_exited": {"state_id": _need(Text), "to_state": _ID, "edge_id": _ID, "reason": _ID},
    "transition_committed": {
        "from_state": _need(Text),
        "to_state": _need(Text),
        "edge_id": _ID,
        "reason": _ID,
        "turn_index": _may(int | None),
    },
    "state_slot_snapshot": {
        "phase": _need(Text),
        "slots": _may(dict[str, Any] | None),
        "partial": _may(Flag),
        "fingerprint": _ID,
    },
    "state_context_snapshot": {"phase": _need(Text), "context_fingerprint": _ID},
    "slot_write": {
        "slot": _need(Text),
        "old": _need(Any),
        "new": _need(Any),
        "kind": _need(Text),
        "writer": _need(Text),
        "edge_id": _ID,
        "input_id": _ID,
        "present": _may(Flag),
    },
    "slot_filled": {},
    "guard_evaluated": {
        "guard": _need(Text),
        "result": _need(Flag),
        "slots_read": _need(list[str]),
        "edge_id": _ID,
    },
    "transition_verdict": {
        "winner": _need(TextOrNull),
        "candidates": _need(list[dict[str, Any]]),
        "final": _may(Flag),
        "truncated": _may(int | bool | None),
    },
    "caller_transcript": {
        "text": _need(Text),
        "source": _need(Text),
        "input_id": _ID,
        "start_ms": _may(Clock),
        "end_ms": _may(Clock),
        "final": _may(Flag),
    },
    "caller_audio_started": {"input_id": _ID},
    "caller_audio_ended": {"input_id": _ID},
    "dtmf_received": {"digit": _need(Text), "input_id": _ID},
    "barge_in": {},
    "timer_fired": {"timer": _need(Text)},
    "input_selected": {
        "input_id": _need(Text),
        "selected_source": _need(Text),
        "decision_reason": _need(Text),
    },
    "locked_choice_evaluated": {
        "from_state": _ID,
        "turn_index": _may(int | None),
        "choice": _may(Any),
        "result": _may(Any),
    },
    "tool_called": {"tool": _need(Text), "call_id": _need(Text)},
    "tool_result": {"tool": _need(Text), "call_id": _need(Text), "ok": _need(bool)},
    "model_request_recorded": {
        "model_request_id": _need(Text),
        "request_kind": _need(Text),
        "output_expectation": _need(Text),
        "dispatch_outcome": _need(Text),
    },
    "output_attempt_started": {
        "output_attempt_id": _need(Text),
        "logical_output_id": _need(Text),
    },
    "output_attempt_first_text": _ATTEMPT_MARK,
    "output_attempt_first_audio": _ATTEMPT_MARK,
    "output_attempt_last_audio": _ATTEMPT_MARK,
    "output_attempt_terminal": {
        "output_attempt_id": _need(Text),
        "outcome": _need(Text),
    },
    "model_response_boundary": {
        "model_response_id": _need(Text),
        "boundary": _need(Text),
    },
    "turn_scratch_reset": {"reason": _need(Text)},
    "audio_requested": _AUDIO,
    "audio_started": _AUDIO,
    "audio_completed": _AUDIO,
    "audio_interrupted": _AUDIO,
    "audio_failed": _AUDIO,
    "assistant_first_audio": {},
    "assistant_transcript": {"text": _need(Text), "output_attempt_id": _ID},
    "turn_complete": {"turn_index": _need(int)},
    "capture_failure": {"what": _need(Text)},
}
"""Kind → the keys its meaning needs, and the optional ones that hydration acts on; other optional keys
are read when they are looked at. A kind that is not here keeps its place as ``other``."""

DIALECTS: dict[str, str] = {
    "call_ended": "session_ended",
    "gemini_transcript": "caller_transcript",
    "input_transcription": "caller_transcript",
    "user_started_speaking": "caller_audio_started",
    "user_stopped_speaking": "caller_audio_ended",
    "dtmf": "dtmf_received",
    "interruption": "barge_in",
    "timeout": "timer_fired",
    "audio_done": "audio_completed",
    "output_transcription": "assistant_transcript",
}
"""Type as older runtimes emit it → kind."""

DIALECT_DEFAULTS: dict[str, dict[str, str]] = {
    "gemini_transcript": {"source": "gemini"},
    "input_transcription": {"source": "gemini"},
    "timeout": {"timer": "timeout"},
}
"""What a dialect's name itself says about a required key, used where the row does not say it."""

OTHER = "other"
TRACE_KINDS = (
    "prompt_resolved",
    "asset_selected",
    "generation_chunk",
    "suppressed",
    "audio_pushed",
    "audio_clear_sent",
    "playback_receipt",
    "tool_called",
    "tool_result",
)

AUDIO_KINDS = frozenset(
    {"audio_requested", "audio_started", "audio_completed", "audio_interrupted", "audio_failed"}
)
AUDIO_TERMINALS = frozenset({"audio_completed", "audio_interrupted", "audio_failed"})
ATTEMPT_EVENTS = frozenset(kind for kind in EVENT_KEYS if kind.startswith("output_attempt_"))
LATE_TELEMETRY = frozenset(
    (ATTEMPT_EVENTS - {"output_attempt_started"})
    | (AUDIO_KINDS - {"audio_requested"})
    | {"assistant_transcript", "assistant_first_audio", "model_response_boundary"}
)
"""Rows that may come after the visit that caused them has exited (contract 2.3 rule 7)."""

MEANINGFUL = frozenset(
    {
        "slot_write",
        "guard_evaluated",
        "transition_verdict",
        "state_entered",
        "state_exited",
        "caller_transcript",
        "dtmf_received",
        "barge_in",
        "input_selected",
        "locked_choice_evaluated",
        "timer_fired",
        "tool_called",
        "tool_result",
        "audio_started",
        "output_attempt_started",
        "output_attempt_terminal",
    }
    | AUDIO_TERMINALS
)
"""Where the key ``s`` stops (contract 3.3)."""

ENVELOPE_KEYS = frozenset({"seq", "ts", "clock_ms", "type", "payload", "data"})
"""Keys of a row that are not payload."""

SUBORDER = {"derived_before": -1, "bus": 0, "trace": 1, "live": 2, "timed": 3, "derived_after": 4}
