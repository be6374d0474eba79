"""What happens in a generated call: one lap is both recorded sample calls, event kind by event kind."""

from __future__ import annotations

from typing import Any

from benchmarks.recorder import Recorder

MODEL, LINE, CLIENT = "model_received", "outbound_accepted", "client_playback"
_TALK = 20
"""Events of one exchange in `desk`."""
_HELLO, _SILENCE = 10, 21
"""Events until the menu, and of one round through it in which nothing is heard."""
_LEAVE = 5
"""Events that the visit of `desk` owns at its end: guard, verdict, snapshot, exit and commit."""


def lap(call: Recorder, number: int, planted: bool = False, desk: bool = False) -> None:
    """One round through the flow, from `hello` back to `hello`.

    Args:
        call: Where the events go.
        number: Which round, from 1.
        planted: Match the choice of the lap before in `menu`, which is a finding (`CHOICE_REPEATED`).
        desk: End in `desk` instead.
    """
    _claims(call, number - 1 if planted else number)
    _property(call, number)
    static(call, 2_300)
    call.guard(0, not desk)
    call.take(int(desk))


def talk(call: Recorder, events: int) -> None:
    """A visit of `desk` that owns exactly so many events, from its entry to its commit; ends in `hello`."""
    last = call.seq - 3 + events
    number = 0
    while call.seq + _TALK + _LEAVE <= last:
        number += 1
        speak(call, request(call, "collect_prompt", "required"), (MODEL, LINE), 2_000)
        heard = listen(call, f"line {number} of a long talk", 1_500)
        call.write("kind", f"kind {number}", "tool", "update_slots", input_id=heard)
        call.guard(0, False)
        call.verdict(None)
        call.end_turn()
    mark_time(call, last - _LEAVE)
    call.guard(0, True)
    call.take(0)


def fade(call: Recorder, last: int) -> None:
    """From `hello` on the caller says nothing, up to a seq."""
    if call.seq + _HELLO <= last:
        static(call, 5_000)
        call.guard(0, True)
        call.take(0)
        while call.seq + _SILENCE <= last:
            _nothing_heard(call)
    mark_time(call, last)


def _nothing_heard(call: Recorder) -> None:
    call.clock += 8_000
    call.emit("timer_fired", timer="timeout")
    for edge in range(3):
        call.guard(edge, edge == 2)
    call.take(2)
    static(call, 2_900)
    call.guard(0, True)
    call.take(0)
    call.end_turn()


def mark_time(call: Recorder, last: int) -> None:
    """Rows that change nothing, up to a seq."""
    while call.seq < last:
        call.clock += 100
        call.emit("caller_audio_started" if call.seq % 2 else "caller_audio_ended")


def _claims(call: Recorder, number: int) -> None:
    static(call, 5_000)
    call.guard(0, True)
    call.take(0)
    for _ in range(2):
        _nothing_heard(call)
    heard = listen(call, "start a claim", 1_400)
    call.emit("locked_choice_evaluated", input_id=heard, choice=f"claim:{number}", token="start a claim",
              result="matched", source="whisper", from_state="menu")  # fmt: skip
    call.write("_route", "claim", "resolver", "locked_choice", input_id=heard)
    call.guard(0, True)
    call.take(0)
    for edge in range(3):
        call.guard(edge, edge == 2)
    call.take(2)
    for edge in range(3):
        call.guard(edge, False)
    call.verdict(None)
    _restarted(call)
    heard = listen(call, "yes, that's fine", 1_800)
    call.write("consent", "yes", "resolver", "locked_choice", input_id=heard)
    call.guard(0, True)
    call.take(0)
    call.end_turn()
    prompt = request(call, "context_update", "forbidden")
    speak(call, prompt, (MODEL, LINE), 1_400)
    prompt = request(call, "collect_prompt", "required")
    speak(call, prompt, (MODEL, LINE, CLIENT), 2_300)
    heard = listen(call, "my car", 900)
    call.write("kind", "auto" if number % 2 else "home", "tool", "update_slots", input_id=heard)
    call.guard(0, True)
    call.take(0)
    call.end_turn()
    static(call, 1_800)
    call.guard(0, True)
    call.take(0)


def _property(call: Recorder, number: int) -> None:
    static(call, 5_700)
    call.guard(0, True)
    call.take(0)
    heard = listen(call, "status", 1_000)
    call.emit("locked_choice_evaluated", input_id=heard, choice=f"old:{number}", token="status",
              result="matched", source="whisper", from_state="main")  # fmt: skip
    call.write("_route", "old", "resolver", "locked_choice", input_id=heard)
    call.guard(0, False)
    call.guard(1, True)
    call.take(1)
    call.end_turn()
    prompt = request(call, "tool_filler", "allowed")
    attempt = start(call, prompt, (MODEL, LINE))
    lookup = call.new("tool")
    call.emit("tool_called", tool="tickets", call_id=lookup, args={"unit": "4B"}, read_only=True)
    finish(call, attempt, (MODEL, LINE), 2_100)
    tickets = [{"id": f"T-{number}"}, {"id": f"T-{number + 1}"}]
    call.clock += 260
    call.emit("tool_result", tool="tickets", call_id=lookup, ok=True, result={"tickets": tickets})
    call.write("tickets", tickets, "tool", "tickets")
    call.write("_fired", "yes", "direct", "tickets")
    call.guard(0, True)
    call.take(0)
    speak(call, request(call, "confirm_prompt", "required"), (MODEL, LINE), 4_500)
    heard = listen(call, "no thanks, that's all", 2_000)
    call.write("_route", "done", "resolver", "locked_choice", input_id=heard)
    call.guard(0, True)
    call.take(0)
    call.end_turn()


def _restarted(call: Recorder) -> None:
    """A prompt that the caller talks over, and its second attempt."""
    prompt = request(call, "locked_choice_prompt", "required")
    first = start(call, prompt, (MODEL, LINE))
    call.clock += 2_300
    call.emit("barge_in", playback_id=first["playback_id"])
    call.clock += 300
    finish(call, first, (MODEL, LINE), 2_600, "interrupted")
    call.emit("model_response_boundary", model_response_id=first["model_response_id"], boundary="interrupted")
    call.emit("turn_scratch_reset", reason="barge_in")
    second = start(call, prompt, (MODEL, LINE), first["output_attempt_id"])
    finish(call, second, (MODEL, LINE), 7_000)
    call.emit("model_response_boundary", model_response_id=second["model_response_id"],
              boundary="turn_complete")  # fmt: skip


def static(call: Recorder, duration: int) -> None:
    """A recorded line played to its end."""
    playback = {"playback_id": call.new("play"), "evidence_stage": LINE, "asset_id": f"asset:{call.state}"}
    call.emit("audio_requested", **playback)
    call.clock += 40
    call.emit("audio_started", **playback)
    call.clock += duration
    call.emit("audio_completed", **playback, duration_ms=duration)


def listen(call: Recorder, text: str, duration: int) -> str:
    """Caller speech: two transcripts of it, and which one was acted on. Gives its input id."""
    heard = call.new("in")
    begin = call.clock = call.clock + 300
    call.emit("caller_audio_started", input_id=heard)
    call.clock += duration
    call.emit("caller_audio_ended", input_id=heard)
    span = {"start_ms": begin, "end_ms": call.clock}
    for source in ("gemini", "whisper"):
        call.clock += 150
        call.emit("caller_transcript", text=text, source=source, input_id=heard, **span, final=True)
    seen = [f"bus:{call.seq - 1}", f"bus:{call.seq}"]
    call.emit("input_selected", input_id=heard, selected_source="whisper", decision_reason="whisper_primary",
              selected_observation=seen[1], observations=seen)  # fmt: skip
    return heard


def request(call: Recorder, kind: str, expectation: str) -> dict[str, str]:
    """A model request; gives the ids that its outputs carry."""
    prompt = {"model_request_id": call.new("req"), "logical_output_id": call.new("out")}
    call.emit("model_request_recorded", **prompt, request_kind=kind, output_expectation=expectation,
              dispatch_outcome="accepted", decision_epoch=call.epoch)  # fmt: skip
    return prompt


def start(
    call: Recorder, prompt: dict[str, str], stages: tuple[str, ...], parent: str | None = None
) -> dict[str, str]:
    """An output attempt up to its audio; gives its ids."""
    attempt = call.new("att")
    ids = {"output_attempt_id": attempt, "model_response_id": f"gemini:{attempt[4:]}"}
    more: dict[str, Any] = {}
    if parent is not None:
        more = {"parent_attempt_id": parent, "restart_reason": "caller_barge_in"}
    call.clock += 350
    call.emit("output_attempt_started", **ids, **prompt, **more)
    call.emit("output_attempt_first_text", output_attempt_id=attempt)
    call.clock += 9
    call.emit("output_attempt_first_audio", output_attempt_id=attempt)
    ids["playback_id"] = call.new("play")
    for stage in stages:
        for kind in ("audio_requested", "audio_started"):
            _audio(call, kind, ids, stage)
        call.clock += 15
    return ids


def finish(
    call: Recorder, ids: dict[str, str], stages: tuple[str, ...], duration: int, outcome: str = "completed"
) -> None:
    """The end of an attempt's audio and of the attempt."""
    if outcome == "completed":
        call.clock += duration
    for stage in stages:
        _audio(call, f"audio_{outcome}", ids, stage, duration_ms=duration)
    call.emit("output_attempt_terminal", output_attempt_id=ids["output_attempt_id"], outcome=outcome,
              attempt_confidence="provider_signalled", audio_duration_ms=duration,
              reason="turn_complete")  # fmt: skip


def speak(call: Recorder, prompt: dict[str, str], stages: tuple[str, ...], duration: int) -> None:
    """An attempt from its start to its end."""
    finish(call, start(call, prompt, stages), stages, duration)


def _audio(call: Recorder, kind: str, ids: dict[str, str], stage: str, **more: int) -> None:
    call.emit(kind, evidence_stage=stage, playback_id=ids["playback_id"],
              output_attempt_id=ids["output_attempt_id"], **more)  # fmt: skip
