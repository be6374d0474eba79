"""Turns, trace, transcripts and tool fixtures (contract 1.1, 1.6, 1.7, 6.2)."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from engine.model.limits import LIMITS
from engine.sources.files import CallFiles
from engine.sources.fixtures import read_fixtures
from engine.sources.folder import open_files
from engine.sources.trace import read_trace
from engine.sources.transcripts import SOURCES, Word, read_transcript
from engine.sources.turns import read_turns
from tests.calls import write_call

SAMPLES = Path(__file__).parents[2] / "sample_artifacts"
V1 = {
    "turn_index": 0,
    "session_id": "s",
    "ts": 1.5,
    "user_utterance": "hi",
    "agent_utterance": "hello",
    "from_state": "a",
    "to_state": "b",
    "post_turn_snapshot": {"x": None},
    "tool_calls": [{"tool": "t", "call_id": "1", "args": {}, "ok": True, "result": 1}],
}
V2 = V1 | {
    "turn_index": 1,
    "schema_version": 2,
    "kind": "eval",
    "run_id": "r",
    "missing_required_slots": [],
    "slot_diff": [{"slot": "x"}],
    "transition_verdict": {"winner": None},
    "guards_evaluated": [],
}


def opened(tmp_path: Path, **files: Any) -> CallFiles:
    return open_files(write_call(tmp_path, **{"events": []} | files), LIMITS)


def test_both_versions_in_one_file(tmp_path: Path) -> None:
    files = opened(tmp_path, turns=[V1, "not json", V2])
    found = read_turns(files, LIMITS)
    first, second = found.sessions["s"]
    assert (first.schema_version, first.kind, first.run_id) == (1, None, None)
    assert (first.slot_diff, first.guards_evaluated, first.missing_required_slots) == (None, None, None)
    assert (second.schema_version, second.kind, second.run_id) == (2, "eval", "r")
    assert (second.slot_diff, second.guards_evaluated) == ([{"slot": "x"}], [])
    assert (first.event_id, second.event_id, second.line) == ("turn:0", "turn:1", 3)
    assert first.payload == V1 and first.malformed == ()
    assert [fault.line for fault in found.faults] == [2]
    artifact = files.artifacts["turns.jsonl"]
    assert (artifact.rows, artifact.malformed) == (2, 1)


def test_turns_are_grouped_by_session_and_ordered_by_index(tmp_path: Path) -> None:
    rows = [("b", 1), ("a", 1), ("b", 0), ("a", 0), ("b", 1)]
    files = opened(tmp_path, turns=[{"session_id": name, "turn_index": index} for name, index in rows])
    found = read_turns(files, LIMITS).sessions
    assert list(found) == ["b", "a"]
    assert [turn.event_id for turn in found["b"]] == ["turn:0", "turn:1", "turn:1.1"]
    assert [turn.line for turn in found["b"]] == [3, 1, 5]
    assert [turn.event_id for turn in found["a"]] == ["turn:0", "turn:1"]


@pytest.mark.parametrize(
    ("sessions", "groups"),
    [
        (["s", None], {"s": 2}),
        ([None, "s", 7], {"s": 3}),
        ([None, None], {None: 2}),
        (["s", "t", None], {"s": 1, "t": 1, None: 1}),
        ([], {}),
    ],
)
def test_turns_that_name_no_session(
    tmp_path: Path, sessions: list[Any], groups: dict[str | None, int]
) -> None:
    turns = [{"session_id": name, "turn_index": index} for index, name in enumerate(sessions)]
    found = read_turns(opened(tmp_path, turns=turns), LIMITS).sessions
    assert {name: len(listed) for name, listed in found.items()} == groups
    assert all(turn.malformed == ("session_id",) for turn in found.get(None, []))


@pytest.mark.parametrize(
    ("more", "malformed"),
    [
        ({"turn_index": "0"}, ("turn_index",)),
        ({"turn_index": -1}, ("turn_index",)),
        ({"turn_index": None}, ("turn_index",)),
        ({"post_turn_snapshot": []}, ("post_turn_snapshot",)),
        ({"tool_calls": [1]}, ("tool_calls",)),
        ({"ts": "2026-07-10T14:02:11Z", "user_utterance": None}, ()),
        ({"schema_version": "2"}, ("schema_version",)),
        ({"unknown": {}}, ()),
    ],
)
def test_wrong_types_in_a_turn(tmp_path: Path, more: dict[str, Any], malformed: tuple[str, ...]) -> None:
    files = opened(tmp_path, turns=["", V1 | more])
    (turn,) = read_turns(files, LIMITS).sessions["s"]
    assert turn.malformed == malformed
    assert turn.payload.get("malformed", []) == list(malformed)
    assert all(turn.payload[key] == value for key, value in more.items())
    assert turn.turn_index == (1 if "turn_index" in more else 0)
    assert files.artifacts["turns.jsonl"].malformed == bool(malformed)


def test_sample_turns() -> None:
    files = open_files(SAMPLES / "property-menu" / "turns.jsonl", LIMITS)
    found = read_turns(files, LIMITS).sessions["v3:pm-0001"]
    assert [(turn.event_id, turn.to_state) for turn in found] == [
        ("turn:0", "cap_existing_request__list_tickets"),
        ("turn:1", "goodbye"),
    ]


@pytest.mark.parametrize("source", SOURCES)
def test_a_transcript_row(tmp_path: Path, source: Any) -> None:
    row = {
        "row": 4, "speaker": "caller", "text": "status", "start_ms": 10, "end_ms": 20.5, "final": True,
        "input_id": "i1", "visit_id": "menu#1", "model": "m", "extra": [1],
        "words": [{"w": "status", "start_ms": 10, "end_ms": 20, "p": 0.9, "more": 1}],
    }  # fmt: skip
    files = opened(tmp_path, live=[row], timed=[row])
    (read,) = read_transcript(files, source, LIMITS).rows
    assert (read.event_id, read.line, read.row) == (f"{source}:4", 1, 4)
    assert (read.speaker, read.text, read.start_ms, read.end_ms) == ("caller", "status", 10, 20.5)
    assert (read.input_id, read.visit_id, read.model, read.final) == ("i1", "menu#1", "m", True)
    assert read.words == [Word("status", 10, 20, 0.9)]
    assert read.payload == {key: value for key, value in row.items() if key != "row"}


@pytest.mark.parametrize(
    ("row", "malformed"),
    [
        ({"speaker": "agent", "text": "x"}, ()),
        ({"speaker": "narrator", "text": ""}, ()),
        ({"text": "x"}, ("speaker",)),
        ({"speaker": "agent", "text": None}, ("text",)),
        ({"speaker": "agent", "text": "x", "start_ms": "5", "end_ms": True}, ("end_ms", "start_ms")),
        ({"speaker": "agent", "text": "x", "words": ["x"]}, ("words",)),
        ({"speaker": "agent", "text": "x", "words": [{"w": "x"}], "row": "0"}, ("row",)),
    ],
)
def test_wrong_types_in_a_transcript(tmp_path: Path, row: dict[str, Any], malformed: tuple[str, ...]) -> None:
    files = opened(tmp_path, live=[row])
    (read,) = read_transcript(files, "live", LIMITS).rows
    assert read.malformed == malformed
    assert read.event_id == "live:0"
    assert all(getattr(read, key, None) is None for key in malformed if key != "row")
    assert files.artifacts["transcripts/live.jsonl"].malformed == bool(malformed)


def test_rows_of_one_number_have_ids_of_their_own(tmp_path: Path) -> None:
    rows = [{"row": 7, "type": "suppressed"}, {"row": 7, "type": "suppressed"}, {"type": "suppressed"}]
    found = read_trace(opened(tmp_path, trace=rows), LIMITS).rows
    assert [row.event_id for row in found] == ["trace:7", "trace:7.1", "trace:2"]
    assert [row.malformed for row in found] == [(), (), ()]


def test_a_trace_row(tmp_path: Path) -> None:
    row = {
        "row": 12, "node": "menu", "visit_id": None, "seq": 1840, "clock_ms": 12600, "type": "tool_called",
        "payload": {"call_id": "c1", "node": "inner"}, "ts": 5,
    }  # fmt: skip
    (read,) = read_trace(opened(tmp_path, trace=[row]), LIMITS).rows
    assert (read.event_id, read.type, read.node, read.seq, read.clock_ms) == (
        "trace:12", "tool_called", "menu", 1840, 12600,
    )  # fmt: skip
    assert read.call_id == "c1"
    assert read.payload == {"node": "menu", "visit_id": None, "call_id": "c1"}


@pytest.mark.parametrize(
    ("line", "malformed", "seq", "clock"),
    [
        ('{"type": "suppressed", "seq": "5", "clock_ms": 1}', ("seq",), None, 1),
        ('{"type": "suppressed", "seq": -5}', ("seq",), None, None),
        ('{"type": "suppressed", "seq": 5, "clock_ms": NaN}', ("clock_ms",), 5, None),
        ('{"type": "suppressed", "seq": 5, "clock_ms": 1e400}', ("clock_ms",), 5, None),
        ('{"type": 9, "seq": null}', ("type",), None, None),
        ('{"seq": 5}', ("type",), 5, None),
        ('{"type": "never_heard_of", "seq": 5}', (), 5, None),
        ('{"type": "suppressed", "reason": "\\ud800"}', ("text_encoding",), None, None),
    ],
)
def test_wrong_types_in_a_trace(
    tmp_path: Path, line: str, malformed: tuple[str, ...], seq: int | None, clock: int | None
) -> None:
    (read,) = read_trace(opened(tmp_path, trace=[line]), LIMITS).rows
    assert (read.malformed, read.seq, read.clock_ms) == (malformed, seq, clock)


def test_fixtures(tmp_path: Path) -> None:
    rows = [
        {"tool": "t", "call_id": "c", "args": {"a": 1}, "ok": True, "result": [1], "read_only": True},
        {"ok": 1},
    ]
    files = opened(tmp_path, fixtures=rows)
    good, bad = read_fixtures(files, LIMITS).rows
    assert (good.tool, good.args, good.result, good.read_only, good.malformed) == (
        "t",
        {"a": 1},
        [1],
        True,
        (),
    )
    assert (bad.tool, bad.malformed) == (None, ("ok", "tool"))
    assert files.artifacts["tool_fixtures.jsonl"].malformed == 1


def test_gzipped_rows_are_named_by_their_file(tmp_path: Path) -> None:
    files = opened(tmp_path, files={"trace.jsonl.gz": gzip.compress(b'{"type": "suppressed"}\nx\n')})
    (read,) = read_trace(files, LIMITS).rows
    assert read.artifact == "trace.jsonl.gz"
    assert files.artifacts["trace.jsonl.gz"].malformed == 1


def test_missing_files_give_no_rows(tmp_path: Path) -> None:
    files = opened(tmp_path)
    assert read_trace(files, LIMITS).rows == []
    assert read_transcript(files, "live", LIMITS).rows == []
    assert read_fixtures(files, LIMITS).rows == []
    assert read_turns(files, LIMITS).sessions == {}
    assert {item.rows for item in files.artifacts.values() if item.status == "missing"} == {None}
