"""One request in, one response out: the door that every client goes through (contract 3.2).

`dispatch` works on values; `answer` on bytes, and turns every refusal into ``riff.debug_error/v1``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from engine.canonical import canonical
from engine.debug import projection
from engine.debug.names import hint, shown
from engine.debug.session import Session
from engine.model.commands import Request, Response
from engine.model.errors import EngineError
from engine.service import answers
from engine.service.action import Action, Asked, Outcome, StoreAction
from engine.service.arguments import as_arguments, read_request
from engine.service.library import Library
from engine.service.schema import ALL

_log = logging.getLogger("riff.engine")
RESPONSE_BYTES = 1024 * 1024
"""Longest response (contract 3.7)."""
Cancelled = Callable[[], bool]
NEW = Session()


class Answer(NamedTuple):
    """What a request got.

    Attributes:
        document: Canonical bytes of ``riff.debug_response/v1``, or of ``riff.debug_error/v1``.
        error: The refusal, or None.
        session: The client's session from here on.
    """

    document: bytes
    error: EngineError | None
    session: Session


def answer(
    body: bytes,
    library: Library,
    session: Session = NEW,
    cancelled: Cancelled | None = None,
    writes: bool = False,
) -> Answer:
    """Answer the bytes of a request, whatever they are.

    Args:
        body: The request.
        library: The calls that can be asked about.
        session: What the client has set before.
        cancelled: Asked now and then whether to give up.
        writes: Whether the client may have files written.
    """
    try:
        response, after = dispatch(read_request(body), library, session, cancelled, writes)
        document = canonical(msgspec.to_builtins(response))
        if len(document) > RESPONSE_BYTES:
            message = f"the answer has more than {RESPONSE_BYTES} bytes: ask for a smaller page"
            raise EngineError("LIMIT_EXCEEDED", message, limit="response_bytes", maximum=RESPONSE_BYTES)
    except EngineError as error:
        return refused(error, session)
    except Exception as error:
        _log.exception("a bug: a request was not answered")
        message = f"a bug ({type(error).__name__}): this request could not be answered"
        return refused(EngineError("INTERNAL", message), session)
    return Answer(document, None, after)


def refused(error: EngineError, session: Session = NEW) -> Answer:
    """What a request gets that is refused."""
    return Answer(canonical(error.document()), error, session)


def dispatch(
    request: Request,
    library: Library,
    session: Session = NEW,
    cancelled: Cancelled | None = None,
    writes: bool = False,
) -> tuple[Response, Session]:
    """Answer one request; gives the client's session from here on too. A refused one applies nothing.

    Raises:
        EngineError: With a code of contract 3.2.
    """
    action = ALL.get(request.action)
    if action is None:
        message = f"there is no action {shown(request.action)}{hint(request.action, ALL)}"
        raise EngineError("UNKNOWN_ACTION", message, action=request.action[:200])
    _recorded_only(request)
    args = as_arguments(action.name, _own(request), action.args)
    if isinstance(action, StoreAction):
        told = action.run(library, args)
        return Response(
            action=action.name, session_id=None, cursor=None, result=told.result, page=told.page
        ), session
    call = library.call(request.session_id)
    cursor = answers.cursor_at(call, request.cursor)
    if request.expected_hash is not None and request.expected_hash != answers.determinism_hash(call, cursor):
        raise EngineError("STALE_HASH", "expected_hash is not that of this cursor; nothing was applied")
    asked = Asked(call, cursor, session, cancelled, library, writes)
    outcome = action.run(asked, args)
    after = session if outcome.session is None else outcome.session
    return _response(action, args, asked, outcome), after


def _recorded_only(request: Request) -> None:
    """Refuse what needs a simulation: nothing here runs one."""
    if request.capsule is not None:
        raise EngineError("BAD_ARGUMENT", "there are no capsules: name a session_id", argument="capsule")
    if request.branch is not None:
        raise EngineError("UNKNOWN_BRANCH", "there is no branch", branch=str(request.branch)[:200])
    inner = request.args.get("execution_target")
    if None not in (inner, request.execution_target) and inner != request.execution_target:
        raise EngineError(
            "BAD_ARGUMENT", "execution_target is given twice, and differs", argument="execution_target"
        )
    if inner is not None or request.execution_target is not None:
        raise EngineError(
            "BAD_ARGUMENT", "this action reads the record and takes no target", argument="execution_target"
        )


def _own(request: Request) -> dict[str, Any]:
    return {name: value for name, value in request.args.items() if name != "execution_target"}


def _response(action: Action, args: Any, asked: Asked, outcome: Outcome) -> Response:
    call, before = asked.call, asked.cursor
    cursor = before if outcome.cursor is None else outcome.cursor
    names = action.fields if args.fields is None else tuple(dict.fromkeys(args.fields))
    return Response(
        action=action.name,
        session_id=call.session_id,
        cursor=answers.place(call, cursor),
        projection=answers.fields(call, cursor, names),
        variable_delta=answers.delta(call, before, cursor),
        exit_decision=answers.exit_decision(call, cursor.visit),
        result=outcome.result,
        findings=[finding.finding_id for finding in projection.findings_here(call, cursor)],
        evidence_refs=list(outcome.refs),
        page=outcome.page,
        determinism_hash=answers.determinism_hash(call, cursor),
    )
