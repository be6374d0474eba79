"""Names that a person typed, and what they may have meant."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from engine.debug.text import escape

_LONGEST = 200
_MOST = 20_000


def near(name: str, known: Collection[str]) -> list[str]:
    """At most three known names that are like a name."""
    if len(name) > _LONGEST or len(known) > _MOST:
        return []
    return get_close_matches(name, known, n=3, cutoff=0.6)


def shown(name: str) -> str:
    """A name of any origin and length as it may stand in a message."""
    return escape(name, 80)


def hint(name: str, known: Collection[str]) -> str:
    """``; did you mean …?``, or nothing."""
    found = near(name, known)
    return f"; did you mean {', '.join(map(shown, found))}?" if found else ""
