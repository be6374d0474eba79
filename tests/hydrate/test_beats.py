"""The six beats of a visit (contract 2.9)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.hydrate.beats import beats
from engine.hydrate.pipeline import open_call
from engine.model.artifact import Beat
from tests.calls import flow, manifest, row, slot, state, wav, write_call

SAMPLES = Path(__file__).parents[2] / "sample_artifacts"
IN_MENU = {"visit_id": "menu#1", "state_id": "menu"}
START = [
    row(1, "session_started", 0, initial_state="menu", kind="phone"),
    row(2, "state_entered", 0, **IN_MENU),
]
OUTBOUND, CLIENT, MODEL = "outbound_accepted", "client_playback", "model_received"
PROVEN, DISPROVEN, UNAVAILABLE = "proven", "disproven", "unavailable"


def beat(where: Path, name: str, events: list[dict[str, Any]], **files: Any) -> Beat:
    files.setdefault("flow", flow())
    return beats(open_call(write_call(where, events=[*START, *events], **files)), 0)[name]


def ev(seq: int, type: str, /, **payload: Any) -> dict[str, Any]:
    return row(seq, type, seq * 100, **IN_MENU, **payload)


def audio(seq: int, kind: str, stage: str | None, **more: Any) -> dict[str, Any]:
    staged = {} if stage is None else {"evidence_stage": stage}
    return ev(seq, f"audio_{kind}", playback_id="play:1", **staged, **more)


def attempt(seq: int, kind: str, **more: Any) -> dict[str, Any]:
    return ev(seq, f"output_attempt_{kind}", output_attempt_id="at:1", logical_output_id="out:1", **more)


def trace(kind: str, **more: Any) -> list[dict[str, Any]]:
    return [{"row": 0, "node": "menu", "seq": 2, "type": kind} | more]


QUIET = flow([state("menu", prompt={"text": None, "asset_id": None})])


@pytest.mark.parametrize(
    ("files", "status", "explanation", "refs"),
    [
        ({}, PROVEN, "flow.json: menu with 1 exit, says 'This is menu.'", ["bus:2"]),
        ({"flow": None}, UNAVAILABLE, "not_recorded: the call holds no flow.json", []),
        (
            {"flow": flow() | {"flow_version": "sha256:other"}},
            UNAVAILABLE,
            "flow version mismatch: flow.json",
            [],
        ),
        ({"flow": flow([state("other")])}, UNAVAILABLE, "not_recorded: flow.json declares no state menu", []),
    ],
)
def test_intended(
    tmp_path: Path, files: dict[str, Any], status: str, explanation: str, refs: list[str]
) -> None:
    found = beat(tmp_path, "intended", [], **files)
    assert (found.status, found.refs) == (status, refs)
    assert found.explanation.startswith(explanation)


FAILED = [attempt(3, "started"), attempt(4, "terminal", outcome="failed")]


@pytest.mark.parametrize(
    ("events", "traced", "status", "explanation", "refs"),
    [
        ([attempt(3, "first_text")], [], PROVEN, "first text or audio of 1 attempt", ["bus:3"]),
        ([attempt(3, "first_audio")], [], PROVEN, "first text or audio of 1 attempt", ["bus:3"]),
        ([audio(3, "started", MODEL)], [], PROVEN, "model_received: 1 audio start", ["bus:3"]),
        ([], trace("generation_chunk", text="a"), PROVEN, "1 generation chunk", ["trace:0"]),
        ([], trace("prompt_resolved", text="a"), PROVEN, "1 prompt resolved", ["trace:0"]),
        ([], trace("asset_selected", asset_id="a"), PROVEN, "1 asset selected", ["trace:0"]),
        (FAILED, [], DISPROVEN, "1 attempt failed before any text or audio", ["bus:4"]),
        (
            [attempt(3, "terminal", outcome="abandoned")],
            [],
            DISPROVEN,
            "1 attempt abandoned before",
            ["bus:3"],
        ),
        ([], trace("suppressed", reason="muted"), DISPROVEN, "suppressed: muted", ["trace:0"]),
        ([*FAILED, attempt(5, "first_text")], [], PROVEN, "first text or audio of 1 attempt", ["bus:5"]),
        ([attempt(3, "started")], [], UNAVAILABLE, "not_recorded: no text, audio, prompt or asset", []),
        ([audio(3, "started", OUTBOUND)], [], UNAVAILABLE, "not_recorded: playback rows alone", []),
        ([], [], UNAVAILABLE, "not_recorded", []),
    ],
)
def test_generated(
    tmp_path: Path,
    events: list[dict[str, Any]],
    traced: list[dict[str, Any]],
    status: str,
    explanation: str,
    refs: list[str],
) -> None:
    found = beat(tmp_path, "generated", events, trace=traced)
    assert (found.status, found.refs) == (status, refs)
    assert found.explanation.startswith(explanation)


@pytest.mark.parametrize(
    ("events", "traced", "status", "explanation"),
    [
        ([audio(3, "started", OUTBOUND)], [], PROVEN, "outbound_accepted: 1 started"),
        ([audio(3, "completed", CLIENT)], [], PROVEN, "client_playback: 1 completed"),
        ([], trace("audio_pushed", playback_id="play:1"), PROVEN, "1 audio push"),
        ([], trace("playback_receipt", stage=CLIENT), PROVEN, "1 playback receipt at client_playback"),
        ([], trace("playback_receipt", stage=MODEL), UNAVAILABLE, "not_recorded: no delivery row"),
        (
            [audio(3, "failed", OUTBOUND, reason="codec")],
            [],
            DISPROVEN,
            "outbound_accepted: failed and none started: codec",
        ),
        (
            [audio(3, "started", OUTBOUND), audio(4, "failed", OUTBOUND)],
            [],
            PROVEN,
            "outbound_accepted: 1 started",
        ),
        (
            [audio(3, "failed", MODEL)],
            [],
            UNAVAILABLE,
            "not_recorded: no start at outbound_accepted or client_playback",
        ),
        ([audio(3, "completed", MODEL)], [], UNAVAILABLE, "not_recorded: no start at outbound_accepted"),
        (
            [audio(3, "started", None)],
            [],
            UNAVAILABLE,
            "not_recorded: no start at outbound_accepted or client_playback; rows only at unrecorded",
        ),
        ([audio(3, "requested", OUTBOUND)], [], UNAVAILABLE, "not_recorded: no start"),
    ],
)
def test_sent(
    tmp_path: Path, events: list[dict[str, Any]], traced: list[dict[str, Any]], status: str, explanation: str
) -> None:
    found = beat(tmp_path, "sent", events, trace=traced)
    assert found.status == status
    assert found.explanation.startswith(explanation)
    assert bool(found.refs) == (status != UNAVAILABLE)


def track(perspective: str) -> dict[str, Any]:
    one = {
        "track": "agent",
        "path": "agent.wav",
        "channel": 0,
        "perspective": perspective,
        "clock_offset_ms": 0,
    }
    listed = {"schema": "riff.call_audio/v1", "tracks": [one]}
    return {"audio_manifest": listed, "files": {"audio/agent.wav": wav()}}


@pytest.mark.parametrize(
    ("events", "files", "status", "explanation"),
    [
        (
            [audio(3, "started", CLIENT), audio(4, "completed", CLIENT)],
            {},
            PROVEN,
            "client_playback: completed at the client",
        ),
        (
            [],
            {"trace": trace("playback_receipt", stage=CLIENT)},
            PROVEN,
            "client_playback: started at the client",
        ),
        (
            [audio(3, "completed", OUTBOUND)],
            {},
            UNAVAILABLE,
            "not_recorded: carrier_recorded: no agent track",
        ),
        (
            [audio(3, "completed", OUTBOUND)],
            track("carrier_recorded"),
            UNAVAILABLE,
            "carrier_recorded: the energy",
        ),
        (
            [audio(3, "completed", OUTBOUND)],
            track(CLIENT),
            UNAVAILABLE,
            "not_recorded: the agent track is of client_playback",
        ),
        ([], track("carrier_recorded"), UNAVAILABLE, "not_recorded: no output of this visit"),
        ([], {"flow": QUIET}, UNAVAILABLE, "not_applicable: the flow gives menu nothing to say"),
    ],
)
def test_heard(
    tmp_path: Path, events: list[dict[str, Any]], files: dict[str, Any], status: str, explanation: str
) -> None:
    found = beat(tmp_path, "heard", events, **files)
    assert found.status == status
    assert found.explanation.startswith(explanation)
    assert "heard on the call" not in found.explanation


SAID = ev(3, "caller_transcript", text="yes", source="gemini")
LIVE = [{"row": 0, "speaker": "caller", "text": "yes", "start_ms": 300, "end_ms": 400}]
ANNOUNCE = flow([state("menu", kind="announce")])


@pytest.mark.parametrize(
    ("events", "files", "status", "explanation"),
    [
        ([SAID], {}, PROVEN, "gemini 'yes'"),
        ([], {"timed": LIVE}, PROVEN, "whisper 'yes'"),
        ([ev(3, "dtmf_received", digit="1"), ev(4, "dtmf_received", digit="2")], {}, PROVEN, "dtmf '12'"),
        ([], {"live": [LIVE[0] | {"speaker": "agent"}]}, UNAVAILABLE, "not_recorded: no observation"),
        ([ev(3, "caller_audio_started")], {}, UNAVAILABLE, "not_recorded: the caller was audible"),
        ([SAID], {"flow": ANNOUNCE}, UNAVAILABLE, "not_applicable: announce state without barge-in"),
        ([], {"flow": ANNOUNCE}, UNAVAILABLE, "not_applicable: announce state without barge-in"),
        ([SAID, ev(4, "barge_in")], {"flow": ANNOUNCE}, PROVEN, "gemini 'yes'"),
        ([ev(3, "caller_audio_ended"), SAID | {"seq": 4}], {"flow": ANNOUNCE}, PROVEN, "gemini 'yes'"),
        ([SAID], {"flow": ANNOUNCE, "manifest": manifest(kind="web")}, PROVEN, "gemini 'yes'"),
    ],
)
def test_caller_said(
    tmp_path: Path, events: list[dict[str, Any]], files: dict[str, Any], status: str, explanation: str
) -> None:
    found = beat(tmp_path, "caller_said", events, **files)
    assert found.status == status
    assert found.explanation.startswith(explanation)


def verdict(winner: str | None) -> dict[str, Any]:
    result = "no" if winner is None else "matched"
    candidates = [{"edge_id": "menu:0", "to": "bye", "when": "always", "result": result}]
    return ev(3, "transition_verdict", winner=winner, candidates=candidates)


@pytest.mark.parametrize(
    ("event", "status", "explanation"),
    [
        (
            ev(
                3,
                "input_selected",
                input_id="in:1",
                selected_source="gemini",
                decision_reason="gemini_backup",
            ),
            PROVEN,
            "acted on gemini (gemini_backup)",
        ),
        (ev(3, "locked_choice_evaluated", choice="rent", result="matched"), PROVEN, "choice rent, matched"),
        (ev(3, "tool_result", tool="t", call_id="c", ok=False), PROVEN, "tool t failed"),
        (ev(3, "tool_result", tool="t", call_id="c"), PROVEN, "tool t outcome unknown"),
        (verdict("menu:0"), PROVEN, "menu:0 won"),
        (row(3, "transition_committed", 300, from_state="menu", to_state="bye"), PROVEN, "committed to bye"),
        (verdict(None), UNAVAILABLE, "not_recorded: no selection, choice"),
        (
            ev(3, "slot_write", slot="a", old=None, new=1, kind="tool", writer="w"),
            UNAVAILABLE,
            "not_recorded",
        ),
    ],
)
def test_decided(tmp_path: Path, event: dict[str, Any], status: str, explanation: str) -> None:
    found = beat(tmp_path, "decided", [event])
    assert (found.status, found.refs) == (status, ["bus:3"] if status == PROVEN else [])
    assert found.explanation.startswith(explanation)


def test_output_belongs_to_the_visit_that_caused_it(tmp_path: Path) -> None:
    late = {"playback_id": "play:1", "evidence_stage": OUTBOUND, "causal_visit_id": "menu#1"}
    events = [
        ev(3, "state_exited", to_state="bye", edge_id="menu:0"),
        row(4, "state_entered", 400, state_id="bye", visit_id="bye#1"),
        row(5, "audio_started", 500, visit_id="menu#1", **late),
        row(6, "audio_completed", 600, visit_id="bye#1", state_id="bye", **late),
    ]
    call = open_call(write_call(tmp_path, events=[*START, *events], flow=flow()))
    assert beats(call, 0)["sent"].refs == ["bus:5"]
    assert beats(call, 1)["sent"].status == UNAVAILABLE


@pytest.mark.parametrize(
    ("name", "events"),
    [
        ("sent", [audio(4, "failed", OUTBOUND)]),
        ("generated", [attempt(4, "terminal", outcome="failed")]),
    ],
)
def test_what_is_not_there_disproves_nothing_where_events_are_missing(
    tmp_path: Path, name: str, events: list[dict[str, Any]]
) -> None:
    found = beat(tmp_path, name, events)
    assert (found.status, found.refs) == (UNAVAILABLE, [])
    assert found.explanation.startswith("not_recorded: events of this visit are missing")
    closed = [row(3, "note"), *events, ev(5, "state_exited"), row(9, "state_entered", state_id="bye")]
    whole = open_call(write_call(tmp_path, events=[*START, *closed], flow=flow(), name="whole"))
    assert beats(whole, 0)[name].status == DISPROVEN


def test_suppressed_output_is_disproven_where_events_are_missing(tmp_path: Path) -> None:
    found = beat(tmp_path, "generated", [ev(5, "note")], trace=trace("suppressed", reason="muted"))
    assert (found.status, found.refs) == (DISPROVEN, ["trace:0"])


def test_late_output_that_names_only_its_cause_is_of_that_visit(tmp_path: Path) -> None:
    late = {"playback_id": "play:2", "evidence_stage": CLIENT, "causal_visit_id": "menu#1"}
    events = [
        audio(3, "failed", OUTBOUND),
        ev(4, "state_exited", to_state="bye", edge_id="menu:0"),
        row(5, "state_entered", 500, state_id="bye", visit_id="bye#1"),
        row(6, "audio_started", 600, **late),
        row(7, "output_attempt_first_audio", 700, output_attempt_id="at:1", causal_visit_id="menu#1"),
    ]
    call = open_call(write_call(tmp_path, events=[*START, *events], flow=flow()))
    cause, observed = beats(call, 0), beats(call, 1)
    assert {name: (cause[name].status, cause[name].refs) for name in ("generated", "sent", "heard")} == {
        "generated": (PROVEN, ["bus:7"]), "sent": (PROVEN, ["bus:6"]), "heard": (PROVEN, ["bus:6"]),
    }  # fmt: skip
    assert {observed[name].status for name in ("generated", "sent", "heard")} == {UNAVAILABLE}


def test_explanations_are_short_and_hide_what_must_be_hidden(tmp_path: Path) -> None:
    long = "so " * 100
    events = [
        ev(3, "slot_write", slot="pin", old=None, new="4711", kind="resolver", writer="w"),
        ev(4, "caller_transcript", text="4711", source="gemini"),
        ev(5, "caller_transcript", text=long, source="whisper"),
    ]
    found = beat(tmp_path, "caller_said", events, flow=flow(slots=[slot("pin", "secret")]))
    assert found.explanation.startswith("gemini '<redacted>'; whisper 'so so")
    assert len(found.explanation) == 160


def test_values_of_any_type_are_borne(tmp_path: Path) -> None:
    events = [
        ev(3, "audio_started", playback_id=["x"], evidence_stage={"a": 1}, causal_visit_id=[1]),
        ev(4, "output_attempt_terminal", output_attempt_id={"a": 1}, outcome=["failed"]),
        ev(5, "output_attempt_terminal", output_attempt_id=["a"], outcome="failed"),
        ev(6, "tool_result", tool=3, call_id=None, ok="yes"),
        ev(7, "dtmf_received", digit=7),
    ]
    call = open_call(write_call(tmp_path, events=[*START, *events], flow=flow()))
    assert list(beats(call, 0)) == ["intended", "generated", "sent", "heard", "caller_said", "decided"]


@pytest.mark.parametrize("name", ["consent-restart", "property-menu", "legacy-ring"])
def test_samples(name: str) -> None:
    call = open_call(SAMPLES / name)
    for visit in range(len(call.visits)):
        for found in beats(call, visit).values():
            assert found.explanation
            assert len(found.explanation) <= 160
            assert found.provenance == "recorded"
            assert all(call.find(ref) is not None for ref in found.refs)
            assert found.status == UNAVAILABLE or found.refs


def test_turn_records_alone_decide_nothing(tmp_path: Path) -> None:
    turn = {
        "turn_index": 0,
        "session_id": "s",
        "from_state": "menu",
        "to_state": "menu",
        "user_utterance": "hi",
    }
    call = open_call(write_call(tmp_path, turns=[turn], flow=flow()))
    found = beats(call, 0)
    assert found["intended"].provenance == "derived"
    assert {one.status for name, one in found.items() if name != "intended"} == {UNAVAILABLE}
