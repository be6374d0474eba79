"""Agent lines: which output rows and transcript rows are of one utterance of the agent (contract 2.8).

A playback is one line over its stages; an output attempt that no playback names is one; a transcript row
joins the line of its visit that it overlaps most, else it is a line of its own. Rows join on ids and ranges,
never on equal text.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import msgspec
import numpy as np

from engine.hydrate.call import KIND_CODES, Call
from engine.hydrate.callerturns import LIVE_SOURCE, TIMED_SOURCE, Heard, caller_turns
from engine.hydrate.extras import Extra
from engine.hydrate.rowids import read_ids
from engine.model.events import ATTEMPT_EVENTS, AUDIO_KINDS

STAGES = ("carrier_recorded", "client_playback", "outbound_accepted", "unrecorded", "model_received")
"""Stages of a playback, the one nearest the caller's ear first; a row without one is ``unrecorded``."""
TRANSCRIPTS = {"live_transcript": LIVE_SOURCE, "timed_transcript": TIMED_SOURCE}
_AUDIO = frozenset(KIND_CODES[kind] for kind in AUDIO_KINDS)
_REQUESTED, _STARTED = KIND_CODES["audio_requested"], KIND_CODES["audio_started"]
_ALONE = (_STARTED, KIND_CODES["assistant_transcript"])
"""Rows that are a line though they name neither a playback nor an attempt."""
_CLOCK_END = 2**53
_OUTPUT = np.array(sorted(KIND_CODES[k] for k in (*AUDIO_KINDS, *ATTEMPT_EVENTS, "assistant_transcript")))


class Line(msgspec.Struct, gc=False):
    """One agent line.

    Attributes:
        events: Its playback rows, or those of its attempt, in event order.
        attempts: The output attempts that its rows name.
        rows: The transcript rows that were joined to it.
        spans: Stage → start and end on the call clock, NaN where not known; set where rows may join.
    """

    events: list[int]
    attempts: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
    spans: dict[str, list[float]] | None = None


class Lines(NamedTuple):
    """All agent lines, and the rows of each output attempt by its id."""

    lines: list[Line]
    attempts: dict[str, list[int]]


def agent_lines(call: Call) -> Lines:
    """Group every output row and every agent row of the transcripts."""
    playbacks: dict[str, Line] = {}
    attempts: dict[str, list[int]] = {}
    lines: list[Line] = []
    joins = any(_is_agent_row(extra) for extra in call.parts.extras)
    found = np.flatnonzero(np.isin(call.kind_of[: call.first_extra], _OUTPUT))
    kinds = call.kind_of[found].tolist()
    for event, kind, ids in zip(found.tolist(), kinds, read_ids(call.ledger, found), strict=True):
        attempt = ids.output_attempt_id if isinstance(ids.output_attempt_id, str) else None
        if kind in _AUDIO and isinstance(ids.playback_id, str):
            line = playbacks.get(ids.playback_id)
            if line is None:
                line = playbacks[ids.playback_id] = Line([])
                lines.append(line)
            line.events.append(event)
            if attempt is not None and attempt not in line.attempts:
                line.attempts += (attempt,)
            if joins and kind != _REQUESTED:
                _add_span(line, ids.evidence_stage, kind == _STARTED, float(call.parts.clock.ms[event]))
        elif attempt is not None:
            attempts.setdefault(attempt, []).append(event)
        elif kind in _ALONE:
            lines.append(Line([event]))
    sounding = {attempt for line in lines for attempt in line.attempts}
    lines += [Line(rows, (name,)) for name, rows in attempts.items() if name not in sounding]
    _join_rows(call, lines)
    return Lines(lines, attempts)


def _add_span(line: Line, stage: Any, starts: bool, clock_ms: float) -> None:
    spans = line.spans = line.spans or {}
    span = spans.setdefault(stage if isinstance(stage, str) else "unrecorded", [math.nan, math.nan])
    span[not starts] = clock_ms


def _is_agent_row(extra: Extra) -> bool:
    return extra.kind in TRANSCRIPTS and extra.payload.get("speaker") == "agent"


def _join_rows(call: Call, lines: list[Line]) -> None:
    """Give agent rows to the lines of their visit that they overlap most; the rest become lines."""
    rows: list[Heard] = []
    for number, extra in enumerate(call.parts.extras, call.first_extra):
        if extra.kind == "audio_span":
            span = [number_of(extra.clock_ms), number_of(extra.payload.get("end_ms"))]
            lines.append(Line([number], spans={"unrecorded": span}))
        elif _is_agent_row(extra):
            if extra.visit < 0:
                lines.append(Line([], rows=(number,)))
                continue
            end = number_of(extra.payload.get("end_ms"))
            rows.append(Heard(number, "", "", extra.visit, None, extra.clock_ms, _known(end), True))
    wanted = {row.visit for row in rows}
    known: list[Heard] = []
    for at, line in enumerate(lines):
        visit = int(call.visit_of[line.events[0]]) if line.events else -1
        if visit in wanted:
            start, end = _nearest(line)
            known.append(Heard(at, "", "", visit, str(at), _known(start), _known(end), False))
    for group in caller_turns([*known, *rows], call.parts.settings.overlap_share):
        joined = tuple(one.event for one in group.heard if one.from_file)
        if group.heard[0].from_file:
            lines.append(Line([], rows=joined))
        else:
            lines[group.heard[0].event].rows += joined


def _nearest(line: Line) -> list[float]:
    """Start and end at the stage nearest the caller."""
    spans = line.spans or {}
    return next((spans[stage] for stage in STAGES if stage in spans), [math.nan, math.nan])


def number_of(value: object) -> float:
    """A number of a row, or NaN."""
    if not isinstance(value, int | float) or isinstance(value, bool) or abs(value) > _CLOCK_END:
        return math.nan
    return float(value)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
