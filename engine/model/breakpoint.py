"""Where a run stops (contract 3.4)."""

from __future__ import annotations

import msgspec

from engine.canonical import fingerprint


class Breakpoint(msgspec.Struct, frozen=True):
    """Where a run stops.

    Attributes:
        text: What selects candidates, ``<form>:<name>``, for example ``slot:_route``.
        when: A condition that must hold there.
        hit_count: Only the hit of this number, from 1, counted from the start of the call.
        enabled: Whether a run stops there.
    """

    text: str
    when: str | None = None
    hit_count: int | None = None
    enabled: bool = True

    @property
    def id(self) -> str:
        """``bp-`` and 12 hex digits of what it says: the same breakpoint has one id everywhere."""
        said = {"on": self.text, "when": self.when, "hit_count": self.hit_count}
        return "bp-" + fingerprint(said).removeprefix("sha256:")[:12]
