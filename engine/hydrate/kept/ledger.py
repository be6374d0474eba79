"""The events of a call, kept and brought back: columns are mapped, names and values read when asked for."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import msgspec
import numpy as np

from engine.hydrate.kept.sections import Sections, Writing, array, document, texts
from engine.sources.files import CallFiles
from engine.sources.merge import Conflict, Ledger
from engine.sources.part import CAPTURED, CODED, Captured, Intern, LedgerPart, LooseRow, Names

COLUMNS = ("seq", "ts", "clock", "int_clock", "type_code", "visit", "state")
"""As in `Ledger`; its kinds are those of the call."""
_TABLES = ("types", "visits", "states", "playbacks", "attempts", "texts")
_PLACES = ("start", "length", "line")


class _Part(msgspec.Struct, frozen=True):
    """One file of the ledger; ``rows`` counts those with a valid ``seq``."""

    artifact: str
    lines: int
    rows: int
    mended: dict[int, dict[str, Any]]


class _Facts(msgspec.Struct, frozen=True):
    """What is no column; ``standing`` is a range of physical rows where they are no section of their own."""

    parts: list[_Part]
    standing: tuple[int, int] | None
    suffix: dict[int, int]
    extra_refs: dict[int, tuple[int, ...]]
    conflicts: list[Conflict]
    loose: list[tuple[str, LooseRow]]
    sessions: list[str]
    rows_read: int
    durable_writes: bool
    malformed: dict[int, tuple[str, ...]]


def keep(ledger: Ledger, into: Writing) -> None:
    """Add the sections of a ledger."""
    standing = ledger.standing
    facts = _Facts(
        parts=[_Part(part.artifact, part.lines, len(part.start), part.mended) for part in ledger.parts],
        standing=(standing.start, standing.stop) if isinstance(standing, slice) else None,
        suffix=ledger.suffix,
        extra_refs=ledger.extra_refs,
        conflicts=ledger.conflicts,
        loose=ledger.loose,
        sessions=sorted(ledger.sessions),
        rows_read=ledger.rows_read,
        durable_writes=ledger.durable_writes,
        malformed=ledger.malformed,
    )
    into.put("ledger", facts)
    for name in COLUMNS:
        into[f"ledger.{name}"] = getattr(ledger, name)
    if not isinstance(standing, slice):
        into["ledger.standing"] = standing
    for number, part in enumerate(ledger.parts):
        for name in _PLACES:
            into[f"part.{number}.{name}"] = getattr(part, name)
    for table in _TABLES:
        into.put_texts(f"names.{table}", getattr(ledger.names, table).names)
    for kind, captured in ledger.captured.items():
        if not len(captured.events):
            continue
        into[f"captured.{kind}"] = captured.events
        for key in CAPTURED[kind]:
            if key in CODED:
                into[f"captured.{kind}.{key}"] = captured.codes[key]
            else:
                into.put(f"captured.{kind}.{key}", captured.columns[key])


class KeptIntern(Intern):
    """An interner whose names are read when they are first asked for. It takes no new ones."""

    def __init__(self, sections: Sections, table: str) -> None:
        dict.__init__(self, {None: -1})
        self._sections = sections
        self._table = table
        self._by_code = np.array([None], np.object_)

    @cached_property
    def names(self) -> list[Any]:  # type: ignore[override]
        """The names by code."""
        return texts(self._sections, f"names.{self._table}")

    @cached_property
    def _codes(self) -> dict[Any, int]:
        return {name: code for code, name in enumerate(self.names)}

    def __missing__(self, key: Any) -> int:
        return self._codes[key]

    def get(self, key: Any, default: Any = None) -> Any:
        """The code of a name."""
        return -1 if key is None else self._codes.get(key, default)

    def __contains__(self, key: object) -> bool:
        return key is None or key in self._codes


class KeptLedger(Ledger):
    """A ledger of kept sections, over the files that it was read from.

    Args:
        sections: What `keep` made.
        kind: The kinds of its events.
        files: The files of the call.

    Raises:
        KeyError, msgspec.DecodeError: The sections are not those of a ledger.
    """

    def __init__(self, sections: Sections, kind: Any, files: CallFiles) -> None:
        facts: _Facts = document(sections, "ledger", _Facts)
        self.parts = [_part(sections, number, part, files) for number, part in enumerate(facts.parts)]
        self.names = Names(*(KeptIntern(sections, table) for table in _TABLES))
        self.suffix, self.extra_refs = facts.suffix, facts.extra_refs
        self.conflicts, self.loose = facts.conflicts, facts.loose
        self.sessions, self.rows_read = set(facts.sessions), facts.rows_read
        self.durable_writes, self.malformed = facts.durable_writes, facts.malformed
        self._offsets = np.cumsum([0, *(part.rows for part in facts.parts)])
        self._starts = self._offsets.tolist()[:-1]
        self._inverse = None
        self.standing = slice(*facts.standing) if facts.standing else array(sections, "ledger.standing")
        self.kind = kind
        for name in COLUMNS:
            setattr(self, name, array(sections, f"ledger.{name}"))
        self.captured = {kind: _captured(sections, kind, self.names) for kind in CAPTURED}


def _part(sections: Sections, number: int, told: _Part, files: CallFiles) -> LedgerPart:
    data = files.artifacts[told.artifact].data
    part = LedgerPart(told.artifact, b"" if data is None else data)
    part.captured.clear()
    part.lines, part.rows_read, part.mended = told.lines, told.rows, told.mended
    for name in _PLACES:
        setattr(part, name, array(sections, f"part.{number}.{name}"))
    return part


def _captured(sections: Sections, kind: str, names: Names) -> Captured:
    keys = CAPTURED[kind]
    if f"captured.{kind}" not in sections:
        none = np.zeros(0, np.int32)
        return Captured(
            np.zeros(0, np.int64),
            {key: [] for key in keys if key not in CODED},
            {key: none for key in keys if key in CODED},
            names,
        )
    codes = {key: array(sections, f"captured.{kind}.{key}") for key in keys if key in CODED}
    late = partial(_values, sections, kind)
    return Captured(array(sections, f"captured.{kind}"), {}, codes, names, late)


def _values(sections: Sections, kind: str, key: str) -> list[Any]:
    found: list[Any] = document(sections, f"captured.{kind}.{key}", list[Any])
    return found
