"""What an event means, in one line (contract 7.2): a phrase a kind, in one table.

Payloads come in redacted. Every string is data of the call: escaped and cut here, interpreted nowhere.
"""

from __future__ import annotations

from typing import Any

from engine.debug.phrases import (
    Payload,
    Phrase,
    arguments,
    join,
    labelled,
    names,
    pairs,
    paren,
    plain,
    said,
    spoken,
    unit,
    way,
)
from engine.debug.text import CUT, ELLIPSIS, UNSET_SIGN, brief, word
from engine.hydrate.call import Call
from engine.hydrate.timeline import UNSET, at

_LINE = 3 * CUT


def meaning(call: Call, event: int, kind: str, payload: Payload) -> str:
    """One line for an event.

    Args:
        call: The call.
        event: The event number.
        kind: Its kind.
        payload: Its redacted payload.
    """
    if kind == "slot_write":
        text = _write(call, event, payload)
    elif kind in ("entry_boundary", "exit_boundary"):
        text = _boundary(call, int(call.visit_of[event]), kind == "entry_boundary")
    else:
        text = MEANINGS.get(kind, pairs)(payload)
    bad = payload.get("malformed")
    if isinstance(bad, list) and bad:
        text = join(text, f"malformed: {names(bad)}", sep=" · ")
    return text if len(text) <= _LINE else text[: _LINE - 1] + ELLIPSIS


# Values, edges and visits.


def _write(call: Call, event: int, payload: Payload) -> str:
    slot = payload.get("slot")
    before, after = (brief(payload[key]) if key in payload else "?" for key in ("old", "new"))
    if payload.get("old", "?") is None and _was_unset(call, event, slot):
        before = UNSET_SIGN
    if payload.get("present") is False:
        after = UNSET_SIGN
    who = paren(payload.get("kind"), payload.get("writer"))
    return join(f"{word(slot) or '?'}: {before} → {after}", who)


def _was_unset(call: Call, event: int, slot: Any) -> bool:
    """Whether a recorded null stands for a slot that is known to have been unset."""
    if not isinstance(slot, str) or event >= call.first_extra:
        return False
    return call.timeline.read(slot, at(event) - 1).value is UNSET


def _boundary(call: Call, visit: int, entry: bool) -> str:
    seen = call.visits[visit]
    if entry:
        return join(word(seen.visit_id), "begins", labelled("from", seen.from_state))
    to = seen.to_state if seen.to_state is not None else seen.commit_to
    return join(word(seen.visit_id), "ends", labelled("→", to), labelled("by", seen.edge_id))


def _started(payload: Payload) -> str:
    rest = (word(payload.get(key)) for key in ("flow_id", "kind", "transport"))
    return join(labelled("starts in", payload.get("initial_state")), *rest, sep=", ")


def _entered(payload: Payload) -> str:
    came = labelled("from", payload.get("from_state"))
    return join(word(payload.get("state_id")), came, labelled("by", payload.get("edge_id")))


def _guard(payload: Payload) -> str:
    reads, context = payload.get("slots_read"), payload.get("context_reads")
    return join(
        f"{word(payload.get('guard')) or '?'} → {brief(payload.get('result'))}",
        f"reads {names(reads)}" if reads else "",
        f"reads context {names(context)}" if context else "",
        sep=", ",
    )


def _verdict(payload: Payload) -> str:
    candidates, winner, left_out = (payload.get(key) for key in ("candidates", "winner", "truncated"))
    count = len(candidates) if isinstance(candidates, list) else "?"
    who = f"winner {word(winner)}" if winner is not None else "no winner"
    cut = ("some" if left_out is True else brief(left_out)) + " left out" if left_out else ""
    return join(f"{who} of {count}", cut, sep=", ")


def _slots(payload: Payload) -> str:
    slots = payload.get("slots")
    if not isinstance(slots, dict):
        return "fingerprint only" if payload.get("fingerprint") is not None else "no values"
    return join(f"{len(slots)} {'slot' if len(slots) == 1 else 'slots'}", names(slots), sep=": ")


def _snapshot(payload: Payload) -> str:
    return join(
        word(payload.get("phase")), "partial" if payload.get("partial") is True else "", _slots(payload)
    )


def _context(payload: Payload) -> str:
    streak, most = payload.get("no_progress_streak"), payload.get("max_no_progress_loops")
    missing = payload.get("unavailable_fields")
    return join(
        word(payload.get("phase")),
        labelled("turns", payload.get("turn_count")),
        join(labelled("no progress", streak), labelled("of", most)) if streak is not None else "",
        labelled("pending", payload.get("pending_transition")),
        f"unavailable: {names(missing)}" if missing else "",
        sep=", ",
    )


# The caller and tools.


def _sound(does: str) -> Phrase:
    return lambda payload: join(f"caller {does}", unit(payload.get("energy_dbfs"), "dBFS"), sep=", ")


def _selected(payload: Payload) -> str:
    why = paren(payload.get("decision_reason"))
    return join(word(payload.get("selected_source")), why, word(payload.get("selected_observation")))


def _choice(payload: Payload) -> str:
    choice, token = payload.get("choice"), payload.get("token")
    return join(
        "no choice" if choice is None else brief(choice),
        f"from {said(token)}" if token is not None else "",
        paren(payload.get("result"), payload.get("source")),
    )


def _tool_called(payload: Payload) -> str:
    called = f"{word(payload.get('tool')) or '?'}({arguments(payload.get('args'))})"
    return join(called, "read-only" if payload.get("read_only") is True else "")


def _tool_result(payload: Payload) -> str:
    ok = payload.get("ok")
    outcome = "ok" if ok is True else "failed" if ok is False else "outcome unknown"
    error, result = payload.get("error"), payload.get("result")
    rest = error if error is not None else result
    return join(word(payload.get("tool")), outcome, "" if rest is None else brief(rest))


# Outputs.


def _requested(payload: Payload) -> str:
    output = labelled("output", payload.get("output_expectation"))
    return join(word(payload.get("request_kind")), output, word(payload.get("dispatch_outcome")), sep=", ")


def _attempt(payload: Payload) -> str:
    return join(
        word(payload.get("output_attempt_id")),
        labelled("after", payload.get("parent_attempt_id")),
        word(payload.get("source_kind")),
        paren(payload.get("restart_reason")),
    )


def _attempt_ended(payload: Payload) -> str:
    return join(
        word(payload.get("outcome")),
        word(payload.get("output_attempt_id")),
        paren(payload.get("attempt_confidence"), payload.get("reason")),
        said(payload.get("text")),
    )


def _audio(payload: Payload) -> str:
    what, stage = payload.get("asset_id"), payload.get("evidence_stage")
    return join(
        word(stage) if stage is not None else "stage unrecorded",
        word(payload.get("source_kind")),
        word(what if what is not None else payload.get("playback_id")),
        unit(payload.get("duration_ms"), "ms"),
        paren(payload.get("reason")),
    )


def _span(payload: Payload) -> str:
    ends = [brief(payload.get(key)) for key in ("start_ms", "end_ms") if payload.get(key) is not None]
    what = payload.get("asset_id")
    return join(
        word(what if what is not None else payload.get("playback_id")),
        unit("–".join(ends) or None, "ms"),
        word(payload.get("outcome")),
        said(payload.get("text")),
    )


# Transcripts.


def _agreement(payload: Payload) -> str:
    return join("live and timed agree", labelled("WER", payload.get("wer")), sep=", ")


def _disagreement(payload: Payload) -> str:
    live, timed = (f"{source} {said(payload.get(source))}" for source in ("live", "timed"))
    return join(live, timed, labelled("WER", payload.get("wer")), sep=", ")


MEANINGS: dict[str, Phrase] = {
    "session_started": _started,
    "session_slots_seeded": lambda payload: f"seeds {_slots(payload)}",
    "session_ended": plain("reason"),
    "state_entered": _entered,
    "state_exited": way("state_id"),
    "transition_committed": way("from_state"),
    "turn": way("from_state"),
    "state_slot_snapshot": _snapshot,
    "state_context_snapshot": _context,
    "slot_filled": lambda payload: join(
        word(payload.get("slot")) or "?", "filled", paren(payload.get("source"))
    ),
    "guard_evaluated": _guard,
    "transition_verdict": _verdict,
    "caller_transcript": spoken("source"),
    "live_transcript": spoken("speaker", label="live"),
    "timed_transcript": spoken("speaker", label="timed"),
    "assistant_transcript": spoken(label="agent"),
    "transcript_agreement": _agreement,
    "transcript_disagreement": _disagreement,
    "caller_audio_started": _sound("begins to speak"),
    "caller_audio_ended": _sound("stops speaking"),
    "dtmf_received": lambda payload: labelled("digit", payload.get("digit")),
    "barge_in": lambda payload: join("caller interrupts", word(payload.get("playback_id"))),
    "timer_fired": lambda payload: labelled("timer", payload.get("timer")),
    "input_selected": _selected,
    "locked_choice_evaluated": _choice,
    "tool_called": _tool_called,
    "tool_result": _tool_result,
    "model_request_recorded": _requested,
    "model_response_boundary": plain("boundary", "model_response_id"),
    "output_attempt_started": _attempt,
    "output_attempt_first_text": plain("output_attempt_id"),
    "output_attempt_first_audio": plain("output_attempt_id"),
    "output_attempt_last_audio": plain("output_attempt_id"),
    "output_attempt_terminal": _attempt_ended,
    "audio_requested": _audio,
    "audio_started": _audio,
    "audio_completed": _audio,
    "audio_interrupted": _audio,
    "audio_failed": _audio,
    "audio_span": _span,
    "audio_pushed": lambda payload: join(
        word(payload.get("playback_id")), unit(payload.get("bytes"), "bytes")
    ),
    "audio_clear_sent": plain("playback_id"),
    "playback_receipt": plain("stage", "playback_id"),
    "assistant_first_audio": lambda payload: "first audio of the agent",
    "turn_scratch_reset": plain("reason"),
    "turn_complete": lambda payload: labelled("turn", payload.get("turn_index")),
    "capture_failure": lambda payload: join(word(payload.get("what")), word(payload.get("error")), sep=": "),
    "prompt_resolved": spoken("prompt_version"),
    "asset_selected": spoken("asset_id"),
    "generation_chunk": spoken(),
    "suppressed": plain("reason"),
}
"""Kind → its line."""
