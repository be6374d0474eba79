"""The report of ``riff-engine doctor`` drawn as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any


def draw(report: dict[str, Any]) -> str:
    """The report of `doctor.report` for people, ending in a newline. Nothing in it depends on a terminal."""
    return "".join(f"{_printable(line)}\n" for line in _lines(report))


def _lines(report: dict[str, Any]) -> Iterator[str]:
    yield f"call      {report['call']}"
    named = report["manifest"] or {}
    sessions = (
        [named["session_id"]] if named.get("session_id") else report["sessions"] or list(report["turns"])
    )
    yield f"session   {', '.join(sessions) or 'not stated'}"
    yield f"flow      {_flow(report['flow'])}"
    yield ""
    yield "files"
    yield from _table([_file(source) for source in report["sources"]])
    if report["tracks"]:
        yield "tracks"
        yield from _table([_track(track) for track in report["tracks"]])
    if report["ledger_rows"]:
        yield "ledger rows"
        yield from _table([(kind, str(count)) for kind, count in report["ledger_rows"].items()])
    yield from _not_understood(report["not_understood"])


def _flow(flow: dict[str, Any] | None) -> str:
    if flow is None:
        return "not read"
    size = f"{flow['states']} states, {flow['edges']} edges, {flow['slots']} slots"
    disagrees = "; states another version than it has" if flow["version_disagrees"] else ""
    return f"{flow['flow_id'] or 'unnamed'}: {size}{disagrees}"


def _file(source: dict[str, Any]) -> tuple[str, ...]:
    rows = "" if source["rows"] is None else "1 row" if source["rows"] == 1 else f"{source['rows']} rows"
    malformed = f"{source['malformed']} malformed" if source["malformed"] else ""
    reason = "" if source["status"] == "missing" else source["reason"] or ""
    return source["status"], source["artifact"], rows, malformed, reason


def _track(track: dict[str, Any]) -> tuple[str, ...]:
    length = "" if track["seconds"] is None else f"{track['seconds']} s at {track['sample_rate']} Hz"
    problem = track["unavailable"] or track["unaligned"] or ""
    return track["track"] or "?", track["artifact"] or "", f"channel {track['channel']}", length, problem


def _not_understood(found: dict[str, Any]) -> Iterator[str]:
    counts = found["counts"]
    if not any(counts.values()):
        yield "everything was understood"
        return
    yield "not understood"
    rows = [(f"{item['artifact']}:{item['line']}", item["code"], _line(item)) for item in found["lines"]]
    rows += [
        (
            f"{item['artifact']}:{item['line']}",
            "MALFORMED_EVENT",
            f"{item['kind']}: {', '.join(item['keys'])}",
        )
        for item in found["rows"]
    ]
    rows += [(item["artifact"], "value", item["value"]) for item in found["values"]]
    rows += [
        ("", "unknown type", f"{name or '(none)'} × {count}")
        for name, count in found["unknown_types"].items()
    ]
    rows += [("", item["code"], item["message"]) for item in found["refused"]]
    yield from _table(rows, blank=False)
    for name in ("lines", "rows"):
        more = counts[name] - len(found[name])
        if more:
            yield f"  and {more} more {name}"


def _line(item: dict[str, Any]) -> str:
    return f"{item['reason']}, {'read with replacements' if item['kept'] else 'skipped'}"


def _table(rows: Sequence[tuple[str, ...]], blank: bool = True) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield ("  " + "  ".join(cells)).rstrip()
    if blank:
        yield ""


def _printable(text: str) -> str:
    """The text without characters that a terminal would act on: names come from the recording."""
    return "".join(mark if mark.isprintable() else repr(mark)[1:-1] for mark in text)
