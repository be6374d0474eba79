"""Small phrases that lines about events are made of; every value in them is escaped and cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.debug.text import brief, escape, quoted, word

Payload = dict[str, Any]
Phrase = Callable[[Payload], str]
_SHORT = 60
_NAMED = 4
"""Names that a list shows before it counts the rest."""
_PAIRS = 6
_ENVELOPE = frozenset(
    {"session_id", "visit_id", "state_id", "turn_index", "decision_epoch", "malformed", "node", "input_id"}
)


def join(*parts: str, sep: str = " ") -> str:
    """The parts that say something."""
    return sep.join(part for part in parts if part)


def names(listed: Any) -> str:
    """The first names of a list or an object, and how many more there are."""
    if not isinstance(listed, list | dict):
        return ""
    first = [name for _, name in zip(range(_NAMED), listed, strict=False)]
    shown = [escape(name, _SHORT) if isinstance(name, str) else brief(name, _SHORT) for name in first]
    more = len(listed) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def labelled(label: str, value: Any) -> str:
    """A value after its label; nothing where it was not recorded."""
    return f"{label} {word(value)}" if value is not None else ""


def said(value: Any) -> str:
    """A spoken or written text in quotes."""
    return quoted(value) if isinstance(value, str) else "" if value is None else brief(value)


def paren(*values: Any) -> str:
    """Values in brackets; nothing where none was recorded."""
    inner = join(*map(word, values), sep=", ")
    return f"({inner})" if inner else ""


def unit(value: Any, name: str) -> str:
    """A number with its unit; nothing where it was not recorded."""
    return f"{word(value)} {name}" if value is not None else ""


def pairs(payload: Payload) -> str:
    """A short list of ``key=value``, for kinds that no line is written for."""
    shown = [(key, value) for key, value in payload.items() if key not in _ENVELOPE][:_PAIRS]
    return ", ".join(f"{escape(str(key), _SHORT)}={brief(value, _SHORT)}" for key, value in shown)


def arguments(args: Any) -> str:
    """The arguments of a tool as a call writes them."""
    if not isinstance(args, dict):
        return ""
    return ", ".join(
        f"{escape(str(key), _SHORT)}={brief(value, _SHORT)}"
        for key, value in list(args.items())[: 2 * _NAMED]
    )


def plain(*keys: str) -> Phrase:
    """Values as they stand."""
    return lambda payload: join(*(word(payload.get(key)) for key in keys))


def spoken(*keys: str, label: str = "") -> Phrase:
    """Who or what, and the text."""
    return lambda payload: join(label, *(word(payload.get(key)) for key in keys), said(payload.get("text")))


def way(source: str) -> Phrase:
    """From one state to another, by an edge, for a reason."""

    def phrase(payload: Payload) -> str:
        states = (word(payload.get(key)) or "?" for key in (source, "to_state"))
        return join(" → ".join(states), labelled("by", payload.get("edge_id")), paren(payload.get("reason")))

    return phrase
