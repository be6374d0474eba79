"""Breakpoints as one line of text, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from engine.model.breakpoint import Breakpoint
from riff_tui import client

if TYPE_CHECKING:
    from engine.hydrate.call import Call


def points_text(points: tuple[Breakpoint, ...]) -> str:
    """Breakpoints as a person edits them: commas between, a dash before one that is off."""
    return ", ".join(("" if point.enabled else "-") + point.text for point in points)


def points_from(call: Call, text: str) -> tuple[Breakpoint, ...]:
    """Read an edited line.

    Raises:
        EngineError: A breakpoint that the engine doesn't take; the message names it.
    """
    made: dict[str, Breakpoint] = {}
    for word in filter(None, map(str.strip, text.split(","))):
        point = client.breakpoint(call, word.removeprefix("-").strip())
        made[point.text] = msgspec.structs.replace(point, enabled=not word.startswith("-"))
    return tuple(made.values())
