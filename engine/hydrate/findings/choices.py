"""The same choice made twice (contract 2.12)."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.hydrate.call import Call
from engine.model.findings import Raised


def repeated(call: Call) -> list[Raised]:
    """Equal matched choices in two visits of one state: the caller had to say it again."""
    captured = call.ledger.captured.get("locked_choice_evaluated")
    if captured is None:
        return []
    columns = captured.columns
    last: dict[tuple[str, bytes], tuple[int, int]] = {}
    found = []
    for event, choice, result in zip(captured.rows, columns["choice"], columns["result"], strict=True):
        visit = int(call.owned.visit[event])
        if visit < 0 or choice is None or not _matched(result):
            continue
        key = (call.visits[visit].state_id, msgspec.json.encode(choice, order="sorted"))
        before = last.get(key)
        last[key] = (event, visit)
        if before is None or before[1] == visit:
            continue
        first, later = call.visits[before[1]].visit_id, call.visits[visit].visit_id
        data = {"choice": choice, "slot": _filled(call, key[0]), "baseline_visit_id": first,
                "candidate_visit_id": later}  # fmt: skip
        told = f"{first} and {later} both matched the same choice"
        found.append(Raised("CHOICE_REPEATED", event, told, visit=visit, events=(before[0],), data=data))
    return found


def _filled(call: Call, state_id: str) -> str | None:
    """The slot that a state's choice fills, as far as the flow says."""
    state = call.flow.by_state.get(state_id) if call.flow else None
    return state.locked_choice.slot if state is not None and state.locked_choice is not None else None


def _matched(result: Any) -> bool:
    return result == "matched" or result is True
