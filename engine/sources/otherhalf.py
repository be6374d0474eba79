"""The helper process of `halves`: it reads the later lines of a ledger, then checks rows of all of it.

It takes its order as an argument, tells what it read on stdout, hears on stdin which rows of the first half
state a fingerprint, and tells what its checks gave.
"""

from __future__ import annotations

import gc
import os
import pickle
import sys
from typing import NamedTuple

from engine.model.errors import EngineError
from engine.model.limits import Limits
from engine.sources.fingerprints import stating_rows, wrong_fingerprints, wrong_fingerprints_at
from engine.sources.ledger import check_depth, line_ends, read_part
from engine.sources.mapping import map_file, release_pages
from engine.sources.part import CODED, LedgerPart, Names

TABLES = ("types", "visits", "states", *CODED.values())
"""The interners that a part's codes are of."""


class Order(NamedTuple):
    """What to read: the lines of an open file from a byte on, and how many stand before them."""

    artifact: str
    descriptor: int
    size: int
    begin: int
    line: int
    limits: Limits


class Checked(NamedTuple):
    """What the checks gave.

    Attributes:
        own: Row of the helper's part → the fingerprint of its values, where it states another one.
        asked: The same for the rows it was asked about, by ordinal.
        too_deep: The error of a line that nests too deep.
    """

    own: dict[int, str]
    asked: dict[int, str]
    too_deep: EngineError | None


def main() -> None:
    """Do what the first argument orders."""
    gc.disable()
    order: Order = pickle.loads(bytes.fromhex(sys.argv[1]))
    data, names = memoryview(map_file(order.descriptor, order.size, populate=False)), Names.new()
    with os.fdopen(sys.stdout.fileno(), "wb", closefd=False) as out:
        try:
            ends = line_ends(data[order.begin :]) + order.begin
            part = read_part(
                order.artifact, data, ends, names, order.limits, begin=order.begin, line_offset=order.line
            )
        except EngineError as error:
            pickle.dump(error, out, protocol=5)
            return
        part.data = b""
        told = {table: getattr(names, table).names for table in TABLES}
        pickle.dump((part, told), out, protocol=5)
        out.flush()
        part.data = data
        starts, stops = pickle.load(sys.stdin.buffer)
        pickle.dump(_check(order, part, data, starts.tolist(), stops.tolist()), out, protocol=5)


def _check(order: Order, part: LedgerPart, data: memoryview, starts: list[int], stops: list[int]) -> Checked:
    release_pages(data)
    too_deep = None
    try:
        check_depth(order.artifact, data, line_ends(data), order.limits)
    except EngineError as error:
        too_deep = error
    release_pages(data)
    own = wrong_fingerprints(part, stating_rows(part))
    return Checked(own, wrong_fingerprints_at(data, starts, stops), too_deep)
