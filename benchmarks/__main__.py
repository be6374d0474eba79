"""`make bench`: every speed that the debugger promises, measured, beside its budget.

`python -m benchmarks [NAME...]` measures all groups, or those named. Exit status 1 when a budget does not
hold. Each figure comes from fresh processes; what is compared was measured in turns, in this run.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.calls import cached_call
from benchmarks.measure import Figure, child, median, megabytes, seconds

LONG, SHORT, PAINTED, WIDE = 1_000_000, 1_000, 500, 100_000
ROUNDS = 9
TIMES, MEMORY_TIMES, STEP_TIMES, PAINT_TIMES = 4.0, 3.0, 1.5, 2.0
STEP, KEY = 0.001, 0.05
AGAIN = 0.05
DISPATCH, PLAIN, ASKED, CANCEL = 0.0002, 0.05, 2.0, 0.1


def ledger_bytes(call: Path) -> int:
    """Size of the ledgers of a call."""
    return sum((call / name).stat().st_size for name in ("state_trace.jsonl", "bus_events.jsonl"))


def hydration() -> list[Figure]:
    """Hydration of a long call against decoding nothing but its envelopes, and the artifact's bytes.

    Medians are held against the budget; the best rounds stand beside them.
    """
    call = cached_call(LONG)
    child("floor", str(call))  # the first round of each warms the file and the machine's memory
    child("hydration", str(call))
    floors, found = [], []
    for _ in range(ROUNDS):
        floors.append(child("floor", str(call)))
        found.append(child("hydration", str(call)))
    by_line = [one["by_line"] for one in floors]
    rounds = [one["open"] + one["screen"] for one in found]
    floor, whole = median(by_line), median(rounds)
    artifact = child("hydration", str(call), "artifact")
    how = f"{LONG:,} events, {megabytes(ledger_bytes(call))}, median of {ROUNDS}"
    return [
        Figure("decode the envelopes, by line", seconds(floor), how=how),
        Figure("decode them into one list", seconds(median([one["whole"] for one in floors])), how=how),
        Figure("hydrate", seconds(median([one["open"] for one in found])), how=how),
        Figure("first screen", seconds(median([one["screen"] for one in found])), how=how),
        Figure("hydrate, to the first screen", seconds(whole), f"≤ {TIMES:g} × by line",
               f"{whole / floor:.2f} ×", whole <= TIMES * floor, how),
        Figure("the same, best rounds", seconds(min(rounds)), "", f"{min(rounds) / min(by_line):.2f} ×",
               how=f"best of {ROUNDS} of each"),
        Figure("the conversation lane behind it", seconds(median([one["lane"] for one in found])), how=how),
        Figure("the artifact's bytes", seconds(artifact["artifact"]),
               how=f"{megabytes(artifact['artifact_bytes'])} of JSON, once"),
    ]  # fmt: skip


def reopening() -> list[Figure]:
    """Opening a long call that has not changed, from its kept columns."""
    call = str(cached_call(LONG))
    with tempfile.TemporaryDirectory() as folder:
        first = child("reopening", call, folder)
        again = [child("reopening", call, folder) for _ in range(ROUNDS)]
    opened = median([one["open"] for one in again])
    assert {one["hash"] for one in again} == {first["hash"]}
    how = f"{LONG:,} events, {megabytes(first['bytes'])} of columns, median of {ROUNDS}"
    return [
        Figure("open it the first time", seconds(first["open"]), how="once"),
        Figure("keep its columns, behind that", seconds(first["keep"]), how="once"),
        Figure("open it unchanged", seconds(opened), f"≤ {AGAIN:.0%} of the first",
               f"{opened / first['open']:.1%}", opened <= AGAIN * first["open"], how),
        Figure("answer the action open then", seconds(median([one["answer"] for one in again])), how=how),
    ]  # fmt: skip


def memory() -> list[Figure]:
    """Peak memory of that hydration, all of its processes together."""
    call = cached_call(LONG)
    found = child("memory", str(call))
    size = ledger_bytes(call)
    how = f"{found['samples']} samples of all processes" if found["sampled"] else "peak resident sizes added"
    return [
        Figure("peak memory", megabytes(found["peak"]), f"≤ {MEMORY_TIMES:g} × the file",
               f"{found['peak'] / size:.2f} ×", found["peak"] <= MEMORY_TIMES * size, how)
    ]  # fmt: skip


def steps() -> list[Figure]:
    """A step with all that it shows, in a long call and in a short one."""
    found = child("steps", str(cached_call(LONG)), str(cached_call(SHORT)))
    long, short = found["calls"]
    how = f"{long['steps']:,} steps from random places, both calls in turns"
    return [
        Figure(f"step in {SHORT:,} events, p99", seconds(short["p99"]), how=how),
        Figure(f"step in {LONG:,} events, p99", seconds(long["p99"]), f"≤ {seconds(STEP)}", "",
               long["p99"] <= STEP, how),
        Figure("long against short, p99", f"{long['p99'] / short['p99']:.2f} ×", f"≤ {STEP_TIMES:g} ×", "",
               long["p99"] <= STEP_TIMES * short["p99"], how),
    ]  # fmt: skip


def commands() -> list[Figure]:
    """What the dispatcher adds to a command, and runs back over a long call."""
    found = child("commands", str(cached_call(LONG)))
    many = f"backwards over {LONG:,} events, {found['candidates']:,} candidates"
    return [
        Figure("dispatching a command", seconds(found["overhead"]), f"≤ {seconds(DISPATCH)}", "",
               found["overhead"] <= DISPATCH, "what it adds, median"),
        Figure("run without candidates", seconds(found["plain"]), f"≤ {seconds(PLAIN)}", "",
               found["plain"] <= PLAIN, f"backwards over {LONG:,} events"),
        Figure("run, condition never holds", seconds(found["asked"]), f"≤ {seconds(ASKED)}", "",
               found["asked"] <= ASKED, many),
        Figure("cancelling that run", seconds(found["cancel"]), f"≤ {seconds(CANCEL)}", "",
               found["cancel"] <= CANCEL, many),
    ]  # fmt: skip


def keys() -> list[Figure]:
    """From key to paint in a visit of very many events, in a terminal."""
    found = child("keys", str(cached_call(WIDE + 20_000, visit_events=WIDE)), "desk#1")
    how = f"{found['keys']} keys at 80×24, a visit of {WIDE:,} events"
    return [
        Figure("key to paint, p95", seconds(found["p95"]), f"≤ {seconds(KEY)}", "", found["p95"] <= KEY, how),
        Figure("key to paint, median", seconds(found["median"]), how=f"{found['bytes']:.0f} bytes a key"),
        Figure("another pane, median", seconds(found["switch"]), how=f"{found['switches']} keys"),
    ]


def first_paint() -> list[Figure]:
    """From the command to the first frame, against importing Textual."""
    found = child("first_paint", str(cached_call(PAINTED)))
    how = f"{PAINTED} events, median of {found['rounds']}, in turns"
    ratio = found["first"] / found["textual"]
    return [
        Figure("python -c 'import textual.app'", seconds(found["textual"]), how=how),
        Figure("riff-tui to first paint", seconds(found["first"]), f"≤ {PAINT_TIMES:g} × the import",
               f"{ratio:.2f} ×", ratio <= PAINT_TIMES, how),
        Figure("riff-tui until the call is shown", seconds(found["opened"]), how=how),
    ]  # fmt: skip


GROUPS: dict[str, Callable[[], list[Figure]]] = {
    "hydration": hydration,
    "reopening": reopening,
    "memory": memory,
    "steps": steps,
    "commands": commands,
    "keys": keys,
    "first_paint": first_paint,
}


def main(names: list[str]) -> int:
    """Measure the groups named, all without names; gives the exit status."""
    unknown = [name for name in names if name not in GROUPS]
    if unknown:
        print(f"no group {', '.join(unknown)}; there are {', '.join(GROUPS)}", file=sys.stderr)
        return 2
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}\n")
    head = Figure("what", "measured", "budget", "ratio", None, "how")
    print(_line(head, ""))
    failed = 0
    for name in names or GROUPS:
        for figure in GROUPS[name]():
            failed += figure.ok is False
            print(_line(figure, {True: "ok", False: "OVER", None: ""}[figure.ok]), flush=True)
    print(f"\n{failed} over budget" if failed else "\nall within budget")
    return 1 if failed else 0


def _line(figure: Figure, word: str) -> str:
    name, measured, budget, ratio, _, how = figure
    return f"{name:<34}{measured:>10}  {budget:<20}{ratio:>7}  {word:<5} {how}".rstrip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
