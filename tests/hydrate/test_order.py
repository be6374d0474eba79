"""Ids, order and stepping order (contract 2.2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.hydrate.call import Call
from tests.calls import SESSION, row
from tests.hydrate.ask import (
    committed,
    entered,
    event,
    exited,
    found,
    opened,
    owner,
    start,
    started,
    steps,
    two_states,
    verdict,
    write,
)

CLOCKED = [
    row(1, "session_started", 0, initial_state="menu"),
    row(2, "state_entered", 0, state_id="menu"),
    row(5, "note", 1000),
    row(6, "note", 2000),
    row(7, "note", 2000),
    row(8, "note", 3000),
]
"""One visit with clocks; 3 and 4 were not retained."""


def said(start_ms: Any, number: int = 0, **more: Any) -> dict[str, Any]:
    return {"row": number, "speaker": "caller", "text": "yes", "start_ms": start_ms, "end_ms": None, **more}


def traced(number: int = 0, **more: Any) -> dict[str, Any]:
    return {"row": number, "type": "suppressed", "node": "menu", "reason": "quiet", **more}


def loose(**more: Any) -> dict[str, Any]:
    """A bus row whose ``seq`` is not valid."""
    return {"type": "note", "session_id": SESSION, "seq": "9", **more}


def lost(call: Call) -> list[str]:
    return [call.event_id(number) for number in call.unattributed]


# The order of all events: (seq, suborder, id).


def test_one_seq_holds_derived_bus_trace_live_timed_derived(tmp_path: Path) -> None:
    call = opened(
        tmp_path,
        [*CLOCKED, row(9, "state_exited", 4000, state_id="menu", to_state=None)],
        trace=[traced(1, seq=2), traced(2, seq=6)],
        live=[said(2500, end_ms=2900)],
        timed=[said(2500, end_ms=2900)],
    )
    assert steps(call, 0, derived=True) == [
        "drv:entry_boundary:bus:1", "bus:1", "bus:2", "trace:1", "bus:5", "bus:6", "trace:2", "bus:7",
        "live:0", "timed:0", "drv:transcript_agreement:timed:0", "bus:8", "bus:9", "drv:exit_boundary:bus:9",
    ]  # fmt: skip


def test_ids_are_compared_by_their_numbers(tmp_path: Path) -> None:
    numbers = [10, 9, 2, 100, 1]
    call = opened(
        tmp_path,
        CLOCKED,
        trace=[traced(number, seq=6) for number in numbers],
        live=[said(2500, number, speaker="agent") for number in numbers],
    )
    beside = [event_id for event_id in steps(call, 0) if not event_id.startswith("bus")]
    assert beside == [f"{name}:{number}" for name in ("trace", "live") for number in sorted(numbers)]


def test_derived_events_of_one_place_stand_by_id(tmp_path: Path) -> None:
    rows = [
        row(1, "session_started", 0, initial_state="menu"),
        row(2, "state_entered", 0, state_id="menu"),
        row(3, "caller_transcript", 100, text="yes", source="gemini", input_id="i1"),
        row(4, "caller_transcript", 100, text="no", source="gemini", input_id="i2"),
        row(5, "state_exited", 200, state_id="menu", to_state="bye"),
        row(6, "state_entered", 900, state_id="bye"),
    ]
    heard = [said(300, 0, text="nope", input_id="i2"), said(300, 1, text="yes", input_id="i1")]
    call = opened(tmp_path, rows, timed=heard)
    assert steps(call, 0, derived=True)[-5:] == [
        "timed:0", "timed:1", "drv:exit_boundary:bus:5", "drv:transcript_agreement:timed:1",
        "drv:transcript_disagreement:timed:0",
    ]  # fmt: skip


def test_a_trace_row_in_a_missing_range_stands_by_its_own_seq(tmp_path: Path) -> None:
    trace = [traced(0, seq=4), traced(1, seq=3), traced(2, seq=2), traced(3, seq=99)]
    call = opened(tmp_path, CLOCKED, trace=trace, live=[said(500)])
    assert steps(call, 0) == [
        "bus:1", "bus:2", "trace:2", "live:0", "trace:1", "trace:0", "bus:5", "bus:6", "bus:7", "bus:8",
        "trace:3",
    ]  # fmt: skip


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_several_events_at_one_seq_are_numbered_by_kind_and_time(
    tmp_path: Path, order: tuple[int, int]
) -> None:
    two = [row(4, "dtmf_received", 50, digit="1"), row(4, "barge_in", 90)]
    call = opened(tmp_path, start(*(two[at] for at in order), row(5, "note")))
    assert steps(call, 0)[-3:] == ["bus:4", "bus:4.1", "bus:5"]
    assert (event(call, "bus:4").kind, event(call, "bus:4.1").kind) == ("barge_in", "dtmf_received")
    assert found(call) == ["DUPLICATE_SEQ:bus:4.1"]


# Rows without a seq.

PLACED: dict[str, tuple[dict[str, Any], str | None]] = {
    "at a clock": ({"start_ms": 1000}, "after bus:5 by clock"),
    "between two clocks": ({"start_ms": 1999.5}, "after bus:5 by clock"),
    "the last of equal clocks": ({"start_ms": 2000}, "after bus:7 by clock"),
    "after the last": ({"start_ms": 1e9}, "after bus:8 by clock"),
    "before the first": ({"start_ms": -1}, None),
    "without a clock": ({"start_ms": None}, None),
    "a clock of a wrong type": ({"start_ms": "1000"}, None),
}


@pytest.mark.parametrize("case", PLACED)
@pytest.mark.parametrize("name", ["live", "timed"])
def test_a_transcript_row_is_placed_by_its_clock(tmp_path: Path, case: str, name: str) -> None:
    changed, placement = PLACED[case]
    rows: dict[str, Any] = {name: [said(None) | changed]}
    call = opened(tmp_path, CLOCKED, **rows)
    shown = event(call, f"{name}:0")
    assert shown.placement == placement
    assert shown.visit_id == ("menu#1" if placement else None)
    assert lost(call) == ([] if placement else [f"{name}:0"])
    assert found(call, "CONFLICTING_ATTRIBUTION") == []


@pytest.mark.parametrize(
    ("row_", "placement"),
    [
        (traced(clock_ms=1500), "after bus:5 by clock"),
        (traced(clock_ms=-1), None),
        (traced(), None),
    ],
)
def test_a_trace_row_without_seq_is_placed_by_its_clock(
    tmp_path: Path, row_: dict[str, Any], placement: str | None
) -> None:
    call = opened(tmp_path, CLOCKED, trace=[row_])
    assert event(call, "trace:0").placement == placement
    assert lost(call) == ([] if placement else ["trace:0"])
    assert found(call, "CONFLICTING_ATTRIBUTION") == []


def test_a_trace_row_before_the_first_seq_has_an_order_and_no_place(tmp_path: Path) -> None:
    rows = [row(5, "state_entered", 0, state_id="menu"), row(6, "note", 10)]
    call = opened(tmp_path, rows, trace=[traced(seq=4, clock_ms=5)])
    assert owner(call, "trace:0") == (None, "none")
    assert found(call, "CONFLICTING_ATTRIBUTION") == ["CONFLICTING_ATTRIBUTION:trace:0"]


LOOSE: dict[str, tuple[dict[str, Any], str | None]] = {
    "its clock": (loose(clock_ms=1500), "after bus:5 by clock"),
    "its wall clock": (loose(ts=row(0, "", 1500)["ts"]), "after bus:5 by clock"),
    "neither": (loose(), None),
    "a clock before the first": (loose(clock_ms=-1), None),
}


@pytest.mark.parametrize("case", LOOSE)
def test_a_bus_row_without_a_valid_seq_is_placed_by_clock(tmp_path: Path, case: str) -> None:
    made, placement = LOOSE[case]
    call = opened(tmp_path, CLOCKED, durable=[*CLOCKED, made])
    shown = event(call, "bus:state_trace.jsonl:7")
    assert (shown.placement, shown.seq, shown.visit_id) == (placement, None, "menu#1" if placement else None)
    conflict = [] if placement else ["CONFLICTING_ATTRIBUTION:bus:state_trace.jsonl:7"]
    assert found(call, "CONFLICTING_ATTRIBUTION") == conflict
    assert found(call, "MALFORMED_EVENT") == ["MALFORMED_EVENT:bus:state_trace.jsonl:7"]


def test_a_derived_clock_places_rows_and_an_untrusted_one_does_not(tmp_path: Path) -> None:
    first = row(2, "note", 0)
    rows = [started(1, clock_ms=0), first, row(3, "note", ts=first["ts"] + 1), row(4, "note", 9000),
            row(5, "note", 1500), row(6, "note", 1600)]  # fmt: skip
    call = opened(tmp_path, rows, live=[said(1200, 0, speaker="agent"), said(9500, 1, speaker="agent")])
    assert event(call, "bus:4").clock == "none"
    assert event(call, "live:0").placement == "after bus:3 by clock"
    assert event(call, "live:1").placement == "after bus:6 by clock"


some_clocks = st.lists(
    st.one_of(st.none(), st.integers(0, 12).map(lambda tick: tick * 150)), min_size=1, max_size=12
)


@given(clocks=some_clocks, starts=st.lists(st.integers(-1, 13).map(lambda tick: tick * 140), max_size=6))
@settings(max_examples=60, derandomize=True)
def test_rows_stand_after_the_last_trusted_clock_that_is_not_later(
    tmp_path_factory: pytest.TempPathFactory, clocks: list[int | None], starts: list[int]
) -> None:
    rows = [row(1, "state_entered", None, state_id="menu", ts=None)]
    rows += [row(seq, "note", clock, ts=None) for seq, clock in enumerate(clocks, 2)]
    live = [said(start, number, speaker="agent") for number, start in enumerate(starts)]
    call = opened(tmp_path_factory.mktemp("placed"), rows, live=live)
    trusted = {seq: event(call, f"bus:{seq}").clock_ms for seq in range(1, len(rows) + 1)}
    wanted: dict[int, list[str]] = {seq: [f"bus:{seq}"] for seq in trusted}
    unplaced = []
    for number, at in enumerate(starts):
        before = [seq for seq, clock in trusted.items() if clock is not None and clock <= at]
        wanted[before[-1]].append(f"live:{number}") if before else unplaced.append(f"live:{number}")
    assert steps(call, 0) == [event_id for ids in wanted.values() for event_id in ids]
    assert lost(call) == unplaced


# Stepping order: visits by entry, and what was recorded late stands last in its source.


def test_late_boundary_rows_stand_last_in_their_source_in_recorded_order(tmp_path: Path) -> None:
    """The choice was recorded between visits, but after the entry of its source's target."""
    choice = row(10, "locked_choice_evaluated", from_state="menu", turn_index=1, choice="a")
    rows = start(
        verdict(4, "menu:0"), exited(5, "menu", "bye"), entered(6, "bye"),
        write(7, "x", None, 1, "transition_set", edge_id="menu:0"), committed(8, "menu", "bye", 1),
        exited(9, "bye", "menu"), choice, entered(11, "menu"), row(12, "note"),
    )  # fmt: skip
    call = opened(tmp_path, rows, flow=two_states(sets=[("x", 1)]))
    assert steps(call, 0, derived=True) == [
        "drv:entry_boundary:bus:1", "bus:1", "bus:2", "bus:3", "bus:4", "bus:5", "drv:exit_boundary:bus:5",
        "bus:7", "bus:8", "bus:10",
    ]  # fmt: skip
    assert (steps(call, 1), steps(call, 2)) == (["bus:6", "bus:9"], ["bus:11", "bus:12"])
    assert event(call, "bus:10").observed_visit_id is None


def test_what_is_recorded_between_the_visits_keeps_its_place(tmp_path: Path) -> None:
    rows = start(
        exited(4, "menu", "bye"), committed(5, "menu", "bye", 1),
        row(6, "locked_choice_evaluated", from_state="menu", turn_index=1), entered(7, "bye"),
    )  # fmt: skip
    call = opened(tmp_path, rows)
    assert steps(call, 0)[-3:] == ["bus:4", "bus:5", "bus:6"]


def test_a_transcript_of_an_earlier_input_stands_before_the_late_commit(tmp_path: Path) -> None:
    rows = [
        row(1, "session_started", 0, initial_state="menu"),
        row(2, "state_entered", 0, state_id="menu"),
        row(3, "caller_transcript", 100, text="yes", source="gemini", input_id="i1"),
        row(4, "state_exited", 200, state_id="menu", to_state="bye"),
        row(5, "state_entered", 200, state_id="bye"),
        row(6, "transition_committed", 210, from_state="menu", to_state="bye"),
        row(7, "note", 900),
    ]
    call = opened(tmp_path, rows, live=[said(950, input_id="i1"), said(None, 1, input_id="i1")])
    assert steps(call, 0) == ["bus:1", "bus:2", "bus:3", "live:1", "bus:4", "live:0", "bus:6"]
    shown = event(call, "live:0")
    assert (shown.attribution, shown.derived_from, shown.observed_visit_id) == ("derived", ["bus:3"], "bye#1")
    assert event(call, "live:1").placement == "after bus:3 by input_id"


def test_visits_stand_by_entry(tmp_path: Path) -> None:
    rows = start(exited(4, "menu", "menu"), entered(5, "menu"), exited(6, "menu", "bye"), entered(7, "bye"))
    call = opened(tmp_path, rows)
    assert [steps(call, visit)[0] for visit in range(3)] == ["bus:1", "bus:5", "bus:7"]


def test_what_belongs_to_nobody_is_listed_in_order(tmp_path: Path) -> None:
    rows = [row(1, "note", 10), row(2, "state_entered", 20, state_id="menu"),
            row(3, "note", 30, state_id="bye"), row(4, "note", 40)]  # fmt: skip
    strays = [traced(number, seq=seq, node="bye") for number, seq in ((1, 4), (0, 2))]
    call = opened(tmp_path, rows, trace=strays, timed=[said(None), said(35, 1, visit_id="no#1")])
    assert lost(call) == ["timed:0", "bus:1", "trace:0", "bus:3", "timed:1", "trace:1"]
    assert [event(call, event_id).attribution for event_id in lost(call)] == ["none"] * 6
