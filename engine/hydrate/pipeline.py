"""The stages of hydration in order: a pure function of the folder's bytes (contract 2)."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.hydrate import callerturns, clock, derived, extras, fold, gaps, identity, ownership, walk
from engine.hydrate.call import Call, Identity, Parts
from engine.hydrate.document import sources
from engine.hydrate.edges import Verdicts
from engine.hydrate.findings import RULES
from engine.hydrate.hashes import artifact_hash
from engine.hydrate.recording import Recording, Report, read_recording
from engine.hydrate.report import completeness, report
from engine.hydrate.summary import summarise
from engine.hydrate.turnscall import sessions_of, turns_call
from engine.model.errors import EngineError
from engine.model.limits import LIMITS, SETTINGS, Limits, Settings
from engine.sources.manifest import Manifest
from engine.sources.merge import Ledger
from engine.sources.turns import TurnRecord, Turns

Progress = Callable[[str, float], None]
Cancelled = Callable[[], bool]
_LONG = 50_000
"""From this many events on, what was hydrated is kept out of the collector's sight for good."""


def open_call(
    path: Path,
    *,
    session: str | None = None,
    reveal: bool = False,
    limits: Limits = LIMITS,
    settings: Settings = SETTINGS,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> Call:
    """Read and hydrate one retained call.

    Args:
        path: A call folder, archive or ``turns.jsonl``.
        session: Which session, where the folder holds turns of several.
        reveal: Show classified values; for local clients only.
        limits: What readers refuse.
        settings: Thresholds.
        progress: Told the stage and how much is done, 0 to 1.
        cancelled: Asked between stages, and while events are read, whether to stop.

    Raises:
        EngineError: The input is no call (``NO_EVENT_SOURCE``, ``UNSUPPORTED_ARTIFACT``), is too large
            (``LIMIT_EXCEEDED``), names a path outside itself (``PATH_OUTSIDE_CALL``), several sessions stand
            there and none was chosen (``BAD_ARGUMENT``), there is no such session (``UNKNOWN_SESSION``), or
            opening was ``CANCELLED``.
    """

    def tell(stage: str, share: float) -> None:
        if cancelled is not None and cancelled():
            raise EngineError("CANCELLED", "opening was cancelled")
        if progress is not None:
            progress(stage, share)

    with _collector_paused():
        recording = read_recording(path, limits, tell)
        return _opened(recording, session, settings, reveal, tell)


def open_every(path: Path, *, limits: Limits = LIMITS, settings: Settings = SETTINGS) -> Iterator[Call]:
    """Every call of a path: one, or one for each session of a folder of turns. Its files are read once.

    Raises:
        EngineError: As `open_call`, but for a session that was not chosen.
    """

    def tell(stage: str, share: float) -> None:
        """Nobody waits for it."""

    with _collector_paused():
        recording = read_recording(path, limits, tell)
    several = sessions_of(recording.turns) if recording.ledger is None else []
    for session in several if len(several) > 1 else [None]:
        with _collector_paused():
            call = _opened(recording, session, settings, False, tell)
        yield call


def _opened(
    recording: Recording, session: str | None, settings: Settings, reveal: bool, tell: Report
) -> Call:
    try:
        call = _hydrate(recording, session, settings, reveal, tell)
    except RecursionError:
        recording.finish()  # refuses lines that nest too deep
        raise
    tell("findings", 0.95)
    recording.finish()
    _conclude(call, settings)
    if call.event_count >= _LONG:
        gc.freeze()
    return call


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Nothing that hydration makes is cyclic garbage; collecting would walk millions of rows for nothing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _hydrate(
    recording: Recording, session: str | None, settings: Settings, reveal: bool, tell: Report
) -> Call:
    if recording.ledger is None:
        return turns_call(recording, session, settings, reveal)
    who = identity.identify(recording.manifest, recording.ledger)
    if session is not None and session != who.session_id:
        raise EngineError("UNKNOWN_SESSION", f"this call is of session {who.session_id}", session=session)
    return _ledger_call(recording, recording.ledger, who, settings, reveal, tell)


def _ledger_call(
    recording: Recording,
    ledger: Ledger,
    who: Identity,
    settings: Settings,
    reveal: bool,
    tell: Report,
) -> Call:
    """Each line is a stage that takes what the stages before it gave."""
    flow, manifest = recording.flow, recording.manifest
    mismatch = identity.flow_mismatch(flow, who)
    tell("visits", 0.6)
    missing = _gaps(ledger, manifest)
    built = walk.build_visits(ledger, missing)
    verdicts = Verdicts(ledger, built, flow)
    owned = ownership.assign(ledger, built, verdicts.winner, flow)
    verdicts.attach(owned)
    timed = clock.read_clock(ledger, _started(ledger), settings.clock_tolerance_ms)
    tell("variables", 0.7)
    folded = fold.fold(ledger, built, owned, missing)
    tell("transcripts", 0.8)
    beside = extras.place_all(
        [*extras.loose_rows(ledger, timed), *recording.sidecars.extras(ledger)], ledger, timed, built, owned
    )
    turns = callerturns.caller_turns(callerturns.observations(ledger, owned, beside), settings.overlap_share)
    states = [visit.state_id for visit in built.visits]
    agreements, disagreements = derived.compare_transcripts(turns, states, flow if mismatch is None else None)
    tell("order", 0.9)
    call = Call(
        Parts(
            files=recording.files, identity=who, manifest=manifest, flow=flow,
            flow_mismatch=mismatch, turns=turns_of(recording.turns, who.session_id),
            ledger=ledger, clock=timed, gaps=missing, built=built, owned=owned, folded=folded,
            verdicts=verdicts, extras=beside, extra_refs=recording.sidecars.tool_refs(ledger),
            caller_turns=turns, derived=agreements, settings=settings, reveal=reveal,
            faults=recording.faults, tracks=recording.sidecars.tracks,
        )
    )  # fmt: skip
    call.raised = [*folded.findings, *disagreements]
    return call


def _started(ledger: Ledger) -> int | None:
    rows = ledger.captured["session_started"].rows
    return rows[0] if rows else None


def _gaps(ledger: Ledger, manifest: Manifest | None) -> gaps.Gaps:
    durable = any(part.artifact.startswith("state_trace") for part in ledger.parts)
    emitted = manifest.events_emitted if manifest else None
    failures = (manifest.emit_failures or 0) if manifest else 0
    return gaps.find_gaps(ledger, durable, ledger.durable_writes, emitted, failures)


def turns_of(turns: Turns, session: str | None) -> list[TurnRecord]:
    """The turns of a call's own session; rows of other sessions are another call's."""
    if len(turns.sessions) == 1:
        only, records = next(iter(turns.sessions.items()))
        if only is None or session is None or only == session:
            return records
    return turns.sessions.get(session, [])


def _conclude(call: Call, settings: Settings) -> None:
    """Findings, completeness, hash and summary: what needs the whole call."""
    call.findings = report(call, [*call.raised, *(one for rule in RULES for one in rule(call))])
    call.completeness, call.completeness_reasons = completeness(call)
    session = call.session_id if call.parts.turns_only else None
    call.artifact_hash = artifact_hash(sources(call), settings, call.reveal, session)
    call.summary = summarise(call)
