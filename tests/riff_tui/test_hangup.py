"""A terminal that goes away under the app: the process ends, and does not spin."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SAMPLE = Path(__file__).parents[2] / "sample_artifacts" / "property-menu"
UNWRITTEN = 120
"""Python's own exit status where what it had still to write finds no terminal."""
pytestmark = pytest.mark.skipif(not hasattr(select, "poll"), reason="there is no way to wait for it here")


@contextmanager
def running(session: bool) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The app on a terminal of its own, as the leader of its session or not; gives the other end too."""
    master, slave = pty.openpty()
    words = [sys.executable, "-m", "riff_tui.cli", str(SAMPLE)]
    process = subprocess.Popen(
        words, stdin=slave, stdout=slave, stderr=slave, start_new_session=session,
        env=os.environ | {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"},
    )  # fmt: skip
    os.close(slave)
    try:
        yield process, master
    finally:
        process.kill()
        process.wait()


def shown(master: int, text: bytes, seconds: float = 20.0) -> None:
    """Read what the app draws until a text is among it."""
    seen, end = b"", time.monotonic() + seconds
    while text not in seen:
        ready, _, _ = select.select([master], [], [], max(0.0, end - time.monotonic()))
        assert ready, f"{text!r} was not drawn"
        seen += os.read(master, 65_536)


@pytest.mark.parametrize("session", [True, False], ids=["its own session", "another's session"])
@pytest.mark.parametrize("keys", [b"", b"?", b":menu"], ids=["debugger", "help", "prompt"])
def test_when_the_terminal_goes_the_process_ends(session: bool, keys: bytes) -> None:
    with running(session) as (process, master):
        shown(master, b"menu_full_announce")
        if keys:
            os.write(master, keys)
            time.sleep(0.3)
        os.close(master)
        process.wait(8)
        assert process.returncode in (128 + signal.SIGHUP, -signal.SIGHUP, UNWRITTEN)


def test_when_the_terminal_goes_while_it_starts_the_process_ends() -> None:
    with running(session=False) as (process, master):
        time.sleep(0.05)
        os.close(master)
        process.wait(8)
        assert process.returncode != 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_gives_the_terminal_back(number: int) -> None:
    with running(session=True) as (process, master):
        shown(master, b"menu_full_announce")
        process.send_signal(number)
        shown(master, b"\x1b[?1049l")  # the screen from before
        assert process.wait(8) == 128 + number
        os.close(master)
