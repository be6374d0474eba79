"""The shapes of the debug artifact (contract 2): what hydration proves, and how each claim is labelled.

Every Struct encodes to the JSON object of the same name in the contract; key order is settled by the
canonical encoder.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Availability = Literal["available", "redacted", "unavailable"]
Status = Literal["proven", "disproven", "unavailable", "redacted"]
Provenance = Literal["recorded", "derived", "simulated"]
Attribution = Literal["explicit", "interval", "boundary", "derived", "none"]
Severity = Literal["error", "warning", "info"]
Verdict = Literal["won", "lost", "shadowed", "error", "not_evaluated", "unavailable"]


class Cell(msgspec.Struct, frozen=True):
    """The value of one slot at one place (contract 2.4). Blank never means false, null or absent."""

    availability: Availability
    value: Any = None
    unset: bool = False
    reason: str | None = None
    event_id: str | None = None
    provenance: Provenance = "recorded"
    classification: str | None = None


class Snapshot(msgspec.Struct):
    """All cells at one boundary of a visit."""

    evidence: Literal["proven", "unavailable"]
    reason: str | None
    event_id: str | None
    cells: dict[str, Cell]


class Envelope(msgspec.Struct):
    """One event as the artifact shows it (contract 2.2). ``reason`` is set on unattributed events only."""

    event_id: str
    visit_id: str | None
    seq: int | None
    clock_ms: float | int | None
    clock: Literal["recorded", "derived", "none"]
    kind: str
    source_type: str | None
    provenance: Provenance
    source_refs: list[dict[str, Any]]
    derived_from: list[str]
    attribution: Attribution
    observed_visit_id: str | None
    placement: str | None
    payload: dict[str, Any]


class Unattributed(Envelope):
    """An event that no visit can be shown to own, with the reason."""

    reason: str | None = None


class Guard(msgspec.Struct, frozen=True):
    """One evaluation of an edge's guard. ``context_reads`` is None where the row has no such key."""

    event_id: str
    guard: str
    result: bool | None
    slots_read: list[str]
    context_reads: dict[str, Any] | None


class Edge(msgspec.Struct, frozen=True):
    """One declared (or merely recorded) exit of a visit and what became of it (contract 2.5)."""

    edge_id: str
    declaration_index: int | None
    source: str = msgspec.field(name="from")
    to: str | None
    when: str | None
    reason: str | None
    sets: list[dict[str, Any]]
    clears: list[str]
    from_flow: bool
    verdict: Verdict
    guards: list[Guard]


class Beat(msgspec.Struct, frozen=True):
    """One of the six beats of a visit (contract 2.9). ``explanation`` is at most 160 characters."""

    status: Status
    provenance: Provenance
    explanation: str
    refs: list[str]


class NextAction(msgspec.Struct, frozen=True):
    """What to do about a finding: an action of the engine, its arguments, and the words for a person."""

    action: str
    args: dict[str, Any]
    text: str


class Finding(msgspec.Struct, frozen=True):
    """A deterministic finding (contract 2.12). ``finding_id`` is unique and stable."""

    finding_id: str
    code: str
    severity: Severity
    owner: str
    visit_id: str | None
    event_id: str | None
    event_ids: list[str]
    clock_ms: float | int | None
    title: str
    explanation: str
    confidence: str
    next_action: NextAction
    data: dict[str, Any]


class Observation(msgspec.Struct, frozen=True):
    """What one source heard of a turn."""

    source: str
    text: str | None
    refs: list[str]


class Turn(msgspec.Struct):
    """One item of the conversation lane (contract 2.8).

    Attributes:
        acted_on: ``{source, text, decision_reason, event_id}``, or ``{status: unavailable, reason}``.
        diff: ``{op, live, timed}`` words where two sources disagree.
        output: For agent lines: ``{output_attempt_id, outcome, generated, heard}``.
    """

    item_id: str
    visit_id: str | None
    lane: Literal["agent", "caller", "dtmf", "barge_in", "decision"]
    start_ms: float | int | None
    end_ms: float | int | None
    observations: list[Observation]
    acted_on: dict[str, Any]
    agreement: Literal["agree", "disagree", "single_source", "unavailable"]
    wer: float | None
    diff: list[dict[str, Any]]
    audio_range: dict[str, Any]
    refs: list[str]
    output: dict[str, Any] | None = None


class Source(msgspec.Struct, frozen=True):
    """What became of one artifact of the call folder."""

    artifact: str
    status: Literal["read", "missing", "refused", "unreadable", "unused"]
    rows: int | None
    malformed: int
    sha256: str | None
    reason: str | None


class Summary(msgspec.Struct):
    """The first screen (contract 2.11).

    Attributes:
        story: At most 8 lines.
        first_divergence: A finding id, or None.
        owner, next_action: Those of the first divergence.
    """

    story: list[str]
    breadcrumb: list[str]
    first_divergence: str | None
    completeness: Literal["complete", "incomplete"]
    completeness_reasons: list[str]
    owner: str | None
    next_action: NextAction | None
