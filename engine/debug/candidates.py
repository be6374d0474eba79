"""What a breakpoint can stop at: each form of ``on`` with its events, from an index (contract 3.4)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

import numpy as np

from engine.debug.cursor import check_slot
from engine.debug.index import Track, entry_micro, index
from engine.debug.names import hint, shown
from engine.debug.seek import at_visit
from engine.hydrate.call import ALL_KINDS, Call
from engine.model.errors import EngineError
from engine.model.findings import FINDINGS

_RESULT = re.compile(r"(.+)=(true|false)", re.DOTALL)


class Form(NamedTuple):
    """One form of ``on``.

    Attributes:
        usage: How it is written.
        check: Refuses a name that this call does not know.
        track: The events of a name; the call knows it.
    """

    usage: str
    check: Callable[[Call, str], None]
    track: Callable[[Call, str], Track]


def split(on: str) -> tuple[str, str]:
    """Form and name of an ``on``; ``input`` has no name.

    Raises:
        EngineError: ``BAD_ARGUMENT`` for no known form.
    """
    form, _, name = on.partition(":")
    if form not in FORMS or (not name) != (form == "input") or (form == "input" and on != form):
        message = f"{shown(on) or 'nothing'} is no breakpoint: write {USAGE}"
        raise EngineError("BAD_ARGUMENT", message, argument="on")
    return form, name


def _known(what: str, name: str, known: Collection[str], argument: str = "on") -> None:
    if name not in known:
        message = f"no {what} {shown(name)} in this call{hint(name, sorted(known))}"
        raise EngineError("BAD_ARGUMENT", message, argument=argument, name=name[:200])


def check_state(call: Call, name: str, argument: str = "on") -> None:
    """Refuse a state that is neither declared nor visited.

    Raises:
        EngineError: ``BAD_ARGUMENT``, naming states of similar names.
    """
    declared = call.flow.by_state.keys() if call.flow is not None else ()
    _known("state", name, {visit.state_id for visit in call.visits}.union(declared), argument)


def check_kind(call: Call, name: str, argument: str = "on") -> None:
    """Refuse a kind that no event can have.

    Raises:
        EngineError: ``BAD_ARGUMENT``, naming kinds of similar names.
    """
    _known("event kind", name, set(ALL_KINDS), argument)


def _check_visit(call: Call, name: str) -> None:
    at_visit(call, name)


def _visit(call: Call, name: str) -> Track:
    visit = call.parts.built.by_id.get(name)
    if visit is None:  # a breakpoint of a session may have been set on another call
        return index(call).track(("visit", name), list)
    entry = call.micro_events(visit)[entry_micro(call, visit) :][:1]
    return index(call).track(("visit", name), entry.tolist)


# Guards.


def _guards(call: Call) -> dict[str, list[int]]:
    """Guard, as rows name it → its events, made once a call."""

    def made() -> dict[str, list[int]]:
        captured, found = call.ledger.captured["guard_evaluated"], dict[str, list[int]]()
        for event, guard in zip(captured.rows, captured.columns["guard"], strict=True):
            if guard is not None:
                found.setdefault(guard, []).append(event)
        return found

    return index(call).once("guards", made)


def _guard(call: Call, name: str) -> tuple[str, bool | None]:
    """Guard and wanted result of ``<name>[=true|false]``; a guard that is spelled so whole comes first."""
    if name in _guards(call):
        return name, None
    ending = _RESULT.fullmatch(name)
    return (name, None) if ending is None else (ending[1], ending[2] == "true")


def _check_guard(call: Call, name: str) -> None:
    _known("guard", _guard(call, name)[0], _guards(call).keys())


def _guard_track(call: Call, name: str) -> Track:
    guard, wanted = _guard(call, name)

    def events() -> Iterable[int]:
        rows = _guards(call).get(guard, [])
        if wanted is None:
            return rows
        return [event for event in rows if call.ledger.payload(event).get("result") is wanted]

    return index(call).track(("guard", name), events)


# Edges, findings, inputs, moments.


def _edges(call: Call) -> dict[str, list[int]]:
    """Edge → the events that took it: the commit of a visit that left by it, else its exit."""

    def made() -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for visit in call.visits:
            event = visit.commit if visit.commit is not None else visit.exited
            if visit.edge_id is not None and event is not None:
                found.setdefault(visit.edge_id, []).append(event)
        return found

    return index(call).once("edges taken", made)


def _check_edge(call: Call, name: str) -> None:
    declared = call.flow.states if call.flow is not None else ()
    edges = {edge.edge_id for state in declared for edge in state.transitions}
    _known("edge", name, edges.union(_edges(call)))


def _edge(call: Call, name: str) -> Track:
    return index(call).track(("edge", name), lambda: _edges(call).get(name, []))


def check_code(call: Call, name: str, argument: str = "on") -> None:
    """Refuse a code that no finding has.

    Raises:
        EngineError: ``BAD_ARGUMENT``, naming codes of similar names.
    """
    _known("finding", name, FINDINGS.keys(), argument)


def findings_of(call: Call, code: str) -> Track:
    """The events that findings of a code stand at."""
    known = index(call)
    return known.track(
        ("finding", code),
        lambda: [
            event for event, found in known.findings(call).items() if any(one.code == code for one in found)
        ],
    )


def _inputs(call: Call, name: str) -> Track:
    """Each input's ``input_selected``, else its first transcript or digit."""

    def events() -> Iterable[int]:
        first: dict[str, int] = {}
        selected = call.ledger.captured["input_selected"]
        for event, input_id in zip(selected.rows, selected.columns["input_id"], strict=True):
            if input_id is not None:
                first.setdefault(input_id, event)
        rows = [
            (event, input_id)
            for kind in ("caller_transcript", "dtmf_received")
            for event, input_id in zip(
                call.ledger.captured[kind].rows, call.ledger.captured[kind].columns["input_id"], strict=True
            )
            if input_id is not None
        ]
        for event, input_id in sorted(rows):
            first.setdefault(input_id, event)
        return first.values()

    return index(call).track("inputs", events)


def _milliseconds(name: str) -> float:
    try:
        ms = float(name)
    except ValueError:
        ms = math.nan
    if not math.isfinite(ms):
        raise EngineError("BAD_ARGUMENT", f"{shown(name)} is no number of milliseconds", argument="on")
    return ms


def _check_moment(call: Call, name: str) -> None:
    _milliseconds(name)


def _moment(call: Call, name: str) -> Track:
    """The first event, in call order, whose clock is at or after a moment."""
    known, ms = index(call), _milliseconds(name)
    ordered = known.in_order(call)
    reached = np.flatnonzero(known.clocks(call)[ordered] >= ms)[:1]
    events = ordered[reached]
    return Track(known.place[events], events)


FORMS: dict[str, Form] = {
    "state": Form("state:<state>", check_state, lambda call, name: index(call).state(call, name)),
    "visit": Form("visit:<visit>", _check_visit, _visit),
    "event": Form("event:<kind>", check_kind, lambda call, name: index(call).kind(call, name)),
    "slot": Form("slot:<name>", check_slot, lambda call, name: index(call).slot(call, name)),
    "guard": Form("guard:<name>[=true|false]", _check_guard, _guard_track),
    "edge": Form("edge:<edge>", _check_edge, _edge),
    "finding": Form("finding:<code>", check_code, findings_of),
    "input": Form("input", lambda call, name: None, _inputs),
    "time": Form("time:<ms>", _check_moment, _moment),
}
USAGE = ", ".join(form.usage for form in FORMS.values())
