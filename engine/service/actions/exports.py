"""What is written to files of the user's own, where the client may write (contract 3.3)."""

from __future__ import annotations

from pathlib import Path

import msgspec

from engine.hydrate.document import artifact_chunks
from engine.model.errors import EngineError
from engine.service.action import Action, Args, Asked, Outcome
from engine.service.output import refuse_inside, write_whole


class PathArgs(Args, frozen=True, kw_only=True):
    """Where to write; relative paths count from where the engine runs."""

    path: str


class Exported(msgspec.Struct, frozen=True):
    """A file that was written."""

    path: str
    sha256: str
    bytes: int


def export_artifact(asked: Asked, args: PathArgs) -> Outcome:
    """Write the debug artifact, the same bytes as ``hydrate`` gives."""
    if not asked.writes:
        raise EngineError("READ_ONLY", "this client may not write files")
    if not args.path or "\0" in args.path:
        raise EngineError("BAD_ARGUMENT", "path names a file", argument="args.path")
    output = Path(args.path)
    refuse_inside(output, Path(asked.call.parts.files.label), "args.path")
    written = write_whole(output, artifact_chunks(asked.call), "args.path")
    return Outcome(Exported(args.path, written.sha256, written.size))


ACTIONS = (Action("export_artifact", PathArgs, export_artifact, Exported, "Write the debug artifact."),)
