"""The JSON documents of a call (manifest, flow, audio manifest, timeline), read tolerantly (contract 1.9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from engine.model.errors import EngineError
from engine.model.limits import Limits
from engine.sources import tolerant
from engine.sources.files import Artifact
from engine.sources.ledger import LineFault

_BOM = b"\xef\xbb\xbf"


class Document(NamedTuple):
    """A document that could be read, and the fault of one that was not UTF-8."""

    value: dict[str, Any]
    faults: list[LineFault]


def read_document(artifact: Artifact, limits: Limits) -> Document | None:
    """The object a document holds; None when there is none, and then the artifact says why.

    Bytes that are not UTF-8 become U+FFFD, NaN and infinities null.

    Raises:
        EngineError: ``LIMIT_EXCEEDED`` (``document_bytes``, ``json_depth``).
    """
    if artifact.data is None:
        return None
    if len(artifact.data) > limits.document_bytes:
        raise EngineError(
            "LIMIT_EXCEEDED",
            f"{artifact.name} is larger than {limits.document_bytes} bytes",
            limit="document_bytes",
            maximum=limits.document_bytes,
            artifact=artifact.name,
        )
    raw = bytes(artifact.data).removeprefix(_BOM)
    try:
        parsed = tolerant.parse(raw, limits)
    except EngineError as error:
        details = error.details | {"artifact": artifact.name}
        raise EngineError(error.code, f"{artifact.name}: {error.message}", **details) from None
    except (ValueError, RecursionError):
        give_up(artifact, "not JSON")
        return None
    if not isinstance(parsed.value, dict):
        give_up(artifact, "not a JSON object")
        return None
    faults = [LineFault(_first_bad_line(raw), False, True, "not UTF-8")] if parsed.bad_bytes else []
    artifact.malformed = len(faults)
    return Document(parsed.value, faults)


def give_up(artifact: Artifact, reason: str) -> None:
    """Mark a document as unreadable."""
    artifact.status = "unreadable"
    artifact.reason = reason


def _first_bad_line(raw: bytes) -> int:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as problem:
        return raw.count(b"\n", 0, problem.start) + 1
    return 1


class Fields:
    """Typed values of an object; a wrong type counts as missing and is noted by its path in the document."""

    def __init__(self, value: Mapping[str, Any], path: str, problems: list[str]) -> None:
        self.value = value
        self.path = path
        self.problems = problems

    def get(self, key: str, kind: Any, default: Any = None) -> Any:
        """The value of `key` as `kind`; `default` when it is absent, null or of another type."""
        found = self.value.get(key)
        if found is None:
            return default
        try:
            return msgspec.convert(found, type=kind, strict=True)
        except (msgspec.ValidationError, OverflowError):
            self.problem(key)
            return default

    def need(self, key: str, kind: Any, default: Any = None) -> Any:
        """As `get`; an absent or null value is noted too."""
        if self.value.get(key) is None:
            self.problem(key)
        return self.get(key, kind, default)

    def problem(self, key: str) -> None:
        """Note that a key holds nothing usable."""
        self.problems.append(f"{self.path}{key}")

    def objects(self, key: str) -> list[tuple[int, Fields]]:
        """The objects of a list with their places in it; what is no object is noted and left out."""
        listed = self.get(key, list[Any], [])
        found: list[tuple[int, Fields]] = []
        for index, item in enumerate(listed):
            if isinstance(item, dict):
                found.append((index, Fields(item, f"{self.path}{key}[{index}].", self.problems)))
            else:
                self.problem(f"{key}[{index}]")
        return found

    def within(self, key: str) -> Fields:
        """The object at `key`, empty when there is none."""
        return Fields(self.get(key, dict[str, Any], {}), f"{self.path}{key}.", self.problems)

    def texts(self, key: str) -> tuple[str, ...]:
        """The strings of a list; what is no string is noted and left out."""
        listed = self.get(key, list[Any], [])
        for index, item in enumerate(listed):
            if not isinstance(item, str):
                self.problem(f"{key}[{index}]")
        return tuple(item for item in listed if isinstance(item, str))
