"""Opening a call through the column cache. `python -m benchmarks.reopening CALL FOLDER`.

The first time for a folder the call is hydrated and kept there; from then on it is mapped.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter

from engine.hydrate.call import Call
from engine.model.commands import REQUEST
from engine.service.dispatcher import answer
from engine.service.library import Opened
from engine.workspace.columncache import ColumnCache


def ask_open(call: Call) -> float:
    """Seconds until the engine has answered the action ``open``."""
    body = json.dumps({"schema": REQUEST, "action": "open", "session_id": call.session_id}).encode()
    begin = perf_counter()
    told = answer(body, Opened(call))
    assert told.error is None, told.document
    return perf_counter() - begin


def main(path: Path, folder: Path) -> None:
    """Open, keep, ask, and print the times as JSON."""
    cache = ColumnCache(folder)
    begin = perf_counter()
    call = cache.open(path)
    opened = perf_counter()
    cache.keep_waiting()
    kept = perf_counter()
    print(
        json.dumps(
            {"open": opened - begin, "keep": kept - opened, "answer": ask_open(call),
             "bytes": sum(file.stat().st_size for file in folder.iterdir()), "hash": call.artifact_hash}
        )
    )  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
