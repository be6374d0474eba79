"""One line for each event (contract 7.2), and text that no terminal obeys (contract 7.4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.debug import projection
from engine.debug.meaning import MEANINGS, meaning
from engine.debug.text import brief, escape, quoted, word
from engine.hydrate.call import ALL_KINDS, Call
from engine.hydrate.pipeline import open_call
from tests.calls import flow, row, slot, write_call
from tests.debug.helpers import at, journey, sample

LINES = [
    ("session_started", {"initial_state": "menu", "kind": "phone"}, "starts in menu, phone"),
    ("session_slots_seeded", {"slots": {"a": {}, "b": {}, "c": {}, "d": {}, "e": {}, "f": {}}},
     "seeds 6 slots: a, b, c, d and 2 more"),
    ("session_ended", {"reason": "hangup"}, "hangup"),
    ("state_entered", {"state_id": "menu", "from_state": "ask", "edge_id": "ask:0"},
     "menu from ask by ask:0"),
    ("state_exited", {"state_id": "menu", "to_state": None, "reason": "hangup"}, "menu → ? (hangup)"),
    ("transition_committed", {"from_state": "a", "to_state": "b", "edge_id": "a:0"}, "a → b by a:0"),
    ("state_slot_snapshot", {"phase": "exit", "slots": {"a": 1}}, "exit 1 slot: a"),
    ("state_slot_snapshot", {"phase": "entry", "fingerprint": "sha256:x"}, "entry fingerprint only"),
    ("state_slot_snapshot", {"phase": "entry", "partial": True, "slots": {}}, "entry partial 0 slots"),
    ("state_context_snapshot", {"phase": "entry", "turn_count": 2, "no_progress_streak": 1,
                                "max_no_progress_loops": 2, "unavailable_fields": ["pending_transition"]},
     "entry, turns 2, no progress 1 of 2, unavailable: pending_transition"),
    ("slot_filled", {"slot": "unit", "source": "tool"}, "unit filled (tool)"),
    ("guard_evaluated", {"guard": "slot_equals:a:b", "result": True, "slots_read": ["a"]},
     "slot_equals:a:b → true, reads a"),
    ("guard_evaluated", {"guard": "stalled", "result": None, "slots_read": [],
                         "context_reads": {"no_progress_streak": 2}},
     "stalled → null, reads context no_progress_streak"),
    ("transition_verdict", {"winner": "menu:1", "candidates": [1, 2, 3, 4, 5]}, "winner menu:1 of 5"),
    ("transition_verdict", {"winner": None, "candidates": [1], "truncated": 3}, "no winner of 1, 3 left out"),
    ("transition_verdict", {"winner": None, "candidates": [1], "truncated": True},
     "no winner of 1, some left out"),
    ("caller_transcript", {"source": "gemini", "text": 'say "hi"'}, r'gemini "say \"hi\""'),
    ("live_transcript", {"speaker": "agent", "text": "hello"}, 'live agent "hello"'),
    ("timed_transcript", {"speaker": "caller", "text": ""}, 'timed caller ""'),
    ("assistant_transcript", {"text": "hello"}, 'agent "hello"'),
    ("caller_audio_started", {}, "caller begins to speak"),
    ("caller_audio_ended", {"energy_dbfs": -21.5}, "caller stops speaking, -21.5 dBFS"),
    ("dtmf_received", {"digit": "2"}, "digit 2"),
    ("barge_in", {"playback_id": "play:1"}, "caller interrupts play:1"),
    ("timer_fired", {"timer": "silence"}, "timer silence"),
    ("input_selected", {"selected_source": "whisper", "decision_reason": "primary",
                        "selected_observation": "bus:2"},
     "whisper (primary) bus:2"),
    ("locked_choice_evaluated", {"choice": None, "token": "hm", "result": "no_match", "source": "gemini"},
     'no choice from "hm" (no_match, gemini)'),
    ("tool_called", {"tool": "list", "args": {"unit": "4B", "n": 2}, "read_only": True},
     'list(unit="4B", n=2) read-only'),
    ("tool_result", {"tool": "list", "ok": True, "result": {"rows": []}}, "list ok {rows: []}"),
    ("tool_result", {"tool": "list", "ok": False, "error": "timeout"}, 'list failed "timeout"'),
    ("model_request_recorded", {"request_kind": "filler", "output_expectation": "allowed",
                                "dispatch_outcome": "accepted"}, "filler, output allowed, accepted"),
    ("output_attempt_started", {"output_attempt_id": "at:2", "parent_attempt_id": "at:1",
                                "restart_reason": "barge_in"}, "at:2 after at:1 (barge_in)"),
    ("output_attempt_terminal", {"output_attempt_id": "at:2", "outcome": "completed",
                                 "attempt_confidence": "derived", "text": "Bye"},
     'completed at:2 (derived) "Bye"'),
    ("model_response_boundary", {"model_response_id": "r1", "boundary": "changed"}, "changed r1"),
    ("audio_started", {"playback_id": "p1", "source_kind": "static_asset", "asset_id": "asset:menu",
                       "evidence_stage": "outbound_accepted"}, "outbound_accepted static_asset asset:menu"),
    ("audio_completed", {"playback_id": "p1", "duration_ms": 20}, "stage unrecorded p1 20 ms"),
    ("audio_span", {"asset_id": None, "text": "Hi", "start_ms": 0, "end_ms": 9, "outcome": "completed"},
     '0–9 ms completed "Hi"'),
    ("audio_pushed", {"playback_id": "p1", "bytes": 640}, "p1 640 bytes"),
    ("turn_complete", {"turn_index": 0}, "turn 0"),
    ("capture_failure", {"what": "ledger", "error": "disk full"}, "ledger: disk full"),
    ("prompt_resolved", {"prompt_version": "p7", "text": "Hi"}, 'p7 "Hi"'),
    ("turn", {"from_state": "a", "to_state": "b"}, "a → b"),
    ("transcript_disagreement", {"live": "stay", "timed": "Status", "wer": 2.0},
     'live "stay", timed "Status", WER 2.0'),
    ("other", {"sky": "clear", "session_id": "s", "n": [1, None]}, 'sky="clear", n=[1, null]'),
    ("never_heard_of", {}, ""),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "payload", "line"), LINES)
def test_lines(kind: str, payload: dict[str, Any], line: str) -> None:
    assert meaning(sample("property-menu"), 0, kind, payload) == line


def test_every_kind_has_a_line_of_its_own() -> None:
    special = {"slot_write", "entry_boundary", "exit_boundary", "other"}
    assert MEANINGS.keys() | special >= set(ALL_KINDS)


KEYS = (
    *("slots", "slot", "old", "new", "kind", "writer", "text", "source", "result", "args", "candidates"),
    *("winner", "slots_read", "context_reads", "truncated", "unavailable_fields", "choice", "token", "error"),
    *("ok", "phase", "state_id", "to_state", "from_state", "edge_id", "reason", "live", "timed", "wer"),
    *("evidence_stage", "asset_id", "start_ms", "end_ms", "duration_ms", "malformed", "present", "partial"),
    *("guard", "no_progress_streak", "turn_index", "energy_dbfs", "bytes", "\x1b[2J"),
)


@pytest.mark.parametrize("kind", [*ALL_KINDS, "never_heard_of"])
@pytest.mark.parametrize("value", [None, True, 7, 1.5, "x\x1b[31m", [], ["\u202e", {}], {"a": {"b": [None]}}])
def test_no_payload_breaks_a_line(kind: str, value: Any) -> None:
    call = sample("property-menu")
    event = (
        call.first_entry if kind == "entry_boundary" else call.first_exit if kind == "exit_boundary" else 4
    )
    line = meaning(call, event, kind, dict.fromkeys(KEYS, value))
    assert line.isprintable() and len(line) <= 480


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Call:
    return journey(tmp_path_factory.mktemp("meaning"))


@pytest.mark.parametrize(
    ("event_id", "line"),
    [
        ("bus:6", 'via: ∅ → "menu" (transition_set, edge:menu:0)'),
        ("bus:8", "stray: ∅ → 1 (direct, nobody)"),
        ("bus:12", 'a: "x" → "y" (resolver, choice)'),
        ("bus:18", 'a: "y" → ∅ (direct, reset)'),
        ("drv:entry_boundary:bus:9", "ask#1 begins"),
        ("drv:exit_boundary:bus:15", "ask#1 ends → menu by ask:0"),
    ],
)
def test_lines_of_a_call(call: Call, event_id: str, line: str) -> None:
    cursor = at(call, event_id)
    found = (
        projection.event_row(call, cursor.visit, cursor.micro)
        if cursor.unattributed is None
        else projection.unattributed_row(call, 0)
    )
    assert found.meaning == line


def test_property_menu_route_write() -> None:
    call = sample("property-menu")
    cursor = at(call, "bus:21")
    line = projection.event_row(call, cursor.visit, cursor.micro).meaning
    assert line == '_route: ∅ → "existing_request" (resolver, locked_choice)'


def write_lines(where: Path, *writes: dict[str, Any]) -> list[str]:
    """The lines of some writes, of the slots `s` (secret) and `n`, in a call that seeds neither."""
    call = open_call(
        write_call(
            where,
            events=[
                row(1, "session_started", 0, initial_state="menu"),
                row(2, "session_slots_seeded", 0, slots={}),
                row(3, "state_entered", 0, state_id="menu"),
                *(row(4 + i, "slot_write", 1, **one) for i, one in enumerate(writes)),
            ],
            flow=flow(slots=[slot("s", "secret"), slot("n")]),
        )
    )
    found = [projection.event_row(call, 0, micro) for micro in range(projection.micro_count(call, 0))]
    return [one.meaning for one in found if one.kind == "slot_write"]


def test_a_hidden_value_is_hidden_in_its_line_and_wherever_it_stands(tmp_path: Path) -> None:
    lines = write_lines(
        tmp_path,
        {"slot": "s", "old": None, "new": "hunter2", "kind": "tool", "writer": "w"},
        {"slot": "n", "old": None, "new": ["hunter2"], "kind": "tool", "writer": "w"},
    )
    assert lines == ["s: ∅ → <redacted> (tool, w)", "n: ∅ → [<redacted>] (tool, w)"]


def test_null_differs_from_unset(tmp_path: Path) -> None:
    first = {"slot": "n", "old": None, "new": None, "kind": "tool", "writer": "w"}
    assert write_lines(tmp_path, first, first) == ["n: ∅ → null (tool, w)", "n: null → null (tool, w)"]


def test_a_malformed_write_says_what_it_lacks(tmp_path: Path) -> None:
    lines = write_lines(tmp_path, {"slot": "n", "old": 1, "kind": "tool", "writer": "w"})
    assert lines == ["n: 1 → ? (tool, w) · malformed: new"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("a\nb\tc\r", r"a\x0ab\x09c\x0d"),
        ("\x9b2J", r"\x9b2J"),
        ("abc\u202edef\u2066", r"abc\u202edef\u2066"),
        ("\u200bzero", r"\u200bzero"),
        ("\U000e0041tag", r"\U000e0041tag"),
        ("é ü 漢 🙂", "é ü 漢 🙂"),
        ("[red]markup[/red]", "[red]markup[/red]"),
        ("x" * 200, "x" * 159 + "…"),
    ],
)
def test_escape(text: str, shown: str) -> None:
    assert escape(text) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        (False, "false"),
        (1, "1"),
        (1.0, "1.0"),
        ("<str:8>", "<str:8>"),
        ("<redacted>", "<redacted>"),
        ("<b>", '"<b>"'),
        ("a\\b", r'"a\\b"'),
        ({"k": [1, "x"], "\x07": None}, r'{k: [1, "x"], \x07: null}'),
        ([[[[[[[[1]]]]]]]], "[[[[[[…]]]]]]"),
    ],
)
def test_brief(value: Any, shown: str) -> None:
    assert brief(value) == shown


def test_an_integer_too_long_to_write_is_measured() -> None:
    assert brief([10**5000]) == "[<integer of 16610 bits>]"


def test_huge_values_are_cut_without_being_written_whole() -> None:
    huge = "x\x1b" * 5_000_000
    assert len(quoted(huge)) < 400
    assert len(brief([huge] * 10)) <= 160
    assert len(brief(dict.fromkeys(map(str, range(100_000))))) <= 160
    assert len(word(huge)) <= 160
