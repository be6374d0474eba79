"""The table of findings (contract 2.12): meaning, severity, owner and what to do next."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from engine.model.artifact import Severity

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""The gravest first."""


class FindingKind(msgspec.Struct, frozen=True):
    """One row of the table.

    Attributes:
        action: The engine action that leads on; its arguments come from the finding's anchor.
        advice: The same in words.
    """

    severity: Severity
    owner: str
    title: str
    action: str
    advice: str


_LINE = "open the source line"
_TYPES = "check the runtime's durable types"
_WRITER = "find the unledgered writer between the two events"
_BOUNDARY = "inspect the boundary"
_EDGES = "compare verdict, exit and commit"


def _capture(title: str, action: str, advice: str, severity: Severity = "warning") -> FindingKind:
    return FindingKind(severity, "capture", title, action, advice)


FINDINGS: dict[str, FindingKind] = {
    "MALFORMED_LINE": _capture("A line could not be read as it stands", "list_findings", _LINE),
    "TRUNCATED_LINE": _capture("The last line breaks off", "list_findings", _LINE),
    "MALFORMED_EVENT": _capture("An event lacks a key or holds a wrong type", "inspect_event", _LINE),
    "SOURCE_ROW_CONFLICT": _capture("Two rows of one event disagree", "inspect_event", _LINE),
    "DUPLICATE_SEQ": _capture("Two events share one sequence number", "inspect_event", _LINE),
    "SOURCE_HASH_MISMATCH": _capture("A track is not the file its manifest names", "list_findings", _LINE),
    "EVENTS_MISSING": _capture("Events were emitted and not retained", "inspect_event", _TYPES),
    "LEDGER_MISSING": _capture("No event ledger was retained", "open", _TYPES),
    "CAPTURE_FAILURE": _capture("The runtime failed to record something", "inspect_event", _TYPES),
    "BASELINE_MISSING": _capture("The seeded values were not recorded", "inspect_variables", _WRITER),
    "BASELINE_REPEATED": _capture("Slots were seeded more than once", "inspect_event", _WRITER),
    "FOLD_MISMATCH": _capture("A recorded value contradicts the writes", "inspect_slot_history", _WRITER),
    "FINGERPRINT_MISMATCH": _capture("A fingerprint contradicts its own values", "inspect_event", _WRITER),
    "UNATTRIBUTED_DIFF": _capture("A slot changed without a recorded write", "inspect_slot_history", _WRITER),
    "ENTRY_MISSING": _capture("A visit's entry was not recorded", "inspect_event", _BOUNDARY),
    "EXIT_MISSING": _capture("A visit's exit was not recorded", "inspect_event", _BOUNDARY),
    "EXIT_WITHOUT_ENTRY": _capture("An exit matches no open visit", "inspect_event", _BOUNDARY),
    "CONFLICTING_ATTRIBUTION": _capture("An event can't be given to any visit", "inspect_event", _BOUNDARY),
    "CLOCK_REGRESSION": _capture("The call clock runs backwards", "inspect_event", _BOUNDARY),
    "EDGE_JOIN_AMBIGUOUS": _capture("A row fits several declared edges", "inspect_edges", _BOUNDARY),
    "CANDIDATES_TRUNCATED": _capture("A verdict leaves out candidates", "inspect_edges", _BOUNDARY),
    "FLOW_VERSION_MISMATCH": _capture("The flow is not the version the call names", "open", _BOUNDARY),
    "MULTIPLE_WINNERS": _capture("More than one edge matched", "inspect_edges", _EDGES, "error"),
    "NO_WINNER": _capture("The visit was left though no edge won", "inspect_edges", _EDGES, "error"),
    "UNKNOWN_EDGE": _capture("The winning edge is not declared", "inspect_edges", _EDGES, "error"),
    "WINNER_TARGET_MISMATCH": _capture("Verdict, exit and commit differ", "inspect_edges", _EDGES, "error"),
    "BOUNDARY_WRITE_MISMATCH": _capture("Edge writes and its sets differ", "inspect_edges", _EDGES, "error"),
    "TRANSCRIPT_DISAGREEMENT": FindingKind(
        "info", "model", "The two transcripts heard different words", "inspect_conversation",
        "compare what was heard with what was acted on",
    ),
    "CHOICE_REPEATED": FindingKind(
        "warning", "flow", "The same choice was made in two visits of one state", "compare_visits",
        "compare the two visits",
    ),
}  # fmt: skip
"""Code → its row. Audio causality adds its own codes (contract 4.4)."""


class Raised(NamedTuple):
    """A finding as a rule raises it, before ids and clocks are filled in.

    Attributes:
        code: A key of `FINDINGS`.
        event: The anchor, an event number of the call, or None.
        explanation: What was seen, naming events and values.
        visit: The visit index where it is not the anchor's own.
        place: ``file:line`` where there is no event; `data` names the artifact and the line.
        part: What tells findings of one code and anchor apart (a slot, an edge, a stage, a row).
        events: Further events it rests on.
        data: Facts for programs.
        severity: Where a rule raises it above the table's.
    """

    code: str
    event: int | None
    explanation: str
    visit: int | None = None
    place: str | None = None
    part: str | None = None
    events: tuple[int, ...] = ()
    data: dict[str, object] = {}
    severity: Severity | None = None
    confidence: str = "recorded"
