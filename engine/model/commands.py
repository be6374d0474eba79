"""Requests and responses of the command engine (contract 3.2)."""

from __future__ import annotations

from typing import Any, Literal, get_args

import msgspec

from engine.model.artifact import Cell

REQUEST: Literal["riff.debug_command/v1"] = "riff.debug_command/v1"
RESPONSE: Literal["riff.debug_response/v1"] = "riff.debug_response/v1"

Field = Literal[
    "visit", "breadcrumb", "event", "variables", "edges", "beats", "conversation_window", "context",
    "clock_ms", "findings_here", "mode",
]  # fmt: skip
"""What a response's projection may hold."""
FIELDS: tuple[str, ...] = get_args(Field)


class Place(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a cursor stands, by names that a client can keep.

    Attributes:
        visit_id: The visit; alone it means its entry.
        event_id: The event.
        visit_index, micro_event_index: The same by position, from 0; a request may repeat them.
    """

    visit_id: str | None = None
    event_id: str | None = None
    visit_index: int | None = None
    micro_event_index: int | None = None


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One command.

    Attributes:
        schema: `REQUEST`.
        session_id: The call that is asked about.
        cursor: Where the question stands; the call's start without one.
        expected_hash: The ``determinism_hash`` that came with this cursor; another one refuses the request.
    """

    schema: Literal["riff.debug_command/v1"]
    action: str
    session_id: str | None = None
    capsule: Any = None
    cursor: Place | None = None
    branch: Any = None
    args: dict[str, Any] = {}
    execution_target: str | None = None
    expected_hash: str | None = None


class Delta(msgspec.Struct, frozen=True):
    """One slot that holds something else at the new cursor; ``event_id`` is what its new value rests on."""

    slot: str
    before: Cell
    after: Cell
    event_id: str | None


class Candidate(msgspec.Struct, frozen=True):
    """One edge that the deciding verdict speaks of."""

    edge_id: str
    to: str | None
    verdict: str


class ExitDecision(msgspec.Struct, frozen=True):
    """How a visit was left: its final verdict, and the exit that was recorded."""

    visit_id: str
    winning_edge_id: str | None
    to_state: str | None
    reason: str | None
    candidates: list[Candidate]
    event_id: str | None


class Page(msgspec.Struct, frozen=True):
    """How much of a list was told; ``next`` is the ``after`` of the next page."""

    next: str | None = None
    total: int = 1
    status: Literal["complete", "partial", "failed"] = "complete"


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to one command."""

    schema: Literal["riff.debug_response/v1"] = RESPONSE
    mode: Literal["recorded", "simulation", "pattern"] = "recorded"
    action: str
    session_id: str | None
    branch: Any = None
    cursor: Place | None
    execution_target: str | None = None
    projection: dict[str, Any] = {}
    variable_delta: list[Delta] = []
    exit_decision: ExitDecision | None = None
    result: Any = None
    findings: list[str] = []
    evidence_refs: list[str] = []
    page: Page = Page()
    determinism_hash: str | None = None
