"""The call told in at most eight lines, from recorded facts only (contract 2.11).

A long call costs what a short one does but for one pass over the first rows of its caller turns.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.hydrate.agentlines import TRANSCRIPTS
from engine.hydrate.call import KIND_CODES, Call
from engine.hydrate.callerturns import CallerTurn
from engine.hydrate.conversation import caller_item
from engine.hydrate.laneitems import payload_of
from engine.hydrate.redaction import redactor
from engine.model.artifact import Finding, Turn

WIDEST = 100
"""Characters of a line."""
_TURNS = 3
"""Caller turns told; with more in the call, one line of these says how many are left out."""
_LOOKED_AT = 64
"""Output rows looked at for the agent's first words."""
_SPOKEN = [KIND_CODES[kind] for kind in ("audio_started", "output_attempt_terminal", "assistant_transcript")]


def story(call: Call, first: Finding | None) -> list[str]:
    """What happened, in the order it happened, each line at most `WIDEST` characters.

    Args:
        call: The call, its findings set.
        first: The first divergence.
    """
    lines = [
        _who(call),
        _path(call),
        _agent_first(call),
        *_turns(call, first),
        _divergence(first),
        _end(call),
    ]
    return [_fit(line) for line in lines if line]


def _fit(line: str, width: int = WIDEST) -> str:
    clean = " ".join("".join(char if char.isprintable() else " " for char in line).split())
    return clean if len(clean) <= width else clean[: width - 1] + "…"


def _quote(call: Call, text: str | None, width: int) -> str:
    return "text not recorded" if text is None else f'"{_fit(redactor(call).text(text), width)}"'


def _clock(ms: float | int | None) -> str:
    return "at no recorded time" if ms is None else f"{ms / 1000:.1f} s"


def _who(call: Call) -> str:
    who = call.identity
    parts = [f"A {who.kind} call" if who.kind else "A call of unrecorded kind"]
    parts.append(f"to flow {who.flow_id}" if who.flow_id else "to a flow that is not recorded")
    if who.transport:
        parts.append(f"over {redactor(call).text(who.transport)}")
    if who.started_at:
        parts.append(f"at {who.started_at}")
    return " ".join(parts)


def _path(call: Call) -> str:
    """The states that were visited, the middle left out where there are many."""
    count = len(call.visits)
    if not count:
        return "No visit of any state was recorded"
    head = f"{count} visit{'' if count == 1 else 's'}: "
    for shown in (8, 6, 4, 2):
        names = [visit.state_id for visit in call.visits[:count] if count <= shown]
        if count > shown:
            ends = [*call.visits[: shown // 2], None, *call.visits[-(shown // 2) :]]
            names = ["…" if visit is None else visit.state_id for visit in ends]
        line = head + " → ".join(names)
        if len(line) <= WIDEST:
            break
    return line


def _agent_first(call: Call) -> str:
    """The agent's first words with a recorded text, whichever source has them."""
    spoken = np.flatnonzero(np.isin(call.kind_of[: call.first_extra], _SPOKEN))[:_LOOKED_AT].tolist()
    found = next((event for event in spoken if _text(call, event)), None)
    beside = next(
        (event for event in range(call.first_extra, call.first_derived) if _agent_row(call, event)), None
    )
    events = [event for event in (found, beside) if event is not None]
    if not events:
        return "The agent's first words were not recorded"
    event = min(events, key=lambda one: (call.keys[one] < 0, call.keys[one]))
    return f"The agent's first words ({_clock(call.clock_ms(event))}): {_quote(call, _text(call, event), 60)}"


def _text(call: Call, event: int) -> str | None:
    text = payload_of(call, event).get("text")
    return text if isinstance(text, str) and text else None


def _agent_row(call: Call, event: int) -> bool:
    extra = call.parts.extras[event - call.first_extra]
    return extra.kind in TRANSCRIPTS and extra.payload.get("speaker") == "agent" and bool(_text(call, event))


def _turns(call: Call, first: Finding | None) -> list[str]:
    """Caller turns around the first divergence, and how many are left out."""
    turns = call.parts.caller_turns
    if not turns:
        return ["Nothing the caller said was recorded"]
    order, keys = _in_order(call, turns)
    if len(turns) <= _TURNS:
        return [_turn(call, turns[place]) for place in order.tolist()]
    anchor = call.find(first.event_id) if first is not None and first.event_id is not None else None
    told = _TURNS - 1
    at = 0 if anchor is None else int(np.searchsorted(keys[order], call.keys[anchor], "right")) - 1
    start = min(max(at, 0), len(turns) - told)
    lines = [_turn(call, turns[place]) for place in order[start : start + told].tolist()]
    before, after = start, len(turns) - start - told
    where = [f"{before} before" if before else "", f"{after} after" if after else ""]
    return [*lines, f"Caller turns left out here: {' and '.join(part for part in where if part)}"]


def _in_order(call: Call, turns: Sequence[CallerTurn]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Caller turns by where their first rows stand, and the key of each turn."""
    heads = np.fromiter((turn.heard[0].event for turn in turns), np.int64, len(turns))
    keys = call.keys[heads]
    unplaced = keys < 0
    return np.lexsort((heads, keys, unplaced)), np.where(unplaced, np.iinfo(np.int64).max, keys)


def _turn(call: Call, turn: CallerTurn) -> str:
    """One caller turn: when, where, what was heard, what was acted on, and where the visit went."""
    item = caller_item(call, turn)
    where = f", {item.visit_id}" if item.visit_id else ""
    line = ""
    for width in (48, 32, 20, 12):
        line = f"{_clock(item.start_ms)}{where}: {_said(call, item, width)}, {_acted(call, item, width)}"
        with_exit = line + _exit(call, turn)
        if len(with_exit) <= WIDEST:
            return with_exit
    return line


def _said(call: Call, item: Turn, width: int) -> str:
    if item.agreement == "disagree":
        heard = (f"{one.source} heard {_quote(call, one.text, width)}" for one in item.observations)
        return ", ".join(heard)
    text = next((one.text for one in item.observations if one.text), None)
    return f"caller {'pressed' if item.lane == 'dtmf' else 'said'} {_quote(call, text, width)}"


def _acted(call: Call, item: Turn, width: int) -> str:
    acted = item.acted_on
    if "source" not in acted:
        return "acted on: not recorded"
    known = acted["text"] is not None and any(one.text == acted["text"] for one in item.observations)
    return f"acted on {acted['source']}" + ("" if known else f" {_quote(call, acted['text'], width)}")


def _exit(call: Call, turn: CallerTurn) -> str:
    """Where the winning edge of the turn's visit leads, once the turn was in."""
    final = call.verdicts.final(turn.visit) if turn.visit >= 0 else None
    if final is None or not call.verdicts.usable(final):
        return ""
    target = call.verdicts.read(turn.visit, final).target
    later = call.verdicts.event(final) >= call.bus_anchor(turn.heard[0].event)
    return f" → {target}" if target is not None and later else ""


def _divergence(first: Finding | None) -> str:
    if first is None:
        return "The checks of this version found no divergence in what was recorded"
    where = f" in {first.visit_id}" if first.visit_id else ""
    when = f" at {_clock(first.clock_ms)}" if first.clock_ms is not None else ""
    return f"First divergence{when}{where}: {first.title} ({first.owner}, {first.severity})"


def _end(call: Call) -> str:
    last = f" in {call.visits[-1].visit_id}" if call.visits else ""
    ended = np.flatnonzero(call.kind_of[: call.first_extra] == KIND_CODES["session_ended"])
    if not len(ended):
        return f"No end of the call was recorded; the record stops{last}"
    event = int(ended[-1])
    reason = payload_of(call, event).get("reason")
    why = f": {redactor(call).text(reason)}" if isinstance(reason, str) else ", no reason recorded"
    clock = call.clock_ms(event)
    return f"The call ended{'' if clock is None else f' at {_clock(clock)}'}{last}{why}"
