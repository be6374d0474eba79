"""Which files of a call the contract names, and what becomes of each that is there (contract 1.1).

A folder and an archive both end here: they say what they found as `Entry` values, `assemble` does the rest.
"""

from __future__ import annotations

import hashlib
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from engine.model.errors import EngineError
from engine.sources.files import Artifact, CallFiles, Status
from engine.sources.gunzip import CUT, Budget, gunzip

RING = "bus_events.jsonl"
DURABLE = "state_trace.jsonl"
TURNS = "turns.jsonl"
AUDIO_FOLDER = "audio"
FOLDERS = (AUDIO_FOLDER, "transcripts")
ROWS = (
    RING,
    DURABLE,
    "tool_fixtures.jsonl",
    "trace.jsonl",
    "transcripts/live.jsonl",
    "transcripts/timed.jsonl",
    TURNS,
)
DOCUMENTS = ("audio/manifest.json", "flow.json", "manifest.json", "state_audio_timeline.json")
EXPECTED = (*ROWS, *DOCUMENTS)
"""Listed as ``missing`` when they are not there. Rotated parts and audio are listed only when they are."""

_PART = re.compile(r"state_trace\.([1-9][0-9]{0,8})\.jsonl")
_WAV = re.compile(r"audio/[^/]+\.wav")
_SUPERSEDED = "{} is read instead"


class Unread(Exception):
    """A file that is there but is not read: the status it gets, and a reason free of local paths."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class Entry(NamedTuple):
    """One file of a folder or an archive.

    Attributes:
        load: Gives its bytes as stored, or raises `Unread`.
        sha256: Hex digest of those bytes where it is known already (members of an archive).
        refused: Why it is never loaded.
    """

    load: Callable[[], bytes | memoryview]
    sha256: str | None = None
    refused: Unread | None = None


def refused(reason: str, status: Status = "refused") -> Entry:
    """An entry that is listed and never loaded."""
    problem = Unread(status, reason)

    def load() -> bytes | memoryview:
        raise problem

    return Entry(load, refused=problem)


def not_a_file(mode: int) -> str | None:
    """What a file of this mode is when it is no regular file, else None."""
    if stat.S_ISREG(mode):
        return None
    if stat.S_ISLNK(mode):
        return "a symbolic link"
    if stat.S_ISDIR(mode):
        return "a folder"
    if stat.S_ISFIFO(mode):
        return "a named pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"


def part_number(name: str) -> int | None:
    """The number of a rotated ledger part, gzip'd or not; None for any other name."""
    found = _PART.fullmatch(name.removesuffix(".gz"))
    return int(found[1]) if found else None


def is_event_source(name: str) -> bool:
    """Whether a file of this name, gzip'd or not, makes a folder a call."""
    return name.removesuffix(".gz") in (RING, DURABLE, TURNS) or part_number(name) is not None


def is_named(name: str) -> bool:
    """Whether the contract names this file (``audio/*.wav`` included)."""
    return (
        name in EXPECTED
        or (name.endswith(".gz") and name.removesuffix(".gz") in ROWS)
        or part_number(name) is not None
        or _WAV.fullmatch(name) is not None
    )


def pick(files: CallFiles, name: str) -> Artifact:
    """The artifact to read for a name of the contract, which may stand gzip'd.

    Raises:
        KeyError: the contract names no such file.
    """
    packed = files.artifacts.get(name + ".gz")
    if packed is not None and packed.status == "read":
        return packed
    plain = files.artifacts.get(name, packed)
    if plain is None:
        raise KeyError(name)
    return plain


def assemble(label: str, found: Mapping[str, Entry], audio: Mapping[str, str], budget: Budget) -> CallFiles:
    """Read every named file and list it, with the missing ones.

    Where ``x.jsonl`` and ``x.jsonl.gz`` are both there, the plain one is read and the other is ``unused``;
    if the plain one can't be read, the gzip'd one is.

    Args:
        label: What the operator named.
        found: Name inside the call → entry, for the files that are there.
        audio: `CallFiles.audio`.
        budget: What decompression may cost.

    Raises:
        EngineError: ``NO_EVENT_SOURCE``; ``LIMIT_EXCEEDED`` (``archive_bytes``).
    """
    listed: dict[str, Artifact] = {}
    for name in sorted({item.removesuffix(".gz") for item in found if is_named(item)} | set(EXPECTED)):
        for artifact in _variants(name, found, budget):
            listed[artifact.name] = artifact
    files = CallFiles(label, dict(sorted(listed.items())), _ledgers(listed), audio)
    if not files.ledgers and pick(files, TURNS).status != "read":
        raise _no_event_source(listed)
    return files


def _variants(name: str, found: Mapping[str, Entry], budget: Budget) -> Iterable[Artifact]:
    plain, packed = found.get(name), found.get(name + ".gz")
    if plain is None and packed is None:
        yield Artifact(name, "missing", reason="not in the call")
        return
    first = None
    if plain is not None:
        yield (first := _artifact(name, plain, budget))
    if packed is not None:
        if first is not None and first.status == "read":
            yield Artifact(name + ".gz", "unused", reason=_SUPERSEDED.format(name))
        else:
            yield _artifact(name + ".gz", packed, budget)


def _artifact(name: str, entry: Entry, budget: Budget) -> Artifact:
    if entry.refused is None and _WAV.fullmatch(name):  # its bytes are looked at where they lie
        return Artifact(name, "read", sha256=entry.sha256)
    try:
        stored = entry.load()
        if name.endswith(".gz"):
            digest = entry.sha256 or hashlib.sha256(stored).hexdigest()
            unpacked = gunzip(stored, budget)
            return Artifact(name, "read", unpacked.data, digest, CUT if unpacked.cut else None)
    except Unread as problem:
        return Artifact(name, problem.status, reason=problem.reason)
    except ValueError as problem:
        return Artifact(name, "unreadable", reason=str(problem))
    # A mapped file is large; `hashing` takes its digest beside the parsing.
    known = entry.sha256 or (hashlib.sha256(stored).hexdigest() if isinstance(stored, bytes) else None)
    return Artifact(name, "read", stored, known)


def _ledgers(listed: Mapping[str, Artifact]) -> list[str]:
    read = [name for name, artifact in listed.items() if artifact.status == "read"]
    parts = sorted((number, name) for name in read if (number := part_number(name)) is not None)
    whole = [name for plain in (DURABLE, RING) for name in read if name.removesuffix(".gz") == plain]
    return [name for _, name in parts] + whole


def _no_event_source(listed: Mapping[str, Artifact]) -> EngineError:
    reasons = {name: artifact.reason for name, artifact in sorted(listed.items()) if is_event_source(name)}
    there = [f"{name} is {reason}" for name, reason in reasons.items() if listed[name].status != "missing"]
    message = "no event ledger and no turns.jsonl in the call"
    return EngineError("NO_EVENT_SOURCE", message + "".join(f"; {text}" for text in there), sources=reasons)
