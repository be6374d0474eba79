"""Visits taken in one go are those that the walk finds row by row (contract 2.3, rules 1, 2 and 5)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from engine.hydrate import walk
from engine.hydrate.document import artifact_bytes
from engine.hydrate.pipeline import open_call
from tests.calls import flow, row, state, write_call
from tests.hydrate.ask import committed, entered, exited, ids, opened, started

STATES = ("menu", "bye", "ask")
ODD = ("plain",) * 15 + (
    "again", "twice", "twice", "unnamed", "unnamed", "fresh", "fresh", "other exit", "unnamed exit",
    "no exit", "no commit", "other source", "other target", "commit after exit", "malformed entry",
    "malformed exit", "malformed commit", "started", "stray", "gap", "ended",
)  # fmt: skip
visits = st.lists(
    st.tuples(st.sampled_from(STATES), st.sampled_from(ODD), st.sampled_from(STATES)), max_size=12
)
Rows = list[dict[str, Any]]


def broken(really: bool) -> dict[str, Any]:
    """A key of a wrong type, for a row that needs it."""
    return {"state_id": 7} if really else {}


def made(drawn: list[tuple[str, str, str]]) -> Rows:
    """A call of visits, most of them written as a runtime does, some of them odd in one way."""
    rows: Rows = [started(1)]
    before = "menu"

    def add(one: dict[str, Any], skipped: int = 1) -> None:
        rows.append(one | {"seq": rows[-1]["seq"] + skipped})

    for number, (name, odd, other) in enumerate([("menu", "plain", "menu"), *drawn]):
        visit: str | None = f"{name}:{number}"
        visit = {"again": "menu:0", "unnamed": None, "twice": "x", "fresh": f"{name}#{number % 2 + 1}"}.get(
            odd, visit
        )
        if odd == "started":
            add(started(0, other))
        if odd == "stray":
            add(row(0, "note", visit_id=f"{other}:x", state_id=other))
        add(entered(0, name, visit) | broken(odd == "malformed entry"), 5 if odd == "gap" else 1)
        commit = committed(
            0, other if odd == "other source" else before, other if odd == "other target" else name
        )
        if odd == "malformed commit":
            commit["from_state"] = 7
        if number and odd not in ("no commit", "commit after exit"):
            add(commit)
        leaves = {"other exit": f"{other}:x", "unnamed exit": None}.get(odd, visit)
        if odd != "no exit":
            add(exited(0, name, other, leaves) | broken(odd == "malformed exit"))
        if odd == "commit after exit":
            add(commit)
        if odd == "ended":
            add(row(0, "session_ended", reason="done"))
        before = name
    return rows


NAMED_AS_ONE_WITHOUT = [("bye", "unnamed", "ask"), *[("ask", "plain", "ask")] * 2, ("bye", "fresh", "ask")]


@given(drawn=visits)
@example(drawn=NAMED_AS_ONE_WITHOUT)
@settings(max_examples=150, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
def test_a_stretch_is_what_the_walk_finds_row_by_row(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[tuple[str, str, str]]
) -> None:
    folder = write_call(
        tmp_path_factory.mktemp("made"), events=made(drawn), flow=flow([state(name) for name in STATES])
    )
    found = []
    for few in (1, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(walk, "FEW", few)
            found.append(artifact_bytes(open_call(folder)))
    assert found[0] == found[1]


def test_a_stretch_is_taken_in_one_go(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """The row-by-row walk sees only what stands around it."""
    seen: list[int] = []
    stepped = walk._Walk._entered

    def entered_one(self: Any, event: int, *rest: Any) -> None:
        seen.append(event)
        stepped(self, event, *rest)

    monkeypatch.setattr(walk._Walk, "_entered", entered_one)
    plain = [(name, "plain", name) for name in ("bye", "menu", "ask") * 3]
    call = opened(tmp_path, made(plain))
    assert seen == [1]
    assert ids(call) == ["menu:0", *(f"{name}:{number}" for number, (name, _, _) in enumerate(plain, 1))]
    assert [visit.commit is not None for visit in call.visits] == [True] * 9 + [False]
    assert [visit.ordinal for visit in call.visits] == [1, 1, 2, 1, 2, 3, 2, 3, 4, 3]
