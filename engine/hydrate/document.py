"""The artifact: the whole hydrated call as canonical JSON (contract 2.10)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from engine.canonical import encode_recorded, encode_trusted, normalise
from engine.hydrate.beats import beats
from engine.hydrate.call import Call
from engine.hydrate.conversation import conversation
from engine.hydrate.edgetable import edge_table
from engine.hydrate.envelope import envelope, payload
from engine.hydrate.hashes import CONTRACT
from engine.hydrate.outputs import output_attempts, playback_spans
from engine.hydrate.redaction import redactor
from engine.hydrate.variables import entry_snapshot, exit_snapshot
from engine.hydrate.visits import Visit
from engine.model.artifact import Source


def artifact_bytes(call: Call) -> bytes:
    """The canonical bytes of the artifact, without a newline."""
    return b"".join(artifact_chunks(call))


def artifact_chunks(call: Call) -> Iterator[bytes]:
    """The canonical bytes in pieces, so that a long call is never one object in memory.

    Keys are written in sorted order; `visits`, `conversation` and `unattributed_events` item by item.
    """
    fields = _small_fields(call)
    lane = conversation(call)
    lists = {
        "conversation": (lane.item(index) for index in range(lane.count)),
        "unattributed_events": (envelope(call, event) for event in call.unattributed),
        "visits": (visit_document(call, visit) for visit in range(len(call.visits))),
    }
    opening = b"{"
    for name in sorted(fields.keys() | lists.keys()):
        yield opening + encode_trusted(name) + b":"
        opening = b","
        if name in fields:
            yield encode_recorded(fields[name])
            continue
        yield b"["
        for number, item in enumerate(lists[name]):
            yield (b"," if number else b"") + encode_recorded(item)
        yield b"]"
    yield b"}"


def artifact(call: Call) -> dict[str, Any]:
    """The artifact as plain values."""
    found: dict[str, Any] = msgspec.json.decode(artifact_bytes(call))
    return found


def _small_fields(call: Call) -> dict[str, Any]:
    identity = call.identity
    fields: dict[str, Any] = {
        "schema": CONTRACT,
        "session_id": identity.session_id,
        "flow_id": identity.flow_id,
        "recorded_engine_revision": identity.recorded_engine_revision,
        "recorded_build_id": identity.recorded_build_id,
        "flow_version": identity.flow_version,
        "completeness": call.completeness,
        "completeness_reasons": call.completeness_reasons,
        "findings": call.findings,
        "slot_order": call.slot_order,
        "output_attempts": output_attempts(call),
        "playback_spans": playback_spans(call),
        "cursor_projection": None,
        "sources": sources(call),
    }
    if call.reveal:
        fields["revealed"] = True
    return fields


def sources(call: Call) -> list[Source]:
    """What became of each file of the call folder; a name that is no UTF-8 stands with U+FFFD."""
    return [
        Source(
            artifact=normalise(item.name),
            status=item.status,
            rows=item.rows,
            malformed=item.malformed,
            sha256=_digest(item.sha256),
            reason=normalise(item.reason),
        )
        for item in call.parts.files.artifacts.values()
    ]


def _digest(sha256: str | None) -> str | None:
    return None if sha256 is None else f"sha256:{sha256}"


def visit_document(call: Call, visit: int) -> dict[str, Any]:
    """One visit of the artifact."""
    seen = call.visits[visit]
    table = edge_table(call, visit)
    return {
        "visit_id": seen.visit_id,
        "state_id": seen.state_id,
        "ordinal": seen.ordinal,
        "goal": goal(call, visit),
        "entry_edge": _entry_edge(call, visit),
        "entry_snapshot": entry_snapshot(call, visit),
        "exit_snapshot": exit_snapshot(call, visit),
        "micro_events": [envelope(call, event) for event in call.micro_events(visit).tolist()],
        "boundary_band": [call.event_id(event) for event in call.owned.band.get(visit, ())],
        "context": {"entry": _context(call, visit, "entry"), "exit": _context(call, visit, "exit")},
        "legal_exits": table.rows,
        "final_verdict": None
        if table.verdict_event is None
        else {"event_id": table.verdict_event, "winner": table.winner},
        "exit_commit": _commit(call, visit),
        "evidence_beats": beats(call, visit),
        "findings": [finding.finding_id for finding in call.findings_of(visit)],
    }


def goal(call: Call, visit: int) -> str | None:
    """What the flow of the call's own version says the state is for; None where it can't say."""
    state = call.flow.by_state.get(call.visits[visit].state_id) if call.flow else None
    if state is None or state.goal is None or call.parts.flow_mismatch is not None:
        return None
    return redactor(call).text(state.goal)


def _entry_edge(call: Call, visit: int) -> dict[str, Any] | None:
    """The edge a visit was entered by, as far as entry, exit and commit of the visit before name it."""
    seen = call.visits[visit]
    if seen.entered is None or visit == 0:
        return None
    before = call.visits[visit - 1]
    follows = _follows(call, before, seen)
    edge_id = seen.entry_edge
    if edge_id is None and follows:
        edge_id = _edge_to(call, visit - 1, seen.state_id)
    return {
        "edge_id": edge_id,
        "from_visit_id": before.visit_id if follows else None,
        "event_id": call.event_id(seen.entered),
    }


def _follows(call: Call, before: Visit, seen: Visit) -> bool:
    """Whether a visit was entered from the one listed before it: nothing says or hides another way in."""
    if before.exited is None or seen.entered is None or seen.from_state not in (None, before.state_id):
        return False
    target = before.to_state if before.to_state is not None else before.commit_to
    if seen.from_state is None and target not in (None, seen.state_id):
        return False
    return not call.parts.gaps.within(before.exited, seen.entered)


def _edge_to(call: Call, visit: int, state_id: str) -> str | None:
    """The edge that exit, commit or verdict of a visit names, where it does not lead to another state."""
    left, reading = call.visits[visit], call.verdicts.final_reading(visit)
    named = [(left.exit_edge, left.to_state), (left.commit_edge, left.commit_to)]
    if reading is not None:
        named.append((reading.winner, reading.target))
    for edge_id, target in named:
        if edge_id is not None:
            return edge_id if target in (None, state_id) else None
    return None


def _context(call: Call, visit: int, phase: str) -> dict[str, Any] | None:
    event = call.context_event(visit, phase)
    if event is None:
        return None
    kept = payload(call, event)
    fields = {key: value for key, value in kept.items() if key not in _CONTEXT_ENVELOPE}
    return {"event_id": call.event_id(event), "fields": fields}


_CONTEXT_ENVELOPE = frozenset({"phase", "session_id", "state_id", "visit_id", "turn_index", "malformed"})


def _commit(call: Call, visit: int) -> dict[str, Any] | None:
    seen = call.visits[visit]
    if seen.commit is None:
        return None
    kept = payload(call, seen.commit)
    names = ("from_state", "to_state", "edge_id", "reason", "turn_index")
    return {"event_id": call.event_id(seen.commit)} | {name: kept.get(name) for name in names}
