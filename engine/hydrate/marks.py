"""Redaction marks and classifications (contract 2.4): what a mark still proves, and which class is hidden."""

from __future__ import annotations

import re
from typing import Any

REDACTED = "<redacted>"
_MARK = re.compile(r"<(?:(str|list|dict):([0-9]+)|(int|float|bool|redacted))>\Z")
_STRICTNESS = {"public": 0, "internal": 1, "pii": 2, "secret": 3}
_SIZED: dict[str, type[str] | type[list[Any]] | type[dict[str, Any]]] = {
    "str": str,
    "list": list,
    "dict": dict,
}
HIDDEN = frozenset({"pii", "secret"})


def is_mark(value: Any) -> bool:
    """Whether a value is a redaction mark such as ``<str:8>``."""
    return isinstance(value, str) and value.startswith("<") and _MARK.match(value) is not None


def holds_mark(value: Any) -> bool:
    """Whether a value is or holds a redaction mark at any depth."""
    if isinstance(value, str):
        return is_mark(value)
    if isinstance(value, dict):
        return any(map(holds_mark, value.values()))
    if isinstance(value, list):
        return any(map(holds_mark, value))
    return False


def agree(one: Any, other: Any) -> bool:
    """Whether two recorded values can be the same: equal JSON, or a mark of the other's type and length."""
    if type(one) is type(other):
        if isinstance(one, dict):
            return one.keys() == other.keys() and all(agree(one[key], other[key]) for key in one)
        if isinstance(one, list):
            return len(one) == len(other) and all(map(agree, one, other))
        if one == other:
            return True
    return _covers(one, other) or _covers(other, one)


def _covers(mark: Any, value: Any) -> bool:
    if not isinstance(mark, str) or not mark.startswith("<"):
        return False
    found = _MARK.match(mark)
    if found is None:
        return False
    sized, length, plain = found.groups()
    if plain == "redacted":
        return True
    if is_mark(value):
        return bool(value in (mark, REDACTED))
    if sized is not None:
        return type(value) is _SIZED[sized] and len(value) == int(length)
    return type(value) is {"int": int, "float": float, "bool": bool}[plain]


def stricter(one: str | None, other: str | None) -> str | None:
    """The stricter of two classifications; one the contract does not list counts as internal."""
    if one is None or other is None:
        return one if other is None else other
    return max(one, other, key=lambda name: _STRICTNESS.get(name, 1))
