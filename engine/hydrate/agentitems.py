"""One line of the agent as a document: what was generated apart from what was heard (contract 2.8)."""

from __future__ import annotations

import math
from typing import Any

from engine.hydrate.agentlines import TRANSCRIPTS, Line, Lines, number_of
from engine.hydrate.call import Call
from engine.hydrate.callerturns import LIVE_SOURCE, TIMED_SOURCE
from engine.hydrate.laneaudio import Stretch, aligned, audio_range, stretch_of
from engine.hydrate.laneitems import (
    Said,
    compare,
    observations_of,
    payload_of,
    refs_of,
    unavailable,
)
from engine.hydrate.outputrows import STAGES
from engine.hydrate.redaction import redactor
from engine.model.artifact import Turn
from engine.model.events import AUDIO_KINDS, AUDIO_TERMINALS

_Rows = dict[int, dict[str, Any]]
_OUTCOMES = {"audio_completed": "completed", "audio_interrupted": "interrupted", "audio_failed": "failed"}
_GENERATED = ("output_attempt_terminal", "assistant_transcript")


def agent_item(call: Call, line: Line, lines: Lines) -> Turn:
    """One utterance of the agent, over its stages, with what was generated apart from what was heard."""
    attempt = line.attempts[0] if len(line.attempts) == 1 else None
    beside = lines.attempt_events(attempt) if attempt is not None else []
    own = line.events + [event for event in beside if event not in line.events]
    rows = {event: payload_of(call, event) for event in [*own, *line.rows]}
    said = _agent_said(call, rows)
    live = next((one.text for one in said if one.source == LIVE_SOURCE and one.text), None)
    timed = next((one.text for one in said if one.source == TIMED_SOURCE and one.text), None)
    agreement, wer, diff = compare(call, live, timed, said)
    stretch = _agent_stretch(call, line, own, rows)
    leading = [*line.events, *line.rows]
    visit = int(call.visit_of[leading[0]])
    reason = "not_applicable: only what the caller did is acted on"
    return Turn(
        item_id=f"conv:{call.event_id(leading[0])}",
        visit_id=call.visit_id(visit),
        lane="agent",
        start_ms=stretch.start_ms,
        end_ms=stretch.end_ms,
        observations=observations_of(call, said),
        acted_on=unavailable(reason if any(one.text for one in said) else "no text of it was recorded"),
        agreement=agreement if live and timed else "single_source" if said else "unavailable",
        wer=wer,
        diff=diff,
        audio_range=audio_range(call, "agent", stretch),
        refs=refs_of(call, rows),
        output=_output(call, line, attempt, own, rows),
    )


def _agent_said(call: Call, rows: _Rows) -> list[Said]:
    """Every text of a line by source; one without text where its rows hold none."""
    found: list[Said] = []
    for event, content in rows.items():
        kind, text = call.kind(event), content.get("text")
        if kind in TRANSCRIPTS:
            source = TRANSCRIPTS[kind]
        elif kind == "assistant_transcript":
            source = LIVE_SOURCE
        elif kind in AUDIO_KINDS or kind in ("audio_span", "output_attempt_terminal"):
            source = _source_kind(rows) or "playback"
        else:
            continue
        if isinstance(text, str) and text and not _superseded(call, event, rows):
            found.append(Said(source, text, event))
    return found


def _source_kind(rows: _Rows) -> str | None:
    kinds = (content.get("source_kind") for content in rows.values())
    return next((kind for kind in kinds if kind in ("static_asset", "template_tts", "model_audio")), None)


def _superseded(call: Call, event: int, rows: _Rows) -> bool:
    """Whether an interim transcript row has a settled one of its source beside it."""
    kind = call.kind(event)
    return rows[event].get("final") is False and any(
        call.kind(other) == kind and content.get("final") is not False for other, content in rows.items()
    )


def _agent_stretch(call: Call, line: Line, own: list[int], rows: _Rows) -> Stretch:
    """When it sounded: by its stage nearest the caller, else by its transcript, else by its attempt."""
    partial: Stretch | None = None
    for stage in STAGES:
        marks = [event for event in line.events if _stage(call, event, rows) == stage]
        started = [event for event in marks if call.kind(event) == "audio_started"]
        ended = [event for event in marks if call.kind(event) in AUDIO_TERMINALS]
        stretch = stretch_of(call, started[0] if started else None, ended[0] if ended else None)
        if stage == "model_received":
            stretch = stretch._replace(reason="only model_received times are recorded")
        if started:
            return stretch
        if ended and partial is None:
            partial = stretch
    for event in [*line.events, *line.rows]:
        if call.kind(event) in (*TRANSCRIPTS, "audio_span"):
            start, end = rows[event].get("start_ms"), rows[event].get("end_ms")
            return Stretch(*(None if math.isnan(number_of(ms)) else ms for ms in (start, end)))
    if partial is not None:
        return partial
    return _attempt_stretch(call, own)


def _attempt_stretch(call: Call, own: list[int]) -> Stretch:
    sound = {call.kind(event): event for event in own}
    first, last = sound.get("output_attempt_first_audio"), sound.get("output_attempt_last_audio")
    stretch = stretch_of(call, first, last)
    return stretch if first is None else stretch._replace(reason="only times of its generation are recorded")


def _stage(call: Call, event: int, rows: _Rows) -> str | None:
    if call.kind(event) not in AUDIO_KINDS:
        return None
    stage = rows[event].get("evidence_stage")
    return stage if isinstance(stage, str) else "unrecorded"


def _output(call: Call, line: Line, attempt: str | None, own: list[int], rows: _Rows) -> dict[str, Any]:
    """Attempt, outcome, what was generated and what was heard; null with a reason where not recorded."""
    why: dict[str, str] = {}
    if attempt is None:
        several = len(line.attempts) > 1
        why["output_attempt_id"] = (
            "its rows name several output attempts" if several else "no output attempt is named"
        )
    outcome = _outcome(call, own, rows)
    if outcome is None:
        why["outcome"] = "no terminal was recorded"
    generated, reason = _generated(call, own, rows)
    if generated is None:
        why["generated"] = reason
    why["heard"] = _unheard(call, own, rows)
    return {
        "output_attempt_id": attempt,
        "outcome": outcome,
        "generated": None if generated is None else redactor(call).text(generated),
        "heard": None,
        "unavailable": why,
    }


def _outcome(call: Call, own: list[int], rows: _Rows) -> str | None:
    """The attempt's own outcome, else that of the furthest stage that ended."""
    for event in own:
        outcome = rows[event].get("outcome")
        if call.kind(event) in ("output_attempt_terminal", "audio_span") and isinstance(outcome, str):
            return redactor(call).word("outcome", outcome)
    for stage in STAGES:
        for event in own:
            if call.kind(event) in _OUTCOMES and _stage(call, event, rows) == stage:
                return _OUTCOMES[call.kind(event)]
    return None


def _generated(call: Call, own: list[int], rows: _Rows) -> tuple[str | None, str]:
    """The text that was generated, or why it is not known; a static playback generates nothing."""
    if _source_kind(rows) == "static_asset":
        return None, "not_applicable: a static asset was played, nothing was generated"
    for kind in _GENERATED:
        texts = [rows[event].get("text") for event in own if call.kind(event) == kind]
        known = [text for text in texts if isinstance(text, str) and text]
        if known:
            return " ".join(dict.fromkeys(known)), ""
    for event in own:
        text, stage = rows[event].get("text"), _stage(call, event, rows)
        rendered = stage is not None and rows[event].get("source_kind") == "template_tts"
        if isinstance(text, str) and text and (stage == "model_received" or rendered):
            return text, ""
    return None, "no text of its generation was recorded"


def _unheard(call: Call, own: list[int], rows: _Rows) -> str:
    """Why nothing is said of what was heard: it takes the energy of the recorded track."""
    client = any(
        call.kind(event) in ("audio_started", "audio_completed")
        and _stage(call, event, rows) == "client_playback"
        for event in own
    )
    track = aligned(call, "agent")
    why = track if isinstance(track, str) else "the energy of the recorded track is not measured"
    return f"played at the client; {why}" if client else why
