"""The ids of many bus rows, read from their bytes without decoding the rest of them (contract 1.4)."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.sources.merge import Ledger


class RowIds(msgspec.Struct, gc=False):
    """What rows join on; each value is as recorded, of whatever type."""

    input_id: Any = None
    playback_id: Any = None
    output_attempt_id: Any = None
    evidence_stage: Any = None
    payload: Any = None
    data: Any = None


_decoder = msgspec.json.Decoder(RowIds)


def read_ids(ledger: Ledger, events: NDArray[np.int64]) -> list[RowIds]:
    """The ids of bus events, in the order given."""
    numbers = events.tolist()
    rows = np.fromiter(map(ledger.row_of, numbers), np.int64, len(numbers))
    bounds = np.cumsum([0, *(len(part) for part in ledger.parts)])
    owner = np.searchsorted(bounds, rows, "right") - 1
    found: list[RowIds] = [RowIds()] * len(numbers)
    for number, part in enumerate(ledger.parts):
        places = np.flatnonzero(owner == number)
        local = rows[places] - bounds[number]
        view = memoryview(part.data)
        starts, lengths = part.start[local].tolist(), part.length[local].tolist()
        for place, start, length in zip(places.tolist(), starts, lengths, strict=True):
            found[place] = _read(ledger, numbers[place], view[start : start + length])
    return found


def _read(ledger: Ledger, event: int, raw: memoryview) -> RowIds:
    """The ids of one row; a row of an odd shape is read the long way."""
    try:
        ids = _decoder.decode(raw)
        if ids.payload is None and ids.data is None:
            return ids
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    return msgspec.convert(ledger.flat(event), RowIds)
