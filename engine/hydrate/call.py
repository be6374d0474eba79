"""The hydrated call: columns and small indexes that every answer is read from.

Events have one number space: bus events, then extras, then derived transcript events, then the entry and the
exit boundary of each visit. A document (an envelope, a snapshot) is made when it is looked at.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.hydrate.callerturns import CallerTurn
from engine.hydrate.clock import CLOCK_NAMES, Clock
from engine.hydrate.derived import Derived
from engine.hydrate.edges import Verdicts
from engine.hydrate.extras import Extra
from engine.hydrate.fold import Folded
from engine.hydrate.gaps import Gaps
from engine.hydrate.order import Order, order_key, stepping_order
from engine.hydrate.ownership import Ownership
from engine.hydrate.visits import Visit, Visits
from engine.model.artifact import Finding, Summary
from engine.model.events import SUBORDER, TRACE_KINDS
from engine.model.findings import Raised
from engine.model.flow import Flow
from engine.model.limits import Settings
from engine.sources.audio import Track
from engine.sources.files import CallFiles
from engine.sources.manifest import Manifest
from engine.sources.merge import Ledger
from engine.sources.part import LineFault
from engine.sources.rowschema import KINDS
from engine.sources.turns import TurnRecord

DERIVED_KINDS = ("entry_boundary", "exit_boundary", "transcript_agreement", "transcript_disagreement")
ALL_KINDS: tuple[str, ...] = (
    *KINDS,
    *(kind for kind in TRACE_KINDS if kind not in KINDS),
    "live_transcript",
    "timed_transcript",
    "audio_span",
    "turn",
    *DERIVED_KINDS,
)
"""Kind by code, bus kinds first with the codes of the ledger."""
KIND_CODES = {kind: code for code, kind in enumerate(ALL_KINDS)}
_CONTEXT = KIND_CODES["state_context_snapshot"]
_BUS_NUMBER = re.compile(r"(0|[1-9][0-9]{0,18})(?:\.([1-9][0-9]{0,18}))?")
"""What follows ``bus:`` in an id: a ``seq``, and the ordinal of a further event at it, as ids write them."""


class Identity(NamedTuple):
    """Who the call is; None is unavailable, never guessed (contract 1.2)."""

    session_id: str | None
    flow_id: str | None
    kind: str | None
    transport: str | None
    started_at: str | None
    recorded_engine_revision: str | None
    recorded_build_id: str | None
    flow_version: str | None
    run_id: str | None


class Parts(NamedTuple):
    """What the stages of hydration give; `Call` is the value made of them."""

    files: CallFiles
    identity: Identity
    manifest: Manifest | None
    flow: Flow | None
    flow_mismatch: str | None
    """Why the flow can't speak for this call, or None."""
    turns: Sequence[TurnRecord]
    ledger: Ledger
    clock: Clock
    gaps: Gaps
    built: Visits
    owned: Ownership
    folded: Folded
    verdicts: Verdicts
    extras: Sequence[Extra]
    extra_refs: dict[int, list[dict[str, Any]]]
    caller_turns: Sequence[CallerTurn]
    derived: Sequence[Derived]
    settings: Settings
    reveal: bool
    faults: list[tuple[str, list[LineFault]]]
    """What was not read as it stands, by artifact."""
    turns_only: bool = False
    tracks: tuple[Track, ...] = ()


class Columns(NamedTuple):
    """One entry an event: bus events, then those beside the bus, derived ones, entries and exits of visits.

    Attributes:
        visit_of: The owner; -1 for none, -2 for a boundary that was not recorded.
        kind_of: Index of `ALL_KINDS`.
        keys: `order_key`.
        order: The stepping order.
    """

    visit_of: NDArray[np.int32]
    kind_of: NDArray[np.int16]
    keys: NDArray[np.int64]
    order: Order


class Call:
    """One retained call, hydrated. Immutable once `open_call` has returned it.

    Attributes:
        parts: What the stages of hydration gave.
        findings: All findings, in event order (set by the pipeline).
        completeness, completeness_reasons: Contract 1.1.
        summary: The first screen.
        artifact_hash: Contract 3.1.
    """

    visit_of: NDArray[np.int32]
    kind_of: NDArray[np.int16]
    keys: NDArray[np.int64]
    order: Order
    findings: list[Finding]
    completeness: str
    completeness_reasons: list[str]
    summary: Summary
    artifact_hash: str
    raised: list[Raised]
    """What the stages raised while they worked; the finding rules add theirs."""

    def __init__(self, parts: Parts, columns: Columns | None = None) -> None:
        self.parts = parts
        self.identity = parts.identity
        self.session_id = parts.identity.session_id
        self.flow_id = parts.identity.flow_id
        self.flow = parts.flow
        self.ledger = parts.ledger
        self.visits: Sequence[Visit] = parts.built.visits
        self.owned = parts.owned
        self.timeline = parts.folded.timeline
        self.verdicts = parts.verdicts
        self.reveal = parts.reveal
        self.first_extra = len(parts.ledger)
        self.first_derived = self.first_extra + len(parts.extras)
        self.first_entry = self.first_derived + len(parts.derived)
        self.first_exit = self.first_entry + len(self.visits)
        self.event_count = self.first_exit + len(self.visits)
        self.visit_of, self.kind_of, self.keys, self.order = columns or self._columns()

    def _columns(self) -> Columns:
        parts, visits = self.parts, self.visits
        count = len(visits)
        own = np.arange(count, dtype=np.int32)
        firsts, exits = parts.built.firsts, parts.built.exits
        entry_missing = np.fromiter((v.entry_missing for v in visits), np.bool_, count)
        visit_of = np.concatenate(
            [
                parts.owned.visit,
                np.array([extra.visit for extra in parts.extras], np.int32),
                np.array([item.visit for item in parts.derived], np.int32),
                np.where(entry_missing, -2, own).astype(np.int32),
                np.where(exits < 0, -2, own).astype(np.int32),
            ]
        )
        after, before = SUBORDER["derived_after"], SUBORDER["derived_before"]
        keys = np.arange(1, self.event_count * 8 + 1, 8)
        keys[self.first_extra : self.first_derived] = [
            order_key(extra.anchor, extra.suborder) for extra in parts.extras
        ]
        # One suborder, and by id what compares transcripts stands after an exit boundary.
        keys[self.first_derived : self.first_entry] = [
            order_key(self.bus_anchor(item.anchor), after + 1) for item in parts.derived
        ]
        keys[self.first_entry : self.first_exit] = firsts * 8 + before + 1
        keys[self.first_exit :] = np.where(exits < 0, 0, exits) * 8 + after + 1
        late = np.zeros(self.event_count, np.bool_)
        late[: len(parts.ledger)] = parts.owned.late
        extra_kinds = [KIND_CODES.get(extra.kind, KIND_CODES["other"]) for extra in parts.extras]
        derived_kinds = [KIND_CODES[item.name] for item in parts.derived]
        kind_of = np.concatenate(
            [
                parts.ledger.kind,
                np.array(extra_kinds, np.int16),
                np.array(derived_kinds, np.int16),
                np.full(count, KIND_CODES["entry_boundary"], np.int16),
                np.full(count, KIND_CODES["exit_boundary"], np.int16),
            ]
        )
        return Columns(visit_of, kind_of, keys, stepping_order(visit_of, late, keys, count))

    def bus_anchor(self, event: int) -> int:
        """The bus event that an event stands at; -1 for an extra without a place."""
        if event < self.first_extra:
            return event
        if event < self.first_derived:
            return self.parts.extras[event - self.first_extra].anchor
        if event < self.first_entry:
            return self.bus_anchor(self.parts.derived[event - self.first_derived].anchor)
        if event < self.first_exit:
            return self.visits[event - self.first_entry].first
        exited = self.visits[event - self.first_exit].exited
        return -1 if exited is None else exited

    def kind(self, event: int) -> str:
        """Kind of an event; a trace row of a kind of its own keeps its name."""
        if self.first_extra <= event < self.first_derived:
            return self.parts.extras[event - self.first_extra].kind
        return ALL_KINDS[int(self.kind_of[event])]

    def event_id(self, event: int) -> str:
        """Id of an event (contract 2.2)."""
        if event < self.first_extra:
            return self.ledger.event_id(event)
        if event < self.first_derived:
            return self.parts.extras[event - self.first_extra].event_id
        if event < self.first_entry:
            item = self.parts.derived[event - self.first_derived]
            return f"drv:{item.name}:{self.event_id(item.anchor)}"
        if event < self.first_exit:
            return f"drv:entry_boundary:{self.event_id(self.visits[event - self.first_entry].first)}"
        return f"drv:exit_boundary:{self.event_id(self.bus_anchor(event))}"

    def find(self, event_id: str) -> int | None:
        """The event of an id, or None."""
        head, _, rest = event_id.partition(":")
        if head == "bus":
            number = _BUS_NUMBER.fullmatch(rest)
            if number is not None:
                return self.ledger.find(int(number[1]), int(number[2] or 0))
        if head == "drv":
            name, _, anchor_id = rest.partition(":")
            # Nothing stands at a derived event: an id that says so, however deep, is no event's.
            return None if anchor_id.startswith("drv:") else self._find_derived(name, anchor_id)
        if head == "turn" and isinstance(found := self._ledger_ids.get(event_id), int):
            return found
        return self._extra_ids.get(event_id)

    @cached_property
    def _ledger_ids(self) -> dict[str, int]:
        """Ids of a call of turns, which has no sequence numbers to search."""
        return (
            {self.ledger.event_id(event): event for event in range(self.first_extra)}
            if self.parts.turns_only
            else {}
        )

    def _find_derived(self, name: str, anchor_id: str) -> int | None:
        anchor = self.find(anchor_id)
        if anchor is None:
            return None
        if name in ("entry_boundary", "exit_boundary"):
            entry = name == "entry_boundary"
            visit = self.visit_at(anchor)
            for index in (visit, visit - 1):
                if index < 0:
                    continue
                event = (self.first_entry if entry else self.first_exit) + index
                if self.visit_of[event] >= 0 and self.bus_anchor(event) == anchor:
                    return event
            return None
        for number, item in enumerate(self.parts.derived, self.first_derived):
            if item.anchor == anchor and item.name == name:
                return number
        return None

    @cached_property
    def _extra_ids(self) -> dict[str, int]:
        return {extra.event_id: number for number, extra in enumerate(self.parts.extras, self.first_extra)}

    def visit_id(self, visit: int) -> str | None:
        """Id of a visit by its number; None for no visit."""
        return self.visits[visit].visit_id if visit >= 0 else None

    def visit_at(self, bus_event: int) -> int:
        """The visit open at a bus event, or -1."""
        return int(self.parts.built.open_at[bus_event]) if 0 <= bus_event < self.first_extra else -1

    def clock_ms(self, event: int) -> float | int | None:
        """Call clock of an event in ms, or None; whole numbers stay as they were recorded."""
        if event >= self.first_extra:
            if event < self.first_derived:
                return self.parts.extras[event - self.first_extra].clock_ms
            anchor = (
                self.parts.derived[event - self.first_derived].anchor if event < self.first_entry else None
            )
            return self.clock_ms(self.bus_anchor(event) if anchor is None else anchor)
        value = self.parts.clock.ms[event]
        if np.isnan(value):
            return None
        number = float(value)
        recorded_float = (
            CLOCK_NAMES[self.parts.clock.state[event]] == "recorded" and not self.ledger.int_clock[event]
        )
        return number if recorded_float or not number.is_integer() else int(number)

    def clock_name(self, event: int) -> str:
        """``recorded``, ``derived`` or ``none``."""
        if event < self.first_extra:
            return CLOCK_NAMES[self.parts.clock.state[event]]
        if event < self.first_derived:
            extra = self.parts.extras[event - self.first_extra]
            return "none" if extra.clock_ms is None else "derived" if extra.clock_derived else "recorded"
        anchor = self.parts.derived[event - self.first_derived].anchor if event < self.first_entry else None
        return self.clock_name(self.bus_anchor(event) if anchor is None else anchor)

    @cached_property
    def slot_order(self) -> list[str]:
        """Every declared slot in declaration order, then every observed one by name."""
        declared = list(self.flow.slot_order) if self.flow else []
        return declared + sorted(self.timeline.slots.difference(declared))

    @cached_property
    def _write_index(self) -> dict[int, int]:
        captured = self.ledger.captured.get("slot_write")
        return {event: index for index, event in enumerate(captured.rows)} if captured else {}

    def write(self, event: int) -> tuple[str | None, Any, bool]:
        """Slot, new value as recorded, and whether the slot was removed, of a ``slot_write``."""
        columns = self.ledger.captured["slot_write"].columns
        index = self._write_index[event]
        return columns["slot"][index], columns["new"][index], columns["present"][index] is False

    def write_kind(self, event: int) -> str | None:
        """The kind of mutation that a ``slot_write`` states."""
        kind: str | None = self.ledger.captured["slot_write"].columns["kind"][self._write_index[event]]
        return kind

    @cached_property
    def _writes_by_slot(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        captured = self.ledger.captured.get("slot_write")
        if captured is not None:
            for event, slot in zip(captured.rows, captured.columns["slot"], strict=True):
                if slot is not None:
                    found.setdefault(slot, []).append(event)
        return found

    def writes_of(self, slot: str) -> list[int]:
        """The ``slot_write`` events of a slot, in durable order."""
        return self._writes_by_slot.get(slot, [])

    def owned_write_lost(self, visit: int, slot: str) -> int | None:
        """A write of a slot that no visit owns, recorded while this visit was open, or None."""
        return self.parts.folded.unowned.get((visit, slot))

    def findings_of(self, visit: int) -> list[Finding]:
        """The findings of a visit, in event order."""
        return self._findings_by_visit.get(self.visits[visit].visit_id, [])

    @cached_property
    def _findings_by_visit(self) -> dict[str, list[Finding]]:
        found: dict[str, list[Finding]] = {}
        for finding in self.findings:
            if finding.visit_id is not None:
                found.setdefault(finding.visit_id, []).append(finding)
        return found

    def context_event(self, visit: int, phase: str) -> int | None:
        """The last context snapshot of a phase that a visit owns, or None."""
        captured = self.ledger.captured["state_context_snapshot"]
        own = self.micro_events(visit)
        own = own[(self.kind_of[own] == _CONTEXT) & (own < self.first_extra)]  # a loose row acts on nothing
        for event in np.sort(own)[::-1].tolist():
            if captured.columns["phase"][bisect_left(captured.rows, event)] == phase:
                return int(event)
        return None

    @cached_property
    def unattributed(self) -> list[int]:
        """Events that no visit owns, in order."""
        found = np.flatnonzero(self.visit_of == -1)
        ordered: list[int] = found[np.argsort(self.keys[found], kind="stable")].tolist()
        return ordered

    def micro_events(self, visit: int) -> NDArray[np.int64]:
        """Event numbers of a visit in stepping order."""
        return self.order.micro[self.order.start[visit] : self.order.start[visit + 1]]
