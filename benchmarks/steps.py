"""The cost of a step. `python -m benchmarks.steps LONG SHORT` walks both calls in turns and prints JSON.

A step is what one key press asks of the engine: `cursor.step` by one event, forward or back, then the event's
row, the variables, the edges and the status at the new place. Walks start at random events of the call, in a
long call mostly in visits that were never looked at before. A short one would soon have no such visits left:
each of its walks begins in a call just opened. Opening and the jump to the start are not timed.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.measure import median, percentile
from engine.debug import cursor, projection
from engine.hydrate.pipeline import open_call

WALKS = 200
LENGTH = 20
SEED = 20260710


def walk(call: Any, chance: random.Random, times: list[float]) -> None:
    """A run of steps from a random place; one direction, with a turn now and then."""
    count = len(call.order.micro)
    place = cursor.cursor_of(call, int(call.order.micro[chance.randrange(count)]))
    direction = chance.choice((-1, 1))
    for _ in range(LENGTH):
        if chance.random() < 0.2:
            direction = -direction
        begin = perf_counter()
        place = cursor.step(call, place, direction).cursor
        projection.event_row(call, place.visit, place.micro)
        projection.variables(call, place)
        projection.edges(call, place)
        projection.status(call, place)
        times.append(perf_counter() - begin)


def opened(path: Path) -> Any:
    """A call that was asked one question: what is built once a call is there."""
    call = open_call(path)
    place = cursor.opening(call)
    cursor.step(call, place, 1)
    for ask in (projection.variables, projection.edges, projection.status):
        ask(call, place)
    return call


def main(long: Path, short: Path) -> None:
    """Walk both calls in turns."""
    call = opened(long)
    chances = random.Random(SEED), random.Random(SEED)
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(WALKS):
        walk(call, chances[0], times[0])
        walk(opened(short), chances[1], times[1])
    found = [
        {"median": median(one), "p99": percentile(one, 0.99), "worst": max(one), "steps": len(one)}
        for one in times
    ]
    print(json.dumps({"calls": found}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
