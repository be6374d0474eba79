"""Every key does what the table says, in every pane; what it does to time is the engine's answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from textual.events import Key
from textual.pilot import Pilot
from textual.widgets import Input

from engine.debug import breakpoints, projection
from engine.debug import cursor as moves
from engine.model.views import Cursor, Stop
from riff_tui import pages
from riff_tui.actions import PANES
from riff_tui.screens.detail import DetailScreen
from riff_tui.screens.help import HelpScreen
from riff_tui.screens.prompt import PromptScreen
from tests.riff_tui.driving import debugger, event, opened, screen_text

CALL = "consent-restart"
Motion = Callable[..., Stop]

MOTIONS: dict[str, Motion] = {
    "s": moves.step_meaningful,
    "i": moves.step,
    "n": moves.over,
    "o": moves.same_state,
}


def cursor(pilot: Pilot[None]) -> Cursor:
    return debugger(pilot).view.cursor


def notice(pilot: Pilot[None]) -> str:
    found = debugger(pilot).view.notice
    return found[0] if found else ""


async def enter(pilot: Pilot[None], text: str) -> None:
    """Type a line into the prompt that is open."""
    pilot.app.screen.query_one(Input).value = text
    await pilot.press("enter")
    await pilot.pause()


async def test_motions_go_where_the_engine_says_in_both_directions() -> None:
    async with opened(CALL, where="visit", place="menu#2") as pilot:
        call = debugger(pilot).view.call
        for key, motion in MOTIONS.items():
            for pressed, count in ((key, 1), (key.upper(), -1)):
                expected = motion(call, cursor(pilot), count)
                await pilot.press(pressed)
                assert cursor(pilot) == expected.cursor, pressed
                assert bool(notice(pilot)) == (expected.at is not None), pressed


async def test_e_goes_through_the_findings() -> None:
    async with opened("property-menu", where="at", place="bus:1") as pilot:
        call = debugger(pilot).view.call
        await pilot.press("e")
        assert cursor(pilot) == moves.at_finding(call, call.findings[0].finding_id)
        await pilot.press("e")
        assert notice(pilot) == "no later finding"
        assert debugger(pilot).pane("findings").selected == 0


async def test_ends_of_visit_and_call() -> None:
    async with opened(CALL) as pilot:
        call = debugger(pilot).view.call
        for pressed, expected in (
            ("f", moves.out(call, cursor(pilot)).cursor),
            ("F", moves.entry(call, cursor(pilot)).cursor),
            ("g", moves.start(call)),
            ("G", moves.end(call)),
        ):
            await pilot.press(pressed)
            assert cursor(pilot) == expected, pressed
        await pilot.press("n")
        assert notice(pilot) == "no later visit"
        assert "no later visit" in screen_text(pilot)


async def test_a_count_repeats_a_motion_and_the_focus_stays() -> None:
    async with opened(CALL, where="at", place="bus:1") as pilot:
        call = debugger(pilot).view.call
        expected = moves.step(call, cursor(pilot), 12).cursor
        await pilot.press("1", "2", "i")
        assert cursor(pilot) == expected
        assert debugger(pilot).focused_pane == "events"
        await pilot.press("3", "n")
        expected = moves.over(call, expected, 3).cursor
        assert cursor(pilot) == expected
        assert debugger(pilot).focused_pane == "events"


async def test_numbers_and_tab_choose_panes_and_time_stays() -> None:
    async with opened(CALL, size=(80, 24)) as pilot:
        before = cursor(pilot)
        screen = debugger(pilot)
        for number, name in enumerate(PANES, 1):
            await pilot.press(str(number), "escape")
            assert screen.focused_pane == name
            assert screen.pane(name).size.height > 2, name
            await pilot.press("down", "pagedown", "up", "end", "home")
        await pilot.press("tab")
        assert screen.focused_pane == "events"
        await pilot.press("shift+tab")
        assert screen.focused_pane == "call"
        assert cursor(pilot) == before


async def test_a_motion_means_the_same_in_every_pane() -> None:
    async with opened(CALL, where="visit", place="menu#1") as pilot:
        for name in PANES:
            debugger(pilot).set_focus(debugger(pilot).pane(name))
            expected = moves.step(debugger(pilot).view.call, cursor(pilot), 1).cursor
            await pilot.press("i")
            assert cursor(pilot) == expected, name


async def test_w_follows_the_selected_slot() -> None:
    async with opened(CALL, where="at", place="bus:1") as pilot:
        screen = debugger(pilot)
        slots = [row.slot for row in screen.view.answers.variables]
        await pilot.press("2", "escape", "home", *["down"] * slots.index("consent"))
        assert screen.view.slot == "consent"
        expected = moves.next_write(screen.view.call, cursor(pilot), "consent", 1)
        await pilot.press("w")
        assert cursor(pilot) == expected.cursor
        await pilot.press("W")
        assert notice(pilot) == "no earlier write of consent"


async def test_goto_takes_every_form_and_stays_open_on_nonsense() -> None:
    async with opened(CALL) as pilot:
        call = debugger(pilot).view.call
        for text in ("#40", "12.4s", "menu#2", "bus:97"):
            await pilot.press("colon")
            assert isinstance(pilot.app.screen, PromptScreen)
            await enter(pilot, text)
            assert cursor(pilot) == moves.goto(call, text), text
        before = cursor(pilot)
        await pilot.press("colon")
        await enter(pilot, "#999999")
        assert isinstance(pilot.app.screen, PromptScreen)
        assert "UNKNOWN_EVENT" in screen_text(pilot)
        await pilot.press("escape")
        assert cursor(pilot) == before


@pytest.mark.parametrize("line", ["menu#2", "bus:97"])
async def test_a_line_typed_in_one_piece_arrives_whole(line: str) -> None:
    async with opened(CALL) as pilot:
        call = debugger(pilot).view.call
        app = pilot.app
        for character in f":{line}":
            app.post_message(Key({":": "colon", "#": "number_sign"}.get(character, character), character))
        app.post_message(Key("enter", "\r"))
        for _ in range(20):
            await pilot.pause()
            if cursor(pilot) == moves.goto(call, line):
                break
        assert cursor(pilot) == moves.goto(call, line)
        assert app.screen is debugger(pilot)


NAMED = {"colon": ":", "number_sign": "#", "question_mark": "?", "enter": "\r"}
GOTO = ["colon", *"menu", "number_sign", *"2", "enter"]


@pytest.mark.parametrize("typed", [GOTO, ["question_mark", "escape"]], ids=["prompt", "help"])
async def test_a_key_behind_one_that_closes_a_screen_is_for_the_screen_below(typed: list[str]) -> None:
    async with opened(CALL) as pilot:
        call = debugger(pilot).view.call
        begin = moves.goto(call, "menu#2") if typed == GOTO else cursor(pilot)
        for name in (*typed, "n"):
            character = NAMED.get(name, name)
            pilot.app.post_message(Key(name, character if len(character) == 1 else None))
        for _ in range(20):
            await pilot.pause()
        assert cursor(pilot) == moves.over(call, begin).cursor
        assert pilot.app.screen is debugger(pilot)


async def test_two_panes_one_after_the_other_are_two_panes() -> None:
    async with opened(CALL, size=(80, 24)) as pilot:
        await pilot.press("3", "2")
        assert debugger(pilot).focused_pane == "variables"
        assert "32 × the next motion" in screen_text(pilot)
        await pilot.press("escape")
        before = cursor(pilot)
        await pilot.press("3", "i")
        assert cursor(pilot) == moves.step(debugger(pilot).view.call, before, 3).cursor
        assert debugger(pilot).focused_pane == "variables"


async def test_a_pane_that_was_hidden_stands_at_the_cursor_when_it_is_shown() -> None:
    async with opened(CALL, size=(80, 24), where="at", place="bus:1") as pilot:
        await pilot.press("G", "4")
        pane = debugger(pilot).pane("conversation")
        assert pane.content.current is not None
        assert pane.selected == pane.content.select == pane.content.item(pane.content.current)[0]
        assert pane.scroll_offset.y > 0


async def test_t_moves_time_to_the_selected_row() -> None:
    async with opened(CALL) as pilot:
        before = cursor(pilot)
        await pilot.press("down", "down")
        assert cursor(pilot) == before
        await pilot.press("t")
        assert cursor(pilot) == Cursor(before.visit, before.micro + 2)
    async with opened("property-menu", where="at", place="bus:1") as pilot:
        screen = debugger(pilot)
        await pilot.press("5", "escape", "home", "enter")
        assert cursor(pilot) == moves.at_finding(
            screen.view.call, pages.of(screen.view.call).findings[0].finding_id
        )


async def test_looking_at_other_visits_leaves_time_alone() -> None:
    async with opened(CALL, where="visit", place="menu#2") as pilot:
        screen = debugger(pilot)
        before = screen.view
        await pilot.press("u", "u")
        assert screen.view.cursor == before.cursor
        assert screen.view.look == before.cursor.visit - 2
        assert screen.view.answers.visit_id == projection.visit_id(before.call, before.cursor.visit - 2)
        assert "H back" in screen_text(pilot)
        await pilot.press("H")
        assert screen.view.look is None
        await pilot.press("d", "s")
        assert screen.view.look is None and screen.view.cursor != before.cursor


async def test_breakpoints_are_set_hit_and_edited() -> None:
    async with opened(CALL, where="at", place="bus:1") as pilot:
        screen = debugger(pilot)
        await pilot.press("c")
        assert "no breakpoint" in notice(pilot)
        await pilot.press("B")
        await enter(pilot, "state:menu, -slot:consent")
        points = screen.view.breakpoints
        assert [(point.text, point.enabled) for point in points] == [
            ("state:menu", True),
            ("slot:consent", False),
        ]
        expected = breakpoints.run_to(screen.view.call, cursor(pilot), points)
        await pilot.press("c")
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        assert cursor(pilot) == expected.cursor
        assert notice(pilot) == "● stopped at state:menu"
        await pilot.press("B")
        await enter(pilot, "nonsense")
        assert isinstance(pilot.app.screen, PromptScreen)
        await enter(pilot, "")
        assert not screen.view.breakpoints
        await pilot.press("b")
        assert [point.text[:6] for point in screen.view.breakpoints] == ["event:"]
        await pilot.press("b")
        assert screen.view.breakpoints == ()


async def test_v_shows_changed_variables_only_and_says_so() -> None:
    async with opened(CALL, size=(80, 24)) as pilot:
        screen = debugger(pilot)
        await pilot.press("2", "escape", "v")
        assert screen.view.changed_only
        assert "partial (0 of 4)" in screen_text(pilot)
        await pilot.press("v")
        assert not screen.view.changed_only


async def test_enter_opens_payload_value_edge_turn_and_visit() -> None:
    async with opened(CALL) as pilot:
        screen = debugger(pilot)
        for pane in ("events", "variables", "edges", "conversation"):
            screen.set_focus(screen.pane(pane))
            await pilot.press("enter")
            assert isinstance(pilot.app.screen, DetailScreen), pane
            await pilot.press("down", "escape")
        screen.set_focus(screen.pane("events"))
        rows = screen.pane("events").content.count
        await pilot.press("home", "enter")
        assert screen.pane("events").content.count < rows
        await pilot.press("enter")
        assert screen.pane("events").content.count == rows


async def test_help_and_palette_and_quit() -> None:
    async with opened(CALL) as pilot:
        await pilot.press("question_mark")
        assert isinstance(pilot.app.screen, HelpScreen)
        await pilot.press("q", "ctrl+p")
        await pilot.pause(0.2)
        assert "next visit" in screen_text(pilot)
        await pilot.press("escape", "q")
        assert pilot.app.return_code == 0


@pytest.mark.parametrize(
    ("where", "place"),
    [("at", "bus:40"), ("visit", "menu#1"), ("time", "12400"), ("finding", "TRANSCRIPT_DISAGREEMENT")],
)
async def test_the_command_line_says_where_to_stand(where: str, place: str) -> None:
    async with opened("property-menu", where=where, place=place) as pilot:
        call = debugger(pilot).view.call
        named = f"{float(place) / 1000}s" if where == "time" else place
        assert cursor(pilot) == moves.goto(call, named)


async def test_without_a_word_it_stands_at_the_first_divergence() -> None:
    async with opened("property-menu") as pilot:
        screen = debugger(pilot)
        assert cursor(pilot) == moves.opening(screen.view.call)
        first = screen.view.call.summary.first_divergence
        assert first is not None
        assert cursor(pilot) == moves.at_finding(screen.view.call, first)
        assert event(pilot) is not None


async def test_an_unknown_place_opens_the_call_and_says_so() -> None:
    async with opened(CALL, where="at", place="bus:99999") as pilot:
        assert "UNKNOWN_EVENT" in notice(pilot)
        assert cursor(pilot) == moves.opening(debugger(pilot).view.call)


async def test_an_unattributed_event_is_sought_in_its_lane() -> None:
    async with opened("legacy-ring", where="at", place="bus:25") as pilot:
        screen = debugger(pilot)
        assert cursor(pilot).unattributed is not None
        assert event(pilot) == "bus:25"
        text = screen_text(pilot)
        assert "unattributed" in text.splitlines()[-1]
        (current,) = [line for line in text.splitlines() if line.startswith("›▶")]
        assert " 25 " in current
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, DetailScreen)
        assert '"reason"' in screen_text(pilot)
        await pilot.press("escape", "N")
        assert screen.view.cursor.unattributed is None


async def test_the_mouse_selects_and_opens() -> None:
    async with opened(CALL) as pilot:
        before = cursor(pilot)
        pane = debugger(pilot).pane("events")
        await pilot.click(pane, offset=(10, 4))
        assert pane.selected == pane.scroll_offset.y + 3
        assert cursor(pilot) == before
        await pilot.click(pane, offset=(10, 5), times=2)
        await pilot.pause()
        assert isinstance(pilot.app.screen, DetailScreen)
