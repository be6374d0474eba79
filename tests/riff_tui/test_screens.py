"""What stands on the screen: pictures of the look, texts of the content."""

from __future__ import annotations

import re
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from engine.model.errors import EngineError
from riff_tui import pages
from riff_tui.actions import PANES
from tests.calls import row, write_call
from tests.riff_tui.driving import app_for, debugger, matches, opened, screen_text, settled
from tests.snapshots import SnapCompare

SIZES = {"80x24": (80, 24), "120x40": (120, 40), "200x60": (200, 60)}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("call", ["consent-restart", "property-menu"])
def test_debugger(snap_compare: SnapCompare, call: str, size: str) -> None:
    assert snap_compare(app_for(call), terminal_size=SIZES[size], run_before=settled)


def keys(*pressed: str) -> Callable[[Pilot[None]], Awaitable[None]]:
    """What a picture is taken after: the call is open, and some keys were pressed."""

    async def run(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pilot.press(*pressed)
        await pilot.pause()

    return run


def test_monochrome(snap_compare: SnapCompare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(app_for("property-menu"), terminal_size=(120, 40), run_before=settled)


def test_light(snap_compare: SnapCompare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RIFF_THEME", "light")
    assert snap_compare(app_for("property-menu"), terminal_size=(120, 40), run_before=settled)


@pytest.mark.parametrize("theme", ["dark", "light", "terminal"])
@pytest.mark.parametrize("colour", [True, False], ids=["colour", "monochrome"])
async def test_every_text_differs_from_its_ground(
    theme: str, colour: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RIFF_THEME", theme)
    if not colour:
        monkeypatch.setenv("NO_COLOR", "1")
    async with opened("property-menu") as pilot:
        await pilot.press("f", "2")
        shown = list(texts_of(pilot.app.export_screenshot()))
        assert len(shown) > 100
        for text, ink, ground in shown:
            assert contrast(ink, ground) >= 2.5, (text, ink, ground)
            assert colour or grey(ink), (text, ink)


def texts_of(svg: str) -> Iterator[tuple[str, str, str]]:
    """Each text of a picture with its colour and the colour of what lies below it."""
    inks = dict(re.findall(r"(r\d+) \{ fill: (#[0-9a-f]{6})", svg))
    (window,) = re.findall(r'<rect fill="(#[0-9a-f]{6})" stroke', svg)
    grounds = [
        (fill, *map(float, numbers))
        for fill, *numbers in re.findall(
            r'<rect fill="(#[0-9a-f]{6})" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', svg
        )
    ]
    for name, x, y, text in re.findall(
        r'<text class="terminal-\w*?-?(r\d+)" x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)', svg
    ):
        left, base = float(x) + 1, float(y) - 5
        under = [fill for fill, a, b, w, h in grounds if a <= left <= a + w and b <= base <= b + h]
        if text.replace("&#160;", "").strip(" ─│┃╸"):
            yield text, inks[name], under[-1] if under else window


def grey(colour: str) -> bool:
    """Whether a colour is none, near enough: the pictures' own grey is not quite even."""
    parts = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return max(parts) - min(parts) <= 4


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, as WCAG reckons it: 1 is none, 21 is black on white."""

    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("size", SIZES)
def test_help(snap_compare: SnapCompare, size: str) -> None:
    app = app_for("consent-restart")
    assert snap_compare(app, terminal_size=SIZES[size], run_before=keys("question_mark"))


@pytest.mark.parametrize("size", SIZES)
def test_payload(snap_compare: SnapCompare, size: str) -> None:
    app = app_for("property-menu", where="at", place="bus:20")
    assert snap_compare(app, terminal_size=SIZES[size], run_before=keys("enter"))


@pytest.mark.parametrize("size", SIZES)
def test_go_to_what_is_not_there(snap_compare: SnapCompare, size: str) -> None:
    async def ask(pilot: Pilot[None]) -> None:
        await keys("colon", *"menu", "number_sign", "9", "enter")(pilot)
        pilot.app.screen.query_one(Input).cursor_blink = False

    assert snap_compare(app_for("property-menu"), terminal_size=SIZES[size], run_before=ask)


@pytest.mark.parametrize("size", SIZES)
def test_the_longest_names_of_the_property_flow(snap_compare: SnapCompare, size: str) -> None:
    app = app_for("property-menu", where="visit", place="cap_existing_request__list_tickets#1")
    assert snap_compare(app, terminal_size=SIZES[size], run_before=keys("f", "2", "escape", "end"))


def test_unattributed_lane_of_an_incomplete_call(snap_compare: SnapCompare) -> None:
    app = app_for("legacy-ring")
    assert snap_compare(app, terminal_size=(120, 40), run_before=keys("end", "enter"))


async def test_content_while_loading(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()

    def slow(opening: Any, view: Any, progress: Callable[[str, float], None], cancelled: Any) -> None:
        progress("reading events", 0.25)
        done.wait(5)
        raise EngineError("CANCELLED", "opening was cancelled")

    monkeypatch.setattr("riff_tui.opening.Opening.view", slow)
    async with app_for("property-menu").run_test(size=(120, 40)) as pilot:
        for _ in range(100):
            await pilot.pause(0.02)
            if "reading events" in (text := screen_text(pilot)):
                break
        await pilot.press("s")
        await pilot.pause()
        assert "still loading: this key works once the call is open" in screen_text(pilot)
        done.set()
        assert not re.search(r"\b0 (event|visit|item|slot|edge)", text)
        assert matches("test_screens/state-loading", text, request)


async def test_content_of_a_call_that_failed(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    async with opened(tmp_path, size=(120, 40)) as pilot:
        text = screen_text(pilot).replace(str(tmp_path), "CALL").replace(f" {tmp_path.name}", " call")
        assert matches("test_screens/state-failed", text, request)


async def test_content_of_an_empty_call(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    call = write_call(tmp_path, events=[row(7, "turn_complete", 10, turn_index=0)])
    async with opened(call, size=(120, 40)) as pilot:
        await pilot.press(*"siSInNoOfFcCwWeEgGtudHvbB", "escape", "enter")
        await pilot.pause()
        assert matches("test_screens/state-empty", screen_text(pilot), request)


async def test_content_of_a_partial_list(request: pytest.FixtureRequest) -> None:
    async with opened("property-menu", size=(120, 40), where="at", place="bus:21") as pilot:
        await pilot.press("v")
        assert "partial (1 of 9) · v shows all" in screen_text(pilot)
        assert matches("test_screens/state-partial", screen_text(pilot), request)


@pytest.mark.parametrize("call", ["consent-restart", "property-menu", "legacy-ring"])
async def test_content_of_every_pane(call: str, request: pytest.FixtureRequest) -> None:
    async with opened(call, size=(80, 24)) as pilot:
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
        first = pages.of(view.call).findings[0]
        assert view.answers.visit_id in text.splitlines()[0]
        assert first.title in text
        assert summary.owner is not None and f"owner      {summary.owner}" in text
        assert summary.next_action is not None and summary.next_action.text[:40] in text
        assert "✓ complete" in text
        assert summary.story[0][:40] in text
        caller, agent = view.answers.spoken
        assert caller is not None and agent is not None
        assert "\n caller " in text and "\n agent " in text
