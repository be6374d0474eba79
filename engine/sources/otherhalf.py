"""The helper process of `halves`: it reads the later lines of a ledger, then checks rows of all of it.

It takes its order as an argument. On stdout it tells what it read, a part and then the bytes of its columns;
on stdin it hears where the contexts of the first half stand, and then it tells what its checks gave.
"""

from __future__ import annotations

import gc
import os
import pickle
import sys
import threading
from typing import IO, NamedTuple

import numpy as np

from engine.model.errors import EngineError
from engine.model.limits import Limits
from engine.sources.fingerprints import contexts, wrong_contexts, wrong_contexts_at, wrong_snapshots
from engine.sources.hashing import hash_open_file
from engine.sources.ledger import check_depth, line_ends, read_part
from engine.sources.mapping import map_file, release_pages
from engine.sources.part import CODED, COLUMNS, LedgerPart, Names

_SWITCH = 0.0002
"""Seconds until a check gives way to the thread that tells: the other process waits for it."""
TABLES = ("types", "visits", "states", *dict.fromkeys(CODED.values()))
"""The interners that a part's codes are of."""


class Order(NamedTuple):
    """What to read: the lines of an open file from a byte on."""

    artifact: str
    descriptor: int
    size: int
    begin: int
    limits: Limits


class Checked(NamedTuple):
    """What the checks gave.

    Attributes:
        own: Context of the helper's part → the fingerprint of its fields, where it states another one.
        asked: The same for the rows it was asked about, by ordinal.
        too_deep: The error of a line that nests too deep.
        sha256: Of the whole file, hex.
    """

    own: dict[int, str]
    asked: dict[int, str]
    too_deep: EngineError | None
    sha256: str


def main() -> None:
    """Do what the first argument orders."""
    gc.disable()
    sys.setswitchinterval(_SWITCH)
    order: Order = pickle.loads(bytes.fromhex(sys.argv[1]))
    data, names = memoryview(map_file(order.descriptor, order.size)), Names.new()
    with os.fdopen(sys.stdout.fileno(), "wb", closefd=False) as out:
        try:
            part = _read(order, data, names)
        except EngineError as error:
            pickle.dump(error, out, protocol=5)
            return
        part.wrong_fingerprints = wrong_snapshots(part, names)
        telling = threading.Thread(target=_tell, args=(out, part, names))  # waits until the other listens
        telling.start()
        checked = _check(order, part, data)
        telling.join()
        starts, stops = pickle.load(sys.stdin.buffer)
        asked = wrong_contexts_at(data, starts.tolist(), stops.tolist())
        pickle.dump(checked._replace(asked=asked), out, protocol=5)


def _tell(out: IO[bytes], part: LedgerPart, names: Names) -> None:
    told = {table: getattr(names, table).names for table in TABLES}
    try:
        out.write(pickle.dumps((part, len(part), told), protocol=5))
        for name in COLUMNS:
            out.write(getattr(part, name).view(np.uint8).data)
        out.flush()
    except BaseException:  # on a thread of its own it would end only that, and the other process would wait
        os._exit(1)


def _read(order: Order, data: memoryview, names: Names) -> LedgerPart:
    """The lines ordered, numbered from 1: the other process knows how many stand before them."""
    ends = line_ends(data[order.begin :]) + order.begin
    try:
        return read_part(order.artifact, data, ends, names, order.limits, begin=order.begin)
    except EngineError:  # it names a line: let it be the file's
        before = int(np.count_nonzero(np.frombuffer(data[: order.begin], np.uint8) == 0x0A))
        return read_part(
            order.artifact, data, ends, names, order.limits, begin=order.begin, line_offset=before
        )


def _check(order: Order, part: LedgerPart, data: memoryview) -> Checked:
    """The checks that need nothing of the other process."""
    release_pages(data)
    too_deep = None
    try:
        check_depth(order.artifact, data, line_ends(data), order.limits)
    except EngineError as error:
        too_deep = error
    release_pages(data)
    own = wrong_contexts(part, contexts(part))
    return Checked(own, {}, too_deep, hash_open_file(order.descriptor, order.size))
