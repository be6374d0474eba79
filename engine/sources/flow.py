"""``flow.json`` as a `Flow`, tolerant of what a compiler left out or wrote otherwise (contract 1.8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Any, TypeVar

from msgspec import Meta

from engine.canonical import fingerprint
from engine.model.flow import (
    Assignment,
    AudioPolicy,
    Flow,
    LockedChoice,
    Option,
    Prompt,
    Slot,
    State,
    Tool,
    Transition,
)
from engine.model.limits import Limits
from engine.sources.contents import pick
from engine.sources.document import Fields, give_up, read_document
from engine.sources.files import CallFiles

SCHEMA = "riff.flow/v1"
_Count = Annotated[int, Meta(ge=0, lt=2**53)]
_T = TypeVar("_T")


def read_flow(files: CallFiles, limits: Limits) -> Flow | None:
    """The flow, or None when the call has none that can be read: the artifact says why.

    A flow of another schema is ``unreadable``.

    Raises:
        EngineError: ``LIMIT_EXCEEDED`` (``document_bytes``, ``json_depth``).
    """
    artifact = pick(files, "flow.json")
    document = read_document(artifact, limits)
    if document is None:
        return None
    schema = document.value.get("schema", SCHEMA)
    if schema != SCHEMA:
        give_up(artifact, f"of another schema than {SCHEMA}")
        return None
    flow = build_flow(document.value)
    artifact.malformed += len(flow.problems)
    return flow


def flow_version(raw: dict[str, Any]) -> str:
    """``sha256:<hex>`` of a flow's canonical JSON without its `flow_version`."""
    return fingerprint({key: value for key, value in raw.items() if key != "flow_version"})


def build_flow(raw: dict[str, Any]) -> Flow:
    """A `Flow` from a parsed object; whatever is missing stays unstated."""
    problems: list[str] = []
    fields = Fields(raw, "", problems)
    slots = _known(_slot(item) for _, item in fields.objects("slots"))
    states = _known(_state(item) for _, item in fields.objects("states"))
    transitions = [transition for state in states for transition in state.transitions]
    edges = Counter(transition.edge_id for transition in transitions)
    repeated = sorted(edge for edge, count in edges.items() if count > 1)
    problems += [f"slots: {name} twice" for name in _repeated(slot.name for slot in slots)]
    problems += [f"states: {name} twice" for name in _repeated(state.id for state in states)]
    problems += [f"edges: {edge} twice" for edge in repeated]
    progress = fields.within("progress")
    return Flow(
        flow_id=fields.get("flow_id", str),
        flow_version=flow_version(raw),
        stated_version=fields.get("flow_version", str),
        initial_state=fields.get("initial_state", str),
        reset_on=progress.texts("reset_on") if "reset_on" in progress.value else None,
        slots=slots,
        states=states,
        slot_order=tuple(dict.fromkeys(slot.name for slot in slots)),
        by_slot={slot.name: slot for slot in reversed(slots)},
        by_state={state.id: state for state in reversed(states)},
        by_edge={transition.edge_id: transition for transition in reversed(transitions)},
        repeated_edges=tuple(repeated),
        problems=tuple(problems),
        raw=raw,
    )


def _known(items: Iterable[_T | None]) -> tuple[_T, ...]:
    return tuple(item for item in items if item is not None)


def _repeated(names: Iterable[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


def _slot(fields: Fields) -> Slot | None:
    name = fields.need("name", str)
    if name is None:
        return None
    return Slot(name, fields.get("type", str), fields.get("classification", str), fields.value.get("default"))


def _state(fields: Fields) -> State | None:
    name = fields.need("id", str)
    if name is None:
        return None
    prompt, policy = fields.within("prompt"), fields.within("audio_policy")
    return State(
        id=name,
        kind=fields.get("kind", str),
        goal=fields.get("goal", str),
        prompt=Prompt(prompt.get("text", str), prompt.get("asset_id", str)),
        audio_policy=AudioPolicy(policy.get("barge_in", bool), policy.get("timeout_ms", float | int)),
        required_slots=fields.texts("required_slots"),
        static_reads=fields.texts("static_reads"),
        max_no_progress_loops=fields.get("max_no_progress_loops", _Count),
        check_on_entry=fields.get("check_on_entry", bool, False),
        locked_choice=_locked_choice(fields),
        tools=_known(_tool(item) for _, item in fields.objects("tools")),
        transitions=tuple(_transition(name, index, item) for index, item in fields.objects("transitions")),
    )


def _locked_choice(state: Fields) -> LockedChoice | None:
    fields = state.within("locked_choice")
    if not fields.value:
        return None
    options = tuple(
        Option(item.value.get("value"), item.texts("phrases"), item.get("dtmf", str))
        for _, item in fields.objects("options")
    )
    return LockedChoice(fields.need("slot", str), options)


def _tool(fields: Fields) -> Tool | None:
    name = fields.need("name", str)
    if name is None:
        return None
    saves = fields.get("saves", dict[str, str], {})
    return Tool(name, fields.get("read_only", bool), fields.texts("args"), saves)


def _transition(state: str, index: int, fields: Fields) -> Transition:
    declared = fields.get("declaration_index", _Count, index)
    return Transition(
        edge_id=fields.get("edge_id", str) or f"{state}:{declared}",
        declaration_index=declared,
        source=state,
        index=index,
        to=fields.need("to", str),
        when=fields.get("when", str),
        reason=fields.get("reason", str),
        sets=_known(_assignment(item) for _, item in fields.objects("sets")),
        clears=fields.texts("clears"),
    )


def _assignment(fields: Fields) -> Assignment | None:
    slot = fields.need("slot", str)
    return None if slot is None else Assignment(slot, fields.value.get("value"))
