"""A large ledger read by two processes: this one takes the first half of the lines, a helper the rest.

The helper (`otherhalf`) maps the same open file, reads its lines by the same rules and hands back a
`LedgerPart`. While this process goes on with the rows, the helper checks what only a later stage needs to
know: how deep lines nest, and the fingerprints that rows state of themselves. Where it can't be started, or
fails, this process does its share itself: the result is the same.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import weakref
from array import array
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from engine.model.errors import EngineError
from engine.model.limits import Limits
from engine.sources.fingerprints import stating_rows, wrong_fingerprints
from engine.sources.ledger import check_depth, read_part, start_depth_check
from engine.sources.mapping import mapping_of
from engine.sources.otherhalf import Checked, Order
from engine.sources.part import CODED, Intern, Ints, LedgerPart, Names

SPLIT_BYTES = 48 * 1024 * 1024
"""A mapped ledger above this is read by two processes."""
_SHARE = 0.59
"""How much of the lines this process takes: the helper has to start first, and to hand over."""
_RUN = "from engine.sources.otherhalf import main; main()"
Progress = Callable[[float], None]


class Reading(NamedTuple):
    """A ledger file that was read.

    Attributes:
        parts: Its rows, as one part or as two that follow each other.
        finish: Waits for the checks: fills in `LedgerPart.wrong_fingerprints`, and raises ``LIMIT_EXCEEDED``
            where a line nests too deep.
    """

    parts: list[LedgerPart]
    finish: Callable[[], None]


def read_whole(
    artifact: str,
    data: bytes | memoryview,
    ends: Ints,
    names: Names,
    limits: Limits,
    progress: Progress | None = None,
) -> Reading:
    """Read one ledger file. Arguments and errors are those of `read_part`."""
    mapped = mapping_of(data)
    if mapped is None or len(data) <= SPLIT_BYTES or len(ends) < 2 or (os.cpu_count() or 1) < 2:
        return _read_alone(artifact, data, ends, names, limits, progress)
    middle = int(len(ends) * _SHARE)
    begin = int(ends[middle - 1])
    helper = _Helper.start(Order(artifact, mapped.descriptor, len(data), begin, middle, limits))
    if helper is None:
        return _read_alone(artifact, data, ends, names, limits, progress)
    first = read_part(artifact, data, ends[:middle], names, limits, progress)
    second = helper.part(data, names)
    if second is None:
        second = read_part(
            artifact, data, ends[middle:], names, limits, progress, begin=begin, line_offset=middle
        )
        helper = None
    parts = [first, second]
    stating = [stating_rows(part) for part in parts]
    regular = np.array([row for row in stating[0] if row not in first.mended], np.int64)
    if helper is not None:
        helper.ask(first.start[regular], first.start[regular] + first.length[regular])

    def finish() -> None:
        found = helper.checked() if helper is not None else None
        if found is None:
            check_depth(artifact, data, ends, limits)
            for part, rows in zip(parts, stating, strict=True):
                part.wrong_fingerprints = wrong_fingerprints(part, rows)
            return
        if found.too_deep is not None:
            raise found.too_deep
        first.wrong_fingerprints = wrong_fingerprints(first, first.mended.keys() & set(stating[0]))
        for ordinal, actual in found.asked.items():
            first.wrong_fingerprints[int(regular[ordinal])] = actual
        second.wrong_fingerprints = found.own

    return Reading(parts, finish)


def _read_alone(
    artifact: str,
    data: bytes | memoryview,
    ends: Ints,
    names: Names,
    limits: Limits,
    progress: Progress | None,
) -> Reading:
    finish_depth = start_depth_check(artifact, data, ends, limits)
    part = read_part(artifact, data, ends, names, limits, progress)
    finish_depth()
    part.wrong_fingerprints = wrong_fingerprints(part, stating_rows(part))
    return Reading([part], lambda: None)


class _Helper:
    """The second process, as this one sees it. It ends with this object at the latest."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._end = weakref.finalize(self, _end, process)

    @classmethod
    def start(cls, order: Order) -> _Helper | None:
        """Start it; None where that can't be done."""
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(path for path in sys.path if path))
        try:
            process = subprocess.Popen(
                [sys.executable, "-c", _RUN, pickle.dumps(order).hex()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=(order.descriptor,),
                pipesize=1 << 20,
                env=environment,
            )
        except (OSError, ValueError):
            return None
        return cls(process)

    def part(self, data: bytes | memoryview, names: Names) -> LedgerPart | None:
        """What it read, in this process's codes; None when it failed.

        Raises:
            EngineError: As `read_part`.
        """
        told = self._hear()
        if isinstance(told, EngineError):
            raise told
        if told is None:
            return None
        part: LedgerPart
        part, theirs = told
        part.data = data
        part.type_code = _recode(part.type_code, theirs["types"], names.types)
        part.visit = _recode(part.visit, theirs["visits"], names.visits)
        part.state = _recode(part.state, theirs["states"], names.states)
        for columns in part.captured.values():
            for key in columns.keys() & CODED.keys():
                codes = np.array(columns[key], np.int32)
                codes = _recode(codes, theirs[CODED[key]], getattr(names, CODED[key]))
                columns[key] = array("i", codes.tobytes())
        return part

    def ask(self, starts: Ints, ends: Ints) -> None:
        """Have it check the fingerprints of further rows, which stand at these bytes."""
        assert self._process.stdin is not None
        try:
            pickle.dump((starts, ends), self._process.stdin, protocol=5)
            self._process.stdin.close()
        except OSError:
            self._end()  # it is gone; `checked` will say so

    def checked(self) -> Checked | None:
        """What its checks gave; None when it failed."""
        told = self._hear()
        self._end()
        return told if isinstance(told, Checked) else None

    def _hear(self) -> Any:
        assert self._process.stdout is not None
        try:
            return pickle.load(self._process.stdout)
        except (EOFError, pickle.UnpicklingError, MemoryError, OSError, ValueError):
            return None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):  # what was not sent to a process that is gone
                pipe.close()
    process.wait()


def _recode(codes: Any, names: list[Any], interner: Intern) -> Any:
    """Codes of another interner as codes of ours; negative ones have a meaning of their own and stay."""
    if not names:
        return codes
    table = np.array([interner[name] for name in names], np.int32)
    return np.where(codes < 0, codes, table[np.maximum(codes, 0)]).astype(np.int32)
