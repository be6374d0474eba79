"""Edges of a visit: verdicts, joins and invariants (contract 2.5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from engine.hydrate.call import Call
from engine.hydrate.edgetable import edge_table
from engine.hydrate.pipeline import open_call
from engine.model.artifact import Edge
from tests.calls import NO_FILE, flow, row, slot, state, write_call
from tests.hydrate.ask import (
    committed,
    entered,
    exited,
    found,
    opened,
    seeded,
    start,
    started,
    two_states,
    visit_of,
    write,
)

Candidate = tuple[str | None, str, str, str]
"""``edge_id`` (None: left out), `to`, `when`, result."""

ONE, TWO, PHONE = "slot_equals:n:1", "slot_equals:n:2", "slot_filled:phone"
MENU = flow(
    [
        state("menu", [(ONE, "ask"), (TWO, "ask"), ("always", "bye")]),
        state("ask", [("always", "bye"), ("always", "bye"), (PHONE, "menu")]),
        state("bye"),
    ]
)
"""`menu` has two ways to `ask`, by different guards; `ask` declares one way twice."""


def decided(seq: int, winner: str | None, *candidates: Candidate, **more: Any) -> dict[str, Any]:
    rows = [
        {"to": to, "when": when, "result": result} | ({} if edge_id is None else {"edge_id": edge_id})
        for edge_id, to, when, result in candidates
    ]
    return row(seq, "transition_verdict", winner=winner, candidates=rows, **more)


def in_ask(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    """Visit `ask#1` begins at seq 3; then these rows."""
    return [started(1, "ask"), seeded(2), entered(3, "ask"), *rows]


def edges(call: Call, visit_id: str, event_id: str | None = None) -> dict[str, Edge]:
    """The rows of a visit at its exit, or at an event."""
    event = None if event_id is None else call.find(event_id)
    assert event_id is None or event is not None
    rows = edge_table(call, visit_of(call, visit_id), event).rows
    assert len({one.edge_id for one in rows}) == len(rows)
    return {one.edge_id: one for one in rows}


def verdicts(call: Call, visit_id: str, event_id: str | None = None) -> list[str]:
    return [one.verdict for one in edges(call, visit_id, event_id).values()]


def test_every_declared_transition_is_a_row_with_what_the_flow_says(tmp_path: Path) -> None:
    declared = two_states(sets=[("via", "menu"), ("n", None)], clears=["old"])
    one = edges(opened(tmp_path, start(), flow=declared), "menu#1")["menu:0"]
    assert (one.declaration_index, one.source, one.to, one.when, one.reason) == (
        0,
        "menu",
        "bye",
        "always",
        "always",
    )
    assert one.sets == [{"slot": "via", "value": "menu"}, {"slot": "n", "value": None}]
    assert (one.clears, one.from_flow, one.guards) == (["old"], True, [])


def test_duplicate_targets_are_rows_of_their_own(tmp_path: Path) -> None:
    call = opened(tmp_path, in_ask(), flow=MENU)
    assert [(one.edge_id, one.to) for one in edges(call, "ask#1").values()] == [
        ("ask:0", "bye"), ("ask:1", "bye"), ("ask:2", "menu"),
    ]  # fmt: skip


_M0, _M1, _M2 = ("menu:0", "ask", ONE), ("menu:1", "ask", TWO), ("menu:2", "bye", "always")

WORDS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "each result by its word": (
        decided(4, "menu:2", (*_M0, "no"), (*_M1, "error"), (*_M2, "matched")), ["lost", "error", "won"],
    ),
    "after the winner shadowed, not lost": (
        decided(4, "menu:0", (*_M0, "matched"), (*_M1, "no"), (*_M2, "shadowed")),
        ["won", "shadowed", "shadowed"],
    ),
    "an error after the winner stays an error": (
        decided(4, "menu:0", (*_M0, "matched"), (*_M1, "error"), (*_M2, "no")), ["won", "error", "shadowed"],
    ),
    "each of several matched is won": (
        decided(4, "menu:0", (*_M0, "matched"), (*_M1, "matched"), (*_M2, "no")), ["won", "won", "shadowed"],
    ),
    "in recorded order, whatever the declared one": (
        decided(4, "menu:2", (*_M2, "matched"), (*_M0, "no"), (*_M1, "no")), ["shadowed", "shadowed", "won"],
    ),
    "a word the contract does not list is no verdict": (
        decided(4, None, (*_M0, "perhaps"), (*_M1, "no"), (*_M2, "no")), ["unavailable", "lost", "lost"],
    ),
    "absent from an untruncated list": (
        decided(4, "menu:1", (*_M1, "matched")), ["not_evaluated", "won", "not_evaluated"],
    ),
    "left out by truncation": (
        decided(4, "menu:1", (*_M1, "matched"), truncated=2), ["unavailable", "won", "unavailable"],
    ),
    "the winner itself left out is still the winner": (
        decided(4, "menu:2", (*_M0, "no"), truncated=2), ["lost", "unavailable", "won"],
    ),
    "joined by id only, not by target": (
        decided(4, "menu:1", ("menu:1", "bye", "always", "matched")),
        ["not_evaluated", "won", "not_evaluated"],
    ),
    "a verdict that can't be read says nothing of any edge": (
        row(4, "transition_verdict", winner="menu:0", candidates="three"), ["unavailable"] * 3,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WORDS)
def test_verdict_words(tmp_path: Path, name: str) -> None:
    verdict, words = WORDS[name]
    call = opened(tmp_path, start(verdict), flow=MENU)
    assert verdicts(call, "menu#1") == words
    assert verdicts(call, "menu#1", "bus:4") == words


def test_at_a_cursor_the_latest_verdict_and_at_the_exit_the_final_one(tmp_path: Path) -> None:
    no, yes = (*_M0, "no"), (*_M0, "matched")
    call = opened(
        tmp_path,
        start(
            row(4, "barge_in"),
            decided(5, None, no),
            decided(6, "menu:0", yes, final=True),
            decided(7, None, no),
            row(8, "barge_in"),
            exited(9, "menu", "ask"),
        ),
        flow=MENU,
    )
    at = {seq: verdicts(call, "menu#1", f"bus:{seq}")[0] for seq in range(4, 9)}
    assert at == {4: "not_evaluated", 5: "lost", 6: "won", 7: "lost", 8: "lost"}
    assert verdicts(call, "menu#1")[0] == "won"


@pytest.mark.parametrize(
    ("marked", "deciding"),
    [([True, False], "bus:4"), ([False, False], "bus:5"), ([None, None], "bus:5"), ([True, True], "bus:5")],
)
def test_the_deciding_verdict_is_the_one_marked_final_else_the_last(
    tmp_path: Path, marked: list[bool | None], deciding: str
) -> None:
    rows = [decided(4, "menu:0", (*_M0, "matched")), decided(5, "menu:2", (*_M2, "matched"))]
    rows = [
        item | ({} if final is None else {"final": final}) for item, final in zip(rows, marked, strict=True)
    ]
    table = edge_table(opened(tmp_path, start(*rows), flow=MENU), 0)
    assert table.verdict_event == deciding
    assert table.winner == {"bus:4": "menu:0", "bus:5": "menu:2"}[deciding]


@pytest.mark.parametrize(
    ("rows", "word"),
    [
        ([row(4, "barge_in")], "not_evaluated"),
        ([row(4, "barge_in"), exited(5, "menu", "bye")], "unavailable"),
        ([row(4, "barge_in"), entered(5, "bye")], "unavailable"),  # closed without an exit
    ],
)
def test_without_a_verdict(tmp_path: Path, rows: list[dict[str, Any]], word: str) -> None:
    call = opened(tmp_path, start(*rows), flow=MENU)
    assert set(verdicts(call, "menu#1")) == set(verdicts(call, "menu#1", "bus:4")) == {word}


def test_turn_records_alone_leave_every_edge_unavailable(tmp_path: Path) -> None:
    turns = [{"turn_index": 0, "session_id": "s", "from_state": "menu", "to_state": None}]
    call = open_call(write_call(tmp_path, turns=turns, flow=MENU))
    assert set(verdicts(call, "menu#1")) == {"unavailable"}


JOINS: dict[str, tuple[dict[str, Any], list[str], str | None, list[str]]] = {
    "by equal target and guard": (
        decided(4, "ask", (None, "ask", ONE, "no"), (None, "ask", TWO, "matched"), (None, *_M2[1:], "no")),
        ["lost", "won", "shadowed"], "menu:1", [],
    ),
    "only where both are equal": (
        decided(4, None, (None, "bye", ONE, "no"), (None, "ask", "always", "no")),
        ["not_evaluated"] * 3 + ["lost"] * 2, None, [],
    ),
    "some with an id and some without": (
        decided(4, "menu:2", (None, "ask", ONE, "no"), (*_M2, "matched")),
        ["lost", "not_evaluated", "won"], "menu:2", [],
    ),
    "a declared pair that is listed twice": (
        decided(4, "menu:2", (None, "ask", ONE, "no"), (None, "ask", ONE, "no"), (*_M2, "matched")),
        ["unavailable", "not_evaluated", "won"], "menu:2", ["EDGE_JOIN_AMBIGUOUS:bus:4"],
    ),
    "a winner by target where two candidates of it matched": (
        decided(4, "ask", (*_M0, "matched"), (*_M1, "matched")),
        ["won", "won", "not_evaluated"], None, ["EDGE_JOIN_AMBIGUOUS:bus:4", "MULTIPLE_WINNERS:bus:4"],
    ),
    "a winner by target that no candidate leads to": (
        decided(4, "bye", (*_M0, "matched")), ["won", "not_evaluated", "not_evaluated"],
        "bye", ["UNKNOWN_EDGE:bus:4"],
    ),
    "a winner by target whose candidate is not declared": (
        decided(4, "end", (None, "end", "never", "matched")),
        ["not_evaluated"] * 3 + ["won"], "end", ["UNKNOWN_EDGE:bus:4"],
    ),
    "a winner that is not declared": (
        decided(4, "menu:9", ("menu:9", "bye", "x", "matched")),
        ["not_evaluated"] * 3 + ["won"], "menu:9", ["UNKNOWN_EDGE:bus:4"],
    ),
}  # fmt: skip
"""A verdict of `menu`, its verdict words, its winner, and the findings."""


@pytest.mark.parametrize("name", JOINS)
def test_legacy_joins(tmp_path: Path, name: str) -> None:
    verdict, words, winner, findings = JOINS[name]
    call = opened(tmp_path, start(verdict), flow=MENU)
    assert verdicts(call, "menu#1") == words
    assert edge_table(call, 0).winner == winner
    assert found(call) == findings


_TWIN = (None, "bye", "always")

TWINS: dict[str, tuple[dict[str, Any], list[str], str | None, list[str]]] = {
    "as many as declared, in order": (
        decided(4, "bye", (*_TWIN, "no"), (*_TWIN, "matched"), ("ask:2", "menu", PHONE, "no")),
        ["lost", "won", "shadowed"], "ask:1", [],
    ),
    "fewer than declared": (
        decided(4, "bye", (*_TWIN, "matched"), ("ask:2", "menu", PHONE, "no")),
        ["unavailable", "unavailable", "shadowed"], None, ["EDGE_JOIN_AMBIGUOUS:bus:4"],
    ),
    "more than declared": (
        decided(4, None, (*_TWIN, "no"), (*_TWIN, "no"), (*_TWIN, "no")),
        ["unavailable", "unavailable", "not_evaluated"], None, ["EDGE_JOIN_AMBIGUOUS:bus:4"],
    ),
    "an unclear candidate leaves a clear winner": (
        decided(4, "ask:2", (*_TWIN, "no"), ("ask:2", "menu", PHONE, "matched")),
        ["unavailable", "unavailable", "won"], "ask:2", ["EDGE_JOIN_AMBIGUOUS:bus:4"],
    ),
}  # fmt: skip
"""The same in `ask`, which declares one pair twice."""


@pytest.mark.parametrize("name", TWINS)
def test_equal_pairs(tmp_path: Path, name: str) -> None:
    verdict, words, winner, findings = TWINS[name]
    call = opened(tmp_path, in_ask(verdict), flow=MENU)
    assert verdicts(call, "ask#1") == words
    assert edge_table(call, 0).winner == winner
    assert found(call) == findings


def test_an_id_that_a_state_declares_twice_names_no_edge(tmp_path: Path) -> None:
    twice = state("menu", [("always", "ask"), ("stalled", "bye")])
    for edge in twice["transitions"]:
        edge["edge_id"] = "same"
    rows = start(
        row(4, "guard_evaluated", guard="always", result=True, slots_read=[], edge_id="same"),
        decided(5, "same", ("same", "ask", "always", "matched")),
    )
    call = opened(tmp_path, rows, flow=flow([twice, state("ask"), state("bye")]))
    table = edge_table(call, 0)
    assert [one.verdict for one in table.rows] == ["unavailable", "unavailable"]
    assert table.winner is None
    assert found(call) == ["EDGE_JOIN_AMBIGUOUS:bus:4", "EDGE_JOIN_AMBIGUOUS:bus:5"]


@pytest.mark.parametrize(("version", "silent"), [(None, "not_evaluated"), ("sha256:0", "unavailable")])
def test_a_flow_of_another_version_can_not_say_that_an_edge_was_not_evaluated(
    tmp_path: Path, version: str | None, silent: str
) -> None:
    rows = in_ask(decided(4, "ask:1", ("ask:1", "bye", "always", "matched")))
    rows[0]["flow_version"] = version
    call = opened(tmp_path, rows, flow=MENU, manifest=None)
    assert verdicts(call, "ask#1") == [silent, "won", silent]


def test_without_a_flow_candidates_stand_as_recorded(tmp_path: Path) -> None:
    rows = start(
        row(4, "guard_evaluated", guard=ONE, result=True, slots_read=["n"], edge_id="menu:0"),
        decided(5, "bye", (*_M0, "no"), (None, "bye", "always", "matched")),
    )
    call = opened(tmp_path, rows, flow=None)
    known, bare = edges(call, "menu#1").values()
    assert (known.edge_id, known.to, known.when, known.verdict) == (*_M0, "lost")
    assert (bare.to, bare.when, bare.verdict) == ("bye", "always", "won")
    for one in (known, bare):
        assert (one.from_flow, one.source, one.declaration_index, one.reason) == (False, "menu", None, None)
        assert (one.sets, one.clears) == ([], [])
    assert [guard.event_id for guard in known.guards] == ["bus:4"]
    assert found(call, "UNKNOWN_EDGE", "EDGE_JOIN_AMBIGUOUS") == []


GUARDS: dict[str, tuple[str, dict[str, Any], dict[str, int], list[str]]] = {
    "by id": ("menu", {"guard": TWO, "edge_id": "menu:0"}, {"menu:0": 1}, []),
    "by the one equal text": ("menu", {"guard": TWO}, {"menu:1": 1}, []),
    "equal to none": ("menu", {"guard": "stalled"}, {}, []),
    "equal to several": ("ask", {"guard": "always"}, {}, ["EDGE_JOIN_AMBIGUOUS:bus:4"]),
}


@pytest.mark.parametrize("name", GUARDS)
def test_guards_join(tmp_path: Path, name: str) -> None:
    where, given, joined, findings = GUARDS[name]
    rows = [started(1, where), seeded(2), entered(3, where)]
    rows.append(row(4, "guard_evaluated", result=False, slots_read=[], **given))
    call = opened(tmp_path, rows, flow=MENU)
    counted = {edge_id: len(one.guards) for edge_id, one in edges(call, f"{where}#1").items() if one.guards}
    assert counted == joined
    assert found(call) == findings


def test_a_guard_shows_what_its_row_says(tmp_path: Path) -> None:
    rows = start(
        row(
            4,
            "guard_evaluated",
            guard=ONE,
            result=True,
            slots_read=["n"],
            context_reads={"no_progress_streak": 2},
        ),
        row(5, "guard_evaluated", guard=ONE, result=None, slots_read=[]),
    )
    call = opened(tmp_path, rows, flow=MENU)
    first, second = edges(call, "menu#1")["menu:0"].guards
    assert (first.event_id, first.guard, first.result, first.slots_read) == ("bus:4", ONE, True, ["n"])
    assert first.context_reads == {"no_progress_streak": 2}
    assert (second.result, second.slots_read, second.context_reads) == (None, [], None)
    assert len(edges(call, "menu#1", "bus:4")["menu:0"].guards) == 1


def test_a_guard_row_without_a_seq_acts_on_no_edge(tmp_path: Path) -> None:
    loose = {"type": "guard_evaluated", "clock_ms": 20, "guard": ONE, "result": True, "slots_read": ["n"]}
    rows = [started(1, clock_ms=0), seeded(2), entered(3, "menu", clock_ms=10), loose]
    call = opened(tmp_path, rows, flow=MENU, durable=rows)
    assert all(one.guards == [] for one in edges(call, "menu#1").values())


# Invariants.


def _moved(*rows: dict[str, Any], to: str | None = "bye", **left: Any) -> list[dict[str, Any]]:
    return start(*rows, exited(8, "menu", to, **left), entered(9, "bye"))


_WON = {"edge_id": "menu:2", "to": "bye", "when": "always", "result": "matched"}


@pytest.mark.parametrize(
    ("left", "raised"),
    [
        ({}, True),
        ({"reason": "caller chose"}, True),
        ({"to": None}, False),
        *(({"reason": reason}, False) for reason in
          ("hangup", "caller_hangup", "call_ended", "session_ended", "disconnect")),
    ],
)  # fmt: skip
def test_only_a_committed_exit_needs_a_winner(tmp_path: Path, left: dict[str, Any], raised: bool) -> None:
    call = opened(tmp_path, _moved(decided(4, None, (*_M0, "no")), **left), flow=MENU)
    assert found(call, "NO_WINNER") == (["NO_WINNER:bus:4"] if raised else [])


def test_an_open_visit_and_one_without_a_verdict_need_no_winner(tmp_path: Path) -> None:
    assert found(opened(tmp_path, start(decided(4, None, (*_M0, "no"))), flow=MENU), "NO_WINNER") == []
    assert found(opened(tmp_path, _moved(), flow=MENU, name="bare"), "NO_WINNER") == []


def test_only_the_deciding_verdict_needs_a_winner(tmp_path: Path) -> None:
    rows = [decided(4, None, (*_M0, "no")), decided(5, "menu:2", (*_M2, "matched"), final=True)]
    assert found(opened(tmp_path, _moved(*rows), flow=MENU), "NO_WINNER") == []


@pytest.mark.parametrize(
    ("verdict_to", "exit_to", "commit_to", "raised"),
    [
        ("bye", "bye", "bye", False),
        ("bye", "bye", None, False),
        ("bye", None, "bye", False),
        (None, "bye", "bye", False),
        ("ask", "bye", "bye", True),
        ("bye", "ask", "bye", True),
        ("bye", "bye", "ask", True),
        (None, "bye", "ask", True),
        ("ask", None, "bye", True),
        ("ask", "bye", None, True),
    ],
)
def test_verdict_exit_and_commit_agree_on_the_target(
    tmp_path: Path, verdict_to: str | None, exit_to: str | None, commit_to: str | None, raised: bool
) -> None:
    edge = {"bye": _M2, "ask": _M0}.get(verdict_to or "")
    rows = [] if edge is None else [decided(4, edge[0], (*edge, "matched"))]
    rows += [exited(8, "menu", exit_to), entered(9, "bye")]
    rows += [] if commit_to is None else [committed(10, "menu", commit_to)]
    call = opened(tmp_path, start(*rows), flow=MENU)
    anchor = "bus:4" if edge else "bus:8"
    assert found(call, "WINNER_TARGET_MISMATCH") == ([f"WINNER_TARGET_MISMATCH:{anchor}"] if raised else [])
    for one in call.findings:
        if one.code == "WINNER_TARGET_MISMATCH":
            assert one.visit_id == "menu#1"
            assert one.data == {
                "verdict": verdict_to,
                "state_exited": exit_to,
                "transition_committed": commit_to,
            }


@pytest.mark.parametrize("flowed", [True, False])
def test_the_target_of_an_unclear_winner_is_known_all_the_same(tmp_path: Path, flowed: bool) -> None:
    rows = _moved(decided(4, "ask", (*_M0, "matched"), (*_M1, "matched")))
    call = opened(tmp_path, rows, flow=MENU if flowed else None)
    assert found(call, "WINNER_TARGET_MISMATCH") == ["WINNER_TARGET_MISMATCH:bus:4"]


def _set(seq: int, name: str, old: Any, new: Any) -> dict[str, Any]:
    return write(seq, name, old, new, "transition_set", edge_id="menu:0")


def _clear(seq: int, name: str, old: Any, **more: Any) -> dict[str, Any]:
    return write(seq, name, old, None, "transition_clear", edge_id="menu:0", **more)


class Writes(NamedTuple):
    """Sets and clears of the winning edge, seeds, what the boundary wrote, the slots with a finding."""

    sets: list[tuple[str, Any]] = []
    clears: list[str] = []
    seeds: dict[str, Any] = {}
    written: list[dict[str, Any]] = []
    slots: list[str] = []


_LOST = {"seq": 5, "type": "slot_write", "slot": "a"}

WRITES: dict[str, Writes] = {
    "set as declared": Writes([("a", 1)], written=[_set(5, "a", None, 1)]),
    "set to another value": Writes([("a", 1)], written=[_set(5, "a", None, 2)], slots=["a"]),
    "1 is not 1.0": Writes([("a", 1)], written=[_set(5, "a", None, 1.0)], slots=["a"]),
    "a set that was not written": Writes([("a", 1)], slots=["a"]),
    "a set to the value already there needs no write": Writes([("a", 1)], seeds={"a": 1}),
    "a set to null of an unset slot needs one": Writes([("a", None)], slots=["a"]),
    "a mark agrees with a value of its type": Writes(
        [("a", "menu")], written=[_set(5, "a", None, "<str:4>")]
    ),
    "a write that is not declared": Writes(written=[_set(5, "a", None, 1)], slots=["a"]),
    "cleared as declared": Writes(clears=["a"], seeds={"a": 1}, written=[_clear(5, "a", 1, present=False)]),
    "a clear that wrote null": Writes(clears=["a"], seeds={"a": 1}, written=[_clear(5, "a", 1)]),
    "a clear that was not written": Writes(clears=["a"], seeds={"a": 1}, slots=["a"]),
    "a clear of an unset slot needs no write": Writes(clears=["a"]),
    "one finding a slot": Writes([("a", 1), ("b", 1)], ["c"], {"c": 1}, slots=["a", "b", "c"]),
    "none where the exit cell is unavailable": Writes([("a", 1)], written=[_LOST]),
    "the last of two writes counts": Writes([("a", 2)], written=[_set(5, "a", None, 1), _set(6, "a", 1, 2)]),
}


@pytest.mark.parametrize("name", WRITES)
def test_boundary_writes_are_the_sets_and_clears_of_the_winner(tmp_path: Path, name: str) -> None:
    case = WRITES[name]
    won = decided(4, "menu:0", ("menu:0", "bye", "always", "matched"), final=True)
    after = 5 + len(case.written)
    leaving = (exited(after, "menu", "bye"), entered(after + 1, "bye"))
    rows = start(won, *case.written, *leaving, slots=case.seeds)
    call = opened(tmp_path, rows, flow=two_states(case.sets, case.clears))
    wanted = [f"BOUNDARY_WRITE_MISMATCH:bus:4:{name}" for name in case.slots]
    assert found(call, "BOUNDARY_WRITE_MISMATCH") == wanted


@pytest.mark.parametrize("left", [{"to": None}, {"reason": "hangup"}])
def test_an_exit_that_is_not_committed_owes_no_writes(tmp_path: Path, left: dict[str, Any]) -> None:
    won = decided(4, "menu:0", ("menu:0", "bye", "always", "matched"))
    call = opened(tmp_path, _moved(won, **left), flow=two_states([("a", 1)], slots=[slot("a")]))
    assert found(call, "BOUNDARY_WRITE_MISMATCH") == []


@pytest.mark.parametrize(
    ("candidates", "words"),
    [([(*_M1, "matched")], ["won", "won"]), ([(*_M0, "no"), (*_M1, "matched")], ["lost", "won"])],
)
def test_a_winner_beside_another_match_is_a_second_winner(
    tmp_path: Path, candidates: list[Any], words: list[str]
) -> None:
    call = opened(tmp_path, start(decided(4, "menu:0", *candidates)), flow=MENU)
    assert verdicts(call, "menu#1")[:2] == words
    assert found(call, "MULTIPLE_WINNERS") == ["MULTIPLE_WINNERS:bus:4"]


@pytest.mark.parametrize(
    ("winner", "truncated", "ids"),
    [("bye", 2, []), ("bye", None, ["UNKNOWN_EDGE:bus:4"]), ("menu:9", 2, ["UNKNOWN_EDGE:bus:4"])],
)
def test_a_winner_by_target_may_be_a_candidate_that_was_left_out(
    tmp_path: Path, winner: str, truncated: int | None, ids: list[str]
) -> None:
    call = opened(tmp_path, start(decided(4, winner, (*_M0, "no"), truncated=truncated)), flow=MENU)
    left_out = "unavailable" if truncated else "not_evaluated"
    assert verdicts(call, "menu#1") == ["lost", left_out, left_out]
    assert found(call, "UNKNOWN_EDGE") == ids


@pytest.mark.parametrize(
    ("ring_only", "seqs", "ids"),
    [
        (True, (6, 8), []),
        (True, (6, 7), ["BOUNDARY_WRITE_MISMATCH:bus:5:via"]),
        (False, (6, 8), ["BOUNDARY_WRITE_MISMATCH:bus:5:via"]),
    ],
)
def test_a_boundary_write_may_be_among_what_is_missing_after_the_exit(
    tmp_path: Path, ring_only: bool, seqs: tuple[int, int], ids: list[str]
) -> None:
    declared = two_states(sets=[("via", "menu")])
    leaving = [exited(seqs[0], "menu", "bye", edge_id="menu:0"), entered(seqs[1], "bye")]
    rows = start(
        write(4, "x", None, 0), decided(5, "menu:0", ("menu:0", "bye", "always", "matched")), *leaving
    )
    call = opened(tmp_path, rows, flow=declared, durable=NO_FILE if ring_only else None)
    assert found(call, "BOUNDARY_WRITE_MISMATCH") == ids
