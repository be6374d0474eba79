"""The compiled flow a call ran (contract 1.8). None is "not stated"."""

from __future__ import annotations

from typing import Any

import msgspec


class Slot(msgspec.Struct, frozen=True):
    """A declared variable. `default` is a fact only as a seed of writer ``flow_default``."""

    name: str
    type: str | None
    classification: str | None
    default: Any


class Prompt(msgspec.Struct, frozen=True):
    """What a state says: a text, a recorded asset, or both."""

    text: str | None
    asset_id: str | None


class AudioPolicy(msgspec.Struct, frozen=True):
    """How a state listens; `timeout_ms` in ms."""

    barge_in: bool | None
    timeout_ms: float | int | None


class Option(msgspec.Struct, frozen=True):
    """One option of a locked choice. `value` is any JSON."""

    value: Any
    phrases: tuple[str, ...]
    dtmf: str | None


class LockedChoice(msgspec.Struct, frozen=True):
    """The slot a menu fills, and what it may be filled with."""

    slot: str | None
    options: tuple[Option, ...]


class Tool(msgspec.Struct, frozen=True):
    """A tool of a state. `saves` maps a key of the result to the slot it is saved in."""

    name: str
    read_only: bool | None
    args: tuple[str, ...]
    saves: dict[str, str]


class Assignment(msgspec.Struct, frozen=True):
    """A value that an edge sets. `value` is any JSON."""

    slot: str
    value: Any


class Transition(msgspec.Struct, frozen=True):
    """A declared edge. `source` is the state that declares it; `index` its place in that state's list."""

    edge_id: str
    declaration_index: int
    source: str
    index: int
    to: str | None
    when: str | None
    reason: str | None
    sets: tuple[Assignment, ...]
    clears: tuple[str, ...]


class State(msgspec.Struct, frozen=True):
    """A state of the flow; its transitions stand in the order of the file."""

    id: str
    kind: str | None
    goal: str | None
    prompt: Prompt
    audio_policy: AudioPolicy
    required_slots: tuple[str, ...]
    static_reads: tuple[str, ...]
    max_no_progress_loops: int | None
    check_on_entry: bool
    locked_choice: LockedChoice | None
    tools: tuple[Tool, ...]
    transitions: tuple[Transition, ...]


class Flow(msgspec.Struct, frozen=True):
    """The compiled flow.

    Attributes:
        flow_version: As computed: ``sha256:<hex>`` of the object's canonical JSON without `flow_version`.
        stated_version: As the file states it.
        reset_on: What resets the no-progress streak; None where the file does not say.
        slot_order: Names of the declared slots in declaration order.
        by_state, by_edge: The first state, the first transition of an id.
        repeated_edges: Edge ids that several transitions have, sorted.
        problems: Paths of what is of a wrong type, lacks, or repeats an id, in file order.
        raw: The whole object, unknown keys included.
    """

    flow_id: str | None
    flow_version: str
    stated_version: str | None
    initial_state: str | None
    reset_on: tuple[str, ...] | None
    slots: tuple[Slot, ...]
    states: tuple[State, ...]
    slot_order: tuple[str, ...]
    by_slot: dict[str, Slot]
    by_state: dict[str, State]
    by_edge: dict[str, Transition]
    repeated_edges: tuple[str, ...]
    problems: tuple[str, ...]
    raw: dict[str, Any]

    @property
    def version_disagrees(self) -> bool:
        """Whether the file states another version than its content has (``FLOW_VERSION_MISMATCH``)."""
        return self.stated_version is not None and self.stated_version != self.flow_version
