"""Breadcrumb and status line: where we are in the call, and what just happened."""

from __future__ import annotations

from engine.model.views import Crumb
from riff_tui.actions import footer
from riff_tui.spans import Span, Spans, sides, width_of
from riff_tui.text import clean, cut, seconds
from riff_tui.viewstate import ViewState

LONGEST = 34
"""Cells of one name in the trail."""


def mode(view: ViewState) -> Spans:
    """What kind of world is on the screen."""
    shown: Spans = ((" RECORDED ", "badge"),)
    return ((" REVEALED ", "warn strong"), *shown) if view.revealed else shown


def breadcrumb(view: ViewState, width: int) -> list[Spans]:
    """The trail of visits around the shown one, and how many it leaves out."""
    right = mode(view)
    if view.phase != "ready":
        return [sides(((" ", ""), (view.title, "strong")), right, width)]
    crumbs = view.answers.crumbs
    at = view.shown_visit
    room = width - width_of(right) - 26
    left = right_end = at
    used = _cells(crumbs[at])
    while left > 0 or right_end < len(crumbs) - 1:
        grown = False
        if left > 0 and used + _cells(crumbs[left - 1]) <= room:
            left, grown = left - 1, True
            used += _cells(crumbs[left])
        if right_end < len(crumbs) - 1 and used + _cells(crumbs[right_end + 1]) <= room:
            right_end, grown = right_end + 1, True
            used += _cells(crumbs[right_end])
        if not grown:
            break
    spans: list[Span] = [(" ", "")]
    if left:
        spans.append((f"{left:,} before › ", "dim"))
    for crumb in crumbs[left : right_end + 1]:
        spans += [*_crumb(crumb, view), (" › " if crumb.index < len(crumbs) - 1 else "", "dim")]
    more = len(crumbs) - 1 - right_end
    if more:
        spans.append((f"{more:,} more", "dim"))
    return [sides(tuple(spans), right, width)]


def _cells(crumb: Crumb) -> int:
    return min(LONGEST, len(crumb.visit_id)) + 5 + (2 if crumb.current else 0)


def _crumb(crumb: Crumb, view: ViewState) -> list[Span]:
    name = cut(clean(crumb.visit_id), LONGEST)
    spans: list[Span] = []
    if crumb.index == view.cursor.visit:
        spans.append((f"▶ {name}", "accent strong"))
    elif crumb.index == view.look:
        spans.append((f"[{name}]", "strong"))
    else:
        spans.append((name, "dim"))
    if crumb.findings:
        spans.append(("!", "bad" if crumb.index == view.divergent else "warn"))
    return spans


def status(view: ViewState, width: int) -> list[Spans]:
    """Event cursor, clock and completeness on the left; on the right a notice, else the keys."""
    if view.phase == "loading":
        stage, share = view.loaded
        done = f" {share:.0%}" if share is not None else ""
        return [sides(((f" opening{done}  {stage}", ""),), _keys((("Esc", "cancel"), ("q", "quit"))), width)]
    if view.phase == "failed":
        return [sides(((" failed ", "bad strong"),), _keys((("q", "quit"),)), width)]
    left = _place(view)
    if view.pending:
        return [sides(left, ((f"{view.pending}… then a motion ", "accent strong"),), width)]
    if view.notice is not None:
        text, role = view.notice
        if width_of(left) + len(text) + 3 > width:
            left = left[:1]
        return [sides(left, ((cut(clean(text), max(0, width - width_of(left) - 3)) + " ", role),), width)]
    right: Spans = ()
    for word in footer():
        grown = (*right, *_keys((word,)))
        if width_of(left) + width_of(grown) + 2 > width:
            break
        right = grown
    return [sides(left, right, width)]


def _place(view: ViewState) -> Spans:
    now = view.answers.status
    clock = seconds(now.clock_ms)
    if now.clock == "derived":
        clock = f"~{clock}"
    whole = now.completeness == "complete"
    spans: list[Span] = [(f" {now.event_id or '—'}", "strong"), (f"  {clock}  ", "")]
    spans.append(("● complete" if whole else "◐ incomplete", "good" if whole else "warn"))
    if view.cursor.unattributed is not None:
        spans.append(("  unattributed", "warn"))
    if view.look is not None:
        spans.append((f"  looking at {view.answers.visit_id}, H back", "accent"))
    return tuple(spans)


def _keys(words: tuple[tuple[str, str], ...]) -> Spans:
    spans: list[Span] = []
    for key, word in words:
        spans += [(key, "strong"), (f" {word}  ", "dim")]
    return tuple(spans)
