"""Lists read by pages: any row is given, and only the pages that are looked at are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from engine.debug import projection
from engine.hydrate.call import Call
from engine.hydrate.pipeline import open_call
from engine.model.commands import Request, Response
from riff_tui import client, pages
from tests.calls import row, write_call
from tests.riff_tui.driving import SAMPLES

NOTES = 1_000


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Call:
    """One visit with very many events, and some that no visit owns."""
    rows = [row(1, "session_started", 0, initial_state="a"), row(2, "state_entered", 0, state_id="a")]
    rows += [row(number, "note", number) for number in range(3, NOTES)]
    rows += [row(NOTES, "state_exited", NOTES, state_id="a")]
    rows += [row(NOTES + number, "note", NOTES + number) for number in range(1, 100)]
    return open_call(write_call(tmp_path_factory.mktemp("many"), events=rows))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Request]]:
    told: list[Request] = []
    send = client.send

    def listen(request: Request, *rest: Any) -> Response:
        told.append(request)
        return send(request, *rest)

    monkeypatch.setattr(client, "send", listen)
    yield told


def test_a_row_costs_the_page_it_stands_on(call: Call, asked: list[Request]) -> None:
    lists = pages.Lists(call)
    events = lists.events(0)
    assert events[500].event_id == projection.event_row(call, 0, 500).event_id
    assert events[501].event_id == projection.event_row(call, 0, 501).event_id
    assert [request.args.get("after") for request in asked if request.action == "list_events"] == ["480"]
    assert len(events) == projection.micro_count(call, 0) == lists.visits[0].micro_events
    assert sum(request.action == "list_events" for request in asked) == 1


def test_every_row_of_every_list(call: Call) -> None:
    lists = pages.Lists(call)
    events = [projection.event_row(call, 0, micro) for micro in range(projection.micro_count(call, 0))]
    assert [one.event_id for one in lists.events(0)] == [one.event_id for one in events]
    assert [one.meaning for one in lists.events(0)[-3:]] == [one.meaning for one in events[-3:]]
    lane = [projection.unattributed_row(call, number).event_id for number in range(99)]
    assert [one.event_id for one in lists.lane] == lane
    assert [lists.lane.number_of(one) for one in lane[:3] + lane[-1:]] == [0, 1, 2, 98]
    with pytest.raises(IndexError):
        lists.lane[99]
    with pytest.raises(IndexError):
        lists.events(0)[10**9]


def test_few_pages_are_kept(call: Call, asked: list[Request]) -> None:
    events = pages.Lists(call).events(0)
    for _ in range(2):
        for number in range(0, NOTES, pages.SIZE):
            _ = events[number]
    first = len(asked)
    assert first > NOTES // pages.SIZE
    _ = events[NOTES - 1]
    assert len(asked) == first


@cache
def sample(name: str) -> Call:
    return open_call(SAMPLES / name)


@pytest.mark.parametrize("name", ["property-menu", "consent-restart", "legacy-ring"])
def test_rows_say_what_the_engine_says(name: str) -> None:
    call = sample(name)
    lists = pages.Lists(call)
    assert [one.visit_id for one in lists.visits] == [one.visit_id for one in call.visits]
    for visit, told in enumerate(lists.visits):
        assert told.goal == projection.goal(call, visit)
        assert told.first_ms == projection.event_row(call, visit, 0).clock_ms
        found = [one.severity for one in projection.visit_findings(call, visit)]
        assert (told.findings, told.severity) == (
            len(found), min(found, key=("error", "warning", "info").index, default=None),
        )  # fmt: skip
    count = projection.conversation_count(call)
    assert list(lists.items) == [projection.conversation_item(call, number) for number in range(count)]
    assert sorted(one.finding_id for one in lists.findings) == sorted(one.finding_id for one in call.findings)
    severities = [("error", "warning", "info").index(one.severity) for one in lists.findings]
    assert severities == sorted(severities)
    assert sum(lists.opened.counts.severities.values()) == len(call.findings)


def test_what_a_guard_read_is_what_slots_held_then(tmp_path: Path) -> None:
    events = [
        row(1, "session_started", 0, initial_state="menu"),
        row(2, "session_slots_seeded", 0, slots={"a": {"value": "seeded"}}),
        row(3, "state_entered", 0, state_id="menu", visit_id="menu#1"),
        row(4, "slot_write", 10, slot="a", old="seeded", new="said", kind="resolver", writer="choice"),
        row(
            5, "guard_evaluated", 20, guard="slot_set:a", result=True, slots_read=["a", "x"], edge_id="menu:0"
        ),
        row(6, "slot_write", 30, slot="a", old="said", new="later", kind="tool", writer="tool"),
    ]
    held = pages.Lists(open_call(write_call(tmp_path, events=events))).held("bus:5")
    assert {slot: cell.value for slot, cell in held.items()} == {"a": "said"}
