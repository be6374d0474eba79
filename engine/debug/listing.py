"""Lists of a call's parts, filtered by what a row is known for (``list_…`` of contract 3.3).

Every list is a sequence of numbers made from columns; documents are made for the numbers that are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.debug.candidates import check_kind
from engine.debug.cursor import check_slot
from engine.debug.index import index
from engine.debug.projection import conversation_count, conversation_item
from engine.debug.seek import at_visit
from engine.hydrate.call import KIND_CODES, Call
from engine.model.artifact import Finding
from engine.model.errors import EngineError
from engine.model.findings import SEVERITIES

Numbers = NDArray[np.int64]


class EventFilter(NamedTuple):
    """Which events are listed; None lets all through.

    Attributes:
        visit_id: Of one visit.
        kind: Of one kind.
        slot: Writes of one slot.
        provenance: ``recorded`` or ``derived``.
        start_ms, end_ms: With a clock in this range, both ends within it.
        unattributed: True: only those no visit owns; False: only owned ones.
    """

    visit_id: str | None = None
    kind: str | None = None
    slot: str | None = None
    provenance: str | None = None
    start_ms: float | None = None
    end_ms: float | None = None
    unattributed: bool | None = None


def events(call: Call, wanted: EventFilter) -> Numbers:
    """Event numbers in call order; those no visit owns stand between the events they were recorded between.

    Raises:
        EngineError: ``UNKNOWN_VISIT``, ``UNKNOWN_SLOT``; ``BAD_ARGUMENT`` for a kind that there is not.
    """
    found = _of_visit(call, wanted)
    if wanted.slot is not None:
        check_slot(call, wanted.slot)
        found = found[np.isin(found, np.array(call.writes_of(wanted.slot), np.int64))]
    if wanted.kind is not None:
        check_kind(call, wanted.kind, "args.kind")
        found = found[call.kind_of[found] == KIND_CODES[wanted.kind]]
    if wanted.provenance is not None:
        recorded = _recorded(call, found)
        found = found[recorded if wanted.provenance == "recorded" else ~recorded]
    if wanted.start_ms is not None or wanted.end_ms is not None:
        ms = index(call).clocks(call)[found]
        low = -np.inf if wanted.start_ms is None else wanted.start_ms
        high = np.inf if wanted.end_ms is None else wanted.end_ms
        found = found[(ms >= low) & (ms <= high)]
    return found


def _of_visit(call: Call, wanted: EventFilter) -> Numbers:
    known = index(call)
    if wanted.visit_id is not None:
        own = call.micro_events(at_visit(call, wanted.visit_id).visit)
        return own if not wanted.unattributed else own[:0]
    if wanted.unattributed:
        return known.lane
    if wanted.unattributed is False or not len(known.lane):
        return call.order.micro
    return known.in_order(call)


def _recorded(call: Call, found: Numbers) -> NDArray[np.bool_]:
    if call.parts.turns_only:
        return np.zeros(len(found), np.bool_)
    extras = [extra.provenance == "recorded" for extra in call.parts.extras]
    recorded = np.concatenate(
        [np.ones(call.first_extra, np.bool_), np.array(extras, np.bool_),
         np.zeros(call.event_count - call.first_derived, np.bool_)]
    )  # fmt: skip
    return recorded[found]


def visits(call: Call, start_ms: float | None, end_ms: float | None) -> Sequence[int]:
    """The visits, or those that meet a range of the clock."""
    numbers = range(len(call.visits))
    if start_ms is None and end_ms is None:
        return numbers

    def chosen() -> list[int]:
        return [number for number in numbers if in_range(start_ms, end_ms, *visit_span(call, number))]

    return index(call).memo(("visits", start_ms, end_ms), chosen)


def visit_span(call: Call, visit: int) -> tuple[float | int | None, float | int | None]:
    """The clocks of a visit's recorded entry and exit; None for what was not recorded."""
    seen = call.visits[visit]
    entered, exited = (None if row is None else call.clock_ms(row) for row in (seen.entered, seen.exited))
    return entered, exited


def findings(
    call: Call, code: str | None, visit_id: str | None, start_ms: float | None, end_ms: float | None
) -> Sequence[Finding]:
    """The findings in event order: of one code, of one visit, with a clock in a range."""
    if visit_id is None:
        chosen: Sequence[Finding] = call.findings
    else:
        chosen = call.findings_of(at_visit(call, visit_id).visit)
    if code is None and start_ms is None and end_ms is None:
        return chosen
    return [
        one
        for one in chosen
        if (code is None or one.code == code) and in_range(start_ms, end_ms, one.clock_ms, None)
    ]


def gravest_first(call: Call, chosen: Sequence[Finding]) -> Sequence[Finding]:
    """Findings by severity, those of one severity as they stood; all of a call are sorted once."""

    def ordered() -> list[Finding]:
        return sorted(chosen, key=lambda one: SEVERITIES.index(one.severity))

    return index(call).once("gravest first", ordered) if chosen is call.findings else ordered()


def in_range(start_ms: float | None, end_ms: float | None, begin: float | None, end: float | None) -> bool:
    """Whether a span of the call's clock meets a range; one without a clock meets none that is bounded."""
    if start_ms is None and end_ms is None:
        return True
    if begin is None:
        return False
    last = begin if end is None else end
    return (end_ms is None or begin <= end_ms) and (start_ms is None or last >= start_ms)


def check_range(start_ms: float | None, end_ms: float | None) -> None:
    """Refuse a range that ends before it begins.

    Raises:
        EngineError: ``BAD_ARGUMENT``.
    """
    if start_ms is not None and end_ms is not None and end_ms < start_ms:
        raise EngineError("BAD_ARGUMENT", "end_ms lies before start_ms", argument="args.end_ms")


def conversation(
    call: Call, visit_id: str | None, start_ms: float | None, end_ms: float | None
) -> Sequence[int]:
    """The items of the conversation lane of one visit, or that meet a range of the clock."""
    if visit_id is None and start_ms is None and end_ms is None:
        return range(conversation_count(call))

    def chosen() -> list[int]:
        items = ((number, conversation_item(call, number)) for number in range(conversation_count(call)))
        return [
            number
            for number, item in items
            if (visit_id is None or item.visit_id == visit_id)
            and in_range(start_ms, end_ms, item.start_ms, item.end_ms)
        ]

    return index(call).memo(("conversation", visit_id, start_ms, end_ms), chosen)
