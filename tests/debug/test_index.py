"""One call is asked by many threads at once: each table is whole when it is first seen."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engine.debug.index import index
from engine.hydrate.call import Call
from engine.hydrate.pipeline import open_call
from tests.calls import row, write_call


@pytest.fixture
def hasty() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_threads_see_whole_tables_of_findings(tmp_path: Path, hasty: None) -> None:
    rows = [row(1, "session_started", 0, initial_state="menu"), row(2, "state_entered", 0, state_id="menu")]
    rows += [row(seq, "slot_write", slot=7) for seq in range(3, 300)]
    folder = write_call(tmp_path, events=rows)
    for _ in range(10):
        asked, named = ask_at_once(open_call(folder))
        assert (len(set(asked)), len(set(named))) == (1, 1)
        assert asked[0] > 290


def ask_at_once(call: Call) -> tuple[list[int], list[int]]:
    """How many findings, and how many names of findings, each of eight threads sees first."""
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(lambda: len(index(call).findings(call))) for _ in range(8)]
        named = [pool.submit(lambda: len(index(call).finding_names(call))) for _ in range(8)]
        return [one.result() for one in asked], [one.result() for one in named]
