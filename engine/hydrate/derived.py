"""Events that follow from recorded ones (contract 2.7): visit boundaries and transcript agreement."""

from __future__ import annotations

from typing import Any, NamedTuple

from engine.hydrate.callerturns import LIVE_SOURCE, TIMED_SOURCE, CallerTurn
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
        heard = turn.heard
        if len(heard) < 2:
            continue
        if len(heard) == 2 and heard[0].text and heard[0].text == heard[1].text:
            first, second = heard
            if {first.source, second.source} == _BOTH:
                anchor = first.event if first.source == TIMED_SOURCE else second.event
                both = (first.event, second.event)
                events.append(Derived("transcript_agreement", anchor, turn.visit, both, _AGREED))
            continue
        timed, live = turn.side(TIMED_SOURCE), turn.side(LIVE_SOURCE)
        if timed is None or live is None:
            continue
        sources = tuple(sorted(one.event for one in heard if one.source in _BOTH))
        visit = turn.visit
        if timed.text == live.text or normalise_text(timed.text) == normalise_text(live.text):
            events.append(Derived("transcript_agreement", timed.event, visit, sources, _AGREED))
            continue
        wer = word_error_rate(live.text, timed.text)
        payload: dict[str, Any] = {
            "live": live.text,
            "timed": timed.text,
            "wer": wer,
            "rule": "different normalised text",
        }
        events.append(Derived("transcript_disagreement", timed.event, visit, sources, payload))
        findings.append(_disagreement(turn, timed.event, live.text, timed.text, wer, states, flow))
    return events, findings


def _disagreement(
    turn: CallerTurn,
    anchor: int,
    live: str,
    timed: str,
    wer: float | None,
    states: list[str],
    flow: Flow | None,
) -> Raised:
    matters = turn.visit >= 0 and _changes_choice(live, timed, states[turn.visit], flow)
    effect = "; the state's locked choice gives another value for each" if matters else ""
    rate = "" if wer is None else f" (word error rate {wer})"
    return Raised(
        "TRANSCRIPT_DISAGREEMENT", anchor,
        f"the live and the timed transcript differ{rate}{effect}",
        visit=turn.visit if turn.visit >= 0 else None,
        events=tuple(one.event for one in turn.heard if one.event != anchor),
        data={"live": live, "timed": timed, "wer": wer, "input_id": turn.input_id, "changes_choice": matters},
        severity="warning" if matters else None, confidence="derived",
    )  # fmt: skip


def _changes_choice(live: str, timed: str, state_id: str, flow: Flow | None) -> bool:
    state = flow.by_state.get(state_id) if flow else None
    if state is None or state.locked_choice is None:
        return False
    options = state.locked_choice.options
    return choose(live, options) != choose(timed, options)
