"""What a list says of one call: hydrated once, and forgotten again (contract 3.6)."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from engine.canonical import replace_surrogates
from engine.hydrate.call import Call
from engine.hydrate.pipeline import open_every
from engine.hydrate.summary import first_divergence
from engine.model.calls import CallError, CallRow, FirstDivergence
from engine.model.errors import EngineError
from engine.sources.part import NO_TS
from engine.sources.rowschema import micros


def examine(root: Path, path: str) -> list[CallRow]:
    """The rows of a call: one, or one a session of turn records. A call that can't be opened is a row too."""
    shown = replace_surrogates(path)
    if shown != path:
        return [CallRow(path=shown, error=CallError("UNSUPPORTED_ARTIFACT", "the name is not UTF-8"))]
    rows: list[CallRow] = []
    try:
        for call in open_every(root / path):
            rows.append(_row(path, call))
    except EngineError as error:
        rows.append(CallRow(path=path, error=CallError(error.code, error.message)))
    return rows


def _row(path: str, call: Call) -> CallRow:
    identity = call.identity
    first = first_divergence(call.findings)
    started_at, started_us = _started(call)
    return CallRow(
        path=path,
        session_id=call.session_id,
        flow_id=identity.flow_id,
        flow_version=identity.flow_version,
        kind=identity.kind,
        started_at=started_at,
        started_us=started_us,
        completeness=call.completeness,
        completeness_reasons=call.completeness_reasons,
        first_divergence=None
        if first is None
        else FirstDivergence(first.finding_id, first.code, first.owner, first.title),
        findings=dict(sorted(Counter(one.code for one in call.findings).items())),
        visits=len(call.visits),
        artifact_hash=call.artifact_hash,
    )


def _started(call: Call) -> tuple[str | None, int | None]:
    """When a call began, as recorded and in microseconds (contract 3.3)."""
    stated = call.identity.started_at
    if stated is not None and (moment := micros(stated)) is not None:
        return stated, moment
    captured = call.ledger.captured.get("session_started")
    rows = captured.rows if captured is not None else []
    moment = int(call.ledger.ts[rows[0]]) if rows else NO_TS
    if moment == NO_TS:
        return stated, None
    return stated or datetime.fromtimestamp(moment / 1e6, UTC).isoformat(), moment
