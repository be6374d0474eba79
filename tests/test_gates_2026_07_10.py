"""The acceptance gates of the evidence design of 2026-07-10 that opening and stepping answer for.

Gates 4, 5 and 12 to 17 speak of simulation, screenshots in a browser, capsules and runners.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.debug import cursor as moves
from engine.debug import projection
from engine.hydrate.access import (
    CONTEXT_NOT_RECORDED,
    CONTEXT_READ,
    EDGE_WRITE,
    NO_EVIDENCE,
    RUNTIME_READ,
    STATIC,
    WRITTEN,
)
from engine.hydrate.call import Call
from engine.hydrate.document import artifact
from engine.hydrate.pipeline import open_call
from engine.model.artifact import Cell
from engine.model.views import Cursor, EventRow
from riff_tui.panes.cells import cell_span
from riff_tui.panes.events import PROVENANCE
from tests.calls import flow, row, state
from tests.hydrate.ask import (
    committed,
    entered,
    exited,
    found,
    opened,
    shown,
    slots_of,
    start,
    started,
    two_states,
    verdict,
    write,
)

SAMPLES = Path(__file__).parent.parent / "sample_artifacts"
NAMES = ("property-menu", "consent-restart", "legacy-ring")


@pytest.fixture(scope="module", params=NAMES)
def sample(request: pytest.FixtureRequest) -> Path:
    path: Path = SAMPLES / request.param
    return path


@pytest.fixture(scope="module")
def call(sample: Path) -> Call:
    return open_call(sample)


@pytest.fixture(scope="module")
def document(call: Call) -> dict[str, Any]:
    return artifact(call)


def events_of(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every envelope of an artifact."""
    for visit in document["visits"]:
        yield from visit["micro_events"]
    yield from document["unattributed_events"]


def late(*more: dict[str, Any]) -> list[dict[str, Any]]:
    """A call that goes on after `menu#1` was left, then more rows."""
    return [
        *start(
            verdict(4, "menu:0"), exited(5, "menu", "bye"), entered(6, "bye"), committed(7, "menu", "bye")
        ),
        *more,
    ]


# 1. No event after a visit's exit can carry that visit ID.


def assert_gate_1(document: dict[str, Any]) -> None:
    for visit in document["visits"]:
        exits = [one["seq"] for one in visit["micro_events"] if one["kind"] == "state_exited"]
        for one in visit["micro_events"]:
            if one["attribution"] in ("explicit", "interval") and one["seq"] is not None:
                assert not exits or one["seq"] <= exits[-1], one["event_id"]


def test_gate_1_no_event_after_a_visits_exit_carries_its_id(document: dict[str, Any]) -> None:
    assert_gate_1(document)


def test_gate_1_holds_for_rows_that_claim_a_visit_that_was_left(tmp_path: Path) -> None:
    claims = [
        write(8, "a", None, 1, visit_id="menu#1"),
        row(9, "assistant_transcript", text="hi", visit_id="menu#1"),
        row(10, "caller_transcript", text="hi", source="gemini", state_id="menu"),
        row(11, "guard_evaluated", guard="always", result=True, slots_read=[], visit_id="menu#1"),
    ]
    made = opened(tmp_path, late(*claims))
    assert_gate_1(artifact(made))
    by_id = {one["event_id"]: one for one in events_of(artifact(made))}
    assert [by_id[f"bus:{seq}"]["visit_id"] for seq in (8, 9, 10, 11)] == [None, "bye#1", None, None]
    assert by_id["bus:9"]["payload"]["causal_visit_id"] == "menu#1"


# 2. "Status" and _route are menu's, never menu_full_announce's.


def test_gate_2_the_property_menu_gives_status_and_route_to_menu() -> None:
    document = artifact(open_call(SAMPLES / "property-menu"))
    visits = {visit["visit_id"]: visit for visit in document["visits"]}
    said = [
        (one["visit_id"], one["kind"])
        for one in events_of(document)
        if "status" in json.dumps(one["payload"].get("text", "")).lower() and one["kind"] != "prompt_resolved"
        and "caller" in (one["kind"] + str(one["payload"].get("speaker")))
    ]  # fmt: skip
    assert said
    assert {visit_id for visit_id, _ in said} == {"menu#1"}
    routed = [one for one in events_of(document) if one["payload"].get("slot") == "_route"]
    assert [one["visit_id"] for one in routed if one["payload"]["new"] == "existing_request"] == ["menu#1"]
    for one in visits["menu_full_announce#1"]["micro_events"]:
        assert one["payload"].get("slot") != "_route"
        assert "_route" not in one["payload"].get("slots_read", ())
        assert one["kind"] not in ("locked_choice_evaluated", "input_selected", "caller_transcript")
    turns = [turn for turn in document["conversation"] if turn["lane"] == "caller"]
    assert {turn["visit_id"] for turn in turns if "status" in json.dumps(turn["observations"]).lower()} == {
        "menu#1"
    }
    assert visits["menu_full_announce#1"]["exit_snapshot"]["cells"]["_route"]["unset"] is True
    assert visits["menu#1"]["entry_snapshot"]["cells"]["_route"]["unset"] is True
    assert visits["menu#1"]["exit_snapshot"]["cells"]["_route"]["value"] == "existing_request"


# 3. Rehydrating gives identical ids, order and snapshots.


def test_gate_3_rehydration_is_identical_in_a_fresh_process(sample: Path, document: dict[str, Any]) -> None:
    again = subprocess.run(
        [sys.executable, "-m", "engine.service.cli", "hydrate", str(sample)],
        capture_output=True, check=True, env=dict(os.environ, PYTHONHASHSEED="77", TZ="Pacific/Auckland"),
    )  # fmt: skip
    other = json.loads(again.stdout)
    for one, two in zip(document["visits"], other["visits"], strict=True):
        assert one["visit_id"] == two["visit_id"]
        assert [e["event_id"] for e in one["micro_events"]] == [e["event_id"] for e in two["micro_events"]]
        assert one["entry_snapshot"] == two["entry_snapshot"]
        assert one["exit_snapshot"] == two["exit_snapshot"]
    assert document == other


# 6. Every declared edge appears, including duplicate targets; exactly one edge may win.


def test_gate_6_every_declared_edge_appears_and_at_most_one_wins(
    sample: Path, document: dict[str, Any]
) -> None:
    declared = {
        item["id"]: [edge.get("edge_id") for edge in item["transitions"]]
        for item in json.loads((sample / "flow.json").read_text())["states"]
    }
    for visit in document["visits"]:
        rows = visit["legal_exits"]
        assert [one["edge_id"] for one in rows if one["from_flow"]] == declared[visit["state_id"]]
        assert sum(one["verdict"] == "won" for one in rows) <= 1


def test_gate_6_duplicate_targets_stay_apart_and_two_winners_are_found(tmp_path: Path) -> None:
    menu = state("menu", [("slot_filled:a", "bye"), ("always", "bye"), ("timeout", "menu")])
    both = [{"edge_id": f"menu:{place}", "to": "bye", "when": "x", "result": "matched"} for place in (0, 1)]
    judged = row(4, "transition_verdict", winner="menu:0", candidates=both, final=True)
    made = opened(
        tmp_path,
        start(judged, exited(5, "menu", "bye"), committed(6, "menu", "bye"), entered(7, "bye")),
        flow=flow([menu, state("bye")]),
    )
    rows = artifact(made)["visits"][0]["legal_exits"]
    assert [(one["edge_id"], one["to"], one["verdict"]) for one in rows] == [
        ("menu:0", "bye", "won"), ("menu:1", "bye", "won"), ("menu:2", "menu", "not_evaluated"),
    ]  # fmt: skip
    assert found(made, "MULTIPLE_WINNERS") == ["MULTIPLE_WINNERS:bus:4"]


# 7. Final verdict, boundary writes, state_exited and transition_committed agree.

INVARIANTS = (
    "MULTIPLE_WINNERS",
    "NO_WINNER",
    "UNKNOWN_EDGE",
    "WINNER_TARGET_MISMATCH",
    "BOUNDARY_WRITE_MISMATCH",
)
AGREE = {
    "all agree": ("menu:0", "bye", "bye", "v", []),
    "no winner": (None, "bye", "bye", "v", ["NO_WINNER:bus:4"]),
    "an edge that is not declared": ("menu:9", "bye", "bye", "v", ["UNKNOWN_EDGE:bus:4"]),
    "another exit": ("menu:0", "menu", "bye", "v", ["WINNER_TARGET_MISMATCH:bus:4"]),
    "another commit": ("menu:0", "bye", "menu", "v", ["WINNER_TARGET_MISMATCH:bus:4"]),
    "another write": ("menu:0", "bye", "bye", "w", ["BOUNDARY_WRITE_MISMATCH:bus:4:a"]),
}  # fmt: skip


def test_gate_7_verdict_writes_exit_and_commit_agree_in_the_samples(call: Call) -> None:
    assert found(call, *INVARIANTS) == []


@pytest.mark.parametrize("case", AGREE)
def test_gate_7_a_disagreement_is_a_finding(case: str, tmp_path: Path) -> None:
    winner, left, committed_to, value, expected = AGREE[case]
    made = opened(
        tmp_path,
        start(
            verdict(4, winner),
            write(5, "a", None, value, "transition_set", edge_id="menu:0"),
            exited(6, "menu", left), committed(7, "menu", committed_to), entered(8, "bye"),
        ),
        flow=two_states([("a", "v")], slots=slots_of("a")),
    )  # fmt: skip
    assert found(made, *INVARIANTS) == expected


# 8. Guard reads cite slots_read; other reads never claim runtime coverage.


def test_gate_8_only_guards_prove_a_runtime_read(call: Call, document: dict[str, Any]) -> None:
    for number, visit in enumerate(document["visits"]):
        reads: dict[str, set[str]] = {}
        for one in visit["micro_events"]:
            if one["kind"] == "guard_evaluated":
                for name in one["payload"]["slots_read"]:
                    reads.setdefault(name, set()).add(one["event_id"])
        last = Cursor(number, projection.micro_count(call, number) - 1)
        for variable in projection.variables(call, last):
            for access in variable.access:
                assert "ignored" not in access.label
                if access.label == RUNTIME_READ.word:
                    assert access.event_id in reads[variable.slot]
                elif access.label in (STATIC.word, NO_EVIDENCE.word):
                    assert access.event_id is None
                else:
                    assert access.label in (WRITTEN.word, EDGE_WRITE.word)
            labels = {access.label for access in variable.access}
            assert (RUNTIME_READ.word in labels) == (variable.slot in reads)


# 9. What the record lacks makes it incomplete; no value is guessed.

GONE: dict[str, tuple[list[dict[str, Any]], dict[str, Any], str, Any]] = {
    "missing baseline": (
        [started(1), entered(2, "menu")], {}, "BASELINE_MISSING", ("unavailable", "no_baseline")
    ),
    "fold mismatch": (
        [*start(slots={"a": "x"}), write(4, "a", "other", "y"), row(5, "turn_complete", turn_index=0)],
        {}, "FOLD_MISMATCH", "x",
    ),
    "a write that no visit owns": (
        start(write(4, "a", None, "y", visit_id="bye#1"), exited(5, "menu", "bye"), entered(6, "bye")),
        {}, "CONFLICTING_ATTRIBUTION", "unset",
    ),
    "truncated candidates": (
        start(row(4, "transition_verdict", winner=None, candidates=[], truncated=3)),
        {}, "CANDIDATES_TRUNCATED", "unset",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", GONE)
def test_gate_9_missing_evidence_is_incomplete_and_not_guessed(case: str, tmp_path: Path) -> None:
    rows, files, code, entry = GONE[case]
    made = opened(tmp_path, rows, **({"flow": two_states(slots=slots_of("a"))} | files))
    assert made.completeness == "incomplete"
    assert code in made.completeness_reasons
    last = Cursor(0, projection.micro_count(made, 0) - 1)
    assert shown(next(one.entry for one in projection.variables(made, last) if one.slot == "a")) == entry
    if case == "a write that no visit owns":
        left = next(one.exit for one in projection.variables(made, last) if one.slot == "a")
        assert shown(left) == ("unavailable", "unattributed_write")
    if case == "truncated candidates":
        assert {edge.verdict for edge in projection.edges(made, last).rows} == {"unavailable"}


def test_gate_9_a_contradicted_stretch_is_unavailable_between_its_ends(tmp_path: Path) -> None:
    made = opened(
        tmp_path,
        [*start(slots={"a": "x"}), row(4, "turn_complete", turn_index=0), write(5, "a", "other", "y")],
        flow=two_states(slots=slots_of("a")),
    )
    values = [
        shown(next(one.at_cursor for one in projection.variables(made, place) if one.slot == "a"))
        for seq in (2, 4, 5)
        if (place := moves.cursor_of(made, made.find(f"bus:{seq}") or 0))
    ]
    assert values == ["x", ("unavailable", "fold_mismatch"), "y"]


# 10. No precise timestamp, audio percentage, transcript source or writer without a source reference.


def test_gate_10_every_precise_claim_has_a_source(call: Call, document: dict[str, Any]) -> None:
    writes = {}
    for one in events_of(document):
        assert "progress" not in one["kind"]
        if one["clock_ms"] is not None:
            assert one["clock"] in ("recorded", "derived")
            assert one["source_refs"] or one["derived_from"], one["event_id"]
        else:
            assert one["clock"] == "none"
        if one["kind"] in ("slot_write", "session_slots_seeded"):
            writes[one["event_id"]] = json.dumps(one["payload"])
    for turn in document["conversation"]:
        assert turn["refs"]
        assert all(observation["refs"] for observation in turn["observations"])
        if turn["acted_on"].get("source"):
            assert turn["acted_on"]["event_id"].startswith("bus:")
    for number in range(len(document["visits"])):
        last = Cursor(number, projection.micro_count(call, number) - 1)
        for variable in projection.variables(call, last):
            assert (variable.last_writer is None) == (variable.last_write is None)
            if variable.last_writer is not None and variable.last_write is not None:
                writer = variable.last_writer.partition(" ")[0]
                assert f'"{writer}"' in writes[variable.last_write]


# 11. Recorded, derived, unavailable and redacted are told apart without colour.


def test_gate_11_states_of_evidence_are_told_apart_without_colour() -> None:
    cells = {
        "recorded": Cell("available", value="x"),
        "derived": Cell("available", value="x", provenance="derived"),
        "unavailable": Cell("unavailable", reason="no_baseline"),
        "redacted": Cell("redacted"),
        "unset": Cell("available", unset=True),
        "null": Cell("available", value=None),
    }
    texts = {name: cell_span(cell, 20)[0] for name, cell in cells.items()}
    assert len(set(texts.values())) == len(texts), texts
    assert texts["unavailable"].startswith("?")
    assert texts["redacted"].startswith("█")
    assert texts["derived"].startswith("~")
    assert "no_baseline" in texts["unavailable"]
    glyphs = [glyph for glyph, _ in PROVENANCE.values()]
    assert len(set(glyphs)) == len(glyphs)
    labels = (RUNTIME_READ, CONTEXT_READ, CONTEXT_NOT_RECORDED, WRITTEN, EDGE_WRITE, STATIC, NO_EVIDENCE)
    assert len({label.glyph for label in labels}) == len({label.word for label in labels}) == len(labels)


def test_gate_11_holds_for_every_event_row(call: Call) -> None:
    rows: list[EventRow] = [
        projection.event_row(call, visit, micro)
        for visit in range(projection.visit_count(call))
        for micro in range(projection.micro_count(call, visit))
    ]
    assert {one.provenance for one in rows} == {"recorded", "derived"}
    assert {one.provenance for one in rows if one.event_id.startswith("drv:")} == {"derived"}
