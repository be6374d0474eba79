"""Events that are no bus row with a ``seq``: their place, their clock and their visit (contract 2.2, 2.3).

They are few compared with the bus. Each has an anchor, the bus event it stands after (or, for some derived
events, before), and takes the visit open there unless it names another.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec
import numpy as np

from engine.hydrate import clock as clocks
from engine.hydrate.clock import Clock
from engine.hydrate.ownership import DERIVED, EXPLICIT, INTERVAL, NONE, Ownership
from engine.hydrate.visits import NO_VISIT, Quarantine, Visits
from engine.model.events import SUBORDER
from engine.sources import rowschema
from engine.sources.merge import Ledger
from engine.sources.rowschema import KIND_CODE

SPAN = "audio_span"
IN_GAP = 6
"""Suborder of a row whose ``seq`` lies between those of two bus events that were read."""


class Extra(msgspec.Struct, gc=False):
    """One event beside the bus.

    Attributes:
        event_id, kind, source_type, provenance, seq, clock_ms, payload: As in the envelope.
        clock_derived: `clock_ms` was derived from the row's wall clock.
        anchor: The bus event it stands at, or -1 when it has no place.
        suborder: Of contract 2.2, or `IN_GAP`; with the anchor it decides the order.
        refs: ``{artifact, line | row}`` where it was read.
        state_id, visit_id: What the row itself names.
        derived_from: Event ids it was derived from, for derived events and derived attributions.
        visit, attribution: Its owner and how that is known; `observed` the visit open at its anchor.
        quarantine: Why it has no owner.
    """

    event_id: str
    kind: str
    source_type: str | None
    payload: dict[str, Any]
    refs: list[dict[str, Any]]
    suborder: int
    provenance: str = "recorded"
    seq: int | None = None
    clock_ms: float | int | None = None
    clock_derived: bool = False
    state_id: str | None = None
    visit_id: str | None = None
    input_id: str | None = None
    anchor: int = -1
    placement: str | None = None
    derived_from: list[str] = []
    visit: int = NO_VISIT
    observed: int = NO_VISIT
    attribution: int = NONE
    quarantine: Quarantine | None = None


class Placer:
    """Places rows without a ``seq`` by their clock."""

    def __init__(self, ledger: Ledger, clock: Clock) -> None:
        self._ledger = ledger
        clocked = np.flatnonzero(clock.state != clocks.NONE)
        self._events = clocked
        self._lowest = np.minimum.accumulate(clock.ms[clocked][::-1])[::-1] if len(clocked) else clock.ms[:0]

    def by_clock(self, ms: float) -> int | None:
        """The last event whose trusted clock is at or before ``ms``, or None before the first clocked one."""
        index = int(np.searchsorted(self._lowest, ms, "right")) - 1
        return int(self._events[index]) if index >= 0 else None

    def by_seq(self, seq: int) -> int | None:
        """The last event at or before a ``seq``, or None before the first."""
        index = int(np.searchsorted(self._ledger.seq, seq, "right")) - 1
        return index if index >= 0 else None


def place_all(
    beside: list[Extra], ledger: Ledger, clock: Clock, built: Visits, owned: Ownership | None = None
) -> list[Extra]:
    """Give every event beside the bus its place and its visit; returns them in order.

    Args:
        beside: The events, without a place yet.
        ledger: The bus events.
        clock: Their clocks.
        built: The visits.
        owned: Whose bus rows decide the visit of an input; None where there are no such rows.
    """
    placer = Placer(ledger, clock)
    by_input = owned is not None and any(extra.input_id for extra in beside)
    inputs = input_owners(ledger, owned) if owned is not None and by_input else {}
    for extra in beside:
        place(extra, placer, ledger, inputs)
        own(extra, built, ledger, inputs)
    return sorted(beside, key=order_key)


def place(extra: Extra, placer: Placer, ledger: Ledger, inputs: dict[str, InputOwner]) -> None:
    """Set an event's anchor from its ``seq``, else its clock, else its input; leave it unplaced with none."""
    known = inputs.get(extra.input_id) if extra.input_id is not None else None
    if extra.seq is not None:
        anchor, how = placer.by_seq(extra.seq), "seq"
        if anchor is not None and extra.seq > ledger.seq[anchor]:
            extra.suborder = IN_GAP
    elif extra.clock_ms is not None:
        anchor, how = placer.by_clock(float(extra.clock_ms)), "clock"
    else:
        anchor, how = None, ""
    if anchor is None and known is not None:
        anchor, how = known.event, "input_id"
    extra.placement = None if anchor is None else f"after {ledger.event_id(anchor)} by {how}"
    extra.anchor = -1 if anchor is None else anchor


def order_key(extra: Extra) -> tuple[Any, ...]:
    """What sorts events beside the bus: ``(seq, suborder, id)``, ids compared by their numbers."""
    seq = extra.seq if extra.seq is not None and (extra.anchor < 0 or extra.suborder == IN_GAP) else -1
    return extra.anchor, extra.suborder, seq, _by_numbers(extra.event_id)


def _by_numbers(event_id: str) -> list[tuple[bool, int | str]]:
    parts = _NUMBERS.split(event_id)
    return [(bool(at % 2), int(part) if at % 2 else part) for at, part in enumerate(parts)]


_NUMBERS = re.compile(r"([0-9]+)")


class InputOwner(NamedTuple):
    """The bus event that decides which visit an input belongs to."""

    event: int
    visit: int


def input_owners(ledger: Ledger, owned: Ownership) -> dict[str, InputOwner]:
    """Input id → its first caller row (else its ``input_selected``) that a visit owns (contract 1.7)."""
    owners: dict[str, InputOwner] = {}
    for kinds in (_CALLER_KINDS, ("input_selected",)):
        codes = [KIND_CODE[kind] for kind in kinds]
        for event in np.flatnonzero(np.isin(ledger.kind, codes) & (owned.visit >= 0)).tolist():
            input_id = ledger.flat(event).get("input_id")
            if isinstance(input_id, str):
                owners.setdefault(input_id, InputOwner(event, int(owned.visit[event])))
    return owners


_CALLER_KINDS = (
    "caller_transcript",
    "caller_audio_started",
    "caller_audio_ended",
    "dtmf_received",
    "barge_in",
)


def own(extra: Extra, built: Visits, ledger: Ledger, inputs: dict[str, InputOwner]) -> None:
    """Give a placed event its visit: by input, by the id it names, by position (contract 1.7, 2.3)."""
    if extra.anchor < 0:
        extra.quarantine = _unplaced(extra)
        return
    now = int(built.open_after[extra.anchor])
    extra.observed = now
    known = inputs.get(extra.input_id) if extra.input_id is not None else None
    if known is not None:
        extra.visit, extra.attribution = known.visit, DERIVED
        extra.derived_from = [ledger.event_id(known.event)]
        return
    visit = _closed_before(extra, built, now)
    reason = _disagreement(extra, built, visit)
    if reason is not None:
        extra.quarantine = Quarantine("CONFLICTING_ATTRIBUTION", reason)
    else:
        extra.visit = visit
        extra.attribution = EXPLICIT if extra.visit_id is not None else INTERVAL


def _closed_before(extra: Extra, built: Visits, now: int) -> int:
    """The visit an event names where the next one had closed it (it never exited), else the open one."""
    known = built.by_id.get(extra.visit_id) if extra.visit_id is not None else None
    closed_by = built.visits[known].closed_by if known is not None else None
    return known if known is not None and closed_by is not None and closed_by <= extra.anchor else now


def _unplaced(extra: Extra) -> Quarantine:
    """Rows of the trace and of transcripts may lack a place; of any other row that is a finding."""
    if extra.seq is not None:
        return Quarantine("CONFLICTING_ATTRIBUTION", "it lies before the first event that was read")
    code = None if extra.suborder > SUBORDER["bus"] and extra.kind != SPAN else "CONFLICTING_ATTRIBUTION"
    if extra.clock_ms is None:
        return Quarantine(code, "it has neither an order nor a clock")
    return Quarantine(code, "its clock lies before the first event with a place")


def _disagreement(extra: Extra, built: Visits, now: int) -> str | None:
    visit = built.visits[now] if now >= 0 else None
    if extra.visit_id is not None:
        if visit is not None and visit.visit_id == extra.visit_id:
            return None
        return f"names the visit {extra.visit_id}, which was not open there"
    if visit is None:
        return "recorded between visits, and no boundary owns it"
    if extra.state_id is not None and extra.state_id != visit.state_id:
        return f"names the state {extra.state_id}, but {visit.visit_id} was open"
    return None


def loose_rows(ledger: Ledger, clock: Clock) -> list[Extra]:
    """Rows without a valid ``seq``: kept, placed by clock, acting on nothing (contract 1.9)."""
    extras: list[Extra] = []
    for artifact, row in ledger.loose:
        payload = rowschema.payload_of(row.body, row.source_type, row.malformed)
        if "seq" in row.body:
            payload.setdefault("seq", row.body["seq"])
        derived = None
        if row.clock_ms is None and "ts" not in row.malformed:
            derived = clock.derive(rowschema.micros(row.body.get("ts")))
        extras.append(
            Extra(
                f"bus:{artifact}:{row.line}", row.kind, row.source_type or None, payload,
                [{"artifact": artifact, "line": row.line}], SUBORDER["bus"],
                clock_ms=_plain(derived) if derived is not None else row.clock_ms,
                clock_derived=derived is not None, state_id=row.state_id, visit_id=row.visit_id,
            )
        )  # fmt: skip
    return extras


def _plain(number: float) -> float | int:
    return int(number) if number.is_integer() else number
