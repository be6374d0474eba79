"""A call of turn records only (contract 1.1): an eval run, where the ledgers were never kept.

Each turn is one derived event, visits follow from ``from_state`` and ``to_state``, cells from the post-turn
snapshots. Everything else is unavailable.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.hydrate import clock
from engine.hydrate.call import KIND_CODES, Call, Identity, Parts
from engine.hydrate.callerturns import caller_turns, observations
from engine.hydrate.edges import Verdicts
from engine.hydrate.extras import Extra, place_all
from engine.hydrate.fold import ExitPhases, Folded
from engine.hydrate.gaps import Gaps
from engine.hydrate.identity import flow_mismatch
from engine.hydrate.ownership import DERIVED, Ownership
from engine.hydrate.recording import Recording
from engine.hydrate.sidecars import Sidecars
from engine.hydrate.timeline import START, UNSET, Gone, Timeline, at, gap_before
from engine.hydrate.visits import NO_VISIT, Quarantine, Visit, Visits, boundary_columns
from engine.model.errors import EngineError
from engine.model.limits import Settings
from engine.sources.manifest import Manifest
from engine.sources.merge import Ledger, Ref
from engine.sources.part import CAPTURED, CODED, NO_TS, Captured, Names
from engine.sources.turns import TurnRecord, Turns


class TurnLedger(Ledger):
    """Turn records in the shape of a ledger: one event a turn, in turn order, without ``seq`` or clock."""

    def __init__(self, records: list[TurnRecord]) -> None:
        super().__init__([], Names.new())
        self.records = records
        size = len(records)
        self.seq = np.arange(size, dtype=np.int64)
        self.ts = np.full(size, NO_TS, np.int64)
        self.clock = np.full(size, np.nan)
        self.int_clock = np.zeros(size, np.bool_)
        self.kind = np.full(size, KIND_CODES["turn"], np.int16)
        self.type_code = np.full(size, self.names.types["turn"], np.int32)
        self.visit = np.full(size, -1, np.int32)
        self.state = np.full(size, -1, np.int32)
        self.captured = {
            kind: Captured(
                np.zeros(0, np.int64),
                {key: [] for key in keys if key not in CODED},
                {key: np.zeros(0, np.int32) for key in keys if key in CODED},
                self.names,
            )
            for kind, keys in CAPTURED.items()
        }
        self.malformed = {event: record.malformed for event, record in enumerate(records) if record.malformed}

    def event_id(self, event: int) -> str:
        """``turn:<index>``."""
        return self.records[event].event_id

    def refs(self, event: int) -> list[Ref]:
        """Where the turn's row stands."""
        return [Ref(self.records[event].artifact, self.records[event].line)]

    def flat(self, event: int) -> dict[str, Any]:
        """The turn record as read."""
        return self.records[event].payload

    def payload(self, event: int) -> dict[str, Any]:
        """The turn record as read."""
        return dict(self.records[event].payload)


def sessions_of(turns: Turns) -> list[str]:
    """The sessions that have turns, sorted; turns that name none belong to no session."""
    return sorted(name for name, rows in turns.sessions.items() if rows and name is not None)


def choose_session(turns: Turns, session: str | None) -> tuple[str | None, list[TurnRecord]]:
    """The turns of one session.

    Raises:
        EngineError: ``NO_EVENT_SOURCE`` when there is no turn; ``BAD_ARGUMENT`` naming the sessions when
            there are several and none was chosen; ``UNKNOWN_SESSION``.
    """
    sessions = {name: rows for name, rows in turns.sessions.items() if rows}
    if not sessions:
        raise EngineError("NO_EVENT_SOURCE", "no ledger was retained and turns.jsonl holds no turn")
    if session is None and len(sessions) == 1:
        return next(iter(sessions.items()))
    names = sessions_of(turns)
    if session is None:
        raise EngineError(
            "BAD_ARGUMENT",
            f"turns.jsonl holds {len(names)} sessions; choose one with --session: {', '.join(names[:10])}",
            argument="session",
            sessions=names[:1000],
        )
    if session not in sessions:
        raise EngineError(
            "UNKNOWN_SESSION", f"no session {session} in turns.jsonl", session=session, sessions=names[:1000]
        )
    return session, sessions[session]


def turns_call(recording: Recording, session: str | None, settings: Settings, reveal: bool) -> Call:
    """Hydrate a call that has turn records and no ledger.

    Raises:
        EngineError: As `choose_session`.
    """
    session, records = choose_session(recording.turns, session)
    manifest, flow, sidecars = recording.manifest, recording.flow, recording.sidecars
    ledger = TurnLedger(records)
    built, owned = _visits(records)
    who = _identity(manifest, session, records)
    timed = clock.Clock(ledger.clock, np.zeros(len(records), np.int8), [])
    beside = _extras(sidecars, ledger, timed, built)
    heard = observations(ledger, owned, beside)
    call = Call(
        Parts(
            files=recording.files, identity=who, manifest=manifest, flow=flow,
            flow_mismatch=flow_mismatch(flow, who), turns=records, ledger=ledger, clock=timed,
            gaps=Gaps([], 0, False), built=built, owned=owned,
            folded=Folded(_timeline(records), None, None, {}, ExitPhases(ledger, owned, set()), {}, []),
            verdicts=Verdicts(ledger, built, flow), extras=beside,
            extra_refs={}, caller_turns=caller_turns(heard, settings.overlap_share), derived=[],
            settings=settings, reveal=reveal,
            faults=recording.faults, turns_only=True, tracks=sidecars.tracks,
        )
    )  # fmt: skip
    call.raised = []
    return call


def _identity(manifest: Manifest | None, session: str | None, records: list[TurnRecord]) -> Identity:
    stated = {name: getattr(manifest, name) if manifest else None for name in Identity._fields}
    kinds, runs = {record.kind for record in records}, {record.run_id for record in records}
    stated["session_id"] = session if session is not None else stated["session_id"]
    stated["kind"] = stated["kind"] or (kinds.pop() if len(kinds) == 1 else None)
    stated["run_id"] = stated["run_id"] or (runs.pop() if len(runs) == 1 else None)
    return Identity(**stated)


def _visits(records: list[TurnRecord]) -> tuple[Visits, Ownership]:
    visits: list[Visit] = []
    entries: dict[str, int] = {}
    owner = np.full(len(records), NO_VISIT, np.int32)
    quarantined: dict[int, Quarantine] = {}
    open_at, open_after = owner.copy(), owner.copy()
    current = NO_VISIT
    for event, record in enumerate(records):
        state = record.from_state
        if state is None:
            quarantined[event] = Quarantine("CONFLICTING_ATTRIBUTION", "the turn names no state it began in")
            open_at[event] = open_after[event] = current
            continue
        if current < 0 or visits[current].state_id != state:
            entries[state] = ordinal = entries.get(state, 0) + 1
            if current >= 0:
                visits[current].closed_by = event
            current = len(visits)
            visits.append(Visit(f"{state}#{ordinal}", state, ordinal, event))
        owner[event] = open_at[event] = current
        if record.to_state is not None and record.to_state != state:
            visits[current].exited, visits[current].to_state = event, record.to_state
            current = NO_VISIT
        open_after[event] = current
    by_id = {visit.visit_id: index for index, visit in enumerate(visits)}
    built = Visits(visits, *boundary_columns(visits), open_at, open_after, owner, {}, by_id)
    attribution = np.where(owner >= 0, DERIVED, 0).astype(np.int8)
    sources: dict[int, tuple[int, ...]] = {event: (event,) for event in np.flatnonzero(owner >= 0).tolist()}
    late = np.zeros(len(records), np.bool_)
    return built, Ownership(owner, attribution, open_at, late, quarantined, sources, {}, {})


def _timeline(records: list[TurnRecord]) -> Timeline:
    timeline = Timeline()
    timeline.add_base(START + 1, Gone("no_baseline"), -1)
    for event, record in enumerate(records):
        if event and record.turn_index > records[event - 1].turn_index + 1:
            timeline.add_base(gap_before(event), Gone("turns_missing"), -1)
        if record.post_turn_snapshot is None:
            timeline.add_base(at(event), Gone("no_post_turn_snapshot"), event)
            continue
        timeline.add_base(at(event), UNSET, event)
        for slot, value in record.post_turn_snapshot.items():
            timeline.add(slot, at(event), value, event)
    return timeline


def _extras(sidecars: Sidecars, ledger: Ledger, call_clock: clock.Clock, built: Visits) -> list[Extra]:
    beside = sidecars.extras(ledger)
    for extra in beside:
        extra.seq = None  # a bus sequence places nothing where there is no bus
    return place_all(beside, ledger, call_clock, built)
