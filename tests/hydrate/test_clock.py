"""The call clock: recorded, derived, or not to be trusted (contract 2.2)."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.hydrate.call import Call
from engine.hydrate.pipeline import open_call
from tests.calls import EPOCH, row, write_call
from tests.hydrate.ask import event, found, opened, recorded

Pair = tuple[float | None, float | None]
"""Clock and wall clock (in ms after `EPOCH`) of a row."""


def noted(pairs: list[Pair], first: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """A row for each pair, after the first one."""
    rows = [] if first is None else [first]
    for clock, wall in pairs:
        ts = None if wall is None else (EPOCH * 1000 + wall) / 1000
        rows.append(row(len(rows) + 1, "note", clock, ts=ts))
    return rows


def clocks(call: Call) -> list[tuple[float | None, str]]:
    return [(found.clock_ms, found.clock) for found in recorded(call).values()]


STARTED = row(1, "session_started", None, initial_state="menu")
NONE, R, D = (None, "none"), "recorded", "derived"

TABLE: dict[str, tuple[list[dict[str, Any]], list[tuple[float | None, str]]]] = {
    "as recorded": (noted([(5, 5), (6.5, 6), (7, None)]), [(5, R), (6.5, R), (7, R)]),
    "null and absent are no clock": ([row(1, "note", ts=None, clock_ms=None)], [NONE]),
    "by the one row that has both": (noted([(100, 0), (None, 50)]), [(100, R), (150, D)]),
    "by the median of three": (
        noted([(100, 0), (101, 0), (300, 150), (None, 200)]), [(100, R), (101, R), (300, R), (301, D)],
    ),
    "by the mean of the middle two": (
        noted([(100, 0), (101, 0), (103, 0), (290, 0), (None, 200)]),
        [(100, R), (101, R), (103, R), (290, R), (302, D)],
    ),
    "by two": (noted([(100, 0), (101, 0), (None, 200)]), [(100, R), (101, R), (300.5, D)]),
    "a wall clock alone tells nothing": (noted([(None, 0), (None, 50)]), [NONE, NONE]),
    "a clock and a wall clock of different rows tell nothing": (
        noted([(100, None), (None, 50)]), [(100, R), NONE],
    ),
    "else from session_started": (
        noted([(None, 50), (None, None)], STARTED | {"ts": EPOCH}), [(0, D), (50, D), NONE],
    ),
    "session_started is only the last resort": (
        noted([(None, 50), (70, 50)], STARTED | {"ts": EPOCH}), [(20, D), (70, D), (70, R)],
    ),
    "session_started without a wall clock": (noted([(None, 50)], STARTED | {"ts": None}), [NONE, NONE]),
    "whole numbers are integers, others to a microsecond": (
        noted([(0, 0), (None, 1.0004), (None, 2.0)]), [(0, R), (1, D), (2, D)],
    ),
    "rounded to a microsecond": (
        noted([(0.0004, 0), (None, 1), (None, 1.002)]), [(0.0004, R), (1, D), (1.002, D)],
    ),
    "the size of a wall clock costs nothing": (
        noted([(0.0004, 0), (None, 0.008), (None, 0.029)]), [(0.0004, R), (0.008, D), (0.029, D)],
    ),
    "an hour on nothing is lost": (
        noted([(0.25, 0.001), (None, 0.002), (None, 3_600_000.003)]),
        [(0.25, R), (0.251, D), (3_600_000.252, D)],
    ),
    "negative": (noted([(100, 100), (None, 0), (200, 200)]), [(100, R), (0, D), (200, R)]),
    "zero has no sign": (noted([(0, 0), (None, -0.0001), (None, 1)]), [(0, R), (0, D), (1, D)]),
}  # fmt: skip


@pytest.mark.parametrize("case", TABLE)
def test_clocks(tmp_path: Path, case: str) -> None:
    rows, wanted = TABLE[case]
    call = opened(tmp_path, rows)
    assert clocks(call) == wanted
    for (clock, name), (expected, _) in zip(clocks(call), wanted, strict=True):
        assert (type(clock), str(clock)) == (type(expected), str(expected)), name
    assert found(call, "CLOCK_REGRESSION") == []


def test_a_recorded_clock_keeps_its_number_type(tmp_path: Path) -> None:
    call = opened(tmp_path, [row(1, "note", 5), row(2, "note", 5.0), row(3, "note", 1e15)])
    assert [str(clock) for clock, _ in clocks(call)] == ["5", "5.0", "1000000000000000.0"]


def test_rfc_3339_is_a_wall_clock(tmp_path: Path) -> None:
    rows = [row(1, "note", 10, ts="2026-07-10T14:02:11Z"),
            row(2, "note", ts="2026-07-10T16:02:11.25+02:00"), row(3, "note", ts="yesterday")]  # fmt: skip
    assert clocks(opened(tmp_path, rows)) == [(10, R), (260, D), NONE]


def test_a_loose_row_derives_as_the_others_do(tmp_path: Path) -> None:
    wall = (EPOCH * 1_000_000 + 1_500_123) / 1_000_000
    rows = [row(1, "note", 0.5, ts=EPOCH), row(2, "note", ts=wall), row(3, "note", 5000, ts=None)]
    call = opened(tmp_path, rows, durable=[*rows, {"type": "note", "ts": wall}])
    same = [event(call, event_id) for event_id in ("bus:2", "bus:state_trace.jsonl:4")]
    assert [(one.clock_ms, one.clock) for one in same] == [(1500.623, D)] * 2


# Regressions.

BACK: dict[str, tuple[list[float | None], list[int], list[int]]] = {
    "none": ([0, 100, 200], [], []),
    "within the tolerance": ([1000, 750, 1000], [], []),
    "just over it: of two equal sets the first": ([1000, 749.9], [1], [1]),
    "one early row too high": ([0, 9000, 100, 200], [2], [2]),
    "one row too low": ([0, 1000, 1000, 100, 1100], [4], [4]),
    "too low against the largest kept, not the last": ([1000, 1000, 800, 600, 900], [4], [4]),
    "a run is one finding": ([2000, 2000, 2000, 100, 200, 3000], [4, 5], [4]),
    "two runs": ([1000, 1000, 100, 2000, 2000, 500, 2100], [3, 6], [3, 6]),
    "of equal sets the one whose positions come first": ([1000, 2000, 100, 200], [1, 2], [1]),
    "also where the last ones seem odd": ([0, 1000, 100, 1100], [2], [2]),
    "a row without a clock does not end a run": ([2000, 2000, 2000, 100, None, 200, 3000], [4, 6], [4]),
}


@pytest.mark.parametrize("case", BACK)
def test_untrusted_clocks(tmp_path: Path, case: str) -> None:
    """The numbers are those of the rows, from 1."""
    values, untrusted, first = BACK[case]
    call = opened(tmp_path, noted([(value, None) for value in values]))
    for number, value in enumerate(values, 1):
        shown = event(call, f"bus:{number}")
        trusted = number not in untrusted and value is not None
        assert (shown.clock_ms, shown.clock) == ((value, R) if trusted else NONE)
    assert found(call, "CLOCK_REGRESSION") == [f"CLOCK_REGRESSION:bus:{number}" for number in first]


def test_derived_clocks_can_be_untrusted(tmp_path: Path) -> None:
    call = opened(tmp_path, noted([(0, 0), (900, 900), (None, 1000), (None, 100), (1200, 1200)]))
    assert clocks(call) == [(0, R), (900, R), (1000, D), NONE, (1200, R)]
    assert found(call, "CLOCK_REGRESSION") == ["CLOCK_REGRESSION:bus:4"]


def naive(values: list[int], tolerance: int) -> list[int]:
    """Every set of positions, small ones first and those that come first before others."""
    for size in range(len(values)):
        for removed in combinations(range(len(values)), size):
            kept = [value for at, value in enumerate(values) if at not in removed]
            if all(value >= max(kept[:at], default=value) - tolerance for at, value in enumerate(kept)):
                return list(removed)
    return []


@given(
    values=st.lists(st.lists(st.integers(0, 12).map(lambda step: step * 125), max_size=8), min_size=12,
                    max_size=12)
)  # fmt: skip
@settings(max_examples=40, derandomize=True)
def test_the_untrusted_set_is_the_smallest_and_first(
    tmp_path_factory: pytest.TempPathFactory, values: list[list[int]]
) -> None:
    """Many stretches in one call: each lies far above the one before, so none touches another."""
    rows: list[float] = []
    wanted: list[int] = []
    for number, stretch in enumerate(values):
        wanted += [len(rows) + at + 1 for at in naive(stretch, 250)]
        rows += [number * 100_000 + value for value in stretch]
    where = tmp_path_factory.mktemp("clock")
    call = open_call(write_call(where, events=[*noted([(value, None) for value in rows]), row(999, "note")]))
    untrusted = [number for number in range(1, len(rows) + 1) if event(call, f"bus:{number}").clock == "none"]
    assert untrusted == wanted
