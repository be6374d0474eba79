"""Where turns end: the rows that close them (contract 1.4 ``turn_complete``, 6.1)."""

from __future__ import annotations

import numpy as np

from engine.hydrate.call import KIND_CODES, Call


def turn_ends(call: Call) -> list[tuple[int, int]]:
    """Turn index and event of each row that closes a turn, in recorded order.

    In a call of turn records only, each record is its whole turn. A ``turn_complete`` without a valid index
    closes a turn that nobody can name, and is left out.
    """
    if call.parts.turns_only:
        return [(record.turn_index, event) for event, record in enumerate(call.parts.turns)]
    found = []
    for event in np.flatnonzero(call.ledger.kind == KIND_CODES["turn_complete"]).tolist():
        index = call.ledger.flat(event).get("turn_index")
        if isinstance(index, int) and not isinstance(index, bool):
            found.append((index, event))
    return found
