"""``describe``: what can be asked, as JSON Schema made from the table of actions (contract 3.2, 3.3)."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.model.commands import Request, Response
from engine.service.action import Action, Args, Asked, Outcome
from engine.service.actions import ACTIONS


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


def _run(asked: Asked, args: Args) -> Outcome:
    """Every action, with its JSON Schemas."""
    return Outcome(describe())


DESCRIBE = Action(
    "describe", Args, _run, Description, "Every action, with the schemas of its arguments and result."
)


ALL: dict[str, Action] = ACTIONS | {DESCRIBE.name: DESCRIBE}
"""Every action, by name."""


def describe() -> Description:
    """Every action with its schemas."""
    actions = list(ALL.values())
    types = [Request, Response, *(one for action in actions for one in (action.args, action.result))]
    schemas, components = msgspec.json.schema_components(types, ref_template="#/components/{name}")
    request, response, *rest = schemas
    pairs = zip(actions, rest[::2], rest[1::2], strict=True)
    described = [Described(action.name, action.summary, one, two) for action, one, two in pairs]
    return Description(request, response, described, components)
