"""What a pane hands to the list that draws it: rows on demand, and what each row stands for."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from engine.model.views import Cursor
from riff_tui.spans import Spans

Kind = Literal["none", "event", "visit", "lane", "unattributed", "slot", "field", "edge", "turn", "finding"]


@dataclass(frozen=True, slots=True)
class Target:
    """What a row stands for; Enter opens it and `t` moves the cursor to it.

    Attributes:
        index: The row's number in the engine's own list: a micro-event, a turn, an unattributed event.
        cursor, event_id: Where `t` goes, when the row has a place in time.
    """

    kind: Kind = "none"
    visit: int | None = None
    index: int | None = None
    name: str | None = None
    cursor: Cursor | None = None
    event_id: str | None = None


NOTHING = Target()
FOOT = 2
"""Lines of a foot."""


def _row_alone(row: int) -> tuple[int, int]:
    return row, row


def _no_target(row: int) -> Target:
    return NOTHING


@dataclass(frozen=True, slots=True)
class Content:
    """The rows of one pane at one moment.

    Attributes:
        note: Right end of the title: what the list holds, and whether that is all.
        heading: The column headings at a width; they stay when the list scrolls.
        foot: Lines below the rows that say all about the selected row, at a width; `FOOT` of them.
        draw: One row at a width; called for visible rows only.
        revision: Changes when a row's text may have changed; part of the key of every cached line.
        current: The row of the event cursor.
        select: The row to select when the list follows.
        marks: Roles of rows to mark beside the scrollbar.
        target: What a row stands for.
        item: First and last row of the item that a row belongs to.
    """

    note: Spans = ()
    heading: Callable[[int], Spans] | None = None
    foot: Callable[[int, int], list[Spans]] | None = None
    count: int = 0
    draw: Callable[[int, int], Spans] = lambda row, width: ()
    revision: Hashable = 0
    current: int | None = None
    select: int | None = None
    marks: Mapping[int, str] = field(default_factory=dict)
    target: Callable[[int], Target] = _no_target
    item: Callable[[int], tuple[int, int]] = _row_alone


def listed(state: str, *facts: str, role: str = "dim") -> Spans:
    """The note of a list: complete, partial, loading or failed; then what it holds."""
    return ((" · ".join((state, *filter(None, facts))), role),)


def fixed(lines: list[Spans], note: Spans = (), targets: Mapping[int, Target] | None = None) -> Content:
    """Content of lines that are already made."""
    known = targets or {}
    return Content(
        note=note,
        count=len(lines),
        draw=lambda row, width: lines[row],
        revision=tuple(lines),
        target=lambda row: known.get(row, NOTHING),
    )
