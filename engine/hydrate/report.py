"""Raised findings as documents: ids, clocks, owners, next actions, order (contract 2.12)."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.hydrate.call import Call
from engine.hydrate.redaction import redactor
from engine.model.artifact import Finding, NextAction
from engine.model.findings import FINDINGS, FindingKind, Raised


def report(call: Call, raised: list[Raised]) -> list[Finding]:
    """Findings in event order, redacted; ids are unique and depend on nothing but the record.

    Rules keep their findings apart by anchor and `Raised.part`; of two that still share both, the further one
    is numbered.
    """
    hide = redactor(call)
    ordered = sorted(raised, key=lambda one: _order(call, one))
    used: dict[str, list[Finding]] = {}
    findings = []
    for one in ordered:
        finding = _document(call, one)
        known = used.setdefault(finding.finding_id, [])
        if finding in known:
            continue
        known.append(finding)
        if len(known) > 1:
            numbered = f"{finding.finding_id}:{len(known)}"
            finding = msgspec.structs.replace(finding, finding_id=numbered)
        findings.append(hide.finding(finding))
    return findings


def _order(call: Call, one: Raised) -> tuple[Any, ...]:
    if one.event is None:
        line = one.data.get("line")
        place = (str(one.data.get("artifact", "")), line if isinstance(line, int) else 0, one.place or "")
        return (0, 0, 0, one.code, place, one.part or "", one.explanation)
    return (1, int(call.keys[one.event]), one.event, one.code, (), one.part or "", one.explanation)


def _document(call: Call, one: Raised) -> Finding:
    kind = FINDINGS[one.code]
    event_id = call.event_id(one.event) if one.event is not None else None
    anchor = event_id or one.place or "-"
    finding_id = f"{one.code}:{anchor}" + (f":{one.part}" if one.part is not None else "")
    visit = one.visit if one.visit is not None else _visit(call, one.event)
    visit_id = None if visit is None else call.visit_id(visit)
    data = dict(one.data)
    if isinstance(data.get("between"), list):
        data["between"] = [call.event_id(event) if event >= 0 else None for event in data["between"]]  # type: ignore[attr-defined]
    return Finding(
        finding_id=finding_id,
        code=one.code,
        severity=one.severity or kind.severity,
        owner=kind.owner,
        visit_id=visit_id,
        event_id=event_id,
        event_ids=_event_ids(call, one),
        clock_ms=call.clock_ms(one.event) if one.event is not None else None,
        title=kind.title,
        explanation=one.explanation,
        confidence=one.confidence,
        next_action=_next(kind, one, event_id, visit_id),
        data=data,
    )


def _visit(call: Call, event: int | None) -> int | None:
    return None if event is None else int(call.visit_of[event])


def _event_ids(call: Call, one: Raised) -> list[str]:
    events = ([] if one.event is None else [one.event]) + [event for event in one.events if event >= 0]
    return [call.event_id(event) for event in dict.fromkeys(events)]


def _next(kind: FindingKind, one: Raised, event_id: str | None, visit_id: str | None) -> NextAction:
    """The action of the table with its arguments; one that needs an event becomes ``open`` without one."""
    here: dict[str, Any] = {} if event_id is None else {"event_id": event_id}
    if kind.action == "list_findings":
        return NextAction(kind.action, {"code": one.code}, kind.advice)
    if kind.action == "inspect_slot_history":
        if one.part is None:
            return NextAction("inspect_variables", here, kind.advice)
        return NextAction(kind.action, {"slot": one.part}, kind.advice)
    if kind.action == "compare_visits":
        names = ("baseline_visit_id", "candidate_visit_id")
        return NextAction(kind.action, {name: one.data[name] for name in names}, kind.advice)
    if kind.action in ("inspect_edges", "inspect_conversation") and visit_id is not None:
        return NextAction(kind.action, {"visit_id": visit_id}, kind.advice)
    if event_id is None and kind.action == "inspect_event":
        return NextAction("open", {}, kind.advice)
    return NextAction(kind.action, here, kind.advice)


def completeness(call: Call) -> tuple[str, list[str]]:
    """``complete`` or ``incomplete``, and the sorted reasons (contract 1.1)."""
    codes = sorted({finding.code for finding in call.findings if finding.owner == "capture"})
    missing = [f"missing:{artifact}" for artifact in _missing_required(call)]
    reasons = codes + missing
    return ("incomplete" if reasons else "complete"), reasons


def _missing_required(call: Call) -> list[str]:
    artifacts = call.parts.files.artifacts
    read = {name.removesuffix(".gz") for name, artifact in artifacts.items() if artifact.status == "read"}
    durable = any(name.startswith("state_trace") for name in read)
    missing = []
    if not durable and "bus_events.jsonl" not in read:
        missing += ["bus_events.jsonl", "state_trace.jsonl"]
    if call.flow is None:
        missing.append("flow.json")
    if call.parts.folded.baseline is None:
        missing.append("session_slots_seeded")
    return sorted(missing)
