"""Who may ask: the right host and the right token, before anything else is looked at (contract 3.5)."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from engine.canonical import canonical
from engine.model.errors import EngineError
from engine.service.http.status import status_of

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Any, Any, Any], Awaitable[None]]
HOSTS = ("127.0.0.1", "localhost", "[::1]")


class Guard:
    """An ASGI application in front of another.

    A wrong ``Host`` is refused, so that a page in a browser can't reach the API under a name of its own.

    Args:
        app: What is guarded.
        token: What the bearer must know.
    """

    def __init__(self, app: App, token: str) -> None:
        self._app = app
        self._wanted = b"Bearer " + token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what may pass."""
        if scope["type"] == "http":
            refused = self._refused(scope["headers"])
            if refused is not None:
                await tell(send, refused)
                return
        elif scope["type"] != "lifespan":
            return
        await self._app(scope, receive, send)

    def _refused(self, headers: list[tuple[bytes, bytes]]) -> EngineError | None:
        hosts = [value for name, value in headers if name == b"host"]
        if len(hosts) != 1 or _without_port(hosts[0].decode("latin-1")) not in HOSTS:
            return EngineError("UNAUTHORIZED", f"the API is asked at {', '.join(HOSTS)} only")
        given = [value for name, value in headers if name == b"authorization"]
        if len(given) != 1 or not hmac.compare_digest(given[0], self._wanted):
            return EngineError("UNAUTHORIZED", "send the token as Authorization: Bearer")
        return None


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host


async def tell(send: Send, error: EngineError) -> None:
    """Send an error as a response."""
    body = canonical(error.document())
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if error.code == "UNAUTHORIZED":
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status_of(error), "headers": headers})
    await send({"type": "http.response.body", "body": body})
