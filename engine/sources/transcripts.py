"""``transcripts/live.jsonl`` and ``transcripts/timed.jsonl`` (contract 1.7)."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import msgspec

from engine.model.events import Clock, Key
from engine.model.limits import Limits
from engine.sources.contents import pick
from engine.sources.files import CallFiles
from engine.sources.ledger import LineFault
from engine.sources.lines import Line, RowNumbers, count_malformed, event_id, fit, read_lines

Source = Literal["live", "timed"]
SOURCES: tuple[Source, ...] = ("live", "timed")


class Word(msgspec.Struct, frozen=True):
    """One word of a timed transcript: its text, its times on the call clock in ms, its probability."""

    w: str
    start_ms: Clock = None
    end_ms: Clock = None
    p: float | int | None = None


class Utterance(msgspec.Struct, frozen=True):
    """One row of a transcript. None is "not stated"; without times it has an order and no time.

    Attributes:
        event_id: ``live:<row>`` or ``timed:<row>``, with ``.1``, ``.2`` … for further rows of one number.
        artifact, line: Where it stands; lines from 1.
        row, suffix: Its number as stated (else the ordinal of its line, from 0), and the ordinal among rows
            of that number, in file order.
        start_ms, end_ms: On the call clock.
        payload: The row without `row`, with `malformed` where it has malformed keys.
        malformed: Keys that are wrong, or lack and are needed (`speaker`, `text`), sorted.
    """

    event_id: str
    artifact: str
    line: int
    row: int
    suffix: int
    speaker: str | None
    text: str | None
    start_ms: float | int | None
    end_ms: float | int | None
    final: bool | None
    input_id: str | None
    visit_id: str | None
    model: str | None
    words: list[Word] | None
    payload: dict[str, Any]
    malformed: tuple[str, ...]


KEYS: dict[str, Key] = {
    "speaker": Key(str, True),
    "text": Key(str, True),
    "start_ms": Key(Clock),
    "end_ms": Key(Clock),
    "final": Key(bool | None),
    "input_id": Key(str | None),
    "visit_id": Key(str | None),
    "model": Key(str | None),
    "words": Key(list[Word] | None),
}


class Transcript(NamedTuple):
    """The rows of one transcript in file order, and the lines that were not read as they stand."""

    rows: list[Utterance]
    faults: list[LineFault]


def read_transcript(files: CallFiles, source: Source, limits: Limits) -> Transcript:
    """Read the live or the timed transcript; a call without it gives no rows.

    Raises:
        EngineError: ``LIMIT_EXCEEDED`` (`lines.read_lines`).
    """
    artifact = pick(files, f"transcripts/{source}.jsonl")
    lines, faults = read_lines(artifact, limits)
    numbers = RowNumbers("row")
    rows = [_utterance(artifact.name, source, line, numbers) for line in lines]
    count_malformed(artifact, faults, [row.line for row in rows if row.malformed])
    return Transcript(rows, faults)


def _utterance(artifact: str, source: Source, line: Line, numbers: RowNumbers) -> Utterance:
    values, malformed = fit(line, KEYS)
    if numbers.is_malformed(line):
        malformed = tuple(sorted({*malformed, "row"}))
    number, suffix = numbers.of(line)
    payload = {key: value for key, value in line.value.items() if key != "row"}
    return Utterance(
        **values,
        event_id=event_id(source, number, suffix),
        artifact=artifact,
        line=line.line,
        row=number,
        suffix=suffix,
        payload=payload | ({"malformed": list(malformed)} if malformed else {}),
        malformed=malformed,
    )
