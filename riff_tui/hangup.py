"""A terminal that goes away: the app ends, and its process ends with it, whatever still runs.

SIGHUP alone does not tell it: only the processes of the terminal's own session are sent one. Elsewhere
Textual reads "nothing" from the dead terminal for ever, at full speed, and waits for a writer that has
stopped.
"""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Callable

STATUS = 128 + getattr(signal, "SIGHUP", signal.SIGTERM)
"""Exit status of a process whose terminal is gone: that of the signal for it."""
GRACE = 2.0
"""Seconds that the app has to end by itself; nothing of the terminal is left to be restored."""
GONE = getattr(select, "POLLHUP", 0) | getattr(select, "POLLERR", 0)


def watch(terminal: int, leave: Callable[[], object], grace: float = GRACE) -> threading.Thread | None:
    """Call `leave` when a terminal has gone away, and end the process when that was not enough.

    Waits in a thread of its own, which costs nothing and holds nothing up.

    Args:
        terminal: File descriptor that the keys come from.
        leave: Called from the thread.
        grace: Seconds between `leave` and the end of the process.

    Returns:
        The thread; None where the system has no way to wait for it.
    """
    if not hasattr(select, "poll"):
        return None
    thread = threading.Thread(target=_wait, args=(terminal, leave, grace), name="riff-hangup", daemon=True)
    thread.start()
    return thread


def _wait(terminal: int, leave: Callable[[], object], grace: float) -> None:
    poll = select.poll()
    poll.register(terminal, 0)  # no event but those that can't be left out: hung up, error
    if any(what & GONE for _, what in poll.poll()):
        leave()
        time.sleep(grace)
        os._exit(STATUS)
