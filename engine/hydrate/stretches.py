"""Visits that follow each other as a runtime writes them: entry, commit of the visit before, exit.

Most of a call is such visits (contract 2.3, rules 1, 2 and 5), and nothing in them needs a decision. Where
they stand is found for all boundary rows at once; the walk takes a stretch of them in one go.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.hydrate.visits import Visit
from engine.sources.merge import Ledger
from engine.sources.part import Captured, Codes, Ints

ENTERED, COMMITTED, EXITED = "state_entered", "transition_committed", "state_exited"
ROWS = 3
"""Boundary rows of such a visit."""


class Commit(NamedTuple):
    """A commit row."""

    event: int
    to_state: str | None
    edge_id: str | None
    turn_index: int | None


class Stretch(NamedTuple):
    """Visits that follow each other.

    Attributes:
        visits: In order; the last has no commit yet.
        before: The commit of the visit before the first.
        own: The entry and exit events: a row for each visit.
        commits: The commit events; each belongs to the visit before.
    """

    visits: list[Visit]
    before: Commit
    own: Ints
    commits: Ints


def stretch_lengths(ledger: Ledger, kinds: NDArray[np.int8], rows: Ints, order: tuple[str, ...]) -> Ints:
    """For each boundary row, how many such visits follow each other from it on, 0 for none.

    What stands before the first of them is not looked at: whether it can be its predecessor.

    Args:
        ledger: The distinct events.
        kinds: Kind of each boundary row, as an index of ``order``, in durable order.
        rows: Which row of its kind it is.
        order: The kinds.
    """
    found = np.zeros(len(kinds), np.int64)
    places = np.flatnonzero(kinds[: 1 - ROWS] == order.index(ENTERED))
    for at, kind in ((1, COMMITTED), (2, EXITED)):
        places = places[kinds[places + at] == order.index(kind)]
    if not len(places):
        return found
    entered, committed, exited = _sides(ledger, [rows[places + at] for at in range(ROWS)])
    states, left, target = (
        entered.codes("state_id"),
        committed.codes("from_state"),
        committed.codes("to_state"),
    )
    fits = (entered.named >= 0) & (exited.named == entered.named) & _entered_once(ledger, entered.named)
    fits &= (states >= 0) & (left >= 0) & ((states != left) | (target == states))
    for side in (entered, committed, exited):
        fits &= side.sound()
    whole = np.zeros(len(kinds), np.bool_)
    whole[places[fits]] = True
    continues = np.zeros(len(kinds), np.bool_)
    continues[places[1:]] = (np.diff(places) == ROWS) & (left[1:] == states[:-1])
    for first in range(ROWS):
        found[first::ROWS] = _followed(whole[first::ROWS], continues[first::ROWS])
    return found


def read_stretch(ledger: Ledger, rows: Ints, entries: dict[str, int]) -> Stretch:
    """The visits of a stretch.

    Args:
        ledger: The distinct events.
        rows: The rows of its boundary rows among those of their kinds.
        entries: State → how often it was entered before; counted on.
    """
    entered, committed, exited = _sides(ledger, [rows[at::ROWS] for at in range(ROWS)])
    first, last = entered.events.tolist(), exited.events.tolist()
    (commit, *commits), (to_state, *to_states), (edge, *edges), (turn, *turns) = (
        committed.events.tolist(), *map(committed.values, ("to_state", "edge_id", "turn_index")),
    )  # fmt: skip
    count = len(first)
    visits = map(
        Visit,
        ledger.names.values("visits", entered.named), entered.values("state_id"),
        _ordinals(ledger, entered.codes("state_id"), entries),
        first, first, last, [*commits, None], [None] * count, [False] * count,
        entered.values("from_state"), entered.values("edge_id"),
        exited.values("to_state"), exited.values("reason"), exited.values("edge_id"),
        [*to_states, None], [*edges, None], [*turns, None],
    )  # fmt: skip
    own = np.stack((entered.events, exited.events), axis=1)
    return Stretch(list(visits), Commit(commit, to_state, edge, turn), own, committed.events)


def _sides(ledger: Ledger, rows: list[Ints]) -> list[_Rows]:
    kinds = (ENTERED, COMMITTED, EXITED)
    return [_Rows(ledger, ledger.captured[kind], chosen) for kind, chosen in zip(kinds, rows, strict=True)]


class _Rows:
    """Some rows of one kind."""

    def __init__(self, ledger: Ledger, captured: Captured, rows: Ints) -> None:
        self.events = captured.events[rows]
        self.named = ledger.visit[self.events]
        self._ledger = ledger
        self._captured = captured
        self._rows = rows

    def codes(self, key: str) -> Codes:
        return self._captured.codes[key][self._rows]

    def values(self, key: str) -> list[Any]:
        if key in self._captured.codes:
            return self._ledger.names.values("texts", self.codes(key))
        column = self._captured.columns[key]
        return [column[row] for row in self._rows.tolist()]

    def sound(self) -> NDArray[np.bool_]:
        malformed = self._ledger.malformed
        return ~np.isin(self.events, list(malformed)) if malformed else np.ones(len(self.events), np.bool_)


def _entered_once(ledger: Ledger, named: Codes) -> NDArray[np.bool_]:
    """Whether one entry only, of the whole call, carries an id."""
    every = ledger.visit[ledger.captured[ENTERED].events]
    times = np.bincount(every + 1, minlength=int(named.max()) + 2)  # -1 stands for none
    once: NDArray[np.bool_] = times[named + 1] == 1
    return once


def _followed(whole: NDArray[np.bool_], continues: NDArray[np.bool_]) -> Ints:
    """How many visits follow each other from each place on, where each but the first continues the last."""
    places = np.arange(len(whole))
    ends = np.where(whole & continues, len(whole), places)  # where a stretch can't go on
    ends = np.append(np.minimum.accumulate(ends[::-1])[::-1], len(whole))
    found: Ints = np.where(whole, ends[1:] - places, 0)
    return found


def _ordinals(ledger: Ledger, states: Codes, entries: dict[str, int]) -> list[int]:
    """Which entry of its state each visit is, from 1."""
    order = np.argsort(states, kind="stable")
    codes, starts, counts = np.unique(states[order], return_index=True, return_counts=True)
    before = [entries.get(name, 0) for name in ledger.names.values("texts", codes)]
    ordinals = np.empty(len(states), np.int64)
    ordinals[order] = np.arange(len(states)) + np.repeat(np.array(before) + 1 - starts, counts)
    for name, known, count in zip(ledger.names.values("texts", codes), before, counts.tolist(), strict=True):
        entries[name] = known + count
    found: list[int] = ordinals.tolist()
    return found
