"""The six beats of a visit: what was meant, made, sent, heard, said back and decided (contract 2.9).

Each beat rests on events that the visit owns, and on late rows that name it as their cause; a row that names
another visit as its cause says nothing here. What no event shows is unavailable, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.hydrate.agentlines import TRANSCRIPTS
from engine.hydrate.call import Call
from engine.hydrate.evidence import AGENT_KINDS, AUDIO, SPOKE_UP, Evidence
from engine.hydrate.laneaudio import aligned
from engine.hydrate.laneitems import choice_text
from engine.hydrate.redaction import redactor
from engine.model.artifact import Beat

_TYPED_CALLS = frozenset({"console", "web", "simulator", "eval"})
_GAP = "events of this visit are missing"
_SENT_AT = ("outbound_accepted", "client_playback")


def beats(call: Call, visit: int) -> dict[str, Beat]:
    """The six beats of a visit, in order; the work grows with the events of the visit only."""
    seen = Evidence(call, visit)
    rules: dict[str, Callable[[Evidence], Beat]] = {
        "intended": _intended,
        "generated": _generated,
        "sent": _sent,
        "heard": _heard,
        "caller_said": _caller_said,
        "decided": _decided,
    }
    return {name: rule(seen) for name, rule in rules.items()}


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _intended(seen: Evidence) -> Beat:
    call, visit = seen.call, seen.visit
    opening = [visit.entered if visit.entered is not None else visit.first]
    if call.flow is None:
        return seen.beat("unavailable", "not_recorded: the call holds no flow.json")
    if call.parts.flow_mismatch is not None:
        return seen.beat("unavailable", f"flow version mismatch: {call.parts.flow_mismatch}")
    state = seen.state
    if state is None:
        return seen.beat("unavailable", f"not_recorded: flow.json declares no state {visit.state_id}")
    says = state.prompt.text or state.prompt.asset_id
    prompt = f"says {redactor(call).text(says)!r}" if says else "says nothing"
    exits = _count(len(state.transitions), "exit")
    kind = state.kind or "state of no stated kind"
    return seen.beat("proven", f"flow.json: {kind} with {exits}, {prompt}", opening)


def _expects_output(seen: Evidence) -> bool:
    """Whether the flow gives the state something to say, or a request of the visit asks for output."""
    state = seen.state
    prompt = state is None or state.prompt.text is not None or state.prompt.asset_id is not None
    expected = ("required", "allowed")
    asked = (seen.row(event).get("output_expectation") for event in seen.of("model_request_recorded"))
    return prompt or any(one in expected for one in asked)


def _generated(seen: Evidence) -> Beat:
    first = seen.of("output_attempt_first_text", "output_attempt_first_audio")
    received = seen.at_stage(("model_received",), "audio_started")
    traced = {kind: seen.of(kind) for kind in ("generation_chunk", "prompt_resolved", "asset_selected")}
    suppressed, failed = seen.of("suppressed"), _barren_attempts(seen, first + received)
    parts = []
    if received:
        parts.append(f"model_received: {_count(len(received), 'audio start')}")
    if first:
        names = {str(seen.row(event).get("output_attempt_id")) for event in first}
        parts.append(f"first text or audio of {_count(len(names), 'attempt')}")
    parts += [_count(len(events), kind.replace("_", " ")) for kind, events in traced.items() if events]
    against = []
    if suppressed:
        against.append(f"suppressed: {seen.row(suppressed[0]).get('reason')}")
    if failed:
        outcomes = sorted({str(seen.row(event).get("outcome")) for event in failed})
        against.append(f"{_count(len(failed), 'attempt')} {' and '.join(outcomes)} before any text or audio")
    if parts:
        return seen.beat("proven", "; ".join(parts + against), [*first, *received, *seen.of(*traced)])
    if suppressed or (failed and not seen.has_gap):
        return seen.beat("disproven", "; ".join(against), [*suppressed, *failed])
    if failed:
        return seen.beat("unavailable", f"not_recorded: {_GAP}, text or audio may be among them")
    if seen.of(*AUDIO):
        return seen.beat("unavailable", "not_recorded: playback rows alone prove only what was sent")
    return _nothing(seen, "no text, audio, prompt or asset of this visit was recorded")


def _barren_attempts(seen: Evidence, produced: list[int]) -> list[int]:
    """Terminals of attempts that failed or were abandoned before any text or audio."""
    fruitful = [seen.row(event).get("output_attempt_id") for event in produced]
    return [
        event
        for event in seen.of("output_attempt_terminal")
        if seen.row(event).get("outcome") in ("failed", "abandoned")
        and seen.row(event).get("output_attempt_id") not in fruitful
    ]


def _nothing(seen: Evidence, what: str) -> Beat:
    if not _expects_output(seen):
        return seen.beat(
            "unavailable", f"not_applicable: the flow gives {seen.visit.state_id} nothing to say"
        )
    return seen.beat("unavailable", f"not_recorded: {what}")


def _sent(seen: Evidence) -> Beat:
    parts, proof = [], []
    for stage in _SENT_AT:
        marks = {kind: seen.at_stage((stage,), f"audio_{kind}") for kind in ("started", "completed")}
        if any(marks.values()):
            said = (f"{len(events)} {kind}" for kind, events in marks.items() if events)
            parts.append(f"{stage}: {', '.join(said)}")
            proof += seen.at_stage((stage,), "audio_started", "audio_completed")
    pushed = seen.of("audio_pushed")
    receipts = [e for e in seen.of("playback_receipt") if seen.row(e).get("stage") != "model_received"]
    if pushed:
        parts.append(_count(len(pushed), "audio push"))
    if receipts:
        stages = sorted({str(seen.row(event).get("stage") or "unrecorded") for event in receipts})
        parts.append(f"{_count(len(receipts), 'playback receipt')} at {', '.join(stages)}")
    if parts:
        return seen.beat("proven", "; ".join(parts), [*proof, *pushed, *receipts])
    failed = seen.at_stage(_SENT_AT, "audio_failed")
    if failed and seen.has_gap:
        return seen.beat("unavailable", f"not_recorded: {_GAP}, a start may be among them")
    if failed:
        stages = sorted({str(seen.row(event).get("evidence_stage")) for event in failed})
        why = seen.row(failed[0]).get("reason")
        because = f": {why}" if isinstance(why, str) else ""
        return seen.beat("disproven", f"{', '.join(stages)}: failed and none started{because}", failed)
    audio = seen.of(*AUDIO)
    if audio:
        stages = sorted({str(seen.row(event).get("evidence_stage") or "unrecorded") for event in audio})
        reason = f"no start at {' or '.join(_SENT_AT)}; rows only at {', '.join(stages)}"
        return seen.beat("unavailable", f"not_recorded: {reason}")
    return _nothing(seen, "no delivery row of this visit")


def _heard(seen: Evidence) -> Beat:
    client = seen.at_stage(("client_playback",), "audio_started", "audio_completed")
    client += [e for e in seen.of("playback_receipt") if seen.row(e).get("stage") == "client_playback"]
    if client:
        done = any(seen.call.kind(event) == "audio_completed" for event in client)
        verb = "completed" if done else "started"
        return seen.beat(
            "proven", f"client_playback: {verb} at the client; the call's audio is not measured", client
        )
    output = seen.of(*AGENT_KINDS, "audio_pushed", "playback_receipt")
    if not output:
        return _nothing(seen, "no output of this visit was recorded")
    track = aligned(seen.call, "agent")
    if isinstance(track, str):
        return seen.beat("unavailable", f"not_recorded: carrier_recorded: {track}")
    if track.perspective != "carrier_recorded":
        return seen.beat("unavailable", f"not_recorded: the agent track is of {track.perspective}")
    return seen.beat("unavailable", "carrier_recorded: the energy of the agent track is not measured")


def _caller_said(seen: Evidence) -> Beat:
    call = seen.call
    digits = seen.of("dtmf_received")
    said = [(str(seen.row(event).get("source")), event) for event in seen.of("caller_transcript")]
    rows = [event for event in seen.of(*TRANSCRIPTS) if seen.row(event).get("speaker") == "caller"]
    said += [(TRANSCRIPTS[call.kind(event)], event) for event in rows]
    events = digits + [event for _, event in said]
    state = seen.state
    announce = state is not None and state.kind == "announce"
    if announce and not _may_speak(seen):
        why = "not_applicable: announce state without barge-in, DTMF or caller audio before its exit"
        return seen.beat("unavailable", why, events)
    texts: dict[tuple[str, str], None] = {}
    for source, event in said:
        text = seen.row(event).get("text")
        if isinstance(text, str):
            texts[source, text] = None
    pressed = "".join(str(seen.row(event).get("digit") or "") for event in digits)
    parts = [f"{source} {text!r}" for source, text in texts]
    parts += [f"dtmf {redactor(call).text(pressed)!r}"] if digits else []
    if parts:
        return seen.beat("proven", "; ".join(parts), events)
    if seen.of(*SPOKE_UP):
        return seen.beat("unavailable", "not_recorded: the caller was audible, no observation was recorded")
    return seen.beat("unavailable", "not_recorded: no observation and no DTMF in this visit")


def _may_speak(seen: Evidence) -> bool:
    """Whether an announce visit can have caller input at all (contract 2.3 rule 10)."""
    end = seen.visit.exited
    spoke = seen.of(*SPOKE_UP)
    if seen.call.identity.kind in _TYPED_CALLS:
        spoke += seen.of("caller_transcript")
    return any(end is None or event < end for event in spoke)


def _decided(seen: Evidence) -> Beat:
    call = seen.call
    parts: list[str] = []
    selected = seen.of("input_selected")
    parts += [
        f"acted on {_word(seen, e, 'selected_source')} ({_word(seen, e, 'decision_reason')})"
        for e in selected
    ]
    choices, tools, commits = (
        seen.of(k) for k in ("locked_choice_evaluated", "tool_result", "transition_committed")
    )
    parts += [choice_text(seen.row(event)) for event in choices]
    parts += [f"tool {_word(seen, event, 'tool')} {_tool_outcome(seen, event)}" for event in tools]
    won: list[int] = []
    for index in call.verdicts.of_visit(seen.index):
        reading = call.verdicts.read(seen.index, index)
        if reading.named is not None and call.verdicts.usable(index):
            won.append(call.verdicts.event(index))
            parts.append(f"{reading.winner or reading.named} won")
    parts += [f"committed to {_word(seen, event, 'to_state')}" for event in commits]
    if not parts:
        return seen.beat(
            "unavailable", "not_recorded: no selection, choice, tool result, winning verdict or commit"
        )
    return seen.beat("proven", "; ".join(dict.fromkeys(parts)), [*selected, *choices, *tools, *won, *commits])


def _tool_outcome(seen: Evidence, event: int) -> str:
    ok = seen.row(event).get("ok")
    return "ok" if ok is True else "failed" if ok is False else "outcome unknown"


def _word(seen: Evidence, event: int, key: str) -> str:
    value = seen.row(event).get(key)
    return value if isinstance(value, str) else "not recorded"
