"""Output rows by what they join on: playbacks and output attempts (contract 2.8, 2.10).

Columns over the bus rows that speak of the agent's output, and a grouping of them by one id.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.hydrate.call import KIND_CODES
from engine.model.events import ATTEMPT_EVENTS, AUDIO_KINDS
from engine.sources.merge import Ledger
from engine.sources.part import Ints

STAGES = ("carrier_recorded", "client_playback", "outbound_accepted", "unrecorded", "model_received")
"""Stages of a playback, the one nearest the caller's ear first; a row without one is ``unrecorded``."""
OTHER_STAGE = -1
"""Code of a stage that the contract does not list."""


class _StageCodes(dict[str | None, int]):
    def __missing__(self, stage: str | None) -> int:
        return OTHER_STAGE


_STAGE_CODES = _StageCodes({stage: code for code, stage in enumerate(STAGES)})
_STAGE_CODES[None] = STAGES.index("unrecorded")
_KINDS = tuple(sorted((*AUDIO_KINDS, *ATTEMPT_EVENTS, "assistant_transcript")))


class OutputRows(NamedTuple):
    """Every output row in event order, as columns of one length.

    Attributes:
        events: Its event number.
        kinds: Its kind code.
        playback: Index of `playbacks`, or -1.
        attempt: Index of `attempts`, or -1.
        stage: Index of `STAGES`, or `OTHER_STAGE`; of no meaning for rows that are no playback rows.
        playbacks: Playback ids by code.
        attempts: Output attempt ids by code.
    """

    events: Ints
    kinds: NDArray[np.int16]
    playback: Ints
    attempt: Ints
    stage: NDArray[np.int8]
    playbacks: list[str]
    attempts: list[str]


class Groups(NamedTuple):
    """Row positions grouped: those of group ``i`` are ``members[starts[i] : starts[i + 1]]``, ascending."""

    members: Ints
    starts: Ints

    def of(self, group: int) -> list[int]:
        """The positions of one group."""
        found: list[int] = self.members[self.starts[group] : self.starts[group + 1]].tolist()
        return found


def group(codes: Ints, count: int) -> Groups:
    """Group positions by code; negative codes belong to no group.

    Args:
        codes: A code for each position.
        count: How many groups there are.
    """
    order = np.argsort(codes, kind="stable")
    return Groups(order, np.searchsorted(codes[order], np.arange(count + 1)))


def output_rows(ledger: Ledger) -> OutputRows:
    """The output rows of a call."""
    events, kinds, stages = [], [], []
    playbacks: list[str | None] = []
    attempts: list[str | None] = []
    for kind in _KINDS:
        captured = ledger.captured.get(kind)
        if captured is None or not captured.rows:
            continue
        size = len(captured.rows)
        events.append(np.array(captured.rows, np.int64))
        kinds.append(np.full(size, KIND_CODES[kind], np.int16))
        nothing: list[str | None] = [None] * size
        playbacks += captured.columns.get("playback_id", nothing)
        attempts += captured.columns.get("output_attempt_id", nothing)
        stated = captured.columns.get("evidence_stage", nothing)
        stages.append(np.fromiter(map(_STAGE_CODES.__getitem__, stated), np.int8, size))
    if not events:
        none = np.zeros(0, np.int64)
        return OutputRows(none, none.astype(np.int16), none, none, none.astype(np.int8), [], [])
    found = np.concatenate(events)
    order = np.argsort(found, kind="stable")
    playback, playback_ids = _coded(playbacks)
    attempt, attempt_ids = _coded(attempts)
    return OutputRows(
        found[order], np.concatenate(kinds)[order], playback[order], attempt[order],
        np.concatenate(stages)[order], playback_ids, attempt_ids,
    )  # fmt: skip


def _coded(names: Iterable[str | None]) -> tuple[Ints, list[str]]:
    """Codes of names, -1 for None, and the names by code."""
    listed = list(names)
    known = dict.fromkeys(listed)
    known.pop(None, None)
    codes: dict[str | None, int] = {name: code for code, name in enumerate(known)}
    codes[None] = -1
    return np.fromiter(map(codes.__getitem__, listed), np.int64, len(listed)), list(known)  # type: ignore[arg-type]
