"""The picker: which calls there are, filtered as one types, opened and left again (contract 7, 3.3)."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.model.calls import CallError, CallRow, FirstDivergence
from riff_tui.app import RiffApp
from riff_tui.panes.calls import age, chosen, content
from riff_tui.screens.debugger import DebuggerScreen
from riff_tui.screens.picker import PickerScreen
from tests.riff_tui.driving import screen_text
from tests.snapshots import SnapCompare

SAMPLES = Path(__file__).parents[2] / "sample_artifacts"
NOW = 1_783_700_000.0
ROWS = [
    CallRow(path="a", session_id="v3:one", flow_id="claims", kind="phone", completeness="complete"),
    CallRow(
        path="b", session_id="v3:two", flow_id="claims", completeness="complete", findings={"DEAD_AIR": 1},
        first_divergence=FirstDivergence("DEAD_AIR:bus:1", "DEAD_AIR", "transport", "Silence"),
    ),
    CallRow(path="c/d", completeness="incomplete", completeness_reasons=["LEDGER_MISSING"]),
    CallRow(path="broken.zip", error=CallError("UNSUPPORTED_ARTIFACT", "no archive")),
]  # fmt: skip


class Frozen(RiffApp):
    """The app with a clock that stands."""

    def get_default_screen(self) -> PickerScreen:
        assert self.calls is not None
        return PickerScreen(self.calls, clock=lambda: NOW)


def picker(pilot: Pilot[Any]) -> PickerScreen:
    screen = pilot.app.screen_stack[0]
    assert isinstance(screen, PickerScreen)
    return screen


async def listed(pilot: Pilot[Any]) -> None:
    """Wait until the calls are listed and shown."""
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


@contextmanager
def stopped_index(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A listing that waits for an event."""
    from engine.workspace.store import Store

    going, rows = threading.Event(), Store.rows

    def slow(self: Store, **more: Any) -> list[CallRow]:
        more["progress"](1, 3)
        going.wait(10)
        return rows(self, **more)

    monkeypatch.setattr(Store, "rows", slow)
    yield going
    going.set()


@pytest.mark.parametrize(
    ("words", "paths"),
    [
        ("", ["a", "b", "c/d", "broken.zip"]),
        ("CLAIMS", ["a", "b"]),
        ("claims dead_air", ["b"]),
        ("incomplete", ["c/d"]),
        ("unsupported", ["broken.zip"]),
        ("c/d", ["c/d"]),
        ("nothing", []),
    ],
)
def test_every_word_must_stand_somewhere_in_a_row(words: str, paths: list[str]) -> None:
    assert [row.path for row in chosen(ROWS, words)] == paths


@pytest.mark.parametrize(
    ("passed", "shown"),
    [
        (0, "now"),
        (59, "now"),
        (60, "1min"),
        (3600, "1h"),
        (86_399, "23h"),
        (86_400 * 400, "400d"),
        (-5, "later"),
    ],
)
def test_ages(passed: float, shown: str) -> None:
    assert age(CallRow(path="a", started_us=int((NOW - passed) * 1e6)), NOW) == shown


def test_what_is_not_recorded_is_a_dash() -> None:
    lines = ["".join(text for text, _ in content(ROWS, 4, NOW).draw(row, 80)) for row in range(4)]
    assert lines[0].split()[:5] == ["—", "●", "v3:one", "phone", "claims"]
    assert lines[0].endswith("none found by the checks of this version")  # no claim beyond what was checked
    assert lines[1].split()[-2:] == ["DEAD_AIR", "transport"]
    assert lines[2].split() == ["—", "?", "c/d", "—", "—", "LEDGER_MISSING"]
    assert lines[3].split()[-3:] == ["UNSUPPORTED_ARTIFACT:", "no", "archive"]


async def test_filter_open_and_back() -> None:
    async with Frozen(None, SAMPLES).run_test(size=(80, 24)) as pilot:
        await listed(pilot)
        assert "complete · 3 calls" in screen_text(pilot)
        await pilot.press(*"pm-")
        assert "1 of 3 calls" in screen_text(pilot)
        assert "v3:cl-0002" not in screen_text(pilot)
        await pilot.press("enter")
        await listed(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, DebuggerScreen)
        assert screen.view.call.session_id == "v3:pm-0001"
        await pilot.press("q")
        await listed(pilot)
        assert pilot.app.screen is picker(pilot)
        assert "filter pm-" in screen_text(pilot)
        await pilot.press("backspace", "backspace", "x")
        assert picker(pilot).words == "px"
        await pilot.press("enter")  # nothing is left to open
        assert pilot.app.screen is picker(pilot)
        await pilot.press("escape")
        assert "complete · 3 calls" in screen_text(pilot)
        await pilot.press("escape")
    assert pilot.app.return_code == 0


async def test_a_call_that_came_meanwhile_is_listed_when_one_comes_back(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / "property-menu", tmp_path / "one")
    async with Frozen(None, tmp_path).run_test(size=(80, 24)) as pilot:
        await listed(pilot)
        await pilot.press("enter")
        await listed(pilot)
        shutil.copytree(SAMPLES / "legacy-ring", tmp_path / "two")
        await pilot.press("q")
        await listed(pilot)
        assert "complete · 2 calls" in screen_text(pilot)


async def test_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    async with Frozen(None, tmp_path / "gone").run_test(size=(80, 24)) as pilot:
        await listed(pilot)
        assert "NO_EVENT_SOURCE" in screen_text(pilot)
        await pilot.press("enter", "x", "escape")
        assert pilot.app.screen is picker(pilot)


async def test_an_empty_folder_has_no_calls(tmp_path: Path) -> None:
    async with Frozen(None, tmp_path).run_test(size=(80, 24)) as pilot:
        await listed(pilot)
        assert "complete · 0 calls" in screen_text(pilot)
        await pilot.press("enter")
        assert pilot.app.screen is picker(pilot)


async def test_while_it_reads_it_says_how_far_and_can_be_left(monkeypatch: pytest.MonkeyPatch) -> None:
    with stopped_index(monkeypatch) as going:
        async with Frozen(None, SAMPLES).run_test(size=(80, 24)) as pilot:
            await pilot.pause()
            await pilot.pause(0.05)
            assert "reading the calls… 1 of 3" in screen_text(pilot)
            await pilot.press("enter", "escape")
            going.set()
    assert pilot.app.return_code == 0


def test_picture(snap_compare: SnapCompare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SAMPLES.parent)
    assert snap_compare(Frozen(None, Path(SAMPLES.name)), terminal_size=(80, 24), run_before=listed)
