"""The table of actions: from it come dispatch, command line, schema and help (contract 3.3)."""

from __future__ import annotations

from engine.service.action import Action, StoreAction
from engine.service.actions import (
    calls,
    comparing,
    exports,
    histories,
    inspections,
    lists,
    motions,
    overview,
    running,
)

ON_A_CALL: dict[str, Action] = {
    action.name: action
    for module in (overview, lists, motions, running, inspections, histories, comparing, exports)
    for action in module.ACTIONS
}
"""Name → action that is asked at a cursor of a call, in the order that help shows."""
ON_CALLS: dict[str, StoreAction] = {action.name: action for action in calls.ACTIONS}
"""Name → action that is asked of a folder of calls."""
