"""Entry, cursor and exit values of a visit (contract 2.4)."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from engine.hydrate.call import Call
from engine.hydrate.classified import classification
from engine.hydrate.foldstate import MISMATCH
from engine.hydrate.marks import HIDDEN, holds_mark
from engine.hydrate.redaction import redactor
from engine.hydrate.timeline import UNSET, Gone, Point, at, band_before, entry_of, gap_before
from engine.model.artifact import Availability, Cell, Provenance, Snapshot


def entry_place(call: Call, visit: int) -> int:
    """Where a visit's entry values are read."""
    seen = call.visits[visit]
    return entry_of(seen.entered if seen.entered is not None else seen.first)


def entry_point(call: Call, visit: int, slot: str) -> Point:
    """The value a slot entered a visit with."""
    place = entry_place(call, visit)
    point = call.timeline.read(slot, place)
    baseline = call.parts.folded.baseline_place
    if visit == 0 and baseline is not None and point.value == MISMATCH and point.place == baseline + 1:
        return call.timeline.read(slot, baseline)
    return point


def cursor_point(call: Call, visit: int, slot: str, event: int) -> Point:
    """The value of a slot at an event of a visit: entry plus the visit's own writes up to there."""
    if call.first_entry <= event < call.first_exit:
        return entry_point(call, visit, slot)
    anchor = call.bus_anchor(event)
    exited, closed = call.visits[visit].exited, call.visits[visit].closed_by
    if closed is not None and anchor > closed:
        return _after_closing(call, visit, slot, closed, anchor)
    if exited is not None and (event >= call.first_exit or anchor > exited):
        return exit_point(call, visit, slot, anchor if anchor > exited else None)
    if at(anchor) <= entry_place(call, visit):
        return entry_point(call, visit, slot)
    return call.timeline.read(slot, at(anchor))


def _after_closing(call: Call, visit: int, slot: str, closed: int, anchor: int) -> Point:
    """At a row of a visit that the next one closed: what other visits write since does not show in it."""
    writes = call.writes_of(slot)
    for event in reversed(writes[bisect_right(writes, closed) : bisect_right(writes, anchor)]):
        if call.owned.visit[event] == visit:
            return call.timeline.read(slot, _write_place(call, visit, event))
    return call.timeline.read(slot, gap_before(closed))


def exit_place(call: Call, visit: int) -> int:
    """Where a visit's exit values are read, boundary writes recorded after it left aside."""
    exited = call.visits[visit].exited
    assert exited is not None
    return at(exited)


def exit_point(call: Call, visit: int, slot: str, until: int | None = None) -> Point:
    """The value a slot left a visit with. The visit must have exited.

    Args:
        call: The call.
        visit: The visit.
        slot: The slot's name.
        until: Leave out boundary writes that were recorded after this bus event.
    """
    unowned = call.owned_write_lost(visit, slot)
    if unowned is not None:
        return Point(Gone("unattributed_write"), unowned, -1)
    exited = exit_place(call, visit)
    late = _late_band_write(call, visit, slot, exited, until)
    if late is not None:
        return late
    point = call.timeline.read(slot, exited)
    return _at_exit_phase(call, visit, slot, point) if point.value == MISMATCH else point


def _at_exit_phase(call: Call, visit: int, slot: str, lost: Point) -> Point:
    """What the visit's exit-phase snapshot says of a slot that a later row contradicts.

    It speaks for the exit while nothing changed the slot between the two.
    """
    for phase in reversed(call.parts.folded.exit_phases.of(visit)):
        if phase.place < lost.place and (phase.slots is None or slot in phase.slots):
            stood = call.timeline.read(slot, lost.place - 1)
            return stood if stood.place <= phase.place else lost
    return lost


def _late_band_write(call: Call, visit: int, slot: str, exited: int, until: int | None) -> Point | None:
    """The last boundary write of a slot that was recorded after the exit."""
    for event in reversed(call.owned.band.get(visit, ())):
        if at(event) <= exited:
            break
        if until is not None and event > until:
            continue
        written, _, _ = call.write(event)
        if written == slot:
            return call.timeline.read(slot, _write_place(call, visit, event))
    return None


def _write_place(call: Call, visit: int, event: int) -> int:
    """Where a write of a visit acts."""
    late = call.owned.late[event] and event in call.owned.band.get(visit, ())
    return band_before(call.visits[visit + 1].first) if late else at(event)


def cell(call: Call, slot: str, point: Point) -> Cell:
    """A point of the timeline as a labelled cell, redacted where it must be."""
    grade = classification(call, slot)
    event_id = call.event_id(point.event) if point.event >= 0 else None
    source: Provenance = "derived" if call.parts.turns_only else "recorded"

    def labelled(availability: Availability, **more: Any) -> Cell:
        return Cell(availability, **more, event_id=event_id, provenance=source, classification=grade)

    if isinstance(point.value, Gone):
        return labelled("unavailable", reason=point.value.reason)
    if point.value is UNSET:
        return labelled("available", unset=True)
    why = _hidden(call, grade, point.value)
    return labelled("available", value=point.value) if why is None else labelled("redacted", reason=why)


def _hidden(call: Call, grade: str | None, value: Any) -> str | None:
    """Why a value is not shown, or None."""
    if grade in HIDDEN and not call.reveal:
        return f"classification:{grade}"
    if holds_mark(value):
        return "recorded_redacted"
    return "holds_a_classified_value" if redactor(call).holds(value) else None


def entry_snapshot(call: Call, visit: int) -> Snapshot:
    """All cells a visit entered with."""
    seen = call.visits[visit]
    if seen.entry_missing:
        return Snapshot("unavailable", "entry_missing", None, {})
    event = seen.entered if seen.entered is not None else seen.first
    cells = {slot: cell(call, slot, entry_point(call, visit, slot)) for slot in call.slot_order}
    return _snapshot(cells, call.event_id(event))


def exit_snapshot(call: Call, visit: int) -> Snapshot:
    """All cells a visit left with; unavailable while no exit was recorded, never a copy of another place."""
    seen = call.visits[visit]
    if seen.exited is None:
        reason = "exit_missing" if seen.closed_by is not None else "no_exit_boundary"
        return Snapshot("unavailable", reason, None, {})
    cells = {slot: cell(call, slot, exit_point(call, visit, slot)) for slot in call.slot_order}
    return _snapshot(cells, call.event_id(seen.exited))


def _snapshot(cells: dict[str, Cell], event_id: str) -> Snapshot:
    if cells and any(item.availability != "unavailable" for item in cells.values()):
        return Snapshot("proven", None, event_id, cells)
    reasons = sorted({item.reason for item in cells.values() if item.reason}) or ["no_slots"]
    return Snapshot("unavailable", ",".join(reasons), event_id, cells)
