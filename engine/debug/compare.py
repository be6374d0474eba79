"""Two visits, or two calls, side by side: where they first differ (``compare_…`` of contract 3.3).

Compared is what was done, not when or under which id: clocks, ids, fingerprints and counters are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Literal

import msgspec

from engine.canonical import canonical
from engine.debug import projection
from engine.debug.values import end, ends
from engine.hydrate.call import Call
from engine.hydrate.conversation import conversation
from engine.hydrate.edgetable import edge_table
from engine.hydrate.envelope import payload
from engine.model.artifact import Cell, Edge
from engine.model.views import EventRow

_LEFT_OUT = ("_id", "_ms", "_at", "fingerprint", "_index", "_epoch", "_count")
"""Endings of payload keys that tell when, which or how often, not what."""


class EventPair(msgspec.Struct, frozen=True):
    """The first events that differ; None where one visit has no further."""

    index: int
    baseline: EventRow | None
    candidate: EventRow | None


class VariablePair(msgspec.Struct, frozen=True):
    """A slot that holds something else at the entry, or else at the exit."""

    slot: str
    at: Literal["entry", "exit"]
    baseline: Cell
    candidate: Cell


class EdgePair(msgspec.Struct, frozen=True):
    """The first edge with another verdict; None where one table has no such edge."""

    baseline: Edge | None
    candidate: Edge | None


class Said(msgspec.Struct, frozen=True):
    """One line of the agent."""

    item_id: str
    text: str | None


class OutputPair(msgspec.Struct, frozen=True):
    """The first lines of the agent that differ."""

    baseline: Said | None
    candidate: Said | None


class Compared(msgspec.Struct, frozen=True):
    """Where two visits first differ, each of them None where they do not."""

    baseline_visit_id: str | None
    candidate_visit_id: str | None
    event: EventPair | None
    variable: VariablePair | None
    edge: EdgePair | None
    output: OutputPair | None

    @property
    def same(self) -> bool:
        """Nothing differs."""
        return all(one is None for one in (self.event, self.variable, self.edge, self.output))


def compare_visits(one: Call, baseline: int, other: Call, candidate: int) -> Compared:
    """Compare a visit with another, of the same call or of another one."""
    return Compared(
        projection.visit_id(one, baseline),
        projection.visit_id(other, candidate),
        _event(one, baseline, other, candidate),
        _variable(one, baseline, other, candidate),
        _edge(one, baseline, other, candidate),
        _output(one, baseline, other, candidate),
    )


class Divergence(msgspec.Struct, frozen=True):
    """Two calls, aligned by visit.

    Attributes:
        aligned: Visits before the first that differs, or is missing in one of them.
        first: Where they first differ; None where the calls are the same in all that is compared.
    """

    aligned: int
    baseline_visits: int
    candidate_visits: int
    first: Compared | None


def compare_calls(one: Call, other: Call) -> Divergence:
    """The first visit, in the order of the calls, that is another one or went another way."""
    counts = len(one.visits), len(other.visits)
    for visit in range(max(counts)):
        mine, theirs = projection.visit_id(one, visit), projection.visit_id(other, visit)
        if mine != theirs:
            apart = Compared(mine or None, theirs or None, None, None, None, None)
            return Divergence(visit, *counts, apart)
        found = compare_visits(one, visit, other, visit)
        if not found.same:
            return Divergence(visit, *counts, found)
    return Divergence(max(counts), *counts, None)


def _event(one: Call, baseline: int, other: Call, candidate: int) -> EventPair | None:
    mine, theirs = one.micro_events(baseline).tolist(), other.micro_events(candidate).tolist()
    for index, (left, right) in enumerate(zip_longest(mine, theirs)):
        if left is None or right is None or _done(one, left) != _done(other, right):
            return EventPair(
                index,
                None if left is None else projection.row(one, left),
                None if right is None else projection.row(other, right),
            )
    return None


def _done(call: Call, event: int) -> tuple[str, bytes]:
    """What an event did: its kind, and its payload without times and ids."""
    kept = {key: item for key, item in payload(call, event).items() if not key.endswith(_LEFT_OUT)}
    return call.kind(event), canonical(kept)


def _variable(one: Call, baseline: int, other: Call, candidate: int) -> VariablePair | None:
    mine = {held.slot: held for held in ends(one, baseline)}
    theirs = {held.slot: held for held in ends(other, candidate)}
    for slot in {**mine, **theirs}:
        left = mine.get(slot) or end(one, baseline, slot)
        right = theirs.get(slot) or end(other, candidate, slot)
        if _held(left.entry_cell) != _held(right.entry_cell):
            return VariablePair(slot, "entry", left.entry_cell, right.entry_cell)
        if _held(left.exit_cell) != _held(right.exit_cell):
            return VariablePair(slot, "exit", left.exit_cell, right.exit_cell)
    return None


def _held(cell: Cell) -> tuple[str, bool, bytes]:
    return cell.availability, cell.unset, canonical(cell.value)


def _edge(one: Call, baseline: int, other: Call, candidate: int) -> EdgePair | None:
    mine = {row.edge_id: row for row in edge_table(one, baseline).rows}
    theirs = {row.edge_id: row for row in edge_table(other, candidate).rows}
    for edge_id in {**mine, **theirs}:
        left, right = mine.get(edge_id), theirs.get(edge_id)
        if left is None or right is None or left.verdict != right.verdict:
            return EdgePair(left, right)
    return None


def _output(one: Call, baseline: int, other: Call, candidate: int) -> OutputPair | None:
    for left, right in zip_longest(_lines(one, baseline), _lines(other, candidate)):
        if left is None or right is None or left.text != right.text:
            return OutputPair(left, right)
    return None


def _lines(call: Call, visit: int) -> Iterator[Said]:
    lane = conversation(call)
    for number in lane.of_visit(visit):
        item = lane.item(number)
        if item.lane == "agent":
            yield Said(item.item_id, next((one.text for one in item.observations if one.text), None))
