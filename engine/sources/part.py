"""The shape of one ledger file as columns (contract 1.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.model.events import ATTEMPT_EVENTS, AUDIO_KINDS
from engine.sources import rowschema

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
NO_TS = -(2**63)
"""Stands for a row without a usable ``ts``."""
STATE_NOT_READ = -2
"""Stands for the state of a row that names its visit; `Ledger.state_id` reads it."""

CAPTURED: dict[str, tuple[str, ...]] = {
    "session_started": ("initial_state", "flow_id", "flow_version", "kind", "transport"),
    "session_slots_seeded": ("slots", "fingerprint"),
    "session_ended": ("reason",),
    "state_entered": ("state_id", "from_state", "edge_id"),
    "state_exited": ("state_id", "to_state", "edge_id", "reason"),
    "transition_committed": ("from_state", "to_state", "edge_id", "turn_index"),
    "state_slot_snapshot": ("phase", "slots", "partial", "fingerprint"),
    "slot_write": ("slot", "old", "new", "kind", "edge_id", "present"),
    "guard_evaluated": ("guard", "edge_id"),
    "transition_verdict": ("winner", "candidates", "final", "truncated"),
    "caller_transcript": ("text", "source", "input_id", "start_ms", "end_ms", "final"),
    "locked_choice_evaluated": ("from_state", "turn_index", "choice", "result"),
    "capture_failure": ("what",),
    "state_context_snapshot": ("phase",),
    **{kind: ("playback_id", "output_attempt_id", "evidence_stage") for kind in sorted(AUDIO_KINDS)},
    **{kind: ("output_attempt_id",) for kind in sorted(ATTEMPT_EVENTS)},
    "assistant_transcript": ("output_attempt_id",),
    "caller_audio_started": ("input_id",),
    "caller_audio_ended": ("input_id",),
    "dtmf_received": ("input_id",),
    "input_selected": ("input_id",),
}
"""Kinds whose keys hydration reads for every row, kept as columns while the row is in hand."""

_GROUPED = {"playback_id": "playbacks", "output_attempt_id": "attempts"}
"""Keys that rows are grouped by: their codes are of an interner of their own."""
CODED = {
    key: _GROUPED.get(key, "texts")
    for kind, keys in CAPTURED.items()
    for key in keys
    if rowschema.is_text(kind, key)
}
"""Captured keys with texts, or composite values as bytes → the interner of `Names` they are codes of."""

COLUMNS: dict[str, Any] = {
    "seq": np.int64,
    "ts": np.int64,
    "clock": np.float64,
    "int_clock": np.bool_,
    "kind": np.int16,
    "type_code": np.int32,
    "visit": np.int32,
    "state": np.int32,
    "start": np.int64,
    "length": np.int32,
    "line": np.int32,
}
"""The columns of a part and their types."""
_NOT_PICKLED = {*COLUMNS, "data", "room"}


class Intern(dict[Any, int]):
    """Gives each distinct key the next code, and None -1; `names` lists the keys by code."""

    def __init__(self) -> None:
        super().__init__({None: -1})
        self.names: list[Any] = []
        self._by_code = np.array([None], np.object_)

    def __missing__(self, key: Any) -> int:
        code = self[key] = len(self.names)
        self.names.append(key)
        return code

    def codes(self, names: list[Any]) -> list[int]:
        """The codes of distinct names, new ones added."""
        fresh = [name for name in names if name not in self]
        self.update(zip(fresh, range(len(self.names), len(self.names) + len(fresh)), strict=True))
        self.names += fresh
        return list(map(self.__getitem__, names))

    def by_code(self) -> NDArray[np.object_]:
        """The names by code; -1 finds None at the end."""
        known = self._by_code
        if len(known) != len(self.names) + 1:
            known = np.empty(len(self.names) + 1, np.object_)
            known[:-1] = self.names
            self._by_code = known  # whole before another thread can see it
        return known


class _Columns(dict[str, list[Any]]):
    """Key → its values; those that are not there yet are fetched when they are first asked for."""

    def __init__(self, values: dict[str, list[Any]], fetch: Callable[[str], list[Any]]) -> None:
        super().__init__(values)
        self._fetch = fetch

    def __missing__(self, key: str) -> list[Any]:
        found = self[key] = self._fetch(key)
        return found


class Captured:
    """The events of one kind: their numbers, ascending, and what `CAPTURED` lists of them.

    Attributes:
        events: The event numbers.
        codes: Key of `CODED` → codes of its interner, -1 for none.
        columns: Key → its values, one entry an event. Those kept as codes become values when they are asked
            for.

    Args:
        events: As above.
        values: Values of the keys that are not `CODED`; all of them, unless ``late`` gives the others.
        codes: As above.
        names: The interners.
        late: Gives the values of a key that is in neither.
    """

    def __init__(
        self,
        events: Ints,
        values: dict[str, list[Any]],
        codes: Mapping[str, Codes],
        names: Names,
        late: Callable[[str], list[Any]] | None = None,
    ) -> None:
        self.events = events
        self.codes = codes
        self._names = names
        self._late = late
        self.columns: dict[str, list[Any]] = _Columns(values, self._fetch)

    def _fetch(self, key: str) -> list[Any]:
        if key in self.codes:
            return self._names.values(CODED[key], self.codes[key])
        if self._late is None:
            raise KeyError(key)
        return self._late(key)

    @cached_property
    def rows(self) -> list[int]:
        """The event numbers as a list; made for the kinds that are looked at."""
        found: list[int] = self.events.tolist()
        return found


class LineFault(NamedTuple):
    """A physical line that could not be read as it stands."""

    line: int
    """From 1."""
    truncated: bool
    kept: bool
    reason: str


def note_cut(faults: list[LineFault], lines: int, reason: str | None) -> None:
    """Say that a file was cut off behind its lines, where its last line does not say so already.

    Args:
        faults: Those of the file.
        lines: How many lines were read.
        reason: Why it was not read to its end; None where it was.
    """
    if reason is not None and not any(fault.truncated for fault in faults):
        faults.append(LineFault(lines + 1, True, False, reason))


class LooseRow(NamedTuple):
    """A row without a valid ``seq``: it has a place in the file and perhaps a clock, and acts on nothing."""

    line: int
    source_type: str
    kind: str
    clock_ms: float | int | None
    state_id: str | None
    visit_id: str | None
    session_id: str | None
    malformed: tuple[str, ...]
    body: dict[str, Any]


class LedgerPart:
    """One ledger file as columns over its rows with a valid ``seq``, in file order.

    Attributes:
        seq, ts, clock, kind, type_code, visit, state, start, length, line: Columns of one length.
            ``ts`` is epoch microseconds or `NO_TS`; ``clock`` ms or NaN; ``kind`` an index of
            `rowschema.KINDS`; ``visit`` and ``state`` codes of the shared interners or -1; ``start`` and
            ``length`` bytes in the file; ``line`` from 1. ``state`` is `STATE_NOT_READ` where a
            visit is named.
        captured: Kind → its columns of `CAPTURED`, one entry for each of its rows (`rows_of`).
        malformed: Row number → malformed keys.
        mended: Row number → flat body, for rows whose bytes are not regular.
    """

    def __init__(self, artifact: str, data: bytes | memoryview) -> None:
        self.artifact = artifact
        self.data = data
        self.captured: dict[str, dict[str, Any]] = {
            kind: {key: np.zeros(0, np.int32) if key in CODED else [] for key in keys}
            for kind, keys in CAPTURED.items()
        }
        self.malformed: dict[int, tuple[str, ...]] = {}
        self.mended: dict[int, dict[str, Any]] = {}
        self.faults: list[LineFault] = []
        self.loose: list[LooseRow] = []
        self.sessions: set[str] = set()
        self.int_clock = np.zeros(0, np.bool_)
        self.wrong_fingerprints: dict[int, str] = {}
        """Row → the fingerprint of its own values, where it states another one; known once the checks of
        its file are finished."""
        self.rows_read = 0
        self.room: dict[str, NDArray[Any]] = {}
        """The memory behind the columns, which may have room for rows that follow."""
        self.lines = 0
        """Physical lines, blank ones too."""

    def __len__(self) -> int:
        return len(self.seq)

    def column(self, name: str, others: list[LedgerPart]) -> NDArray[Any]:
        """A column over the rows of this part and of those that follow, in its own memory where they fit."""
        mine: NDArray[Any] = getattr(self, name)
        if not others:
            return mine
        theirs = [getattr(other, name) for other in others]
        size, whole = len(mine), self.room.get(name, mine)
        total = size + sum(map(len, theirs))
        if len(whole) < total:
            return np.concatenate([mine, *theirs])
        for values in theirs:
            whole[size : size + len(values)] = values
            size += len(values)
        return whole[:total]

    def make_room(self, rows: int) -> dict[str, NDArray[Any]]:
        """Let the columns hold further rows; gives the memory that is theirs, to be filled."""
        size = len(self)
        for name, dtype in COLUMNS.items():
            if len(self.room[name]) < size + rows:
                self.room[name] = np.concatenate([self.room[name][:size], np.empty(rows, dtype)])
            setattr(self, name, self.room[name][: size + rows])
        return {name: column[size : size + rows] for name, column in self.room.items()}

    def join(self, other: LedgerPart, rows: int) -> None:
        """Take over what is told of the lines that follow in the file, beside their columns.

        Args:
            other: The part of those lines, which are numbered from 1.
            rows: How many rows of this part stand before them.
        """
        self.line[rows:] += np.int32(self.lines)
        for kind, columns in other.captured.items():
            for key, values in columns.items():
                mine = self.captured[kind][key]
                self.captured[kind][key] = np.concatenate([mine, values]) if key in CODED else mine + values
        self.malformed |= {rows + row: keys for row, keys in other.malformed.items()}
        self.mended |= {rows + row: body for row, body in other.mended.items()}
        self.wrong_fingerprints |= {rows + row: actual for row, actual in other.wrong_fingerprints.items()}
        self.faults += [fault._replace(line=fault.line + self.lines) for fault in other.faults]
        self.loose += [row._replace(line=row.line + self.lines) for row in other.loose]
        self.sessions |= other.sessions
        self.rows_read += other.rows_read
        self.lines += other.lines

    def __getstate__(self) -> dict[str, Any]:
        """Pickled without data and columns, which have ways of their own."""
        return {name: value for name, value in vars(self).items() if name not in _NOT_PICKLED}

    def rows_of(self, kind: str) -> Ints:
        """The rows of a kind, ascending."""
        return np.flatnonzero(self.kind == rowschema.KIND_CODE[kind])

    seq: Ints
    ts: Ints
    clock: NDArray[np.float64]
    kind: NDArray[np.int16]
    type_code: NDArray[np.int32]
    visit: NDArray[np.int32]
    state: NDArray[np.int32]
    start: Ints
    length: NDArray[np.int32]
    line: NDArray[np.int32]


class Names(msgspec.Struct):
    """Interners shared by the parts of one call."""

    types: Intern
    visits: Intern
    states: Intern
    playbacks: Intern
    attempts: Intern
    texts: Intern

    @classmethod
    def new(cls) -> Names:
        """Fresh interners; the listed types have the codes of `rowschema.TYPES`."""
        names = cls(Intern(), Intern(), Intern(), Intern(), Intern(), Intern())
        for listed in rowschema.TYPES:
            names.types[listed]
        return names

    def values(self, table: str, codes: Codes) -> list[Any]:
        """The values that codes of an interner stand for; None for -1."""
        interner: Intern = getattr(self, table)
        found: list[Any] = interner.by_code()[codes].tolist()
        return found
