"""Agent lines: which output rows and transcript rows are of one utterance of the agent (contract 2.8).

A playback is one line over its stages; an output attempt that no playback names is one; a transcript row
joins the line of its visit that it overlaps most, else it is a line of its own. Rows join on ids and ranges,
never on equal text.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from engine.hydrate.call import KIND_CODES, Call
from engine.hydrate.callerturns import LIVE_SOURCE, TIMED_SOURCE, Heard, caller_turns, moment
from engine.hydrate.extras import Extra
from engine.hydrate.outputrows import Groups, OutputRows, group, output_rows
from engine.sources.part import Ints

TRANSCRIPTS = {"live_transcript": LIVE_SOURCE, "timed_transcript": TIMED_SOURCE}
_REQUESTED, _STARTED = KIND_CODES["audio_requested"], KIND_CODES["audio_started"]
_TRANSCRIPT = KIND_CODES["assistant_transcript"]


class Line(NamedTuple):
    """One agent line.

    Attributes:
        events: Its playback rows, or those of its attempt, in event order.
        attempts: The output attempts that its rows name.
        rows: The transcript rows that were joined to it.
    """

    events: list[int]
    attempts: tuple[str, ...]
    rows: tuple[int, ...]


class Lines:
    """All agent lines of a call: groups of output rows, then lines that rest on other rows only.

    Attributes:
        count: How many lines there are.
    """

    def __init__(self, output: OutputRows) -> None:
        self._output = output
        self._groups = _group_lines(output)
        self._beside: list[list[int]] = []
        """Events of the lines that have no output row: a legacy span, or nothing but transcript rows."""
        self._rows: dict[int, tuple[int, ...]] = {}
        of_attempts = np.where(output.playback < 0, output.attempt, -1)
        self._by_attempt = group(of_attempts, len(output.attempts))
        self._attempt_codes = {name: code for code, name in enumerate(output.attempts)}

    @property
    def count(self) -> int:
        """How many lines there are."""
        return len(self._groups.starts) - 1 + len(self._beside)

    def line(self, number: int) -> Line:
        """One line."""
        events, rows = self.events(number), self._rows.get(number, ())
        if number >= len(self._groups.starts) - 1:
            return Line(events, (), rows)
        codes = dict.fromkeys(self._output.attempt[self._groups.of(number)].tolist())
        return Line(events, tuple(self._output.attempts[code] for code in codes if code >= 0), rows)

    def events(self, number: int) -> list[int]:
        """The output rows of a line."""
        beside = number - len(self._groups.starts) + 1
        if beside >= 0:
            return self._beside[beside]
        found: list[int] = self._output.events[self._groups.of(number)].tolist()
        return found

    def visits(self, call: Call) -> list[int]:
        """The visit of the first event of each line; -1 for none."""
        firsts = self._output.events[self._groups.members[self._groups.starts[:-1]]]
        found: list[int] = call.visit_of[firsts].tolist()
        return found + [int(call.visit_of[events[0]]) if events else -1 for events in self._beside]

    def attempt_events(self, attempt: str) -> list[int]:
        """The rows of an output attempt that are no playback's."""
        code = self._attempt_codes.get(attempt)
        found: list[int] = [] if code is None else self._output.events[self._by_attempt.of(code)].tolist()
        return found

    def least(self, ranks: Ints, others: dict[int, int]) -> Ints:
        """The least rank among the events and rows of each line.

        Args:
            ranks: A rank for each output row.
            others: A rank for each event that is no output row.
        """
        starts = self._groups.starts
        first = np.zeros(0, np.int64)
        if len(starts) > 1:
            first = np.minimum.reduceat(ranks[self._groups.members[: starts[-1]]], starts[:-1])
        far = np.iinfo(np.int64).max
        found = np.concatenate((first, np.full(len(self._beside), far)))
        base = len(first)
        for number, events in enumerate(self._beside, base):
            found[number] = min([far, *(others[event] for event in events)])
        for number, rows in self._rows.items():
            found[number] = min([int(found[number]), *(others[row] for row in rows)])
        return found

    def others(self) -> list[int]:
        """The events of lines that are no output rows."""
        beside = [event for events in self._beside for event in events]
        return beside + [row for rows in self._rows.values() for row in rows]

    @property
    def output(self) -> OutputRows:
        """The rows that the lines are made of."""
        return self._output

    # Filling.

    def add_span(self, event: int) -> None:
        """A line that is a span of a legacy timeline."""
        self._beside.append([event])

    def add_rows(self, rows: tuple[int, ...]) -> None:
        """A line of transcript rows only."""
        self._rows[self.count] = rows
        self._beside.append([])

    def join(self, number: int, rows: tuple[int, ...]) -> None:
        """Transcript rows are of a line."""
        self._rows[number] = self._rows.get(number, ()) + rows

    def nearest(self, call: Call, number: int) -> tuple[float, float]:
        """Start and end at the stage nearest the caller, NaN where they are not known."""
        beside = number - len(self._groups.starts) + 1
        if beside >= 0:
            extra = call.parts.extras[self._beside[beside][0] - call.first_extra]
            return number_of(extra.clock_ms), number_of(extra.payload.get("end_ms"))
        spans: dict[int, list[float]] = {}
        output = self._output
        for at in self._groups.of(number):
            if output.playback[at] < 0 or output.kinds[at] == _REQUESTED or output.stage[at] < 0:
                continue
            span = spans.setdefault(int(output.stage[at]), [math.nan, math.nan])
            span[int(output.kinds[at] != _STARTED)] = float(call.parts.clock.ms[output.events[at]])
        start, end = spans[min(spans)] if spans else (math.nan, math.nan)
        return start, end


def agent_lines(call: Call) -> Lines:
    """Group every output row and every agent row of the transcripts."""
    lines = Lines(output_rows(call.ledger))
    _join_rows(call, lines)
    return lines


def _group_lines(output: OutputRows) -> Groups:
    """Playbacks, then attempts that no playback row names, then rows that name neither."""
    playbacks, attempts = len(output.playbacks), len(output.attempts)
    sounding = np.zeros(attempts + 1, np.bool_)
    sounding[output.attempt[output.playback >= 0]] = True
    silent = (output.playback < 0) & (output.attempt >= 0) & ~sounding[output.attempt]
    names, silent_codes = np.unique(output.attempt[silent], return_inverse=True)
    nameless = (output.playback < 0) & (output.attempt < 0)
    alone = np.flatnonzero(nameless & np.isin(output.kinds, [_STARTED, _TRANSCRIPT]))
    codes = output.playback.copy()
    codes[silent] = playbacks + silent_codes
    codes[alone] = playbacks + len(names) + np.arange(len(alone))
    return group(codes, playbacks + len(names) + len(alone))


def _is_agent_row(extra: Extra) -> bool:
    return extra.kind in TRANSCRIPTS and extra.payload.get("speaker") == "agent"


def _join_rows(call: Call, lines: Lines) -> None:
    """Give agent rows to the lines of their visit that they overlap most; the rest become lines."""
    rows: list[Heard] = []
    for number, extra in enumerate(call.parts.extras, call.first_extra):
        if extra.kind == "audio_span":
            lines.add_span(number)
        elif _is_agent_row(extra):
            if extra.visit < 0:
                lines.add_rows((number,))
                continue
            end = number_of(extra.payload.get("end_ms"))
            rows.append(Heard(number, "", "", extra.visit, None, extra.clock_ms, _known(end), True))
    if not rows:
        return
    known = _candidates(call, lines, {row.visit for row in rows})
    for joined in caller_turns([*known, *rows], call.parts.settings.overlap_share):
        found = tuple(one.event for one in joined.heard if one.from_file)
        if joined.heard[0].from_file:
            lines.add_rows(found)
        elif found:
            lines.join(joined.heard[0].event, found)


def _candidates(call: Call, lines: Lines, visits: set[int]) -> list[Heard]:
    """The lines of some visits, as what a transcript row may overlap."""
    known: list[Heard] = []
    for number, visit in enumerate(lines.visits(call)):
        if visit in visits:
            start, end = lines.nearest(call, number)
            known.append(Heard(number, "", "", visit, str(number), _known(start), _known(end), False))
    return known


def number_of(value: object) -> float:
    """A number of a row, or NaN."""
    stated = moment(value)
    return math.nan if stated is None else float(stated)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
