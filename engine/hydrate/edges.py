"""Edges of a visit: declared exits joined with verdicts and guards (contract 2.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from engine.hydrate.ownership import Ownership
from engine.hydrate.visits import Visits
from engine.model.artifact import Verdict
from engine.model.flow import Flow, Transition
from engine.sources import tolerant
from engine.sources.merge import Ledger

_RESULTS: dict[str, Verdict] = {"matched": "won", "no": "lost", "shadowed": "shadowed", "error": "error"}


class Joined(NamedTuple):
    """One candidate of a verdict and the edge it is.

    Attributes:
        edge_id: The edge, or None where the join is ambiguous or there is nothing to join.
        declared: Whether the flow declares that edge for the visit's state.
        ambiguous: Whether several declared edges fit.
    """

    edge_id: str | None
    declared: bool
    ambiguous: bool
    to: str | None
    when: str | None
    verdict: Verdict


class Reading(NamedTuple):
    """What one verdict row says, joined with the flow.

    Attributes:
        candidates: In recorded order.
        winner: Edge id of the winner, or None.
        named: The winner as recorded.
        ambiguous: Whether the winner, or a candidate, fits several edges.
        unknown: Whether the winner is no declared edge (only where the flow declares the state).
        matched: How many candidates matched.
        target: Where the winner leads, or None.
    """

    candidates: tuple[Joined, ...]
    winner: str | None
    named: str | None
    ambiguous: bool
    unknown: bool
    matched: int
    target: str | None


class Verdicts:
    """All verdict rows, by visit; the reading of equal rows is shared."""

    def __init__(self, ledger: Ledger, built: Visits, flow: Flow | None) -> None:
        self._ledger = ledger
        self._visits = built.visits
        self._flow = flow
        self._cache: dict[tuple[str, bytes | None, str | None], Reading] = {}
        captured = ledger.captured.get("transition_verdict")
        self.rows: list[int] = captured.rows if captured else []
        self._columns: dict[str, list[Any]] = captured.columns if captured else {}
        self.by_visit: dict[int, list[int]] = {}
        self.finals: dict[int, int] = {}
        """Visit → the row that decides it: the last one marked final, else the last."""

    def winner(self, visit: int, rows: list[int]) -> str | None:
        """The edge that the deciding one of a visit's verdict rows names, or None."""
        index = self._deciding(rows)
        return self.read(visit, index).winner if index is not None else None

    def attach(self, owned: Ownership) -> None:
        """Group the rows by the visit that owns them, and find the deciding row of each."""
        if not self.rows:
            return
        final = self._columns["final"]
        marked: set[int] = set()
        for index, visit in enumerate(owned.visit[np.array(self.rows)].tolist()):
            if visit < 0:
                continue
            known = self.by_visit.get(visit)
            if known is None:
                self.by_visit[visit] = [index]
            else:
                known.append(index)
            if final[index] is True:
                marked.add(visit)
                self.finals[visit] = index
            elif visit not in marked:
                self.finals[visit] = index

    def event(self, index: int) -> int:
        """The event of a verdict row."""
        return self.rows[index]

    def truncated(self, index: int) -> int | bool:
        """What the row says of candidates it left out; False for none."""
        return self._columns["truncated"][index] or False

    def final(self, visit: int) -> int | None:
        """The row that decides a visit: the last one marked final, else the last."""
        return self.finals.get(visit)

    def final_reading(self, visit: int) -> Reading | None:
        """The reading of the row that decides a visit; None without one that can be read."""
        index = self.finals.get(visit)
        return None if index is None or not self.usable(index) else self.read(visit, index)

    def _deciding(self, rows: list[int]) -> int | None:
        if not rows:
            return None
        final = self._columns["final"]
        return next((index for index in reversed(rows) if final[index] is True), rows[-1])

    def latest(self, visit: int, event: int) -> int | None:
        """The last row of a visit at or before an event."""
        return next((i for i in reversed(self.by_visit.get(visit, [])) if self.rows[i] <= event), None)

    def usable(self, index: int) -> bool:
        """Whether the row has what a verdict needs."""
        bad = self._ledger.malformed.get(self.rows[index])
        return bad is None or not ("winner" in bad or "candidates" in bad)

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
    candidates = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    declared = declared_edges(flow, state_id)
    joined = _join_candidates(candidates, declared)
    ids = {edge.edge_id for edge in declared} if declared is not None else None
    named_edge, ambiguous, target = _join_winner(winner, joined, declared)
    unknown = winner is not None and ids is not None and named_edge not in ids and not ambiguous
    return Reading(
        tuple(joined), named_edge, winner, ambiguous or any(item.ambiguous for item in joined), unknown,
        sum(item.verdict == "won" for item in joined), target,
    )  # fmt: skip


def _join_candidates(candidates: list[dict[str, Any]], declared: Sequence[Transition] | None) -> list[Joined]:
    joined: list[Joined] = []
    taken: dict[tuple[Any, Any], int] = {}
    won = False
    bare = [(item.get("to"), item.get("when")) for item in candidates if not _text(item.get("edge_id"))]
    for item in candidates:
        edge_id, to, when = _text(item.get("edge_id")), _text(item.get("to")), _text(item.get("when"))
        verdict = _RESULTS.get(str(item.get("result")), "unavailable")
        if won and verdict == "lost":
            verdict = "shadowed"
        won = won or verdict == "won"
        ambiguous = False
        if edge_id is None and declared is not None:
            fits = [edge for edge in declared if edge.to == to and edge.when == when]
            if len(fits) == bare.count((to, when)):
                place = taken[(to, when)] = taken.get((to, when), -1) + 1
                edge_id = fits[place].edge_id if fits else None
            else:
                ambiguous = bool(fits)
        known = declared is not None and any(edge.edge_id == edge_id for edge in declared)
        joined.append(Joined(edge_id, known, ambiguous, to, when, verdict))
    return joined


def _join_winner(
    winner: str | None, joined: list[Joined], declared: Sequence[Transition] | None
) -> tuple[str | None, bool, str | None]:
    """The winner's edge id, whether it is ambiguous, and its target."""
    if winner is None:
        return None, False, None
    for edge in declared or ():
        if edge.edge_id == winner:
            return winner, False, edge.to
    for item in joined:
        if item.edge_id == winner:
            return winner, False, item.to
    matched = [item for item in joined if item.verdict == "won" and item.to == winner]
    if len(matched) == 1:
        return matched[0].edge_id, matched[0].ambiguous, winner
    if len(matched) > 1:
        return None, True, winner
    return None, False, None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def guard_edge(
    guard: str, edge_id: str | None, declared: Sequence[Transition] | None
) -> tuple[str | None, bool]:
    """The edge a guard belongs to, and whether several declared edges fit its text."""
    if edge_id is not None or declared is None:
        return edge_id, False
    fits = [edge.edge_id for edge in declared if edge.when == guard]
    return (fits[0], False) if len(fits) == 1 else (None, len(fits) > 1)
