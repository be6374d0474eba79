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
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.model.errors import EngineError
from engine.model.limits import Limits
from engine.sources.fingerprints import contexts, wrong_contexts, wrong_snapshots
from engine.sources.ledger import check_depth, line_ends, read_part, start_depth_check
from engine.sources.mapping import expect_reading, mapping_of
from engine.sources.otherhalf import Checked, Order
from engine.sources.part import CODED, STATE_NOT_READ, Codes, Intern, Ints, LedgerPart, Names

SPLIT_BYTES = 48 * 1024 * 1024
"""A mapped ledger above this is read by two processes."""
_SHARE = 0.56
"""How much of the lines this process takes: the helper has to start first, and to hand over."""
_ROOM = 1.2
"""How much more room than the lines of this share suggest is made for all of them."""
_RUN = "from engine.sources.otherhalf import main; main()"
Progress = Callable[[float], None]


class Reading(NamedTuple):
    """A ledger file that was read.

    Attributes:
        part: Its rows.
        finish: Waits for the checks: fills in `LedgerPart.wrong_fingerprints`, and raises ``LIMIT_EXCEEDED``
            where a line nests too deep. Gives the file's hex SHA-256 where the helper took it.
        helped: A helper is at work on the checks and the digest.
    """

    part: LedgerPart
    finish: Callable[[], str | None]
    helped: bool


def read_whole(
    artifact: str,
    data: bytes | memoryview,
    names: Names,
    limits: Limits,
    progress: Progress | None = None,
) -> Reading:
    """Read one ledger file. Arguments and errors are those of `read_part`."""
    mapped = mapping_of(data)
    if mapped is not None and len(data) > SPLIT_BYTES and (os.cpu_count() or 1) > 1:
        begin = mapped.find(b"\n", int(len(data) * _SHARE)) + 1
        helper = (
            _Helper.start(Order(artifact, mapped.descriptor, len(data), begin, limits)) if begin else None
        )
        if helper is not None:
            return _read_together(artifact, data, begin, helper, names, limits, progress)
    return _read_alone(artifact, data, names, limits, progress)


def _read_together(
    artifact: str,
    data: bytes | memoryview,
    begin: int,
    helper: _Helper,
    names: Names,
    limits: Limits,
    progress: Progress | None,
) -> Reading:
    """This process reads the lines before a byte; the helper, which was started, those from there on."""
    expect_reading(data, begin)
    ends = line_ends(data[:begin])
    part = read_part(artifact, data, ends, names, limits, progress, room=int(len(ends) * _ROOM / _SHARE))
    part.wrong_fingerprints = wrong_snapshots(part, names)  # the helper is not ready yet
    mine, near = len(part), contexts(part)
    if not helper.continue_part(part, names):
        return _read_alone(artifact, data, names, limits, progress)
    mended = part.mended.keys() & set(near)
    asked = np.array([row for row in near if row not in mended], np.int64)
    helper.ask(part.start[asked], part.start[asked] + part.length[asked])
    every = contexts(part)  # the part's own columns are gone once they are joined

    def finish() -> str | None:
        found = helper.checked()
        if found is None:
            check_depth(artifact, data, line_ends(data), limits)
            part.wrong_fingerprints |= wrong_contexts(part, every)
            return None
        if found.too_deep is not None:
            raise found.too_deep
        part.wrong_fingerprints |= wrong_contexts(part, mended)
        part.wrong_fingerprints |= {int(asked[ordinal]): actual for ordinal, actual in found.asked.items()}
        part.wrong_fingerprints |= {mine + row: actual for row, actual in found.own.items()}
        return found.sha256

    return Reading(part, finish, True)


def _read_alone(
    artifact: str, data: bytes | memoryview, names: Names, limits: Limits, progress: Progress | None
) -> Reading:
    expect_reading(data, len(data))
    ends = line_ends(data)
    finish_depth = start_depth_check(artifact, data, ends, limits)
    part = read_part(artifact, data, ends, names, limits, progress)
    finish_depth()
    _check_fingerprints(part, names)
    return Reading(part, lambda: None, False)


def _check_fingerprints(part: LedgerPart, names: Names) -> None:
    part.wrong_fingerprints = wrong_snapshots(part, names) | wrong_contexts(part, contexts(part))


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
                [
                    sys.executable,
                    "-P",
                    "-c",
                    _RUN,
                    pickle.dumps(order).hex(),
                ],  # nothing of the working folder
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

    def continue_part(self, part: LedgerPart, names: Names) -> bool:
        """Add what it read to the part of the lines before; False when it failed, and the part is spoilt.

        Raises:
            EngineError: As `read_part`.
        """
        told = self._hear()
        if isinstance(told, EngineError):
            raise told
        if told is None:
            return False
        theirs, rows, tables = told
        before = len(part)
        columns = part.make_room(rows)
        if not all(self._fill(column) for column in columns.values()):
            return False
        ours = {table: _recoding(listed, getattr(names, table)) for table, listed in tables.items()}
        for name, table in (("type_code", "types"), ("visit", "visits"), ("state", "states")):
            columns[name][:] = ours[table][columns[name]]
        for captured in theirs.captured.values():
            for key in captured.keys() & CODED.keys():
                captured[key] = ours[CODED[key]][captured[key]]
        part.join(theirs, before)
        return True

    def _fill(self, column: NDArray[Any]) -> bool:
        """Read the bytes of a column; False when they end too early."""
        assert self._process.stdout is not None
        left = column.view(np.uint8).data
        while len(left):
            count = self._process.stdout.readinto(left)  # type: ignore[attr-defined]
            if not count:
                return False
            left = left[count:]
        return True

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


def _recoding(names: list[Any], interner: Intern) -> Codes:
    """Code of another interner, which has these names → code of ours.

    -1 and -2 have a meaning of their own and stay: a negative code finds itself at the table's end.
    """
    return np.array([*interner.codes(names), STATE_NOT_READ, -1], np.int32)
