"""What lasts from one command to the next: an immutable value that its holder replaces (contract 3.2)."""

from __future__ import annotations

import msgspec

from engine.model.breakpoint import Breakpoint


class Session(msgspec.Struct, frozen=True):
    """One client's breakpoints, in the order they were set."""

    breakpoints: tuple[Breakpoint, ...] = ()

    def with_breakpoint(self, point: Breakpoint) -> Session:
        """The session with a breakpoint more; one of the same id is replaced in its place."""
        kept = {one.id: one for one in self.breakpoints} | {point.id: point}
        return Session(tuple(kept.values()))

    def without(self, ids: frozenset[str]) -> Session:
        """The session without some breakpoints."""
        return Session(tuple(one for one in self.breakpoints if one.id not in ids))
