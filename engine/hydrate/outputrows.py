"""Output rows by what they join on: playbacks and output attempts (contract 2.8, 2.10).

Columns over the bus rows that speak of the agent's output, and a grouping of them by one id.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.hydrate.call import KIND_CODES
from engine.model.events import ATTEMPT_EVENTS, AUDIO_KINDS
from engine.sources.merge import Ledger
from engine.sources.part import Captured, Ints

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
    found = [(kind, ledger.captured[kind]) for kind in _KINDS if kind in ledger.captured]
    events = np.concatenate([captured.events for _, captured in found])
    order = np.argsort(events, kind="stable")
    kinds = [np.full(len(captured.events), KIND_CODES[kind], np.int16) for kind, captured in found]
    playback, playbacks = _codes(found, "playback_id", ledger.names.playbacks.names)
    attempt, attempts = _codes(found, "output_attempt_id", ledger.names.attempts.names)
    return OutputRows(
        events[order], np.concatenate(kinds)[order], playback[order], attempt[order], _stages(found)[order],
        playbacks, attempts,
    )  # fmt: skip


def _codes(found: list[tuple[str, Captured]], key: str, names: list[str]) -> tuple[Ints, list[str]]:
    """The codes of an id in all rows, -1 where there is none, and the ids by code; each is some row's."""
    missing = [np.full(len(captured.events), -1, np.int32) for _, captured in found]
    codes = np.concatenate(
        [captured.codes.get(key, none) for (_, captured), none in zip(found, missing, strict=True)]
    ).astype(np.int64)
    used = np.bincount(codes[codes >= 0], minlength=len(names)) > 0
    if used.all():
        return codes, names
    dense = np.append(np.cumsum(used) - 1, -1)  # rows that do not stand may have named ids of their own
    return dense[codes], [name for name, is_used in zip(names, used.tolist(), strict=True) if is_used]


def _stages(found: list[tuple[str, Captured]]) -> NDArray[np.int8]:
    """The stage codes of all rows."""
    codes = [
        np.fromiter(map(_STAGE_CODES.__getitem__, captured.columns["evidence_stage"]), np.int8)
        if "evidence_stage" in captured.codes
        else np.zeros(len(captured.events), np.int8)
        for _, captured in found
    ]
    return np.concatenate(codes)
