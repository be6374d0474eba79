"""Visits, kept as columns: one becomes a `Visit` when it is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from engine.hydrate.kept.sections import Sections, Writing, array, document, texts
from engine.hydrate.visits import Visit
from engine.sources.part import Intern

_EVENTS = ("entered", "exited", "commit", "closed_by")
"""Event numbers; -1 for None."""
_TEXTS = (
    "state_id", "from_state", "entry_edge", "to_state", "exit_reason", "exit_edge", "commit_to",
    "commit_edge",
)  # fmt: skip
"""Codes of one table; -1 for None."""
_MANY = 256
"""From so many on, all visits are made at once."""


def keep(visits: Sequence[Visit], into: Writing) -> None:
    """Add the sections of visits."""
    count = len(visits)
    into.put_texts("visit.ids", [visit.visit_id for visit in visits])
    into.put("visit.turns", [visit.commit_turn for visit in visits])
    into["visit.ordinal"] = np.fromiter((visit.ordinal for visit in visits), np.int64, count)
    into["visit.first"] = np.fromiter((visit.first for visit in visits), np.int64, count)
    into["visit.entry_missing"] = np.fromiter((visit.entry_missing for visit in visits), np.bool_, count)
    for name in _EVENTS:
        events = (getattr(visit, name) for visit in visits)
        into[f"visit.{name}"] = np.fromiter((-1 if one is None else one for one in events), np.int64, count)
    table = Intern()
    for name in _TEXTS:
        into[f"visit.{name}"] = np.fromiter(
            (table[getattr(visit, name)] for visit in visits), np.int32, count
        )
    into.put_texts("visit.texts", table.names)


class KeptVisits(Sequence[Visit]):
    """The visits of a call."""

    def __init__(self, sections: Sections) -> None:
        self._sections = sections
        self._length = len(array(sections, "visit.first"))
        self._made: dict[int, Visit] = {}
        self._whole: list[Visit] | None = None

    @cached_property
    def ids(self) -> list[str]:
        """The id of each visit."""
        return texts(self._sections, "visit.ids")

    @cached_property
    def _texts(self) -> list[str | None]:
        return [*texts(self._sections, "visit.texts"), None]

    @cached_property
    def _turns(self) -> list[int | None]:
        found: list[int | None] = document(self._sections, "visit.turns", list[int | None])
        return found

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Visit]:
        return iter(self._all())

    @overload
    def __getitem__(self, index: int) -> Visit: ...
    @overload
    def __getitem__(self, index: slice) -> list[Visit]: ...
    def __getitem__(self, index: int | slice) -> Visit | list[Visit]:
        if isinstance(index, slice):
            wanted = range(self._length)[index]
            return self._all()[index] if len(wanted) >= _MANY else [self[at] for at in wanted]
        at = range(self._length)[index]
        if self._whole is not None:
            return self._whole[at]
        visit = self._made.get(at)
        if visit is None:
            (visit,) = self._some(slice(at, at + 1))
            visit = self._made.setdefault(at, visit)
        return visit

    def _all(self) -> list[Visit]:
        whole = self._whole
        if whole is None:
            whole = self._some(slice(0, self._length))
            for at, visit in list(self._made.items()):
                whole[at] = visit
            self._whole = whole
        return whole

    def _some(self, which: slice) -> list[Visit]:
        """Visits as the columns say; the fields are in the order of `Visit`."""

        def column(name: str) -> list[Any]:
            values: NDArray[Any] = array(self._sections, f"visit.{name}")[which]
            found: list[Any] = values.tolist()
            if name in _TEXTS:
                return list(map(self._texts.__getitem__, found))
            return [None if one < 0 else one for one in found] if name in _EVENTS else found

        columns = [
            self.ids[which], column("state_id"), column("ordinal"), column("first"), column("entered"),
            column("exited"), column("commit"), column("closed_by"), column("entry_missing"),
            column("from_state"), column("entry_edge"), column("to_state"), column("exit_reason"),
            column("exit_edge"), column("commit_to"), column("commit_edge"), self._turns[which],
        ]  # fmt: skip
        return list(map(Visit, *columns))


class Numbers(Mapping[str, int]):
    """Visit id → number."""

    def __init__(self, visits: KeptVisits) -> None:
        self._visits = visits

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self._visits.ids)}

    def __getitem__(self, name: str) -> int:
        return self._numbers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._visits)
