"""Writes of an edge and the outgoing boundary they belong to (contract 2.3, rule 8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.hydrate.marks import agree
from engine.hydrate.unseen import EDGE_WRITES
from engine.hydrate.visits import Visits
from engine.model.flow import Flow
from engine.sources.merge import Ledger
from engine.sources.part import Captured

Winner = Callable[[int, list[int]], str | None]
"""Visit index and the verdict rows (indexes of the captured column) of it → the edge that won, or None."""


class _Write(NamedTuple):
    """One edge write; ``now`` is the visit open at it, or -1."""

    event: int
    now: int
    kind: str
    slot: str | None
    new: Any
    edge_id: str | None


class EdgeWrites:
    """Places every ``slot_write`` of kind ``transition_set`` or ``transition_clear``.

    Attributes:
        band: Visit index → the writes of its outgoing boundary, in order (filled by `place`).
    """

    def __init__(
        self, ledger: Ledger, built: Visits, owner: NDArray[np.int32], winner: Winner, flow: Flow | None
    ) -> None:
        self.band: dict[int, list[int]] = {}
        self._ledger = ledger
        self._visits = built.visits
        self._firsts = built.firsts
        self._open_at = built.open_at
        self._owner = owner
        self._winner = winner
        self._flow = flow
        self._counted: set[tuple[int, str | None]] = set()
        self._verdicts: Captured = ledger.captured["transition_verdict"]
        owners = owner[self._verdicts.events]
        self._order = np.argsort(owners, kind="stable")
        """The verdict rows, by the visits that own them so far."""
        self._judged = np.searchsorted(owners[self._order], np.arange(len(built.visits) + 1))
        """Visit → where its verdict rows begin in that order."""

    def place(self) -> Iterator[tuple[int, int | None]]:
        """Every edge write that rule 8 decides, and its visit; None where no boundary owns it."""
        columns = self._ledger.captured["slot_write"].columns
        rows = self._ledger.captured["slot_write"].rows
        marked = [index for index, kind in enumerate(columns["kind"]) if kind in EDGE_WRITES]
        if not marked:
            return
        first = self._first_verdicts()
        for index in marked:
            values = (columns[key][index] for key in ("kind", "slot", "new", "edge_id"))
            write = _Write(rows[index], int(self._open_at[rows[index]]), *values)
            source = self._source_of(write, first)
            if source is None:
                visit: int | None = write.now
                if write.now < 0 or int(self._owner[write.event]) != write.now:
                    continue
            else:
                visit = self._choose(write, source)
                yield write.event, visit
            if visit is not None:
                self.band.setdefault(visit, []).append(write.event)
                self._counted.add((visit, write.slot))

    def _verdict_rows(self, visit: int) -> list[int]:
        """The verdict rows of a visit, in order."""
        rows: list[int] = self._order[self._judged[visit] : self._judged[visit + 1]].tolist()
        return rows

    def _first_verdicts(self) -> list[int]:
        """The event of each visit's first verdict; past the last event for none."""
        begins, ends = self._judged[:-1], self._judged[1:]
        firsts = np.full(len(begins), len(self._ledger), np.int64)
        judged = begins < ends
        firsts[judged] = self._verdicts.events[self._order[begins[judged]]]
        found: list[int] = firsts.tolist()
        return found

    def _source_of(self, write: _Write, first_verdict: list[int]) -> int | None:
        """The closed visit whose outgoing boundary a write may still belong to."""
        if write.now < 0:
            closed = int(np.searchsorted(self._firsts, write.event)) - 1
            return closed if closed >= 0 else None
        if write.now == 0 or write.event > first_verdict[write.now]:
            return None
        return write.now - 1

    def _choose(self, write: _Write, source: int) -> int | None:
        """Source or open visit: by ``edge_id``, else by ``visit_id``, else by what the winning edges do."""
        named = self._named(write.event)
        by_id = {self._visits[visit].visit_id: visit for visit in (write.now, source) if visit >= 0}
        winner = self._winning_edge(source)
        if write.edge_id is not None:
            of_open = write.now >= 0 and self._is_edge_of(write.edge_id, self._visits[write.now].state_id)
            if of_open:
                # A self-transition's edge is of both; only an id that names the source tells them apart.
                named_source = named is not None and by_id.get(named) == source
                return source if named_source and write.edge_id == winner else write.now
            return source if write.edge_id == winner else None
        if named is not None:
            return by_id.get(named)
        for visit, edge_id in ((source, winner), (write.now, self._winning_edge(write.now))):
            if self._does(edge_id, write) and (visit, write.slot) not in self._counted:
                return visit
        return None

    def _named(self, event: int) -> str | None:
        code = int(self._ledger.visit[event])
        return None if code < 0 else str(self._ledger.names.visits.names[code])

    def _winning_edge(self, visit: int) -> str | None:
        if visit < 0:
            return None
        return self._winner(visit, self._verdict_rows(visit)) or self._visits[visit].edge_id

    def _is_edge_of(self, edge_id: str, state_id: str) -> bool:
        edge = self._flow.by_edge.get(edge_id) if self._flow else None
        return edge.source == state_id if edge else edge_id.rpartition(":")[0] == state_id

    def _does(self, edge_id: str | None, write: _Write) -> bool:
        """Whether the flow says that an edge makes this write."""
        edge = self._flow.by_edge.get(edge_id) if self._flow and edge_id else None
        if edge is None:
            return False
        if write.kind == "transition_clear":
            return write.slot in edge.clears
        return any(item.slot == write.slot and agree(item.value, write.new) for item in edge.sets)
