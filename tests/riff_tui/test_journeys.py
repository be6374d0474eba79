"""From a cold open to an answer: what an operator asks, and how many keys it takes on a small screen."""

from __future__ import annotations

import re

import pytest
from textual.pilot import Pilot

from tests.riff_tui.driving import debugger, event, opened, screen_text

SMALL = (80, 24)
STEP = "bus:21"
"""The write of _route in menu#1 of property-menu."""


async def after(pilot: Pilot[None], *keys: str) -> str:
    """The screen after some keys; a journey's cost is how many it names."""
    await pilot.press(*keys)
    await pilot.pause()
    return screen_text(pilot)


async def test_no_key_where_intended_and_observed_first_part_whose_it_is_and_what_next() -> None:
    async with opened("property-menu", size=SMALL) as pilot:
        text = screen_text(pilot)
        assert "▶ menu#1!" in text
        assert "divergence ! The two transcripts heard different words" in text
        assert "owner      model · menu#1 · timed:0 · 6.028s" in text
        assert "next       compare what was heard with what was acted on" in text
        assert 'gemini heard "stay this", whisper heard "Status"' in text and "acted on whisper" in text


async def test_no_key_how_complete_the_evidence_is_and_why() -> None:
    async with opened("legacy-ring", size=SMALL) as pilot:
        text = screen_text(pilot)
        assert "◐ incomplete: 5 reasons" in text
        assert "Events were emitted and not retained (EVENTS_MISSING)" in text
        assert "The seeded values were not recorded (BASELINE_MISSING)" in text
        assert "1 unattributed" in text


async def test_one_key_what_owned_status() -> None:
    async with opened("property-menu", size=SMALL) as pilot:
        text = await after(pilot, "enter")
        assert '"visit_id": "menu#1"' in text and '"attribution"' in text


async def test_one_key_who_heard_what_and_what_was_acted_on() -> None:
    async with opened("property-menu", size=SMALL) as pilot:
        text = await after(pilot, "4")
        assert "≠ disagree · WER 2.00" in text
        assert "live   stay this" in text and "timed  status" in text
        assert "acted on: whisper" in text


async def test_one_key_what_entered_this_visit() -> None:
    async with opened("property-menu", size=SMALL) as pilot:
        text = await after(pilot, "2")
        assert re.search(r"Variable +Entry +At cursor", text)
        assert re.search(r"_menu_announced +yes +yes +yes", text)
        assert "_route  entry unset  at cursor unset  exit existing_request" in text
        await after(pilot, "escape", "F")
        assert "menu#1 begins from menu_full" in screen_text(pilot)


async def test_two_keys_who_wrote_the_route_and_where() -> None:
    async with opened("property-menu", size=SMALL) as pilot:
        await pilot.press("2", "escape")
        text = await after(pilot, "w")
        assert event(pilot) == STEP
        assert debugger(pilot).view.answers.visit_id == "menu#1"
        assert "✎ written here bus:21" in text
        assert "at cursor existing_request" in text


async def test_two_keys_which_edge_won_and_why() -> None:
    async with opened("property-menu", size=SMALL) as pilot:
        text = await after(pilot, "f", "3")
        assert "✓ won           menu:1 → cap_existing_request__list_tickets" in text
        assert "✓ when slot_equals:_route:existing_request  read _route existing_request" in text
        assert "· lost          menu:0" in text


async def test_one_key_which_exits_were_legal() -> None:
    async with opened("property-menu", size=SMALL) as pilot:
        text = await after(pilot, "3")
        for edge in range(3):
            assert f"menu:{edge} → cap_" in text
        text = await after(pilot, "escape", "end")
        assert "menu:3 → cap_pay_rent__amount" in text and "menu:4 → menu_retry" in text


async def test_status_and_route_never_belong_to_the_announcement() -> None:
    async with opened("property-menu", size=SMALL, where="visit", place="menu_full_announce#1") as pilot:
        text = await after(pilot, "2", "escape", "f")
        assert re.search(r"_route +unset +unset +unset", text)
        assert " caller   — nothing yet" in text


@pytest.mark.parametrize(("keys", "found"), [(("e",), "no later finding"), (("g", "e"), "")])
async def test_from_a_mark_to_the_divergence_in_at_most_three_keys(keys: tuple[str, ...], found: str) -> None:
    async with opened("property-menu", size=SMALL) as pilot:
        text = await after(pilot, *keys)
        assert event(pilot) == "timed:0" and found in text
