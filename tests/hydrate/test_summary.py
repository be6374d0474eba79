"""The first screen (contract 2.11)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.hydrate.pipeline import open_call
from engine.hydrate.summary import breadcrumb_at, first_divergence, summarise
from engine.model.artifact import Finding, NextAction
from engine.sources.merge import Ledger
from tests.calls import flow, manifest, row, slot, write_call

SAMPLES = Path(__file__).parents[2] / "sample_artifacts"
IN_MENU = {"visit_id": "menu#1", "state_id": "menu"}
START = [
    row(1, "session_started", 0, initial_state="menu", kind="phone"),
    row(2, "state_entered", 0, **IN_MENU),
]


def story(where: Path, events: list[dict[str, Any]], **files: Any) -> list[str]:
    files.setdefault("flow", flow())
    return open_call(write_call(where, events=[*START, *events], **files)).summary.story


def finding(code: str, severity: Any, owner: str) -> Finding:
    action = NextAction("open", {}, "")
    return Finding(code, code, severity, owner, None, None, [], None, "", "", "recorded", action, {})


@pytest.mark.parametrize(
    ("findings", "first"),
    [
        ([], None),
        ([finding("A", "info", "model")], None),
        ([finding("A", "warning", "capture")], None),
        ([finding("A", "error", "capture"), finding("B", "info", "model")], "A"),
        ([finding("A", "error", "capture"), finding("B", "warning", "model")], "B"),
        (
            [finding("A", "warning", "flow"), finding("B", "error", "model"), finding("C", "error", "flow")],
            "B",
        ),
    ],
)
def test_first_divergence(findings: list[Finding], first: str | None) -> None:
    found = first_divergence(findings)
    assert (found.finding_id if found else None) == first


def test_the_story_of_a_sample() -> None:
    call = open_call(SAMPLES / "property-menu")
    assert call.summary.story == [
        "A phone call to flow property_management over telnyx_outbound at 2026-07-10T14:02:11Z",
        "5 visits: menu_full_announce → menu → cap_existing_request__list_tickets → tickets_summary"
        " → goodbye",
        'The agent\'s first words (0.0 s): "Thanks for calling Harbor Point. You can say new request, s…"',
        '6.0 s, menu#1: gemini heard "stay this", whisper heard "Status", acted on whisper',
        '15.4 s, tickets_summary#1: caller said "no thanks, that\'s all", acted on whisper → goodbye',
        "First divergence at 6.0 s in menu#1: The two transcripts heard different words (model, warning)",
        "The call ended at 20.1 s in goodbye#1: completed",
    ]
    assert call.summary.first_divergence == "TRANSCRIPT_DISAGREEMENT:timed:0"
    assert call.summary.owner == "model"
    assert call.summary.next_action is not None
    assert breadcrumb_at(call, 1) == ["menu_full_announce#1", "menu#1"]


@pytest.mark.parametrize("name", ["consent-restart", "property-menu", "legacy-ring"])
def test_samples(name: str) -> None:
    call = open_call(SAMPLES / name)
    lines = call.summary.story
    assert 1 <= len(lines) <= 8
    assert max(map(len, lines)) <= 100
    assert summarise(call) == summarise(open_call(SAMPLES / name))
    assert call.summary.breadcrumb == [visit.visit_id for visit in call.visits]


def test_what_is_not_recorded_is_said_so(tmp_path: Path) -> None:
    bare = row(2, "state_entered", 0, **IN_MENU)
    call = open_call(write_call(tmp_path, events=[row(1, "other_row"), bare], flow=flow()))
    assert call.summary.story == [
        "A call of unrecorded kind to a flow that is not recorded",
        "1 visit: menu",
        "The agent's first words were not recorded",
        "Nothing the caller said was recorded",
        "The checks of this version found no divergence in what was recorded",
        "No end of the call was recorded; the record stops in menu#1",
    ]


def turns(count: int) -> list[dict[str, Any]]:
    return [
        row(2 + n, "caller_transcript", n * 1000, text=f"words {n}", source="gemini", input_id=f"in:{n}",
            start_ms=n * 1000, end_ms=n * 1000 + 500, **IN_MENU)
        for n in range(1, count + 1)
    ]  # fmt: skip


def test_a_long_call_says_how_many_turns_are_left_out(tmp_path: Path) -> None:
    lines = story(tmp_path, turns(6))
    assert [line for line in lines if "caller" in line.casefold()][:3] == [
        '1.0 s, menu#1: caller said "words 1", acted on: not recorded',
        '2.0 s, menu#1: caller said "words 2", acted on: not recorded',
        "Caller turns left out here: 4 after",
    ]
    assert len(lines) <= 8


def test_a_long_call_tells_the_turns_around_the_first_divergence(tmp_path: Path) -> None:
    states = flow()
    states["states"][0]["locked_choice"] = {"slot": "s", "options": [{"value": 1, "phrases": ["other"]}]}
    states.pop("flow_version")
    timed = [{"row": 0, "speaker": "caller", "text": "other", "start_ms": 4000, "end_ms": 4500}]
    live = [{"row": 0, "speaker": "caller", "text": "words 4", "start_ms": 4000, "end_ms": 4500}]
    lines = story(tmp_path, turns(6), timed=timed, live=live, flow=states)
    told = [line for line in lines if "menu#1: " in line and "divergence" not in line]
    assert told[0].startswith('4.0 s, menu#1: gemini heard "words 4", whisper heard "other"')
    assert told[1].startswith('5.0 s, menu#1: caller said "words 5"')
    assert "Caller turns left out here: 3 before and 1 after" in lines
    assert lines[-2].startswith("First divergence at 4.0 s in menu#1")


def test_long_names_and_control_characters_fit_a_line(tmp_path: Path) -> None:
    said = row(3, "caller_transcript", 900, text="a\x1b[31m\n" + "b" * 300, source="gemini", **IN_MENU)
    lines = story(tmp_path, [said], manifest=manifest(flow_id="f" * 300))
    assert max(map(len, lines)) == 100
    assert all(line.isprintable() for line in lines)


def test_hidden_values_stay_hidden(tmp_path: Path) -> None:
    events = [
        row(3, "slot_write", 900, slot="pin", old=None, new="4711", kind="resolver", writer="w", **IN_MENU),
        row(4, "caller_transcript", 950, text="4711", source="gemini", input_id="in:1", **IN_MENU),
        row(5, "audio_started", 960, playback_id="p", text="4711", **IN_MENU),
    ]
    lines = story(tmp_path, events, flow=flow(slots=[slot("pin", "pii")]))
    assert not any("4711" in line for line in lines)
    assert sum("<redacted>" in line for line in lines) == 2


def test_a_long_call_costs_few_decoded_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call = open_call(write_call(tmp_path, events=[*START, *turns(3000)], flow=flow()))
    decoded: list[int] = []
    plain = Ledger.payload

    def counted(self: Ledger, event: int) -> dict[str, Any]:
        decoded.append(event)
        return plain(self, event)

    monkeypatch.setattr(Ledger, "payload", counted)
    assert summarise(call).story[-3] == "Caller turns left out here: 2998 after"
    assert len(decoded) < 100
