"""The values of slots, kept line by line: a slot's is read when it is first asked for."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
import numpy as np

from engine.hydrate.fold import ExitPhases, Folded
from engine.hydrate.kept.sections import Sections, Writing, array, document
from engine.hydrate.ownership import Ownership
from engine.hydrate.timeline import UNSET, Gone, Line, Timeline
from engine.sources.merge import Ledger

_RECORDED, _UNSET = 0, 1
_REASONS = 2
"""What a point says: a recorded value, that the slot is unset, or (from here on) why nothing is known."""


class _Facts(msgspec.Struct, frozen=True):
    """What is no line; a slot's line is named by its number."""

    slots: list[str]
    reasons: list[str]
    baseline: int | None
    baseline_place: int | None
    seed_class: dict[str, str]
    refused: list[int]
    unowned: list[tuple[int, str, int]]


def keep(folded: Folded, into: Writing) -> None:
    """Add the sections of folded values."""
    base, lines = folded.timeline.lines()
    reasons: dict[str, int] = {}
    _keep_line("slots.base", base, reasons, into)
    for number, line in enumerate(lines.values()):
        _keep_line(f"slots.{number}", line, reasons, into)
    unowned = [(visit, slot, event) for (visit, slot), event in folded.unowned.items()]
    refused = sorted(folded.exit_phases.refused)
    facts = _Facts(
        list(lines),
        list(reasons),
        folded.baseline,
        folded.baseline_place,
        folded.seed_class,
        refused,
        unowned,
    )
    into.put("slots", facts)


def _keep_line(name: str, line: Line, reasons: dict[str, int], into: Writing) -> None:
    into[f"{name}.places"] = np.array(line.places, np.int64)
    into[f"{name}.events"] = np.array(line.events, np.int64)
    said = (_said(value, reasons) for value in line.values)
    into[f"{name}.said"] = told = np.fromiter(said, np.int16, len(line.values))
    recorded = told.tolist()
    into.put(
        f"{name}.values",
        [value for value, what in zip(line.values, recorded, strict=True) if what == _RECORDED],
    )


def _said(value: Any, reasons: dict[str, int]) -> int:
    if value is UNSET:
        return _UNSET
    if isinstance(value, Gone):
        return reasons.setdefault(value.reason, len(reasons)) + _REASONS
    return _RECORDED


def restore(sections: Sections, ledger: Ledger, owned: Ownership) -> Folded:
    """The folded values of a call; what folding found stands among the call's findings."""
    facts: _Facts = document(sections, "slots", _Facts)
    gone = [Gone(reason) for reason in facts.reasons]
    lines = {
        slot: partial(_line, sections, f"slots.{number}", gone) for number, slot in enumerate(facts.slots)
    }
    return Folded(
        Timeline.of_lines(_line(sections, "slots.base", gone), lines), facts.baseline, facts.baseline_place,
        facts.seed_class, ExitPhases(ledger, owned, set(facts.refused)),
        {(visit, slot): event for visit, slot, event in facts.unowned}, [],
    )  # fmt: skip


def _line(sections: Sections, name: str, gone: list[Gone]) -> Line:
    recorded = iter(document(sections, f"{name}.values", list[Any]))
    said = array(sections, f"{name}.said").tolist()
    values = [
        next(recorded) if what == _RECORDED else UNSET if what == _UNSET else gone[what - _REASONS]
        for what in said
    ]
    return Line(
        array(sections, f"{name}.places").tolist(), values, array(sections, f"{name}.events").tolist()
    )
