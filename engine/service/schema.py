"""``describe``: what can be asked, as JSON Schema made from the table of actions (contract 3.2, 3.3)."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.model.commands import Request, Response
from engine.service.action import Action, Args, StoreAction, StoreOutcome
from engine.service.actions import ON_A_CALL, ON_CALLS
from engine.service.library import Library


class Described(msgspec.Struct, frozen=True):
    """One action, with the schemas of its arguments and its result."""

    action: str
    summary: str
    args: dict[str, Any]
    result: dict[str, Any]


class Description(msgspec.Struct, frozen=True):
    """Every action; the schemas refer to ``components``."""

    request: dict[str, Any]
    response: dict[str, Any]
    actions: list[Described]
    components: dict[str, Any]


def describe(library: Library, args: Args) -> StoreOutcome:
    """Every action, with its JSON Schemas."""
    actions = list(ALL.values())
    types = [Request, Response, *(one for action in actions for one in (action.args, action.result))]
    schemas, components = msgspec.json.schema_components(types, ref_template="#/components/{name}")
    request, response, *rest = schemas
    pairs = zip(actions, rest[::2], rest[1::2], strict=True)
    described = [Described(action.name, action.summary, one, two) for action, one, two in pairs]
    return StoreOutcome(Description(request, response, described, components))


WITHOUT_A_CALL: dict[str, StoreAction] = ON_CALLS | {
    "describe": StoreAction("describe", Args, describe, Description, "Every action, with its JSON Schemas.")
}
"""Name → action that needs no cursor."""
ALL: dict[str, Action | StoreAction] = {**ON_A_CALL, **WITHOUT_A_CALL}
"""Every action, by name."""
