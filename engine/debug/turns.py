"""Turns as places to go to (contract 3.3 ``seek``; 6.1: events fall in the turn whose end closes them).

A turn's first event is the one recorded directly behind the end of the turn before. Events behind the last
end belong to no turn that was recorded.
"""

from __future__ import annotations

from engine.debug.index import Track, index
from engine.debug.place import cursor_of
from engine.hydrate.call import Call
from engine.hydrate.turnends import turn_ends
from engine.model.errors import EngineError
from engine.model.views import Cursor


def turn_track(call: Call) -> Track:
    """The first event of every turn."""
    return index(call).track("turns", lambda: [event for _, event in _begins(call)])


def at_turn(call: Call, turn_index: int) -> Cursor:
    """The first event of a turn.

    Raises:
        EngineError: ``UNKNOWN_EVENT`` where no end of that turn was recorded; ``AMBIGUOUS_LINK`` where
            several were.
    """
    found = [event for number, event in _begins(call) if number == turn_index]
    if not found:
        message = f"no end of turn {turn_index} was recorded, so its events can't be told apart"
        raise EngineError("UNKNOWN_EVENT", message, turn_index=turn_index)
    if len(found) > 1:
        ids = [call.event_id(event) for event in found]
        raise EngineError("AMBIGUOUS_LINK", f"turn {turn_index} ends {len(found)} times", event_ids=ids[:20])
    return cursor_of(call, found[0])


def _begins(call: Call) -> list[tuple[int, int]]:
    """Index and first event of each turn, in recorded order."""

    def made() -> list[tuple[int, int]]:
        ends = turn_ends(call)
        before = [-1, *(event for _, event in ends)]
        return [(number, last + 1) for (number, _), last in zip(ends, before, strict=False)]

    return index(call).once("turn begins", made)
