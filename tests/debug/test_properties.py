"""What holds for every call: motions are inverse and complete, values are the fold of the writes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.debug import cursor as moves
from engine.debug import projection
from engine.debug.breakpoints import parse, run_to
from engine.hydrate.access import EDGE_WRITE, RUNTIME_READ, WRITTEN
from engine.hydrate.call import Call
from engine.hydrate.pipeline import open_call
from engine.model.events import MEANINGFUL
from engine.model.views import Access, Cursor
from tests.calls import flow, row, slot, state, write_call

STATES = ("a", "b", "c")
SLOTS = ("x", "y", "z")
Rows = list[dict[str, Any]]
generated = settings(derandomize=True, max_examples=40, deadline=None)

some_state = st.sampled_from(STATES)
some_slot = st.sampled_from(SLOTS)
some_id = st.sampled_from([None, None, "a#1", "b#1", "a#2", "c#7"])
odd_row = st.one_of(
    st.fixed_dictionaries({"type": st.just("state_entered"), "state_id": some_state}),
    st.fixed_dictionaries({"type": st.just("state_exited"), "state_id": some_state, "to_state": some_state}),
    st.fixed_dictionaries(
        {"type": st.just("transition_committed"), "from_state": some_state, "to_state": some_state}
    ),
    st.fixed_dictionaries(
        {"type": st.just("slot_write"), "slot": some_slot, "old": st.none(), "new": st.integers(0, 3),
         "kind": st.sampled_from(["direct", "transition_set"]), "writer": st.just("w"), "visit_id": some_id}
    ),
    st.fixed_dictionaries(
        {"type": st.just("guard_evaluated"), "guard": st.just("always"), "result": st.booleans(),
         "slots_read": st.lists(some_slot, max_size=2), "visit_id": some_id, "state_id": some_state}
    ),
    st.fixed_dictionaries(
        {"type": st.just("transition_verdict"), "winner": st.sampled_from([None, "a:0", "b:0"]),
         "candidates": st.just([])}
    ),
    st.fixed_dictionaries(
        {"type": st.just("caller_transcript"), "text": st.sampled_from(["yes", "no"]),
         "source": st.just("gemini"), "input_id": st.sampled_from([None, "i1", "i2"])}
    ),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["turn_complete", "other_kind", "assistant_first_audio"]),
         "turn_index": st.integers(0, 3), "visit_id": some_id}
    ),
)  # fmt: skip
"""Any row, in any order: visits that nobody left, exits that nobody entered, ids of other visits."""


live_row = st.fixed_dictionaries(
    {
        "speaker": st.sampled_from(["caller", "agent"]),
        "text": st.sampled_from(["yes", "no"]),
        "start_ms": st.one_of(st.none(), st.integers(0, 4000)),
        "input_id": st.sampled_from([None, "i1"]),
        "visit_id": some_id,
    }
)


@st.composite
def odd_calls(draw: st.DrawFn) -> dict[str, Rows]:
    """A call in which anything may be missing or out of place, and what stands beside its ledger."""
    begin: Rows = draw(st.sampled_from([[], [{"type": "session_started", "initial_state": "a"}]]))
    clock = st.one_of(st.none(), st.integers(0, 4000))
    events = [
        row(seq, one["type"], draw(clock), **{key: item for key, item in one.items() if key != "type"})
        for seq, one in enumerate([*begin, *draw(st.lists(odd_row, min_size=1, max_size=25))], 1)
    ]
    lists = [draw(st.lists(live_row, max_size=3)) for _ in range(2)]
    live, timed = ([{**one, "row": number} for number, one in enumerate(rows)] for rows in lists)
    return {"events": events, "live": live, "timed": timed}


@st.composite
def sound_calls(draw: st.DrawFn) -> dict[str, Rows]:
    """A call as a runtime records it: seeds, then visits whose writes know the old value, exits, commits."""
    values: dict[str, Any] = draw(st.dictionaries(some_slot, st.integers(0, 3), max_size=2))
    seeds = {name: {"value": value, "writer": "s"} for name, value in values.items()}
    made: list[tuple[str, dict[str, Any]]] = [
        ("session_started", {"initial_state": "a"}),
        ("session_slots_seeded", {"slots": seeds}),
    ]
    path = ["a", *draw(st.lists(some_state, max_size=4))]
    for name, after in zip(path, [*path[1:], None], strict=True):
        made.append(("state_entered", {"state_id": name}))
        for target in draw(st.lists(some_slot, max_size=4)):
            old = values.pop(target, None)
            new = draw(st.one_of(st.just("removed"), st.none(), st.integers(0, 3)))
            if new != "removed":
                values[target] = new
            gone = {"new": None, "present": False} if new == "removed" else {"new": new}
            made.append(("slot_write", {"slot": target, "old": old, "kind": "direct", "writer": "w", **gone}))
        if after is not None:
            made.append(("state_exited", {"state_id": name, "to_state": after}))
            made.append(("transition_committed", {"from_state": name, "to_state": after}))
    return {"events": [row(seq, kind, seq * 10, **payload) for seq, (kind, payload) in enumerate(made, 1)]}


def opened(folder: pytest.TempPathFactory, files: dict[str, Rows]) -> Call:
    declared = flow(
        [state("a", [("always", "b")]), state("b", [("always", "c")]), state("c")], map(slot, SLOTS)
    )
    where = folder.mktemp("generated")
    live, timed = files.get("live"), files.get("timed")
    return open_call(write_call(where, events=files["events"], live=live, timed=timed, flow=declared))


def owned(call: Call) -> list[int]:
    """Events in stepping order, from the visits alone."""
    return [event for visit in range(len(call.visits)) for event in call.micro_events(visit).tolist()]


def line(call: Call) -> list[int]:
    """All events a cursor can stand on, by where a cursor says they stand."""
    events = [event for event in range(call.event_count) if call.visit_of[event] >= -1]
    return sorted(events, key=lambda event: moves.place_of(call, moves.cursor_of(call, event)))


@given(files=odd_calls())
@generated
def test_stepping_visits_every_owned_event_once_and_back_again(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, Rows]
) -> None:
    call = opened(tmp_path_factory, files)
    expected = owned(call)
    assert sorted(expected) == [event for event in range(call.event_count) if call.visit_of[event] >= 0]
    cursors = [moves.cursor_of(call, event) for event in expected]
    assert [moves.event_of(call, cursor) for cursor in cursors] == expected
    for number, cursor in enumerate(cursors):
        for count in (1, 2, len(cursors) - 1 - number):
            there = moves.step(call, cursor, count)
            if there.at is None:
                assert there.cursor == cursors[number + count]
                assert moves.step(call, there.cursor, -count).cursor == cursor
    if cursors:
        assert (moves.start(call), moves.end(call)) == (cursors[0], cursors[-1])
        assert moves.step(call, cursors[0], len(cursors)).at == "end"
        assert moves.step(call, cursors[-1], -len(cursors)).at == "start"


@given(files=odd_calls())
@generated
def test_events_that_nobody_owns_stand_where_they_were_recorded(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, Rows]
) -> None:
    call = opened(tmp_path_factory, files)
    places = [moves.place_of(call, moves.cursor_of(call, event)) for event in line(call)]
    assert len(set(places)) == len(places)
    assert [event for event in line(call) if call.visit_of[event] < 0] == call.unattributed
    assert [event for event in line(call) if call.visit_of[event] >= 0] == owned(call)
    for number, event in enumerate(call.unattributed):
        cursor = moves.cursor_of(call, event)
        assert (moves.event_of(call, cursor), projection.unattributed_near(call, cursor)) == (event, number)
        if not call.visits:
            continue
        now = call.visit_at(event) if event < call.first_extra else -1
        assert now in (-1, cursor.visit)
        micro = call.micro_events(cursor.visit).tolist()
        before = [other for other in micro if call.keys[other] <= call.keys[event] and not late(call, other)]
        assert cursor.micro == max(0, len(before) - 1)


def late(call: Call, event: int) -> bool:
    return event < call.first_extra and bool(call.owned.late[event])


@given(files=odd_calls())
@generated
def test_motions_are_the_nearest_event_of_their_kind(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, Rows]
) -> None:
    call = opened(tmp_path_factory, files)
    everything = line(call)
    found = {call.find(finding.event_id) for finding in call.findings if finding.event_id is not None}
    wanted = {
        "write": [e for e in everything if call.kind(e) == "slot_write" and call.write(e)[0] == "x"],
        "meaningful": [e for e in everything if call.kind(e) in MEANINGFUL and call.visit_of[e] >= 0],
        "finding": [e for e in everything if e in found],
    }
    motions = {
        "write": lambda cursor, count: moves.next_write(call, cursor, "x", count),
        "meaningful": lambda cursor, count: moves.step_meaningful(call, cursor, count),
        "finding": lambda cursor, count: moves.next_finding(call, cursor, count),
    }
    for number, event in enumerate(everything):
        cursor = moves.cursor_of(call, event)
        for name, events in wanted.items():
            after = [other for other in events if other in everything[number + 1 :]]
            before = [other for other in events if other in everything[:number]]
            for ahead, count, at in ((after, 1, "end"), (before[::-1], -1, "start")):
                for far in (1, 2):
                    stop = motions[name](cursor, far * count)
                    reached = ahead[far - 1] if len(ahead) >= far else ahead[-1] if ahead else event
                    assert moves.event_of(call, stop.cursor) == reached
                    assert stop.at == (None if len(ahead) >= far else at)


@given(files=odd_calls())
@generated
def test_runs_stop_at_the_same_places_both_ways(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, Rows]
) -> None:
    call = opened(tmp_path_factory, files)
    points = [parse(call, text) for text in ("slot:x", "state:b", "event:guard_evaluated")]
    hits = [event for event in line(call) if stops_here(call, event)]
    forward, cursor, stop = [], moves.start(call), None
    while stop is None or stop.hit is not None:
        stop = run_to(call, cursor, points)
        if stop.hit is not None:
            forward.append(moves.event_of(call, stop.cursor))
        cursor = stop.cursor
    first = moves.place_of(call, moves.start(call))
    assert forward == [event for event in hits if moves.place_of(call, moves.cursor_of(call, event)) > first]
    for number, event in enumerate(hits):
        back = run_to(call, moves.cursor_of(call, event), points, reverse=True)
        assert back.hit is None if number == 0 else moves.event_of(call, back.cursor) == hits[number - 1]
        assert run_to(call, moves.cursor_of(call, event), points, count=2).hit is None or number + 2 < len(
            hits
        )


def stops_here(call: Call, event: int) -> bool:
    visit = int(call.visit_of[event])
    entry = visit >= 0 and call.visits[visit].state_id == "b" and moves.at_visit(
        call, call.visits[visit].visit_id
    ) == moves.cursor_of(call, event)  # fmt: skip
    write = call.kind(event) == "slot_write" and call.write(event)[0] == "x"
    return entry or write or call.kind(event) == "guard_evaluated"


@given(files=odd_calls())
@generated
def test_every_answer_is_given_everywhere(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, Rows]
) -> None:
    call = opened(tmp_path_factory, files)
    for event in line(call):
        cursor = moves.cursor_of(call, event)
        table = projection.edges(call, cursor)
        assert all(guard.event_id for edge in table.rows for guard in edge.guards)
        status = projection.status(call, cursor)
        assert status.event_id == call.event_id(event)
        projection.context(call, cursor)
        assert moves.goto(call, call.event_id(event)) == cursor
        access = projection.access_here(call, cursor)
        assert not call.visits or access == naive_access(call, cursor)
        for row_ in projection.variables(call, cursor):
            assert (row_.last_writer is None) == (row_.last_write is None)
            if row_.last_write is not None and row_.last_write.startswith("bus:"):
                written = call.find(row_.last_write)
                assert written is not None and call.kind(written) in ("slot_write", "session_slots_seeded")


def naive_access(call: Call, cursor: Cursor) -> dict[str, list[Access]]:
    """The evidence read row by row."""
    event, exited = moves.event_of(call, cursor), call.visits[cursor.visit].exited
    anchor = call.bus_anchor(event)
    past = event >= call.first_exit or (exited is not None and anchor > exited)
    band = call.owned.band.get(cursor.visit, ())
    found: dict[str, dict[str, Access]] = {}
    for other in sorted(call.micro_events(cursor.visit).tolist()):
        if not past and other > anchor:
            continue
        if call.kind(other) == "slot_write":
            evidence = EDGE_WRITE if other in band else WRITTEN
            names = [str(call.write(other)[0])]
        elif call.kind(other) == "guard_evaluated":
            evidence = RUNTIME_READ
            names = call.ledger.payload(other)["slots_read"]
        else:
            continue
        for name in names:
            found.setdefault(name, {})[evidence.word] = Access(*evidence, call.event_id(other))
    return {name: list(labels.values()) for name, labels in found.items()}


@given(files=sound_calls())
@generated
def test_values_at_the_cursor_are_the_fold_of_the_writes(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, Rows]
) -> None:
    call = opened(tmp_path_factory, files)
    assert call.unattributed == []
    rows = files["events"]
    seeds = {name: seed["value"] for name, seed in rows[1]["slots"].items()}
    values, writers = dict(seeds), dict.fromkeys(seeds, "s (seed)")
    entry = dict(values)
    for made in rows:
        if made["type"] == "state_entered":
            entry = dict(values)
        if made["type"] == "slot_write":
            values.pop(made["slot"], None)
            if made.get("present") is not False:
                values[made["slot"]] = made["new"]
            writers[made["slot"]] = "w (direct)"
        event = call.find(f"bus:{made['seq']}")
        assert event is not None
        for row_ in projection.variables(call, moves.cursor_of(call, event)):
            now = row_.at_cursor
            assert now.availability == "available"
            assert now.unset == (row_.slot not in values)
            assert now.value == values.get(row_.slot)
            assert row_.last_writer == writers.get(row_.slot)
            if made["type"] not in ("session_started", "session_slots_seeded"):
                assert (row_.entry.unset, row_.entry.value) == (row_.slot not in entry, entry.get(row_.slot))
                same = (row_.slot in entry, entry.get(row_.slot)) == (
                    row_.slot in values,
                    values.get(row_.slot),
                )
                assert row_.changed is not same
