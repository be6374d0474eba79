"""One item of the conversation lane as a document, made when it is looked at (contract 2.8)."""

from __future__ import annotations

import json
import weakref
from bisect import bisect_left
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.hydrate.call import KIND_CODES, Call
from engine.hydrate.callerturns import LIVE_SOURCE, TIMED_SOURCE, CallerTurn, Heard
from engine.hydrate.laneaudio import Stretch, audio_range, stretch_of
from engine.hydrate.redaction import redactor
from engine.hydrate.words import normalise_text, word_diff, word_error_rate
from engine.model.artifact import Observation, Turn

Lane = Literal["agent", "caller", "dtmf", "barge_in", "decision"]
Agreement = Literal["agree", "disagree", "single_source", "unavailable"]
_SELECTED = KIND_CODES["input_selected"]
_SHORT = 2_000
"""A visit of so few events is searched for its selections without an index of the call."""
_selections: weakref.WeakKeyDictionary[Call, dict[str, list[int]]] = weakref.WeakKeyDictionary()


class Input(msgspec.Struct, gc=False):
    """What the caller did under one input: observations, digits, and the audio around them.

    Attributes:
        turn: The caller turn; without observations where nothing transcribed it.
        digits: Its ``dtmf_received`` rows.
        audio: Its ``caller_audio_*`` rows.
        main: Whether it speaks for its ``input_id`` (digits beside a spoken turn do not).
    """

    turn: CallerTurn
    lane: Lane
    digits: tuple[int, ...] = ()
    audio: tuple[int, ...] = ()
    main: bool = True


class Said(NamedTuple):
    """One text of one source, and a row that has it."""

    source: str
    text: str | None
    event: int


def payload_of(call: Call, event: int) -> dict[str, Any]:
    """The payload of a recorded event before redaction."""
    if event < call.first_extra:
        return call.ledger.payload(event)
    return call.parts.extras[event - call.first_extra].payload


def unavailable(reason: str) -> dict[str, Any]:
    """A claim that can't be made, and why."""
    return {"status": "unavailable", "reason": reason}


def refs_of(call: Call, events: Iterable[int]) -> list[str]:
    """Ids of events in their order, each once."""
    return [call.event_id(event) for event in sorted(set(events), key=lambda one: (call.keys[one], one))]


def observations_of(call: Call, said: list[Said]) -> list[Observation]:
    """Rows of one source and text are one observation."""
    groups: dict[tuple[str, str | None], list[int]] = {}
    for one in said:
        groups.setdefault((one.source, one.text), []).append(one.event)
    hide = redactor(call)
    return [
        Observation(
            hide.word("source", source), None if text is None else hide.text(text), refs_of(call, events)
        )
        for (source, text), events in groups.items()
    ]


# Caller.


def input_item(call: Call, item: Input) -> Turn:
    """What the caller said or pressed under one input."""
    turn = item.turn
    heard = _standing(call, turn.heard)
    said = [Said(one.source, one.text, one.event) for one in heard]
    digits = "".join(str(payload_of(call, event).get("digit") or "") for event in item.digits)
    said += [Said("dtmf", digits, event) for event in item.digits if digits]
    live, timed = _side(heard, LIVE_SOURCE), _side(heard, TIMED_SOURCE)
    stretch = _caller_stretch(call, heard, timed or live, item)
    events = [*(one.event for one in turn.heard), *item.digits, *item.audio]
    first = min(events, key=lambda one: (call.keys[one], one))
    named = item.main and turn.input_id is not None
    agreement, wer, diff = compare(call, live and live.text, timed and timed.text, said)
    return Turn(
        item_id=f"turn:input:{turn.input_id}" if named else f"conv:{call.event_id(first)}",
        visit_id=call.visit_id(turn.visit),
        lane=item.lane,
        start_ms=stretch.start_ms,
        end_ms=stretch.end_ms,
        observations=observations_of(call, said),
        acted_on=_acted_on(call, turn, heard, digits),
        agreement=agreement,
        wer=wer,
        diff=diff,
        audio_range=audio_range(call, "caller", stretch),
        refs=refs_of(call, events),
    )


def _standing(call: Call, heard: tuple[Heard, ...]) -> list[Heard]:
    """The observations without interim rows of a source that has others."""
    interim = {one.event for one in heard if payload_of(call, one.event).get("final") is False}
    settled = {one.source for one in heard if one.event not in interim}
    return [one for one in heard if one.event not in interim or one.source not in settled]


def _side(heard: list[Heard], source: str) -> Heard | None:
    return CallerTurn(-1, None, tuple(heard)).side(source)


def _caller_stretch(call: Call, heard: list[Heard], best: Heard | None, item: Input) -> Stretch:
    """When it was said: by its transcripts, the timed one first, else by the caller's audio rows."""
    for one in ([best] if best else []) + heard:
        if one.start_ms is not None and one.end_ms is not None:
            return Stretch(one.start_ms, one.end_ms)
    started = [event for event in item.audio if call.kind(event) == "caller_audio_started"]
    ended = [event for event in item.audio if call.kind(event) == "caller_audio_ended"]
    if started or ended:
        return stretch_of(call, started[0] if started else None, ended[-1] if ended else None)
    if item.digits:
        pressed = stretch_of(call, item.digits[0], item.digits[-1])
        return pressed._replace(reason="not_applicable: keys are no stretch of audio")
    return Stretch(None, None)


def compare(
    call: Call, live: str | None, timed: str | None, said: list[Said]
) -> tuple[Agreement, float | None, list[dict[str, Any]]]:
    """Whether the live and the timed text agree, with the word diff where they do not."""
    if live is None or timed is None:
        one = len({item.source for item in said if item.text}) == 1
        return ("single_source" if one else "unavailable"), None, []
    wer = word_error_rate(live, timed)
    if normalise_text(live) == normalise_text(timed):
        return "agree", wer, []
    hide = redactor(call).text
    shown = hide(live) == live and hide(timed) == timed
    if not shown:
        return "disagree", wer, []
    # A run of words may be a hidden value though the whole text is none.
    return (
        "disagree",
        wer,
        [run | {side: hide(run[side]) for side in ("live", "timed")} for run in word_diff(live, timed)],
    )


def _selection(call: Call, turn: CallerTurn) -> int | None:
    """The last ``input_selected`` of a turn's input, its own visit's before any other."""
    known = _selections.get(call)
    if known is None:
        if turn.visit >= 0 and len(call.micro_events(turn.visit)) <= _SHORT:
            own = _selected_in(call, call.micro_events(turn.visit)).get(str(turn.input_id))
            if own:
                return own[-1]
        known = _selections[call] = _selected_in(call, np.arange(call.first_extra))
    events = known.get(str(turn.input_id), [])
    own = [event for event in events if call.visit_of[event] == turn.visit] or events
    return own[-1] if own else None


def _selected_in(call: Call, events: NDArray[np.int64]) -> dict[str, list[int]]:
    """Input id → its ``input_selected`` rows among some events."""
    chosen = np.sort(events[(call.kind_of[events] == _SELECTED) & (events < call.first_extra)])
    found: dict[str, list[int]] = {}
    selected = call.ledger.captured["input_selected"]
    for event in chosen.tolist():
        input_id = selected.columns["input_id"][bisect_left(selected.rows, event)]
        if input_id is not None:
            found.setdefault(input_id, []).append(event)
    return found


def _acted_on(call: Call, turn: CallerTurn, heard: list[Heard], digits: str) -> dict[str, Any]:
    """What the runtime chose to act on, as its ``input_selected`` says; never guessed."""
    if turn.input_id is None:
        return unavailable("no input_id joins it to an input_selected")
    event = _selection(call, turn)
    if event is None:
        return unavailable(f"no input_selected was recorded for {turn.input_id}")
    row, event_id = payload_of(call, event), call.event_id(event)
    source, shown = row.get("selected_source"), redactor(call).payload("input_selected", row)
    if not isinstance(source, str):
        return unavailable(f"{event_id} does not say which source was selected")
    text, why = _selected_text(call, heard, digits, source, row.get("selected_observation"))
    acted = {
        "source": shown["selected_source"], "text": None, "decision_reason": shown.get("decision_reason"),
        "event_id": event_id,
    }  # fmt: skip
    return acted | ({"reason": why} if text is None else {"text": redactor(call).text(text)})


def _selected_text(
    call: Call, heard: list[Heard], digits: str, source: str, chosen: object
) -> tuple[str | None, str]:
    if isinstance(chosen, str):
        event = call.find(chosen)
        if event is None:
            named = redactor(call).word("selected_observation", chosen)
            return None, f"the selected observation {named} is not in the record"
        content = payload_of(call, event) if event < call.first_derived else {}
        text = content.get("text", content.get("digit"))
        return (text if isinstance(text, str) else None), f"{chosen} holds no text"
    if source == "dtmf" and digits:
        return digits, ""
    side, named = _side(heard, source), redactor(call).word("selected_source", source)
    return (side.text if side else None), f"no observation of {named} was recorded for it"


# Barge-in and decisions.


def barge_in_item(call: Call, event: int) -> Turn:
    """The caller speaking into a line of the agent."""
    playback = payload_of(call, event).get("playback_id")
    text = f"over {playback}" if isinstance(playback, str) else "over a playback that it does not name"
    return _moment(call, event, "barge_in", text)


def decision_item(call: Call, event: int) -> Turn:
    """A locked choice, a commit or a timer."""
    kind = call.kind(event)
    content = redactor(call).payload(kind, payload_of(call, event))
    if kind == "timer_fired":
        return _moment(call, event, "decision", f"timer {content.get('timer')} fired")
    if kind == "locked_choice_evaluated":
        return _moment(call, event, "decision", choice_text(content))
    edge = call.flow.by_edge.get(str(content.get("edge_id"))) if call.flow else None
    reason = edge.reason if edge is not None and edge.reason is not None else content.get("reason")
    text = f"{content.get('from_state')} → {content.get('to_state')}"
    return _moment(
        call, event, "decision", f"{text}: {redactor(call).text(reason)}" if isinstance(reason, str) else text
    )


def choice_text(content: dict[str, Any]) -> str:
    """What a locked choice came to, in words.

    Args:
        content: Its redacted payload.
    """
    choice, result, token = (content.get(key) for key in ("choice", "result", "token"))
    words = "no choice"
    if choice is not None:
        words = f"choice {choice if isinstance(choice, str) else json.dumps(choice, sort_keys=True)}"
    if isinstance(result, str):
        words += f", {result}"
    return f"{words}, from {token!r}" if isinstance(token, str) else words


def _moment(call: Call, event: int, lane: Lane, text: str) -> Turn:
    at = call.clock_ms(event)
    event_id = call.event_id(event)
    return Turn(
        item_id=f"conv:{event_id}",
        visit_id=call.visit_id(int(call.visit_of[event])),
        lane=lane,
        start_ms=at,
        end_ms=at,
        observations=[Observation(call.kind(event), text, [event_id])],
        acted_on=unavailable("not_applicable: only what the caller said or pressed is acted on"),
        agreement="single_source",
        wer=None,
        diff=[],
        audio_range=unavailable("not_applicable: a moment is no stretch of audio"),
        refs=[event_id],
    )
