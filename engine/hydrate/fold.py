"""Seeds, writes and snapshots folded into the timeline of slots (contract 2.4).

Each row acts at its place in turn; what is known between two rows is kept by `foldstate.Known`.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from engine.canonical import encode_recorded, sha256
from engine.hydrate.foldstate import GAP, MALFORMED, Known
from engine.hydrate.gaps import Gaps
from engine.hydrate.marks import agree, stricter
from engine.hydrate.ownership import Ownership
from engine.hydrate.timeline import UNSET, Gone, Timeline, at, band_before, gap_before
from engine.hydrate.visits import Visits
from engine.model.findings import Raised
from engine.sources import tolerant
from engine.sources.merge import Ledger
from engine.sources.part import Captured


class ExitPhase(NamedTuple):
    """An exit-phase snapshot: it speaks for its visit's exit too."""

    place: int
    slots: frozenset[str] | None
    """The slots it speaks for; None for all."""


class Folded(NamedTuple):
    """The values of every slot over the call.

    Attributes:
        timeline: Value of each slot by place.
        baseline: The event of the first ``session_slots_seeded``, or None.
        baseline_place: Where it acts.
        seed_class: Slot → strictest classification that a seed gives it.
        exit_phase: Visit index → its exit-phase snapshots, in order.
        unowned: ``(visit index, slot)`` of quarantined writes while that visit was open → event.
        findings: What the fold found.
    """

    timeline: Timeline
    baseline: int | None
    baseline_place: int | None
    seed_class: dict[str, str]
    exit_phase: dict[int, list[ExitPhase]]
    unowned: dict[tuple[int, str], int]
    findings: list[Raised]


def fold(ledger: Ledger, built: Visits, owned: Ownership, gaps: Gaps) -> Folded:
    """Fold every recorded change of a slot in the order it took effect."""
    return _Fold(ledger, built, owned, gaps).run()


_SEED, _WRITE, _SNAPSHOT, _LOST = range(4)


class _Fold:
    def __init__(self, ledger: Ledger, built: Visits, owned: Ownership, gaps: Gaps) -> None:
        self.ledger = ledger
        self.built = built
        self.owned = owned
        self.gaps = gaps
        self.known = Known()
        self.findings = self.known.findings
        self.baseline: int | None = None
        self.baseline_place: int | None = None
        self.seed_class: dict[str, str] = {}
        self.exit_phase: dict[int, list[ExitPhase]] = {}
        self.unowned: dict[tuple[int, str], int] = {}
        self._writes: list[tuple[Any, ...]] = []
        self._snapshots: list[tuple[Any, ...]] = []

    def run(self) -> Folded:
        captured = self.ledger.captured
        seeds, writes = captured.get("session_slots_seeded"), captured.get("slot_write")
        snapshots = captured.get("state_slot_snapshot")
        steps: list[tuple[int, int, int]] = []
        if seeds:
            first = next((row for i, row in enumerate(seeds.rows) if self._seeds(i) is not None), -1)
            steps += [
                (at(row) if row != first else self._baseline_place(row), _SEED, i)
                for i, row in enumerate(seeds.rows)
            ]
        if writes:
            late = self._late_band()
            places: list[int] = at(writes.events).tolist()
            steps += zip(places, repeat(_WRITE), range(len(places)), strict=False)
            for i, row in enumerate(writes.rows) if late else ():
                if row in late:
                    steps[i - len(places)] = (self._band_place(row), _WRITE, i)
            self._writes = _rows(writes, self.owned, "slot", "old", "new", "present")
        if snapshots:
            places = at(snapshots.events).tolist()
            steps += zip(places, repeat(_SNAPSHOT), range(len(places)), strict=False)
            self._snapshots = _rows(snapshots, self.owned, "slots", "fingerprint", "partial", "phase")
        if self.gaps.may_hold_writes:
            steps += [(gap_before(gap.before), _LOST, i) for i, gap in enumerate(self.gaps.ranges)]
        steps.sort()
        for place, kind, index in steps:
            if kind == _WRITE:
                self._write(place, index)
            elif kind == _SNAPSHOT:
                self._snapshot(place, index)
            elif kind == _SEED:
                self._seed(place, index)
            else:
                self.known.lose_all(place, GAP, -1)
        if self.baseline is None:
            self.findings.append(
                Raised("BASELINE_MISSING", None, "no session_slots_seeded row: initial values are unknown")
            )
        return Folded(
            self.known.timeline, self.baseline, self.baseline_place, self.seed_class, self.exit_phase,
            self.unowned, self.findings,
        )  # fmt: skip

    def _late_band(self) -> set[int]:
        """Boundary writes that were recorded after the target's entry."""
        late = set(np.flatnonzero(self.owned.late).tolist())
        return {row for rows in self.owned.band.values() for row in rows if row in late} if late else late

    def _band_place(self, row: int) -> int:
        """A boundary write recorded after the target's entry acts just before that entry."""
        following = self.built.visits[int(self.owned.visit[row]) + 1]
        return band_before(following.first)

    def _seeds(self, index: int) -> bytes | None:
        """The slots of a seed row in JSON, or None where it has no valid ones."""
        captured = self.ledger.captured["session_slots_seeded"]
        raw: bytes | None = captured.columns["slots"][index]
        return raw if "slots" not in self.ledger.malformed.get(captured.rows[index], ()) else None

    def _baseline_place(self, row: int) -> int:
        """The baseline counts as before the first entry also when it was recorded just after it."""
        if not self.built.visits:
            return at(row)
        first = self.built.visits[0]
        entered = first.entered if first.entered is not None else first.first
        if row <= entered or first.entry_missing or self._acted_between(entered, row):
            return at(row)
        return band_before(entered)

    def _acted_between(self, after: int, until: int) -> bool:
        """Whether a visit or a slot changed strictly between two events."""
        for kind in (
            "slot_write",
            "state_slot_snapshot",
            "state_exited",
            "state_entered",
            "transition_committed",
        ):
            rows = self.ledger.captured[kind].rows if kind in self.ledger.captured else []
            index = bisect_right(rows, after)
            if index < len(rows) and rows[index] < until:
                return True
        return False

    # Seeds.

    def _seed(self, place: int, index: int) -> None:
        captured = self.ledger.captured["session_slots_seeded"]
        event, raw = captured.rows[index], self._seeds(index)
        if raw is None:
            return
        seeds: dict[str, Any] = tolerant.load(raw)
        if self.baseline is None:
            self.baseline, self.baseline_place = event, place
            self.known.begin(place, event)
        else:
            self.findings.append(
                Raised("BASELINE_REPEATED", event, f"{len(seeds)} slots were seeded again after the baseline")
            )
        values: dict[str, Any] = {}
        for slot, seed in seeds.items():
            if not isinstance(seed, dict) or "value" not in seed:
                self._malformed_seed(slot, place, event)
                continue
            values[slot] = seed["value"]
            self.known.hold(slot, place, seed["value"], event)
            grade = stricter(self.seed_class.get(slot), _text(seed.get("classification")))
            if grade is not None:
                self.seed_class[slot] = grade
        stated, actual = captured.columns["fingerprint"][index], sha256(encode_recorded(values))
        if stated is not None and stated != actual:
            self.findings.append(
                Raised(
                    "FINGERPRINT_MISMATCH", event, "the fingerprint of the seeds is not that of their values",
                    data={"stated": stated, "of_values": actual},
                )
            )  # fmt: skip

    def _malformed_seed(self, slot: str, place: int, event: int) -> None:
        self.known.lose(slot, place, event)
        told = f"session_slots_seeded: the seed of {slot} has no value"
        self.findings.append(Raised("MALFORMED_EVENT", event, told, part=slot, data={"slot": slot}))

    # Writes.

    def _write(self, place: int, index: int) -> None:
        event, owner, now, slot, old, new, present = self._writes[index]
        bad = self.ledger.malformed.get(event, ())
        removed = present is False
        if "slot" in bad:
            self.known.lose_all(place, MALFORMED, event)
            return
        if owner < 0 <= now:
            self.unowned[now, slot] = event
        if "present" in bad or ("new" in bad and not removed):
            self.known.lose(slot, place, event)
            return
        current = self.known.current(slot)
        if current is not Gone and "old" not in bad and not _agrees(old, current):
            self.known.contradict(slot, current, old, place, event)
        self.known.hold(slot, place, UNSET if removed else new, event)

    # Snapshots.

    def _snapshot(self, place: int, index: int) -> None:
        event, owner, _, raw, stated, partly, phase = self._snapshots[index]
        bad = self.ledger.malformed.get(event)
        if bad is not None and not {"phase", "slots", "partial"}.isdisjoint(bad):
            return
        partial = partly is True
        spoken: frozenset[str] | None = None
        if raw is None:
            if partial or not self._fingerprint_only(place, event, stated):
                return
        elif partial:
            slots: dict[str, Any] = tolerant.load(raw)
            spoken = frozenset(slots)
            for slot, value in slots.items():
                self.known.confirm(slot, value, place, event)
        else:
            self.known.replace(place, event, raw)
        if phase == "exit" and owner >= 0:
            self.exit_phase.setdefault(owner, []).append(ExitPhase(place, spoken))

    def _fingerprint_only(self, place: int, event: int, stated: str | None) -> bool:
        """Whether a fingerprint was held against the fold, and agreed."""
        if stated is None or not self.known.complete:
            return False
        actual = sha256(self.known.encoded())
        if actual == stated:
            self.known.agreed(place, event)
            return True
        self.known.contradict_all(event, actual, stated)
        return False


def _rows(captured: Captured, owned: Ownership, *keys: str) -> list[tuple[Any, ...]]:
    """Event, owner and open visit of each row of a kind, and the values of some of its keys."""
    events = captured.events
    owners, observed = owned.visit[events].tolist(), owned.observed[events].tolist()
    columns = (captured.columns[key] for key in keys)
    return list(zip(captured.rows, owners, observed, *columns, strict=True))


def _agrees(old: Any, folded: Any) -> bool:
    if folded is UNSET:
        return old is None
    if old is folded or (type(old) is str and type(folded) is str and old == folded):
        return True
    return agree(old, folded)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
