"""Variables and context at a cursor (contract 2.4): entry, at cursor, exit, access, last writer, changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.debug import cursor as moves
from engine.debug import projection
from engine.hydrate.call import Call
from engine.hydrate.pipeline import open_call
from engine.model.artifact import Cell
from engine.model.views import Cursor, VariableRow
from tests.calls import flow, row, slot, state, write_call
from tests.debug.helpers import at, journey, nothing, sample


def rows_at(call: Call, event_id: str) -> dict[str, VariableRow]:
    """The rows at an event, by slot."""
    return {row.slot: row for row in projection.variables(call, at(call, event_id))}


def said(cell: Cell) -> Any:
    """What a cell says, in one value."""
    if cell.availability != "available":
        return f"{cell.availability}: {cell.reason}"
    return "unset" if cell.unset else cell.value


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Call:
    return journey(tmp_path_factory.mktemp("values"))


@pytest.mark.parametrize(
    ("event_id", "name", "entry", "now", "exit", "writer", "write", "changed"),
    [
        ("drv:entry_boundary:bus:1", "a", "x", "x", "x", "host (seed)", "bus:2", False),
        ("bus:5", "via", "unset", "unset", "menu", None, None, False),
        ("bus:6", "via", "unset", "menu", "menu", "edge:menu:0 (transition_set)", "bus:6", True),
        ("bus:10", "via", "unset", "menu", "menu", "edge:menu:0 (transition_set)", "bus:6", True),
        ("bus:11", "a", "x", "x", "y", "host (seed)", "bus:2", False),
        ("bus:12", "a", "x", "y", "y", "choice (resolver)", "bus:12", True),
        ("bus:13", "a", "x", "y", "y", "choice (resolver)", "bus:12", True),
        ("drv:exit_boundary:bus:15", "a", "x", "y", "y", "choice (resolver)", "bus:12", True),
        ("bus:11", "stray", 1, 1, 1, "nobody (direct)", "bus:8", False),
        ("bus:17", "a", "y", "y", "unavailable: no_exit_boundary", "choice (resolver)", "bus:12", False),
        ("bus:18", "a", "y", "unset", "unavailable: no_exit_boundary", "reset (direct)", "bus:18", True),
    ],
)
def test_a_slot_at_a_cursor(
    call: Call, event_id: str, name: str, entry: Any, now: Any, exit: Any, writer: str | None,
    write: str | None, changed: bool,
) -> None:  # fmt: skip
    row = rows_at(call, event_id)[name]
    assert (said(row.entry), said(row.at_cursor), said(row.exit)) == (entry, now, exit)
    assert (row.last_writer, row.last_write, row.changed) == (writer, write, changed)


def test_every_declared_and_observed_slot_has_a_row_in_slot_order(call: Call) -> None:
    assert [row.slot for row in projection.variables(call, at(call, "bus:4"))] == [
        "a",
        "via",
        "phone",
        "stray",
    ]


def test_a_hidden_slot_is_redacted_and_still_has_its_writer(call: Call) -> None:
    row = rows_at(call, "bus:12")["phone"]
    assert said(row.at_cursor) == "redacted: classification:pii"
    assert (row.at_cursor.value, row.last_writer) == (None, "transport (seed)")


def test_reveal_shows_it(tmp_path: Path) -> None:
    assert said(rows_at(journey(tmp_path, reveal=True), "bus:12")["phone"].at_cursor) == "555 0100"


@pytest.mark.parametrize(
    ("event_id", "name", "labels"),
    [
        ("bus:3", "a", [("no read evidence", None)]),
        ("bus:4", "a", [("runtime read (guard)", "bus:4")]),
        ("drv:exit_boundary:bus:7", "via", [("edge write", "bus:6")]),
        ("bus:4", "phone", [("static reference", None)]),
        ("bus:11", "a", [("no read evidence", None)]),
        ("bus:12", "a", [("written here", "bus:12")]),
        ("bus:14", "phone", [("no read evidence", None)]),
    ],
)
def test_access_is_what_was_seen_up_to_the_cursor(
    call: Call, event_id: str, name: str, labels: list[tuple[str, str | None]]
) -> None:
    assert [(one.label, one.event_id) for one in rows_at(call, event_id)[name].access] == labels


def test_gate_2_property_menu_attribution() -> None:
    call = sample("property-menu")
    said_status = next(
        event
        for event in call.order.micro.tolist()
        if call.kind(event) == "caller_transcript" and call.ledger.payload(event).get("text") == "Status"
    )
    writes = [event for event in call.writes_of("_route") if call.event_id(event) == "bus:21"]
    for event in (said_status, *writes):
        cursor = moves.cursor_of(call, event)
        assert projection.visit_id(call, cursor.visit) == "menu#1"
    announce = moves.at_visit(call, "menu_full_announce#1").visit
    kinds = {
        projection.event_row(call, announce, i).kind for i in range(projection.micro_count(call, announce))
    }
    assert "caller_transcript" not in kinds
    touched = rows_at(call, "drv:exit_boundary:bus:11")["_route"]
    assert said(touched.exit) == "unset" and not touched.changed


def test_gate_2_route_is_unset_before_its_write_and_set_from_there_on() -> None:
    call = sample("property-menu")
    before, now = rows_at(call, "bus:20")["_route"], rows_at(call, "bus:21")["_route"]
    assert (said(before.at_cursor), before.last_writer, before.changed) == ("unset", None, False)
    assert (said(now.at_cursor), now.last_writer, now.last_write) == (
        "existing_request", "locked_choice (resolver)", "bus:21"
    )  # fmt: skip
    assert now.changed and said(now.entry) == "unset" and said(now.exit) == "existing_request"


def test_without_a_baseline_nothing_is_known_before_a_write() -> None:
    row = rows_at(sample("legacy-ring"), "bus:14")["_route"]
    assert said(row.at_cursor) == "unavailable: no_baseline"
    assert (row.last_writer, row.last_write, row.changed) == (None, None, False)
    now = rows_at(sample("legacy-ring"), "bus:15")["_route"]
    assert (said(now.at_cursor), now.changed) == ("pay_rent", True)


def contradiction(where: Path, *rows: dict[str, Any]) -> Call:
    """A visit with seeds, then rows from seq 4 on."""
    return open_call(
        write_call(
            where,
            events=[
                row(1, "session_started", 0, initial_state="menu"),
                row(2, "session_slots_seeded", 0, slots={"a": {"value": "<str:5>", "writer": "host"}}),
                row(3, "state_entered", 0, state_id="menu", visit_id="menu#1"),
                *rows,
            ],
            flow=flow([state("menu")], [slot("a"), slot("b")]),
        )
    )


def test_a_boundary_write_recorded_after_the_next_entry_counts_in_both_visits(tmp_path: Path) -> None:
    menu = state("menu", [("always", "bye")])
    menu["transitions"][0]["sets"] = [{"slot": "b", "value": 7}]
    call = open_call(
        write_call(
            tmp_path,
            events=[
                row(1, "session_started", 0, initial_state="menu"),
                row(2, "session_slots_seeded", 0, slots={}),
                row(3, "state_entered", 0, state_id="menu"),
                row(4, "transition_verdict", 1, winner="menu:0", candidates=[
                    {"edge_id": "menu:0", "to": "bye", "when": "always", "result": "matched"}]),
                row(5, "state_exited", 2, state_id="menu", to_state="bye", edge_id="menu:0"),
                row(6, "state_entered", 3, state_id="bye"),
                row(7, "slot_write", 4, slot="b", old=None, new=7, kind="transition_set", writer="w",
                    edge_id="menu:0"),
                row(8, "turn_complete", 5, turn_index=0),
            ],
            flow=flow([menu, state("bye")], [slot("b")]),
        )
    )  # fmt: skip
    assert moves.at_event(call, "bus:7").visit == 0
    found = {event_id: rows_at(call, event_id)["b"] for event_id in ("bus:5", "bus:7", "bus:6", "bus:8")}
    assert [said(one.at_cursor) for one in found.values()] == ["unset", 7, 7, 7]
    assert [said(one.entry) for one in found.values()] == ["unset", "unset", 7, 7]
    assert [one.last_write for one in found.values()] == [None, "bus:7", "bus:7", "bus:7"]
    assert said(found["bus:5"].exit) == 7
    assert [one.label for one in found["bus:7"].access] == ["edge write"]


def test_nobody_is_named_for_a_value_that_only_a_snapshot_tells(tmp_path: Path) -> None:
    call = contradiction(
        tmp_path,
        row(4, "slot_write", 1, slot="b", old=None, new=1, kind="direct", writer="w"),
        row(5, "turn_complete", 2, turn_index=0),
        row(6, "state_slot_snapshot", 3, phase="entry", slots={"a": "<str:5>", "b": 2}),
    )
    assert rows_at(call, "bus:4")["b"].last_writer == "w (direct)"
    between = rows_at(call, "bus:5")["b"]
    assert (said(between.at_cursor), between.last_writer) == ("unavailable: fold_mismatch", None)
    after = rows_at(call, "bus:6")["b"]
    assert (said(after.at_cursor), after.last_writer, after.last_write) == (2, None, None)


def test_a_snapshot_that_tells_more_of_a_value_keeps_its_writer(tmp_path: Path) -> None:
    call = contradiction(tmp_path, row(4, "state_slot_snapshot", 3, phase="entry", slots={"a": "alpha"}))
    assert said(rows_at(call, "bus:3")["a"].at_cursor) == "redacted: recorded_redacted"
    now = rows_at(call, "bus:4")["a"]
    assert (said(now.at_cursor), now.last_writer) == ("alpha", "host (seed)")


def test_a_malformed_write_has_no_writer(tmp_path: Path) -> None:
    call = contradiction(
        tmp_path,
        row(4, "slot_write", 1, slot="b", old=None, new=1, kind="direct"),
        row(5, "slot_write", 2, slot="b", old=1, kind="direct", writer="w"),
    )
    assert rows_at(call, "bus:4")["b"].last_writer == "? (direct)"
    assert rows_at(call, "bus:5")["b"].last_writer is None


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [(1, 1, False), (1, 1.0, True), (1, True, True), (None, None, False), ([1], [1], False), ("1", 1, True)],
)
def test_changed_is_strict_about_json(tmp_path: Path, old: Any, new: Any, changed: bool) -> None:
    call = contradiction(
        tmp_path,
        row(4, "slot_write", 1, slot="b", old=None, new=old, kind="direct", writer="w"),
        row(5, "state_exited", 2, state_id="menu", visit_id="menu#1", to_state="menu"),
        row(6, "state_entered", 3, state_id="menu", visit_id="menu#2"),
        row(7, "slot_write", 4, slot="b", old=old, new=new, kind="direct", writer="w"),
    )
    assert rows_at(call, "bus:7")["b"].changed is changed
    assert rows_at(call, "bus:7")["b"].last_write == "bus:7"


def test_a_visit_never_seen_entered_has_no_entry_values(tmp_path: Path) -> None:
    call = open_call(
        write_call(
            tmp_path,
            events=[
                row(7, "guard_evaluated", 0, state_id="menu", guard="always", result=True, slots_read=[]),
                row(
                    8, "slot_write", 0, state_id="menu", slot="a", old=None, new=1, kind="direct", writer="w"
                ),
                row(9, "state_exited", 9, state_id="menu", to_state="bye"),
            ],
        )
    )
    row_ = rows_at(call, "bus:8")["a"]
    assert (said(row_.entry), said(row_.at_cursor)) == ("unavailable: entry_missing", 1)


def test_context_is_what_the_snapshots_of_the_visit_say(tmp_path: Path) -> None:
    call = contradiction(
        tmp_path,
        row(4, "state_context_snapshot", 1, phase="entry", turn_count=3, recent_states=["x"],
            pending_transition=None, extra_field={"a": "<str:3>"}, unavailable_fields=["decision_epoch"]),
        row(5, "turn_complete", 2, turn_index=0),
    )  # fmt: skip
    found = {row.field: row for row in projection.context(call, at(call, "bus:5"))}
    assert list(found)[:3] == ["turn_count", "no_progress_streak", "max_no_progress_loops"]
    assert list(found)[-1] == "extra_field"
    assert said(found["turn_count"].entry) == 3 and found["turn_count"].entry.event_id == "bus:4"
    assert said(found["turn_count"].exit) == "unavailable: not_recorded"
    assert said(found["pending_transition"].entry) is None
    assert said(found["no_progress_streak"].entry) == "unavailable: not_recorded"
    assert said(found["decision_epoch"].entry) == "unavailable: listed_unavailable"
    assert said(found["extra_field"].entry) == "redacted: recorded_redacted"
    assert "context_fingerprint" not in found and "phase" not in found


def test_without_snapshots_every_context_field_is_not_recorded(call: Call) -> None:
    rows = projection.context(call, at(call, "bus:12"))
    assert len(rows) == 8
    assert {said(cell) for row in rows for cell in (row.entry, row.exit)} == {"unavailable: not_recorded"}


def test_a_call_without_visits_has_no_values(tmp_path: Path) -> None:
    call = nothing(tmp_path)
    for cursor in (Cursor(0, 0), Cursor(0, 0, 0)):
        assert projection.variables(call, cursor) == []
        assert projection.context(call, cursor) == []
        assert projection.access_here(call, cursor) == {}
