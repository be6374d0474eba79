"""Events that were emitted and are not here (contract 1.2)."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

import numpy as np

from engine.sources.merge import Ledger


class Gap(NamedTuple):
    """A range of ``seq`` that was not read.

    Attributes:
        first, last: The missing sequence numbers, inclusive.
        before: The event after the range (an event number).
    """

    first: int
    last: int
    before: int


class Gaps(NamedTuple):
    """Every missing range, and what is missing beyond them.

    Attributes:
        ranges: Missing ranges in order.
        unplaced: Events that were emitted, not read, and lie in no range.
        may_hold_writes: Whether a missing range may have held a ``slot_write``.
    """

    ranges: list[Gap]
    unplaced: int
    may_hold_writes: bool

    def within(self, after: int, until: int) -> bool:
        """Whether a range is missing between two events."""
        place = bisect_right(self.ranges, after, key=lambda gap: gap.before)
        return place < len(self.ranges) and self.ranges[place].before <= until


def find_gaps(
    ledger: Ledger, durable: bool, durable_writes: bool, emitted: int | None, emit_failures: int
) -> Gaps:
    """Find the missing ranges of ``seq``.

    Args:
        ledger: The distinct events.
        durable: Whether a durable ledger was read.
        durable_writes: Whether it carries any ``slot_write``.
        emitted: ``capture.events_emitted`` of the manifest.
        emit_failures: ``capture.emit_failures`` of the manifest.
    """
    ranges: list[Gap] = []
    if len(ledger):
        lowest = int(ledger.seq[0])
        if lowest > 1:
            ranges.append(Gap(1, lowest - 1, 0))
        for at in (np.flatnonzero(np.diff(ledger.seq) > 1) + 1).tolist():
            ranges.append(Gap(int(ledger.seq[at - 1]) + 1, int(ledger.seq[at]) - 1, at))
    known = len(ledger) + len(ledger.loose) + sum(gap.last - gap.first + 1 for gap in ranges)
    unplaced = max(0, emitted - known) if emitted is not None else 0
    return Gaps(ranges, unplaced, not durable or not durable_writes or emit_failures > 0)
