"""Breadcrumb and status line: where we are in the call, and what just happened."""

from __future__ import annotations

from riff_tui.actions import footer
from riff_tui.spans import Span, Spans, sides, width_of
from riff_tui.text import clean, cut, seconds
from riff_tui.viewstate import ViewState

SMALLEST = (60, 16)
"""Columns and rows of the smallest screen that still tells something."""
LONGEST = 34
"""Cells of one name in the trail."""


def mode(view: ViewState) -> Spans:
    """What kind of world is on the screen."""
    shown: Spans = ((" RECORDED ", "badge"),)
    return ((" REVEALED ", "warn strong"), *shown) if view.revealed else shown


def breadcrumb(view: ViewState, width: int) -> list[Spans]:
    """The trail of visits around the shown one, how many it leaves out, and how many visits are closed."""
    if small := _too_small(view):
        return [small]
    if view.phase != "ready":
        return [sides(((" ", ""), (view.title, "strong")), (), width)]
    visits = view.answers.visits
    if not visits:
        return [sides(((" — no visit was recorded", "warn"),), mode(view), width)]
    closed = len(visits) - len(view.open_visits)
    right: Spans = (((f"{closed:,} unopened ", "dim"),) if closed > 0 else ()) + mode(view)
    room = width - width_of(right) - 2
    first = last = view.shown_visit
    trail = _trail(view, first, last)
    grows = True
    while grows:
        grows = False
        for before, behind in ((1, 0), (0, 1)):
            wider = max(0, first - before), min(len(visits) - 1, last + behind)
            if wider != (first, last) and width_of(longer := _trail(view, *wider)) <= room:
                (first, last), trail, grows = wider, longer, True
    return [sides(trail, right, width)]


def _trail(view: ViewState, first: int, last: int) -> Spans:
    """The visits from one to another, and how many are before and after them."""
    visits = view.answers.visits
    spans: list[Span] = [(" ", "")]
    if first:
        spans.append((f"{first:,} before › ", "dim"))
    for visit in range(first, last + 1):
        spans += [*_crumb(visit, view), (" › " if visit < len(visits) - 1 else "", "dim")]
    more = len(visits) - 1 - last
    return (*spans, (f"{more:,} more", "dim")) if more else tuple(spans)


def _too_small(view: ViewState) -> Spans:
    """What to say on a screen that can't show enough."""
    width, height = view.size
    if not width or (width >= SMALLEST[0] and height >= SMALLEST[1]):
        return ()
    return ((f" {width}×{height} is too small, 80×24 shows all", "warn strong"),)


def _crumb(visit: int, view: ViewState) -> list[Span]:
    seen = view.answers.visits[visit]
    name = cut(clean(seen.visit_id), LONGEST)
    spans: list[Span] = []
    if visit == view.cursor.visit:
        spans.append((f"▶ {name}", "accent strong"))
    elif visit == view.look:
        spans.append((f"[{name}]", "strong"))
    else:
        spans.append((name, "dim"))
    if seen.findings:
        spans.append(("!", "bad" if visit == view.divergent else "warn"))
    return spans


def status(view: ViewState, width: int) -> list[Spans]:
    """Event cursor, clock and completeness on the left; on the right a notice, else the keys."""
    if view.phase == "loading":
        stage, share = view.loaded
        done = f" {share:.0%}" if share is not None else ""
        keys = _keys((("Esc", "cancel"), ("q", "quit")))
        told = keys if view.notice is None else ((f"{view.notice[0]} ", view.notice[1]),)
        return [sides(((f" opening{done}  {stage}", ""),), told, width)]
    if view.phase == "failed":
        return [sides(((" failed ", "bad strong"),), _keys((("?", "keys"), ("q", "quit"))), width)]
    left = _place(view)
    if view.pending:
        return [sides(left[:2], ((f"{view.pending} × the next motion ", "accent strong"),), width)]
    if view.notice is not None:
        text, role = view.notice
        left = left if width_of(left) + len(text) + 3 <= width else left[:1]
        return [sides(left, ((cut(clean(text), max(0, width - width_of(left) - 3)) + " ", role),), width)]
    right: Spans = ()
    for word in footer():
        grown = (*right, *_keys((word,)))
        if width_of(left) + width_of(grown) + 2 > width:
            break
        right = grown
    return [sides(left, right, width)]


def _place(view: ViewState) -> Spans:
    now = view.answers
    clock = seconds(now.clock_ms)
    if now.clock == "derived":
        clock = f"~{clock}"
    whole = view.complete
    spans: list[Span] = [(f" {now.event_id or '—'}", "strong"), (f"  {clock}  ", "")]
    spans.append(("✓ complete" if whole else "◐ incomplete", "good" if whole else "warn"))
    if view.cursor.unattributed is not None:
        spans.append(("  unattributed", "warn"))
    if view.gone:
        spans.append(("  ! folder gone; open call works", "warn"))
    if view.look is not None:
        spans.append((f"  looking at {view.answers.visit_id}, H back", "accent"))
    return tuple(spans)


def _keys(words: tuple[tuple[str, str], ...]) -> Spans:
    spans: list[Span] = []
    for key, word in words:
        spans += [(key, "strong"), (f" {word}  ", "dim")]
    return tuple(spans)
