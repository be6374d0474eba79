"""The events pane: every visit with its micro-events, and the lane of events that no visit owns."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

from engine.model.views import Cursor, EventRow
from riff_tui import pages
from riff_tui.content import Content, Target, listed
from riff_tui.spans import SEVERITY, Spans, column, sides, width_of
from riff_tui.text import clean, cut, cut_middle, plural, seconds
from riff_tui.viewstate import ViewState

if TYPE_CHECKING:
    from engine.hydrate.call import Call

KIND, NARROW_KIND = 23, 20
"""Cells of an event's kind, which is cut in its middle when it is longer."""
LAST = 20
"""Events at the end of a call that are asked how wide its numbers get."""
PROVENANCE = {"recorded": (" ", "dim"), "derived": ("~", "dim"), "simulated": ("≈", "sim")}


class Layout(NamedTuple):
    """Which row is what: headings of all visits, events of the open ones, then the lane.

    Attributes:
        starts: Heading row of each open visit.
        sums: Event rows above and inside each open visit.
        lane: Unattributed events.
    """

    visits: int
    opens: tuple[int, ...]
    starts: tuple[int, ...]
    sums: tuple[int, ...]
    lane: int
    lane_open: bool

    @property
    def lane_row(self) -> int:
        """Heading row of the lane."""
        return self.visits + (self.sums[-1] if self.sums else 0)

    @property
    def total(self) -> int:
        """All rows."""
        lane = 1 + (self.lane if self.lane_open else 0) if self.lane else 0
        return self.lane_row + lane

    def row_of(self, cursor: Cursor) -> int:
        """The row of an event, or of its visit's heading when that is closed."""
        at = bisect_right(self.opens, cursor.visit) - 1
        if at >= 0 and self.opens[at] == cursor.visit:
            return self.starts[at] + 1 + cursor.micro
        return cursor.visit + (self.sums[at] if at >= 0 else 0)

    def event_at(self, row: int) -> tuple[int, int]:
        """Visit and micro-event of a row above the lane; micro −1 is the heading."""
        at = bisect_right(self.starts, row) - 1
        if at < 0:
            return row, -1
        inside = row - self.starts[at] - 1
        above = self.sums[at - 1] if at else 0
        if inside < self.sums[at] - above:
            return self.opens[at], inside
        return row - self.sums[at], -1


@lru_cache(maxsize=8)
def _layout(call: Call, opens: frozenset[int], lane_open: bool) -> Layout:
    lists = pages.of(call)
    visits = len(lists.visits)
    ordered = tuple(sorted(visit for visit in opens if 0 <= visit < visits))
    starts: list[int] = []
    sums: list[int] = []
    total = 0
    for visit in ordered:
        starts.append(visit + total)
        total += lists.visits[visit].micro_events
        sums.append(total)
    return Layout(visits, ordered, tuple(starts), tuple(sums), len(lists.lane), lane_open)


def layout(view: ViewState) -> Layout:
    """The rows of a view."""
    return _layout(view.call, view.open_visits, view.lane_open or view.cursor.unattributed is not None)


def content(view: ViewState) -> Content:
    """The rows of the events pane."""
    rows = layout(view)
    current = rows.row_of(view.cursor)
    if view.cursor.unattributed is not None:
        event_id = view.answers.event_id or ""
        current = rows.lane_row + 1 + pages.of(view.call).lane.number_of(event_id)
    looked = rows.row_of(Cursor(view.shown_visit, -1)) if view.look is not None else current
    note = listed("complete", plural(rows.visits, "visit"))
    if rows.lane:
        note = (*note, (" · ", "dim"), (f"{rows.lane:,} unattributed", "warn"))
    points = frozenset(point.text for point in view.breakpoints if point.enabled)
    return Content(
        note=note,
        count=rows.total,
        draw=partial(_draw, view.call, rows, points, view.divergent),
        revision=(rows, points),
        current=current,
        select=looked,
        marks={rows.row_of(cursor): role for cursor, role in reversed(view.marked)},
        target=partial(_target, rows),
    )


def _draw(
    call: Call, rows: Layout, points: frozenset[str], divergent: int | None, row: int, width: int
) -> Spans:
    if row == rows.lane_row and rows.lane:
        glyph = "▾" if rows.lane_open else "▸"
        left = ((f"{glyph} unattributed", "warn"), ("  events that no visit can be shown to own", "dim"))
        return sides(left, ((plural(rows.lane, "event"), "warn"),), width)
    if row > rows.lane_row:
        return _event(pages.of(call).lane[row - rows.lane_row - 1], points, width, _columns(call))
    visit, micro = rows.event_at(row)
    if micro < 0:
        return _heading(call, visit, visit in rows.opens, visit == divergent, points, width)
    return _event(pages.of(call).events(visit)[micro], points, width, _columns(call))


def _heading(
    call: Call, visit: int, is_open: bool, diverges: bool, points: frozenset[str], width: int
) -> Spans:
    """A visit: opened or not, its name and goal, when it began, how much is in it, what is wrong with it."""
    seen = pages.of(call).visits[visit]
    start = seconds(seen.first_ms) if seen.micro_events else "—"
    stop = "●" if f"state:{seen.state_id}" in points else " "
    right: list[tuple[str, str]] = [
        (plural(seen.micro_events, "event"), "dim"),
        (f"{start:>10} ", "dim"),
    ]
    if seen.severity is None:
        right.append(("    ", ""))
    else:
        glyph, role = SEVERITY[seen.severity]
        right.append((f"{glyph} {seen.findings:<2}", role))
    room = max(8, width - width_of(right) - 3)
    name = cut_middle(seen.visit_id, room)
    left = [(f"{'▾' if is_open else '▸'}{stop}", "dim"), (name, "strong bad" if diverges else "strong")]
    about = " first divergence" if diverges else f"  {seen.goal or ''}"
    left.append((cut(clean(about), room - width_of(left[1:])), "bad" if diverges else "dim"))
    return sides(tuple(left), tuple(right), width)


@lru_cache(maxsize=2)
def _columns(call: Call) -> tuple[int, int]:
    """Cells of seq and clock: what the last event of the call takes."""
    lists = pages.of(call)
    rows = lists.events(len(lists.visits) - 1)[-LAST:] if lists.visits else []
    seq = max((len(str(row.seq)) for row in rows if row.seq is not None), default=0)
    return max(4, seq), max(9, *(len(seconds(row.clock_ms)) for row in rows), 0)


def _event(row: EventRow, points: frozenset[str], width: int, columns: tuple[int, int]) -> Spans:
    """An event: seq, clock, provenance, kind and what it means."""
    kind_width = KIND if width >= 72 else NARROW_KIND
    stop = "●" if f"event:{row.kind}" in points else " "
    glyph, role = PROVENANCE[row.provenance]
    seq = "" if row.seq is None else str(row.seq)
    clock_glyph = "~" if row.clock == "derived" else " "
    return (
        (f" {stop}{seq:>{columns[0]}} ", "dim"),
        (f"{seconds(row.clock_ms):>{columns[1]}}{clock_glyph}", "dim"),
        (f"{glyph} ", role),
        column(cut_middle(row.kind, kind_width), kind_width, "dim" if row.provenance == "derived" else ""),
        (row.meaning, "" if row.attribution != "none" else "warn"),
    )


def _target(rows: Layout, row: int) -> Target:
    if row == rows.lane_row and rows.lane:
        return Target("lane")
    if row > rows.lane_row:
        return Target("unattributed", index=row - rows.lane_row - 1)
    visit, micro = rows.event_at(row)
    if micro < 0:
        return Target("visit", visit=visit)
    return Target("event", visit=visit, index=micro, cursor=Cursor(visit, micro))
