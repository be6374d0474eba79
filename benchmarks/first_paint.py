"""From the start of `riff-tui CALL` to its first frame, beside `import textual.app` alone.

`python -m benchmarks.first_paint CALL` prints JSON. Both run in turns, five times; the app on a
pseudo-terminal of 80×24. The first paint is the first output that shows the call's name in the
title line; the time until the call itself is on the screen is printed too.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter

from benchmarks.measure import ROOT, median
from benchmarks.pty_app import PtyApp, app_command, environment

ROUNDS = 5


def start_app(call: Path) -> tuple[float, float]:
    """Seconds from start to the first frame, and to the breadcrumb of the open call."""
    app = PtyApp(app_command(call))
    try:
        painted = app.until(lambda text: call.name in text)
        opened = app.until(lambda text: "▶ " in text) if "▶ " not in app.text() else painted
        return painted - app.started, opened - app.started
    finally:
        app.close()


def start_textual() -> float:
    """Seconds that a Python takes which only imports Textual."""
    begin = perf_counter()
    subprocess.run([sys.executable, "-c", "import textual.app"], check=True, cwd=ROOT, env=environment())
    return perf_counter() - begin


def main(call: Path) -> None:
    """Measure in turns, after one round that fills the caches."""
    start_app(call)
    start_textual()
    textual: list[float] = []
    painted: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        textual.append(start_textual())
        painted.append(start_app(call))
    first, opened = zip(*painted, strict=True)
    print(
        json.dumps({"textual": median(textual), "first": median(first), "opened": median(opened),
                    "rounds": ROUNDS})
    )  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]))
