"""Blocks of decoded event rows turned into columns (contract 1.3).

Every row passes here, so each step handles a whole block in one call; nothing is done row by row in Python
but handing each row to the list of its kind.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.canonical import encode_trusted
from engine.model.events import DIALECTS
from engine.sources import rowschema, tolerant
from engine.sources.part import (
    CAPTURED,
    CODED,
    COLUMNS,
    NO_TS,
    STATE_NOT_READ,
    Codes,
    Intern,
    Ints,
    LedgerPart,
    Names,
)
from engine.sources.rowschema import CLASS_TYPE, ROW_CLASSES, Row

_FLUSH = 64
_SNAPSHOTS = 1024
"""How many distinct snapshots are remembered; most repeat the one before."""
_RAW = {
    (kind, key): rowschema.raw_type(kind, key)
    for kind, keys in CAPTURED.items()
    for key in keys
    if rowschema.raw_type(kind, key) is not None
}
"""Kind and key of values that come as bytes → the type they must have."""
_READERS = {(kind, key): rowschema.reader(key) for kind, keys in CAPTURED.items() for key in keys}
"""Kind and key → what lists that key of its rows."""
_TYPE_KIND = np.array(rowschema.TYPE_KIND, np.int16)


class BlockWriter:
    """Appends blocks of rows to the columns of a part.

    Args:
        part: What is filled; complete once `finish` was called.
        names: The interners shared by the parts of one call.
        room: How many rows to make room for, at least those that will be added.
    """

    def __init__(self, part: LedgerPart, names: Names, room: int) -> None:
        self.part = part
        self._names = names
        self._size = 0
        part.room = {name: np.empty(room, dtype) for name, dtype in COLUMNS.items()}
        self._waiting: dict[str, list[Row]] = {kind: [] for kind in CAPTURED}
        self._flushed = dict.fromkeys(CAPTURED, 0)
        self._coded: defaultdict[tuple[str, str], list[Codes]] = defaultdict(list)
        self._code: dict[str, Callable[[Any], int]] = {
            key: getattr(names, table).__getitem__ for key, table in CODED.items()
        }
        self._valid: dict[bytes, bool] = {}
        self._snapshots: dict[bytes, bytes] = {}
        self._wrong: list[tuple[str, int, str]] = []
        self._sinks = self._kind_lists()

    def _kind_lists(self) -> dict[type[Row], Callable[[Row], None]]:
        """Row class → what takes a row of it; classes nothing is kept of share a list that is thrown away."""
        self._rest: list[Row] = []
        sinks: dict[type[Row], Callable[[Row], None]] = dict.fromkeys(CLASS_TYPE, self._rest.append)
        for tag, cls in ROW_CLASSES.items():
            kind = DIALECTS.get(tag, tag)
            if kind in self._waiting:
                sinks[cls] = self._waiting[kind].append
        return sinks

    def add(
        self,
        rows: list[Row],
        starts: Ints,
        ends: Ints,
        lines: NDArray[np.int64],
        odd: dict[int, rowschema.Mended] | None = None,
    ) -> None:
        """Append a block.

        Args:
            rows: Rows with a valid ``seq``, in file order.
            starts: Where each row's bytes begin.
            ends: Where they end.
            lines: Line of each row, from 1.
            odd: Index in the block → what had to be mended to read the row.
        """
        part, here = self.part, slice(self._size, self._size + len(rows))
        room = part.room
        room["seq"][here] = array("q", [row.seq for row in rows])
        room["ts"][here], bad_moments = _microseconds([row.ts for row in rows])
        room["clock"][here], room["int_clock"][here] = _clocks([row.clock_ms for row in rows])
        types = np.fromiter(map(CLASS_TYPE.__getitem__, map(type, rows)), np.int32, len(rows))
        room["kind"][here] = _TYPE_KIND[types]
        visits = _codes([row.visit_id for row in rows], self._names.visits)
        room["visit"][here] = visits
        room["state"][here] = self._states(rows, visits)
        room["start"][here] = starts
        room["length"][here] = ends - starts
        room["line"][here] = lines
        self._note_sessions([row.session_id for row in rows])
        sinks = self._sinks
        for row in rows:
            sinks[type(row)](row)
        self._rest.clear()
        self._flush(_FLUSH)
        for index in bad_moments:
            part.malformed[self._size + index] = ("ts",)
        for index, mended in (odd or {}).items():
            types[index] = self._names.types[mended.source_type]
            part.mended[self._size + index] = mended.body
            if mended.malformed:
                part.malformed[self._size + index] = mended.malformed
        room["type_code"][here] = types
        self._size += len(rows)

    def _note_sessions(self, sessions: list[str | None]) -> None:
        if sessions.count(sessions[0]) != len(sessions):
            self.part.sessions.update(name for name in sessions if name is not None)
        elif sessions[0] is not None:
            self.part.sessions.add(sessions[0])

    def _states(self, rows: list[Row], visits: NDArray[np.int32]) -> NDArray[np.int32]:
        """State codes of rows that name no visit; where a visit is named, the state decides nothing."""
        codes = np.full(len(rows), STATE_NOT_READ, np.int32)
        interner = self._names.states
        for index in np.flatnonzero(visits < 0).tolist():
            state = rows[index].state_id
            codes[index] = -1 if state is None else interner[state]
        return codes

    def _flush(self, above: int) -> None:
        """Move the waiting rows of each kind that has more than ``above`` of them into its columns."""
        for kind, rows in self._waiting.items():
            if len(rows) <= above:
                continue
            count = len(rows)
            for key, column in self.part.captured[kind].items():
                values = _READERS[kind, key](rows)
                if (kind, key) in _RAW:
                    values = self._raw_values(kind, key, values, self._flushed[kind])
                code = self._code.get(key)
                if code is None:
                    column.extend(values)
                else:
                    self._coded[kind, key].append(np.fromiter(map(code, values), np.int32, count))
            self._flushed[kind] += count
            rows.clear()

    def _raw_values(self, kind: str, key: str, values: list[Any], before: int) -> list[bytes | None]:
        """Bytes of composite values; null and values of a wrong type become None, the latter malformed."""
        wanted, known = _RAW[kind, key], self._valid
        kept: list[bytes | None] = []
        for raw in values:
            value = None if raw is None else bytes(raw)
            if value is not None and value != b"null":
                valid = known.get(value) if key == "candidates" else value[:1] == b"{"
                if valid is None:
                    valid = known[value] = rowschema.fits_raw(value, wanted)
            else:
                valid = value is None or rowschema.fits_raw(value, wanted)
                value = None
            if not valid:
                self._wrong.append((kind, before + len(kept), key))
                value = None
            kept.append(
                self._canonical(value) if value is not None and kind == "state_slot_snapshot" else value
            )
        return kept

    def _canonical(self, raw: bytes) -> bytes:
        """The canonical bytes of a snapshot's slots."""
        known = self._snapshots.get(raw)
        if known is None:
            if len(self._snapshots) >= _SNAPSHOTS:
                self._snapshots.clear()
            known = self._snapshots[raw] = encode_trusted(tolerant.load(raw))
        return known

    def finish(self) -> None:
        """Fill the part's columns."""
        self._flush(0)
        part = self.part
        for name, column in part.room.items():
            setattr(part, name, column[: self._size])
        for (kind, key), blocks in self._coded.items():
            part.captured[kind][key] = np.concatenate(blocks)
        for kind, ordinal, key in self._wrong:
            row = int(part.rows_of(kind)[ordinal])
            part.malformed[row] = tuple(sorted({*part.malformed.get(row, ()), key}))
        part.rows_read = len(part) + len(part.loose)


def _codes(values: list[str | None], interner: Intern) -> NDArray[np.int32]:
    """Codes of a column; -1 for None."""
    return np.fromiter(map(interner.__getitem__, values), np.int32, len(values))


def _microseconds(values: list[Any]) -> tuple[Ints, list[int]]:
    """Epoch microseconds of a column of ``ts``, and the indexes of strings that are no time."""
    try:
        seconds = np.frombuffer(array("d", values), np.float64)
    except TypeError:  # some rows have none, or write it as text
        found = [rowschema.micros(value) for value in values]
        bad = [index for index, value in enumerate(found) if value is None and values[index] is not None]
        return np.array([NO_TS if value is None else value for value in found], np.int64), bad
    return np.rint(seconds * 1e6).astype(np.int64), []


def _clocks(values: list[Any]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Clocks of a column as floats (NaN for none), and which of them were recorded as integers."""
    try:
        whole = np.frombuffer(array("q", values), np.int64)
    except TypeError:  # some are fractions, or there is none
        integral = np.array([type(value) is int for value in values], np.bool_)
        return np.array(values, np.float64), integral
    return whole.astype(np.float64), np.ones(len(values), np.bool_)
