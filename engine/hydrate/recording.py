"""Everything one call folder holds, read but not yet interpreted: the input of hydration (contract 1)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from engine.hydrate.sidecars import Sidecars, read_sidecars
from engine.model.errors import EngineError
from engine.model.events import AUDIO_KINDS
from engine.model.flow import Flow
from engine.model.limits import Limits
from engine.sources.contents import RING, TURNS, pick
from engine.sources.files import CallFiles
from engine.sources.flow import read_flow
from engine.sources.folder import open_files
from engine.sources.halves import Reading, read_whole
from engine.sources.hashing import start_hashing
from engine.sources.manifest import Manifest, read_manifest
from engine.sources.mapping import release_pages
from engine.sources.merge import Ledger
from engine.sources.part import LedgerPart, LineFault, Names, note_cut
from engine.sources.rowschema import KIND_CODE
from engine.sources.turns import Turns, read_turns

Report = Callable[[str, float], None]
"""Told a stage and how much of hydration is done, 0 to 1; what it raises ends the work."""

Faults = list[tuple[str, list[LineFault]]]
"""What was not read as it stands, by artifact."""


class Recording(NamedTuple):
    """What was read of one call.

    Attributes:
        ledger: The distinct events; None where no ledger was retained.
        finish: Waits for what goes on beside the later stages: digests of large files, and the checks of
            ledger rows. Call it before findings are made and `files` is reported; it raises
            ``LIMIT_EXCEEDED``.
    """

    files: CallFiles
    manifest: Manifest | None
    flow: Flow | None
    ledger: Ledger | None
    turns: Turns
    sidecars: Sidecars
    faults: Faults
    finish: Callable[[], None]


def read_recording(path: Path, limits: Limits, report: Report) -> Recording:
    """Read every file of a call.

    Raises:
        EngineError: ``NO_EVENT_SOURCE``, ``UNSUPPORTED_ARTIFACT``, ``LIMIT_EXCEEDED``, ``PATH_OUTSIDE_CALL``.
    """
    report("reading files", 0.0)
    files = open_files(path, limits)
    manifest = read_manifest(files, limits)
    flow = read_flow(files, limits)
    turns = read_turns(files, limits)
    ledger, faults, readings = _read_ledgers(files, limits, report)
    finish_hashing = start_hashing(files, {name for name, reading in readings.items() if reading.helped})
    report("reading side files", 0.55)
    sidecars = read_sidecars(files, ledger is not None and _has_audio(ledger), limits)
    faults += [*sidecars.faults, (pick(files, TURNS).name, turns.faults)]
    if manifest is not None:
        faults.append(("manifest.json", list(manifest.faults)))

    def finish() -> None:
        for name, reading in readings.items():
            files.artifacts[name].sha256 = reading.finish() or files.artifacts[name].sha256
        finish_hashing()
        start_hashing(files)()  # what a helper that failed has left

    return Recording(files, manifest, flow, ledger, turns, sidecars, faults, finish)


def _has_audio(ledger: Ledger) -> bool:
    return bool(np.isin(ledger.kind, [KIND_CODE[kind] for kind in AUDIO_KINDS]).any())


def _read_ledgers(
    files: CallFiles, limits: Limits, report: Report
) -> tuple[Ledger | None, Faults, dict[str, Reading]]:
    names = [name for name in files.ledgers if files.artifacts[name].status == "read"]
    if not names:
        return None, [], {}
    interned = Names.new()
    parts: list[LedgerPart] = []
    readings: dict[str, Reading] = {}
    durable_lines = 0
    for number, name in enumerate(names):
        report(f"reading {name}", 0.5 * number / len(names))
        data = files.artifacts[name].data
        assert data is not None
        reading = readings[name] = read_whole(
            name, data, interned, limits, lambda share: report("reading events", share / 2)
        )
        part = reading.part
        note_cut(part.faults, part.lines, files.artifacts[name].reason)
        durable_lines += 0 if name.startswith(RING) else part.lines
        _refuse_above(durable_lines, limits)
        release_pages(data)
        files.artifacts[name].rows = part.rows_read
        files.artifacts[name].malformed = len(part.faults) + len(part.malformed)
        parts.append(part)
    faults = [(part.artifact, part.faults) for part in parts]
    ledger = Ledger(parts, interned)
    _refuse_above(len(ledger), limits)
    return ledger, faults, readings


def _refuse_above(events: int, limits: Limits) -> None:
    if events > limits.events:
        raise EngineError(
            "LIMIT_EXCEEDED", f"more than {limits.events} events", limit="events", maximum=limits.events
        )
