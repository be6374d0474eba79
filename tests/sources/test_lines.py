"""The tolerant reader of small JSONL files (contract 1.9)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.model.errors import EngineError
from engine.model.events import Clock, Key
from engine.model.limits import LIMITS, Limits
from engine.sources.files import Artifact
from engine.sources.ledger import LineFault
from engine.sources.lines import Line, Lines, RowNumbers, event_id, fit, read_lines

OK = b'{"a": 1}\n'


def read(data: bytes, limits: Limits = LIMITS) -> tuple[Lines, Artifact]:
    artifact = Artifact("trace.jsonl", "read", data)
    return read_lines(artifact, limits), artifact


@pytest.mark.parametrize(
    ("data", "values"),
    [
        (b"", []),
        (OK, [(1, {"a": 1})]),
        (b"\xef\xbb\xbf" + OK, [(1, {"a": 1})]),
        (b"\xef\xbb\xbf", []),
        (b'{"a": 1}\r\n\r\n{"a": 2}\r\n', [(1, {"a": 1}), (3, {"a": 2})]),
        (b'\n  \n{"a": 1}', [(3, {"a": 1})]),
        (b'  {"a": 1} \n', [(1, {"a": 1})]),
        (b'{"a": 1, "a": 2}\n', [(1, {"a": 2})]),
        (b'{"a": -0.0}\n', [(1, {"a": 0.0})]),
        (b'{"a": 123456789012345678901234567890}\n', [(1, {"a": 123456789012345678901234567890})]),
        (b'{"a": "\xc3\xa9\xe2\x80\xa8"}\n', [(1, {"a": "é\u2028"})]),
    ],
)
def test_what_does_not_stop_the_reader(data: bytes, values: list[tuple[int, dict[str, Any]]]) -> None:
    found, artifact = read(data)
    assert [(line.line, line.value) for line in found.rows] == values
    assert not found.faults
    assert (artifact.rows, artifact.malformed) == (len(values), 0)
    assert all(str(value) == str(line.value["a"]) for line, (_, pair) in zip(found.rows, values, strict=True)
               for value in [pair["a"]])  # fmt: skip


@pytest.mark.parametrize(
    ("data", "rows", "fault"),
    [
        (b"nonsense\n" + OK, 1, LineFault(1, False, False, "not JSON")),
        (OK + b"[1]\n" + OK, 2, LineFault(2, False, False, "not an object")),
        (OK + b"7\n", 1, LineFault(2, False, False, "not an object")),
        (OK + b'{"a": ', 1, LineFault(2, True, False, "not JSON")),
        (OK + b'{"a": \n', 1, LineFault(2, False, False, "not JSON")),
        (OK + b'{"a": \n  ', 1, LineFault(2, False, False, "not JSON")),
        (OK + b'{"a": "\xff"', 1, LineFault(2, True, False, "not JSON")),
        (b'{"a": "\xff"}\n', 1, LineFault(1, False, True, "not UTF-8")),
        (b'{"a": "\xff"}', 1, LineFault(1, False, True, "not UTF-8")),
        (b"\xff\xfe{\x00}\x00\n\x00", 0, LineFault(1, False, False, "not JSON")),
    ],
)
def test_what_is_reported(data: bytes, rows: int, fault: LineFault) -> None:
    found, artifact = read(data)
    assert len(found.rows) == rows
    assert found.faults[0] == fault
    assert (artifact.rows, artifact.malformed) == (rows, len(found.faults))


def test_bytes_that_are_no_text_become_replacement_characters() -> None:
    assert read(b'{"a": "x\xffy"}\n')[0].rows[0].value == {"a": "x\ufffdy"}


def test_numbers_without_a_value_become_null() -> None:
    rows = read(b'{"a": NaN, "b": 1e400, "c": -Infinity, "d": [NaN]}\n')[0].rows
    assert rows == [Line(1, {"a": None, "b": None, "c": None, "d": [None]}, ("a", "b", "c"))]


def test_a_lone_surrogate_is_replaced_and_noted() -> None:
    line = read(b'{"a": "\\ud800"}\n')[0].rows[0]
    assert line.value == {"a": "\ufffd"} and line.bad_text
    assert fit(line, {"a": Key(str)}) == ({"a": "\ufffd"}, ("text_encoding",))


@pytest.mark.parametrize(
    ("data", "limits", "limit"),
    [
        (OK + b'{"a": "' + b"x" * 100 + b'"}\n', Limits(line_bytes=99), "line_bytes"),
        (OK + b'{"a": ' + b"[" * 64 + b"]" * 64 + b"}\n", LIMITS, "json_depth"),
        (OK + b"[" * 100_000, LIMITS, "json_depth"),
        (OK * 4, Limits(events=3), "events"),
    ],
)
def test_what_is_refused(data: bytes, limits: Limits, limit: str) -> None:
    with pytest.raises(EngineError) as caught:
        read(data, limits)
    assert caught.value.code == "LIMIT_EXCEEDED"
    assert caught.value.details["limit"] == limit
    assert caught.value.details["artifact"] == "trace.jsonl"


def test_the_limits_themselves_pass() -> None:
    deepest = b'{"a": ' + b"[" * 63 + b"]" * 63 + b"}\n"
    brackets_in_text = json.dumps({"a": "[{" * 100}).encode() + b"\n"
    found, _ = read(deepest + brackets_in_text, Limits(line_bytes=len(brackets_in_text), events=2))
    assert len(found.rows) == 2


def test_a_file_that_was_not_read_has_no_rows() -> None:
    artifact = Artifact("trace.jsonl", "missing")
    assert read_lines(artifact, LIMITS) == Lines([], [])
    assert artifact.rows is None


KEYS = {"t": Key(str, True), "n": Key(Clock), "f": Key(bool | None)}


@pytest.mark.parametrize(
    ("value", "nulled", "values", "malformed"),
    [
        ({"t": "x", "n": 1, "f": False}, (), {"t": "x", "n": 1, "f": False}, ()),
        ({"t": "x", "n": None}, (), {"t": "x", "n": None, "f": None}, ()),
        ({}, (), {"t": None, "n": None, "f": None}, ("t",)),
        ({"t": None}, (), {"t": None, "n": None, "f": None}, ("t",)),
        ({"t": 5, "n": "1", "f": 0}, (), {"t": None, "n": None, "f": None}, ("f", "n", "t")),
        ({"t": "x", "n": True}, (), {"t": "x", "n": None, "f": None}, ("n",)),
        ({"t": "x", "n": None}, ("n",), {"t": "x", "n": None, "f": None}, ("n",)),
        ({"t": "x", "n": 10**30}, (), {"t": "x", "n": None, "f": None}, ("n",)),
    ],
)
def test_wrong_types_count_as_missing(
    value: dict[str, Any], nulled: tuple[str, ...], values: dict[str, Any], malformed: tuple[str, ...]
) -> None:
    assert fit(Line(1, value, nulled), KEYS) == (values, malformed)


def test_row_numbers_are_kept_apart() -> None:
    numbers = RowNumbers("row")
    stated: list[Any] = [3, 3, None, "3", True, 3.0, -1, 3]
    lines = [Line(place + 1, {} if value is None else {"row": value}) for place, value in enumerate(stated)]
    given = [numbers.of(line) for line in lines]
    # The fourth line stands at ordinal 3, the number that two rows before it state.
    assert given == [(3, 0), (3, 1), (2, 0), (3, 2), (4, 0), (5, 0), (6, 0), (3, 3)]
    wrong = [False, False, False, True, True, True, True, False]
    assert [numbers.is_malformed(line) for line in lines] == wrong
    assert event_id("trace", 3, 0) == "trace:3"
    assert event_id("trace", 3, 2) == "trace:3.2"
