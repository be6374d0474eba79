"""The conversation lane (contract 2.8)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.canonical import encode_trusted
from engine.hydrate.call import Call
from engine.hydrate.conversation import conversation, items_until
from engine.hydrate.pipeline import open_call
from engine.model.artifact import Turn
from tests.calls import EPOCH, flow, row, slot, state, wav, write_call

SAMPLES = Path(__file__).parents[2] / "sample_artifacts"
IN_MENU = {"visit_id": "menu#1", "state_id": "menu"}
START = [
    row(1, "session_started", 0, initial_state="menu", kind="phone"),
    row(2, "state_entered", 0, **IN_MENU),
]
TRACKS = [
    {
        "track": name,
        "path": f"{name}.wav",
        "channel": 0,
        "perspective": "carrier_recorded",
        "clock_offset_ms": 0,
    }
    for name in ("caller", "agent")
]


def opened(where: Path, events: list[dict[str, Any]], **files: Any) -> Call:
    files.setdefault("flow", flow())
    return open_call(write_call(where, events=[*START, *events], **files))


def lane(call: Call, *lanes: str) -> list[Turn]:
    whole = conversation(call)
    items = [whole.item(number) for number in range(whole.count)]
    return [item for item in items if item.lane in lanes] if lanes else items


def with_audio(seconds: float = 10.0, tracks: list[dict[str, Any]] = TRACKS) -> dict[str, Any]:
    files = {f"audio/{name}.wav": wav(seconds) for name in ("caller", "agent")}
    return {"files": files, "audio_manifest": {"schema": "riff.call_audio/v1", "tracks": tracks}}


def said(seq: int, clock: float, text: str, source: str, **more: Any) -> dict[str, Any]:
    return row(seq, "caller_transcript", clock, text=text, source=source, **IN_MENU, **more)


def heard(number: int, text: str, start: float | None, end: float | None, **more: Any) -> dict[str, Any]:
    made = {
        "row": number,
        "speaker": "caller",
        "text": text,
        "start_ms": start,
        "end_ms": end,
        "final": True,
    } | more
    return {key: value for key, value in made.items() if value is not None}


def played(seq: int, kind: str, clock: float, playback: str = "play:1", **more: Any) -> dict[str, Any]:
    content = {
        "playback_id": playback,
        "evidence_stage": "outbound_accepted",
        "source_kind": "static_asset",
    } | more
    return row(seq, f"audio_{kind}", clock, **IN_MENU, **content)


# The caller.


def test_two_sources_agree(tmp_path: Path) -> None:
    call = opened(
        tmp_path,
        [
            said(3, 2000, "my car", "gemini", input_id="in:1", start_ms=1000, end_ms=1900),
            said(4, 2100, "My car.", "whisper", input_id="in:1", start_ms=1000, end_ms=1900),
            row(5, "input_selected", 2100, input_id="in:1", selected_source="whisper",
                decision_reason="whisper_primary", selected_observation="bus:4", **IN_MENU),
        ],
        live=[heard(0, "my car", 1000, 1900, input_id="in:1")],
        **with_audio(),
    )  # fmt: skip
    (turn,) = lane(call, "caller")
    assert (turn.item_id, turn.visit_id, turn.agreement, turn.wer, turn.diff) == (
        "turn:input:in:1", "menu#1", "agree", 0.0, [],
    )  # fmt: skip
    assert [(one.source, one.text, one.refs) for one in turn.observations] == [
        ("gemini", "my car", ["live:0", "bus:3"]),
        ("whisper", "My car.", ["bus:4"]),
    ]
    assert turn.acted_on == {
        "source": "whisper", "text": "My car.", "decision_reason": "whisper_primary", "event_id": "bus:5",
    }  # fmt: skip
    assert turn.audio_range == {
        "status": "available", "track": "caller", "start_ms": 1000, "end_ms": 1900,
        "perspective": "carrier_recorded",
    }  # fmt: skip


def test_disagreement_opens_with_the_word_diff(tmp_path: Path) -> None:
    call = opened(
        tmp_path,
        [],
        live=[heard(0, "pay rent now", 1000, 2000)],
        timed=[heard(0, "pay my rent", 1500, 2500)],
    )
    (turn,) = lane(call, "caller")
    assert turn.agreement == "disagree"
    assert turn.wer == pytest.approx(2 / 3, abs=1e-4)
    assert [part for part in turn.diff if part["op"] != "equal"] == [
        {"op": "insert", "live": "", "timed": "my"},
        {"op": "delete", "live": "now", "timed": ""},
    ]
    assert (turn.start_ms, turn.end_ms) == (1500, 2500)


@pytest.mark.parametrize(("start", "items"), [(1500, 1), (1501, 2)])
def test_observations_join_from_half_of_the_shorter_range_on(tmp_path: Path, start: int, items: int) -> None:
    call = opened(
        tmp_path, [], live=[heard(0, "yes", 1000, 2000)], timed=[heard(0, "yes", start, start + 1000)]
    )
    assert len(lane(call, "caller")) == items


@pytest.mark.parametrize("end", [200, 400])
def test_a_range_without_length_overlaps_nothing(tmp_path: Path, end: int) -> None:
    events = [
        said(3, 200, "one", "gemini", start_ms=200, end_ms=200),
        said(4, 200, "two", "whisper", start_ms=200, end_ms=end),
    ]
    call = opened(tmp_path, events)
    assert [item.agreement for item in lane(call)] == ["single_source"] * 2
    assert not [one for one in call.findings if one.code == "TRANSCRIPT_DISAGREEMENT"]


def test_one_source(tmp_path: Path) -> None:
    (turn,) = lane(opened(tmp_path, [said(3, 2000, "yes", "gemini", input_id="in:1")]), "caller")
    assert (turn.agreement, turn.wer, turn.diff) == ("single_source", None, [])
    assert turn.acted_on == {"status": "unavailable", "reason": "no input_selected was recorded for in:1"}
    assert (turn.start_ms, turn.end_ms) == (None, None)
    assert turn.audio_range["reason"] == "its start and end were not both recorded"


def test_without_an_input_nothing_says_what_was_acted_on(tmp_path: Path) -> None:
    (turn,) = lane(opened(tmp_path, [said(3, 2000, "yes", "gemini")]), "caller")
    assert turn.item_id == "conv:bus:3"
    assert turn.acted_on == {"status": "unavailable", "reason": "no input_id joins it to an input_selected"}


def selection(seq: int, **more: Any) -> dict[str, Any]:
    chosen = {"input_id": "in:1", "selected_source": "gemini", "decision_reason": "gemini_backup"} | more
    return row(seq, "input_selected", 3000, **IN_MENU, **chosen)


@pytest.mark.parametrize(
    ("more", "text", "reason"),
    [
        ({}, "yes", None),
        ({"selected_observation": "bus:3"}, "yes", None),
        ({"selected_observation": "bus:77"}, None, "the selected observation bus:77 is not in the record"),
        ({"selected_source": "whisper"}, None, "no observation of whisper was recorded for it"),
    ],
)
def test_the_backup_source_was_acted_on(
    tmp_path: Path, more: dict[str, Any], text: str | None, reason: str | None
) -> None:
    call = opened(tmp_path, [said(3, 2000, "yes", "gemini", input_id="in:1"), selection(4, **more)])
    (turn,) = lane(call, "caller")
    assert turn.acted_on["text"] == text
    assert turn.acted_on["decision_reason"] == "gemini_backup"
    assert turn.acted_on.get("reason") == reason


def test_a_selection_without_a_source_says_nothing(tmp_path: Path) -> None:
    call = opened(
        tmp_path, [said(3, 2000, "yes", "gemini", input_id="in:1"), selection(4, selected_source=None)]
    )
    assert lane(call, "caller")[0].acted_on["reason"] == "bus:4 does not say which source was selected"


def test_an_interim_row_does_not_override_a_settled_one(tmp_path: Path) -> None:
    call = opened(
        tmp_path,
        [
            said(3, 1500, "pay my", "gemini", input_id="in:1", final=False),
            said(4, 2000, "pay my rent", "gemini", input_id="in:1", final=True),
            said(5, 2100, "pay my re", "gemini", input_id="in:1", final=False),
        ],
    )
    (turn,) = lane(call, "caller")
    assert [one.text for one in turn.observations] == ["pay my rent"]
    assert turn.refs == ["bus:3", "bus:4", "bus:5"]


def test_an_interim_row_stands_where_there_is_no_other(tmp_path: Path) -> None:
    (turn,) = lane(opened(tmp_path, [said(3, 1500, "pay my", "gemini", final=False)]), "caller")
    assert [one.text for one in turn.observations] == ["pay my"]


def test_audio_that_nothing_transcribed_is_kept(tmp_path: Path) -> None:
    call = opened(
        tmp_path,
        [
            row(3, "caller_audio_started", 1000, input_id="in:1", **IN_MENU),
            row(4, "caller_audio_ended", 1800, input_id="in:1", **IN_MENU),
        ],
        **with_audio(),
    )
    (turn,) = lane(call, "caller")
    assert (turn.observations, turn.agreement, turn.start_ms, turn.end_ms) == ([], "unavailable", 1000, 1800)
    assert turn.audio_range["status"] == "available"


def test_rows_without_times_have_an_order_only(tmp_path: Path) -> None:
    call = opened(tmp_path, [], live=[heard(0, "hello", None, None), heard(1, "bye", None, None)])
    turns = lane(call, "caller")
    assert [(turn.observations[0].text, turn.visit_id, turn.start_ms) for turn in turns] == [
        ("hello", None, None),
        ("bye", None, None),
    ]
    assert {turn.audio_range["status"] for turn in turns} == {"unavailable"}


def test_an_announce_state_has_no_caller_item_of_its_own(tmp_path: Path) -> None:
    states = [state("menu", [("audio_done", "bye")], kind="announce"), state("bye", kind="terminal")]
    call = opened(tmp_path, [played(3, "started", 0), played(4, "completed", 900)], flow=flow(states))
    assert [turn.lane for turn in lane(call)] == ["agent"]


# Keys, barge-in, decisions.


def test_keys_of_one_input_are_one_item(tmp_path: Path) -> None:
    call = opened(
        tmp_path,
        [
            row(3, "dtmf_received", 1000, digit="1", input_id="in:1", **IN_MENU),
            row(4, "dtmf_received", 1100, digit="1", input_id="in:1", **IN_MENU),
            said(5, 1200, "11", "dtmf", input_id="in:1"),
            row(6, "input_selected", 1200, input_id="in:1", selected_source="dtmf", decision_reason="dtmf",
                **IN_MENU),
            row(7, "dtmf_received", 2000, digit="#", **IN_MENU),
        ],
    )  # fmt: skip
    joined, alone = lane(call, "dtmf")
    assert [(one.text, one.refs) for one in joined.observations] == [("11", ["bus:3", "bus:4", "bus:5"])]
    assert (joined.item_id, joined.acted_on["text"]) == ("turn:input:in:1", "11")
    assert joined.audio_range["reason"] == "not_applicable: keys are no stretch of audio"
    assert (alone.item_id, alone.observations[0].text, alone.start_ms) == ("conv:bus:7", "#", 2000)


def test_keys_beside_speech_are_an_item_of_their_own(tmp_path: Path) -> None:
    call = opened(
        tmp_path,
        [
            said(3, 1000, "two", "gemini", input_id="in:1"),
            row(4, "dtmf_received", 1100, digit="2", input_id="in:1", **IN_MENU),
        ],
    )
    assert [(turn.lane, turn.item_id) for turn in lane(call)] == [
        ("caller", "turn:input:in:1"),
        ("dtmf", "conv:bus:4"),
    ]


def test_a_barge_in_names_what_it_cut(tmp_path: Path) -> None:
    events = [
        row(3, "barge_in", 500, playback_id="play:9", **IN_MENU),
        row(4, "interruption", 600, **IN_MENU),
    ]
    assert [turn.observations[0].text for turn in lane(opened(tmp_path, events), "barge_in")] == [
        "over play:9",
        "over a playback that it does not name",
    ]


def test_decisions(tmp_path: Path) -> None:
    call = opened(
        tmp_path,
        [
            row(3, "timer_fired", 500, timer="timeout", **IN_MENU),
            row(
                4,
                "locked_choice_evaluated",
                600,
                choice="rent",
                result="matched",
                token="pay rent",
                **IN_MENU,
            ),
            row(5, "state_exited", 700, to_state="bye", edge_id="menu:0", **IN_MENU),
            row(6, "state_entered", 700, state_id="bye", visit_id="bye#1"),
            row(
                7,
                "transition_committed",
                700,
                from_state="menu",
                to_state="bye",
                edge_id="menu:0",
                reason="x",
            ),
        ],
    )
    assert [(turn.visit_id, turn.start_ms, turn.observations[0].text) for turn in lane(call, "decision")] == [
        ("menu#1", 500, "timer timeout fired"),
        ("menu#1", 600, "choice rent, matched, from 'pay rent'"),
        ("menu#1", 700, "menu → bye: always"),
    ]


# The agent.


def test_a_playback_is_one_line_over_its_stages(tmp_path: Path) -> None:
    model = {"source_kind": "model_audio", "output_attempt_id": "at:1", "text": "One moment."}
    attempt = {"output_attempt_id": "at:1", **IN_MENU}
    call = opened(
        tmp_path,
        [
            row(3, "output_attempt_started", 100, logical_output_id="out:1", **attempt),
            played(4, "started", 110, evidence_stage="model_received", **model),
            played(5, "started", 150, **model),
            played(6, "completed", 400, evidence_stage="model_received", **model),
            played(7, "interrupted", 900, **model),
            row(8, "assistant_transcript", 900, text="One moment.", **attempt),
            row(9, "output_attempt_terminal", 950, outcome="interrupted", text="One moment.", **attempt),
        ],
        live=[heard(0, "One moment.", 160, 900, speaker="agent")],
        **with_audio(),
    )
    (line,) = lane(call, "agent")
    assert (line.item_id, line.start_ms, line.end_ms) == ("conv:bus:4", 150, 900)
    assert [(one.source, len(one.refs)) for one in line.observations] == [("model_audio", 5), ("gemini", 2)]
    assert line.output == {
        "output_attempt_id": "at:1",
        "outcome": "interrupted",
        "generated": "One moment.",
        "heard": None,
        "unavailable": {"heard": "the energy of the recorded track is not measured"},
    }
    assert line.audio_range["status"] == "available"
    assert line.refs == ["bus:3", "bus:4", "bus:5", "live:0", "bus:6", "bus:7", "bus:8", "bus:9"]


def test_a_static_playback_generates_nothing(tmp_path: Path) -> None:
    call = opened(
        tmp_path, [played(3, "started", 0, evidence_stage="client_playback"), played(4, "failed", 10)]
    )
    (line,) = lane(call, "agent")
    assert line.output is not None
    assert (line.output["generated"], line.output["outcome"]) == (None, "failed")
    assert line.output["unavailable"] == {
        "output_attempt_id": "no output attempt is named",
        "generated": "not_applicable: a static asset was played, nothing was generated",
        "heard": "played at the client; no agent track was recorded",
    }
    assert line.acted_on["reason"] == "no text of it was recorded"


@pytest.mark.parametrize(("start", "items"), [(1500, 1), (1501, 2)])
def test_an_agent_row_joins_a_playback_it_overlaps_by_half(tmp_path: Path, start: int, items: int) -> None:
    events = [played(3, "started", 1000), played(4, "completed", 2000)]
    row_of_agent = heard(0, "Hello.", start, start + 1000, speaker="agent")
    assert len(lane(opened(tmp_path, events, live=[row_of_agent]), "agent")) == items


def test_equal_text_joins_no_lines(tmp_path: Path) -> None:
    events = [played(3, "started", 1000, text="Hello."), played(4, "completed", 2000, text="Hello.")]
    call = opened(tmp_path, events, live=[heard(0, "Hello.", 5000, 6000, speaker="agent")])
    assert len(lane(call, "agent")) == 2


def test_a_playback_of_two_attempts_names_neither(tmp_path: Path) -> None:
    events = [
        played(3, "started", 0, output_attempt_id="at:1"),
        played(4, "completed", 9, output_attempt_id="at:2"),
    ]
    (line,) = lane(opened(tmp_path, events), "agent")
    assert line.output is not None
    assert line.output["output_attempt_id"] is None
    assert line.output["unavailable"]["output_attempt_id"] == "its rows name several output attempts"


def test_rows_of_an_odd_shape_join_too(tmp_path: Path) -> None:
    nested = row(4, "audio_completed", 900, **IN_MENU)
    nested["payload"] = {"playback_id": "play:1", "evidence_stage": "outbound_accepted"}
    odd = played(5, "failed", 950, playback="play:2") | {
        "playback_id": ["play:1"],
        "causal_visit_id": {"a": 1},
    }
    (line,) = lane(opened(tmp_path, [played(3, "started", 0), nested, odd]), "agent")
    assert line.refs == ["bus:3", "bus:4"]


# Ranges, order, redaction.


def test_a_derived_clock_claims_no_range(tmp_path: Path) -> None:
    events = [played(3, "started", 1000) | {"clock_ms": None, "ts": EPOCH + 1}, played(4, "completed", 2000)]
    (line,) = lane(opened(tmp_path, events, **with_audio()), "agent")
    assert (line.start_ms, line.end_ms) == (1000, 2000)
    assert line.audio_range == {
        "status": "unavailable", "reason": "its clock is derived, which claims no audio range",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "tracks", "reason"),
    [
        (1.5, TRACKS, "it ends after audio/caller.wav does"),
        (9.0, [TRACKS[0] | {"clock_offset_ms": 1001}], "it starts before audio/caller.wav does"),
        (9.0, [TRACKS[0] | {"clock_offset_ms": None}], "audio/manifest.json states no clock offset"),
        (9.0, [TRACKS[1]], "no caller track was recorded"),
    ],
)
def test_a_range_that_the_track_can_not_show(
    tmp_path: Path, seconds: float, tracks: list[dict[str, Any]], reason: str
) -> None:
    call = opened(tmp_path, [], timed=[heard(0, "yes", 1000, 2000)], **with_audio(seconds, tracks))
    (turn,) = lane(call, "caller")
    assert turn.audio_range == {"status": "unavailable", "reason": reason}


def test_hidden_values_are_hidden_everywhere(tmp_path: Path) -> None:
    call = opened(
        tmp_path,
        [
            row(
                3,
                "slot_write",
                900,
                slot="pin",
                old=None,
                new="4 7 1 1",
                kind="resolver",
                writer="w",
                **IN_MENU,
            ),
            said(4, 1000, "4 7 1 1", "whisper", input_id="in:1"),
            said(5, 1000, "four seven", "gemini", input_id="in:1"),
            selection(6, selected_source="whisper"),
            row(7, "locked_choice_evaluated", 1100, choice="4 7 1 1", token="4 7 1 1", **IN_MENU),
        ],
        flow=flow(slots=[slot("pin", "secret")]),
    )
    items = lane(call)
    assert b"4 7 1 1" not in encode_trusted(items)
    assert b"7" not in encode_trusted(items[0].diff)
    assert items[0].acted_on["text"] == "<redacted>"


def test_the_lane_follows_the_cursor(tmp_path: Path) -> None:
    call = opened(
        tmp_path,
        [
            said(3, 1000, "a", "gemini"),
            row(4, "turn_complete", 1100, turn_index=1, **IN_MENU),
            said(5, 1200, "b", "gemini"),
        ],
    )
    whole = conversation(call)
    assert [items_until(call, event) for event in range(5)] == [-1, -1, 0, 0, 1]
    assert list(whole.of_visit(0)) == [0, 1]
    assert conversation(call).item(0) == whole.item(0)


@pytest.mark.parametrize("name", ["consent-restart", "property-menu", "legacy-ring"])
def test_samples(name: str) -> None:
    call = open_call(SAMPLES / name)
    items = lane(call)
    ids = [item.item_id for item in items]
    assert len(set(ids)) == len(ids)
    refs = [ref for item in items for ref in item.refs]
    assert all(call.find(ref) is not None for ref in refs)
    for item in items:
        assert all(one.refs for one in item.observations)
        assert item.acted_on.get("reason") if "source" not in item.acted_on else item.acted_on["event_id"]
    assert encode_trusted(items) == encode_trusted(lane(open_call(SAMPLES / name)))


def test_the_sample_disagreement() -> None:
    turn = next(item for item in lane(open_call(SAMPLES / "property-menu"), "caller"))
    assert (turn.agreement, turn.wer) == ("disagree", 2.0)
    assert turn.diff == [{"op": "replace", "live": "stay this", "timed": "status"}]
    assert turn.acted_on["text"] == "Status"


@pytest.mark.parametrize("huge", [2**53, -(2**53), 10**400])
def test_a_moment_that_no_clock_can_show_is_none(tmp_path: Path, huge: int) -> None:
    events = [
        said(3, 100, "one", "gemini", start_ms=0, end_ms=huge),
        said(4, 200, "two", "gemini", start_ms=0, end_ms=100),
    ]
    timed = [heard(0, "two", 0, 100), heard(1, "three", 0, 100) | {"end_ms": huge}]
    call = opened(tmp_path, events, timed=timed)
    items = lane(call, "caller")
    texts = sorted(one.text or "" for item in items for one in item.observations)
    assert texts == ["one", "three", "two", "two"]
    assert [item.end_ms for item in items if item.agreement == "agree"] == [100]
    assert "bus:3" in [finding.event_id for finding in call.findings if finding.code == "MALFORMED_EVENT"]
