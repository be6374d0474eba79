"""The small JSONL files, line by line, as tolerant as the ledgers are (contract 1.9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
import numpy as np

from engine.canonical import normalise
from engine.model.errors import EngineError
from engine.model.events import Key
from engine.model.limits import Limits
from engine.sources import ledger, tolerant
from engine.sources.files import Artifact
from engine.sources.ledger import Ints, LineFault
from engine.sources.part import note_cut

_BOM = b"\xef\xbb\xbf"
_decoder = msgspec.json.Decoder()


class Line(NamedTuple):
    """One line that holds an object.

    Attributes:
        line: Its number in the file, from 1.
        value: The object, normalised (contract 3.1).
        nulled: Keys whose value was NaN or an infinity; they hold None now and count as missing.
        bad_text: Whether a string held a lone surrogate, which stands as U+FFFD.
    """

    line: int
    value: dict[str, Any]
    nulled: tuple[str, ...] = ()
    bad_text: bool = False


class Lines(NamedTuple):
    """The objects of a file in file order, and the lines that were not read as they stand."""

    rows: list[Line]
    faults: list[LineFault]


def read_lines(artifact: Artifact, limits: Limits) -> Lines:
    """Read a JSONL file; sets the artifact's `rows` (objects) and `malformed` (lines with a fault).

    An artifact without data has no rows and keeps its counts.

    Raises:
        EngineError: ``LIMIT_EXCEEDED`` (``line_bytes``, ``json_depth``, ``events``), with artifact and line.
    """
    if artifact.data is None:
        return Lines([], [])
    data = memoryview(artifact.data)
    ends = ledger.line_ends(data)
    _check(artifact.name, data, ends, limits)
    rows: list[Line] = []
    faults: list[LineFault] = []
    start = len(_BOM) if bytes(data[:3]) == _BOM else 0
    last = _last_filled(data, ends)
    for index, end in enumerate(ends.tolist()[: last + 1]):
        raw = bytes(data[start:end])
        start = end
        if not raw.strip():
            continue
        row, fault = _line(raw, index + 1, index == last, limits)
        if row is not None:
            rows.append(row)
            if len(rows) > limits.events:
                raise _exceeded(artifact.name, f"more than {limits.events} rows", "events", limits.events)
        if fault is not None:
            faults.append(fault)
    note_cut(faults, len(ends), artifact.reason)
    artifact.rows = len(rows)
    artifact.malformed = len(faults)
    return Lines(rows, faults)


def _check(name: str, data: memoryview, ends: Ints, limits: Limits) -> None:
    if len(ends) and int(np.diff(ends, prepend=0).max()) > limits.line_bytes:
        raise _exceeded(
            name, f"a line is longer than {limits.line_bytes} bytes", "line_bytes", limits.line_bytes
        )
    ledger.check_depth(name, data, ends, limits)


def _exceeded(name: str, what: str, limit: str, maximum: int) -> EngineError:
    return EngineError("LIMIT_EXCEEDED", f"{name}: {what}", limit=limit, maximum=maximum, artifact=name)


def _last_filled(data: memoryview, ends: Ints) -> int:
    """Index of the last line that is not blank, or -1."""
    last = len(ends) - 1
    while last >= 0 and not bytes(data[int(ends[last - 1]) if last else 0 : int(ends[last])]).strip():
        last -= 1
    return last


def _line(raw: bytes, number: int, is_last: bool, limits: Limits) -> tuple[Line | None, LineFault | None]:
    try:
        value = _decoder.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return _odd_line(raw, number, is_last, limits)
    if not isinstance(value, dict):
        return None, LineFault(number, False, False, "not an object")
    return Line(number, normalise(value)), None


def _odd_line(raw: bytes, number: int, is_last: bool, limits: Limits) -> tuple[Line | None, LineFault | None]:
    try:
        parsed = tolerant.parse(raw, limits)
    except (ValueError, RecursionError):
        truncated = is_last and not raw.endswith(b"\n")
        return None, LineFault(number, truncated, False, "not JSON")
    if not isinstance(parsed.value, dict):
        return None, LineFault(number, False, False, "not an object")
    fault = LineFault(number, False, True, "not UTF-8") if parsed.bad_bytes else None
    return Line(number, parsed.value, parsed.nulled, parsed.bad_text), fault


def fit(line: Line, keys: Mapping[str, Key]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The values of known keys, and which of them are malformed, sorted.

    A value of a wrong type counts as missing and is malformed, and so is a number that was NaN or infinite,
    and a required key that is missing. A lone surrogate anywhere in the line is listed as ``text_encoding``.
    """
    values: dict[str, Any] = {}
    malformed = {"text_encoding"} if line.bad_text else set()
    for name, key in keys.items():
        values[name] = None
        if name in line.nulled:
            malformed.add(name)
        elif name in line.value:
            try:
                values[name] = msgspec.convert(line.value[name], type=key.type, strict=True)
            except (msgspec.ValidationError, OverflowError):
                malformed.add(name)
        elif key.required:
            malformed.add(name)
    return values, tuple(sorted(malformed))


class RowNumbers:
    """Gives each row of a file a number, and a suffix that keeps equal numbers apart.

    A row states its number; without a valid one it has the ordinal of its line in the file, from 0. The first
    row with a number, in file order, has suffix 0, the next 1, and so on; `event_id` shows them as ``.1``.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self._used: dict[int, int] = {}

    def of(self, line: Line) -> tuple[int, int]:
        """The number and the suffix of the next row."""
        stated = line.value.get(self.key)
        valid = type(stated) is int and 0 <= stated < 2**53
        number = stated if valid and stated is not None else line.line - 1
        suffix = self._used.get(number, 0)
        self._used[number] = suffix + 1
        return number, suffix

    def is_malformed(self, line: Line) -> bool:
        """Whether the row states a number that is none."""
        stated = line.value.get(self.key)
        return stated is not None and not (type(stated) is int and 0 <= stated < 2**53)


def event_id(prefix: str, number: int, suffix: int) -> str:
    """``<prefix>:<number>``, with ``.<suffix>`` where the number stands more than once."""
    return f"{prefix}:{number}.{suffix}" if suffix else f"{prefix}:{number}"


def count_malformed(artifact: Artifact, faults: list[LineFault], malformed_lines: list[int]) -> None:
    """Set `Artifact.malformed` to the lines with a fault or a malformed row, each counted once."""
    artifact.malformed = len({fault.line for fault in faults} | set(malformed_lines))
