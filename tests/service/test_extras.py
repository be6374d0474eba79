"""Without the extras everything else works, and what needs one says which (contract of the house)."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.service.asked import SAMPLES

CALL = str(SAMPLES / "property-menu")
WITHOUT = """
import sys
for name in ("cel", "litestar", "uvicorn"):
    sys.modules[name] = None
import riff_tui.app
from engine.service.cli import main
main(sys.argv[1:])
"""
CONDITION = '[{"on": "slot:_route", "when": "true"}]'


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["open", CALL], 0, None),
        (["continue", CALL, "--arg", 'breakpoints=[{"on": "slot:_route"}]'], 0, None),
        (["continue", CALL, "--arg", f"breakpoints={CONDITION}"], 3, "riff-tui[cel]"),
        (["--calls", str(SAMPLES), "serve"], 3, "riff-tui[api]"),
    ],
)
def test_without_the_extras(words: list[str], status: int, says: str | None) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stderr
    if says is not None:
        assert says in json.loads(done.stdout)["error"]["message"]
