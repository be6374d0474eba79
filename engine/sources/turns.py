"""``turns.jsonl``: TurnRecords of version 1 and 2 in one file (contract 1.1, 6.2)."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from engine.model.events import Key
from engine.model.limits import Limits
from engine.sources.contents import TURNS, pick
from engine.sources.files import CallFiles
from engine.sources.ledger import LineFault
from engine.sources.lines import Line, RowNumbers, count_malformed, event_id, fit, read_lines
from engine.sources.rowschema import Timestamp

_Text = str | None
_Object = dict[str, Any] | None
_Objects = list[dict[str, Any]] | None

KEYS: dict[str, Key] = {
    "turn_index": Key(int, True),
    "session_id": Key(str, True),
    "ts": Key(Timestamp),
    "user_utterance": Key(_Text),
    "agent_utterance": Key(_Text),
    "from_state": Key(_Text),
    "to_state": Key(_Text),
    "post_turn_snapshot": Key(_Object),
    "tool_calls": Key(_Objects),
    "schema_version": Key(int | None),
    "kind": Key(_Text),
    "run_id": Key(_Text),
    "missing_required_slots": Key(list[str] | None),
    "slot_diff": Key(_Objects),
    "transition_verdict": Key(_Object),
    "guards_evaluated": Key(_Objects),
}
"""Keys of a TurnRecord; the last six and `schema_version` came with version 2."""


class TurnRecord(msgspec.Struct, frozen=True):
    """One turn. None is "not recorded", which is what every version 2 key of a version 1 row is.

    Attributes:
        event_id: ``turn:<turn_index>``, with ``.1``, ``.2`` … for further rows of one index and session.
        artifact, line: Where it stands; lines from 1.
        turn_index: As stated; else the ordinal of its line in the file, from 0.
        session_id: As stated, or that of the whole file where all rows that name one agree.
        ts: Epoch seconds or RFC 3339.
        schema_version: 1 where the row states none.
        payload: The whole row, with `malformed` where it has malformed keys.
        malformed: Keys that are wrong or lack, sorted.
    """

    event_id: str
    artifact: str
    line: int
    turn_index: int
    session_id: str | None
    ts: float | int | str | None
    user_utterance: str | None
    agent_utterance: str | None
    from_state: str | None
    to_state: str | None
    post_turn_snapshot: dict[str, Any] | None
    tool_calls: list[dict[str, Any]] | None
    schema_version: int
    kind: str | None
    run_id: str | None
    missing_required_slots: list[str] | None
    slot_diff: list[dict[str, Any]] | None
    transition_verdict: dict[str, Any] | None
    guards_evaluated: list[dict[str, Any]] | None
    payload: dict[str, Any]
    malformed: tuple[str, ...]


class Turns(NamedTuple):
    """The turns by session, sessions in order of first appearance, turns by index and then line."""

    sessions: dict[str | None, list[TurnRecord]]
    """None holds rows that name no session in a file that names several, or none."""
    faults: list[LineFault]


def read_turns(files: CallFiles, limits: Limits) -> Turns:
    """Read the turns of a call or of an eval run; a call without them gives none.

    Raises:
        EngineError: ``LIMIT_EXCEEDED`` (`lines.read_lines`).
    """
    artifact = pick(files, TURNS)
    lines, faults = read_lines(artifact, limits)
    stated = {
        line.value["session_id"]: None for line in lines if isinstance(line.value.get("session_id"), str)
    }
    only = next(iter(stated)) if len(stated) == 1 else None
    numbers: dict[str | None, RowNumbers] = {}
    sessions: dict[str | None, list[TurnRecord]] = {name: [] for name in stated}
    malformed: list[int] = []
    for line in lines:
        name = line.value.get("session_id")
        session = name if isinstance(name, str) else only
        number = numbers.setdefault(session, RowNumbers("turn_index"))
        record = _record(artifact.name, line, session, number)
        sessions.setdefault(session, []).append(record)
        if record.malformed:
            malformed.append(line.line)
    for turns in sessions.values():
        turns.sort(key=lambda turn: (turn.turn_index, turn.line))
    count_malformed(artifact, faults, malformed)
    return Turns(sessions, faults)


def _record(artifact: str, line: Line, session: str | None, numbers: RowNumbers) -> TurnRecord:
    values, malformed = fit(line, KEYS)
    if numbers.is_malformed(line):
        malformed = tuple(sorted({*malformed, "turn_index"}))
    index, suffix = numbers.of(line)
    values |= {
        "turn_index": index,
        "session_id": session,
        "schema_version": 1 if values["schema_version"] is None else values["schema_version"],
    }
    return TurnRecord(
        **values,
        event_id=event_id("turn", index, suffix),
        artifact=artifact,
        line=line.line,
        payload=line.value | ({"malformed": list(malformed)} if malformed else {}),
        malformed=malformed,
    )
