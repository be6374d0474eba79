"""Bricks of the measurements: figures, statistics, and children that report in JSON."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]


class Figure(NamedTuple):
    """One row of the table.

    Attributes:
        name: What was measured.
        measured: The value, with its unit.
        budget: What it may be at most; empty for figures without a budget.
        ratio: Measured against the budget's base, or the room that is left.
        ok: Whether the budget holds; None without one.
        how: What it was measured with.
    """

    name: str
    measured: str
    budget: str = ""
    ratio: str = ""
    ok: bool | None = None
    how: str = ""


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, min(len(ordered) - 1, -int(-share * len(ordered) // 1) - 1))]


def median(values: Sequence[float]) -> float:
    """The middle value."""
    return statistics.median(values)


def child(module: str, *arguments: str) -> dict[str, Any]:
    """Run a module of this package in a fresh Python and read the JSON object it prints.

    Raises:
        RuntimeError: It failed.
    """
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{module}", *arguments],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(f"benchmarks.{module} {' '.join(arguments)} failed:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def seconds(value: float) -> str:
    """A duration as people read it."""
    return (
        f"{value:.2f} s"
        if value >= 1
        else f"{value * 1000:.1f} ms"
        if value >= 0.001
        else f"{value * 1e6:.0f} µs"
    )


def megabytes(value: float) -> str:
    """Bytes as MB of a million."""
    return f"{value / 1e6:,.0f} MB" if value >= 10e6 else f"{value / 1e6:.2f} MB"
