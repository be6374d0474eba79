"""One raw event row made regular: dialects, nested payloads, types and required keys (contract 1.3, 1.4).

Two doors to the same rules. `decoder` reads regular rows at full speed into typed Structs; a row it refuses
goes through `mend`, which keeps the row, says which of its keys are malformed, and gives the same Struct.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple, Union, cast

import msgspec
from msgspec import Meta

from engine.model.events import DIALECT_DEFAULTS, DIALECTS, ENVELOPE_KEYS, EVENT_KEYS, OTHER, Clock, Key
from engine.sources import tolerant

_LAZY: dict[Any, Any] = {
    list[dict[str, Any]]: msgspec.Raw,
    dict[str, Any]: msgspec.Raw,
    dict[str, Any] | None: msgspec.Raw,
}
"""Composite values that the fast decoder keeps as bytes; `fits_raw` says whether they have their type."""


SEQ_END = 2**62
"""A durable counter stays below this; a larger ``seq`` is malformed."""
_TS_END = 2**42

Seq = Annotated[int, Meta(ge=0, lt=SEQ_END)]
Timestamp = Annotated[float, Meta(gt=-_TS_END, lt=_TS_END)] | str | None


class Row(msgspec.Struct, gc=False, kw_only=True, tag_field="type"):
    """The envelope every event row shares. A nested payload makes the fast decoder refuse the row."""

    seq: Seq
    ts: Timestamp = None
    session_id: str | None = None
    clock_ms: Clock = None
    visit_id: str | None = None
    state_id: str | None = None
    payload: None = None
    data: None = None


_ENVELOPE: dict[str, Any] = {
    "seq": Seq,
    "ts": Timestamp,
    "session_id": str | None,
    "clock_ms": Clock,
    "visit_id": str | None,
    "state_id": str | None,
}


def _row_class(tag: str, keys: dict[str, Key], defaults: dict[str, str]) -> type[Row]:
    fields: list[Any] = []
    for name, key in keys.items():
        kind = _LAZY.get(key.type, key.type)
        if key.required and name not in defaults:
            fields.append((name, kind))
        else:
            fields.append((name, kind, defaults.get(name)))
    made: Any = msgspec.defstruct(
        tag, fields, bases=(Row,), tag=tag, tag_field="type", gc=False, kw_only=True
    )
    return cast("type[Row]", made)


KINDS: tuple[str, ...] = (*EVENT_KEYS, OTHER)
"""Kind by code."""
KIND_CODE: dict[str, int] = {kind: code for code, kind in enumerate(KINDS)}
OTHER_CODE = KIND_CODE[OTHER]

ROW_CLASSES: dict[str, type[Row]] = {
    tag: _row_class(tag, EVENT_KEYS[kind], DIALECT_DEFAULTS.get(tag, {}))
    for tag, kind in [*((kind, kind) for kind in EVENT_KEYS), *DIALECTS.items()]
}
"""Type as emitted → the Struct of its rows."""


class OtherRow(Row, gc=False, kw_only=True, tag=OTHER, tag_field="type"):
    """A row of a type the contract does not list."""


TYPES: tuple[str, ...] = (*EVENT_KEYS, OTHER, *DIALECTS)
"""Types as emitted by code; the codes of kinds come first, so a kind's own name has the kind's code."""
CLASS_TYPE: dict[type[Row], int] = {ROW_CLASSES.get(tag, OtherRow): code for code, tag in enumerate(TYPES)}
"""Row Struct → index of `TYPES`."""
TYPE_KIND: tuple[int, ...] = tuple(KIND_CODE[DIALECTS.get(tag, tag)] for tag in TYPES)
"""Type code → kind code."""

decoder: msgspec.json.Decoder[Row] = msgspec.json.Decoder(Union[tuple(ROW_CLASSES.values())])  # noqa: UP007


def reader(key: str) -> Callable[[list[Row]], list[Any]]:
    """A function that lists a key of some rows.

    Each is code of its own: Python specialises it for the class of the rows that it is always given, which
    takes a third of the time of an ``attrgetter`` that serves several.
    """
    made: Callable[[list[Row]], list[Any]] = eval(f"lambda rows: [row.{key} for row in rows]")
    return made


class Mended(NamedTuple):
    """A row that needed a closer look."""

    row: Row | None
    """None when it has no valid ``seq``."""
    source_type: str
    clock_ms: float | int | None
    malformed: tuple[str, ...]
    """The keys that lack or are wrong, sorted; empty for a row that is merely of another shape."""
    body: dict[str, Any]
    """The flat row, normalised."""


def raw_type(kind: str, key: str) -> Any:
    """The type that a value kept as bytes must have, or None for a key that is not kept so."""
    declared = EVENT_KEYS[kind][key].type
    return declared if declared in _LAZY else None


def is_text(kind: str, key: str) -> bool:
    """Whether the values of a key are texts, or composite values kept as bytes."""
    declared = EVENT_KEYS[kind][key].type
    return declared in (str, str | None) or declared in _LAZY


def fits_raw(raw: bytes, kind: Any) -> bool:
    """Whether bytes that were kept unread hold a value of their type."""
    try:
        msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, RecursionError):
        return _fits(tolerant.load(raw), kind)
    return True


def flatten(value: dict[str, Any]) -> dict[str, Any]:
    """A row with its nested ``payload`` or ``data`` object read as if it were flat; top-level keys win.

    A row that nests nothing is given as it is.
    """
    if "data" not in value and "payload" not in value:
        return value
    flat = dict(value)
    for nest in ("data", "payload"):
        inner = flat.get(nest)
        if isinstance(inner, dict):
            del flat[nest]
            flat = inner | flat
    return flat


def payload_of(flat: dict[str, Any], source_type: str, malformed: tuple[str, ...]) -> dict[str, Any]:
    """The payload of a flat row as the artifact shows it."""
    payload = {key: item for key, item in flat.items() if key not in ENVELOPE_KEYS}
    for nest in ("payload", "data"):
        if nest in flat:
            payload[nest] = flat[nest]
    if malformed:
        payload["malformed"] = list(malformed)
    if source_type in DIALECTS and "source_kind" not in payload:
        payload["source_kind"] = source_type
    return payload


def _fits(value: Any, kind: Any) -> bool:
    try:
        msgspec.convert(value, type=kind, strict=True)
    except (msgspec.ValidationError, OverflowError):
        return False
    return True


def mend(value: dict[str, Any], nulled: tuple[str, ...], bad_text: bool) -> Mended:
    """Make a parsed row regular, keeping every key of it.

    Args:
        value: The parsed row.
        nulled: Keys that held NaN or an infinity; they count as missing.
        bad_text: Whether a string of it held a lone surrogate.
    """
    flat = flatten(value)
    emitted = flat.get("type")
    source_type = emitted if isinstance(emitted, str) else ""
    malformed = {"type"} if not isinstance(emitted, str) else set()
    malformed |= {key for key in nulled if key in ("seq", "ts", "clock_ms")}
    for name, kind in _ENVELOPE.items():
        if name in flat and not _fits(flat[name], kind):
            malformed.add(name)
    if "seq" not in flat:
        malformed.add("seq")
    if "ts" in flat and "ts" not in malformed and micros(flat["ts"]) is None and flat["ts"] is not None:
        malformed.add("ts")
    cls = ROW_CLASSES.get(source_type, OtherRow)
    keys = EVENT_KEYS.get(DIALECTS.get(source_type, source_type), {})
    defaults = DIALECT_DEFAULTS.get(source_type, {})
    fields: dict[str, Any] = {}
    for name, key in keys.items():
        present = name in flat and name not in nulled
        if present and _fits(flat[name], key.type):
            fields[name] = _stored(flat[name], key.type)
            continue
        if (name in flat and ((not present and key.required) or present)) or (
            key.required and name not in defaults and not _removal_without_value(name, flat)
        ):
            malformed.add(name)
        fields[name] = defaults.get(name)
    if bad_text:
        malformed.add("text_encoding")
    for name in _ENVELOPE:
        fields.setdefault(name, None if name in malformed else flat.get(name))
    row = None if "seq" in malformed else cls(**fields)
    return Mended(row, source_type, fields["clock_ms"], tuple(sorted(malformed)), flat)


def _removal_without_value(name: str, flat: dict[str, Any]) -> bool:
    """A `slot_write` that removes its slot needs no ``new`` (contract 1.4)."""
    return name == "new" and flat.get("present") is False


def _stored(value: Any, kind: Any) -> Any:
    if value is not None and kind in _LAZY:
        return msgspec.Raw(msgspec.json.encode(value))
    return value


def micros(ts: Any) -> int | None:
    """Epoch microseconds of a row's ``ts`` (epoch seconds or RFC 3339), or None when it gives none."""
    if isinstance(ts, str):
        try:
            moment = datetime.fromisoformat(ts.replace("Z", "+00:00").replace("z", "+00:00"))
        except ValueError:
            return None
        if moment.tzinfo is None:
            return None
        delta = moment - datetime(1970, 1, 1, tzinfo=UTC)
        return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds
    if isinstance(ts, bool) or not isinstance(ts, int | float) or abs(ts) >= _TS_END:
        return None
    return round(ts * 1e6)
