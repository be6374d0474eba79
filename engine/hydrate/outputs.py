"""Output attempts as recorded, and the playback spans that follow from them (contract 2.10).

This is the plain join on recorded ids. Boundary rules, lifecycles and legacy joins belong to contract 4.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.hydrate.call import KIND_CODES, Call
from engine.hydrate.envelope import payload
from engine.model.events import ATTEMPT_EVENTS, AUDIO_TERMINALS

_OUTCOMES = {"audio_completed": "completed", "audio_interrupted": "interrupted", "audio_failed": "failed"}


def output_attempts(call: Call) -> list[dict[str, Any]]:
    """One record for each ``output_attempt_id`` that a started row names, in event order."""
    found: dict[str, dict[str, Any]] = {}
    for event in _events(call, ATTEMPT_EVENTS):
        row = payload(call, event)
        attempt_id = row.get("output_attempt_id")
        if not isinstance(attempt_id, str):
            continue
        kind = call.kind(event)
        record = found.get(attempt_id)
        if record is None:
            if kind != "output_attempt_started":
                continue
            record = found[attempt_id] = _started(call, event, attempt_id, row)
        _note(call, record, kind, event, row)
    return list(found.values())


def _started(call: Call, event: int, attempt_id: str, row: dict[str, Any]) -> dict[str, Any]:
    visit = int(call.owned.visit[event])
    cause = row.get("causal_visit_id")
    return {
        "output_attempt_id": attempt_id,
        "logical_output_id": row.get("logical_output_id"),
        "model_request_id": row.get("model_request_id"),
        "parent_attempt_id": row.get("parent_attempt_id"),
        "restart_reason": row.get("restart_reason"),
        "causal_visit_id": cause,
        "observed_visit_id": call.visit_id(visit),
        "started_event_id": call.event_id(event),
        "started_ms": call.clock_ms(event),
        "first_text_ms": None,
        "first_audio_ms": None,
        "terminal_event_id": None,
        "terminal_ms": None,
        "outcome": None,
        "attempt_confidence": None,
        "provenance": "recorded",
        "source_refs": [call.event_id(event)],
    }


def _note(call: Call, record: dict[str, Any], kind: str, event: int, row: dict[str, Any]) -> None:
    if kind == "output_attempt_first_text":
        record["first_text_ms"] = call.clock_ms(event)
    elif kind == "output_attempt_first_audio":
        record["first_audio_ms"] = call.clock_ms(event)
    elif kind == "output_attempt_terminal" and record["terminal_event_id"] is None:
        record["terminal_event_id"] = call.event_id(event)
        record["terminal_ms"] = call.clock_ms(event)
        record["outcome"] = row.get("outcome")
        record["attempt_confidence"] = row.get("attempt_confidence")
        record["source_refs"].append(call.event_id(event))


def playback_spans(call: Call) -> list[dict[str, Any]]:
    """One span for each started (playback, stage), with its terminal where one was recorded."""
    spans: dict[tuple[str, str], dict[str, Any]] = {}
    for event in _events(call, AUDIO_TERMINALS | {"audio_started"}):
        row = payload(call, event)
        playback = row.get("playback_id")
        stage = row.get("evidence_stage")
        if not isinstance(playback, str):
            continue
        key = (playback, stage if isinstance(stage, str) else "unrecorded")
        kind = call.kind(event)
        if kind == "audio_started" and key not in spans:
            visit = int(call.owned.visit[event])
            spans[key] = {
                "playback_id": playback,
                "output_attempt_id": row.get("output_attempt_id"),
                "visit_id": call.visit_id(visit),
                "stage": key[1],
                "start_ms": call.clock_ms(event),
                "end_ms": None,
                "outcome": None,
            }
        elif kind in _OUTCOMES and key in spans and spans[key]["outcome"] is None:
            spans[key]["end_ms"] = call.clock_ms(event)
            spans[key]["outcome"] = _OUTCOMES[kind]
    return list(spans.values())


def _events(call: Call, kinds: frozenset[str] | set[str]) -> list[int]:
    codes = [KIND_CODES[kind] for kind in sorted(kinds)]
    found: list[int] = np.flatnonzero(np.isin(call.ledger.kind, codes)).tolist()
    return found
