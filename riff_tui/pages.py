"""The lists of an open call, read by pages from the command engine (contract 3.2): only what is looked at.

A list knows its length and gives any of its rows; the pages asked for last are kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from engine.model.artifact import Cell, Finding, Turn
from engine.model.views import Cursor
from riff_tui import client

if TYPE_CHECKING:
    from engine.hydrate.call import Call
    from engine.service.actions.lists import ListedEvent, VisitRow
    from engine.service.actions.overview import Opened

T = TypeVar("T")
SIZE = 32
"""Rows of a page: about what a screen shows."""
KEPT = 24
"""Pages of one list that are kept: with all of a conversation whose lines are broken to fit."""
GUARDS = 64
"""Events whose values are kept: guards of the visits that were looked at last."""
OPEN_VISITS = 8
"""Visits whose lists of events are kept."""


class Listed(Sequence[T], Generic[T]):
    """One list of a call.

    Args:
        call: The call.
        action: What lists it.
        rows: The field of the action's result with the rows.
        args: What is listed.
        size: Rows of a page.
    """

    def __init__(self, call: Call, action: str, rows: str, size: int = SIZE, **args: Any) -> None:
        self._call = call
        self._action = action
        self._rows = rows
        self.size = size
        self._args = args
        self._pages: OrderedDict[int, Any] = OrderedDict()
        self._total: int | None = None

    def __len__(self) -> int:
        if self._total is None:
            self.page(0)
        return self._total or 0

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self[at] for at in range(len(self))[index]]
        if index < 0:
            index += len(self)
        if index < 0:
            raise IndexError(index)
        row: T = getattr(self.page(index // self.size), self._rows)[index % self.size]
        return row

    def page(self, number: int) -> Any:
        """The result that holds a page's rows.

        Raises:
            IndexError: The list ends before it.
        """
        found = self._pages.get(number)
        if found is None:
            if self._total is not None and number * self.size >= max(1, self._total):
                raise IndexError(number)
            told = client.ask(
                self._call, self._action, None, fields=[], limit=self.size,
                after=str(number * self.size) if number else None, **self._args,
            )  # fmt: skip
            found = self._pages[number] = told.result
            self._total = told.page.total
            if len(self._pages) > KEPT:
                self._pages.popitem(last=False)
        self._pages.move_to_end(number)
        return found

    def number_of(self, event_id: str) -> int:
        """Where an event stands in a list of events.

        Raises:
            EngineError: ``UNKNOWN_EVENT``.
        """
        told = client.ask(
            self._call, self._action, None, fields=[], limit=1, from_event=event_id, **self._args
        )  # fmt: skip
        return int(told.page.next if told.page.next is not None else told.page.total) - 1


class Lists:
    """The lists of one call."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self.opened: Opened = client.ask(call, "open", None, fields=[]).result
        self.visits: Listed[VisitRow] = Listed(call, "list_visits", "visits")
        self.lane: Listed[ListedEvent] = Listed(call, "list_events", "events", unattributed=True)
        self.items: Listed[Turn] = Listed(call, "list_conversation", "items", size=48)
        self.findings: Listed[Finding] = Listed(call, "list_findings", "findings", size=100, by="severity")
        self._events: OrderedDict[int, Listed[ListedEvent]] = OrderedDict()
        self._held: OrderedDict[str, dict[str, Cell]] = OrderedDict()

    def events(self, visit: int) -> Listed[ListedEvent]:
        """The micro-events of a visit."""
        found = self._events.get(visit)
        if found is None:
            name = self.visits[visit].visit_id
            found = self._events[visit] = Listed(self._call, "list_events", "events", visit_id=name)
            if len(self._events) > OPEN_VISITS:
                self._events.popitem(last=False)
        self._events.move_to_end(visit)
        return found

    def held(self, event_id: str) -> dict[str, Cell]:
        """What each slot held at an event, wherever the cursor is."""
        found = self._held.get(event_id)
        if found is None:
            at = client.seek(self._call, event_id=event_id)
            rows = client.ask(self._call, "inspect_variables", at, fields=[]).result.slots
            found = self._held[event_id] = {row.slot: row.at_cursor for row in rows}
            if len(self._held) > GUARDS:
                self._held.popitem(last=False)
        self._held.move_to_end(event_id)
        return found


@lru_cache(maxsize=2)
def of(call: Call) -> Lists:
    """The lists of a call."""
    return Lists(call)


def cursor_of(call: Call, finding: int) -> Cursor:
    """Where a finding of the list stands."""
    findings = of(call).findings
    place = findings.page(finding // findings.size).cursors[finding % findings.size]
    return client.cursor_at(call, place)
