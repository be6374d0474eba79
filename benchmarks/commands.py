"""Commands on a long call. `python -m benchmarks.commands CALL` prints JSON.

What the dispatcher adds to a command is its whole time, from the bytes of the request to those of the answer,
less the time of asking for the same things directly. Runs go backwards from the end of the call. How long a
cancelled one goes on is at worst the longest time between two looks whether to give up.
"""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.measure import median
from engine.debug import cursor, projection
from engine.debug.session import Session
from engine.hydrate.pipeline import open_call
from engine.model.commands import REQUEST
from engine.service import answers
from engine.service.dispatcher import answer
from engine.service.library import Opened

COMMANDS = 2000


def overhead(call: Any) -> float:
    """Seconds that the dispatcher adds to a step, the median of many."""
    library, added = Opened(call), []
    place = cursor.opening(call)
    for _ in range(COMMANDS):
        stands = answers.place(call, place)
        assert stands is not None
        where = {"event_id": stands.event_id, "visit_id": stands.visit_id}
        body = json.dumps(
            {"schema": REQUEST, "action": "step_into", "session_id": call.session_id, "cursor": where}
        ).encode()
        begin = perf_counter()
        answer(body, library)
        between = perf_counter()
        after = cursor.step(call, place, 1).cursor
        answers.delta(call, place, after)
        answers.exit_decision(call, after.visit)
        answers.fields(call, after, ("visit", "event", "clock_ms", "findings_here"))
        projection.findings_here(call, after)
        added.append((between - begin) - (perf_counter() - between))
        place = after
    return median(added)


def run(call: Any, points: list[dict[str, Any]], cancelled: Any = None) -> tuple[float, dict[str, Any]]:
    """A run from the end of the call to its start."""
    stands = answers.place(call, cursor.end(call))
    assert stands is not None
    body = json.dumps(
        {"schema": REQUEST, "action": "reverse_continue", "session_id": call.session_id,
         "cursor": {"event_id": stands.event_id}, "args": {"breakpoints": points}}
    ).encode()  # fmt: skip
    begin = perf_counter()
    told = answer(body, Opened(call), Session(), cancelled)
    return perf_counter() - begin, json.loads(told.document)


def main(path: Path) -> None:
    """Measure and print."""
    call = open_call(path)
    slot = max(call.slot_order, key=lambda slot: len(call.writes_of(slot)))
    never = {"on": f"slot:{slot}", "when": f"slots.{slot} == 'no such value'"}
    plain, found = run(call, [{"on": "finding:CLOCK_REGRESSION"}])
    assert found["result"]["hit"] is None, found
    asked, told = run(call, [never])
    assert told["result"]["hit"] is None, told
    looks = [perf_counter()]

    def cancelled() -> bool:
        looks.append(perf_counter())
        return False

    run(call, [never], cancelled)
    looks.append(perf_counter())
    longest = max(after - before for before, after in pairwise(looks))
    print(
        json.dumps(
            {"overhead": overhead(call), "plain": plain, "asked": asked,
             "candidates": len(call.writes_of(slot)), "cancel": longest}
        )
    )  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]))
