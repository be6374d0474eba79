"""One table of actions; everything that names a key is made from it."""

from collections import Counter

import pytest

from riff_tui.actions import ACTIONS, GROUPS, footer, key_card, shown, table
from riff_tui.palette import ActionCommands, named
from riff_tui.screens.debugger import DebuggerScreen
from riff_tui.screens.help import help_lines
from tests.riff_tui.driving import ROOT, debugger, opened

PAIRS = "sinofcwe"


def test_no_key_and_no_name_stands_twice() -> None:
    keys = Counter(key for action in ACTIONS for key in action.keys)
    names = Counter(action.name for action in ACTIONS)
    assert max(keys.values()) == max(names.values()) == 1
    assert {action.group for action in ACTIONS} == set(GROUPS)


def test_motion_pairs_go_on_in_lower_case_and_back_in_upper_case() -> None:
    run = {action.keys[0]: action.run for action in ACTIONS}
    for key in PAIRS:
        assert run[key].endswith("1)") and not run[key].endswith("-1)")
        assert run[key.upper()] == run[key].replace("1)", "-1)")


def test_every_action_is_bound_to_its_keys() -> None:
    bound = {binding.key for binding in DebuggerScreen.BINDINGS}  # type: ignore[union-attr]
    assert bound == {key for action in ACTIONS for key in action.keys}


def test_nothing_needs_a_key_that_terminals_keep() -> None:
    kept = {"ctrl+s", "ctrl+q", "ctrl+b", "ctrl+a"}
    for action in ACTIONS:
        assert any(key not in kept and not key.startswith(("f1", "alt", "ctrl+f")) for key in action.keys)


def test_help_and_key_card_name_every_key() -> None:
    told = "\n".join("".join(text for text, _ in line) for line in help_lines(100))
    for action in ACTIONS:
        for key in action.keys:
            assert f"`{shown(key)}`" in key_card()
            assert shown(key) in told


def test_the_key_card_in_docs_is_up_to_date() -> None:
    assert (ROOT / "docs" / "keys.md").read_text(encoding="utf-8") == key_card()


@pytest.mark.parametrize("call", ["consent-restart", "missing"])
async def test_every_action_of_the_palette_runs(call: str) -> None:
    offered = [action for action in ACTIONS if action.name not in ("palette", "count")]
    async with opened(call, size=(80, 24)) as pilot:
        hits = [hit async for hit in ActionCommands(debugger(pilot)).discover()]
        assert [hit.text for hit in hits] == [named(action) for action in offered]
        for action in offered:
            if action.name != "quit":
                await debugger(pilot).run_action(action.run)
                await pilot.pause()
                await pilot.press("escape")
        await debugger(pilot).run_action("app.quit")
        assert pilot.app.return_code == (3 if call == "missing" else 0)


def test_the_footer_names_real_actions() -> None:
    known = {shown(key) for action in ACTIONS for key in action.keys}
    assert {key for key, _ in footer()} <= known
    assert [group for group, _ in table()] == list(GROUPS)
