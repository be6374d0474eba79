"""What stands on the screen: pictures of the look, texts of the content."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from riff_tui.actions import PANES
from tests.riff_tui.driving import app_for, debugger, matches, opened, screen_text, settled
from tests.snapshots import SnapCompare

SIZES = {"80x24": (80, 24), "120x40": (120, 40), "200x60": (200, 60)}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("call", ["consent-restart", "property-menu"])
def test_debugger(snap_compare: SnapCompare, call: str, size: str) -> None:
    assert snap_compare(app_for(call), terminal_size=SIZES[size], run_before=settled)


def test_monochrome(snap_compare: SnapCompare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(app_for("consent-restart"), terminal_size=(120, 40), run_before=settled)


def test_light(snap_compare: SnapCompare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RIFF_THEME", "light")
    assert snap_compare(app_for("consent-restart"), terminal_size=(120, 40), run_before=settled)


def test_help(snap_compare: SnapCompare) -> None:
    async def show(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pilot.press("question_mark")

    assert snap_compare(app_for("consent-restart"), terminal_size=(120, 40), run_before=show)


def test_unattributed_lane_of_an_incomplete_call(snap_compare: SnapCompare) -> None:
    async def show(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pilot.press("end", "enter")

    assert snap_compare(app_for("legacy-ring"), terminal_size=(120, 40), run_before=show)


@pytest.mark.parametrize("call", ["consent-restart", "property-menu", "legacy-ring"])
async def test_content_of_every_pane(call: str, request: pytest.FixtureRequest) -> None:
    async with opened(call, size=(100, 30)) as pilot:
        texts = []
        for number, name in enumerate(PANES, 1):
            await pilot.press(str(number), "escape")
            await pilot.pause()
            texts.append(f"=== {name}\n{screen_text(pilot)}")
        assert matches(f"test_screens/content-{call}", "".join(texts), request)


async def test_the_first_screen_answers_without_a_key() -> None:
    async with opened("property-menu", size=(80, 24)) as pilot:
        view = debugger(pilot).view
        text = screen_text(pilot)
        summary = view.call.summary
        first = view.findings[0]
        assert view.answers.visit_id in text.splitlines()[0]
        assert first.title in text
        assert summary.owner is not None and f"owner    {summary.owner}" in text
        assert summary.next_action is not None and summary.next_action.text[:40] in text
        assert "● complete" in text
        assert summary.story[0][:40] in text
        caller, agent = view.answers.spoken
        assert caller is not None and agent is not None
        assert "\n caller " in text and "\n agent " in text
