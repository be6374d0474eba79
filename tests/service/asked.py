"""Requests for the tests of the command engine, and the ways to send one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from engine.debug.session import Session
from engine.hydrate.call import Call
from engine.model.commands import REQUEST
from engine.service.cli import main
from engine.service.dispatcher import answer
from engine.service.library import Opened

SAMPLES = Path(__file__).parents[2] / "sample_artifacts"


def request(action: str, session_id: str | None, cursor: Any = None, /, **args: Any) -> dict[str, Any]:
    """A request as a plain value."""
    return {"schema": REQUEST, "action": action, "session_id": session_id, "cursor": cursor, "args": args}


def ask(call: Call, action: str, cursor: Any = None, session: Session | None = None, /, **args: Any) -> Any:
    """The answer in this process, decoded: a response, or an error."""
    body = json.dumps(request(action, call.session_id, cursor, **args)).encode()
    return json.loads(answer(body, Opened(call), session or Session()).document)


def shell(*words: str, given: bytes | None = None) -> tuple[int, bytes]:
    """Exit status and standard output of ``riff-engine``."""
    done = CliRunner().invoke(main, list(words), input=given)
    return done.exit_code, done.stdout_bytes
