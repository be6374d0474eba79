"""Events that follow from recorded ones (contract 2.7): visit boundaries and transcript agreement."""

from __future__ import annotations

from typing import Any, NamedTuple

from engine.canonical import canonical
from engine.hydrate.callerturns import LIVE_SOURCE, TIMED_SOURCE, CallerTurn, Heard
from engine.hydrate.words import choose, normalise_text, word_error_rate
from engine.model.findings import Raised
from engine.model.flow import Flow


class Derived(NamedTuple):
    """One derived event.

    Attributes:
        name: ``transcript_agreement`` or ``transcript_disagreement``.
        anchor: The event it stands after.
        visit: Its visit, or -1.
        sources: The events it was derived from.
    """

    name: str
    anchor: int
    visit: int
    sources: tuple[int, ...]
    payload: dict[str, Any]


_BOTH = {TIMED_SOURCE, LIVE_SOURCE}
_AGREED: dict[str, Any] = {"wer": 0.0, "rule": "equal normalised text"}


def compare_transcripts(
    turns: list[CallerTurn], states: list[str], flow: Flow | None
) -> tuple[list[Derived], list[Raised]]:
    """Set timed against live text for each caller turn that has both.

    Args:
        turns: The caller turns.
        states: State id of each visit.
        flow: The compiled flow, whose locked choices tell whether a difference would have mattered.
    """
    events: list[Derived] = []
    findings: list[Raised] = []
    for turn in turns:
        pair = _pair(turn)
        if pair is None:
            continue
        live, timed = pair
        sources = tuple(sorted(one.event for one in turn.heard if one.source in _BOTH))
        if live.text == timed.text or normalise_text(live.text) == normalise_text(timed.text):
            events.append(Derived("transcript_agreement", timed.event, turn.visit, sources, _AGREED))
            continue
        wer = word_error_rate(live.text, timed.text)
        payload = {"live": live.text, "timed": timed.text, "wer": wer, "rule": "different normalised text"}
        events.append(Derived("transcript_disagreement", timed.event, turn.visit, sources, payload))
        findings.append(_disagreement(turn, live, timed, wer, states, flow))
    events.sort(key=lambda event: (event.name, event.anchor))  # as their ids sort
    return events, findings


def _pair(turn: CallerTurn) -> tuple[Heard, Heard] | None:
    """The live and the timed observation of a turn; None where one is missing."""
    if len(turn.heard) < 2:
        return None
    if len(turn.heard) == 2:
        one, other = turn.heard
        if one.source == other.source or not (one.text and other.text):
            return None
        if {one.source, other.source} == _BOTH:
            return (one, other) if one.source == LIVE_SOURCE else (other, one)
    live, timed = turn.side(LIVE_SOURCE), turn.side(TIMED_SOURCE)
    return (live, timed) if live is not None and timed is not None else None


def _disagreement(
    turn: CallerTurn, live: Heard, timed: Heard, wer: float | None, states: list[str], flow: Flow | None
) -> Raised:
    matters = turn.visit >= 0 and _changes_choice(live.text, timed.text, states[turn.visit], flow)
    effect = "; the state's locked choice gives another value for each" if matters else ""
    rate = "" if wer is None else f" (word error rate {wer})"
    return Raised(
        "TRANSCRIPT_DISAGREEMENT", timed.event,
        f"the live and the timed transcript differ{rate}{effect}",
        visit=turn.visit if turn.visit >= 0 else None,
        events=tuple(one.event for one in turn.heard if one.event != timed.event),
        data={"live": live.text, "timed": timed.text, "wer": wer, "input_id": turn.input_id,
              "changes_choice": matters},
        severity="warning" if matters else None, confidence="derived",
    )  # fmt: skip


def _changes_choice(live: str, timed: str, state_id: str, flow: Flow | None) -> bool:
    """Whether the state's locked choice gives one value for one text, and another or none for the other."""
    state = flow.by_state.get(state_id) if flow else None
    if state is None or state.locked_choice is None:
        return False
    options = state.locked_choice.options
    places = [choose(text, options) for text in (live, timed)]
    if places[0] is None or places[1] is None:
        return places[0] != places[1]
    one, other = (canonical(options[place].value) for place in places if place is not None)
    return one != other
