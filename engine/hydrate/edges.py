"""Edges of a visit: declared exits joined with verdicts and guards (contract 2.5)."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from engine.hydrate.ownership import Ownership
from engine.hydrate.visits import Visits
from engine.model.artifact import Verdict
from engine.model.flow import Flow, Transition
from engine.sources import tolerant
from engine.sources.merge import Ledger
from engine.sources.part import Codes, Ints

_RESULTS: dict[str, Verdict] = {"matched": "won", "no": "lost", "shadowed": "shadowed", "error": "error"}


class Joined(NamedTuple):
    """One candidate of a verdict and the edge it is.

    Attributes:
        edge_id: The edge, or None where the join is ambiguous or there is nothing to join.
        among: Where it is ambiguous, the declared edges that it may be.
    """

    edge_id: str | None
    among: frozenset[str]
    to: str | None
    when: str | None
    verdict: Verdict


class Reading(NamedTuple):
    """What one verdict row says, joined with the flow.

    Attributes:
        candidates: In recorded order.
        winner: Edge id of the winner, or None where there is none or it can't be joined.
        named: The winner as recorded.
        unclear: Whether the winner fits several edges.
        unknown: Whether the winner is no declared edge (only where there is a flow).
        won: How many edges matched or are named as the winner.
        target: Where the winner leads, or None.
        plain: Whether one edge won, and nothing about it is unclear.
    """

    candidates: tuple[Joined, ...]
    winner: str | None
    named: str | None
    unclear: bool
    unknown: bool
    won: int
    target: str | None
    plain: bool

    @property
    def ambiguous(self) -> bool:
        """Whether the winner or a candidate fits several declared edges."""
        return self.unclear or any(item.among for item in self.candidates)

    @property
    def shown(self) -> str | None:
        """The winner: its edge, else what was recorded; None also where it fits several."""
        return None if self.unclear else self.winner if self.winner is not None else self.named


class Judged(NamedTuple):
    """The verdict rows by visit; a row is an index of the captured column.

    Attributes:
        finals: By visit, the row that decides it: the last one marked final, else the last; -1 for none.
        owned: The rows that a visit owns, visit after visit.
        begins: Where the rows of each visit begin in `owned`; one entry more than visits.
        decided: By visit, which reading the deciding row has; -1 for none that can be read.
        first: Of each reading, a row that has it.
        of: The visit of that row.
    """

    finals: Ints
    owned: Ints
    begins: Ints
    decided: Ints
    first: Ints
    of: Ints

    @classmethod
    def nothing(cls, visits: int) -> Judged:
        """No verdict rows."""
        none, missing = np.zeros(0, np.int64), np.full(visits, -1, np.int64)
        return cls(missing, none, np.zeros(visits + 1, np.int64), missing, none, none)


class Verdicts:
    """All verdict rows, by visit; the reading of equal rows is shared.

    Attributes:
        judged: The rows by visit, once they are attached.
        questionable: Visit and row of each owned verdict that leaves candidates out, or has not one clear
            winner; for the rules of findings.
    """

    def __init__(
        self, ledger: Ledger, built: Visits, flow: Flow | None, judged: Judged | None = None
    ) -> None:
        self._ledger = ledger
        self._visits = built.visits
        self._flow = flow
        self._cache: dict[tuple[str, bytes | None, str | None], Reading] = {}
        self._captured = ledger.captured.get("transition_verdict")
        self._columns: dict[str, list[Any]] = self._captured.columns if self._captured else {}
        self._codes: Mapping[str, Codes] = self._captured.codes if self._captured else {}
        self.judged = judged if judged is not None else Judged.nothing(len(built.visits))
        self.questionable: list[tuple[int, int]] = []

    @cached_property
    def rows(self) -> list[int]:
        """The events of the verdict rows."""
        return self._captured.rows if self._captured else []

    @property
    def finals(self) -> Ints:
        """As `Judged.finals`."""
        return self.judged.finals

    def winner(self, visit: int, rows: list[int]) -> str | None:
        """The edge that the deciding one of a visit's verdict rows names, or None."""
        index = self._deciding(rows)
        return self.read(visit, index).winner if index is not None and self.usable(index) else None

    def attach(self, owned: Ownership) -> None:
        """Group the rows by the visit that owns them, and find the deciding row of each."""
        if not self.rows:
            return
        owners = owned.visit[np.array(self.rows)].astype(np.int64)
        rows = np.flatnonzero(owners >= 0)
        by_visit = rows[np.argsort(owners[rows], kind="stable")]
        bounds = np.searchsorted(owners[by_visit], np.arange(len(self._visits) + 1))
        first, which = self._alike(rows, owners)
        readings = [self.read(int(owners[row]), row) for row in first.tolist()]
        begins, ends = bounds[:-1], bounds[1:]
        finals = np.full(len(self._visits), -1, np.int64)
        finals[begins < ends] = by_visit[ends[begins < ends] - 1]
        marked = rows[[final is True for final in np.array(self._columns["final"], np.object_)[rows]]]
        finals[owners[marked]] = marked  # of several, the last stays
        truncated = np.array([bool(count) for count in self._columns["truncated"]], np.bool_)[rows]
        plain = np.array([reading.plain for reading in readings], np.bool_)
        odd = rows[truncated | ~plain[which]]
        self.questionable = list(zip(owners[odd].tolist(), odd.tolist(), strict=True))
        read = np.full(len(self.rows), -1, np.int64)
        read[rows] = which
        if self._unusable:
            read[list(self._unusable)] = -1
        decided = np.where(finals >= 0, read[finals], -1)
        self.judged = Judged(finals, by_visit, bounds, decided, first, owners[first])

    def _alike(self, rows: Ints, owners: Ints) -> tuple[Ints, Ints]:
        """One row of each reading among some rows, and which reading each has.

        Rows of one state with equal candidates and winner are alike.
        """
        states = [visit.state_id for visit in self._visits]
        numbers = {state: number for number, state in enumerate(dict.fromkeys(states))}
        state = np.fromiter(map(numbers.__getitem__, states), np.int64, len(states))[owners[rows]]
        codes, width = self._codes, len(self._ledger.names.texts.names) + 1
        key = (state * width + codes["candidates"][rows] + 1) * width + codes["winner"][rows] + 1
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        return rows[first], inverse

    def of_visit(self, visit: int) -> list[int]:
        """The rows of a visit, in order."""
        owned, begins = self.judged.owned, self.judged.begins
        if not 0 <= visit < len(begins) - 1:
            return []
        found: list[int] = owned[begins[visit] : begins[visit + 1]].tolist()
        return found

    def event(self, index: int) -> int:
        """The event of a verdict row."""
        return self.rows[index]

    def truncated(self, index: int) -> int | bool:
        """What the row says of candidates it left out; False for none."""
        return self._columns["truncated"][index] or False

    def final(self, visit: int) -> int | None:
        """The row that decides a visit: the last one marked final, else the last."""
        index = int(self.finals[visit]) if visit >= 0 else -1
        return index if index >= 0 else None

    def final_reading(self, visit: int) -> Reading | None:
        """The reading of the row that decides a visit; None without one that can be read."""
        return self._final_readings[visit]

    @cached_property
    def readings(self) -> list[Reading]:
        """The readings, as `Judged.decided` numbers them; first asked for when the rows are attached."""
        pairs = zip(self.judged.of.tolist(), self.judged.first.tolist(), strict=True)
        return [self.read(visit, row) for visit, row in pairs]

    @cached_property
    def _final_readings(self) -> list[Reading | None]:
        """By visit."""
        readings = [*self.readings, None]
        return [readings[number] for number in self.judged.decided.tolist()]

    def _deciding(self, rows: list[int]) -> int | None:
        if not rows:
            return None
        final = self._columns["final"]
        return next((index for index in reversed(rows) if final[index] is True), rows[-1])

    def latest(self, visit: int, event: int) -> int | None:
        """The last row of a visit at or before an event."""
        rows = self.of_visit(visit)
        place = bisect_right(rows, event, key=self.rows.__getitem__)
        return rows[place - 1] if place else None

    def usable(self, index: int) -> bool:
        """Whether the row has what a verdict needs."""
        return index not in self._unusable

    @cached_property
    def _unusable(self) -> set[int]:
        malformed = self._ledger.malformed
        if not malformed:
            return set()
        places = {event: index for index, event in enumerate(self.rows)}
        return {
            places[event]
            for event, bad in malformed.items()
            if event in places and ("winner" in bad or "candidates" in bad)
        }

    def read(self, visit: int, index: int) -> Reading:
        """The joined reading of one row."""
        state_id = self._visits[visit].state_id
        key = (state_id, self._columns["candidates"][index], self._columns["winner"][index])
        reading = self._cache.get(key)
        if reading is None:
            reading = self._cache[key] = read_verdict(state_id, key[1], key[2], self._flow)
        return reading


def declared_edges(flow: Flow | None, state_id: str) -> tuple[Transition, ...] | None:
    """The edges a flow declares for a state (none for a state it does not know); None without a flow."""
    if flow is None:
        return None
    state = flow.by_state.get(state_id)
    return state.transitions if state else ()


def read_verdict(state_id: str, raw: bytes | None, winner: str | None, flow: Flow | None) -> Reading:
    """Join one verdict's candidates and winner with the declared edges of its state."""
    listed = tolerant.load(raw) if raw else []
    rows = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    declared = declared_edges(flow, state_id)
    candidates = _join_candidates(rows, winner, declared)
    edge_id, unclear, target = _join_winner(winner, candidates, declared)
    known = declared is None or any(edge.edge_id == edge_id for edge in declared)
    won = {item.edge_id or f"candidate:{place}" for place, item in enumerate(candidates) if _won(item)}
    if edge_id is not None and known:
        won.add(edge_id)
    unknown = winner is not None and not unclear and not known
    plain = not (winner is None or unclear or unknown or len(won) > 1 or any(one.among for one in candidates))
    return Reading(tuple(candidates), edge_id, winner, unclear, unknown, len(won), target, plain)


def _won(item: Joined) -> bool:
    return item.verdict == "won"


def _join_candidates(
    rows: list[dict[str, Any]], winner: str | None, declared: Sequence[Transition] | None
) -> list[Joined]:
    """Candidates by ``edge_id``, else by equal target and guard, several equal ones in order."""
    bare = Counter((row.get("to"), row.get("when")) for row in rows if not _text(row.get("edge_id")))
    taken: Counter[tuple[Any, Any]] = Counter()
    joined: list[Joined] = []
    decided = False
    for row in rows:
        edge_id, to, when = (_text(row.get(key)) for key in ("edge_id", "to", "when"))
        verdict = _RESULTS.get(str(row.get("result")), "unavailable")
        if decided and verdict == "lost":
            verdict = "shadowed"
        among: frozenset[str] = frozenset()
        if edge_id is not None:
            edge_id, among = _by_id(edge_id, declared)
        elif fits := [edge.edge_id for edge in declared or () if (edge.to, edge.when) == (to, when)]:
            if len(fits) == bare[to, when] == len(set(fits)):
                edge_id = fits[taken[to, when]]
                taken[to, when] += 1
            else:
                among = frozenset(fits)
        decided = decided or verdict == "won" or (winner is not None and edge_id == winner)
        joined.append(Joined(edge_id, among, to, when, verdict))
    return joined


def _by_id(edge_id: str, declared: Sequence[Transition] | None) -> tuple[str | None, frozenset[str]]:
    """An edge by its id; a flow that declares the id twice in one state can't tell which one is meant."""
    twice = sum(edge.edge_id == edge_id for edge in declared or ()) > 1
    return (None, frozenset({edge_id})) if twice else (edge_id, frozenset())


def _join_winner(
    winner: str | None, joined: list[Joined], declared: Sequence[Transition] | None
) -> tuple[str | None, bool, str | None]:
    """The winner's edge id, whether it fits several edges, and its target."""
    if winner is None:
        return None, False, None
    listed = [item.to for item in joined if winner == item.edge_id or winner in item.among]
    declares = [edge.to for edge in declared or () if edge.edge_id == winner]
    if listed or declares:
        targets = {to for to in listed if to is not None} or {to for to in declares if to is not None}
        unclear = len(declares) > 1
        return None if unclear else winner, unclear, targets.pop() if len(targets) == 1 else None
    matched = [item for item in joined if _won(item) and item.to == winner]
    if len(matched) == 1:
        return matched[0].edge_id, bool(matched[0].among), winner
    return None, len(matched) > 1, winner if matched else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def guard_edge(
    guard: str, edge_id: str | None, declared: Sequence[Transition] | None
) -> tuple[str | None, bool]:
    """The edge a guard belongs to, and whether several declared edges fit it."""
    if edge_id is not None:
        known, among = _by_id(edge_id, declared)
        return known, bool(among)
    fits = [edge.edge_id for edge in declared or () if edge.when == guard]
    return (fits[0], False) if len(fits) == 1 else (None, len(fits) > 1)
