"""Hiding the values of classified slots in documents (contract 2.4).

A value is hidden by where it stands (under its slot's name, or in an object that says which slot it
speaks of) and by what it is (a string that was recorded as a value of such a slot). `spared` says what stays.
"""

from __future__ import annotations

import weakref
from typing import Any

import msgspec

from engine.hydrate.call import Call
from engine.hydrate.classified import Classified, classified
from engine.hydrate.marks import REDACTED, holds_mark, is_mark
from engine.hydrate.spared import IDS, NAMES, stays
from engine.model.artifact import Finding

_SEEDS = "session_slots_seeded"
_MARKED = frozenset(
    {
        "slot_write", _SEEDS, "state_slot_snapshot", "guard_evaluated", "locked_choice_evaluated",
        "tool_called", "tool_result", "turn",
    }
)  # fmt: skip
"""Kinds whose payload holds values of slots or tools."""
_BY_NAME = frozenset({"slots", "context_reads", "post_turn_snapshot", "args", "result"})
"""Keys of objects that map a slot, a field or an argument to its value."""
_VALUES = frozenset({"old", "new", "value", "before", "after", "folded", "claimed", "default", "choice"})
"""Keys of the value of the slot that the same object names."""
_CHOICE = frozenset({"choice", "token"})
_NOWHERE: frozenset[str] = frozenset()
_INNER = frozenset({"candidates", "slot_diff", "transition_verdict", "guards_evaluated", "tool_calls"})
"""Keys of lists and objects that are rows of the vocabulary themselves."""
_INNER_NAMES = IDS | NAMES | {"to"}
_FACTS = frozenset(
    {
        "slot", "input_id", "between", "rows", "keys", "artifact", "line", "stated", "of_values",
        "verdict", "state_exited", "transition_committed", "baseline_visit_id", "candidate_visit_id",
    }
)  # fmt: skip
"""Keys of a finding's facts that hold ids, names and places."""

_redactors: weakref.WeakKeyDictionary[Call, Redactor] = weakref.WeakKeyDictionary()


def redactor(call: Call) -> Redactor:
    """The redactor of a call; of a revealed one it hides nothing that was recorded in the clear."""
    known = _redactors.get(call)
    if known is None:
        hidden = Classified() if call.reveal else classified(call)
        known = _redactors[call] = Redactor(hidden, call.reveal)
    return known


class Redactor:
    """Hides values in texts, payloads and findings."""

    def __init__(self, hidden: Classified, reveal: bool = False) -> None:
        self._hidden = hidden
        self._slots = hidden.slots
        self._strings = hidden.strings
        self._reveal = reveal

    def text(self, text: str) -> str:
        """`text`, or the replacement where it is a hidden value."""
        return REDACTED if text in self._strings else text

    def word(self, key: str, word: str) -> str:
        """The same for the text under a key of the vocabulary, whose listed values stay."""
        return word if stays(key, word, IDS) else self.text(word)

    def value(self, slot: str | None, value: Any) -> Any:
        """The value of a slot, or of what else has that name, or none; hidden where it must be."""
        return value if self._reveal else self._named(slot, value)

    def holds(self, value: Any) -> bool:
        """Whether a value is or holds a hidden one."""
        if isinstance(value, str):
            return value in self._strings
        if isinstance(value, dict):
            return any(
                (key in self._slots and item is not None) or self.holds(item) for key, item in value.items()
            )
        return isinstance(value, list) and any(map(self.holds, value))

    def payload(self, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        """A payload with hidden values replaced; keys, ids, names and the contract's own words stay."""
        if self._reveal or not (self._slots or (kind in _MARKED and holds_mark(payload))):
            return payload
        names = IDS if kind == "other" else IDS | NAMES
        done = self._object(payload, names, self._places(kind, payload))
        if kind == _SEEDS and isinstance(payload.get("slots"), dict):
            done["slots"] = {slot: self._seed(slot, seed) for slot, seed in payload["slots"].items()}
        if isinstance(done.get("words"), list) and done.get("text") != payload.get("text"):
            done["words"] = [
                item | {"w": REDACTED} if isinstance(item, dict) else item for item in done["words"]
            ]
        return done

    def finding(self, finding: Finding) -> Finding:
        """A finding whose facts hide what must be hidden."""
        if self._reveal:
            return finding
        places = self._addressed(finding.data)
        data = {
            key: value if key in _FACTS else self._member(key, value, _NOWHERE, places)
            for key, value in finding.data.items()
        }
        return msgspec.structs.replace(finding, data=data)

    def _places(self, kind: str, payload: dict[str, Any]) -> frozenset[str]:
        """The keys of a payload that hold a classified slot's value, whatever it is."""
        if kind != "locked_choice_evaluated":
            return self._addressed(payload)
        state, choices = payload.get("from_state") or payload.get("state_id"), self._hidden.choices
        hidden = state in choices if isinstance(state, str) else bool(choices)
        return _CHOICE if hidden else _NOWHERE

    def _addressed(self, value: dict[str, Any]) -> frozenset[str]:
        """The same for an object that says which slot it speaks of."""
        slot = value.get("slot")
        return _VALUES if isinstance(slot, str) and slot in self._slots else _NOWHERE

    def _object(self, value: dict[str, Any], names: frozenset[str], places: frozenset[str]) -> dict[str, Any]:
        """An object of the vocabulary: `names` are the keys whose values are ids or names."""
        done = {key: self._member(key, item, names, places) for key, item in value.items()}
        if isinstance(value.get("result"), dict) and "result" not in self._slots:
            saved = self._hidden.saved.get(str(value.get("tool")), _NOWHERE)
            done["result"] |= {key: _hide(item) for key, item in value["result"].items() if key in saved}
        return done

    def _member(self, key: str, item: Any, names: frozenset[str], places: frozenset[str]) -> Any:
        if key in places:
            return _hide(item)
        if stays(key, item, names):
            return item
        if key in self._slots:
            return _hide(item)
        if key in _INNER:
            return self._inner(item)
        if key in _BY_NAME and isinstance(item, dict):
            return {name: self._named(name, value) for name, value in item.items()}
        return self._held(item) if key in _VALUES or key in _BY_NAME else self._walk(item)

    def _inner(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._inner(item) for item in value]
        if isinstance(value, dict):
            return self._object(value, _INNER_NAMES, self._addressed(value))
        return self._walk(value)

    def _seed(self, slot: str, seed: Any) -> Any:
        """A seed keeps its shape: only its value is the slot's."""
        if not isinstance(seed, dict):
            return self._named(slot, seed)
        return {
            key: item if stays(key, item, IDS) else self._named(slot if key == "value" else key, item)
            for key, item in seed.items()
        }

    def _named(self, name: str | None, value: Any) -> Any:
        return _hide(value) if name in self._slots else self._held(value)

    def _held(self, value: Any) -> Any:
        """A value of a slot or a tool: hidden whole where a recorded mark stands within it."""
        within = isinstance(value, dict | list) and holds_mark(value)
        return REDACTED if within else self._walk(value)

    def _walk(self, value: Any) -> Any:
        """A value of the call's own: hidden by what it is, or by a slot's name as a key in it."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._walk(item) for item in value]
        if not isinstance(value, dict):
            return value
        places = self._addressed(value)
        return {
            key: _hide(item) if key in self._slots or key in places else self._walk(item)
            for key, item in value.items()
        }


def _hide(value: Any) -> Any:
    """What stands for a hidden value: null and recorded marks stay."""
    return value if value is None or is_mark(value) else REDACTED
