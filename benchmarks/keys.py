"""From key to paint, in a real terminal. `python -m benchmarks.keys CALL` prints JSON.

The app runs on a pseudo-terminal of 80×24. A key counts from its write to the last byte of output that came
before the terminal had been quiet for 100 ms: all frames that the key caused, with everything in between.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from time import sleep

from benchmarks.measure import median, percentile
from benchmarks.pty_app import PtyApp, app_command

TIME = ("s", "s", "S", "i", "s", "I", "s", "i", "S", "s")
"""Motions through time: to the next or previous event, or the next or previous one that means something."""
LIST = ("\x1b[6~", "\x1b[6~", "\x1b[5~", "\x1b[B", "\x1b[B", "\x1b[A")
"""Pages and rows of the list."""
ROUND = (*TIME, *TIME, *"250s", *TIME, *TIME, *"90I", *LIST)
"""With two counted motions; each digit is a key of its own."""
SWITCHES = "421421356421"
"""Keys that put another pane on the screen, or the focus into one: they lay out the screen anew."""


ESCAPE = 0.3
"""Seconds after which an escape on its own is surely taken as one."""


def timed(app: PtyApp, keys: Iterable[str]) -> tuple[list[float], list[int]]:
    """Press one key after the other; gives seconds to paint and bytes of each."""
    times: list[float] = []
    sizes: list[int] = []
    for key in keys:
        painted = app.press(key)
        if painted is None:
            raise RuntimeError(f"the key {key!r} painted nothing")
        times.append(painted[0])
        sizes.append(painted[1])
    return times, sizes


def main(path: Path, visit: str, rounds: int = 4) -> None:
    """Walk through a visit and time every key."""
    app = PtyApp(app_command(path))
    try:
        opened = app.until(lambda text: re.search(r"bus:\d+|● complete", text) is not None)
        app.settle()
        for keys in (":", visit, "\r", "5000s"):
            app.press(keys)
        times, sizes = timed(app, ROUND * rounds)
        if f"▶ {visit}" not in app.text():
            raise RuntimeError(f"the app does not stand in {visit}")
        app.press("\x1b")
        sleep(ESCAPE)  # before that, the next key would be read as one with Alt
        switches, _ = timed(app, SWITCHES)
    finally:
        app.close()
    print(
        json.dumps(
            {"opened": opened - app.started, "median": median(times), "p95": percentile(times, 0.95),
             "worst": max(times), "keys": len(times), "bytes": median(sizes),
             "switches": len(switches), "switch": median(switches), "slowest": max(switches)}
        )
    )  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
