"""The app as a client of the command engine: what it asks about a call is a request (contract 3.2, 3.5).

Requests carry their breakpoints, so nothing is kept between two of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.hydrate.call import Call
from engine.model.commands import REQUEST, Request, Response
from engine.model.views import Cursor
from engine.service import answers
from engine.service.dispatcher import dispatch
from engine.service.library import Opened


def ask(
    call: Call,
    action: str,
    cursor: Cursor,
    cancelled: Callable[[], bool] | None = None,
    **args: Any,
) -> Response:
    """What the command engine answers at a cursor of an open call.

    Raises:
        EngineError: What the dispatcher raises.
    """
    place = answers.place(call, cursor)
    request = Request(schema=REQUEST, action=action, session_id=call.session_id, cursor=place, args=args)
    return send(request, call, cancelled)


def send(request: Request, call: Call, cancelled: Callable[[], bool] | None = None) -> Response:
    """Have one request answered; every question of the app passes here."""
    return dispatch(request, Opened(call), cancelled=cancelled)[0]


def reached(call: Call, response: Response) -> Cursor:
    """The cursor of a response."""
    return answers.cursor_at(call, response.cursor)
