"""``tool_fixtures.jsonl``: recorded tool reads (contract 1.1)."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from engine.model.events import Key
from engine.model.limits import Limits
from engine.sources.contents import pick
from engine.sources.files import CallFiles
from engine.sources.ledger import LineFault
from engine.sources.lines import Line, count_malformed, fit, read_lines


class Fixture(msgspec.Struct, frozen=True):
    """One recorded tool read. None is "not stated".

    Attributes:
        line: From 1.
        args: What the tool was called with; result: any JSON.
        malformed: Keys that are wrong, or lack and are needed (`tool`), sorted.
    """

    line: int
    tool: str | None
    call_id: str | None
    args: dict[str, Any] | None
    ok: bool | None
    result: Any
    read_only: bool | None
    malformed: tuple[str, ...]


KEYS: dict[str, Key] = {
    "tool": Key(str, True),
    "call_id": Key(str | None),
    "args": Key(dict[str, Any] | None),
    "ok": Key(bool | None),
    "result": Key(Any),
    "read_only": Key(bool | None),
}


class Fixtures(NamedTuple):
    """The fixtures in file order, and the lines that were not read as they stand."""

    rows: list[Fixture]
    faults: list[LineFault]


def read_fixtures(files: CallFiles, limits: Limits) -> Fixtures:
    """Read the tool fixtures; a call without them gives none.

    Raises:
        EngineError: ``LIMIT_EXCEEDED`` (`lines.read_lines`).
    """
    artifact = pick(files, "tool_fixtures.jsonl")
    lines, faults = read_lines(artifact, limits)
    rows = [_fixture(line) for line in lines]
    count_malformed(artifact, faults, [row.line for row in rows if row.malformed])
    return Fixtures(rows, faults)


def _fixture(line: Line) -> Fixture:
    values, malformed = fit(line, KEYS)
    return Fixture(**values, line=line.line, malformed=malformed)
