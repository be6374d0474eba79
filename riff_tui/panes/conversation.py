"""The conversation pane: one downward lane of who said what; a disagreement stands open with its diff."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from engine.model.artifact import Turn
from riff_tui import pages
from riff_tui.content import Content, Target, listed
from riff_tui.spans import Span, Spans, column, width_of
from riff_tui.text import clean, cut, plural, seconds, wrap
from riff_tui.viewstate import ViewState

if TYPE_CHECKING:
    from engine.hydrate.call import Call

LANES = {
    "agent": ("agent", ""),
    "caller": ("caller", "accent"),
    "dtmf": ("dtmf", "accent"),
    "barge_in": ("barge-in", "warn"),
    "decision": ("decided", "dim"),
}
OUTCOMES = {"failed": ("✗", "bad"), "interrupted": ("!", "warn")}
"""Glyph and role of an attempt that did not complete."""
WRAPPED = 1_000
"""Longest conversation whose lines are broken to fit; a longer one shows one line an item."""
MOST = 3
"""Lines of one item's text."""
VISIT: Span = ("──", "rule")
"""What begins the line that names a visit."""
LEAD = 19
"""Cells before the text: lane and clock."""


def content(view: ViewState, width: int) -> Content:
    """The rows of the conversation pane at a width."""
    items = pages.of(view.call).items
    count = len(items)
    note = listed("complete", plural(count, "item"))
    turn = view.answers.turn
    here = turn if turn is not None and 0 <= turn < count else None
    if count > WRAPPED:
        return Content(
            note=note,
            count=count,
            draw=lambda row, _: one_line(items[row]),
            current=here,
            select=here,
            target=lambda row: _target(items[row], row),
        )
    return _wrapped(view, count, width, note, here)


def _wrapped(view: ViewState, count: int, width: int, note: Spans, here: int | None) -> Content:
    items = pages.of(view.call).items
    blocks, ends = _blocks(view.call, count, width)

    def item_at(row: int) -> int:
        return bisect_right(ends, row)

    def draw(row: int, _: int) -> Spans:
        item = item_at(row)
        return blocks[item][row - (ends[item - 1] if item else 0)]

    def rows_of(row: int) -> tuple[int, int]:
        item = min(item_at(row), count - 1)
        return (ends[item - 1] if item else 0), ends[item] - 1

    start = None if here is None else ends[here - 1] if here else 0
    return Content(
        note=note,
        count=ends[-1] if ends else 0,
        draw=draw,
        revision=width,
        current=start if start is None or here is None else start + (blocks[here][0][0] == VISIT),
        select=start,
        target=lambda row: _target(items[item_at(row)], item_at(row)),
        item=rows_of,
    )


@lru_cache(maxsize=4)
def _blocks(call: Call, count: int, width: int) -> tuple[list[list[Spans]], list[int]]:
    """The lines of every item, and where they end; above the first item of a visit stands its name."""
    blocks: list[list[Spans]] = []
    visit: str | None = None
    items = pages.of(call).items
    for index in range(count):
        turn = items[index]
        changed, visit = turn.visit_id != visit, turn.visit_id
        name: list[Spans] = [(VISIT, (f" {visit or 'no visit'}", "dim"))] if changed else []
        blocks.append(name + item_lines(turn, width))
    return blocks, list(accumulate(map(len, blocks)))


def said(turn: Turn) -> str | None:
    """The text of an item: what was acted on, else what was observed, else what the model made."""
    text = turn.acted_on.get("text")
    if text is None:
        text = next((observed.text for observed in turn.observations if observed.text is not None), None)
    if text is None and turn.output:
        text = turn.output.get("generated")
    return text if text is None or isinstance(text, str) else str(text)


def item_lines(turn: Turn, width: int) -> list[Spans]:
    """An item: lane, clock and text; what else is known about it below."""
    text, role = _words(turn)
    parts = wrap(text, max(10, width - LEAD), MOST)
    lines: list[Spans] = [(*_lead(turn), (parts[0], role))]
    lines += [((" " * LEAD, ""), (part, role)) for part in parts[1:]]
    for extra in (*_outcome(turn), *_not_acted_on(turn), *_disagreement(turn)):
        lines.append(((" " * LEAD, ""), *extra))
    return lines


def one_line(turn: Turn) -> Spans:
    """An item of a long conversation: its visit, and what is special about it, stand before its text."""
    special = (*_outcome(turn)[:1], *_disagreement(turn)[:1])
    flags = ((f"{line[0][0]}  ", line[0][1]) for line in special)
    return (*_lead(turn), (f"{turn.visit_id or 'no visit'}  ", "dim"), *flags, _words(turn))


def _lead(turn: Turn) -> Spans:
    """Lane and clock."""
    lane, role = LANES[turn.lane]
    return ((f"{lane:<9}", f"{role} strong".strip()), (f"{seconds(turn.start_ms):>8}  ", "dim"))


def _words(turn: Turn) -> Span:
    """What was said, or why that is not known."""
    text = said(turn)
    if text is None:
        return (f"? {turn.acted_on.get('reason') or 'text unavailable'}", "warn")
    return (text, LANES[turn.lane][1])


def _outcome(turn: Turn) -> list[Spans]:
    """What became of an agent line when it was not simply completed, and what was heard of it."""
    if not turn.output:
        return []
    outcome, heard = turn.output.get("outcome"), turn.output.get("heard")
    lines: list[Spans] = []
    if outcome and outcome != "completed":
        glyph, role = OUTCOMES.get(str(outcome), ("?", "warn"))
        lines.append(((f"{glyph} {outcome}", role),))
    if isinstance(heard, str) and heard != turn.output.get("generated"):
        lines.append((("heard  ", "dim"), (heard, "")))
    return lines


def _not_acted_on(turn: Turn) -> list[Spans]:
    """A caller line of which nothing is recorded to have been acted on."""
    if turn.lane != "caller" or turn.acted_on.get("text") is not None:
        return []
    return [((f"? acted on: {turn.acted_on.get('reason') or 'unavailable'}", "warn"),)]


def _disagreement(turn: Turn) -> list[Spans]:
    """Two sources that disagree, one below the other; the words that differ stand out by weight."""
    if turn.agreement != "disagree":
        return []
    rate = "" if turn.wer is None else f" · WER {turn.wer:.2f}"
    lines: list[Spans] = [((f"≠ disagree{rate}", "warn"),)]
    for source in ("live", "timed"):
        words: list[tuple[str, str]] = [(f"{source:<7}", "dim")]
        for part in turn.diff:
            same = part.get("op") == "equal"
            text = part.get(source) or ("" if same else "∅")
            words.append((f"{text} ", "dim" if same else "warn strong"))
        lines.append(tuple(words))
    return lines


def _target(turn: Turn, index: int) -> Target:
    event = turn.acted_on.get("event_id") or (turn.refs[0] if turn.refs else None)
    return Target("turn", index=index, name=turn.item_id, event_id=event)


def spoken(view: ViewState, width: int) -> list[Spans]:
    """The acted-on caller line and the last agent line, at or before the cursor."""
    lines: list[Spans] = []
    absent = {"loading": "loading…", "failed": "? the conversation can't be read"}.get(
        view.talk, "— nothing yet"
    )
    for name, turn in zip(("caller", "agent"), view.answers.spoken, strict=True):
        if turn is None:
            lines.append((column(name, 8, "dim"), (absent, "dim")))
            continue
        (text, role), aside = _words(turn), _aside(turn)
        room = max(8, width - 9 - width_of(aside))
        name_role = f"{LANES[name][1]} strong".strip()
        lines.append((column(name, 8, name_role), (cut(clean(text), room), role), *aside))
    return lines


def _aside(turn: Turn) -> Spans:
    """After a spoken line: which source was acted on, or what became of the output."""
    if turn.lane == "agent":
        return tuple((f"  {text}", role) for line in _outcome(turn)[:1] for text, role in line[:1])
    source = turn.acted_on.get("source")
    extra = [line[0] for line in _not_acted_on(turn)]
    extra += [(f"acted on: {clean(str(source), 24)}", "dim")] if source and not extra else []
    if turn.agreement == "disagree":
        extra.append(("≠ sources disagree", "warn"))
    return tuple((f"  {text}", role) for text, role in extra)
