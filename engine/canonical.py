"""Canonical JSON bytes and hashes (contract 3.1).

The canonical form of a value is ``msgspec.json.encode(value, order="sorted")`` over a normalised value:
-0.0 becomes 0.0 and a lone surrogate U+FFFD. NaN and infinities have no canonical form.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

import msgspec

_encoder = msgspec.json.Encoder(order="sorted")


def replace_surrogates(text: str) -> str:
    """`text` with every lone surrogate replaced by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def normalise(value: Any) -> Any:
    """A copy of a plain JSON value without negative zeros and lone surrogates.

    Raises:
        ValueError: a number is NaN or infinite, so it has no canonical form.
    """
    if isinstance(value, str):
        return value if value.isascii() else replace_surrogates(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("NaN and infinity have no canonical form")
        return value + 0.0 if value == 0.0 else value
    if isinstance(value, dict):
        return {normalise(key): normalise(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [normalise(item) for item in value]
    return value


def canonical(value: Any) -> bytes:
    """The canonical bytes of a plain value, without a newline.

    Raises:
        ValueError: the value holds NaN or an infinity.
    """
    return _encoder.encode(normalise(value))


def encode_trusted(value: Any) -> bytes:
    """Canonical bytes of a value that is known to be normalised (it was decoded by this engine)."""
    return _encoder.encode(value)


def encode_recorded(value: Any) -> bytes:
    """Canonical bytes of a document made of recorded values, Structs among them.

    Regular rows are decoded without a look at each number, so only a negative zero is left to normalise.
    """
    data = _encoder.encode(value)
    return canonical(msgspec.to_builtins(value)) if b"-0.0" in data else data


def sha256(data: bytes | memoryview) -> str:
    """``sha256:<hex>`` of raw bytes."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def fingerprint(value: Any) -> str:
    """``sha256:<hex>`` of the canonical bytes of a value."""
    return sha256(canonical(value))
