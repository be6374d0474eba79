"""Drives the app in tests: opens a call, presses keys, reads the screen, compares it with a golden."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from riff_tui.app import RiffApp
from riff_tui.opening import Request
from riff_tui.screens.debugger import DebuggerScreen

ROOT = Path(__file__).resolve().parent.parent.parent
SAMPLES = ROOT / "sample_artifacts"
GOLDENS = ROOT / "snapshots" / "riff_tui"


def app_for(call: Path | str, **request: object) -> RiffApp:
    """The app on a call; a plain name is a sample."""
    path = SAMPLES / call if isinstance(call, str) else call
    return RiffApp(Request(path, **request))  # type: ignore[arg-type]


async def settled(pilot: Pilot[None]) -> None:
    """Wait until the call is open (or failed) and painted."""
    screen = debugger(pilot)
    for _ in range(200):
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        if screen.view.phase != "loading":
            break
    await pilot.pause()


def debugger(pilot: Pilot[None]) -> DebuggerScreen:
    """The debugger screen, also when another stands over it."""
    screen = pilot.app.screen_stack[0]
    assert isinstance(screen, DebuggerScreen)
    return screen


@asynccontextmanager
async def opened(
    call: Path | str, size: tuple[int, int] = (120, 40), **request: object
) -> AsyncIterator[Pilot[None]]:
    """The app with its call open."""
    app = app_for(call, **request)
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        yield pilot


def event(pilot: Pilot[None]) -> str | None:
    """The event of the cursor."""
    return debugger(pilot).view.answers.event_id


def screen_text(pilot: Pilot[None]) -> str:
    """What stands on the screen, line by line."""
    lines = pilot.app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in lines) + "\n"


def matches(name: str, text: str, request: pytest.FixtureRequest) -> bool:
    """Whether a text equals its golden; `--snapshot-update` writes it."""
    path = GOLDENS / f"{name}.txt"
    if request.config.getoption("update_snapshots", default=False):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return path.is_file() and path.read_text(encoding="utf-8") == text
