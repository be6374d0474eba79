"""The command palette: every action of the table by name, with its key."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from textual.command import DiscoveryHit, Hit, Hits, Provider

from riff_tui.actions import ACTIONS, Action, shown


def named(action: Action) -> str:
    """An action as the palette lists it: group, title, key."""
    return f"{action.group}: {action.title}  [{' '.join(map(shown, action.keys))}]"


class ActionCommands(Provider):
    """Offers the table of actions."""

    async def discover(self) -> Hits:
        """All actions, before anything is typed."""
        for action in self._actions():
            yield DiscoveryHit(_plain(named(action)), self._run(action), text=named(action), help=action.help)

    async def search(self, query: str) -> Hits:
        """Actions that match what was typed."""
        matcher = self.matcher(query)
        for action in self._actions():
            name = named(action)
            score = max(matcher.match(name), matcher.match(f"{name} {action.help}") * 0.9)
            if score > 0:
                yield Hit(score, _plain(name), self._run(action), text=name, help=action.help)

    def _actions(self) -> list[Action]:
        """All but the palette itself and the digits of a count, which are no action of their own."""
        return [action for action in ACTIONS if action.name not in ("palette", "count")]

    def _run(self, action: Action) -> Callable[[], Any]:
        return partial(self.screen.run_action, action.run)


def _plain(name: str) -> str:
    """Brackets are no markup here."""
    return name.replace("[", "\\[")
