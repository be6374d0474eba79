"""Answers at a cursor: the rows that clients draw (contract 2.4, 2.5, 3.2)."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from engine.model.artifact import Cell, Edge
from engine.model.breakpoint import Breakpoint


class Cursor(msgspec.Struct, frozen=True, order=True):
    """A place in the record: which visit, and which of its micro-events (both from 0).

    ``unattributed`` is set while a quarantined event is looked at: its event number; the cursor keeps its
    visit there.
    """

    visit: int
    micro: int
    unattributed: int | None = None


class EventRow(msgspec.Struct, frozen=True):
    """One line of the events pane; nothing in it needs more than this one event decoded."""

    event_id: str
    seq: int | None
    clock_ms: float | int | None
    clock: Literal["recorded", "derived", "none"]
    kind: str
    meaning: str
    """One line that says what the event means; data of the call, control characters escaped."""
    provenance: Literal["recorded", "derived", "simulated"]
    attribution: str


class Access(msgspec.Struct, frozen=True):
    """One piece of access evidence (contract 2.6): ``source`` gives it, ``event_id`` is its latest row."""

    glyph: str
    label: str
    source: str
    event_id: str | None


class VariableRow(msgspec.Struct, frozen=True):
    """One slot at the cursor."""

    slot: str
    entry: Cell
    at_cursor: Cell
    exit: Cell
    access: list[Access]
    last_writer: str | None
    last_write: str | None
    """Event id of the last applied write."""
    changed: bool
    """At cursor differs from entry."""


class ContextRow(msgspec.Struct, frozen=True):
    """One non-slot field of the state at entry and exit, and which guards read it up to the cursor."""

    field: str
    entry: Cell
    exit: Cell
    access: list[Access] = []


class SlotChange(msgspec.Struct, frozen=True):
    """What is known of a slot from an event on; ``event_id`` is None before the first that says anything."""

    event_id: str | None
    kind: str | None
    visit_id: str | None
    clock_ms: float | int | None
    cell: Cell
    writer: str | None
    """``writer (kind)`` of the write or seed that gave the value."""


class ContextChange(msgspec.Struct, frozen=True):
    """What one context snapshot says of a field."""

    event_id: str
    phase: str | None
    visit_id: str | None
    clock_ms: float | int | None
    cell: Cell


class EdgeTable(msgspec.Struct, frozen=True):
    """The exits of a visit at a place, and the verdict that decides them."""

    rows: list[Edge]
    verdict_event: str | None
    winner: str | None


class Stop(msgspec.Struct, frozen=True):
    """Where a motion ended: ``at`` the start or end when it ran out, or at the breakpoint it hit."""

    cursor: Cursor
    at: Literal["start", "end"] | None = None
    hit: Breakpoint | None = None


class Status(msgspec.Struct, frozen=True):
    """The status line."""

    event_id: str | None
    visit_id: str | None
    clock_ms: float | int | None
    clock: str
    completeness: str
    reasons: list[str]
    extra: dict[str, Any]
