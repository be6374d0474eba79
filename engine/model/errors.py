"""The one typed error of the engine (contract 3.2): a code, a message for people, details for programs."""

from __future__ import annotations

from typing import Any


class EngineError(Exception):
    """A request or an input that can't be served.

    Args:
        code: A code of contract 3.2, for example ``NO_EVENT_SOURCE`` or ``LIMIT_EXCEEDED``.
        message: One line that says what happened and, where it helps, what to do next.
        **details: What a program needs to react (a limit's name, a path inside the call, candidates).
    """

    def __init__(self, code: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details: dict[str, Any] = details

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle it whole: another process may have to tell of it."""
        return _made, (self.code, self.message, self.details)

    def document(self) -> dict[str, Any]:
        """The error as ``riff.debug_error/v1``."""
        return {
            "schema": "riff.debug_error/v1",
            "error": {"code": self.code, "message": self.message, "details": self.details},
        }


def _made(code: str, message: str, details: dict[str, Any]) -> EngineError:
    return EngineError(code, message, **details)
