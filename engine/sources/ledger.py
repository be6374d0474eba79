"""Both event ledgers, file by file (contract 1.3, 1.9): one entry a row, payload bytes left where they are.

Regular rows are decoded in blocks by typed decoders; a block that holds an odd row is decoded line by line,
and only the odd rows pay for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

import msgspec
import numpy as np

from engine.model.errors import EngineError
from engine.model.events import DIALECTS, EVENT_KEYS
from engine.model.limits import Limits
from engine.sources import rowschema, tolerant
from engine.sources.blocks import BlockWriter
from engine.sources.part import Ints, LedgerPart, LineFault, LooseRow, Names
from engine.sources.rowschema import Row

__all__ = [
    "Ints",
    "LedgerPart",
    "LineFault",
    "LooseRow",
    "Names",
    "check_depth",
    "line_ends",
    "read_part",
    "start_depth_check",
]
_BLOCK = 2048
_SCAN = 1 << 20
"""Bytes looked at in one go: what is made of them stays in memory that is used again for the next."""


def line_ends(data: bytes | memoryview) -> Ints:
    """Offsets just past each line's newline; a last line without one ends at the end of the data."""
    octets = np.frombuffer(data, dtype=np.uint8)
    found = [
        np.flatnonzero(octets[at : at + _SCAN] == 0x0A) + (at + 1) for at in range(0, len(octets), _SCAN)
    ]
    ends = np.concatenate(found) if found else np.zeros(0, np.int64)
    if len(octets) and (not len(ends) or ends[-1] != len(octets)):
        ends = np.append(ends, len(octets))
    return ends.astype(np.int64, copy=False)


def check_depth(artifact: str, data: bytes | memoryview, ends: Ints, limits: Limits) -> None:
    """Refuse a file in which a line nests deeper than the limit.

    Counting opening brackets a line is a cheap upper bound; only lines above it are walked.

    Raises:
        EngineError: ``LIMIT_EXCEEDED``, with the line.
    """
    octets = np.frombuffer(data, dtype=np.uint8)
    first = 0
    for at in range(0, len(octets), _SCAN):
        stop = min(at + _SCAN, len(octets))
        last = int(np.searchsorted(ends, stop, "left"))
        begin = int(ends[first - 1]) if first else 0
        finish = int(ends[last]) if last < len(ends) else len(octets)
        opening = np.flatnonzero((octets[begin:finish] | 0x20) == 0x7B) + begin
        span = ends[first : last + 1]
        counts = np.diff(np.searchsorted(opening, span, "left"), prepend=0)
        for index in np.flatnonzero(counts > limits.json_depth).tolist():
            line = first + index
            start = int(ends[line - 1]) if line else 0
            if tolerant.depth(bytes(data[start : int(ends[line])])) > limits.json_depth:
                raise EngineError(
                    "LIMIT_EXCEEDED",
                    f"{artifact}: line {line + 1} nests deeper than {limits.json_depth} levels",
                    limit="json_depth",
                    maximum=limits.json_depth,
                    artifact=artifact,
                    line=line + 1,
                )
        first = last + 1
        if first >= len(ends):
            break


def start_depth_check(
    artifact: str, data: bytes | memoryview, ends: Ints, limits: Limits
) -> Callable[[], None]:
    """Begin `check_depth` beside the decoding (numpy lets other threads run).

    Returns:
        A function that waits for it and raises what it found.
    """
    found: list[EngineError] = []

    def work() -> None:
        try:
            check_depth(artifact, data, ends, limits)
        except EngineError as error:
            found.append(error)

    thread = threading.Thread(target=work, name="riff-depth", daemon=True)
    thread.start()

    def finish() -> None:
        thread.join()
        if found:
            raise found[0]

    return finish


def read_part(
    artifact: str,
    data: bytes | memoryview,
    ends: Ints,
    names: Names,
    limits: Limits,
    progress: Callable[[float], None] | None = None,
    *,
    begin: int = 0,
    line_offset: int = 0,
    room: int = 0,
) -> LedgerPart:
    """Read one ledger file, or some of its lines.

    Args:
        artifact: The file's name inside the call folder.
        data: Its bytes, decompressed.
        ends: What `line_ends` gave for them, or neighbours among that.
        names: The call's shared interners.
        limits: What to refuse.
        progress: Told now and then how much is read, 0 to 1; what it raises ends the reading.
        begin: Where the first line of ``ends`` begins.
        line_offset: How many lines stand before it.
        room: For how many rows to make room, where some of another part are to follow.

    Raises:
        EngineError: ``LIMIT_EXCEEDED`` for too many lines, one over ``line_bytes`` or a row nested too deep.
    """
    if len(ends) > limits.events:
        raise EngineError(
            "LIMIT_EXCEEDED", f"{artifact}: more than {limits.events} events",
            limit="events", maximum=limits.events, artifact=artifact,
        )  # fmt: skip
    part = LedgerPart(artifact, data)
    part.lines = len(ends)
    starts = np.concatenate((np.array([begin]), ends[:-1])) if len(ends) else np.zeros(0, np.int64)
    if len(starts) and not begin and bytes(data[:3]) == b"\xef\xbb\xbf":
        starts[0] = 3
    if len(ends) and int((ends - starts).max()) > limits.line_bytes:
        line = int((ends - starts).argmax()) + 1 + line_offset
        raise EngineError(
            "LIMIT_EXCEEDED",
            f"{artifact}: line {line} is longer than {limits.line_bytes} bytes",
            limit="line_bytes",
            maximum=limits.line_bytes,
            artifact=artifact,
            line=line,
        )
    writer = BlockWriter(part, names, max(room, len(ends)))
    view = memoryview(data)
    numbers = np.arange(1, len(ends) + 1) + line_offset
    for at in range(0, len(ends), _BLOCK):
        end = min(at + _BLOCK, len(ends))
        if progress is not None and not at % (_BLOCK * 16):
            progress(at / len(ends))
        rows = _fast_block(view, starts[at:end], int(ends[end - 1]))
        if rows is not None:
            writer.add(rows, starts[at:end], ends[at:end], numbers[at:end])
        else:
            _slow_block(_Lines(view, starts, ends, numbers), at, end, writer, limits)
    writer.finish()
    return part


def _fast_block(view: memoryview, starts: Ints, end: int) -> list[Row] | None:
    """The rows of a block of lines, or None when any of them needs a closer look."""
    octets = np.frombuffer(view, np.uint8)
    if int(starts[-1]) >= len(view) or not (octets[starts] == 0x7B).all():
        return None
    block = view[int(starts[0]) : end]
    try:
        if not _is_text(block):
            return None
        rows = rowschema.decoder.decode_lines(block)
    except (msgspec.DecodeError, RecursionError):
        return None
    return rows if len(rows) == len(starts) else None


def _is_text(block: memoryview) -> bool:
    octets = np.frombuffer(block, np.uint8)
    if int(octets.max()) < 0x80:
        return True
    try:
        str(block, "utf-8")
    except UnicodeDecodeError:
        return False
    return True


class _Lines(NamedTuple):
    """Where the lines of a file lie, and their numbers."""

    view: memoryview
    starts: Ints
    ends: Ints
    numbers: Ints

    def raw(self, index: int) -> bytes:
        return bytes(self.view[int(self.starts[index]) : int(self.ends[index])])

    def last_filled(self) -> int:
        """Index of the last line that is not blank."""
        last = len(self.ends) - 1
        while last > 0 and not self.raw(last).strip():
            last -= 1
        return last


def _slow_block(where: _Lines, at: int, stop: int, writer: BlockWriter, limits: Limits) -> None:
    rows: list[Row] = []
    read: list[int] = []
    odd: dict[int, rowschema.Mended] = {}
    last = where.last_filled()
    part = writer.part
    for index in range(at, stop):
        raw = where.raw(index)
        if not raw.strip(b" \t\r\n"):
            continue
        try:
            if not raw.isascii():
                raw.decode("utf-8")
            rows.append(rowschema.decoder.decode(raw))
            read.append(index)
            continue
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass
        line = int(where.numbers[index])
        mended = _mend_line(raw, line, index == last, part, limits)
        if mended is None:
            continue
        if mended.row is None:
            part.loose.append(_loose(mended, line))
        else:
            odd[len(rows)] = mended
            rows.append(mended.row)
            read.append(index)
        session = mended.body.get("session_id")
        if isinstance(session, str):
            part.sessions.add(session)
    if rows:
        chosen = np.array(read, np.int64)
        writer.add(rows, where.starts[chosen], where.ends[chosen], where.numbers[chosen], odd)


def _mend_line(
    raw: bytes, line: int, is_last: bool, part: LedgerPart, limits: Limits
) -> rowschema.Mended | None:
    try:
        parsed = tolerant.parse(raw, limits)
    except EngineError as error:
        raise EngineError(
            error.code, f"{part.artifact}: line {line}: {error.message}",
            **error.details, artifact=part.artifact, line=line,
        ) from None  # fmt: skip
    except (ValueError, RecursionError):
        truncated = is_last and not raw.endswith(b"\n")
        part.faults.append(LineFault(line, truncated, False, "not JSON"))
        return None
    if not isinstance(parsed.value, dict):
        part.faults.append(LineFault(line, False, False, "not an object"))
        return None
    if parsed.bad_bytes:
        part.faults.append(LineFault(line, False, True, "not UTF-8"))
    return rowschema.mend(parsed.value, parsed.nulled, parsed.bad_text)


def _loose(mended: rowschema.Mended, line: int) -> LooseRow:
    body = mended.body

    def text(key: str) -> str | None:
        value = body.get(key)
        return value if isinstance(value, str) else None

    kind = DIALECTS.get(mended.source_type, mended.source_type)
    return LooseRow(
        line, mended.source_type, kind if kind in EVENT_KEYS else "other", mended.clock_ms,
        text("state_id"), text("visit_id"), text("session_id"), mended.malformed, body,
    )  # fmt: skip
