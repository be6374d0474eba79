"""docs/walkthrough.md shows what the app shows: its keys are pressed here, and its screens compared."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import pytest

from riff_tui.screens import debugger as debugger_screen
from tests.riff_tui.driving import ROOT, opened, screen_text

TMUX = {"Enter": "enter", "Escape": "escape", ":": "colon", "#": "number_sign", "_": "underscore"}
"""Keys as tmux names them, and characters, by Textual's names."""


def walk() -> Iterator[tuple[list[list[str]], str]]:
    """The screens of the walk, each with the keys before it: one list for each send-keys."""
    text = (ROOT / "docs" / "walkthrough.md").read_text(encoding="utf-8")
    pressed: list[list[str]] = []
    for kind, block in re.findall(r"^```(console|text)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        if kind == "console":
            lines = re.findall(r"^\$ tmux send-keys -t riff (.*?)(?:; sleep 1)?$", block, re.MULTILINE)
            pressed += [keys_of(line) for line in lines]
        else:
            yield pressed, block
            pressed = []


def keys_of(line: str) -> list[str]:
    """The keys that one send-keys sends; a word that names no key is typed letter by letter."""
    words = [[word] if word in TMUX else list(word) for word in shlex.split(line)]
    return [TMUX.get(key, key) for word in words for key in word]


async def test_the_walk_is_what_the_app_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debugger_screen, "COUNT_WAITS", 0.05)
    steps = list(walk())
    assert len(steps) == 7
    async with opened("property-menu", size=(80, 24)) as pilot:
        for groups, shown in steps:
            for keys in groups:
                await pilot.press(*keys)
                await pilot.pause(0.1)
            assert screen_text(pilot).rstrip("\n") == shown.rstrip("\n"), groups
