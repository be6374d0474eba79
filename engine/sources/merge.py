"""The two ledgers as one stream of distinct events in durable order (contract 1.3).

Identity of an event is ``(seq, ts, kind)``. Equal rows of one identity are one event with several refs;
unequal ones keep the durable row and are reported; two identities at one ``seq`` are two events.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.canonical import canonical
from engine.model.events import ATTEMPT_EVENTS, AUDIO_KINDS
from engine.sources import rowschema
from engine.sources.fingerprints import flat_row
from engine.sources.part import (
    CAPTURED,
    CODED,
    COLUMNS,
    NO_TS,
    STATE_NOT_READ,
    Captured,
    Codes,
    Ints,
    LedgerPart,
    LooseRow,
    Names,
)


class Ref(NamedTuple):
    """Where an event's row stands."""

    artifact: str
    line: int


class Conflict(NamedTuple):
    """Rows of one identity that disagree; the first ref is the row that stands."""

    event: int
    refs: tuple[Ref, ...]


class Ledger:
    """Distinct bus events as columns, ordered by ``(seq, kind, ts)``.

    Attributes:
        seq, ts, clock, int_clock, kind, type_code, visit, state: As in `LedgerPart`, one entry an event.
        captured: Kind → columns of its events; ``rows`` are event numbers, ascending.
        suffix: Event number → ordinal among several events at one ``seq`` (only those above 0).
        malformed: Event number → malformed keys.
        conflicts: Identities whose rows disagree.
        loose: ``(artifact, row)`` of rows without a valid ``seq``.
        sessions: Session ids the rows carry.
        durable_writes: Whether the durable ledger carries any ``slot_write``.
        rows_read: Rows with and without a valid ``seq``, before duplicates were joined.
        standing: The physical rows that stand, by event; a range of them in the common case.
        extra_refs: Event number → every row of an event that several are.
    """

    standing: slice | Ints

    def __init__(self, parts: list[LedgerPart], names: Names) -> None:
        self.parts = parts
        self.names = names
        self.suffix: dict[int, int] = {}
        self.conflicts: list[Conflict] = []
        self.loose: list[tuple[str, LooseRow]] = [
            (part.artifact, row) for part in parts for row in part.loose
        ]
        self.sessions: set[str] = set().union(*(part.sessions for part in parts)) if parts else set()
        self.rows_read = sum(part.rows_read for part in parts)
        self._offsets = np.cumsum([0, *(len(part) for part in parts)])
        self._starts: list[int] = self._offsets.tolist()[:-1]
        self.extra_refs: dict[int, tuple[int, ...]] = {}
        kinds = self._joined("kind")
        standing, seq = self._distinct()
        self.standing = standing if isinstance(standing, slice) else _as_slice(standing)
        self._inverse: Ints | None = None
        self.seq: Ints = seq
        self.ts: Ints = self._column("ts")
        self.clock: NDArray[np.float64] = self._column("clock")
        self.int_clock: NDArray[np.bool_] = self._column("int_clock")
        self.kind: NDArray[np.int16] = self._column("kind")
        self.type_code: NDArray[np.int32] = self._column("type_code")
        self.visit: NDArray[np.int32] = self._column("visit")
        self.state: NDArray[np.int32] = self._column("state")
        self.durable_writes = any(
            len(part.captured["slot_write"]["slot"]) > 0
            for part in parts
            if part.artifact.startswith("state_trace")
        )
        by_kind = np.argsort(kinds, kind="stable")
        begins = np.searchsorted(kinds[by_kind], np.arange(len(rowschema.KINDS) + 1)).tolist()
        self.captured = {
            kind: self._captured(kind, by_kind[begins[code] : begins[code + 1]])
            for kind, code in rowschema.KIND_CODE.items()
            if kind in CAPTURED
        }
        self.malformed: dict[int, tuple[str, ...]] = self._by_event("malformed")
        self._require_stages()

    def __len__(self) -> int:
        return len(self.seq)

    def _column(self, name: str) -> NDArray[Any]:
        """A column over distinct events; the parts' own columns are dropped once joined."""
        whole = self._joined(name)
        for part in self.parts:
            delattr(part, name)
            part.room.pop(name, None)
        return whole[self.standing]

    def _joined(self, name: str) -> NDArray[Any]:
        """A column over physical rows."""
        return self.parts[0].column(name, self.parts[1:]) if self.parts else np.zeros(0, COLUMNS[name])

    def _distinct(self) -> tuple[slice | Ints, Ints]:
        """Which rows stand, in event order, and their ``seq``."""
        if not self.parts:
            return slice(0, 0), np.zeros(0, np.int64)
        seq = self._joined("seq")
        if len(seq) < 2 or bool((seq[1:] > seq[:-1]).all()):
            return slice(0, len(seq)), seq
        first_rows = self._before_repeats(seq)
        if first_rows is not None:
            return slice(0, first_rows), seq[:first_rows]
        order = np.argsort(seq, kind="stable")
        ordered = seq[order]
        starts_same = np.flatnonzero(ordered[1:] == ordered[:-1])
        if not len(starts_same):
            return order, ordered
        keep = np.ones(len(order), np.bool_)
        places = order.copy()
        groups: list[tuple[int, list[_Chosen]]] = []
        at = 0
        clashes = starts_same.tolist()
        while at < len(clashes):
            first = clashes[at]
            last = first + 1
            while at < len(clashes) and clashes[at] == last - 1:
                last += 1
                at += 1
            members = order[first:last].tolist()
            chosen = self._choose(members)
            keep[first:last] = False
            keep[first : first + len(chosen)] = True
            for offset, choice in enumerate(chosen):
                places[first + offset] = choice.row
            groups.append((first, chosen))
        before = np.cumsum(keep) - 1
        for first, chosen in groups:
            for ordinal, choice in enumerate(chosen):
                self._note(int(before[first]) + ordinal, ordinal, choice)
        return places[keep], ordered[keep]

    def _before_repeats(self, seq: Ints) -> int | None:
        """How many rows stand before the last part, where all of its rows only repeat one of them.

        So the ledger of the last events stands beside the durable one, and nothing has to be sorted.
        """
        size = int(self._offsets[-2])
        ahead, behind = seq[:size], seq[size:]
        at = np.searchsorted(ahead, behind)
        inside = at < size
        if not (inside.all() and (ahead[at] == behind).all() and (ahead[1:] > ahead[:-1]).all()):
            return None
        repeats: dict[int, list[int]] = {}
        for row, event in enumerate(at.tolist(), size):
            repeats.setdefault(event, [event]).append(row)
        found = {event: self._choose(rows) for event, rows in sorted(repeats.items())}
        if any(len(chosen) > 1 or chosen[0].row != event for event, chosen in found.items()):
            return None
        for event, (choice,) in found.items():
            self._note(event, 0, choice)
        return size

    def _note(self, event: int, ordinal: int, choice: _Chosen) -> None:
        """Keep what is to be known of an event that several rows are, or that shares its ``seq``."""
        if ordinal:
            self.suffix[event] = ordinal
        if len(choice.refs) > 1:
            self.extra_refs[event] = choice.refs
        if choice.conflict:
            rows = (choice.row, *choice.conflict)
            self.conflicts.append(Conflict(event, tuple(map(self._ref, rows))))

    def _choose(self, members: list[int]) -> list[_Chosen]:
        """One row for each identity among rows of one ``seq``, in ``(kind, ts)`` order."""
        identities: dict[tuple[str, int], list[int]] = {}
        for row in members:
            part, index = self._locate(row)
            kind = self._kind_name(part, index)
            identities.setdefault((kind, int(part.ts[index])), []).append(row)
        return [self._stand(identities[identity]) for identity in sorted(identities)]

    def _stand(self, rows: list[int]) -> _Chosen:
        if len(rows) == 1:
            return _Chosen(rows[0], (rows[0],), ())
        raws = {self.raw_of(row) for row in rows}
        if len(raws) == 1:
            return _Chosen(min(rows, key=self._precedence), tuple(rows), ())
        forms: dict[bytes, list[int]] = {}
        for row in rows:
            forms.setdefault(self._canonical(row), []).append(row)
        ranked = sorted(forms, key=lambda form: (not self._any_durable(forms[form]), form))
        stands, *others = (sorted(forms[form], key=self._precedence) for form in ranked)
        return _Chosen(stands[0], tuple(stands), tuple(row for group in others for row in group))

    def _any_durable(self, rows: list[int]) -> bool:
        return any(self._locate(row)[0].artifact.startswith("state_trace") for row in rows)

    def _precedence(self, row: int) -> tuple[bool, int]:
        return (not self._any_durable([row]), row)

    def _kind_name(self, part: LedgerPart, index: int) -> str:
        kind = rowschema.KINDS[part.kind[index]]
        return (
            str(self.names.types.names[part.type_code[index]])
            if part.kind[index] == rowschema.OTHER_CODE
            else kind
        )

    def _canonical(self, row: int) -> bytes:
        part, index = self._locate(row)
        flat = dict(flat_row(part, index))
        flat["type"] = self._kind_name(part, index)
        flat["ts"] = int(part.ts[index]) if part.ts[index] != NO_TS else None
        return canonical(flat)

    def _locate(self, row: int) -> tuple[LedgerPart, int]:
        number = bisect_right(self._starts, row) - 1
        return self.parts[number], row - self._starts[number]

    def _ref(self, row: int) -> Ref:
        part, index = self._locate(row)
        return Ref(part.artifact, int(part.line[index]))

    def raw_of(self, row: int) -> bytes:
        """The bytes of a physical row."""
        part, index = self._locate(row)
        start = int(part.start[index])
        return bytes(part.data[start : start + int(part.length[index])])

    def _event_of(self, rows: Ints) -> Ints:
        """Event numbers of physical rows, -1 where another row stands."""
        if isinstance(self.standing, slice):
            stands = (rows >= self.standing.start) & (rows < self.standing.stop)
            return np.where(stands, rows - self.standing.start, -1)
        if self._inverse is None:
            self._inverse = np.full(int(self._offsets[-1]), -1, np.int64)
            self._inverse[self.standing] = np.arange(len(self.standing))
        return self._inverse[rows]

    def _captured(self, kind: str, rows: Ints) -> Captured:
        """The columns of one kind over distinct events; ``rows`` are its physical rows."""
        events = self._event_of(rows)
        ordered = bool((events[1:] > events[:-1]).all()) and (not len(events) or events[0] >= 0)
        order = np.arange(len(events)) if ordered else np.argsort(events, kind="stable")
        order = order[np.searchsorted(events[order], 0) :]
        chosen = _as_slice(order)
        told = [part.captured.pop(kind) for part in self.parts]
        values, codes = dict[str, list[Any]](), dict[str, Codes]()
        for key in CAPTURED[kind]:
            columns = [columns[key] for columns in told]
            if key in CODED:
                codes[key] = (np.concatenate(columns) if columns else np.zeros(0, np.int32))[chosen]
            else:
                whole = columns[0] if len(columns) == 1 else list(chain.from_iterable(columns))
                values[key] = whole[chosen] if isinstance(chosen, slice) else [whole[at] for at in chosen]
        return Captured(events[order], values, codes, self.names)

    def _by_event(self, name: str) -> dict[int, Any]:
        """What the parts say of single rows, by event."""
        found: dict[int, Any] = {}
        for part, offset in zip(self.parts, self._starts, strict=True):
            told: dict[int, Any] = getattr(part, name)
            events = self._event_of(np.fromiter(told, np.int64, len(told)) + offset).tolist() if told else ()
            found |= {event: value for event, value in zip(events, told.values(), strict=False) if event >= 0}
        return found

    def _require_stages(self) -> None:
        """In a call with attempt events an audio row without its stage is malformed (contract 1.4)."""
        attempts = [rowschema.KIND_CODE[kind] for kind in ATTEMPT_EVENTS]
        if not np.isin(self.kind, attempts).any():
            return
        for kind in AUDIO_KINDS:
            audio = self.captured[kind]
            for index in np.flatnonzero(audio.codes["evidence_stage"] < 0).tolist():
                event = int(audio.events[index])
                self.malformed[event] = tuple(sorted({*self.malformed.get(event, ()), "evidence_stage"}))

    def wrong_fingerprints(self) -> dict[int, str]:
        """Event number → fingerprint of its own values, where it states another one.

        Complete once the checks of every ledger file are finished.
        """
        return self._by_event("wrong_fingerprints")

    def state_id(self, event: int) -> str | None:
        """The state a row names, or None."""
        code = int(self.state[event])
        if code != STATE_NOT_READ:
            return None if code < 0 else str(self.names.states.names[code])
        value = self.flat(event).get("state_id")
        return value if isinstance(value, str) else None

    def row_of(self, event: int) -> int:
        """The physical row that stands for an event."""
        return event + self.standing.start if isinstance(self.standing, slice) else int(self.standing[event])

    def refs(self, event: int) -> list[Ref]:
        """Every row that is this event, by artifact and line."""
        rows = self.extra_refs.get(event) or (self.row_of(event),)
        return sorted(map(self._ref, rows))

    def flat(self, event: int) -> dict[str, Any]:
        """The row of an event, un-nested and normalised."""
        return flat_row(*self._locate(self.row_of(event)))

    def flat_at(self, ref: Ref) -> dict[str, Any]:
        """The row at a place, also one that does not stand; empty where none is."""
        for part in self.parts:
            index = int(np.searchsorted(part.line, ref.line)) if part.artifact == ref.artifact else -1
            if 0 <= index < len(part.line) and part.line[index] == ref.line:
                return flat_row(part, index)
        return {}

    def payload(self, event: int) -> dict[str, Any]:
        """The payload of an event as recorded, before redaction (contract 1.4)."""
        source_type = str(self.names.types.names[self.type_code[event]])
        return rowschema.payload_of(self.flat(event), source_type, self.malformed.get(event, ()))

    def event_id(self, event: int) -> str:
        """``bus:<seq>``, with ``.1``, ``.2`` for further events at one ``seq``."""
        suffix = self.suffix.get(event)
        return f"bus:{self.seq[event]}" if suffix is None else f"bus:{self.seq[event]}.{suffix}"

    def find(self, seq: int, suffix: int = 0) -> int | None:
        """The event number of a ``seq`` (and ordinal at it), or None."""
        at = int(np.searchsorted(self.seq, seq)) + suffix
        if at >= len(self.seq) or int(self.seq[at]) != seq or self.suffix.get(at, 0) != suffix:
            return None
        return at


def _as_slice(positions: Ints) -> slice | Ints:
    """Ascending neighbours as a slice, which copies nothing; other positions as they are."""
    if not len(positions):
        return slice(0, 0)
    first, last = int(positions[0]), int(positions[-1])
    if last - first + 1 == len(positions) and bool((np.diff(positions) == 1).all()):
        return slice(first, last + 1)
    return positions


class _Chosen(NamedTuple):
    row: int
    refs: tuple[int, ...]
    conflict: tuple[int, ...]
