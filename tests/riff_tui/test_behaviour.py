"""What holds when things go wrong: bad folders, quitting early, resizing, hostile values."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from engine.model.errors import EngineError
from riff_tui import opening
from riff_tui.screens.debugger import DebuggerScreen
from tests.calls import flow, manifest, row, slot, state, write_call
from tests.riff_tui.driving import SAMPLES, app_for, debugger, opened, screen_text, settled

EVIL = "\x1b[2J\u202e[bold]x[/bold]\x07\n"


def hostile(where: Path, value: object) -> Path:
    """A call whose every text tries to break out."""
    events = [
        row(1, "session_started", 0, initial_state="menu", flow_id="test_flow"),
        row(2, "session_slots_seeded", 0, slots={}),
        row(3, "state_entered", 0, state_id="menu", visit_id="menu#1"),
        row(
            4, "slot_write", 10, slot="note", old=None, new=value, kind="tool", writer=EVIL, visit_id="menu#1"
        ),
        row(5, "caller_transcript", 20, text=EVIL, source=EVIL, visit_id="menu#1", final=True),
    ]
    declared = flow(
        [state("menu", [(EVIL, "bye")]), state("bye", kind="terminal")], [slot("note"), slot(EVIL)]
    )
    return write_call(where, events=events, flow=declared, manifest=manifest())


@pytest.mark.parametrize("value", [EVIL, "A\x1b" * 1_500_000, {"k" * 9_000: [EVIL] * 100_000}], ids=type)
async def test_values_are_data(tmp_path: Path, value: object) -> None:
    call = hostile(tmp_path, value)
    async with opened(call, size=(120, 40), where="at", place="bus:4") as pilot:
        for _ in range(2):
            text = screen_text(pilot)
            assert "\x1b" not in text and "\u202e" not in text and "\x07" not in text
            assert all(len(line) <= 120 for line in text.splitlines())
            await pilot.press("2", "escape", "enter")
        assert ("partial · 5," in text) == isinstance(value, dict)
        assert "[bold]x[/bold]" in text or "\\x1b" in text or "\\u001b" in text or "kkk" in text


async def test_a_bad_folder_is_shown_and_is_an_error_for_the_shell(tmp_path: Path) -> None:
    async with opened(tmp_path) as pilot:
        text = screen_text(pilot)
        assert "NO_EVENT_SOURCE" in text and "failed" in text
        assert "0 visits" not in text and "0 events" not in text
        await pilot.press(
            "n", "s", "e", "g", "G", "t", "u", "w", "c", "b", "B", "v", "enter", "colon", "5", "escape"
        )
        await pilot.press("q")
        assert pilot.app.return_code == 3


async def test_quitting_while_hydrating_cancels_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.workspace import columncache

    cancelled = threading.Event()

    def slow(path: Path, *, progress: Any, cancelled: Any, **more: Any) -> None:
        for _ in range(500):
            progress("reading", 0.5)
            if cancelled():
                done.set()
                raise EngineError("CANCELLED", "opening was cancelled")
            time.sleep(0.01)

    done = cancelled
    monkeypatch.setattr(columncache, "open_call", slow)
    app = app_for("consent-restart")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause(0.1)
        text = screen_text(pilot)
        assert "loading" in text and "0 visits" not in text
        assert "50%  reading" in text
        await pilot.press("n", "5", "q")
    assert cancelled.wait(2)
    assert app.return_code == 0


async def test_esc_cancels_hydration_and_the_app_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    def stuck(opening: Any, view: Any, progress: Any, cancelled: Any) -> None:
        while not cancelled():
            time.sleep(0.005)
        raise EngineError("CANCELLED", "opening was cancelled")

    monkeypatch.setattr("riff_tui.opening.Opening.view", stuck)
    async with app_for("consent-restart").run_test(size=(80, 24)) as pilot:
        await pilot.pause(0.05)
        await pilot.press("escape")
        await settled(pilot)
        assert "CANCELLED" in screen_text(pilot)


async def test_a_bug_in_hydration_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise KeyError("oops")

    monkeypatch.setattr("riff_tui.opening.Opening.view", broken)
    async with app_for("consent-restart").run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert "INTERNAL" in screen_text(pilot) and "KeyError" in screen_text(pilot)


async def test_a_resize_keeps_place_and_selection() -> None:
    async with opened("consent-restart", size=(200, 60)) as pilot:
        screen = debugger(pilot)
        before = (screen.view.cursor, screen.pane("events").selected)
        for width, height in ((80, 24), (120, 40), (40, 10), (20, 5), (200, 60)):
            await pilot.resize_terminal(width, height)
            await pilot.pause()
            text = screen_text(pilot)
            assert all(len(line) <= width for line in text.splitlines())
            assert ("too small" in text) == (width < 60)
        assert (screen.view.cursor, screen.pane("events").selected) == before


async def test_a_folder_that_vanishes_leaves_the_app_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened("consent-restart") as pilot:
        from engine.debug import projection

        def gone(*_: Any) -> None:
            raise OSError("the call folder is gone")

        with monkeypatch.context() as patch:
            patch.setattr(projection, "variables", gone)
            await pilot.press("n")
            assert "the call folder is gone" in screen_text(pilot)
            assert "still work" in screen_text(pilot)
        await pilot.press("N")
        assert "folder is gone" not in screen_text(pilot)


async def test_a_call_that_vanishes_is_said_and_what_was_read_still_works(tmp_path: Path) -> None:
    call = hostile(tmp_path, "value")
    async with opened(call, size=(80, 24)) as pilot:
        screen = debugger(pilot)
        for gone in (True, False):
            call.rename(tmp_path / ("elsewhere" if gone else "call"))
            screen._look_at_folder()
            await pilot.app.workers.wait_for_complete()
            await pilot.pause()
            assert ("folder gone; open call works" in screen_text(pilot)) == gone
            await pilot.press("s")
            assert screen.view.answers.event_id
            call = tmp_path / "elsewhere"


async def test_the_conversation_comes_after_the_other_panes(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = threading.Event()
    monkeypatch.setattr("riff_tui.opening.Opening.hear", lambda *_: slow.wait(5))
    async with app_for("property-menu").run_test(size=(80, 24)) as pilot:
        for _ in range(100):
            await pilot.pause(0.01)
            if debugger(pilot).view.phase == "ready":
                break
        await pilot.press("4", "escape", "s")
        text = screen_text(pilot)
        assert "loading…" in text and "0 items" not in text
        assert "caller   loading…" in text and "bus:17" in text
        slow.set()
        await settled(pilot)
        text = screen_text(pilot)
        assert "complete · 11 items" in text and "acted on: whisper" in text
        pane = debugger(pilot).pane("conversation")
        assert pane.selected == pane.content.select


async def test_a_conversation_that_fails_leaves_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise KeyError("oops")

    monkeypatch.setattr("riff_tui.opening.Opening.hear", broken)
    async with opened("property-menu", size=(80, 24)) as pilot:
        await pilot.press("4", "escape", "n")
        text = screen_text(pilot)
        assert "✗ the conversation can't be read" in text and "KeyError" in text
        assert "the other panes still work" in text and "▶ cap_existing_request" in text


async def test_esc_interrupts_a_long_continue(monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.debug import breakpoints

    def endless(*_: Any, cancelled: Any, **more: Any) -> None:
        while not cancelled():
            time.sleep(0.002)
        raise EngineError("CANCELLED", "the run was interrupted")

    async with opened("consent-restart", size=(80, 24)) as pilot:
        await pilot.press("b")
        before = debugger(pilot).view.cursor
        with monkeypatch.context() as patch:
            patch.setattr(breakpoints, "run_to", endless)
            await pilot.press("c")
            assert "Esc interrupts" in screen_text(pilot)
            await pilot.press("n", "escape")
            await pilot.app.workers.wait_for_complete()
            await pilot.pause()
        assert "interrupted" in screen_text(pilot)
        assert debugger(pilot).view.cursor == before
        await pilot.press("n")
        assert debugger(pilot).view.cursor != before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
async def test_a_signal_leaves_through_the_front_door(number: signal.Signals) -> None:
    app = app_for("consent-restart")
    before = signal.getsignal(number)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        os.kill(os.getpid(), number)
        await pilot.pause(0.1)
        assert app.return_code == 128 + number
    signal.signal(number, before)


async def test_help_names_only_the_keys_that_work() -> None:
    async with opened(Path("/nowhere"), size=(80, 24)) as pilot:
        await pilot.press("question_mark")
        text = screen_text(pilot)
        assert "leave" in text and "next, previous" not in text


def test_the_request_names_one_place() -> None:
    assert opening.Request(Path("x")).where is None
    assert DebuggerScreen(opening.Request(Path("x"))).view.title == "x"


async def test_edges_of_a_flow_of_another_version_are_said_to_be_that(tmp_path: Path) -> None:
    other = shutil.copytree(SAMPLES / "property-menu", tmp_path / "call")
    stated = json.loads((other / "manifest.json").read_text())
    (other / "manifest.json").write_text(json.dumps(stated | {"flow_version": "sha256:0"}))
    for call, said in (("property-menu", False), (other, True)):
        async with opened(call, where="visit", place="menu#1") as pilot:
            await pilot.press("3")
            await pilot.pause()
            assert ("flow of another version" in screen_text(pilot)) == said
