"""Finding rules: each looks at the hydrated parts and raises what it sees (contract 2.12).

To add a rule: one function here, one row in `engine.model.findings.FINDINGS`, one entry in `RULES`.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.hydrate.call import Call
from engine.hydrate.findings import boundaries, choices, edges, recording, turndiff
from engine.model.findings import Raised

Rule = Callable[[Call], list[Raised]]

RULES: tuple[Rule, ...] = (
    recording.lines_and_rows,
    recording.malformed_events,
    recording.conflicting_rows,
    recording.missing_events,
    recording.missing_ledger,
    recording.capture_failures,
    recording.audio_hashes,
    recording.fingerprints,
    boundaries.visits,
    boundaries.quarantined,
    boundaries.clock,
    boundaries.flow_version,
    edges.joins,
    edges.winners,
    edges.targets,
    edges.boundary_writes,
    choices.repeated,
    turndiff.unattributed,
)
"""Every rule, in the order of the contract's table. The fold and the transcripts raise theirs as they go."""
