"""What an action is: one Struct of arguments and one function (contract 3.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from engine.debug.session import Session
from engine.hydrate.call import Call
from engine.model.commands import Field, Page
from engine.model.errors import EngineError
from engine.model.findings import FINDINGS
from engine.model.views import Cursor
from engine.service.library import Library

LIMIT, MOST = 50, 500
"""Items of one page: without ``limit``, and at most."""


class Args(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments that every action takes.

    Attributes:
        fields: What the response's projection holds; an action's own choice without it.
    """

    fields: list[Field] | None = None


class PageArgs(Args, frozen=True, kw_only=True):
    """Arguments of a list.

    Attributes:
        limit: How many items, 1 to `MOST`.
        after: The ``page.next`` of the page before.
    """

    limit: int = LIMIT
    after: str | None = None


class Asked(NamedTuple):
    """A command on an open call.

    Attributes:
        call: The call.
        cursor: Where the question stands.
        session: What the client has set before.
        cancelled: Asked now and then whether to give up.
        library: Gives further calls.
        writes: Whether the client may have files written.
    """

    call: Call
    cursor: Cursor
    session: Session
    cancelled: Callable[[], bool] | None
    library: Library
    writes: bool


class Outcome(NamedTuple):
    """What an action did.

    Attributes:
        result: The action's own answer.
        cursor: Where it led; None where the cursor stays.
        refs: The events that the answer rests on.
        page: How much of a list it tells.
        session: The client's session from here on; None where it stays.
    """

    result: Any
    cursor: Cursor | None = None
    refs: Sequence[str] = ()
    page: Page = Page()
    session: Session | None = None


class Action(NamedTuple):
    """One row of the table of actions.

    Attributes:
        name: As requests name it.
        args: Its arguments.
        run: What it does.
        result: The type of what it answers, for the schema.
        summary: One line for help.
        fields: What the projection holds when the request does not say.
    """

    name: str
    args: type[Args]
    run: Callable[[Asked, Any], Outcome]
    result: Any
    summary: str
    fields: tuple[Field, ...] = ()


class StoreOutcome(NamedTuple):
    """What an action on many calls answers."""

    result: Any
    page: Page = Page()


class StoreAction(NamedTuple):
    """One row of the table of actions that ask about many calls, or about none."""

    name: str
    args: type[Args]
    run: Callable[[Library, Any], StoreOutcome]
    result: Any
    summary: str


def check_code(code: str | None, argument: str) -> None:
    """Refuse a code that no finding has.

    Raises:
        EngineError: ``BAD_ARGUMENT``.
    """
    if code is not None and code not in FINDINGS:
        raise EngineError("BAD_ARGUMENT", "there is no finding of that code", argument=argument)


class Paged(NamedTuple):
    """A stretch of a list by number, and what to say of it."""

    numbers: range
    page: Page


def paged(total: int, args: PageArgs) -> Paged:
    """The numbers of one page of a list of a known length.

    Raises:
        EngineError: ``LIMIT_EXCEEDED`` for a limit above `MOST`; ``BAD_ARGUMENT`` for one below 1, and for an
            ``after`` that no page gave.
    """
    if args.limit < 1:
        raise EngineError("BAD_ARGUMENT", "limit is at least 1", argument="args.limit")
    if args.limit > MOST:
        raise EngineError("LIMIT_EXCEEDED", f"limit is at most {MOST}", limit="page", maximum=MOST)
    first = _number(args.after, total) if args.after is not None else 0
    stop = min(total, first + args.limit)
    more: Literal["complete", "partial"] = "partial" if stop < total else "complete"
    return Paged(range(first, stop), Page(str(stop) if stop < total else None, total, more))


def _number(after: str, total: int) -> int:
    if after.isascii() and after.isdigit() and len(after) < 16 and int(after) <= total:
        return int(after)
    raise EngineError("BAD_ARGUMENT", "after is not the next of a page of this list", argument="args.after")
