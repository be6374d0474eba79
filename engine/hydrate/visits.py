"""State visits, and what the walk over the boundary rows says of them (contract 2.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.sources.part import Ints

NO_VISIT = -1


class Visit(msgspec.Struct, gc=False):
    """One visit of a state. Events are bus event numbers.

    Attributes:
        visit_id: As emitted, else ``<state_id>#<ordinal>``.
        ordinal: Which entry of this state it is, from 1.
        first: The event that opened it.
        entered: Its ``state_entered``, or None.
        exited: Its ``state_exited``, or None.
        commit: Its ``transition_committed``, or None.
        closed_by: The event that closed it without an exit, or None.
        entry_missing: It was never seen entered, so nothing is known of its entry.
        edge_id: The edge that its exit names, else its commit.
    """

    visit_id: str
    state_id: str
    ordinal: int
    first: int
    entered: int | None = None
    exited: int | None = None
    commit: int | None = None
    closed_by: int | None = None
    entry_missing: bool = False
    from_state: str | None = None
    entry_edge: str | None = None
    to_state: str | None = None
    exit_reason: str | None = None
    exit_edge: str | None = None
    commit_to: str | None = None
    commit_edge: str | None = None
    commit_turn: int | None = None

    @property
    def edge_id(self) -> str | None:
        """The edge that its exit names, else that its commit names."""
        return self.exit_edge if self.exit_edge is not None else self.commit_edge


class Quarantine(NamedTuple):
    """Why an event belongs to no visit. ``code`` is the finding to raise, or None when none is due."""

    code: str | None
    reason: str


class Visits(NamedTuple):
    """All visits and the boundary rows' owners.

    Attributes:
        visits: In the order they were opened.
        firsts: The event that opened each of them.
        exits: The exit of each, or -1.
        open_at: For each event the visit open at it (an opening or closing row counts as in it), else -1.
        open_after: The same just after the event.
        owner: For each event the visit that a boundary rule gave it to, else -1.
        refused: Boundary rows that no rule could place, and why.
        by_id: Visit id → index.
    """

    visits: Sequence[Visit]
    firsts: Ints
    exits: Ints
    open_at: NDArray[np.int32]
    open_after: NDArray[np.int32]
    owner: NDArray[np.int32]
    refused: dict[int, Quarantine]
    by_id: Mapping[str, int]


def boundary_columns(visits: Sequence[Visit]) -> tuple[Ints, Ints]:
    """The columns ``firsts`` and ``exits`` of `Visits`."""
    count = len(visits)
    exits = np.fromiter((-1 if visit.exited is None else visit.exited for visit in visits), np.int64, count)
    return np.fromiter((visit.first for visit in visits), np.int64, count), exits
