"""Routes of the HTTP API, each one a request to the dispatcher; the same bytes as any client gets."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any
from weakref import WeakValueDictionary

import anyio
import anyio.to_thread
import msgspec
from litestar import Litestar, Request, Response, get, post
from litestar.exceptions import HTTPException
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.spec import OpenAPIMediaType, OpenAPIType, Operation, RequestBody, Schema
from litestar.params import HeaderParameter, QueryParameter

from engine import __version__
from engine.canonical import canonical
from engine.debug.session import Session
from engine.model.commands import REQUEST
from engine.model.errors import EngineError
from engine.service.arguments import BODY_BYTES
from engine.service.dispatcher import NEW, Answer, answer, refused
from engine.service.http.guard import App, Guard
from engine.service.http.sessions import LONGEST, SHORTEST, Sessions
from engine.service.http.status import status_of
from engine.service.library import Library, Nothing

BODY_SECONDS = 10.0
"""How long a body may take to arrive."""
WALL_SECONDS = 60.0
"""How long one request may be worked on (contract 3.7)."""
AT_ONCE = 8
"""Requests that are worked on at a time; others wait."""
_log = logging.getLogger("riff.engine.http")
_Id = Annotated[str, QueryParameter(min_length=1, max_length=1000)]
_Text = Annotated[str | None, QueryParameter(required=False, min_length=1, max_length=1000)]
_Count = Annotated[int | None, QueryParameter(required=False)]


class Limits(msgspec.Struct, frozen=True):
    """What one request may take."""

    body_seconds: float = BODY_SECONDS
    wall_seconds: float = WALL_SECONDS
    at_once: int = AT_ONCE


LIMITS = Limits()


def create_app(library: Library, token: str, limits: Limits = LIMITS) -> App:
    """The API on some calls, behind a token.

    Args:
        library: The calls.
        token: What the bearer must know.
        limits: What one request may take.
    """
    app = Litestar(
        [*_Served(library, limits).routes(), _schema],
        openapi_config=None,  # the framework would serve pages of its own beside
        exception_handlers={HTTPException: _http_error, Exception: _internal},
        request_max_body_size=None,  # the body is read, and cut, by `_body`
        logging_config=None,
    )
    return Guard(app, token)


@dataclass
class _CommandOperation(Operation):
    """The body of a command in the schema: it is read as bytes, so that every client gets the same errors."""

    def __post_init__(self) -> None:
        text = OpenAPIType.STRING
        members = {
            "schema": Schema(const=REQUEST),
            "action": Schema(type=text),
            "session_id": Schema(type=text),
        }
        command = Schema(type=OpenAPIType.OBJECT, properties={**members}, required=["schema", "action"])
        content = {"application/json": OpenAPIMediaType(schema=command)}
        self.request_body = RequestBody(content=content, required=True)


@get("/openapi.json", include_in_schema=False, sync_to_thread=False)
def _schema(request: Request[Any, Any, Any]) -> Response[bytes]:
    """The schema of the routes."""
    return Response(_described(), media_type="application/json")


@cache
def _described() -> bytes:
    """The schema, as the framework makes it of the same routes."""
    config = OpenAPIConfig(title="riff-engine", version=__version__)
    app = Litestar(_Served(Nothing(), LIMITS).routes(), openapi_config=config, logging_config=None)
    return canonical(app.openapi_schema.to_schema())


class _Served:
    """What the routes share."""

    def __init__(self, library: Library, limits: Limits) -> None:
        self._library = library
        self._limits = limits
        self._sessions = Sessions()
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._limiter: anyio.CapacityLimiter | None = None

    def routes(self) -> list[Any]:
        """All of them but the schema."""
        return [self.commands(), self.state_trace(), self.sessions()]

    def commands(self) -> Any:
        """``POST /v1/commands``: any request; ``Riff-Session`` keeps breakpoints from one to the next."""

        @post("/v1/commands", status_code=200, operation_class=_CommandOperation, operation_id="command")
        async def commands(
            request: Request[Any, Any, Any],
            session: Annotated[
                str | None,
                HeaderParameter(name="Riff-Session", min_length=SHORTEST, max_length=LONGEST, required=False),
            ] = None,
        ) -> Response[bytes]:
            """Answer one command."""
            try:
                body = await _body(request, self._limits.body_seconds)
            except EngineError as error:
                return _response(refused(error))
            if session is None:
                return _response(await self._work(body, NEW))
            async with self._turn(session):
                told = await self._work(body, self._sessions.get(session))
                self._sessions.put(session, told.session)
            return _response(told)

        return commands

    def state_trace(self) -> Any:
        """``GET /api/debug/state_trace``."""

        @get("/api/debug/state_trace", operation_id="state_trace")
        async def state_trace(session_id: _Id, limit: _Count = None, after: _Text = None) -> Response[bytes]:
            """What decided each visit of a call, and what it changed."""
            return await self._ask("state_trace", session_id, limit=limit, after=after)

        return state_trace

    def sessions(self) -> Any:
        """``GET /api/sessions``."""

        @get("/api/sessions", operation_id="sessions")
        async def sessions(
            kind: _Text = None, flow_id: _Text = None, finding: _Text = None, since: _Text = None,
            limit: _Count = None, after: _Text = None,
        ) -> Response[bytes]:  # fmt: skip
            """Calls, the newest first."""
            return await self._ask(
                "list_calls",
                None,
                kind=kind,
                flow_id=flow_id,
                finding=finding,
                since=since,
                limit=limit,
                after=after,
            )

        return sessions

    async def _ask(self, action: str, session_id: str | None, **args: Any) -> Response[bytes]:
        given = {name: value for name, value in args.items() if value is not None}
        request = {"schema": REQUEST, "action": action, "session_id": session_id, "args": given}
        return _response(await self._work(msgspec.json.encode(request), NEW))

    def _turn(self, session: str) -> asyncio.Lock:
        """Commands of one session take turns: each builds on what the one before left."""
        return self._turns.setdefault(session, asyncio.Lock())

    async def _work(self, body: bytes, session: Session) -> Answer:
        """Answer in a thread, for so long and not longer."""
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(self._limits.at_once)
        limiter, place, loop = self._limiter, object(), asyncio.get_running_loop()
        late = begun = False

        def leave() -> None:
            with contextlib.suppress(RuntimeError):  # the place was left before
                limiter.release_on_behalf_of(place)

        def work() -> Answer:
            nonlocal begun
            begun = True
            try:
                return answer(body, self._library, session, lambda: late)
            finally:  # an answer that nobody waits for any more keeps its place until it ends
                with contextlib.suppress(RuntimeError):  # the server has ended meanwhile
                    loop.call_soon_threadsafe(leave)

        try:
            with anyio.fail_after(self._limits.wall_seconds):
                await limiter.acquire_on_behalf_of(place)
                unbounded = anyio.CapacityLimiter(math.inf)
                return await anyio.to_thread.run_sync(work, limiter=unbounded, abandon_on_cancel=True)
        except TimeoutError:
            late = True
            if not begun:
                leave()
            seconds = self._limits.wall_seconds
            message = f"not answered within {seconds:g} s"
            error = EngineError("LIMIT_EXCEEDED", message, limit="wall_seconds", maximum=seconds)
            return refused(error, session)


async def _body(request: Request[Any, Any, Any], seconds: float) -> bytes:
    """The body of a request, so far as it is wanted.

    Raises:
        EngineError: ``LIMIT_EXCEEDED`` where it is too long, or too slow.
    """
    found = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for piece in request.stream():
                found += piece
                if len(found) > BODY_BYTES:
                    break  # the dispatcher refuses it
    except TimeoutError:
        message = f"the body did not arrive within {seconds:g} s"
        raise EngineError("LIMIT_EXCEEDED", message, limit="body_seconds", maximum=seconds) from None
    return bytes(found)


def _response(told: Answer) -> Response[bytes]:
    return _sent(told, 200 if told.error is None else status_of(told.error))


def _sent(told: Answer, status: int) -> Response[bytes]:
    return Response(told.document, status_code=status, media_type="application/json")


def _http_error(request: Request[Any, Any, Any], problem: HTTPException) -> Response[bytes]:
    """A path, a method or a parameter that there is not."""
    argument = {400: "parameter", 404: "path", 405: "method"}.get(problem.status_code, "request")
    message = {404: "there is nothing at this path", 405: "not with this method"}.get(problem.status_code)
    extra = problem.extra if isinstance(problem.extra, list) else []
    for wrong in extra[:1]:
        argument, message = str(wrong.get("key", argument)), str(wrong.get("message"))
    message = (message or problem.detail or "refused").splitlines()[0][:200]
    return _sent(refused(EngineError("BAD_ARGUMENT", message, argument=argument)), problem.status_code)


def _internal(request: Request[Any, Any, Any], problem: Exception) -> Response[bytes]:
    """A bug: logged here, and no word of it sent."""
    _log.error("a request failed", exc_info=problem)
    return _response(refused(EngineError("INTERNAL", "the engine failed; its log says how")))
