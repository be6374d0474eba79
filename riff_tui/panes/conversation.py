"""The conversation pane: one downward lane of who said what; a disagreement stands open with its diff."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from engine.debug import projection
from engine.model.artifact import Turn
from riff_tui.content import Content, Target
from riff_tui.spans import Spans, column
from riff_tui.text import plural, seconds, wrap
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
WRAPPED = 2_000
"""Longest conversation whose lines are broken to fit; a longer one shows one line an item."""
MOST = 3
"""Lines of one item's text."""
LEAD = 19
"""Cells before the text: lane and clock."""


def content(view: ViewState, width: int) -> Content:
    """The rows of the conversation pane at a width."""
    count = projection.conversation_count(view.call)
    note: Spans = ((f"{plural(count, 'item')} · complete", "dim"),)
    if count > WRAPPED:
        call = view.call
        return Content(
            note=note,
            count=count,
            draw=lambda row, _: item_lines(projection.conversation_item(call, row), 400)[0],
            current=view.answers.turn if count else None,
            select=view.answers.turn if count else None,
            target=lambda row: _target(projection.conversation_item(call, row), row),
        )
    return _wrapped(view, count, width, note)


def _wrapped(view: ViewState, count: int, width: int, note: Spans) -> Content:
    blocks, ends = _blocks(view.call, count, width)

    def item_at(row: int) -> int:
        return bisect_right(ends, row)

    def draw(row: int, _: int) -> Spans:
        item = item_at(row)
        return blocks[item][row - (ends[item - 1] if item else 0)]

    def rows_of(row: int) -> tuple[int, int]:
        item = min(item_at(row), count - 1)
        return (ends[item - 1] if item else 0), ends[item] - 1

    turn = view.answers.turn
    current = (ends[turn - 1] if turn else 0) if 0 <= turn < count else None
    return Content(
        note=note,
        count=ends[-1] if ends else 0,
        draw=draw,
        revision=width,
        current=current,
        select=current,
        target=lambda row: _target(projection.conversation_item(view.call, item_at(row)), item_at(row)),
        item=rows_of,
    )


@lru_cache(maxsize=4)
def _blocks(call: Call, count: int, width: int) -> tuple[list[list[Spans]], list[int]]:
    blocks = [item_lines(projection.conversation_item(call, index), width) for index in range(count)]
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
    lane, role = LANES[turn.lane]
    lead: Spans = ((f"{lane:<9}", f"{role} strong".strip()), (f"{seconds(turn.start_ms):>8}  ", "dim"))
    text = said(turn)
    room = max(10, width - LEAD)
    if text is None:
        parts = [f"? {turn.acted_on.get('reason') or 'text unavailable'}"]
        lines: list[Spans] = [(*lead, (parts[0], "warn"))]
    else:
        parts = wrap(text, room, MOST)
        lines = [(*lead, (parts[0], role))]
        lines += [((" " * LEAD, ""), (part, role)) for part in parts[1:]]
    for extra in (*_outcome(turn), *_not_acted_on(turn), *_disagreement(turn)):
        lines.append(((" " * LEAD, ""), *extra))
    return lines


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
    lines: list[Spans] = [((f"≠ sources disagree{rate}", "warn"),)]
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
    for name, turn in zip(("caller", "agent"), view.answers.spoken, strict=True):
        role = LANES[name][1]
        if turn is None:
            lines.append((column(name, 8, "dim"), ("— nothing yet", "dim")))
            continue
        text = said(turn)
        unknown = f"? {turn.acted_on.get('reason') or 'unavailable'}"
        what = (unknown, "warn") if text is None else (text, role)
        lines.append((column(name, 8, f"{role} strong".strip()), what, *_aside(turn)))
    return lines


def _aside(turn: Turn) -> Spans:
    """After a spoken line: which source was acted on, or what became of the output."""
    if turn.lane == "agent":
        return tuple((f"  {text}", role) for line in _outcome(turn)[:1] for text, role in line[:1])
    extra = [line[0] for line in _not_acted_on(turn)] or [(str(turn.acted_on.get("source") or ""), "dim")]
    if turn.agreement == "disagree":
        extra.append(("≠ sources disagree", "warn"))
    return tuple((f"  {text}", role) for text, role in extra)
