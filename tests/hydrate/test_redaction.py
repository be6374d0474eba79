"""Redaction (contract 2.4): `pii` and `secret` values, and recorded marks, wherever a value can stand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.canonical import canonical
from engine.debug import cursor as moves
from engine.debug import projection
from engine.hydrate.call import Call
from engine.hydrate.document import artifact, artifact_bytes
from engine.hydrate.marks import agree, holds_mark, is_mark, stricter
from engine.hydrate.pipeline import open_call
from tests.calls import flow, manifest, row, slot, state, write_call
from tests.hydrate.ask import (
    at_cursor,
    entered,
    event,
    exited,
    exits,
    opened,
    shown,
    snapshot,
    start,
    started,
    write,
)

HIDDEN = "<redacted>"
SECRET = "4711 Elm Street"


def _flow(**classes: str) -> dict[str, Any]:
    """Slots `pin` and `note`, and a state `menu` that does everything a value can pass through."""
    classes = {"pin": "secret", "note": "internal"} | classes
    menu = state(
        "menu",
        [("always", "bye")],
        locked_choice={"slot": "pin", "options": [{"value": SECRET, "phrases": ["elm"], "dtmf": "1"}]},
        tools=[{"name": "find", "read_only": True, "args": ["q"], "saves": {"found": "pin", "all": "note"}}],
    )
    menu["transitions"][0]["sets"] = [{"slot": "pin", "value": 7}, {"slot": "note", "value": SECRET}]
    return flow([menu, state("bye")], [slot(name, grade) for name, grade in classes.items()])


def _payload(where: Path, *rows: dict[str, Any], event_id: str = "bus:5", **more: Any) -> dict[str, Any]:
    """The payload of an event in a call that recorded `SECRET` as the value of `pin` at seq 4."""
    call = opened(where, start(write(4, "pin", None, SECRET), *rows), flow=_flow(), **more)
    return event(call, event_id).payload


Payload = dict[str, Any]

PLACES: dict[str, tuple[str, Payload, Payload]] = {
    # By the slot that the row or the object speaks of, whatever the value.
    "slot_write": (
        "slot_write",
        {"slot": "pin", "old": SECRET, "new": 12},
        {"slot": "pin", "old": HIDDEN, "new": HIDDEN},
    ),
    "slot_write of null": (
        "slot_write",
        {"slot": "pin", "old": SECRET, "new": None},
        {"old": HIDDEN, "new": None},
    ),
    "slot_write of a mark": (
        "slot_write",
        {"slot": "pin", "old": SECRET, "new": "<str:4>"},
        {"new": "<str:4>"},
    ),
    "slot_write of another slot": (
        "slot_write",
        {"slot": "note", "old": None, "new": "x"},
        {"old": None, "new": "x"},
    ),
    "slot_filled": (
        "slot_filled",
        {"slot": "pin", "value": 12, "source": "whisper"},
        {"slot": "pin", "value": HIDDEN, "source": "whisper"},
    ),
    "seeds": (
        "session_slots_seeded",
        {
            "slots": {
                "pin": {"value": 12, "writer": "test", "classification": "pii"},
                "note": {"value": 12, "writer": SECRET},
            }
        },
        {
            "slots": {
                "pin": {"value": HIDDEN, "writer": "test", "classification": "pii"},
                "note": {"value": 12, "writer": HIDDEN},
            }
        },
    ),
    "snapshot": (
        "state_slot_snapshot",
        {"phase": "entry", "slots": {"pin": [1], "note": 1}},
        {"phase": "entry", "slots": {"pin": HIDDEN, "note": 1}},
    ),
    "context reads": (
        "guard_evaluated",
        {
            "guard": "always",
            "result": True,
            "slots_read": ["pin"],
            "context_reads": {"pin": 3, "turn_count": 1},
        },
        {"guard": "always", "slots_read": ["pin"], "context_reads": {"pin": HIDDEN, "turn_count": 1}},
    ),
    "slots read with their values": (
        "guard_evaluated",
        {"guard": "g", "result": True, "slots_read": [{"slot": "pin", "value": 3}, {"note": 1}]},
        {"slots_read": [{"slot": "pin", "value": HIDDEN}, {"note": 1}]},
    ),
    "a locked choice that fills it": (
        "locked_choice_evaluated",
        {"from_state": "menu", "choice": 3, "token": "elm", "result": "matched"},
        {"from_state": "menu", "choice": HIDDEN, "token": HIDDEN, "result": "matched"},
    ),
    "a locked choice of no named state": (
        "locked_choice_evaluated",
        {"choice": 3, "token": "elm"},
        {"choice": HIDDEN, "token": HIDDEN},
    ),
    "a locked choice of another state": (
        "locked_choice_evaluated",
        {"from_state": "bye", "choice": 3},
        {"choice": 3},
    ),
    # By the slot's name as a key, at any depth.
    "tool arguments": (
        "tool_called",
        {"tool": "find", "call_id": "c", "args": {"pin": 3, "q": {"pin": [4], "unit": 5}}},
        {"args": {"pin": HIDDEN, "q": {"pin": HIDDEN, "unit": 5}}},
    ),
    "a tool result": (
        "tool_result",
        {"tool": "find", "call_id": "c", "ok": True, "result": {"rows": [{"pin": 3, "id": 1}]}},
        {"ok": True, "result": {"rows": [{"pin": HIDDEN, "id": 1}]}},
    ),
    "what a tool saves in it": (
        "tool_result",
        {"tool": "find", "call_id": "c", "ok": True, "result": {"found": {"a": 1}, "all": 2}},
        {"result": {"found": HIDDEN, "all": 2}},
    ),
    "an unlisted event": (
        "billing",
        {"pin": False, "deep": [{"pin": 0}]},
        {"pin": HIDDEN, "deep": [{"pin": HIDDEN}]},
    ),
    # By what it is: a string equal to a recorded value.
    "a transcript": (
        "caller_transcript",
        {"text": SECRET, "source": "whisper"},
        {"text": HIDDEN, "source": "whisper"},
    ),
    "a text that only holds it stays": (
        "caller_transcript",
        {"text": f"at {SECRET}", "source": "whisper"},
        {"text": f"at {SECRET}"},
    ),
    "an argument of another name": (
        "tool_called",
        {"tool": "find", "call_id": "c", "args": {"q": SECRET}},
        {"args": {"q": HIDDEN}},
    ),
    "deep in a list": ("billing", {"deep": [[{"x": SECRET}]]}, {"deep": [[{"x": HIDDEN}]]}),
    "a reason": ("session_ended", {"reason": SECRET}, {"reason": HIDDEN}),
    "an unlisted word under a listed key": ("timer_fired", {"timer": SECRET}, {"timer": HIDDEN}),
    "never a key": ("billing", {SECRET: 1}, {SECRET: 1}),
}
"""Kind, payload, and what the payload shows."""


@pytest.mark.parametrize("name", PLACES)
def test_a_value_is_hidden_where_it_stands_and_nothing_else_is(tmp_path: Path, name: str) -> None:
    kind, given_, expected = PLACES[name]
    if kind == "slot_write":
        given_ = given_ | {"kind": "direct", "writer": "w"}
    found = _payload(tmp_path, row(5, kind, **given_))
    assert {key: found[key] for key in expected} == expected


def test_a_turn_row_is_hidden_like_the_events_it_repeats(tmp_path: Path) -> None:
    turn = {
        "turn_index": 0,
        "session_id": "s",
        "from_state": "menu",
        "to_state": "bye",
        "user_utterance": SECRET,
        "post_turn_snapshot": {"pin": SECRET, "note": 1},
        "missing_required_slots": ["pin"],
        "slot_diff": [
            {"slot": "pin", "old": None, "new": SECRET, "kind": "tool", "writer": "find"},
            {"slot": "note", "old": None, "new": 1, "kind": "direct", "writer": "w"},
        ],
        "tool_calls": [
            {"tool": "find", "call_id": "c", "args": {"pin": 1}, "ok": True, "result": {"found": 3}}
        ],
        "guards_evaluated": [
            {"guard": "always", "result": True, "slots_read": ["pin"], "context_reads": {"pin": 1}}
        ],
        "transition_verdict": {
            "winner": "menu:0",
            "candidates": [{"edge_id": "menu:0", "to": "bye", "when": "always", "result": "matched"}],
        },
    }
    call = open_call(write_call(tmp_path, turns=[turn], flow=_flow()))
    assert event(call, "turn:0").payload == turn | {
        "user_utterance": HIDDEN,
        "post_turn_snapshot": {"pin": HIDDEN, "note": 1},
        "slot_diff": [
            {"slot": "pin", "old": None, "new": HIDDEN, "kind": "tool", "writer": "find"},
            {"slot": "note", "old": None, "new": 1, "kind": "direct", "writer": "w"},
        ],
        "tool_calls": [
            {"tool": "find", "call_id": "c", "args": {"pin": HIDDEN}, "ok": True, "result": {"found": HIDDEN}}
        ],
        "guards_evaluated": [
            {"guard": "always", "result": True, "slots_read": ["pin"], "context_reads": {"pin": HIDDEN}}
        ],
    }
    assert SECRET.encode() not in artifact_bytes(call)


@pytest.mark.parametrize("grade", ["pii", "secret"])
@pytest.mark.parametrize("by", ["flow", "seed"])
def test_cells_of_a_classified_slot(tmp_path: Path, grade: str, by: str) -> None:
    seeds = {"pin": {"value": SECRET, "writer": "w"} | ({"classification": grade} if by == "seed" else {})}
    rows = [
        started(1),
        row(2, "session_slots_seeded", slots=seeds),
        entered(3, "menu"),
        write(4, "pin", SECRET, None),
        write(5, "pin", None, None, present=False),
        exited(6, "menu", "bye"),
    ]
    call = opened(tmp_path, rows, flow=_flow(pin=grade if by == "flow" else "public"))
    for seq in (3, 4):  # a value, and null: which of them it is stays hidden
        cell = at_cursor(call, f"bus:{seq}", "pin", "menu#1")
        assert (cell.availability, cell.value, cell.unset, cell.classification) == (
            "redacted",
            None,
            False,
            grade,
        )
        assert cell.reason
    unset = at_cursor(call, "bus:5", "pin")
    assert (unset.availability, unset.unset, unset.classification) == ("available", True, grade)
    assert exits(call, "pin") == ["unset"]
    assert SECRET.encode() not in artifact_bytes(call)


@pytest.mark.parametrize(
    ("flowed", "seed", "grade"),
    [
        ("public", "internal", "internal"),
        ("internal", "pii", "pii"),
        ("secret", "pii", "secret"),
        ("pii", "public", "pii"),
        (None, "pii", "pii"),
        ("pii", None, "pii"),
        (None, None, None),
    ],
)
def test_the_stricter_classification_holds(
    tmp_path: Path, flowed: str | None, seed: str | None, grade: str | None
) -> None:
    seeds = {"x": {"value": 1, "writer": "w"} | ({} if seed is None else {"classification": seed})}
    rows = [started(1), row(2, "session_slots_seeded", slots=seeds), entered(3, "menu")]
    call = opened(tmp_path, rows, flow=flow(slots=[slot("x", flowed)]))
    cell = at_cursor(call, "bus:3", "x")
    assert cell.classification == grade == stricter(flowed, seed)
    assert (cell.availability == "redacted") == (grade in ("pii", "secret"))


# Names, ids and listed words.


@pytest.mark.parametrize(
    ("value", "kind", "payload", "expected"),
    [
        (
            "menu",
            "transition_committed",
            {"from_state": "menu", "to_state": "menu", "reason": "menu"},
            {"from_state": "menu", "to_state": "menu", "reason": HIDDEN},
        ),
        (
            "menu:0",
            "transition_verdict",
            {
                "winner": "menu:0",
                "candidates": [{"edge_id": "menu:0", "to": "bye", "when": "always", "result": "matched"}],
            },
            {
                "winner": "menu:0",
                "candidates": [{"edge_id": "menu:0", "to": "bye", "when": "always", "result": "matched"}],
            },
        ),
        (
            "bye",
            "transition_verdict",
            {"winner": "bye", "candidates": [{"to": "bye", "when": "bye", "result": "no"}], "note": "bye"},
            {"winner": "bye", "candidates": [{"to": "bye", "when": "bye", "result": "no"}], "note": HIDDEN},
        ),
        ("note", "slot_filled", {"slot": "note", "source": "note"}, {"slot": "note", "source": HIDDEN}),
        (
            "always",
            "guard_evaluated",
            {"guard": "always", "result": True, "slots_read": ["always"]},
            {"guard": "always", "slots_read": ["always"]},
        ),
        (
            "whisper",
            "caller_transcript",
            {"source": "whisper", "text": "whisper"},
            {"source": "whisper", "text": HIDDEN},
        ),
        (
            "completed",
            "output_attempt_terminal",
            {"output_attempt_id": "completed", "outcome": "completed", "reason": "completed"},
            {"output_attempt_id": "completed", "outcome": "completed", "reason": HIDDEN},
        ),
        (
            "id:1",
            "input_selected",
            {"input_id": "id:1", "selected_source": "dtmf", "decision_reason": "id:1"},
            {"input_id": "id:1", "selected_source": "dtmf", "decision_reason": HIDDEN},
        ),
        (
            "bus:3",
            "input_selected",
            {"input_id": "i", "selected_source": "bus:3", "decision_reason": "r", "observations": ["bus:3"]},
            {"selected_source": HIDDEN, "observations": ["bus:3"]},
        ),
        ("menu", "billing", {"to": "menu", "from_state": "menu"}, {"to": HIDDEN, "from_state": HIDDEN}),
    ],
)
def test_a_value_like_a_name_is_hidden_as_a_value_and_stays_as_a_name(
    tmp_path: Path, value: str, kind: str, payload: Payload, expected: Payload
) -> None:
    rows = start(write(4, "pin", None, value), row(5, kind, state_id="menu", **payload))
    call = opened(tmp_path, rows, flow=_flow())
    found = event(call, "bus:5").payload
    assert {key: found[key] for key in expected} == expected
    assert found["state_id"] == "menu"
    assert [visit["state_id"] for visit in artifact(call)["visits"]] == ["menu"]


def test_the_value_of_a_row_that_does_not_stand_is_hidden_too(tmp_path: Path) -> None:
    said = row(5, "caller_transcript", text=SECRET, source="whisper")
    rows = (start(write(4, "pin", None, value), said) for value in (SECRET, "another"))
    call = opened(tmp_path, next(rows), durable=next(rows), flow=_flow())
    assert [one.code for one in call.findings] == ["SOURCE_ROW_CONFLICT"]
    assert event(call, "bus:5").payload["text"] == HIDDEN
    assert SECRET.encode() not in artifact_bytes(call)


# Marks.


@pytest.mark.parametrize(
    ("mark", "fits", "differs"),
    [
        ("<str:3>", ["abc", "é漢😀"], ["ab", 3, None, ["a", "b", "c"], {"a": 1, "b": 2, "c": 3}]),
        ("<list:2>", [[1, 2]], [[1], "ab", {"a": 1, "b": 2}]),
        ("<dict:1>", [{"a": 1}], [{}, ["a"], "a"]),
        ("<int>", [1, -7, 0], [1.0, True, "1", None]),
        ("<float>", [1.0], [1, "1.0", None]),
        ("<bool>", [True, False], [0, 1, None]),
        ("<redacted>", ["", 0, None, [], {"a": "b"}, "<str:9>"], []),
        ("<str:3>", ["<str:3>", "<redacted>"], ["<str:4>", "<int>"]),
    ],
)
def test_a_mark_agrees_with_any_value_of_its_type_and_length(
    mark: str, fits: list[Any], differs: list[Any]
) -> None:
    assert is_mark(mark)
    assert all(agree(mark, value) and agree(value, mark) for value in fits)
    assert not any(agree(mark, value) or agree(value, mark) for value in differs)
    assert agree({"a": [mark]}, {"a": [fits[0]]})
    assert holds_mark([{"a": mark}])


@pytest.mark.parametrize(
    "text", ["<str>", "<str:>", "<str:-1>", "<str:٣>", "<int:3>", "<redacted> ", " <int>", "<none>", ""]
)
def test_what_is_no_mark(text: str) -> None:
    assert not is_mark(text)


@pytest.mark.parametrize("reveal", [False, True])
@pytest.mark.parametrize(
    "value", ["<str:8>", "<redacted>", {"name": "<str:5>", "city": "Bonn"}, [1, ["<int>"]]]
)
def test_a_value_that_holds_a_mark_is_redacted_whatever_its_slot(
    tmp_path: Path, value: Any, reveal: bool
) -> None:
    rows = start(
        write(4, "note", None, value),
        snapshot(5, "entry", {"note": value, "x": 1}),
        row(6, "tool_called", tool="t", call_id="c", args={"q": value, "n": 1}),
        row(7, "tool_result", tool="t", call_id="c", ok=True, result={"all": value}),
        row(8, "guard_evaluated", guard="always", result=True, slots_read=[], context_reads={"f": value}),
        row(9, "billing", any=value),
        exited(10, "menu", "bye"),
    )
    call = opened(tmp_path, rows, flow=flow(slots=[slot("note")]), reveal=reveal)
    assert exits(call, "note") == [("redacted", "recorded_redacted")]
    expected = value if reveal or isinstance(value, str) else HIDDEN
    assert event(call, "bus:4").payload["new"] == expected
    assert event(call, "bus:5").payload["slots"] == {"note": expected, "x": 1}
    assert event(call, "bus:6").payload["args"] == {"q": expected, "n": 1}
    assert event(call, "bus:7").payload["result"] == {"all": expected}
    assert event(call, "bus:8").payload["context_reads"] == {"f": expected}
    assert event(call, "bus:9").payload["any"] == value  # no value of a slot or a tool


# Reveal.


def _rich(where: Path, reveal: bool) -> Call:
    rows = start(
        write(4, "pin", None, SECRET),
        row(5, "caller_transcript", text=SECRET, source="whisper"),
        write(6, "pin", "other", "new one"),
        slots={"pin": None},
    )
    return opened(where, rows, flow=_flow(), reveal=reveal, name=f"reveal-{reveal}")


def test_a_revealed_artifact_shows_values_and_says_so(tmp_path: Path) -> None:
    hidden, plain = (artifact(_rich(tmp_path, reveal)) for reveal in (False, True))
    assert "revealed" not in hidden
    assert plain["revealed"] is True
    assert SECRET not in json.dumps(hidden)
    assert SECRET in json.dumps(plain)
    one, other = ([f["finding_id"] for f in found["findings"]] for found in (hidden, plain))
    assert one == other


def test_reveal_is_another_artifact_by_its_hash(tmp_path: Path) -> None:
    folder = write_call(tmp_path, events=start(), flow=_flow(), manifest=manifest())
    assert open_call(folder).artifact_hash != open_call(folder, reveal=True).artifact_hash


# Findings and edges.


def test_findings_hide_the_values_they_compare(tmp_path: Path) -> None:
    rows = start(
        write(4, "pin", None, SECRET),
        write(5, "pin", 12345, 6),
        row(6, "capture_failure", what=SECRET),
        row(7, "turn_complete", turn_index=0),
        row(8, "turn_complete", turn_index=1),
    )
    turns = [
        {"turn_index": index, "session_id": "v3:test-0001", "post_turn_snapshot": {"pin": value}}
        for index, value in enumerate((12345, 67890))
    ]
    call = opened(tmp_path, rows, flow=_flow(), turns=turns)
    data = {one.code: one.data for one in call.findings}
    assert (data["FOLD_MISMATCH"]["folded"], data["FOLD_MISMATCH"]["claimed"]) == (HIDDEN, HIDDEN)
    assert (data["UNATTRIBUTED_DIFF"]["before"], data["UNATTRIBUTED_DIFF"]["after"]) == (HIDDEN, HIDDEN)
    assert all(value.encode() not in artifact_bytes(call) for value in (SECRET, "12345", "67890"))


def test_a_repeated_choice_that_fills_a_hidden_slot_is_not_named(tmp_path: Path) -> None:
    rows = start(
        row(4, "locked_choice_evaluated", from_state="menu", turn_index=0, choice=314159, result="matched"),
        exited(5, "menu", "menu"),
        entered(6, "menu"),
        row(7, "locked_choice_evaluated", from_state="menu", turn_index=1, choice=314159, result="matched"),
    )
    call = opened(tmp_path, rows, flow=_flow())
    (one,) = [one for one in call.findings if one.code == "CHOICE_REPEATED"]
    assert (one.data["choice"], one.data["slot"]) == (HIDDEN, "pin")
    assert b"314159" not in artifact_bytes(call)


def test_edges_hide_what_they_set(tmp_path: Path) -> None:
    call = opened(tmp_path, start(write(4, "pin", None, SECRET)), flow=_flow())
    (edge,) = artifact(call)["visits"][0]["legal_exits"]
    assert edge["sets"] == [{"slot": "pin", "value": HIDDEN}, {"slot": "note", "value": HIDDEN}]


# A secret anywhere.

_SPOT = "(spot)"
_SPOTTED: dict[str, Any] = {"text": _SPOT, "extra": {"deep": [_SPOT, {"x": _SPOT}]}}
"""Keys that any event row can carry."""


def _template() -> dict[str, Any]:
    """A call with a spot at every place that is no id, no key, no name and no listed word."""
    said: dict[str, Any] = {"input_id": "input:1", "start_ms": 100, "end_ms": 900}
    audio = {"playback_id": "p1", "output_attempt_id": "a1", "evidence_stage": "outbound_accepted"}
    bodies: list[tuple[str, dict[str, Any]]] = [
        ("session_started", {"initial_state": "menu", "transport": _SPOT}),
        (
            "session_slots_seeded",
            {"slots": {"pin": {"value": "SECRET", "writer": _SPOT}, "note": {"value": _SPOT, "writer": "w"}}},
        ),
        ("state_entered", {"state_id": "menu", "visit_id": "menu#1"}),
        ("state_slot_snapshot", {"phase": "entry", "partial": True, "slots": {"note": _SPOT}}),
        ("state_context_snapshot", {"phase": "entry", "turn_count": 0, "pending": _SPOT}),
        ("slot_write", {"slot": "note", "old": _SPOT, "new": [_SPOT], "kind": "direct", "writer": _SPOT}),
        ("slot_write", {"slot": "pin", "old": _SPOT, "new": "SECRET", "kind": _SPOT, "writer": "w"}),
        ("slot_filled", {"slot": "pin", "source": _SPOT}),
        ("caller_audio_started", {"input_id": "input:1"}),
        ("caller_transcript", {"source": "gemini", **said, "text": _SPOT}),
        ("caller_transcript", {"source": "whisper", **said, "text": _SPOT}),
        ("caller_transcript", {"source": _SPOT, **said, "text": _SPOT}),
        ("dtmf_received", {"digit": _SPOT, "input_id": "input:2"}),
        ("barge_in", {"playback_id": "p1"}),
        ("timer_fired", {"timer": _SPOT}),
        ("input_selected", {"input_id": "input:1", "selected_source": _SPOT, "decision_reason": _SPOT}),
        (
            "locked_choice_evaluated",
            {"from_state": "menu", "turn_index": 0, "choice": _SPOT, "token": _SPOT, "result": _SPOT},
        ),
        (
            "guard_evaluated",
            {"guard": "always", "result": True, "slots_read": ["pin"], "context_reads": {"f": _SPOT}},
        ),
        ("tool_called", {"tool": _SPOT, "call_id": "c1", "args": {"q": _SPOT, "pin": _SPOT}}),
        (
            "tool_result",
            {
                "tool": "find",
                "call_id": "c1",
                "ok": False,
                "result": {"found": _SPOT, "n": [_SPOT]},
                "error": _SPOT,
            },
        ),
        (
            "model_request_recorded",
            {
                "model_request_id": "r1",
                "request_kind": _SPOT,
                "output_expectation": _SPOT,
                "dispatch_outcome": _SPOT,
            },
        ),
        (
            "output_attempt_started",
            {
                "output_attempt_id": "a1",
                "logical_output_id": "l1",
                "restart_reason": _SPOT,
                "source_kind": _SPOT,
            },
        ),
        ("audio_started", {**audio, "ack_source": _SPOT, "text": _SPOT}),
        ("audio_failed", {**audio, "reason": _SPOT}),
        (
            "output_attempt_terminal",
            {"output_attempt_id": "a1", "outcome": _SPOT, "reason": _SPOT, "text": _SPOT},
        ),
        ("assistant_transcript", {"text": _SPOT, "output_attempt_id": "a1"}),
        ("turn_scratch_reset", {"reason": _SPOT}),
        ("capture_failure", {"what": _SPOT, "error": _SPOT}),
        (_SPOT, {"anything": _SPOT}),
        (
            "transition_verdict",
            {
                "winner": "menu:0",
                "note": _SPOT,
                "candidates": [
                    {"edge_id": "menu:0", "to": "bye", "when": "always", "result": "matched", "why": _SPOT}
                ],
            },
        ),
        (
            "state_exited",
            {
                "state_id": "menu",
                "visit_id": "menu#1",
                "to_state": "bye",
                "edge_id": "menu:0",
                "reason": _SPOT,
            },
        ),
        ("state_entered", {"state_id": "bye", "visit_id": "bye#1"}),
        ("transition_committed", {"from_state": "menu", "to_state": "bye", "reason": _SPOT, "turn_index": 0}),
        ("session_ended", {"reason": _SPOT}),
    ]
    rows = [row(seq, kind, 40 * seq, **(_SPOTTED | body)) for seq, (kind, body) in enumerate(bodies, 1)]
    loose = [
        {key: value for key, value in row(0, kind, 130, **_SPOTTED).items() if key != "seq"}
        for kind in ("barge_in", _SPOT)
    ]
    declared = _flow()
    declared["states"][0] |= {"goal": _SPOT, "prompt": {"text": _SPOT, "asset_id": None}}
    declared["states"][0]["transitions"][0] |= {"reason": _SPOT, "sets": [{"slot": "note", "value": _SPOT}]}
    del declared["flow_version"]
    spoken = [
        {"speaker": who, "text": _SPOT, "start_ms": 100, "end_ms": 900, "model": _SPOT}
        for who in ("caller", "agent", _SPOT)
    ]
    words = [{"w": _SPOT, "start_ms": 100, "end_ms": 200, "p": 1.0}]
    kinds = (
        "prompt_resolved",
        "asset_selected",
        "generation_chunk",
        "suppressed",
        "audio_pushed",
        "playback_receipt",
        "tool_called",
        _SPOT,
    )
    return {
        "events": [*rows, *loose],
        "flow": declared,
        "live": spoken,
        "timed": [item | {"words": words} for item in spoken],
        "trace": [
            {
                "row": at,
                "node": "menu",
                "seq": 20,
                "type": kind,
                "text": _SPOT,
                "reason": _SPOT,
                "stage": _SPOT,
                "tool": _SPOT,
                "prompt_version": _SPOT,
            }
            for at, kind in enumerate(kinds)
        ],
        "turns": [
            {
                "turn_index": 0,
                "session_id": "v3:test-0001",
                "user_utterance": _SPOT,
                "post_turn_snapshot": {"note": _SPOT},
            }
        ],
    }


def _fill(value: Any, secret: str, chosen: frozenset[int], at: list[int]) -> Any:
    """A template with the secret at the chosen spots, and a plain word of its own at any other."""
    if value == "SECRET":
        return secret
    if value == _SPOT:
        at[0] += 1
        return secret if at[0] in chosen else f"plain {at[0]}"
    if isinstance(value, dict):
        return {key: _fill(item, secret, chosen, at) for key, item in value.items()}
    return [_fill(item, secret, chosen, at) for item in value] if isinstance(value, list) else value


def _count() -> int:
    at = [0]
    _fill(_template(), "", frozenset(), at)
    return at[0]


SPOTS = _count()


def _skeleton(document: dict[str, Any]) -> list[Any]:
    """Ids, names and keys of an artifact without its values, and without what compares two texts."""
    return [document["slot_order"], *map(_skeleton_of, document["visits"])]


def _skeleton_of(visit: dict[str, Any]) -> list[Any]:
    return [
        [visit[key] for key in ("visit_id", "state_id", "final_verdict", "boundary_band")],
        sorted(visit["entry_snapshot"]["cells"]),
        [[one[key] for key in ("edge_id", "from", "to", "when", "verdict")] for one in visit["legal_exits"]],
        [
            (one["event_id"], one["kind"], sorted(one["payload"]))
            for one in visit["micro_events"]
            if not one["kind"].startswith("transcript_")
        ],
    ]


# No part of one occurs in a call by itself.
_secrets = st.text("XYZÄÖ漢5-.'", min_size=4, max_size=12).map(lambda text: f"Q{text}q")
_chosen = st.frozensets(st.integers(1, SPOTS)) | st.just(frozenset(range(1, SPOTS + 1)))


@given(secret=_secrets, chosen=_chosen)
@settings(max_examples=100)
def test_a_secret_stands_nowhere_in_the_artifact(
    tmp_path_factory: pytest.TempPathFactory, secret: str, chosen: frozenset[int]
) -> None:
    found = []
    for spots in (frozenset[int](), chosen):
        files = _fill(_template(), secret, spots, [0])
        call = open_call(write_call(tmp_path_factory.mktemp("call"), manifest=manifest(), **files))
        told = [*call.summary.story, *call.summary.breadcrumb]
        assert not any(secret in line for line in told)
        data = artifact_bytes(call)
        assert secret.encode() not in data
        found.append(_skeleton(json.loads(data)))
    assert found[0] == found[1]


def test_every_spot_shows_in_a_revealed_artifact_or_is_a_source_of_hidden_values(tmp_path: Path) -> None:
    """The template is no empty promise: what is hidden above would be seen."""
    files = _fill(_template(), "the secret", frozenset(), [0])
    call = open_call(write_call(tmp_path, manifest=manifest(), **files), reveal=True)
    data = artifact_bytes(call).decode()
    unseen = [
        number
        for number in range(1, SPOTS + 1)
        if f'plain {number}"' not in data and f"plain {number}'" not in data
    ]
    assert len(unseen) <= 3, unseen  # the two of turns.jsonl, and the transport
    assert shown(at_cursor(call, "bus:7", "pin")) == "the secret"


def test_no_answer_at_any_cursor_names_it(tmp_path: Path) -> None:
    files = _fill(_template(), "the secret", frozenset(range(1, SPOTS + 1)), [0])
    call = open_call(write_call(tmp_path, manifest=manifest(), **files))
    for number in call.order.micro.tolist():
        cursor = moves.cursor_of(call, number)
        answers = [
            projection.event_row(call, cursor.visit, cursor.micro),
            projection.event_payload(call, cursor.visit, cursor.micro),
            projection.variables(call, cursor),
            projection.context(call, cursor),
            projection.edges(call, cursor),
            projection.findings_here(call, cursor),
            projection.status(call, cursor),
        ]
        assert b"the secret" not in canonical(msgspec.to_builtins(answers))


def test_the_word_diff_hides_a_run_that_is_a_hidden_value(tmp_path: Path) -> None:
    rows = start(
        write(4, "name", None, "bob"),
        row(5, "caller_transcript", text="it is bob", source="gemini", input_id="i"),
        row(6, "caller_transcript", text="it is rob", source="whisper", input_id="i"),
    )
    call = opened(tmp_path, rows, flow=flow(slots=[slot("name", "pii")]))
    (item,) = artifact(call)["conversation"]
    assert item["agreement"] == "disagree"
    assert item["diff"] == [
        {"op": "equal", "live": "it is", "timed": "it is"},
        {"op": "replace", "live": HIDDEN, "timed": "rob"},
    ]
