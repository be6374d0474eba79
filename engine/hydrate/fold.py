"""Seeds, writes and snapshots folded into the timeline of slots (contract 2.4).

Each row acts at its place in turn; what is known between two rows is kept by `foldstate.Known`.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
from engine.sources.part import Captured, Ints


class ExitPhase(NamedTuple):
    """An exit-phase snapshot: it speaks for its visit's exit too."""

    place: int
    slots: frozenset[str] | None
    """The slots it speaks for; None for all."""


class ExitPhases:
    """The exit-phase snapshots of a call, by the visit that owns them."""

    def __init__(self, ledger: Ledger, owned: Ownership, refused: set[int]) -> None:
        self.refused = refused
        """Snapshots that tell nothing that could be used."""
        self._snapshots = ledger.captured["state_slot_snapshot"]
        self._texts = ledger.names.texts
        self._owners = owned.visit[self._snapshots.events]

    @cached_property
    def _exits(self) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self._snapshots.codes["phase"] == self._texts.get("exit", NO_CODE)
        return found

    def of(self, visit: int) -> list[ExitPhase]:
        """Those of a visit, in order."""
        columns = self._snapshots.columns
        return [
            ExitPhase(
                at(int(self._snapshots.events[row])),
                frozenset(tolerant.load(columns["slots"][row])) if columns["partial"][row] is True else None,
            )
            for row in np.flatnonzero(self._exits & (self._owners == visit)).tolist()
            if int(self._snapshots.events[row]) not in self.refused
        ]


class Folded(NamedTuple):
    """The values of every slot over the call.

    Attributes:
        timeline: Value of each slot by place.
        baseline: The event of the first ``session_slots_seeded``, or None.
        baseline_place: Where it acts.
        seed_class: Slot → strictest classification that a seed gives it.
        exit_phases: The exit-phase snapshots that speak for an exit.
        unowned: ``(visit index, slot)`` of quarantined writes while that visit was open → event.
        findings: What the fold found.
    """

    timeline: Timeline
    baseline: int | None
    baseline_place: int | None
    seed_class: dict[str, str]
    exit_phases: ExitPhases
    unowned: dict[tuple[int, str], int]
    findings: list[Raised]


def fold(ledger: Ledger, built: Visits, owned: Ownership, gaps: Gaps) -> Folded:
    """Fold every recorded change of a slot in the order it took effect."""
    return _Fold(ledger, built, owned, gaps).run()


_SEED, _WRITE, _SNAPSHOT, _LOST = range(4)
NO_CODE = -2
"""No code of an interner, and not that of None."""


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
        self.refused: set[int] = set()
        """Snapshots that tell nothing that could be used."""
        self.unowned: dict[tuple[int, str], int] = {}
        self._writes: list[tuple[Any, ...]] = []
        self._snapshots: list[tuple[Any, ...]] = []

    def run(self) -> Folded:
        captured = self.ledger.captured
        seeds, writes = captured["session_slots_seeded"], captured["slot_write"]
        snapshots = captured["state_slot_snapshot"]
        lost = gap_before(np.array([gap.before for gap in self.gaps.ranges], np.int64))
        sorts: list[Ints] = [
            at(seeds.events), self._write_places(writes), at(snapshots.events),
            lost if self.gaps.may_hold_writes else lost[:0],
        ]  # fmt: skip
        first = next((i for i in range(len(seeds.events)) if self._seeds(i) is not None), None)
        if first is not None:
            sorts[_SEED][first] = self._baseline_place(seeds.rows[first])
        self._writes = _rows(writes, self.owned, "slot", "old", "new", "present")
        self._snapshots = _rows(snapshots, self.owned, "slots", "fingerprint", "partial")
        counts = [len(places) for places in sorts]
        places = np.concatenate(sorts)
        order = np.argsort(places, kind="stable")  # what acts at one place acts in the order of the sorts
        kinds = np.repeat(np.arange(len(sorts)), counts)[order]
        rows = np.concatenate([np.arange(count) for count in counts])[order]
        repeats = self._repeats(kinds, rows)
        for place, kind, row, again in zip(
            places[order].tolist(), kinds.tolist(), rows.tolist(), repeats.tolist(), strict=True
        ):
            if again:
                self.known.agreed(place, self._snapshots[row][0])
            elif kind == _WRITE:
                self._write(place, row)
            elif kind == _SNAPSHOT:
                self._snapshot(place, row)
            elif kind == _SEED:
                self._seed(place, row)
            else:
                self.known.lose_all(place, GAP, -1)
        if self.baseline is None:
            self.findings.append(
                Raised("BASELINE_MISSING", None, "no session_slots_seeded row: initial values are unknown")
            )
        return Folded(
            self.known.timeline, self.baseline, self.baseline_place, self.seed_class,
            ExitPhases(self.ledger, self.owned, self.refused), self.unowned, self.findings,
        )  # fmt: skip

    def _write_places(self, writes: Captured) -> Ints:
        """Where each write acts: boundary writes recorded after the target's entry act just before it."""
        places: Ints = at(writes.events)
        late = self.owned.late[writes.events]
        if late.any():
            band = {row for rows in self.owned.band.values() for row in rows}
            for i in np.flatnonzero(late).tolist():
                if writes.rows[i] in band:
                    places[i] = self._band_place(writes.rows[i])
        return places

    def _repeats(self, kinds: Ints, rows: Ints) -> NDArray[np.bool_]:
        """Which steps are full snapshots equal to the one that stands directly before: nothing changes."""
        snapshots = self.ledger.captured["state_slot_snapshot"]
        partial = np.array([flag is not None for flag in snapshots.columns["partial"]], np.bool_)
        slots = np.where(partial, NO_CODE, snapshots.codes["slots"])
        if self.ledger.malformed:
            slots[np.isin(snapshots.events, list(self.ledger.malformed))] = NO_CODE
        told = np.full(len(kinds), NO_CODE, np.int64)
        told[kinds == _SNAPSHOT] = slots[rows[kinds == _SNAPSHOT]]
        found = np.zeros(len(kinds), np.bool_)
        found[1:] = (told[1:] == told[:-1]) & (told[1:] >= 0)
        return found

    def _band_place(self, row: int) -> int:
        """The place just before the entry that follows a boundary write's own visit."""
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
        event, _, _, raw, stated, partly = self._snapshots[index]
        bad = self.ledger.malformed.get(event)
        if bad is not None and not {"phase", "slots", "partial"}.isdisjoint(bad):
            self.refused.add(event)
        elif raw is None:
            if partly is True or not self._fingerprint_only(place, event, stated):
                self.refused.add(event)
        elif partly is True:
            slots: dict[str, Any] = tolerant.load(raw)
            for slot, value in slots.items():
                self.known.confirm(slot, value, place, event)
        else:
            self.known.replace(place, event, raw)

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
