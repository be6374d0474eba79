"""The HTTP status of each error code (contract 3.2)."""

from __future__ import annotations

from engine.model.errors import EngineError

_NOT_FOUND = (
    "UNKNOWN_SESSION", "UNKNOWN_VISIT", "UNKNOWN_EVENT", "UNKNOWN_EDGE", "UNKNOWN_SLOT", "UNKNOWN_BRANCH",
    "UNKNOWN_MARK", "UNKNOWN_BREAKPOINT", "UNKNOWN_FINDING", "UNKNOWN_ATTEMPT", "UNKNOWN_INPUT",
    "NO_EVENT_SOURCE",
)  # fmt: skip
_FORBIDDEN = (
    "READ_ONLY", "OPERATOR_REQUIRED", "EXTERNAL_WRITE_REFUSED", "REDACTED_VALUE", "PATH_OUTSIDE_CALL",
)  # fmt: skip
_UNPROCESSABLE = (
    "UNSUPPORTED_ARTIFACT", "INCOMPLETE_LIFECYCLE", "AUDIO_UNAVAILABLE", "UNAVAILABLE_VALUE",
    "REVISION_UNAVAILABLE", "FIXTURE_MISSING", "CAPSULE_INCOMPLETE", "RUNNER_FAILED", "RUNNER_TIMEOUT",
    "ISOLATION_UNAVAILABLE",
)  # fmt: skip
STATUS: dict[str, int] = {
    **dict.fromkeys(("BAD_ARGUMENT", "UNKNOWN_ACTION", "TARGET_REQUIRED"), 400),
    "UNAUTHORIZED": 401,
    **dict.fromkeys(_FORBIDDEN, 403),
    **dict.fromkeys(_NOT_FOUND, 404),
    **dict.fromkeys(("STALE_HASH", "AMBIGUOUS_LINK", "REPLAY_DIVERGED"), 409),
    **dict.fromkeys(_UNPROCESSABLE, 422),
    "CANCELLED": 499,
    "INTERNAL": 500,
    "STORE_BUSY": 503,
}
SIZES = frozenset({"body_bytes", "response_bytes", "line_bytes", "archive_bytes", "document_bytes"})
"""Limits that are sizes; others are counts or times."""


def status_of(error: EngineError) -> int:
    """The status that an error is sent with."""
    if error.code == "LIMIT_EXCEEDED":
        return 413 if error.details.get("limit") in SIZES else 429
    return STATUS[error.code]
