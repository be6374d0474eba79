"""The order in which a call is stepped through (contract 2.2): visits by entry, events by place in them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.sources.part import Ints

_SUB = 8
_LATE = 1 << 28
_VISIT_BITS = 29
_VISIT = 1 << _VISIT_BITS


def order_key(anchor: int, suborder: int) -> int:
    """The key of an event at an anchor; bus events have suborder 0."""
    return anchor * _SUB + suborder + 1


class Order(NamedTuple):
    """Stepping order.

    Attributes:
        micro: Event numbers, visit after visit.
        start: Where each visit begins in `micro`; one entry more than visits.
        position: Event number → index in `micro`, or -1.
    """

    micro: Ints
    start: Ints
    position: NDArray[np.int32]


def stepping_order(visit: NDArray[np.int32], late: NDArray[np.bool_], keys: Ints, visits: int) -> Order:
    """Sort owned events by visit, with late boundary rows last in theirs.

    Args:
        visit: Owner of each event or -1.
        late: Whether an event stands last in its visit though it was recorded later.
        keys: `order_key` of each event; events with one key keep their given order.
        visits: How many visits there are.
    """
    lost = visit < 0
    key = visit * np.int64(_VISIT)
    key += keys
    key[late] += _LATE
    key[lost] = visits * np.int64(_VISIT)  # behind all others, where they are cut off
    micro = np.argsort(key, kind="stable")[: len(visit) - np.count_nonzero(lost)]
    key >>= _VISIT_BITS
    counts = np.bincount(key, minlength=visits + 1)[:visits]
    start = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    position = np.full(len(visit), -1, np.int32)
    position[micro] = np.arange(len(micro), dtype=np.int32)
    return Order(micro, start, position)
