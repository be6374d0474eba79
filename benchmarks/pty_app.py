"""A real terminal of 80×24 for a program: its output with the time at which each piece arrived."""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from benchmarks.measure import ROOT

ROWS, COLUMNS = 24, 80
QUIET = 0.1
"""Seconds without output after which a screen counts as painted."""
PATIENCE = 30.0
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[PX^_\]].*?(?:\x1b\\|\x07)|\x1b[@-Z\\-_]", re.DOTALL)


def app_command(call: Path) -> list[str]:
    """How a user starts the app on a call."""
    script = Path(sys.executable).with_name("riff-tui")
    if script.exists():
        return [str(script), str(call)]
    return [sys.executable, "-c", "from riff_tui.cli import main; main()", str(call)]


def environment() -> dict[str, str]:
    """A plain colour terminal, on this machine."""
    kept = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV")
    made = {name: os.environ[name] for name in kept if name in os.environ}
    return made | {"TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONPATH": str(ROOT)}


class PtyApp:
    """A program at the other end of a pseudo-terminal."""

    def __init__(self, command: list[str]) -> None:
        self.master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.output = bytearray()
        self.started = perf_counter()
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=environment(), start_new_session=True
        )
        os.close(slave)

    def read(self, patience: float) -> float | None:
        """Wait for the next output; gives the time it came, None when none came."""
        if not select.select([self.master], [], [], patience)[0]:
            return None
        try:
            piece = os.read(self.master, 1 << 16)
        except OSError:  # the other end is closed
            piece = b""
        if not piece:
            raise RuntimeError(f"the program ended early:\n{self.text()[-2000:]}")
        self.output += piece
        return perf_counter()

    def text(self) -> str:
        """All output so far without its escape sequences."""
        return _ESCAPES.sub("", self.output.decode("utf-8", "replace"))

    def until(self, wanted: Callable[[str], bool]) -> float:
        """Read until the output so far has what is wanted; gives the time."""
        deadline = perf_counter() + PATIENCE
        while perf_counter() < deadline:
            now = self.read(PATIENCE)
            if now is not None and wanted(self.text()):
                return now
        raise RuntimeError(f"this never came to the screen; it shows:\n{self.text()[-2000:]}")

    def settle(self) -> float | None:
        """Read until nothing has come for a while; gives the time of the last output, None for none."""
        last = None
        while (now := self.read(QUIET)) is not None:
            last = now
        return last

    def press(self, keys: str) -> tuple[float, int] | None:
        """Send keys; gives the seconds until the last byte of what they painted, and how many bytes."""
        before = len(self.output)
        begin = perf_counter()
        os.write(self.master, keys.encode())
        last = self.settle()
        return None if last is None else (last - begin, len(self.output) - before)

    def close(self) -> None:
        """End the program and its session."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            try:
                while self.process.poll() is None:
                    if self.read(PATIENCE) is None:
                        os.killpg(self.process.pid, signal.SIGKILL)
            except (RuntimeError, ProcessLookupError):
                pass
        self.process.wait()
        os.close(self.master)
