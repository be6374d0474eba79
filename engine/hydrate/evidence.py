"""The events of one visit that its beats rest on, and how a beat cites them (contract 2.9)."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np

from engine.hydrate.agentlines import TRANSCRIPTS
from engine.hydrate.call import ALL_KINDS, KIND_CODES, Call
from engine.hydrate.laneitems import payload_of
from engine.hydrate.redaction import redactor
from engine.model.artifact import Beat, Provenance, Status
from engine.model.events import ATTEMPT_EVENTS, AUDIO_KINDS, LATE_TELEMETRY
from engine.model.flow import State

LONGEST = 160
"""Characters of an explanation."""
_MOST_REFS = 50
"""Events that one beat cites; the explanation counts them all."""
AUDIO = tuple(sorted(AUDIO_KINDS))
AGENT_KINDS = (*AUDIO, *sorted(ATTEMPT_EVENTS))
SPOKE_UP = ("barge_in", "dtmf_received", "caller_audio_started", "caller_audio_ended")
"""Rows that show the caller took the floor (contract 2.3 rule 10)."""
_WANTED = (
    *AGENT_KINDS, "generation_chunk", "prompt_resolved", "asset_selected", "suppressed", "audio_pushed",
    "playback_receipt", "model_request_recorded", "caller_transcript", *TRANSCRIPTS, *SPOKE_UP,
    "input_selected", "locked_choice_evaluated", "tool_result", "transition_committed",
)  # fmt: skip
_IS_WANTED = np.zeros(len(ALL_KINDS), np.bool_)
_IS_WANTED[[KIND_CODES[kind] for kind in _WANTED]] = True
_IS_LATE = np.zeros(len(ALL_KINDS), np.bool_)
_IS_LATE[[KIND_CODES[kind] for kind in LATE_TELEMETRY]] = True

_caused: weakref.WeakKeyDictionary[Call, dict[str, list[int]]] = weakref.WeakKeyDictionary()


class Evidence:
    """The events of one visit that beats rest on, by kind, their payloads read once."""

    def __init__(self, call: Call, visit: int) -> None:
        self.call = call
        self.index = visit
        self.visit = call.visits[visit]
        self._payloads: dict[int, dict[str, Any]] = {}
        own = call.micro_events(visit)
        self._by_kind: dict[str, list[int]] = {}
        for event in own[_IS_WANTED[call.kind_of[own]]].tolist() + _late_rows(call, self.visit.visit_id):
            kind = call.kind(event)
            if kind not in LATE_TELEMETRY or self._is_cause(event):
                self._by_kind.setdefault(kind, []).append(event)

    def _is_cause(self, event: int) -> bool:
        """Whether a row of the agent's output belongs to this visit: it names it as its cause, or none."""
        cause = self.call.owned.causal.get(event) or self.row(event).get("causal_visit_id")
        if not isinstance(cause, str):
            return True
        return cause == self.visit.visit_id or cause not in self.call.parts.built.by_id

    def of(self, *kinds: str) -> list[int]:
        """The visit's events of some kinds."""
        return [event for kind in kinds for event in self._by_kind.get(kind, ())]

    def row(self, event: int) -> dict[str, Any]:
        """The payload of an event, redacted: beats quote it."""
        known = self._payloads.get(event)
        if known is None:
            recorded = payload_of(self.call, event)
            known = redactor(self.call).payload(self.call.kind(event), recorded)
            self._payloads[event] = known
        return known

    def at_stage(self, stages: tuple[str, ...], *kinds: str) -> list[int]:
        """Playback rows of some kinds at some stages."""
        return [event for event in self.of(*kinds) if self.row(event).get("evidence_stage") in stages]

    @property
    def state(self) -> State | None:
        """The state as the call's own flow has it; None where the flow can't speak for the call."""
        if self.call.flow is None or self.call.parts.flow_mismatch is not None:
            return None
        return self.call.flow.by_state.get(self.visit.state_id)

    @property
    def has_gap(self) -> bool:
        """Whether events of the visit's time are missing, so that what is not there proves nothing."""
        visit, call = self.visit, self.call
        end = visit.exited if visit.exited is not None else visit.closed_by
        return call.parts.gaps.within(visit.first, call.first_extra if end is None else end)

    def beat(self, status: Status, explanation: str, events: Iterable[int] = ()) -> Beat:
        """A beat that rests on events; its provenance is that of the weakest."""
        refs = sorted(set(events), key=lambda event: (self.call.keys[event], event))
        clean = " ".join(explanation.split())
        if len(clean) > LONGEST:
            clean = clean[: LONGEST - 1] + "…"
        ids = [self.call.event_id(event) for event in refs[:_MOST_REFS]]
        return Beat(status, _provenance(self.call, refs), clean, ids)


def _late_rows(call: Call, visit_id: str) -> list[int]:
    """Rows observed in a later visit that name this one as their cause (contract 2.3 rule 7)."""
    known = _caused.get(call)
    if known is None:
        known = {}
        for event, cause in sorted((_stated_causes(call) | call.owned.causal).items()):
            known.setdefault(cause, []).append(event)
        _caused[call] = known  # whole before another thread can see it
    return known.get(visit_id, [])


def _stated_causes(call: Call) -> dict[int, str]:
    """Event → the earlier visit that it names only as its cause, of rows that a later visit lists."""
    ledger, by_id = call.ledger, call.parts.built.by_id
    found: dict[int, str] = {}
    unnamed = _IS_LATE[ledger.kind] & (ledger.visit < 0) & (call.owned.visit >= 0)
    for event in np.flatnonzero(unnamed).tolist():
        cause = ledger.payload(event).get("causal_visit_id")
        visit = by_id.get(cause) if isinstance(cause, str) else None
        if visit is not None and visit < int(call.owned.visit[event]):
            found[event] = call.visits[visit].visit_id
    return found


def _provenance(call: Call, events: list[int]) -> Provenance:
    if call.parts.turns_only and any(event < call.first_extra for event in events):
        return "derived"
    return "derived" if any(event >= call.first_derived for event in events) else "recorded"
