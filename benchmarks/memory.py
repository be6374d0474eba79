"""Peak memory of one hydration up to the first screen. `python -m benchmarks.memory CALL` prints JSON.

All processes of the hydration count. Where the system tells the proportional size of a process (Linux), the
sum over all of them is sampled every few milliseconds, so that a page which two of them share counts once;
elsewhere the peak resident sizes are added up, which is an upper bound.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from time import sleep

from benchmarks.measure import ROOT

_PAUSE = 0.01


def _tree(root: int) -> list[int]:
    """A process and those it started, at any depth."""
    found = [root]
    for pid in found:
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            try:
                found += [int(child) for child in task.read_text().split()]
            except OSError:
                continue  # it has ended
    return found


def _proportional(pid: int) -> int:
    """Bytes of a process, its share of shared pages; 0 for one that has ended."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        return 0
    return 0


def main(call: Path) -> None:
    """Hydrate in a process of its own and watch it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.hydration", str(call)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    sampled = os.path.exists(f"/proc/{process.pid}/smaps_rollup")
    peak = samples = 0
    while sampled and process.poll() is None:
        peak = max(peak, sum(map(_proportional, _tree(process.pid))))
        samples += 1
        sleep(_PAUSE)
    told = process.communicate()[0]
    if process.returncode != 0:
        raise SystemExit(f"the hydration failed with {process.returncode}")
    if not sampled:
        peak = sum(json.loads(told)["peak"])
    print(json.dumps({"peak": peak, "samples": samples, "sampled": sampled}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
