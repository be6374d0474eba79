"""Parsing of JSON that strict decoders refuse, so one odd value does not cost a whole row (contract 1.9).

Invalid UTF-8 becomes U+FFFD, NaN and infinities become null, lone surrogates become U+FFFD; each is reported.
"""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

import msgspec

from engine.canonical import normalise
from engine.model.errors import EngineError
from engine.model.limits import Limits

_strict = msgspec.json.Decoder()


class Parsed(NamedTuple):
    """What a tolerant parse found: the value and what had to be mended to read it."""

    value: Any
    bad_bytes: bool
    """Some bytes were not UTF-8 and stand as U+FFFD."""
    bad_text: bool
    """Some string held a lone surrogate and stands with U+FFFD."""
    nulled: tuple[str, ...]
    """Top-level keys (or keys of a nested payload) whose value was NaN, an infinity or out of range."""


class _NotFinite:
    """Stands for NaN or an infinity between parsing and cleaning."""


_NOT_FINITE = _NotFinite()


def _float(text: str) -> Any:
    value = float(text)
    return value if math.isfinite(value) else _NOT_FINITE


def _int(text: str) -> Any:
    try:
        return int(text)
    except ValueError:  # more digits than Python converts: no value a program can act on
        return _NOT_FINITE


_decoder = json.JSONDecoder(parse_float=_float, parse_int=_int, parse_constant=lambda _: _NOT_FINITE)


def _clean(value: Any) -> Any:
    if value is _NOT_FINITE:
        return None
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return value


def _nulled_keys(value: Any) -> tuple[str, ...]:
    if not isinstance(value, dict):
        return ()
    found = []
    for key, item in value.items():
        if item is _NOT_FINITE:
            found.append(key)
        elif key in ("payload", "data") and isinstance(item, dict):
            found += [inner for inner, part in item.items() if part is _NOT_FINITE]
    return tuple(found)


def parse(raw: bytes, limits: Limits) -> Parsed:
    """Parse one JSON text, mending what can be mended.

    Raises:
        ValueError: it is not JSON even so.
        EngineError: ``LIMIT_EXCEEDED`` (``json_depth``) when it nests too deep.
    """
    if depth(raw) > limits.json_depth:
        raise EngineError(
            "LIMIT_EXCEEDED",
            f"JSON nests deeper than {limits.json_depth} levels",
            limit="json_depth",
            maximum=limits.json_depth,
        )
    bad_bytes = False
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text, bad_bytes = raw.decode("utf-8", "replace"), True
    value = _decoder.decode(text.strip(" \t\r\n"))
    nulled = _nulled_keys(value)
    value = _clean(value)
    clean = normalise(value)
    return Parsed(clean, bad_bytes, _differs(value, clean), nulled)


def _differs(value: Any, clean: Any) -> bool:
    """Whether normalising changed a string (negative zeros don't count)."""
    return bool(value != clean)


def depth(raw: bytes) -> int:
    """How deep a JSON text nests, brackets inside strings left out. 0 for a scalar."""
    if raw.count(b"{") + raw.count(b"[") <= 1:
        return raw.count(b"{") + raw.count(b"[")
    level = deepest = 0
    inside = escaped = False
    for byte in raw:
        if inside:
            if escaped:
                escaped = False
            elif byte == 0x5C:
                escaped = True
            elif byte == 0x22:
                inside = False
        elif byte == 0x22:
            inside = True
        elif byte in (0x7B, 0x5B):
            level += 1
            deepest = max(deepest, level)
        elif byte in (0x7D, 0x5D):
            level -= 1
    return deepest


def load(raw: bytes | memoryview) -> Any:
    """Decode a JSON text that was accepted before: strict and fast, tolerant where that fails.

    Raises:
        ValueError: it is not JSON.
    """
    try:
        value = _strict.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        text = bytes(raw).decode("utf-8", "replace").strip(" \t\r\n")
        return normalise(_clean(_decoder.decode(text)))
    octets = raw if isinstance(raw, bytes) else bytes(raw)
    if b"-" in octets and b"-0" in octets:  # one byte is found much faster than two
        return normalise(value)  # only a negative zero is left to mend
    return value
