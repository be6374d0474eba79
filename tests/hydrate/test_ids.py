"""Event ids, and what is no event's id (contract 2.2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.hydrate.document import artifact
from tests.calls import row
from tests.hydrate.ask import committed, envelopes, exited, left, opened, start, verdict, write

NO_IDS = [
    "", "bus", "bus:", "bus:99", "bus:1.1", "bus:01", "bus:1.", "bus:1.0", "bus:1.\u00b2", "bus:\u0663",
    "bus:-1", "bus:" + "9" * 5000, "bus:1." + "9" * 30, "turn:0", "drv:", "drv:entry_boundary:",
    "drv:other:bus:3", "drv:entry_boundary:drv:entry_boundary:bus:3", "drv:x:" * 3000, "drv:" * 5000,
]  # fmt: skip


def test_every_event_is_found_by_its_id(tmp_path: Path) -> None:
    band = write(6, "via", None, 1, kind="transition_set", visit_id="menu#1")
    rows = start(verdict(4, "menu:0"), *left(5, band), committed(8, "menu", "bye", 1), exited(9, "bye"))
    call = opened(tmp_path, rows)
    for event_id in envelopes(call):
        number = call.find(event_id)
        assert number is not None
        assert call.event_id(number) == event_id


@pytest.mark.parametrize("text", NO_IDS, ids=range(len(NO_IDS)))
def test_what_is_no_events_id_finds_none_and_hurts_nothing(tmp_path: Path, text: str) -> None:
    rows = start(
        row(4, "caller_transcript", text="hi", source="gemini", input_id="i"),
        row(5, "input_selected", input_id="i", selected_source="gemini", decision_reason="r",
            selected_observation=text),
    )  # fmt: skip
    call = opened(tmp_path, rows)
    assert call.find(text) is None
    (item,) = artifact(call)["conversation"]
    assert item["acted_on"]["text"] is None


def test_a_context_row_without_a_seq_speaks_for_no_visit(tmp_path: Path) -> None:
    said = {"phase": "entry", "visit_id": "menu#1", "clock_ms": 5, "turn_count": 9}
    call = opened(tmp_path, [*start(), said | {"type": "state_context_snapshot"}])
    assert artifact(call)["visits"][0]["context"] == {"entry": None, "exit": None}
    assert any(one["payload"].get("turn_count") == 9 for one in every_event(artifact(call)))


def every_event(document: dict[str, Any]) -> list[dict[str, Any]]:
    owned = [one for visit in document["visits"] for one in visit["micro_events"]]
    return [*owned, *document["unattributed_events"]]
