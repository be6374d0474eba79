"""Derived events (contract 2.7): where they stand, what they rest on, and the rule that gave them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.hydrate.call import Call
from engine.model.artifact import Envelope
from tests.calls import row
from tests.debug.helpers import SAMPLES, sample
from tests.hydrate.ask import (
    committed,
    entered,
    envelopes,
    event,
    exited,
    opened,
    seeded,
    start,
    started,
    steps,
    two_states,
    verdict,
    write,
)


def derived(call: Call) -> dict[str, Envelope]:
    return {key: one for key, one in envelopes(call).items() if key.startswith("drv:")}


def test_what_every_derived_event_says_of_itself() -> None:
    for name in sorted(path.name for path in SAMPLES.iterdir()):
        for event_id, one in derived(sample(name)).items():
            assert one.event_id == event_id == f"drv:{one.kind}:{event_id.split(':', 2)[2]}"
            assert (one.provenance, one.attribution) == ("derived", "derived")
            assert (one.seq, one.source_type, one.source_refs) == (None, None, [])
            assert one.derived_from
            assert all(sample(name).find(ref) is not None for ref in one.derived_from)
            anchor = event_id.split(":", 2)[2]
            assert one.placement in (f"before {anchor}", f"after {anchor}")
            assert one.payload["rule"]


MOVED = start(
    verdict(4, "menu:0"),
    write(5, "via", None, "menu", "transition_set", edge_id="menu:0"),
    exited(6, "menu", "bye"),
    entered(7, "bye"),
    committed(8, "menu", "bye"),
    row(9, "barge_in"),
)


def test_boundaries_rest_on_what_shows_them(tmp_path: Path) -> None:
    call = opened(tmp_path, MOVED, flow=two_states(sets=[("via", "menu")]))
    found = {key: (one.visit_id, one.derived_from, one.placement) for key, one in derived(call).items()}
    assert found == {
        "drv:entry_boundary:bus:1": ("menu#1", ["bus:1"], "before bus:1"),
        "drv:exit_boundary:bus:6": ("menu#1", ["bus:4", "bus:5", "bus:6", "bus:8"], "after bus:6"),
        "drv:entry_boundary:bus:7": ("bye#1", ["bus:7"], "before bus:7"),
    }
    assert steps(call, 0, derived=True) == [
        "drv:entry_boundary:bus:1", *(f"bus:{seq}" for seq in range(1, 7)),
        "drv:exit_boundary:bus:6", "bus:8",
    ]  # fmt: skip
    assert steps(call, 1, derived=True) == ["drv:entry_boundary:bus:7", "bus:7", "bus:9"]


def test_an_exit_that_was_not_recorded_has_no_boundary(tmp_path: Path) -> None:
    call = opened(tmp_path, start(entered(4, "bye")))
    assert list(derived(call)) == ["drv:entry_boundary:bus:1", "drv:entry_boundary:bus:4"]


def test_an_entry_that_was_not_recorded_has_no_boundary(tmp_path: Path) -> None:
    rows = [row(4, "barge_in", visit_id="menu#1", state_id="menu"), exited(5, "menu", "bye", "menu#1")]
    assert list(derived(opened(tmp_path, rows))) == ["drv:exit_boundary:bus:5"]


def test_boundaries_take_the_clock_of_their_event(tmp_path: Path) -> None:
    rows = [
        started(1, clock_ms=0),
        seeded(2),
        entered(3, "menu", clock_ms=5),
        exited(4, "menu", "bye", clock_ms=70),
    ]
    call = opened(tmp_path, rows)
    first, last = event(call, "drv:entry_boundary:bus:1"), event(call, "drv:exit_boundary:bus:4")
    assert (first.clock_ms, first.clock) == (0, "recorded")
    assert (last.clock_ms, last.clock) == (70, "recorded")


# Transcripts.


def heard(live: str, timed: str, **more: Any) -> dict[str, Any]:
    said = {"speaker": "caller", "start_ms": 100, "end_ms": 900} | more
    return {"live": [said | {"text": live}], "timed": [said | {"text": timed}]}


def in_menu(where: Path, *rows: dict[str, Any], **files: Any) -> Call:
    opening = [started(1, clock_ms=0), seeded(2, clock_ms=0), entered(3, "menu", clock_ms=0)]
    return opened(where, [*opening, *rows, row(20, "turn_complete", 2000, turn_index=0)], **files)


@pytest.mark.parametrize(
    ("live", "timed", "wer"),
    [
        ("status", "status", None),
        ("Status!", "status", None),
        ("status", "statue", 1.0),
        ("pay the rent", "pay my rent please", 0.5),
        ("please", "…", None),  # no timed word: no rate
    ],
)
def test_live_and_timed_are_compared(tmp_path: Path, live: str, timed: str, wer: float | None) -> None:
    agree = live.strip("!").lower() == timed
    call = in_menu(tmp_path, **heard(live, timed))
    kind = "transcript_agreement" if agree else "transcript_disagreement"
    one = event(call, f"drv:{kind}:timed:0")
    assert one.derived_from == ["live:0", "timed:0"]
    assert (one.placement, one.visit_id, one.clock_ms) == ("after timed:0", "menu#1", 100)
    if agree:
        assert one.payload == {"wer": 0.0, "rule": "equal normalised text"}
    else:
        assert one.payload == {"live": live, "timed": timed, "wer": wer, "rule": "different normalised text"}
    assert len([key for key in derived(call) if "transcript" in key]) == 1


@pytest.mark.parametrize(
    "files",
    [
        {"live": [{"speaker": "caller", "text": "a", "start_ms": 100, "end_ms": 900}]},
        {"timed": [{"speaker": "caller", "text": "a", "start_ms": 100, "end_ms": 900}]},
        heard("a", "b", speaker="agent"),
        heard("a", ""),
        {  # no common time: two turns
            "live": [{"speaker": "caller", "text": "a", "start_ms": 100, "end_ms": 200}],
            "timed": [{"speaker": "caller", "text": "b", "start_ms": 800, "end_ms": 900}],
        },
    ],
)
def test_one_text_alone_is_compared_with_nothing(tmp_path: Path, files: dict[str, Any]) -> None:
    assert [key for key in derived(in_menu(tmp_path, **files)) if "transcript" in key] == []


def test_bus_observations_are_compared_too(tmp_path: Path) -> None:
    said: dict[str, Any] = {"input_id": "input:1", "start_ms": 100, "end_ms": 900}
    call = in_menu(
        tmp_path,
        row(4, "gemini_transcript", 950, text="statue", **said),
        row(5, "caller_transcript", 960, text="status", source="whisper", **said),
    )
    one = event(call, "drv:transcript_disagreement:bus:5")
    assert one.derived_from == ["bus:4", "bus:5"]
    assert (one.payload["live"], one.payload["timed"]) == ("statue", "status")


def test_a_comparison_of_what_no_visit_owns_belongs_to_none(tmp_path: Path) -> None:
    said = [
        row(seq, "caller_transcript", 960, text=text, source=source, input_id="input:1", state_id="bye")
        for seq, source, text in ((4, "gemini", "statue"), (5, "whisper", "status"))
    ]
    one = event(in_menu(tmp_path, *said), "drv:transcript_disagreement:bus:5")
    assert (one.visit_id, one.attribution) == (None, "none")
