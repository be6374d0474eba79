"""A call in a list of calls (contract 3.3)."""

from __future__ import annotations

import msgspec


class FirstDivergence(msgspec.Struct, frozen=True):
    """Where a call first went wrong, as its summary says."""

    finding_id: str
    code: str
    owner: str
    title: str


class CallError(msgspec.Struct, frozen=True):
    """Why a call can't be opened."""

    code: str
    message: str


class CallRow(msgspec.Struct, frozen=True, kw_only=True):
    """One call.

    Attributes:
        path: Below the folder of calls, with slashes.
        started_at: As recorded: the manifest's, else the ``ts`` of ``session_started`` in UTC.
        started_us: The same in microseconds since 1970, to order by; None where it is unknown or no time.
        findings: Code → how many.
        error: Set where it can't be opened; then nothing else is known.
    """

    path: str
    session_id: str | None = None
    flow_id: str | None = None
    flow_version: str | None = None
    kind: str | None = None
    started_at: str | None = None
    started_us: int | None = None
    completeness: str | None = None
    completeness_reasons: list[str] = []
    first_divergence: FirstDivergence | None = None
    findings: dict[str, int] = {}
    visits: int | None = None
    artifact_hash: str | None = None
    error: CallError | None = None


def newest_first(rows: list[CallRow]) -> list[CallRow]:
    """Rows by recorded start, the latest first, ties by session id; those of no known start last."""

    def place(row: CallRow) -> tuple[bool, int, str, str]:
        return row.started_us is None, -(row.started_us or 0), row.session_id or "", row.path

    return sorted(rows, key=place)
