"""Gzip'd rows beside and instead of plain ones (contract 1.1, 1.9)."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from pathlib import Path

import pytest

from engine.hydrate.pipeline import open_call
from engine.model.errors import EngineError
from engine.model.limits import LIMITS, Limits
from engine.sources.contents import pick
from engine.sources.folder import open_files
from tests.calls import NO_FILE, lines, row, write_call

STARTED = row(1, "session_started", 0, initial_state="menu")


def test_gzipped_file_is_read_and_hashed_as_stored(tmp_path: Path) -> None:
    stored = gzip.compress(b'{"a": 1}\n') + gzip.compress(b'{"a": 2}\n') + b"\0" * 512
    call = write_call(tmp_path, events=[STARTED], files={"trace.jsonl.gz": stored})
    files = open_files(call, LIMITS)
    artifact = pick(files, "trace.jsonl")
    assert (artifact.name, artifact.status) == ("trace.jsonl.gz", "read")
    assert artifact.data == b'{"a": 1}\n{"a": 2}\n'
    assert artifact.sha256 == hashlib.sha256(stored).hexdigest()
    assert "trace.jsonl" not in files.artifacts


def test_plain_file_wins_over_its_gzipped_twin(tmp_path: Path) -> None:
    packed = {"bus_events.jsonl.gz": gzip.compress(b"other")}
    files = open_files(write_call(tmp_path, events=[STARTED], files=packed), LIMITS)
    assert files.artifacts["bus_events.jsonl.gz"].status == "unused"
    assert files.artifacts["bus_events.jsonl.gz"].reason == "bus_events.jsonl is read instead"
    assert pick(files, "bus_events.jsonl").name == "bus_events.jsonl"
    assert files.ledgers == ["state_trace.jsonl", "bus_events.jsonl"]


def test_gzipped_twin_is_read_where_the_plain_file_is_a_link(tmp_path: Path) -> None:
    packed = {"bus_events.jsonl.gz": gzip.compress(lines([STARTED]).encode())}
    call = write_call(tmp_path, durable=[STARTED], files=packed)
    (call / "bus_events.jsonl").symlink_to("state_trace.jsonl")
    files = open_files(call, LIMITS)
    assert files.artifacts["bus_events.jsonl"].status == "refused"
    assert files.ledgers == ["state_trace.jsonl", "bus_events.jsonl.gz"]
    assert pick(files, "bus_events.jsonl").status == "read"


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        (b"not gzip", "damaged gzip data"),
        (gzip.compress(b"x" * 1000)[:10], "the gzip data ends early"),
        (gzip.compress(b"x")[:-8] + b"\0" * 8, "damaged gzip data"),
        (gzip.compress(b"x") + b"tail", "damaged gzip data"),
        (b"", "the gzip data ends early"),
    ],
    ids=["not-gzip", "cut", "wrong-checksum", "tail", "empty"],  # gzip writes the time into the data
)
def test_broken_gzip_is_unreadable(tmp_path: Path, stored: bytes, reason: str) -> None:
    call = write_call(tmp_path, events=[STARTED], files={"trace.jsonl.gz": stored})
    artifact = open_files(call, LIMITS).artifacts["trace.jsonl.gz"]
    assert (artifact.status, artifact.reason, artifact.data) == ("unreadable", reason, None)


def test_what_stands_before_a_cut_is_read(tmp_path: Path) -> None:
    rows = [STARTED, row(2, "state_entered", 0, state_id="menu"), *(row(n, "note", n) for n in range(3, 900))]
    whole = gzip.compress(lines(rows).encode())
    call = open_call(write_call(tmp_path, durable=NO_FILE, files={"state_trace.1.jsonl.gz": whole[:-300]}))
    assert 2 < len(call.ledger) < 899
    assert [one.finding_id for one in call.findings if one.code == "TRUNCATED_LINE"] == [
        f"TRUNCATED_LINE:state_trace.1.jsonl.gz:{len(call.ledger) + 1}"
    ]
    artifact = call.parts.files.artifacts["state_trace.1.jsonl.gz"]
    assert (artifact.status, artifact.reason) == ("read", "the gzip data ends early")


def test_a_cut_between_two_lines_is_said_too(tmp_path: Path) -> None:
    packer = zlib.compressobj(wbits=31)
    cut = packer.compress(lines([STARTED]).encode()) + packer.flush(zlib.Z_SYNC_FLUSH)
    call = open_call(write_call(tmp_path, durable=NO_FILE, files={"bus_events.jsonl.gz": cut}))
    assert call.ledger.seq.tolist() == [1]
    assert "TRUNCATED_LINE:bus_events.jsonl.gz:2" in {one.finding_id for one in call.findings}
    assert call.completeness == "incomplete"
    told = next(one.explanation for one in call.findings if one.code == "TRUNCATED_LINE")
    assert "the gzip data ends early" in told


def test_gzip_is_counted_as_it_expands_over_all_files(tmp_path: Path) -> None:
    bomb = {f"state_trace.{number}.jsonl.gz": gzip.compress(b"\n" * 600_000) for number in (1, 2)}
    call = write_call(tmp_path, events=[STARTED], files=bomb)
    open_files(call, Limits(archive_bytes=1_200_000))
    with pytest.raises(EngineError) as caught:
        open_files(call, Limits(archive_bytes=1_199_999))
    assert (caught.value.code, caught.value.details["limit"]) == ("LIMIT_EXCEEDED", "archive_bytes")
