"""Which visit each bus event belongs to (contract 2.3, rules 3, 4, 6, 7 and 9; rule 8 is `edgewrites`).

Almost every row agrees with the visit that is open at it; that is settled for all rows at once. Only rows
that disagree, or that a later rule may move, are looked at one by one.
"""

from __future__ import annotations

from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.hydrate.edgewrites import EdgeWrites, Winner
from engine.hydrate.visits import NO_VISIT, Quarantine, Visits
from engine.model.events import LATE_TELEMETRY
from engine.model.flow import Flow
from engine.sources.merge import Ledger
from engine.sources.part import Codes, Intern
from engine.sources.rowschema import KINDS

ATTRIBUTIONS = ("none", "explicit", "interval", "boundary", "derived")
NONE, EXPLICIT, INTERVAL, BOUNDARY, DERIVED = range(5)


class Ownership(NamedTuple):
    """The owner of every bus event.

    Attributes:
        visit: Visit index or -1.
        attribution: Index of `ATTRIBUTIONS`.
        observed: The visit open when the event was emitted, or -1.
        late: Recorded after the next visit's entry; it stands last in its own.
        quarantined: Event → why it has no owner.
        derived_from: Event → the events its attribution was derived from (rule 6).
        causal: Event → visit id that late telemetry names (rule 7).
        band: Visit index → the writes of its outgoing boundary, in order.
    """

    visit: NDArray[np.int32]
    attribution: NDArray[np.int8]
    observed: NDArray[np.int32]
    late: NDArray[np.bool_]
    quarantined: dict[int, Quarantine]
    derived_from: dict[int, tuple[int, ...]]
    causal: dict[int, str]
    band: dict[int, list[int]]


def assign(ledger: Ledger, built: Visits, winner: Winner, flow: Flow | None) -> Ownership:
    """Give every bus event its owner.

    Args:
        ledger: The distinct events.
        built: The visits.
        winner: Which edge the verdicts of a visit name.
        flow: The compiled flow, to recognise boundary writes of rows that carry no ids.
    """
    return _Assignment(ledger, built, winner, flow).run()


def _codes(interner: Intern, names: list[str]) -> Codes:
    """Codes of the visits' names, -2 for a name no row carries, and -3 at the end, for no visit."""
    return np.array([*map(interner.get, names, repeat(-2)), -3], np.int32)


class _Assignment:
    def __init__(self, ledger: Ledger, built: Visits, winner: Winner, flow: Flow | None) -> None:
        self.ledger = ledger
        self.built = built
        self.visits = built.visits
        self.winner = winner
        self.flow = flow
        size = len(ledger)
        self.owner = np.full(size, NO_VISIT, np.int32)
        self.attribution = np.zeros(size, np.int8)
        self.quarantined: dict[int, Quarantine] = {}
        self.derived_from: dict[int, tuple[int, ...]] = {}
        self.causal: dict[int, str] = {}

    def run(self) -> Ownership:
        explicit, interval = self._agreeing()
        open_at = self.built.open_at
        self.owner[explicit] = open_at[explicit]
        self.attribution[explicit] = EXPLICIT
        self.owner[interval] = open_at[interval]
        self.attribution[interval] = INTERVAL
        self._of_closed()
        placed = self.built.owner >= 0
        self.owner[placed] = self.built.owner[placed]
        self.attribution[placed] = BOUNDARY
        for event, why in self.built.refused.items():
            self._quarantine(event, why.code, why.reason)
        band = self._edge_writes()
        self._late_completions()
        for event in np.flatnonzero(self.owner < 0).tolist():
            if event not in self.quarantined:
                self._stray(event)
        return Ownership(
            self.owner, self.attribution, open_at, self._late(), self.quarantined, self.derived_from,
            self.causal, band,
        )  # fmt: skip

    def _agreeing(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Rows that name the open visit, and rows without an id that contradict nothing of it."""
        ledger, open_at = self.ledger, self.built.open_at
        names = ledger.names
        visit_code = _codes(names.visits, [visit.visit_id for visit in self.visits])
        state_code = _codes(names.states, [visit.state_id for visit in self.visits])
        inside = open_at >= 0
        explicit = inside & (ledger.visit == visit_code[open_at])
        state_fits = (ledger.state == -1) | (ledger.state == state_code[open_at])
        return explicit, inside & (ledger.visit < 0) & state_fits

    def _of_closed(self) -> None:
        """Rows that name a visit which the next one closed: it never exited, so they are still its own."""
        names = self.ledger.names.visits
        closed = [(names.get(v.visit_id), i) for i, v in enumerate(self.visits) if v.closed_by is not None]
        visit_of = np.full(len(names.names) + 1, NO_VISIT, np.int32)
        for code, visit in closed:
            if code is not None:
                visit_of[code] = visit
        if (visit_of < 0).all():
            return
        closed_by = np.array([-1 if v.closed_by is None else v.closed_by for v in self.visits], np.int64)
        named = visit_of[self.ledger.visit]
        events = np.flatnonzero((named >= 0) & (np.arange(len(named)) > closed_by[named]))
        self.owner[events] = named[events]
        self.attribution[events] = EXPLICIT

    def _quarantine(self, event: int, code: str | None, reason: str) -> None:
        self.owner[event] = NO_VISIT
        self.attribution[event] = NONE
        self.quarantined[event] = Quarantine(code, reason)

    def _named(self, event: int) -> str | None:
        code = int(self.ledger.visit[event])
        return None if code < 0 else str(self.ledger.names.visits.names[code])

    def _state_named(self, event: int) -> str | None:
        return self.ledger.state_id(event)

    # Rule 8.

    def _edge_writes(self) -> dict[int, list[int]]:
        """Give the writes of edges their visits; returns the writes of each visit's outgoing boundary."""
        writes = EdgeWrites(self.ledger, self.built, self.owner, self.winner, self.flow)
        for event, visit in writes.place():
            if visit is None:
                self._quarantine(
                    event,
                    "CONFLICTING_ATTRIBUTION",
                    "an edge write that no boundary here can be shown to own",
                )
            elif visit != self.built.open_at[event]:
                self.owner[event], self.attribution[event] = visit, BOUNDARY
            elif self.owner[event] != visit:
                self.owner[event], self.attribution[event] = visit, INTERVAL
        return writes.band

    # Rule 6: completion rows that come after the commit.

    def _late_completions(self) -> None:
        captured = self.ledger.captured.get("locked_choice_evaluated")
        if captured is None or not captured.rows:
            return
        commits: dict[tuple[str, int], list[int]] | None = None
        columns = captured.columns
        for event, from_state, turn in zip(
            captured.rows, columns["from_state"], columns["turn_index"], strict=True
        ):
            if self.attribution[event] == EXPLICIT or from_state is None:
                continue
            now = int(self.built.open_at[event])
            if (
                now >= 0
                and self.visits[now].state_id == from_state
                and not self._just_left(now, from_state, turn)
            ):
                continue
            if commits is None:
                commits = self._commits()
            found = [row for row in commits.get((from_state, turn), ()) if row < event]
            named = self._named(event)
            owner = int(self.built.owner[found[0]]) if len(found) == 1 else NO_VISIT
            if owner < 0 or (named is not None and self.visits[owner].visit_id != named):
                self._quarantine(
                    event, "CONFLICTING_ATTRIBUTION",
                    f"{len(found)} commits from {from_state} in turn {turn} could own this completion",
                )  # fmt: skip
                continue
            self.owner[event], self.attribution[event] = owner, DERIVED
            self.derived_from[event] = (event, found[0])

    def _just_left(self, now: int, from_state: str, turn: int | None) -> bool:
        if now == 0:
            return False
        before = self.visits[now - 1]
        return turn is not None and before.state_id == from_state and before.commit_turn == turn

    def _commits(self) -> dict[tuple[str, int], list[int]]:
        """Source state and turn → every commit that names both, whether or not a visit owns it."""
        found: dict[tuple[str, int], list[int]] = {}
        captured = self.ledger.captured["transition_committed"]
        columns = captured.columns
        for event, source, turn in zip(
            captured.rows, columns["from_state"], columns["turn_index"], strict=True
        ):
            if turn is not None and source is not None:
                found.setdefault((source, turn), []).append(event)
        return found

    # Rules 7, 3, 4 and 9: rows that no boundary rule owns.

    def _stray(self, event: int) -> None:
        named = self._named(event)
        now = int(self.built.open_at[event])
        if KINDS[self.ledger.kind[event]] in LATE_TELEMETRY and now >= 0:
            cause = named
            if cause is None:
                recorded = self.ledger.payload(event).get("causal_visit_id")
                cause = recorded if isinstance(recorded, str) else None
            if cause is not None and self._exited_before(cause, event):
                self.owner[event], self.attribution[event] = now, INTERVAL
                self.causal[event] = cause
                return
        state = self._state_named(event)
        if named is not None:
            known = self.built.by_id.get(named)
            if known is None:
                reason = f"names the visit {named}, which was never entered"
            elif self.visits[known].first > event:
                reason = f"names the visit {named}, which is entered only later"
            else:
                reason = f"names the visit {named}, which had exited"
        elif now < 0:
            reason = "recorded between visits, and no boundary owns it"
        else:
            reason = f"names the state {state}, but {self.visits[now].visit_id} was open"
        self._quarantine(event, "CONFLICTING_ATTRIBUTION", reason)

    def _exited_before(self, visit_id: str, event: int) -> bool:
        known = self.built.by_id.get(visit_id)
        if known is None:
            return False
        visit = self.visits[known]
        end = visit.exited if visit.exited is not None else visit.closed_by
        return end is not None and end < event

    def _late(self) -> NDArray[np.bool_]:
        """Owned events recorded after the visit that follows their own was entered."""
        size = len(self.owner)
        entered = np.append(self.built.firsts, (size, size)).astype(np.int32)
        late: NDArray[np.bool_] = np.arange(size, dtype=np.int32) > entered[self.owner + 1]
        return late & (self.owner >= 0)
