"""``riff-engine do`` and one subcommand an action: requests from a shell (contract 3.5)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click
import msgspec

from engine.debug import cursor as moves
from engine.hydrate.call import Call
from engine.model.commands import REQUEST
from engine.model.errors import EngineError
from engine.service import answers
from engine.service.arguments import BODY_BYTES
from engine.service.dispatcher import NEW, Answer, answer
from engine.service.library import Beside, Folder, Library, Nothing, Opened
from engine.sources.contents import TURNS
from engine.workspace.discovery import is_call

if TYPE_CHECKING:
    from engine.service.actioncli import Named


def do(library: Library, source: str, stream: bool, out: BinaryIO) -> EngineError | None:
    """Answer a request from a file (``-``: stdin), or one a line over one session.

    Returns:
        The refusal of a single request, or None; in a stream refusals are lines like any other.

    Raises:
        EngineError: ``BAD_ARGUMENT`` for a file that can't be read.
    """
    if not stream:
        told = answer(_whole(source), library, writes=True)
        out.write(told.document + b"\n")
        return told.error
    session = NEW
    with _opened(source) as lines:
        for line in _lines(lines):
            told = answer(line, library, session, writes=True)
            session = told.session
            out.write(told.document + b"\n")
            out.flush()
    return None


def _opened(source: str) -> BinaryIO:
    if source == "-" and sys.stdin is None:
        raise EngineError("BAD_ARGUMENT", "there is no standard input", argument="request")
    try:
        return sys.stdin.buffer if source == "-" else Path(source).open("rb")
    except OSError as problem:
        message = f"{source} can't be read: {problem.strerror or problem}"
        raise EngineError("BAD_ARGUMENT", message, argument="request") from None


def names_a_call(word: str) -> bool:
    """Whether a word is the path of a call, rather than of a request."""
    path = Path(word)
    return path.name.removesuffix(".gz") == TURNS or is_call(path)


def _whole(source: str) -> bytes:
    with _opened(source) as file:
        return file.read(BODY_BYTES + 1)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Lines that are not blank; of one that is too long its beginning, which is refused."""
    while line := file.readline(BODY_BYTES + 2):
        rest = line
        while not rest.endswith(b"\n") and (rest := file.readline(BODY_BYTES)):
            pass
        if line.strip():
            yield line.rstrip(b"\r\n")


class Where(msgspec.Struct, frozen=True):
    """The cursor of a subcommand: an event, a visit or a moment; the start without any."""

    event: str | None = None
    visit: str | None = None
    time: float | None = None

    def place(self, call: Call) -> dict[str, Any] | None:
        """It as a request names it."""
        if self.time is not None:
            stands = answers.place(call, moves.at_time(call, self.time))
            return None if stands is None else {"event_id": stands.event_id}
        given = {"event_id": self.event, "visit_id": self.visit}
        return {name: value for name, value in given.items() if value is not None} or None


def ask(
    name: str, named: str, source: Named, session: str | None, where: Where, args: dict[str, Any]
) -> Answer:
    """Answer the request that a subcommand stands for; the same bytes as any client gets.

    Args:
        name: The action.
        named: The call: a path or, in a folder of calls, a session id.
        source: Where calls come from.
        session: Which session of a path, where there are several.
        where: The cursor.
        args: The action's arguments.

    Raises:
        EngineError: The call can't be opened, or there is no such place in it.
    """
    folder = source.folder()
    if folder is not None and not os.path.lexists(named):
        library: Library = folder
        call = library.call(named)
        if session not in (None, named):
            raise EngineError("UNKNOWN_SESSION", f"{named} is no call of that session", session=session)
    else:
        call = source.one(named).only(session)
        library = Opened(call) if folder is None else Beside(Opened(call), folder)
    request = {
        "schema": REQUEST, "action": name, "session_id": call.session_id, "cursor": where.place(call),
        "args": args,
    }  # fmt: skip
    return answer(_encoded(request), library, writes=True)


def ask_calls(name: str, folder: Folder | None, args: dict[str, Any]) -> Answer:
    """Answer an action that is asked of a folder of calls, or of nothing."""
    library: Library = Nothing() if folder is None else folder
    return answer(_encoded({"schema": REQUEST, "action": name, "args": args}), library)


def _encoded(request: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(request)
    except UnicodeEncodeError:
        message = "a word of the command line is no UTF-8"
        raise EngineError("BAD_ARGUMENT", message, argument="args") from None


def argument(written: str) -> tuple[str, Any]:
    """Name and value of ``NAME=JSON``; what is no JSON is text.

    Raises:
        click.BadParameter: There is no ``=``.
    """
    name, equals, value = written.partition("=")
    if not equals or not name:
        raise click.BadParameter(f"{written!r} is not NAME=JSON", param_hint="--arg")
    try:
        return name, msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return name, value
