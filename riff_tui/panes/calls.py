"""The list of calls: age, completeness, who, and where each first went wrong."""

from __future__ import annotations

from engine.model.calls import CallRow
from riff_tui.content import Content, Target, listed
from riff_tui.spans import Spans, column
from riff_tui.text import plural

MINUTE, HOUR, DAY = 60, 3600, 86_400


def chosen(rows: list[CallRow], words: str) -> list[CallRow]:
    """The rows in which each word stands: in session, flow, kind, path, completeness or a finding's code."""
    wanted = words.casefold().split()
    return [row for row in rows if all(word in _searched(row) for word in wanted)]


def _searched(row: CallRow) -> str:
    error = row.error.code if row.error is not None else ""
    fields = (row.session_id, row.flow_id, row.kind, row.path, row.completeness, error, *row.findings)
    return " ".join(field for field in fields if field is not None).casefold()


def content(rows: list[CallRow], total: int, now: float) -> Content:
    """The rows of the picker.

    Args:
        rows: What is left by the filter.
        total: How many there are without it.
        now: Seconds since 1970, to tell ages by.
    """
    found = plural(total, "call") if len(rows) == total else f"{len(rows):,} of {plural(total, 'call')}"
    return Content(
        note=listed("complete", found),
        heading=lambda width: (
            column("age", 5, "dim"), column("", 1), column("session", 20, "dim"), column("kind", 8, "dim"),
            column("flow", 8, "dim"), ("first divergence", "dim"),
        ),
        count=len(rows),
        draw=lambda number, width: _line(rows[number], now),
        revision=(tuple(id(row) for row in rows), int(now) // MINUTE),
        target=lambda number: Target("visit", index=number),
    )  # fmt: skip


def _line(row: CallRow, now: float) -> Spans:
    lead = (
        column(age(row, now), 5, "dim"),
        column(*_state(row)),
        column(row.session_id or row.path, 20, "strong"),
        column(row.kind or "—", 8),
        column(row.flow_id or "—", 8, "dim"),
    )
    if row.error is not None:
        return (*lead, (f"{row.error.code}: {row.error.message}", "bad"))
    first = row.first_divergence
    if first is not None:
        return (
            *lead,
            (f"{first.code} ", "bad" if first.owner != "capture" else "warn"),
            (first.owner, "dim"),
        )
    if row.completeness != "complete":
        return (*lead, (", ".join(row.completeness_reasons), "warn"))
    return (*lead, ("none found by the checks of this version", "dim"))


def _state(row: CallRow) -> tuple[str, int, str]:
    if row.error is not None:
        return "✗", 1, "bad"
    return ("●", 1, "good") if row.completeness == "complete" else ("?", 1, "warn")


def age(row: CallRow, now: float) -> str:
    """How long ago a call began, by what was recorded; a dash where that is not known."""
    if row.started_us is None:
        return "—"
    passed = now - row.started_us / 1e6
    if passed < 0:
        return "later"
    for unit, size in (("d", DAY), ("h", HOUR), ("min", MINUTE)):
        if passed >= size:
            return f"{int(passed // size)}{unit}"
    return "now"
