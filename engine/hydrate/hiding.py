"""Hiding the values of classified slots in documents (contract 2.4).

A value is hidden by where it stands (under its slot's name, or in an object that says which slot it
speaks of) and by what it is (a string that was recorded as a value of such a slot). Keys, ids, names of
states, edges and slots, and the words that the contract itself lists stay; each of these only where the
vocabulary puts it, so a tool's own ``to`` or ``account_id`` is a value like any other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from engine.hydrate.redaction import REDACTED, is_mark
from engine.model.artifact import Finding
from engine.model.events import DIALECTS

_EVENT_ID = re.compile(r"(?:bus|trace|live|timed|tl|turn|drv|sim):\S+\Z")


class Hidden(NamedTuple):
    """What a call hides.

    Attributes:
        slots: Names of the hidden slots.
        strings: Every non-empty string recorded as a value of theirs, or within one; no names.
        choices: States whose locked choice fills a hidden slot.
        saved: Tool → keys of its result that are saved in a hidden slot.
    """

    slots: frozenset[str] = frozenset()
    strings: frozenset[str] = frozenset()
    choices: frozenset[str] = frozenset()
    saved: Mapping[str, frozenset[str]] = {}


class Redactor:
    """Hides values in texts, payloads and findings."""

    def __init__(self, hidden: Hidden) -> None:
        self._hidden = hidden
        self._slots = hidden.slots
        self._strings = hidden.strings

    @property
    def idle(self) -> bool:
        """Whether there is nothing to hide."""
        return not self._slots

    def text(self, text: str) -> str:
        """`text`, or the replacement where it is a hidden value."""
        return REDACTED if text in self._strings else text

    def value(self, slot: str | None, value: Any) -> Any:
        """A value that stands for a slot (or for none), hidden where it must be."""
        if self.idle or value is None:
            return value
        return _hide(value) if slot in self._slots else self._walk(value)

    def payload(self, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        """A payload with hidden values replaced; keys, ids, names and the contract's own words stay."""
        if self.idle:
            return payload
        names = IDS if kind == "other" else IDS | NAMES
        done = self._object(payload, names, self._places(kind, payload))
        if kind == "session_slots_seeded" and isinstance(payload.get("slots"), dict):
            done["slots"] = {slot: self._seed(slot, seed) for slot, seed in payload["slots"].items()}
        if isinstance(done.get("words"), list) and done.get("text") != payload.get("text"):
            done["words"] = [
                item | {"w": REDACTED} if isinstance(item, dict) else item for item in done["words"]
            ]
        return done

    def finding(self, finding: Finding) -> Finding:
        """A finding whose facts hide what must be hidden."""
        if self.idle:
            return finding
        places = self._addressed(finding.data)
        data = {
            key: value if key in _FACTS else _hide(value) if key in places else self._entry(key, value)
            for key, value in finding.data.items()
        }
        return msgspec.structs.replace(finding, data=data)

    def _places(self, kind: str, payload: dict[str, Any]) -> frozenset[str]:
        """The keys of a payload that hold a hidden slot's value, whatever it is."""
        if kind == "locked_choice_evaluated":
            state = payload.get("from_state") or payload.get("state_id")
            return _CHOICE if isinstance(state, str) and state in self._hidden.choices else frozenset()
        return self._addressed(payload)

    def _addressed(self, value: dict[str, Any]) -> frozenset[str]:
        """The same for an object that says which slot it speaks of."""
        slot = value.get("slot")
        return _SLOT_VALUES if isinstance(slot, str) and slot in self._slots else frozenset()

    def _object(self, value: dict[str, Any], names: frozenset[str], places: frozenset[str]) -> dict[str, Any]:
        """An object of the vocabulary: `names` are the keys whose values are ids or names."""
        done: dict[str, Any] = {}
        for key, item in value.items():
            if key in places:
                done[key] = _hide(item)
            elif _stays(key, item, names):
                done[key] = item
            elif key in _INNER and key not in self._slots:
                done[key] = self._inner(item)
            elif key == "result" and isinstance(item, dict) and key not in self._slots:
                saved = self._hidden.saved.get(str(value.get("tool")), frozenset())
                done[key] = {k: _hide(v) if k in saved else self._entry(k, v) for k, v in item.items()}
            else:
                done[key] = self._entry(key, item)
        return done

    def _inner(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._inner(item) for item in value]
        if isinstance(value, dict):
            return self._object(value, _INNER_NAMES, self._addressed(value))
        return self._walk(value)

    def _seed(self, slot: str, seed: Any) -> Any:
        """A seed keeps its shape: only its value is the slot's."""
        if not isinstance(seed, dict):
            return self.value(slot, seed)
        return {
            key: item if _stays(key, item, IDS) else self.value(slot if key == "value" else key, item)
            for key, item in seed.items()
        }

    def _entry(self, key: str, value: Any) -> Any:
        return _hide(value) if key in self._slots else self._walk(value)

    def _walk(self, value: Any) -> Any:
        """A value of the call's own: hidden by what it is, or by a slot's name as a key in it."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._walk(item) for item in value]
        if not isinstance(value, dict):
            return value
        places = self._addressed(value)
        return {key: _hide(item) if key in places else self._entry(key, item) for key, item in value.items()}


def _hide(value: Any) -> Any:
    """What stands for a hidden value: null and recorded marks stay."""
    return value if value is None or is_mark(value) else REDACTED


def _stays(key: str, value: Any, names: frozenset[str]) -> bool:
    """Whether a value is an id, a name, or a word that the contract lists for its key."""
    if isinstance(value, list):
        return key in names | _REFS and all(_stays(key, item, names) for item in value)
    if not isinstance(value, str):
        return False
    if key in _REFS:
        return _EVENT_ID.match(value) is not None
    return key in names or value in LISTED.get(key, ())


IDS = frozenset(
    {
        "session_id", "flow_id", "run_id", "state_id", "visit_id", "edge_id", "input_id", "call_id",
        "causal_visit_id", "observed_visit_id", "model_request_id", "model_response_id", "logical_output_id",
        "output_attempt_id", "parent_attempt_id", "active_logical_output_id", "active_output_attempt_id",
        "playback_id", "parent_playback_id", "asset_id",
    }
)  # fmt: skip
"""Keys of ids (contract 1.3, 1.4): session-scoped, without caller text."""

NAMES = frozenset(
    {
        "slot", "from_state", "to_state", "initial_state", "node", "winner", "slots_read", "recent_states",
        "pending_transition", "required_slots", "missing_required_slots", "filled_required_slots",
        "required_slots_in_state", "malformed", "unavailable_fields",
    }
)  # fmt: skip
"""Keys whose values are names of states, edges and slots, or keys."""

_INNER = frozenset({"candidates", "slot_diff", "transition_verdict", "guards_evaluated", "tool_calls"})
_INNER_NAMES = IDS | NAMES | {"to"}
_REFS = frozenset({"observations", "selected_observation"})

_AUDIO_STAGES = frozenset(
    {"model_received", "outbound_accepted", "client_playback", "carrier_recorded", "unrecorded"}
)
_SOURCES = frozenset({"gemini", "whisper", "dtmf"})
LISTED: dict[str, frozenset[str]] = {
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

_SLOT_VALUES = frozenset({"old", "new", "value", "before", "after", "folded", "claimed", "default", "choice"})
_CHOICE = frozenset({"choice", "token"})
_FACTS = frozenset(
    {
        "slot", "input_id", "between", "rows", "keys", "artifact", "line", "stated", "of_values",
        "verdict", "state_exited", "transition_committed", "state_entered", "baseline_visit_id",
        "candidate_visit_id",
    }
)  # fmt: skip
"""Keys of a finding's facts that hold ids, names and places."""
