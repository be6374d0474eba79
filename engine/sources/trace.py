"""``trace.jsonl``: prompts, generation, transport and tool rows keyed by node (contract 1.6)."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from engine.model.events import ENVELOPE_KEYS, Clock, Key
from engine.model.limits import Limits
from engine.sources.contents import pick
from engine.sources.files import CallFiles
from engine.sources.ledger import LineFault
from engine.sources.lines import Line, RowNumbers, count_malformed, event_id, fit, read_lines
from engine.sources.rowschema import Seq, flatten


class TraceRow(msgspec.Struct, frozen=True):
    """One row of the trace. None is "not stated".

    Attributes:
        event_id: ``trace:<row>``, with ``.1``, ``.2`` … for further rows of one number.
        artifact, line: Where it stands; lines from 1.
        row, suffix: Its number as stated (else the ordinal of its line, from 0), and the ordinal among rows
            of that number, in file order.
        type: The row's kind; "" where it states none.
        node: The state it speaks of.
        seq: The bus sequence that had been reached when it was written.
        clock_ms: On the call clock.
        call_id: Of a tool row, to find the bus event it repeats.
        payload: Every other key, with `malformed` where it has malformed keys.
        malformed: Keys that are wrong, or lack and are needed (`type`), sorted.
    """

    event_id: str
    artifact: str
    line: int
    row: int
    suffix: int
    type: str
    node: str | None
    visit_id: str | None
    seq: int | None
    clock_ms: float | int | None
    call_id: str | None
    payload: dict[str, Any]
    malformed: tuple[str, ...]


KEYS: dict[str, Key] = {
    "type": Key(str, True),
    "node": Key(str | None),
    "visit_id": Key(str | None),
    "seq": Key(Seq | None),
    "clock_ms": Key(Clock),
    "call_id": Key(str | None),
}


class Trace(NamedTuple):
    """The rows of the trace in file order, and the lines that were not read as they stand."""

    rows: list[TraceRow]
    faults: list[LineFault]


def read_trace(files: CallFiles, limits: Limits) -> Trace:
    """Read the trace; a call without one gives no rows.

    Raises:
        EngineError: ``LIMIT_EXCEEDED`` (`lines.read_lines`).
    """
    artifact = pick(files, "trace.jsonl")
    lines, faults = read_lines(artifact, limits)
    numbers = RowNumbers("row")
    rows = [_row(artifact.name, line, numbers) for line in lines]
    count_malformed(artifact, faults, [row.line for row in rows if row.malformed])
    return Trace(rows, faults)


def _row(artifact: str, stated: Line, numbers: RowNumbers) -> TraceRow:
    line = stated._replace(value=flatten(stated.value))
    values, malformed = fit(line, KEYS)
    if numbers.is_malformed(line):
        malformed = tuple(sorted({*malformed, "row"}))
    number, suffix = numbers.of(line)
    payload = {key: value for key, value in line.value.items() if key != "row" and key not in ENVELOPE_KEYS}
    return TraceRow(
        **values | {"type": values["type"] or ""},
        event_id=event_id("trace", number, suffix),
        artifact=artifact,
        line=line.line,
        row=number,
        suffix=suffix,
        payload=payload | ({"malformed": list(malformed)} if malformed else {}),
        malformed=malformed,
    )
