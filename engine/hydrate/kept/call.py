"""A whole call, kept and brought back: the files are opened again, their rows are not read."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from engine import __version__
from engine.canonical import fingerprint
from engine.hydrate import identity
from engine.hydrate.call import ALL_KINDS, Call, Columns, Identity, Parts
from engine.hydrate.callerturns import CallerTurn
from engine.hydrate.clock import CLOCK_NAMES, Clock, wall_of
from engine.hydrate.derived import Derived
from engine.hydrate.edges import Judged, Verdicts
from engine.hydrate.extras import Extra
from engine.hydrate.gaps import Gaps
from engine.hydrate.hashes import HYDRATION_REVISION
from engine.hydrate.kept import ledger as ledgers
from engine.hydrate.kept import slots, visits
from engine.hydrate.kept.sections import Late, Sections, Writing, array, document
from engine.hydrate.order import Order
from engine.hydrate.ownership import ATTRIBUTIONS, Ownership
from engine.hydrate.pipeline import turns_of
from engine.hydrate.visits import Quarantine, Visits
from engine.model.artifact import Finding, Summary
from engine.model.limits import LIMITS, Settings
from engine.sources.audio import Track
from engine.sources.files import Artifact, CallFiles, Status
from engine.sources.flow import read_flow
from engine.sources.folder import open_files
from engine.sources.hashing import start_hashing
from engine.sources.manifest import read_manifest
from engine.sources.part import CAPTURED, CODED, LineFault
from engine.sources.rowschema import TYPES
from engine.sources.turns import TurnRecord, read_turns

FORM = 1
"""Raised whenever the sections change, or what they mean."""
_OWNED = ("attribution", "late")
_BUILT = ("firsts", "exits", "open_at", "open_after", "owner")


def writer() -> str:
    """A hash of what the numbers in sections mean: the engine's version, and the order of its words."""
    return fingerprint(
        {
            "form": FORM, "revision": HYDRATION_REVISION, "engine": __version__,
            "kinds": ALL_KINDS, "types": TYPES, "captured": CAPTURED, "coded": CODED,
            "attributions": ATTRIBUTIONS, "clocks": CLOCK_NAMES,
        }
    )  # fmt: skip


class _File(msgspec.Struct, frozen=True):
    """What became of one file."""

    name: str
    status: Status
    sha256: str | None
    reason: str | None
    rows: int | None
    malformed: int


class _Facts(msgspec.Struct, frozen=True):
    """What is neither a column nor a list that is looked into item by item."""

    written_by: str
    settings: Settings
    reveal: bool
    artifact_hash: str
    identity: Identity
    files: list[_File]
    gaps: Gaps
    regressions: list[int]
    refused: dict[int, Quarantine]
    quarantined: dict[int, Quarantine]
    derived_from: dict[int, tuple[int, ...]]
    causal: dict[int, str]
    band: dict[int, list[int]]
    tracks: tuple[Track, ...]
    faults: list[tuple[str, list[LineFault]]]
    extra_refs: dict[int, list[dict[str, Any]]]
    lengths: tuple[int, int, int, int]
    """Of extras, caller turns, derived events and turn records."""
    findings: list[Finding]
    completeness: str
    completeness_reasons: list[str]
    summary: Summary
    """Without its breadcrumb, which is that of the visits."""


def keep(call: Call) -> Writing:
    """The sections of a call; see `restore`.

    Raises:
        UnicodeEncodeError: A file of the call has a name that is no text.
    """
    into, parts, order = Writing(), call.parts, call.order
    ledgers.keep(call.ledger, into)
    visits.keep(call.visits, into)
    slots.keep(parts.folded, into)
    for name in _BUILT:
        into[f"built.{name}"] = getattr(parts.built, name)
    for name in _OWNED:
        into[f"owned.{name}"] = getattr(parts.owned, name)
    for name in Judged._fields:
        into[f"judged.{name}"] = getattr(call.verdicts.judged, name)
    into["clock.ms"], into["clock.state"] = parts.clock.ms, parts.clock.state
    into["visit_of"], into["kind_of"] = call.visit_of, call.kind_of
    into["keys"] = call.keys
    into["micro"], into["starts"], into["positions"] = order.micro, order.start, order.position
    for name in ("extras", "caller_turns", "derived"):
        into.put(name, list(getattr(parts, name)))
    into.put("call", _facts(call))
    return into


def _facts(call: Call) -> _Facts:
    parts, owned = call.parts, call.parts.owned
    return _Facts(
        written_by=writer(),
        settings=parts.settings,
        reveal=call.reveal,
        artifact_hash=call.artifact_hash,
        identity=call.identity,
        files=[
            _File(one.name, one.status, one.sha256, one.reason, one.rows, one.malformed)
            for one in parts.files.artifacts.values()
        ],
        gaps=parts.gaps,
        regressions=parts.clock.regressions,
        refused=parts.built.refused,
        quarantined=owned.quarantined,
        derived_from=owned.derived_from,
        causal=owned.causal,
        band=owned.band,
        tracks=parts.tracks,
        faults=parts.faults,
        extra_refs=parts.extra_refs,
        lengths=(len(parts.extras), len(parts.caller_turns), len(parts.derived), len(parts.turns)),
        findings=call.findings,
        completeness=call.completeness,
        completeness_reasons=call.completeness_reasons,
        summary=msgspec.structs.replace(call.summary, breadcrumb=[]),
    )


class Unfit(Exception):
    """Sections that are not of this call, this engine, or these settings."""


def restore(path: Path, sections: Sections, settings: Settings, reveal: bool, verify: bool = False) -> Call:
    """A call from its sections.

    Args:
        path: The call; its files are opened again, for what is looked at later.
        sections: What `keep` gave for it.
        settings: The thresholds that are asked for.
        reveal: Whether classified values are to be shown.
        verify: Hash every file again.

    Raises:
        Unfit: The sections are not of this call as it stands, of this engine or of what is asked for; or
            they are not what `keep` gives.
        EngineError: As `open_files`.
    """
    try:
        facts: _Facts = document(sections, "call", _Facts)
        if facts.written_by != writer():
            raise Unfit("of another version")
        if (facts.settings, facts.reveal) != (settings, reveal):
            raise Unfit("of other settings")
        return _restored(path, sections, facts, verify)
    except (KeyError, IndexError, msgspec.DecodeError) as problem:
        raise Unfit(f"not as it was kept: {problem}") from None


def _take_over(files: CallFiles, told: list[_File], verify: bool) -> CallFiles:
    """The files as they were listed when their rows were read, with the bytes that are there now."""
    names = {one.name for one in told}
    if not files.artifacts.keys() <= names:
        raise Unfit("there are other files")
    listed: dict[str, Artifact] = {}
    for one in told:
        now = files.artifacts.get(one.name)  # those that only a manifest names are listed by who reads it
        digest = None if now is None else now.sha256
        if digest not in (None, one.sha256):
            raise Unfit(f"{one.name} has changed")
        listed[one.name] = Artifact(
            one.name, one.status, None if now is None else now.data, None if verify else one.sha256,
            one.reason, one.rows, one.malformed,
        )  # fmt: skip
    found = CallFiles(files.label, listed, files.ledgers, files.audio)
    if verify:
        start_hashing(found)()
        if any(listed[one.name].sha256 != one.sha256 for one in told if one.status == "read"):
            raise Unfit("a file has changed")
        for one in told:
            listed[one.name].sha256 = one.sha256
    return found


def _restored(path: Path, sections: Sections, facts: _Facts, verify: bool) -> Call:
    """Each line takes what the lines before it gave."""
    opened = open_files(path, LIMITS)
    manifest, flow = read_manifest(opened, LIMITS), read_flow(opened, LIMITS)
    files = _take_over(opened, facts.files, verify)
    visit_of, kind_of = array(sections, "visit_of"), array(sections, "kind_of")
    ms = array(sections, "clock.ms")
    ledger = ledgers.KeptLedger(sections, kind_of[: len(ms)], files)
    seen = visits.KeptVisits(sections)
    built = Visits(
        seen, array(sections, "built.firsts"), array(sections, "built.exits"),
        array(sections, "built.open_at"), array(sections, "built.open_after"), array(sections, "built.owner"),
        facts.refused, visits.Numbers(seen),
    )  # fmt: skip
    owned = Ownership(
        visit_of[: len(ms)], array(sections, "owned.attribution"), built.open_at,
        array(sections, "owned.late"), facts.quarantined, facts.derived_from, facts.causal, facts.band,
    )  # fmt: skip
    started = ledger.captured["session_started"].rows
    extras, caller_turns, derived, turns = facts.lengths
    order = Order(array(sections, "micro"), array(sections, "starts"), array(sections, "positions"))
    call = Call(
        Parts(
            files=files, identity=facts.identity, manifest=manifest, flow=flow,
            flow_mismatch=identity.flow_mismatch(flow, facts.identity),
            turns=Late(turns, lambda: _turns(opened, facts.identity.session_id)),
            ledger=ledger,
            clock=Clock(ms, array(sections, "clock.state"), facts.regressions,
                        wall_of(ledger, started[0] if started else None)),
            gaps=facts.gaps, built=built, owned=owned, folded=slots.restore(sections, ledger, owned),
            verdicts=Verdicts(
                ledger, built, flow, Judged(*(array(sections, f"judged.{name}") for name in Judged._fields))
            ),
            extras=Late(extras, partial(document, sections, "extras", list[Extra])),
            extra_refs=facts.extra_refs,
            caller_turns=Late(caller_turns, partial(document, sections, "caller_turns", list[CallerTurn])),
            derived=Late(derived, partial(document, sections, "derived", list[Derived])),
            settings=facts.settings, reveal=facts.reveal, faults=facts.faults, tracks=facts.tracks,
        ),
        Columns(visit_of, kind_of, array(sections, "keys"), order),
    )  # fmt: skip
    call.raised, call.findings = [], facts.findings
    call.completeness, call.completeness_reasons = facts.completeness, facts.completeness_reasons
    call.artifact_hash = facts.artifact_hash
    call.summary = msgspec.structs.replace(facts.summary, breadcrumb=seen.ids)
    return call


def _turns(files: CallFiles, session_id: str | None) -> list[TurnRecord]:
    """The turn records; reading them says something of their file, which was said when it was kept."""
    artifacts = {name: msgspec.structs.replace(artifact) for name, artifact in files.artifacts.items()}
    return turns_of(read_turns(msgspec.structs.replace(files, artifacts=artifacts), LIMITS), session_id)
