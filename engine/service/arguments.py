"""Requests and arguments from plain values, with errors that name what is wrong (contract 3.2)."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec

from engine.model.commands import Request
from engine.model.errors import EngineError

T = TypeVar("T")
BODY_BYTES = 1024 * 1024
"""Longest request that is read."""
_AT = re.compile(r" - at `(?:key in )?\$(\.?.*)`\Z", re.DOTALL)
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*?)`")


def read_request(body: bytes) -> Request:
    """The request that some bytes are.

    Raises:
        EngineError: ``LIMIT_EXCEEDED`` above `BODY_BYTES`; ``BAD_ARGUMENT`` for what is no request, with the
            ``argument`` that is wrong.
    """
    if len(body) > BODY_BYTES:
        raise EngineError(
            "LIMIT_EXCEEDED",
            f"a request has at most {BODY_BYTES} bytes",
            limit="body_bytes",
            maximum=BODY_BYTES,
        )
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise EngineError("BAD_ARGUMENT", "the request is no JSON", argument="request") from None
    return _converted(value, Request, "", "request")


def as_arguments(action: str, value: dict[str, Any], kind: type[T]) -> T:
    """The arguments of an action.

    Raises:
        EngineError: ``BAD_ARGUMENT``, with the ``argument`` that is unknown, missing or of another type.
    """
    return _converted(value, kind, "args", action)


def _converted(value: Any, kind: type[T], under: str, of: str) -> T:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        path, message = _explained(str(error))
        argument = ".".join(part for part in (under, path) if part) or of
        raise EngineError("BAD_ARGUMENT", f"{of}: {message}", argument=argument[:200]) from None
    except RecursionError:
        raise EngineError("BAD_ARGUMENT", f"{of} nests too deep", argument=under or of) from None


def _explained(text: str) -> tuple[str, str]:
    """Path and message of a validation error: ``Expected `int`, got `str` - at `$.count```."""
    at = _AT.search(text)
    path = at[1].lstrip(".") if at is not None else ""
    message = text[: at.start()] if at is not None else text
    for pattern, words in ((_UNKNOWN, "there is no"), (_MISSING, "misses")):
        named = pattern.search(message)
        if named is not None:
            path = f"{path}.{named[1]}" if path else named[1]
            return path, f"{words} {path[:200]}"
    return path, f"{path[:200]}: {message}" if path else message
