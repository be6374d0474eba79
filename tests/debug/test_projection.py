"""Rows that clients draw (contract 2.5 to 2.8, 3.2): visits, events, edges, status, findings, the lane."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.debug import cursor as moves
from engine.debug import projection
from engine.hydrate.call import Call
from engine.hydrate.pipeline import open_call
from engine.model.errors import EngineError
from engine.model.views import Cursor, EdgeTable
from tests.calls import flow, row, slot, state, write_call
from tests.debug.helpers import at, journey, nothing, sample


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Call:
    return journey(tmp_path_factory.mktemp("projection"))


def test_visits(call: Call) -> None:
    assert projection.visit_count(call) == 3
    assert [projection.visit_id(call, visit) for visit in range(3)] == ["menu#1", "ask#1", "menu#2"]
    assert [projection.state_id(call, visit) for visit in range(3)] == ["menu", "ask", "menu"]
    assert [projection.micro_count(call, visit) for visit in range(3)] == [10, 8, 4]
    assert projection.goal(call, 0) == "Find out what is wanted"
    assert projection.visit_findings(call, 0) == []


def test_a_flow_of_another_version_has_no_goals(tmp_path: Path) -> None:
    events = [row(1, "session_started", 0, initial_state="menu", flow_version="sha256:other")]
    call = open_call(
        write_call(tmp_path, events=[*events, row(2, "state_entered", 0, state_id="menu")], flow=flow())
    )
    assert projection.goal(call, 0) is None


def test_event_row(call: Call) -> None:
    row_ = projection.event_row(call, 1, 3)
    assert (row_.event_id, row_.seq, row_.clock_ms, row_.clock) == ("bus:12", 12, 400, "recorded")
    assert (row_.kind, row_.provenance, row_.attribution) == ("slot_write", "recorded", "explicit")
    derived = projection.event_row(call, 1, 0)
    assert (derived.seq, derived.provenance, derived.attribution) == (None, "derived", "derived")
    assert projection.event_row(call, 2, 3).clock == "none"


def test_event_payload_is_the_whole_redacted_envelope_as_json(call: Call) -> None:
    document = projection.event_payload(call, 0, 2)
    assert document["event_id"] == "bus:2"
    assert document["payload"]["slots"]["phone"]["value"] == "<redacted>"
    assert document == json.loads(json.dumps(document))


@pytest.mark.parametrize(("visit", "micro"), [(0, 10), (0, -1), (3, 0), (-1, 0)])
def test_no_row_where_no_event_is(call: Call, visit: int, micro: int) -> None:
    for ask in (projection.event_row, projection.event_payload):
        with pytest.raises(EngineError) as refused:
            ask(call, visit, micro)
        assert refused.value.code == "BAD_ARGUMENT"


def test_the_lane_of_unattributed_events(call: Call) -> None:
    assert projection.unattributed_count(call) == 2
    assert [projection.unattributed_row(call, i).event_id for i in range(2)] == ["bus:8", "bus:13"]
    assert projection.unattributed_row(call, 0).attribution == "none"
    assert "between visits" in projection.unattributed_envelope(call, 0)["reason"]
    with pytest.raises(EngineError):
        projection.unattributed_row(call, 2)
    with pytest.raises(EngineError):
        projection.unattributed_envelope(call, -1)


@pytest.mark.parametrize(
    ("event_id", "near"),
    [("bus:1", 0), ("bus:8", 0), ("bus:10", 1), ("bus:13", 1), ("bus:14", 2), ("bus:19", 2)],
)
def test_near_in_the_lane(call: Call, event_id: str, near: int) -> None:
    assert projection.unattributed_near(call, at(call, event_id)) == near


def test_status(call: Call) -> None:
    status = projection.status(call, at(call, "bus:12"))
    assert (status.event_id, status.visit_id, status.clock_ms, status.clock) == (
        "bus:12",
        "ask#1",
        400,
        "recorded",
    )
    assert (status.completeness, status.reasons) == ("incomplete", ["CONFLICTING_ATTRIBUTION"])
    assert (status.extra["position"], status.extra["events"], status.extra["micro_event_index"]) == (
        13,
        22,
        3,
    )
    lost = projection.status(call, at(call, "bus:8"))
    assert (lost.event_id, lost.visit_id) == ("bus:8", "menu#1")
    assert lost.extra["unattributed"] and lost.extra["position"] is None
    assert projection.status(call, at(call, "bus:19")).clock_ms is None


def test_findings_here(call: Call) -> None:
    assert [one.code for one in projection.findings_here(call, at(call, "bus:8"))] == [
        "CONFLICTING_ATTRIBUTION"
    ]
    assert projection.findings_here(call, at(call, "bus:12")) == []
    timed = projection.findings_here(sample("property-menu"), at(sample("property-menu"), "timed:0"))
    assert [one.finding_id for one in timed] == ["TRANSCRIPT_DISAGREEMENT:timed:0"]


def test_findings_are_redacted(tmp_path: Path) -> None:
    call = open_call(
        write_call(
            tmp_path,
            events=[
                row(1, "session_started", 0, initial_state="menu"),
                row(2, "session_slots_seeded", 0, slots={"pin": {"value": "1234", "writer": "w"}}),
                row(3, "state_entered", 0, state_id="menu"),
                row(4, "slot_write", 1, slot="pin", old="9999", new="1", kind="direct", writer="w"),
            ],
            flow=flow(slots=[slot("pin", "secret")]),
        )
    )
    for found in (projection.findings_here(call, at(call, "bus:4")), projection.visit_findings(call, 0)):
        data = next(one.data for one in found if one.code == "FOLD_MISMATCH")
        assert (data["folded"], data["claimed"]) == ("<redacted>", "<redacted>")


def verdicts(table: EdgeTable) -> dict[str, tuple[str, list[str]]]:
    return {row.edge_id: (row.verdict, [guard.event_id for guard in row.guards]) for row in table.rows}


def test_edges_follow_the_cursor(call: Call) -> None:
    assert verdicts(projection.edges(call, at(call, "bus:3"))) == {"menu:0": ("not_evaluated", [])}
    assert verdicts(projection.edges(call, at(call, "bus:4"))) == {"menu:0": ("not_evaluated", ["bus:4"])}
    decided = projection.edges(call, at(call, "bus:5"))
    assert verdicts(decided) == {"menu:0": ("won", ["bus:4"])}
    assert (decided.winner, decided.verdict_event) == ("menu:0", "bus:5")
    assert projection.edges(call, at(call, "bus:10")) == decided
    assert verdicts(projection.edges(call, at(call, "bus:8"))) == {"menu:0": ("won", ["bus:4"])}
    assert verdicts(projection.edges(call, at(call, "bus:12"))) == {
        "ask:0": ("unavailable", [])
    }  # none recorded
    assert verdicts(projection.edges(call, at(call, "bus:19"))) == {"menu:0": ("not_evaluated", [])}


def test_at_the_exit_the_final_verdict_speaks(tmp_path: Path) -> None:
    listed = [{"edge_id": "menu:0", "to": "bye", "when": "always", "result": "matched"}]
    none = [{"edge_id": "menu:0", "to": "bye", "when": "always", "result": "no"}]
    call = open_call(
        write_call(
            tmp_path,
            events=[
                row(1, "session_started", 0, initial_state="menu"),
                row(2, "state_entered", 0, state_id="menu"),
                row(3, "transition_verdict", 1, winner=None, candidates=none),
                row(4, "transition_verdict", 2, winner="menu:0", candidates=listed, final=True),
                row(5, "transition_verdict", 3, winner=None, candidates=none),
                row(6, "state_exited", 4, state_id="menu", to_state="bye"),
            ],
            flow=flow([state("menu", [("always", "bye")]), state("bye")]),
        )
    )
    found = {
        event_id: projection.edges(call, at(call, event_id)).rows[0].verdict
        for event_id in ("bus:2", "bus:3", "bus:4", "bus:5", "bus:6", "drv:exit_boundary:bus:6")
    }
    assert list(found.values()) == ["not_evaluated", "lost", "won", "lost", "lost", "won"]


def test_conversation_follows_the_cursor() -> None:
    call = sample("property-menu")
    count = projection.conversation_count(call)
    assert count > 3
    assert projection.conversation_item(call, 0).lane == "agent"
    numbers = []
    stop_at_end = None
    cursor = moves.start(call)
    while stop_at_end is None:
        numbers.append(projection.conversation_index(call, cursor))
        stop = moves.step(call, cursor)
        cursor, stop_at_end = stop.cursor, stop.at
    assert numbers[0] == -1 and numbers[-1] == count - 1
    assert numbers == sorted(numbers)


def test_beats() -> None:
    call = sample("property-menu")
    assert list(projection.beats(call, 1)) == [
        "intended", "generated", "sent", "heard", "caller_said", "decided"
    ]  # fmt: skip


def test_a_call_without_visits_has_empty_answers(tmp_path: Path) -> None:
    call = nothing(tmp_path)
    for cursor in (Cursor(0, 0), Cursor(0, 0, 0)):
        assert projection.edges(call, cursor) == EdgeTable([], None, None)
        assert projection.unattributed_near(call, cursor) in (0, 1)
        assert projection.conversation_index(call, cursor) == -1
    status = projection.status(call, Cursor(0, 0))
    assert (status.event_id, status.visit_id, status.clock_ms, status.clock) == (None, None, None, "none")
    assert projection.status(call, Cursor(0, 0, 0)).event_id == "bus:1"
    assert (
        projection.visit_count(call)
        == projection.micro_count(call, 0)
        == projection.conversation_count(call)
        == 0
    )
    assert projection.visit_id(call, 0) == projection.state_id(call, 0) == ""
    assert projection.goal(call, 0) is None
    assert projection.beats(call, 0) == {}
    assert projection.visit_findings(call, 0) == []
    assert [one.code for one in projection.findings_here(call, Cursor(0, 0, 0))] == [
        one.code for one in call.findings if one.event_id == "bus:1"
    ]
    with pytest.raises(EngineError):
        projection.event_row(call, 0, 0)


def test_a_call_of_turns_only(tmp_path: Path) -> None:
    turns = [
        {"schema": "riff.turn/v1", "session_id": "s", "turn_index": 0, "from_state": "a", "to_state": "b",
         "post_turn_snapshot": {"x": 1}},
        {"schema": "riff.turn/v1", "session_id": "s", "turn_index": 1, "from_state": "b", "to_state": "b",
         "post_turn_snapshot": {"x": 2}},
    ]  # fmt: skip
    call = open_call(write_call(tmp_path, turns=turns))
    assert moves.step(call, moves.start(call), 99).at == "end"
    for visit in range(projection.visit_count(call)):
        for micro in range(projection.micro_count(call, visit)):
            cursor = Cursor(visit, micro)
            assert projection.event_row(call, visit, micro).kind
            assert [row.last_writer for row in projection.variables(call, cursor)] == [None]
            projection.edges(call, cursor)
            projection.status(call, cursor)
    assert moves.goto(call, call.event_id(0)).visit == 0
