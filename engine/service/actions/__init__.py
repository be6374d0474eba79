"""The table of actions: from it come dispatch, command line, schema and help (contract 3.3)."""

from __future__ import annotations

from engine.service.action import Action
from engine.service.actions import comparing, histories, inspections, lists, motions, overview, running

ACTIONS: dict[str, Action] = {
    action.name: action
    for module in (overview, lists, motions, running, inspections, histories, comparing)
    for action in module.ACTIONS
}
"""Name → action, in the order that help shows."""
