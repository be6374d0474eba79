"""State visits from boundary rows (contract 2.3, rules 1, 2, 3 and 5).

A walk over the few rows that can open, close or commit a visit. What a row in between belongs to is decided
afterwards, from the visit that was open at it (`ownership`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.hydrate.gaps import Gaps
from engine.hydrate.stretches import COMMITTED, ROWS, read_stretch, stretch_lengths
from engine.hydrate.unseen import BOUNDARIES, Unseen
from engine.hydrate.visits import NO_VISIT, Quarantine, Visit, Visits, boundary_columns
from engine.sources.merge import Ledger
from engine.sources.part import Ints


def build_visits(ledger: Ledger, gaps: Gaps) -> Visits:
    """Walk the boundary rows in durable order."""
    walk = _Walk(ledger, gaps)
    walk.run()
    return walk.result()


_Take = Callable[..., None]
FEW = 4
"""Fewer visits that follow each other are taken row by row."""


class _Step(NamedTuple):
    """One sort of rows that the walk takes.

    Attributes:
        events: The rows, ascending.
        take: What takes one: event, visit id as stated, and the values.
        values: The columns of the values.
    """

    events: Ints
    take: _Take
    values: list[list[Any]]


class _Walk:
    def __init__(self, ledger: Ledger, gaps: Gaps) -> None:
        self.ledger = ledger
        self.malformed = ledger.malformed
        self.visits: list[Visit] = []
        self.by_id: dict[str, int] = {}
        self.entries: dict[str, int] = {}
        self.open = NO_VISIT
        self.provisional = False
        self.owner = np.full(len(ledger), NO_VISIT, np.int32)
        self.refused: dict[int, Quarantine] = {}
        self.ends: list[int] = []
        self.unseen = Unseen(ledger, gaps)

    def _fails(self, event: int, key: str) -> bool:
        """Whether a row lacks a key that its meaning needs."""
        return event in self.malformed and key in self.malformed[event]

    def run(self) -> None:
        """Take the steps in durable order: boundary rows, and rows whose id no entry carries."""
        lead = self.unseen.before_entries()
        if lead is not None:
            self._open(0, *lead, missing=True)
        steps = self._steps()
        events = np.concatenate([step.events for step in steps])
        order = np.argsort(events, kind="stable")
        counts = [len(step.events) for step in steps]
        kinds = np.repeat(np.arange(len(steps), dtype=np.int8), counts)[order]
        rows = np.concatenate([np.arange(count) for count in counts])[order]
        lengths = stretch_lengths(self.ledger, kinds, rows, BOUNDARIES)
        names, visit_ids = self.ledger.visit, self.ledger.names.visits.by_code()
        at = 0
        while at < len(order):
            end = at + ROWS * int(lengths[at])
            if lengths[at] >= FEW and self._take_stretch(rows[at:end]):
                at = end
                continue
            step, row = steps[kinds[at]], int(rows[at])
            event = int(step.events[row])
            step.take(event, visit_ids[names[event]], *[column[row] for column in step.values])
            at += 1

    def _steps(self) -> list[_Step]:
        """The boundary rows by kind, as `BOUNDARIES` lists them, then rows whose id no entry carries."""
        keys: list[tuple[tuple[str, ...], _Take]] = [
            (("initial_state",), self._started),
            (("state_id", "from_state", "edge_id"), self._entered),
            (("state_id", "to_state", "edge_id", "reason"), self._exited),
            (("from_state", "to_state", "edge_id", "turn_index"), self._committed),
            ((), self._ended),
        ]
        steps = []
        for kind, (wanted, take) in zip(BOUNDARIES, keys, strict=True):
            captured = self.ledger.captured[kind]
            steps.append(_Step(captured.events, take, [captured.columns[key] for key in wanted]))
        return [*steps, _Step(np.array(self.unseen.never_entered(), np.int64), self._unknown_id, [])]

    def _take_stretch(self, rows: Ints) -> bool:
        """Take visits that follow each other, where nothing before them speaks against it."""
        last = self.visits[-1] if self.visits else None
        left = self.ledger.captured[COMMITTED].columns["from_state"][int(rows[1])]
        if self.open != NO_VISIT or last is None or last.commit is not None or last.state_id != left:
            return False
        entries = dict(self.entries)
        visits, before, own, commits = read_stretch(self.ledger, rows, entries)
        ids = [visit.visit_id for visit in visits]
        if not self.by_id.keys().isdisjoint(ids):
            return False
        last.commit, last.commit_to, last.commit_edge, last.commit_turn = before
        numbers = np.arange(len(self.visits), len(self.visits) + len(visits), dtype=np.int32)
        self.owner[own] = numbers[:, None]
        self.owner[commits] = numbers - 1
        self.entries = entries
        self.by_id.update(zip(ids, numbers.tolist(), strict=True))
        self.visits += visits
        return True

    def _open(self, event: int, state_id: str, visit_id: str | None, missing: bool = False) -> None:
        self.entries[state_id] = ordinal = self.entries.get(state_id, 0) + 1
        if visit_id is None:
            visit_id = self._fresh_id(state_id, ordinal)
        self.by_id[visit_id] = self.open = len(self.visits)
        visit = Visit(visit_id, state_id, ordinal, event, None, None, None, None, missing)
        self.visits.append(visit)
        self.provisional = False

    def _fresh_id(self, state_id: str, ordinal: int) -> str:
        """``<state_id>#<ordinal>``, or the next number that no visit has."""
        while f"{state_id}#{ordinal}" in self.by_id:
            ordinal += 1
        return f"{state_id}#{ordinal}"

    def _close(self, event: int) -> None:
        """Close the open visit, whose exit was not recorded, because another one begins."""
        self.visits[self.open].closed_by = event
        self.open = NO_VISIT

    def _refuse(self, event: int, code: str, reason: str) -> None:
        self.refused[event] = Quarantine(code, reason)

    def _started(self, event: int, named: str | None, initial_state: str | None) -> None:
        if self.visits or self._fails(event, "initial_state") or initial_state is None:
            return
        self._open(event, initial_state, named)
        self.provisional = True
        self.owner[event] = self.open

    def _entered(
        self, event: int, named: str | None, state_id: str, from_state: str | None, edge_id: str | None
    ) -> None:
        if self.malformed and self._fails(event, "state_id"):
            return
        if self.open >= 0 and self.provisional and self.visits[self.open].state_id == state_id:
            visit = self.visits[self.open]
            if named is not None and named != visit.visit_id:
                del self.by_id[visit.visit_id]
                self.by_id[named] = self.open
                visit.visit_id = named
            self.provisional = False
        elif named is not None and named in self.by_id:
            if self.by_id[named] != self.open:
                self._refuse(event, "CONFLICTING_ATTRIBUTION", f"{named} was entered before")
            return
        else:
            if self.open >= 0:
                self._close(event)
            self._open(event, state_id, named)
            visit = self.visits[self.open]
        visit.entered, visit.from_state, visit.entry_edge = event, from_state, edge_id
        self.owner[event] = self.open

    def _exited(
        self,
        event: int,
        named: str | None,
        state_id: str | None,
        to_state: str | None,
        edge_id: str | None,
        reason: str | None,
    ) -> None:
        if self.malformed and self._fails(event, "state_id"):
            return
        visit = self.visits[self.open] if self.open >= 0 else None
        if visit is None or (visit.visit_id != named if named is not None else visit.state_id != state_id):
            self._refuse(
                event, "EXIT_WITHOUT_ENTRY", f"no open visit of {named or state_id} matches this exit"
            )
            return
        visit.exited, visit.to_state, visit.exit_edge, visit.exit_reason = event, to_state, edge_id, reason
        self.owner[event] = self.open
        self.open = NO_VISIT
        self.provisional = False

    def _committed(
        self,
        event: int,
        named: str | None,
        from_state: str | None,
        to_state: str | None,
        edge_id: str | None,
        turn: int | None,
    ) -> None:
        if self.malformed and self._fails(event, "from_state"):
            if named is None:
                self._refuse(event, "CONFLICTING_ATTRIBUTION", "a commit that names no state it left")
            return
        current = self._uncommitted(self.open, from_state) if self.open >= 0 else None
        before = self.open - 1 if self.open >= 0 else len(self.visits) - 1
        chosen = self._uncommitted(before, from_state) if before >= 0 else None
        if chosen is None or (current is not None and self.visits[self.open].state_id != to_state):
            chosen = current
        if chosen is None:
            self._refuse(
                event, "CONFLICTING_ATTRIBUTION", f"no visit of {from_state} without a commit ends here"
            )
            return
        visit = self.visits[chosen]
        visit.commit, visit.commit_to, visit.commit_edge, visit.commit_turn = event, to_state, edge_id, turn
        if chosen == self.open:
            self.provisional = False
        self.owner[event] = chosen

    def _uncommitted(self, index: int, from_state: str | None) -> int | None:
        visit = self.visits[index]
        return index if visit.state_id == from_state and visit.commit is None else None

    def _ended(self, event: int, named: str | None) -> None:
        del named
        self.ends.append(event)

    def _unknown_id(self, event: int, named: str | None) -> None:
        if named is None or named in self.by_id:
            return
        stated = self.ledger.state_id(event)
        state_id = stated if stated is not None else named.partition("#")[0]
        if self.open >= 0:
            visit = self.visits[self.open]
            if stated is None or visit.state_id == state_id:
                return
            if not self.unseen.gap_since_last_row(event, self.open, visit, self._may_own):
                return
            self._close(event)
        elif self.visits and self.unseen.is_edge_write(event):
            return
        self._open(event, state_id, named, missing=True)

    def _may_own(self, event: int, visit: int) -> bool:
        """Whether nothing that the walk decided keeps an event from being a visit's."""
        return event not in self.refused and self.owner[event] in (NO_VISIT, visit)

    def _own_first_and_last(self) -> None:
        """Seeds before the first visit are its event; ``session_ended`` after the last exit is the last's."""
        if not self.visits:
            return
        first, last = self.visits[0], self.visits[-1]
        seeds = [row for row in self.ledger.captured["session_slots_seeded"].rows[:1] if row < first.first]
        if seeds and not first.entry_missing and not self._fails(seeds[0], "slots"):
            named, stated = self.ledger.flat(seeds[0]).get("visit_id"), self.ledger.state_id(seeds[0])
            if named in (None, first.visit_id) and stated in (None, first.state_id):
                self.owner[seeds[0]] = 0
        for event in self.ends:
            if last.exited is not None and event > last.exited:
                self.owner[event] = len(self.visits) - 1

    def result(self) -> Visits:
        """What the walk found."""
        self._own_first_and_last()
        firsts, exits = boundary_columns(self.visits)
        open_at, open_after = _open_visits(len(self.ledger), firsts, exits)
        return Visits(
            self.visits, firsts, exits, open_at, open_after, self.owner, self.refused, self.by_id
        )  # fmt: skip


def _open_visits(size: int, firsts: Ints, exits: Ints) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """For each event the visit open at it, and the one open just after it; `NO_VISIT` for none."""
    open_at = np.full(size, NO_VISIT, np.int32)
    open_after = np.full(size, NO_VISIT, np.int32)
    closing = np.flatnonzero(exits >= 0)
    events = np.concatenate((firsts, exits[closing]))
    if not len(events):
        return open_at, open_after
    at = np.concatenate((np.arange(len(firsts)), closing)).astype(np.int32)
    after = np.concatenate((np.arange(len(firsts)), np.full(len(closing), NO_VISIT))).astype(np.int32)
    order = np.argsort(events, kind="stable")
    events = events[order]
    open_after[events[0] :] = np.repeat(after[order], np.diff(events, append=size))
    open_at[1:] = open_after[:-1]
    open_at[events] = at[order]
    return open_at, open_after
