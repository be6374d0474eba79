"""``riff-engine serve``: the API on a loopback port or a unix socket (contract 3.5)."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import socket
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from engine.model.errors import EngineError
from engine.service.http.app import create_app
from engine.service.library import Library

LOOPBACK = "127.0.0.1"
HEADER_SECONDS = 10.0
"""How long a connection may take to send its first headers."""
_TOKEN_BYTES = 32
_SHORTEST = 43
"""Characters of 256 bits in base 64."""


def token_from(path: Path) -> str:
    """The token of a file; a new file is made with a new token, readable by its owner only.

    Raises:
        EngineError: ``BAD_ARGUMENT`` where it can't be made or read, others may read it, or it is too short.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            token = secrets.token_urlsafe(_TOKEN_BYTES)
            file.write(token + "\n")
            return token
    except FileExistsError:
        pass
    except OSError as problem:
        raise _unusable(path, os.strerror(problem.errno or 0)) from None
    try:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise _unusable(path, "others may read it: chmod 600")
        token = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        raise _unusable(path, "it can't be read") from None
    if len(token) < _SHORTEST:
        raise _unusable(path, f"a token has at least {_SHORTEST} characters")
    return token


def _unusable(path: Path, why: str) -> EngineError:
    return EngineError("BAD_ARGUMENT", f"the token file {path}: {why}", argument="token_file")


def listening(port: int, path: Path | None) -> socket.socket:
    """A bound socket: a unix one at a path (mode 0600), else a port of the loopback interface.

    Raises:
        EngineError: ``BAD_ARGUMENT`` where it can't be bound.
    """
    try:
        if path is None:
            bound = socket.socket(socket.AF_INET)
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind((LOOPBACK, port))
            return bound
        bound = socket.socket(socket.AF_UNIX)
        before = os.umask(0o177)
        try:
            bound.bind(str(path))
        finally:
            os.umask(before)
        return bound
    except (OSError, OverflowError) as problem:
        where = f"port {port}" if path is None else str(path)
        raise EngineError(
            "BAD_ARGUMENT",
            f"{where} can't be bound: {problem}",
            argument="port" if path is None else "socket",
        ) from None


class Impatient(H11Protocol):
    """HTTP that closes a connection which sends no whole request head in time."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the head."""
        super().connection_made(transport)
        self._late: asyncio.TimerHandle | None = None
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Wait for the next head as for the first one."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        if self._late is not None:
            self._late.cancel()
        super().connection_lost(exc)

    def _answers(self) -> bool:
        """Whether a request is being answered, so that the client need not send."""
        return self.cycle is not None and not self.cycle.response_complete

    def _watch(self) -> None:
        if self._answers():
            if self._late is not None:
                self._late.cancel()
                self._late = None
        elif self._late is None:
            self._late = self.loop.call_later(HEADER_SECONDS, self._hang_up)

    def _hang_up(self) -> None:
        self._late = None
        if not self._answers():
            self.transport.close()


def serve(library: Library, token: str, bound: socket.socket, ready: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM.

    Args:
        library: The calls.
        token: What the bearer must know.
        bound: Where to listen, from `listening`.
        ready: Told the address before the first request.
    """
    config = uvicorn.Config(
        create_app(library, token), http=Impatient, ws="none", lifespan="on", log_level="warning",
        server_header=False, date_header=False, timeout_keep_alive=5, timeout_graceful_shutdown=5,
        proxy_headers=False, access_log=False,
    )  # fmt: skip
    bound.listen(128)
    name = bound.getsockname()
    ready(f"http://{name[0]}:{name[1]}" if isinstance(name, tuple) else f"unix:{name}")
    # The server ends by itself on both, then raises the signal again: let that end nothing in the middle.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        uvicorn.Server(config).run(sockets=[bound])
    except KeyboardInterrupt:
        return
    finally:
        bound.close()
        if isinstance(name, str) and name:
            Path(name).unlink(missing_ok=True)
