"""Access evidence (contract 2.6): what a row or the flow proves, with where it says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.debug import cursor as moves
from engine.debug import projection
from engine.hydrate import access
from engine.hydrate.call import Call
from engine.model.views import Access
from tests.calls import flow, row, slot
from tests.hydrate.ask import entered, exited, opened, snapshot, start, two_states, verdict, write

READ, CONTEXT, NOT_RECORDED = access.RUNTIME_READ, access.CONTEXT_READ, access.CONTEXT_NOT_RECORDED
WRITTEN, EDGE, STATIC, NONE = access.WRITTEN, access.EDGE_WRITE, access.STATIC, access.NO_EVIDENCE
LABELS = (READ, CONTEXT, NOT_RECORDED, WRITTEN, EDGE, STATIC, NONE)


def guard(seq: int, reads: Any, **more: Any) -> dict[str, Any]:
    return row(seq, "guard_evaluated", guard="always", result=False, slots_read=reads, **more)


def at(call: Call, event_id: str) -> dict[str, list[tuple[str, str | None]]]:
    """Slot → words and events, at an event."""
    rows = projection.variables(call, moves.at_event(call, event_id))
    return {one.slot: [(item.label, item.event_id) for item in one.access] for one in rows}


def fields_at(call: Call, event_id: str) -> dict[str, tuple[str, str | None]]:
    """Context field → the word and the event of its only evidence, at an event."""
    found = {}
    for one in projection.context(call, moves.at_event(call, event_id)):
        (item,) = one.access
        found[one.field] = (item.label, item.event_id)
    return found


def test_the_words_are_those_of_the_contract_each_with_a_glyph_and_a_source_of_its_own() -> None:
    assert [label.word for label in LABELS] == [
        "runtime read (guard)", "context read (guard)", "context reads not recorded", "written here",
        "edge write", "static reference", "no read evidence",
    ]  # fmt: skip
    assert len({label.glyph for label in LABELS}) == len({label.source for label in LABELS}) == len(LABELS)
    assert not any("ignored" in part for label in LABELS for part in label)


SLOTS = [slot(name) for name in ("read", "written", "set", "static", "untouched", "both", "earlier")]
ROWS = start(
    guard(4, ["read", "both"]),
    write(5, "written", None, 1),
    write(6, "both", None, 1),
    guard(7, ["both"]),
    verdict(8, "menu:0"),
    write(9, "set", None, "menu", "transition_set", edge_id="menu:0"),
    exited(10, "menu", "bye"),
    entered(11, "bye"),
    guard(12, ["earlier"]),
)


def _call(where: Path, **more: Any) -> Call:
    declared = two_states(sets=[("set", "menu")], slots=SLOTS)
    declared["states"][0]["static_reads"] = ["static", "read"]
    del declared["flow_version"]
    return opened(where, ROWS, flow=declared | more)


def test_each_label_comes_from_its_own_evidence(tmp_path: Path) -> None:
    assert at(_call(tmp_path), "bus:10") == {
        "read": [(READ.word, "bus:4"), (STATIC.word, None)],
        "written": [(WRITTEN.word, "bus:5")],
        "set": [(EDGE.word, "bus:9")],
        "static": [(STATIC.word, None)],
        "untouched": [(NONE.word, None)],
        "both": [(READ.word, "bus:7"), (WRITTEN.word, "bus:6")],
        "earlier": [(NONE.word, None)],
    }


def test_evidence_is_that_up_to_the_cursor(tmp_path: Path) -> None:
    call = _call(tmp_path)
    assert at(call, "bus:3")["both"] == [(NONE.word, None)]
    assert at(call, "bus:4")["both"] == [(READ.word, "bus:4")]
    assert at(call, "bus:6")["both"] == [(READ.word, "bus:4"), (WRITTEN.word, "bus:6")]
    assert at(call, "bus:8")["set"] == [(NONE.word, None)]


def test_evidence_is_that_of_the_cursors_visit(tmp_path: Path) -> None:
    found = at(_call(tmp_path), "bus:12")
    assert found.pop("earlier") == [(READ.word, "bus:12")]
    assert set(map(tuple, found.values())) == {((NONE.word, None),)}


def test_an_edge_write_recorded_after_the_targets_entry_is_the_sources(tmp_path: Path) -> None:
    rows = start(
        verdict(4, "menu:0"), exited(5, "menu", "bye"), entered(6, "bye"),
        write(7, "set", None, "menu", "transition_set", edge_id="menu:0"),
    )  # fmt: skip
    call = opened(tmp_path, rows, flow=two_states(sets=[("set", "menu")]))
    assert at(call, "drv:exit_boundary:bus:5")["set"] == [(EDGE.word, "bus:7")]
    assert at(call, "bus:6")["set"] == [(NONE.word, None)]


@pytest.mark.parametrize(
    "rows",
    [
        [snapshot(4, "entry", {"a": 1})],
        [row(4, "slot_filled", slot="a", source="caller")],
        [row(4, "tool_called", tool="t", call_id="c", args={"a": 1})],
        [row(4, "locked_choice_evaluated", from_state="menu", turn_index=0, choice="x", token="a")],
        [guard(4, {"a": 1})],  # no list of names
        [guard(4, [None, 3])],
    ],
)
def test_nothing_else_is_a_read_or_a_write(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    call = opened(tmp_path, start(*rows), flow=flow(slots=[slot("a")]))
    assert at(call, "bus:4")["a"] == [(NONE.word, None)]


def test_a_flow_of_another_version_refers_to_nothing(tmp_path: Path) -> None:
    assert at(_call(tmp_path, flow_version="sha256:0"), "bus:3")["static"] == [(NONE.word, None)]


def test_rows_without_a_seq_read_and_write_nothing(tmp_path: Path) -> None:
    loose: list[dict[str, Any]] = [guard(0, ["a"], clock_ms=20), write(0, "a", None, 1, clock_ms=20)]
    for one in loose:
        del one["seq"]
    rows = [dict(one, clock_ms=10) for one in start()]
    call = opened(tmp_path, [*rows, *loose], flow=flow(slots=[slot("a")]))
    last = moves.end(call)
    assert [item.label for one in projection.variables(call, last) for item in one.access] == [NONE.word]
    assert [one.guards for one in projection.edges(call, last).rows] == [[]]


def _context(seq: int) -> dict[str, Any]:
    return row(seq, "state_context_snapshot", phase="entry", turn_count=1, no_progress_streak=0)


def test_context_reads_are_named_where_they_are_recorded(tmp_path: Path) -> None:
    rows = start(
        _context(4),
        guard(5, [], context_reads={"no_progress_streak": 0}),
        guard(6, [], context_reads={}),
        guard(7, []),
        guard(8, [], context_reads={"no_progress_streak": 0, "turn_count": 1}),
    )
    call = opened(tmp_path, rows)
    expected = {
        4: (NONE.word, None, NONE.word, None),
        5: (CONTEXT.word, "bus:5", NONE.word, None),
        6: (CONTEXT.word, "bus:5", NONE.word, None),
        7: (CONTEXT.word, "bus:5", NOT_RECORDED.word, "bus:7"),
        8: (CONTEXT.word, "bus:8", CONTEXT.word, "bus:8"),
    }
    for seq, words in expected.items():
        found = fields_at(call, f"bus:{seq}")
        assert (*found["no_progress_streak"], *found["turn_count"]) == words


def test_every_piece_of_evidence_names_its_source(tmp_path: Path) -> None:
    call = _call(tmp_path)
    for number in call.order.micro.tolist():
        for one in projection.variables(call, moves.cursor_of(call, number)):
            for item in one.access:
                assert isinstance(item, Access)
                assert item.source in {label.source for label in LABELS if label.word == item.label}
                assert (item.event_id is None) == (item.label in (STATIC.word, NONE.word))
