"""The floor: how long msgspec needs just to decode the envelope of each row of a call.

`python -m benchmarks.floor CALL` prints it as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter

import msgspec


class Envelope(msgspec.Struct):
    """The keys that every row may have (contract of the retained call)."""

    seq: int
    type: str
    ts: float | str | None = None
    clock_ms: float | int | None = None
    session_id: str | None = None
    state_id: str | None = None
    visit_id: str | None = None
    turn_index: int | None = None
    decision_epoch: int | None = None


def main(path: Path) -> None:
    """Decode line by line, as a reader must that reports a bad line, and once as whole files."""
    ledgers = [path / name for name in ("state_trace.jsonl", "bus_events.jsonl")]
    decoder = msgspec.json.Decoder(Envelope)
    begin = perf_counter()
    rows = 0
    for ledger in ledgers:
        with ledger.open("rb") as lines:
            for line in lines:
                decoder.decode(line)
                rows += 1
    by_line = perf_counter() - begin
    begin = perf_counter()
    for ledger in ledgers:
        decoder.decode_lines(ledger.read_bytes())
    print(json.dumps({"rows": rows, "by_line": by_line, "whole": perf_counter() - begin}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
