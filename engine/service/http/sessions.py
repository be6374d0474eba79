"""Sessions of HTTP clients: breakpoints under a token that the client chose (contract 3.2)."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from engine.debug.session import Session

IDLE_SECONDS = 30 * 60.0
MOST = 1000
SHORTEST, LONGEST = 16, 200
"""Characters of a token."""


class Sessions:
    """The sessions of many clients; those that nobody asked for longest go first.

    Args:
        clock: Seconds from anywhere on.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[str, tuple[float, Session]] = OrderedDict()

    def get(self, token: str) -> Session:
        """The session of a token; a new one where there is none, or it was idle too long."""
        self._expire()
        return self._kept[token][1] if token in self._kept else Session()

    def put(self, token: str, session: Session) -> None:
        """Keep what a session became."""
        self._kept[token] = self._clock(), session
        self._kept.move_to_end(token)
        if len(self._kept) > MOST:
            self._kept.popitem(last=False)

    def _expire(self) -> None:
        now = self._clock()
        while self._kept and now - next(iter(self._kept.values()))[0] > IDLE_SECONDS:
            self._kept.popitem(last=False)
