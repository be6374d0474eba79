"""Which calls there are (contract 3.3)."""

from __future__ import annotations

import msgspec

from engine.model.calls import CallRow
from engine.model.errors import EngineError
from engine.service.action import PageArgs, StoreAction, StoreOutcome, check_code, paged
from engine.service.library import Library
from engine.sources.rowschema import micros


class CallsArgs(PageArgs, frozen=True, kw_only=True):
    """Which calls; all without an argument.

    Attributes:
        flow_id: Of one flow.
        kind: Of one kind.
        finding: With a finding of this code.
        since: Started at or after this moment (RFC 3339).
    """

    flow_id: str | None = None
    kind: str | None = None
    finding: str | None = None
    since: str | None = None


class CallPage(msgspec.Struct, frozen=True):
    """A page of calls, the newest first."""

    calls: list[CallRow]


def list_calls(library: Library, args: CallsArgs) -> StoreOutcome:
    """Calls, the newest first, with completeness and first divergence."""
    rows = _chosen(library, args)
    page = paged(len(rows), args)
    return StoreOutcome(CallPage([rows[number] for number in page.numbers]), page.page)


def latest_call(library: Library, args: CallsArgs) -> StoreOutcome:
    """The newest call."""
    rows = [row for row in _chosen(library, args) if row.started_us is not None]
    if not rows:
        raise EngineError("UNKNOWN_SESSION", "no call of a known start is like that")
    return StoreOutcome(rows[0])


def _chosen(library: Library, args: CallsArgs) -> list[CallRow]:
    since = None if args.since is None else micros(args.since)
    if args.since is not None and since is None:
        raise EngineError("BAD_ARGUMENT", "since is a moment with its zone (RFC 3339)", argument="args.since")
    check_code(args.finding, "args.finding")
    return [
        row
        for row in library.rows()
        if (args.flow_id is None or row.flow_id == args.flow_id)
        and (args.kind is None or row.kind == args.kind)
        and (args.finding is None or args.finding in row.findings)
        and (since is None or (row.started_us is not None and row.started_us >= since))
    ]


ACTIONS = (
    StoreAction("list_calls", CallsArgs, list_calls, CallPage, "Calls, the newest first."),
    StoreAction("latest_call", CallsArgs, latest_call, CallRow, "The newest call."),
)
