"""Findings about what was retained: lines, rows, sequence numbers, failures (contract 1.2, 1.3, 1.9)."""

from __future__ import annotations

from engine.hydrate.call import Call
from engine.hydrate.redaction import redactor
from engine.model.findings import Raised
from engine.sources.audio import verify
from engine.sources.gunzip import CUT


def lines_and_rows(call: Call) -> list[Raised]:
    """Lines that are not JSON, not an object or not UTF-8, in every file read line by line."""
    found: list[Raised] = []
    for artifact, fault in ((name, fault) for name, faults in call.parts.faults for fault in faults):
        place = f"{artifact}:{fault.line}"
        where: dict[str, object] = {"artifact": artifact, "line": fault.line}
        if fault.truncated:
            told = f"{place} breaks off" + (
                f": {fault.reason}" if fault.reason == CUT else " without a newline"
            )
            found.append(Raised("TRUNCATED_LINE", None, told, place=place, data=where))
        else:
            told, data = f"{place}: {fault.reason}", where | {"kept": fault.kept}
            found.append(Raised("MALFORMED_LINE", None, told, place=place, data=data))
    return found


def malformed_events(call: Call) -> list[Raised]:
    """Rows that lack a required key or hold a wrong type."""
    found = [
        Raised("MALFORMED_EVENT", event, f"{call.kind(event)}: {', '.join(keys)} missing or wrong",
               data={"keys": list(keys)})
        for event, keys in sorted(call.ledger.malformed.items())
    ]  # fmt: skip
    for number, extra in enumerate(call.parts.extras, call.first_extra):
        keys = extra.payload.get("malformed")
        if isinstance(keys, list) and keys:
            shown = ", ".join(map(str, keys))
            found.append(
                Raised(
                    "MALFORMED_EVENT", number, f"{extra.kind}: {shown} missing or wrong", data={"keys": keys}
                )
            )
    return found


def conflicting_rows(call: Call) -> list[Raised]:
    """Rows of one identity that disagree, and several identities at one ``seq``."""
    found = []
    for conflict in sorted(call.ledger.conflicts):
        rows = [f"{ref.artifact}:{ref.line}" for ref in conflict.refs]
        found.append(
            Raised("SOURCE_ROW_CONFLICT", conflict.event, f"{rows[0]} stands, {', '.join(rows[1:])} disagree",
                   data={"rows": rows})
        )  # fmt: skip
    for event in sorted(call.ledger.suffix):
        first = event - call.ledger.suffix[event]
        found.append(
            Raised("DUPLICATE_SEQ", event,
                   f"seq {call.ledger.seq[event]} is also that of {call.event_id(first)}", events=(first,))
        )  # fmt: skip
    return found


def missing_events(call: Call) -> list[Raised]:
    """Gaps in ``seq``, and events that were emitted and lie in no gap."""
    gaps = call.parts.gaps
    found = []
    for gap in gaps.ranges:
        span = f"seq {gap.first}" if gap.first == gap.last else f"seq {gap.first} to {gap.last}"
        found.append(
            Raised("EVENTS_MISSING", gap.before, f"{span} were not retained",
                   data={"first": gap.first, "last": gap.last, "may_hold_writes": gaps.may_hold_writes})
        )  # fmt: skip
    if gaps.unplaced:
        found.append(
            Raised("EVENTS_MISSING", None, f"{gaps.unplaced} events were emitted and not read",
                   data={"count": gaps.unplaced})
        )  # fmt: skip
    return found


def missing_ledger(call: Call) -> list[Raised]:
    """A call of turns only."""
    if call.parts.turns_only:
        return [
            Raised("LEDGER_MISSING", None, "only turn records were retained; what lies between is unknown")
        ]
    return []


def capture_failures(call: Call) -> list[Raised]:
    """What the runtime says it could not record."""
    captured = call.ledger.captured.get("capture_failure")
    stated = list(zip(captured.rows, captured.columns["what"], strict=True)) if captured else []
    stated += [
        (number, extra.payload.get("what"))
        for number, extra in enumerate(call.parts.extras, call.first_extra)
        if extra.kind == "capture_failure"
    ]
    found = [
        Raised("CAPTURE_FAILURE", event, f"the runtime failed to record: {redactor(call).text(what)}"
               if isinstance(what, str) else "the runtime failed to record something it does not name")
        for event, what in stated
    ]  # fmt: skip
    manifest = call.parts.manifest
    failures = manifest.emit_failures if manifest else None
    if failures:
        found.append(
            Raised("CAPTURE_FAILURE", None, f"{failures} emits failed", data={"emit_failures": failures})
        )
    return found


def audio_hashes(call: Call) -> list[Raised]:
    """Tracks whose bytes are not those that the audio manifest names (contract 1.5)."""
    wrong = {
        track.name for track in call.parts.tracks if track.name and verify(track, call.parts.files) is False
    }
    return [
        Raised("SOURCE_HASH_MISMATCH", None, f"{name} has another sha256 than the audio manifest says",
               place=name, data={"artifact": name})
        for name in sorted(wrong)
    ]  # fmt: skip


def fingerprints(call: Call) -> list[Raised]:
    """Snapshots whose fingerprint is not that of their own values (contract 2.4)."""
    return [
        Raised("FINGERPRINT_MISMATCH", event, "the row's fingerprint is not that of the values it lists",
               data={"of_values": actual})
        for event, actual in sorted(call.ledger.wrong_fingerprints().items())
    ]  # fmt: skip
