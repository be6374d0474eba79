"""Events as documents (contract 2.2), redacted (contract 2.4)."""

from __future__ import annotations

from typing import Any

from engine.hydrate.call import Call
from engine.hydrate.ownership import ATTRIBUTIONS
from engine.hydrate.redaction import redactor
from engine.model.artifact import Envelope, Provenance, Unattributed


def envelope(call: Call, event: int) -> Envelope:
    """The envelope of any event of the call; `Unattributed` where no visit owns it."""
    visit = int(call.visit_of[event])
    fields = _bus(call, event) if event < call.first_extra else _beside(call, event)
    fields["event_id"] = call.event_id(event)
    fields["kind"] = call.kind(event)
    fields["clock_ms"] = call.clock_ms(event)
    fields["clock"] = call.clock_name(event)
    fields["visit_id"] = call.visit_id(visit)
    hide = redactor(call)
    fields["payload"] = hide.payload(fields["kind"], fields["payload"])
    if fields["kind"] == "other" and fields["source_type"] is not None:
        fields["source_type"] = hide.text(fields["source_type"])
    if visit < 0:
        return Unattributed(**fields, reason=_reason(call, event))
    return Envelope(**fields)


def payload(call: Call, event: int) -> dict[str, Any]:
    """The redacted payload of an event."""
    fields = _bus(call, event) if event < call.first_extra else _beside(call, event)
    return redactor(call).payload(call.kind(event), fields["payload"])


def _reason(call: Call, event: int) -> str:
    if event < call.first_extra:
        why = call.owned.quarantined.get(event)
    else:
        why = call.parts.extras[event - call.first_extra].quarantine if event < call.first_derived else None
    return why.reason if why is not None else "its sources belong to no visit"


def _bus(call: Call, event: int) -> dict[str, Any]:
    ledger = call.ledger
    turns_only = call.parts.turns_only
    seq = None if turns_only else int(ledger.seq[event])
    place = {} if turns_only else {"seq": seq}
    refs: list[dict[str, Any]] = [
        {"artifact": ref.artifact, "line": ref.line} | place for ref in ledger.refs(event)
    ]
    content = ledger.payload(event)
    cause = call.owned.causal.get(event)
    if cause is not None and content.get("causal_visit_id") is None:
        content["causal_visit_id"] = cause
    provenance: Provenance = "derived" if turns_only else "recorded"
    return {
        "seq": seq,
        "source_type": _source_type(call, event),
        "provenance": provenance,
        "source_refs": refs + call.parts.extra_refs.get(event, []),
        "derived_from": [call.event_id(source) for source in call.owned.derived_from.get(event, ())],
        "attribution": ATTRIBUTIONS[call.owned.attribution[event]],
        "observed_visit_id": call.visit_id(int(call.owned.observed[event])),
        "placement": None,
        "payload": content,
    }


def _source_type(call: Call, event: int) -> str | None:
    if call.parts.turns_only:
        return None
    emitted = str(call.ledger.names.types.names[call.ledger.type_code[event]])
    return emitted or None


def _beside(call: Call, event: int) -> dict[str, Any]:
    if event >= call.first_derived:
        return _derived(call, event)
    extra = call.parts.extras[event - call.first_extra]
    return {
        "seq": extra.seq,
        "source_type": extra.source_type,
        "provenance": extra.provenance,
        "source_refs": extra.refs,
        "derived_from": extra.derived_from,
        "attribution": ATTRIBUTIONS[extra.attribution],
        "observed_visit_id": call.visit_id(extra.observed),
        "placement": extra.placement,
        "payload": extra.payload,
    }


def _derived(call: Call, event: int) -> dict[str, Any]:
    if event < call.first_entry:
        item = call.parts.derived[event - call.first_derived]
        anchor, sources, content = item.anchor, list(item.sources), item.payload
        side = "after"
    elif event < call.first_exit:
        anchor = call.bus_anchor(event)
        sources, content, side = [anchor], _ENTRY, "before"
    else:
        anchor = call.bus_anchor(event)
        sources, content, side = exit_sources(call, event - call.first_exit), _EXIT, "after"
    visit = int(call.visit_of[event])
    return {
        "seq": None,
        "source_type": None,
        "provenance": "derived",
        "source_refs": [],
        "derived_from": [call.event_id(source) for source in sources],
        "attribution": "derived" if visit >= 0 else "none",
        "observed_visit_id": call.visit_id(visit),
        "placement": f"{side} {call.event_id(anchor)}",
        "payload": dict(content),
    }


_ENTRY = {"boundary": "entry", "rule": "the event that opened the visit"}
_EXIT = {"boundary": "exit", "rule": "final verdict, boundary writes, exit and commit"}


def exit_sources(call: Call, visit: int) -> list[int]:
    """What an exit boundary is derived from: the final verdict, boundary writes, exit and commit."""
    seen = call.visits[visit]
    final = call.verdicts.final(visit)
    sources = [] if final is None else [call.verdicts.event(final)]
    sources += call.owned.band.get(visit, [])
    return sources + [event for event in (seen.exited, seen.commit) if event is not None]
