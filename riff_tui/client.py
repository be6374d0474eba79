"""The app as a client of the command engine: what it asks about a call is a request (contract 3.2, 3.5).

Requests carry their breakpoints, so nothing is kept between two of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.hydrate.call import Call
from engine.model.breakpoint import Breakpoint
from engine.model.commands import REQUEST, Place, Request, Response
from engine.model.views import Cursor
from engine.service import answers
from engine.service.dispatcher import dispatch
from engine.service.library import Opened


def ask(
    call: Call,
    action: str,
    cursor: Cursor | None,
    cancelled: Callable[[], bool] | None = None,
    **args: Any,
) -> Response:
    """What the command engine answers at a cursor of an open call; without one at its start.

    Raises:
        EngineError: What the dispatcher raises.
    """
    place = None if cursor is None else answers.place(call, cursor)
    request = Request(schema=REQUEST, action=action, session_id=call.session_id, cursor=place, args=args)
    return send(request, call, cancelled)


def send(request: Request, call: Call, cancelled: Callable[[], bool] | None = None) -> Response:
    """Have one request answered; every question of the app passes here."""
    return dispatch(request, Opened(call), cancelled=cancelled)[0]


def breakpoint(call: Call, text: str) -> Breakpoint:
    """The breakpoint that a person writes as ``<form>:<name>``; nothing is set.

    Raises:
        EngineError: The engine doesn't take it; the message names it.
    """
    told = ask(call, "set_breakpoint", None, fields=[], on=text).result
    return Breakpoint(told.on, told.when, told.hit_count, told.enabled)


def reached(call: Call, response: Response) -> Cursor:
    """The cursor of a response."""
    return cursor_at(call, response.cursor)


def cursor_at(call: Call, place: Place | None) -> Cursor:
    """The cursor of a place that the engine told."""
    return answers.cursor_at(call, place)


def seek(call: Call, cursor: Cursor | None = None, **where: Any) -> Cursor:
    """A place that is named, as ``seek`` names it.

    Raises:
        EngineError: There is none of that name.
    """
    return reached(call, ask(call, "seek", cursor, fields=[], **where))
