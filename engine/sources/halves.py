"""A large ledger read by two processes: this one takes the first half of the lines, a helper the rest.

The helper maps the same open file, reads its lines by the same rules and hands back a `LedgerPart`. Where it
can't be started, or fails, this process reads those lines itself: the result is the same.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from engine.model.errors import EngineError
from engine.model.limits import Limits
from engine.sources.ledger import line_ends, read_part
from engine.sources.mapping import map_file, mapping_of
from engine.sources.part import Intern, Ints, LedgerPart, Names

SPLIT_BYTES = 48 * 1024 * 1024
"""A mapped ledger above this is read by two processes."""
_SHARE = 0.59
"""How much of the lines this process takes: the helper has to start first, and to hand over."""


def read_whole(
    artifact: str,
    data: bytes | memoryview,
    ends: Ints,
    names: Names,
    limits: Limits,
    progress: Callable[[float], None] | None = None,
) -> list[LedgerPart]:
    """Read one ledger file, as one part or as two that follow each other.

    Args and errors are those of `read_part`.
    """
    mapped = mapping_of(data)
    if mapped is None or len(data) <= SPLIT_BYTES or len(ends) < 2 or (os.cpu_count() or 1) < 2:
        return [read_part(artifact, data, ends, names, limits, progress)]
    middle = int(len(ends) * _SHARE)
    begin = int(ends[middle - 1])
    helper = _start(artifact, mapped.descriptor, len(data), begin, middle, limits)
    try:
        first = read_part(artifact, data, ends, names, limits, _scaled(progress), stop=middle)
        second = _collect(helper, data, names) if helper is not None else None
    finally:
        if helper is not None:
            helper.kill()
            helper.communicate()
    if second is None:
        second = read_part(artifact, data, ends, names, limits, progress, first=middle)
    return [first, second]


def _scaled(progress: Callable[[float], None] | None) -> Callable[[float], None] | None:
    return None if progress is None else lambda share: progress(share / _SHARE)


def _start(
    artifact: str, descriptor: int, size: int, begin: int, line: int, limits: Limits
) -> subprocess.Popen[bytes] | None:
    arguments = pickle.dumps((artifact, size, begin, line, limits))
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(path for path in sys.path if path))
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "engine.sources.halves", str(descriptor), arguments.hex()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=(descriptor,),
            env=environment,
        )
    except (OSError, ValueError):
        return None


def _collect(helper: subprocess.Popen[bytes], data: bytes | memoryview, names: Names) -> LedgerPart | None:
    """What the helper read, in this process's codes; None when it failed."""
    assert helper.stdout is not None
    try:
        told = pickle.load(helper.stdout)
    except (EOFError, pickle.UnpicklingError, MemoryError, OSError):
        return None
    if isinstance(told, EngineError):
        raise told
    part, types, visits, states = told
    part.data = data
    part.type_code = _recode(part.type_code, types, names.types)
    part.visit = _recode(part.visit, visits, names.visits)
    part.state = _recode(part.state, states, names.states)
    return part  # type: ignore[no-any-return]


def _recode(codes: Any, names: list[Any], interner: Intern) -> Any:
    """Codes of another interner as codes of ours; negative ones have a meaning of their own and stay."""
    if not names:
        return codes
    table = np.array([interner[name] for name in names], np.int32)
    return np.where(codes < 0, codes, table[np.maximum(codes, 0)]).astype(np.int32)


def _serve(descriptor: int, arguments: bytes) -> None:
    artifact, size, begin, line, limits = pickle.loads(arguments)
    data = memoryview(map_file(descriptor, size))
    names = Names.new()
    try:
        ends = line_ends(data[begin:]) + begin
        part = read_part(artifact, data, ends, names, limits, begin=begin, line_offset=line)
        part.data = b""
        told: Any = (part, names.types.names, names.visits.names, names.states.names)
    except EngineError as error:
        told = error
    with os.fdopen(sys.stdout.fileno(), "wb", closefd=False) as out:
        pickle.dump(told, out, protocol=5)


if __name__ == "__main__":
    import gc

    gc.disable()
    _serve(int(sys.argv[1]), bytes.fromhex(sys.argv[2]))
