"""Conditions of breakpoints: CEL over ``event``, ``slots``, ``visit`` and ``context`` (contract 3.4).

A condition sees what the debugger would show at that event: a value that is unavailable or redacted there is
absent, so a condition on it can't be decided, and never tells what is hidden.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import msgspec

from engine.debug import projection
from engine.debug.place import cursor_of
from engine.hydrate.call import Call
from engine.hydrate.envelope import envelope
from engine.hydrate.marks import holds_mark
from engine.hydrate.variables import cell, cursor_point
from engine.model.artifact import Cell
from engine.model.errors import EngineError

ROOTS = ("event", "slots", "visit", "context")
LONGEST = 1000
"""Characters of a condition."""
_GAP = r"(?:\s|//[^\n]*\n)*"
_LOOP = re.compile(rf"\.{_GAP}(all|exists|exists_one|map|filter){_GAP}\({_GAP}([A-Za-z_]\w*)?")
"""A macro that goes through a list, and the name it binds."""


@lru_cache(maxsize=256)
def compiled(when: str) -> Any:
    """The program of a condition.

    Raises:
        EngineError: ``BAD_ARGUMENT`` for what is no condition, names anything but `ROOTS`, or is longer than
            `LONGEST`; also where the library is not installed, saying which extra brings it.
    """
    if len(when) > LONGEST:
        raise EngineError("BAD_ARGUMENT", f"a condition has at most {LONGEST} characters", argument="when")
    try:
        import cel
    except ImportError:
        message = "conditions need the extra cel: pip install 'riff-tui[cel]'"
        raise EngineError("BAD_ARGUMENT", message, argument="when") from None
    bound = _bound(when)
    try:
        program = cel.compile(when)
        foreign = sorted(set(program.variables()) - {*ROOTS, *bound})
        if not foreign:
            _check_functions(program)
    except (ValueError, RuntimeError, TypeError) as error:
        raise EngineError("BAD_ARGUMENT", f"no condition: {_first_line(error)}", argument="when") from None
    if foreign:
        message = f"a condition knows {', '.join(ROOTS)}, not {foreign[0]}"
        raise EngineError("BAD_ARGUMENT", message, argument="when")
    return program


def _bound(when: str) -> set[str]:
    """The names that a condition binds: at most one, for loops within loops may run for ever.

    Raises:
        EngineError: ``BAD_ARGUMENT`` for a second loop, and for a name that is one of `ROOTS`.
    """
    loops = [match[2] for match in _LOOP.finditer(when)]
    if len(loops) > 1:
        message = "a condition has at most one of all, exists, exists_one, map and filter"
        raise EngineError("BAD_ARGUMENT", message, argument="when")
    if not set(loops).isdisjoint(ROOTS):
        raise EngineError("BAD_ARGUMENT", f"{loops[0]} can't be bound to something else", argument="when")
    return {name for name in loops if name is not None}


def _check_functions(program: Any) -> None:
    """Refuse a program that calls what there is not; on empty members anything else is no fault of it.

    Raises:
        RuntimeError: There is no such function.
    """
    try:
        program.execute({name: {} for name in ROOTS})
    except RuntimeError as error:
        if "Undefined" in str(error):
            raise
    except (LookupError, TypeError, ValueError, ArithmeticError):
        return


def holds(call: Call, event: int, when: str) -> bool | str:
    """Whether a condition holds at an event; why not, where it can't be decided there."""
    program = compiled(when)
    known: dict[str, Any] = {}
    for name in program.variables():
        if name not in _ROOT:  # bound by a loop
            continue
        asked = _names(when, name)
        known[name], unknown = _ROOT[name](call, event, asked)
        for absent, why in unknown.items():
            if asked is None or absent in asked:
                return f"{name}.{absent} is {why} here"
    try:
        found = program.execute(known)
    except KeyError as error:
        return f"{error.args[0] if error.args else 'a value'} is not there"
    except (RuntimeError, TypeError, ValueError, LookupError, ArithmeticError) as error:
        return _first_line(error)
    return found if isinstance(found, bool) else "the condition gives no truth value"


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or ["?"])[0][:200]


@lru_cache(maxsize=1024)
def _names(when: str, root: str) -> frozenset[str] | None:
    """The members of a root that a condition asks for; None where it may ask for any of them."""
    member = r"""(?:\.([A-Za-z_]\w*)(?!\s*\()|\[\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\])"""
    every = list(re.finditer(rf"\b{root}\b", when))
    found = list(re.finditer(rf"\b{root}{member}{member if root == 'event' else ''}", when))
    if root == "event":
        # Only members of the payload can be hidden; the others are the event's own.
        plain = [one for one in re.finditer(rf"\bevent{member}", when) if "payload" not in one.groups()]
        payload = [one for one in found if "payload" in one.groups()[:3]]
        return _told(payload, 3) if len(plain) + len(payload) == len(every) else None
    return _told(found, 0) if len(found) == len(every) else None


def _told(found: list[re.Match[str]], first: int) -> frozenset[str]:
    return frozenset(name for one in found for name in one.groups()[first : first + 3] if name is not None)


Root = tuple[dict[str, Any], dict[str, str]]
"""What is known of a root, and what is not, with the reason."""


def _event(call: Call, event: int, asked: frozenset[str] | None) -> Root:
    document: dict[str, Any] = msgspec.to_builtins(envelope(call, event))
    payload = document["payload"]
    hidden = {key: "redacted" for key, value in payload.items() if holds_mark(value)}
    document["payload"] = {key: value for key, value in payload.items() if key not in hidden}
    return {name: value for name, value in document.items() if value is not None}, hidden


def _cells(cells: dict[str, Cell]) -> Root:
    unknown = {name: str(one.availability) for name, one in cells.items() if one.availability != "available"}
    known = {name: one.value for name, one in cells.items() if name not in unknown and not one.unset}
    return known, unknown


def _slots(call: Call, event: int, asked: frozenset[str] | None) -> Root:
    """The slots that are asked for; each costs a search."""
    if not call.visits:
        return {}, {}
    visit = cursor_of(call, event).visit
    names = [slot for slot in call.slot_order if asked is None or slot in asked]
    return _cells({slot: cell(call, slot, cursor_point(call, visit, slot, event)) for slot in names})


def _visit(call: Call, event: int, asked: frozenset[str] | None) -> Root:
    if not call.visits:
        return {}, {}
    seen = call.visits[cursor_of(call, event).visit]
    return {"visit_id": seen.visit_id, "state_id": seen.state_id, "ordinal": seen.ordinal}, {}


def _context(call: Call, event: int, asked: frozenset[str] | None) -> Root:
    rows = projection.context(call, cursor_of(call, event))
    return _cells({row.field: row.entry for row in rows})


_ROOT = {"event": _event, "slots": _slots, "visit": _visit, "context": _context}
