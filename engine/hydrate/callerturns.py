"""Caller turns: which observations of the caller are of one utterance (contract 2.8).

Observations join on ``input_id``; else on the same visit and at least half of the shorter range in common.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import repeat
from typing import NamedTuple

from engine.hydrate.extras import Extra
from engine.hydrate.ownership import Ownership
from engine.model.events import CLOCK_END
from engine.sources.merge import Ledger

LIVE_SOURCE = "gemini"
TIMED_SOURCE = "whisper"


class Heard(NamedTuple):
    """One row that says what the caller said.

    Attributes:
        event: Its event number in the call.
        source: ``gemini``, ``whisper``, ``dtmf`` or what the row names.
        from_file: It stands in a transcript file, not on the bus.
    """

    event: int
    source: str
    text: str
    visit: int
    input_id: str | None
    start_ms: float | int | None
    end_ms: float | int | None
    from_file: bool
    final: bool | None = None
    """False for an interim observation, which a settled one of its source replaces."""


class CallerTurn(NamedTuple):
    """The observations of one utterance, bus rows first, in event order."""

    visit: int
    input_id: str | None
    heard: tuple[Heard, ...]

    def side(self, source: str) -> Heard | None:
        """The observation that speaks for a source: settled before interim, its file's before the bus's."""
        found = [one for one in self.heard if one.source == source and one.text]
        found = [one for one in found if one.final is not False] or found
        return next((one for one in found if one.from_file), found[-1] if found else None)


def moment(value: object) -> float | int | None:
    """A moment that a row states, in ms as it stands; None for what is none."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return value if abs(value) < CLOCK_END else None


def observations(ledger: Ledger, owned: Ownership, extras: list[Extra]) -> list[Heard]:
    """Every caller observation: ``caller_transcript`` rows and caller rows of the two transcript files."""
    found: list[Heard] = []
    captured = ledger.captured.get("caller_transcript")
    if captured is not None and captured.rows:
        columns = captured.columns
        visits = owned.visit[captured.events].tolist()
        found = list(
            map(
                Heard._make,
                zip(captured.rows, columns["source"], columns["text"], visits, columns["input_id"],
                    columns["start_ms"], columns["end_ms"], repeat(False), columns["final"], strict=False),
            )
        )  # fmt: skip
        if None in columns["text"] or None in columns["source"]:
            found = [one for one in found if isinstance(one.text, str) and isinstance(one.source, str)]
    for number, extra in enumerate(extras, len(ledger)):
        if (
            extra.kind not in ("live_transcript", "timed_transcript")
            or extra.payload.get("speaker") != "caller"
        ):
            continue
        text = extra.payload.get("text")
        if isinstance(text, str):
            source = LIVE_SOURCE if extra.kind == "live_transcript" else TIMED_SOURCE
            start, end = extra.clock_ms, moment(extra.payload.get("end_ms"))
            final = extra.payload.get("final")
            settled = final if isinstance(final, bool) else None
            found.append(Heard(number, source, text, extra.visit, extra.input_id, start, end, True, settled))
    return found


def caller_turns(heard: Iterable[Heard], overlap_share: float) -> list[CallerTurn]:
    """Group observations into turns, in the order of their first rows.

    Args:
        heard: What `observations` gave.
        overlap_share: Share of the shorter range that two observations must have in common.
    """
    groups: list[list[Heard]] = []
    by_input: dict[str, list[Heard]] = {}
    free: list[Heard] = []
    for one in heard:
        if one.input_id is None:
            free.append(one)
            continue
        group = by_input.get(one.input_id)
        if group is None:
            group = by_input[one.input_id] = []
            groups.append(group)
        group.append(one)
    if free:
        _join_by_overlap(groups, free, overlap_share)
    return [CallerTurn(group[0].visit, group[0].input_id, tuple(group)) for group in groups]


def _join_by_overlap(groups: list[list[Heard]], free: list[Heard], share: float) -> None:
    spans: dict[int, list[tuple[float, float, int]]] = {}
    longest: dict[int, float] = {}
    for number, group in enumerate(groups):
        for one in group:
            _note(spans, longest, one, number)
    for items in spans.values():
        items.sort()
    for one in free:
        best = _best(spans, longest, one, share)
        if best is None:
            best = len(groups)
            groups.append([])
            _note(spans, longest, one, best, ordered=True)
        groups[best].append(one)


def _note(
    spans: dict[int, list[tuple[float, float, int]]],
    longest: dict[int, float],
    one: Heard,
    number: int,
    ordered: bool = False,
) -> None:
    if one.visit < 0 or one.start_ms is None or one.end_ms is None or one.end_ms < one.start_ms:
        return  # without a visit or a range there is nothing to join on
    span = (float(one.start_ms), float(one.end_ms), number)
    items = spans.setdefault(one.visit, [])
    if ordered:
        items.insert(bisect_right(items, span), span)
    else:
        items.append(span)
    longest[one.visit] = max(longest.get(one.visit, 0.0), span[1] - span[0])


def _best(
    spans: dict[int, list[tuple[float, float, int]]], longest: dict[int, float], one: Heard, share: float
) -> int | None:
    if one.start_ms is None or one.end_ms is None:
        return None
    items = spans.get(one.visit, [])
    first = bisect_left(items, (one.start_ms - longest.get(one.visit, 0.0),))
    last = bisect_right(items, (float(one.end_ms), float("inf"), 0))
    best: tuple[float, int] | None = None
    for start, end, number in items[first:last]:
        common = min(end, one.end_ms) - max(start, one.start_ms)
        shorter = min(end - start, one.end_ms - one.start_ms)
        if common <= 0 or common < share * shorter:
            continue
        if best is None or (common, -number) > (best[0], -best[1]):
            best = (common, number)
    return best[1] if best else None
