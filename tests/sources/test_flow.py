"""flow.json as typed values, its version, and what may lack (contract 1.8)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.model.flow import Assignment, Flow, Option
from engine.model.limits import LIMITS
from engine.sources.files import CallFiles
from engine.sources.flow import build_flow, flow_version, read_flow
from engine.sources.folder import open_files
from tests.calls import flow, slot, state, write_call

SAMPLES = Path(__file__).parents[2] / "sample_artifacts"


def opened(tmp_path: Path, content: dict[str, Any] | bytes | str) -> CallFiles:
    text = json.dumps(content) if isinstance(content, dict) else content
    return open_files(write_call(tmp_path, events=[], files={"flow.json": text}), LIMITS)


@pytest.mark.parametrize("name", ["property-menu", "consent-restart", "legacy-ring"])
def test_samples_have_the_version_they_state(name: str) -> None:
    read = read_flow(open_files(SAMPLES / name, LIMITS), LIMITS)
    assert read is not None
    assert read.flow_version == read.stated_version
    assert not read.version_disagrees
    assert read.problems == ()


def test_sample_in_detail() -> None:
    read = read_flow(open_files(SAMPLES / "property-menu", LIMITS), LIMITS)
    assert read is not None
    menu = read.by_state["menu"]
    edge = read.by_edge["menu:1"]
    assert (edge.source, edge.index, edge.declaration_index) == ("menu", 1, 1)
    assert (edge.to, edge.when) == (
        "cap_existing_request__list_tickets",
        "slot_equals:_route:existing_request",
    )
    assert Assignment("_via", "menu") in edge.sets
    assert menu.transitions[1] is edge
    assert menu.locked_choice is not None and menu.locked_choice.slot == "_route"
    assert read.slot_order[:2] == ("_menu_announced", "_route")
    assert read.by_slot["caller_phone"].classification == "pii"
    assert read.by_slot["after_hours"].default is False
    tools = read.by_state["cap_existing_request__list_tickets"].tools
    assert [tool.read_only for tool in tools] == [True]


def test_an_unstated_version_does_not_disagree() -> None:
    raw = flow()
    del raw["flow_version"]
    assert not build_flow(raw).version_disagrees
    assert build_flow(raw).flow_version == flow()["flow_version"]


def test_another_version_disagrees() -> None:
    read = build_flow(flow(flow_version="sha256:0"))
    assert read.version_disagrees and read.flow_version == flow()["flow_version"]


def test_the_version_does_not_hang_on_key_order_or_spelling() -> None:
    assert flow_version(json.loads('{"b": -0.0, "a": "\\u00e9"}')) == flow_version({"a": "é", "b": 0.0})


def test_edge_ids_default_to_state_and_declaration_index() -> None:
    edges: list[dict[str, Any]] = [
        {"to": "b"},
        {"to": "b", "declaration_index": 7},
        {"to": "b", "edge_id": "x"},
    ]
    read = build_flow({"states": [{"id": "a", "transitions": edges}]})
    made = [(edge.edge_id, edge.declaration_index, edge.index) for edge in read.states[0].transitions]
    assert made == [("a:0", 0, 0), ("a:7", 7, 1), ("x", 2, 2)]
    assert set(read.by_edge) == {"a:0", "a:7", "x"}


def test_an_empty_flow_states_nothing() -> None:
    read = build_flow({})
    assert (read.flow_id, read.initial_state, read.reset_on, read.states, read.slots) == (
        None,
        None,
        None,
        (),
        (),
    )
    assert read.problems == ()


def test_a_bare_state_states_nothing() -> None:
    only = build_flow({"states": [{"id": "a"}]}).by_state["a"]
    assert (only.kind, only.prompt.text, only.audio_policy.timeout_ms) == (None, None, None)
    assert (only.locked_choice, only.tools, only.transitions, only.check_on_entry) == (None, (), (), False)


def test_choices_and_tools() -> None:
    options = [{"value": 1, "phrases": ["one"], "dtmf": "1"}, {"value": None}]
    tools = [{"name": "t", "read_only": False, "args": ["x"], "saves": {"k": "s"}}]
    menu = state("a", locked_choice={"slot": "s", "options": options}, tools=tools)
    read = build_flow(flow([menu]))
    choice = read.states[0].locked_choice
    assert choice is not None
    assert choice.options == (Option(1, ("one",), "1"), Option(None, (), None))
    assert read.states[0].tools[0].saves == {"k": "s"}


@pytest.mark.parametrize(
    ("raw", "problems"),
    [
        ({"flow_id": 3}, ("flow_id",)),
        ({"states": {}}, ("states",)),
        ({"states": [3, {"kind": "menu"}]}, ("states[0]", "states[1].id")),
        ({"slots": [{"name": None}, {"name": "a", "classification": 1}]},
         ("slots[0].name", "slots[1].classification")),
        ({"states": [{"id": "a", "transitions": [{"when": 1}]}]},
         ("states[0].transitions[0].to", "states[0].transitions[0].when")),
        ({"states": [{"id": "a", "prompt": "hi", "required_slots": ["x", 1]}]},
         ("states[0].prompt", "states[0].required_slots[1]")),
        ({"states": [{"id": "a", "max_no_progress_loops": -1}]}, ("states[0].max_no_progress_loops",)),
        ({"states": [{"id": "a"}, {"id": "a"}], "slots": [{"name": "s"}, {"name": "s"}]},
         ("slots: s twice", "states: a twice")),
    ],
)  # fmt: skip
def test_wrong_types_are_noted_and_left_out(raw: dict[str, Any], problems: tuple[str, ...]) -> None:
    assert tuple(sorted(build_flow(raw).problems)) == tuple(sorted(problems))


def test_the_first_of_an_id_is_found_and_repeats_are_named() -> None:
    edges = [{"edge_id": "e", "to": "b"}, {"edge_id": "e", "to": "c"}]
    read = build_flow({"states": [{"id": "a", "transitions": edges}, {"id": "a", "goal": "other"}]})
    assert read.by_edge["e"].to == "b"
    assert read.by_state["a"].goal is None
    assert read.repeated_edges == ("e",)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "not JSON"),
        ("[]", "not a JSON object"),
        ('{"schema": "riff.flow/v2"}', "of another schema than riff.flow/v1"),
        ('{"schema": 7}', "of another schema than riff.flow/v1"),
    ],
)
def test_a_broken_flow_is_unreadable(tmp_path: Path, content: bytes | str, reason: str) -> None:
    files = opened(tmp_path, content)
    assert read_flow(files, LIMITS) is None
    artifact = files.artifacts["flow.json"]
    assert (artifact.status, artifact.reason) == ("unreadable", reason)


def test_problems_count_as_malformed(tmp_path: Path) -> None:
    files = opened(tmp_path, flow(slots=[slot("a", type=4)], initial_state=2))
    read = read_flow(files, LIMITS)
    assert isinstance(read, Flow)
    assert files.artifacts["flow.json"].malformed == 2
