"""Visits that were never seen entered: which rows may open one (contract 2.3, rule 3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine.hydrate.gaps import Gaps
from engine.hydrate.visits import Visit
from engine.sources.merge import Ledger
from engine.sources.rowschema import KIND_CODE

BOUNDARIES = ("session_started", "state_entered", "state_exited", "transition_committed", "session_ended")
EDGE_WRITES = ("transition_set", "transition_clear")
_WRITE = KIND_CODE["slot_write"]


class Unseen:
    """What rows say of visits without a recorded entry.

    Attributes:
        entered: Codes of the ids that a valid ``state_entered`` carries anywhere in the call.
    """

    def __init__(self, ledger: Ledger, gaps: Gaps) -> None:
        self._ledger = ledger
        self._gap_before = sorted(gap.before for gap in gaps.ranges)
        rows = ledger.captured["state_entered"].rows
        self._entries = [row for row in rows if "state_id" not in ledger.malformed.get(row, ())]
        self.entered: set[int] = (
            set(np.unique(ledger.visit[self._entries]).tolist()) if self._entries else set()
        )
        self._last_row = (-1, -1, -1)

    def never_entered(self) -> list[int]:
        """Rows, boundary rows left aside, that name a visit which no ``state_entered`` names."""
        ledger = self._ledger
        known = np.zeros(len(ledger.names.visits.names) + 1, np.bool_)
        known[-1] = True
        known[list(self.entered)] = True
        if known.all():
            return []
        found = np.flatnonzero(~known[ledger.visit])
        boundary = [KIND_CODE[kind] for kind in BOUNDARIES]
        rows: list[int] = found[~np.isin(ledger.kind[found], boundary)].tolist()
        return rows

    def before_entries(self) -> tuple[str, str | None] | None:
        """State and id of the visit whose rows stand before the first entry, when the start is cut off."""
        ledger = self._ledger
        if not len(ledger) or ledger.seq[0] <= 1:
            return None
        end = self._entries[0] if self._entries else len(ledger)
        started = ledger.captured["session_started"].rows
        if started and started[0] < end:
            return None
        visits = np.unique(ledger.visit[:end])
        visits = visits[visits >= 0]
        if len(visits) > 1 or (len(visits) and int(visits[0]) in self.entered):
            return None
        states = {ledger.state_id(event) for event in range(end)} - {None}
        if len(states) != 1:
            return None
        return str(states.pop()), ledger.names.visits.names[visits[0]] if len(visits) else None

    def is_edge_write(self, event: int) -> bool:
        """Whether a row is a write of an edge, which rule 8 places."""
        return int(self._ledger.kind[event]) == _WRITE and self._ledger.flat(event).get("kind") in EDGE_WRITES

    def gap_since_last_row(
        self, event: int, index: int, visit: Visit, may_own: Callable[[int, int], bool]
    ) -> bool:
        """Whether a missing range lies between an open visit's last row and an event.

        Args:
            event: A row that is not the visit's.
            index: The visit's index.
            visit: The open visit.
            may_own: Whether a row (its event, the visit's index) can be the visit's.
        """
        known, at, scanned = (
            self._last_row if self._last_row[0] == index else (index, visit.first, visit.first)
        )
        codes = self._ledger.names
        mine = (codes.visits.get(visit.visit_id, -2), codes.states.get(visit.state_id, -2))
        for row in range(event - 1, scanned, -1):
            if may_own(row, index) and self._is_of(row, *mine):
                at = row
                break
        self._last_row = (known, at, event - 1)
        low = int(np.searchsorted(self._gap_before, at, "right"))
        return low < len(self._gap_before) and self._gap_before[low] <= event

    def _is_of(self, row: int, visit: Any, state: Any) -> bool:
        named, stated = int(self._ledger.visit[row]), int(self._ledger.state[row])
        return named == visit or (named < 0 and stated in (-1, state))
