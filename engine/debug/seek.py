"""Going to a place that is named: an event, a visit, a moment, a finding (``seek`` of 3.3, ``:`` of 7.3)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from engine.debug.index import index
from engine.debug.names import hint, shown
from engine.debug.place import cursor_of, start, visit_entry
from engine.hydrate.call import Call
from engine.model.errors import EngineError
from engine.model.views import Cursor

ACCEPTED = "#482 (a seq), 12.4s, 400ms, menu#2 (a visit), a finding's code or id, or an event id (bus:482)"
_LONGEST_ID = 4096
_SEQ = re.compile(r"#(\d{1,18})(\.\d{1,6})?", re.ASCII)
_TIME = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)\s*(ms|s)", re.ASCII)
_EVENT = re.compile(r"(?:bus|trace|live|timed|tl|turn|drv):.+")
_CODE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?::.*)?", re.ASCII)


def find_event(call: Call, event_id: str) -> int | None:
    """The event of exactly this id that a cursor can stand on, or None."""
    if len(event_id) > _LONGEST_ID:
        return None
    try:
        event = call.find(event_id)
    except (OverflowError, ValueError):  # a number that no ledger can hold
        return None
    if event is None or call.visit_of[event] < -1 or call.event_id(event) != event_id:
        return None
    return event


def at_event(call: Call, event_id: str) -> Cursor:
    """The cursor at an event; one that no visit owns is looked at from the visit open there.

    Raises:
        EngineError: ``UNKNOWN_EVENT``.
    """
    event = find_event(call, event_id)
    if event is None:
        raise EngineError(
            "UNKNOWN_EVENT", f"no event {shown(event_id)} in this call", event_id=event_id[:200]
        )
    return cursor_of(call, event)


def at_visit(call: Call, visit_id: str) -> Cursor:
    """The entry of a visit.

    Raises:
        EngineError: ``UNKNOWN_VISIT``.
    """
    visits = call.parts.built.by_id
    visit = visits.get(visit_id)
    if visit is None:
        message = f"no visit {shown(visit_id)} in this call{hint(visit_id, visits)}"
        raise EngineError("UNKNOWN_VISIT", message, visit_id=visit_id[:200])
    return visit_entry(call, visit)


def at_time(call: Call, ms: float) -> Cursor:
    """The last event, in call order, whose clock is at or before a moment; before the first one, the start.

    Raises:
        EngineError: ``BAD_ARGUMENT`` for what is no number.
    """
    if not math.isfinite(ms):
        raise EngineError("BAD_ARGUMENT", "a time is a finite number of milliseconds", argument="time_ms")
    lowest, positions = index(call).clock(call)
    last = int(np.searchsorted(lowest, ms, "right")) - 1
    return cursor_of(call, int(call.order.micro[positions[last]])) if last >= 0 else start(call)


def at_finding(call: Call, name: str) -> Cursor:
    """Where a finding stands: its event, else its visit's entry, else (of the whole call) the start.

    Args:
        call: The call.
        name: A finding id, or a code: its first finding that stands at an event or a visit.

    Raises:
        EngineError: ``UNKNOWN_FINDING``.
    """
    known = index(call).finding_names(call)
    finding = known.get(name)
    if finding is None:
        message = f"no finding {shown(name)} in this call{hint(name, known)}"
        raise EngineError("UNKNOWN_FINDING", message, finding_id=name[:200])
    event = find_event(call, finding.event_id) if finding.event_id is not None else None
    if event is not None:
        return cursor_of(call, event)
    visit = call.parts.built.by_id.get(finding.visit_id) if finding.visit_id is not None else None
    return visit_entry(call, visit) if visit is not None else start(call)


def opening(call: Call) -> Cursor:
    """Where a call opens: its first divergence (contract 2.11, 7.1), else the start."""
    first = call.summary.first_divergence
    return at_finding(call, first) if first is not None else start(call)


class Named(NamedTuple):
    """A place as ``seek`` takes it: the name of an argument, and its value."""

    argument: Literal["visit_id", "event_id", "finding_id", "time_ms"]
    value: Any


_AT: dict[str, Callable[[Call, Any], Cursor]] = {
    "visit_id": at_visit,
    "event_id": at_event,
    "finding_id": at_finding,
    "time_ms": at_time,
}


def goto(call: Call, text: str) -> Cursor:
    """The place that a person typed.

    Raises:
        EngineError: As `reading`; ``UNKNOWN_VISIT``, ``UNKNOWN_EVENT`` or ``UNKNOWN_FINDING`` for a name that
            is not in this call.
    """
    named = reading(call, text)
    return _AT[named.argument](call, named.value)


def reading(call: Call, text: str) -> Named:
    """What a person typed, as a place.

    What the call itself names (a visit, an event, a finding) comes before a reading as number or time.

    Raises:
        EngineError: ``BAD_ARGUMENT`` for what has no form of a place, naming what is accepted.
    """
    name = text.strip()
    if name in call.parts.built.by_id:
        return Named("visit_id", name)
    if find_event(call, name) is not None:
        return Named("event_id", name)
    if name in index(call).finding_names(call):
        return Named("finding_id", name)
    seq = _SEQ.fullmatch(name)
    if seq is not None:
        return Named("event_id", f"bus:{int(seq[1])}{seq[2] or ''}")
    time = _TIME.fullmatch(name)
    if time is not None:
        return Named("time_ms", round(float(time[1]) * (1000 if time[2] == "s" else 1), 6))
    return _unknown(name)


def _unknown(name: str) -> Named:
    """A name that nothing in the call has: by its form."""
    if _EVENT.fullmatch(name):
        return Named("event_id", name)
    if _CODE.fullmatch(name):
        return Named("finding_id", name)
    if not name.startswith("#") and re.search(r"#\d+\Z", name, re.ASCII):
        return Named("visit_id", name)
    raise EngineError(
        "BAD_ARGUMENT", f"{shown(name) or 'nothing'} is no place: write {ACCEPTED}", argument="args.place"
    )
