"""What a fold knows of the slots at one moment (contract 2.4).

A value is held only while every change since could have been seen. Each change is noted on the timeline;
where a recorded row contradicts what is held, the cells since the last agreeing point become unavailable.
"""

from __future__ import annotations

from typing import Any

from engine.canonical import encode_recorded
from engine.hydrate.marks import agree, holds_mark
from engine.hydrate.timeline import UNSET, Gone, Timeline
from engine.model.findings import Raised
from engine.sources import tolerant

MALFORMED = Gone("malformed_write")
MISMATCH = Gone("fold_mismatch")
GAP = Gone("seq_gap")


class Known:
    """The held values, and the timeline they leave behind.

    Attributes:
        timeline: Value of each slot by place.
        values: Slot → recorded value (or `UNSET` while unlisted slots are not known to be unset).
        unset_known: Whether a slot that is neither in `values` nor `unknown` is known to be unset.
        unknown: Slots whose value was lost by a write of their own → that write.
        findings: The contradictions.
    """

    def __init__(self) -> None:
        self.timeline = Timeline()
        self.values: dict[str, Any] = {}
        self.unset_known = False
        self.unknown: dict[str, int] = {}
        self.findings: list[Raised] = []
        self._own_point: dict[str, tuple[int, int]] = {}
        self._all_point: tuple[int, int] = (-1, -1)
        self._encoded: bytes | None = None

    @property
    def complete(self) -> bool:
        """Whether the value of every slot is known."""
        return self.unset_known and not self.unknown

    def current(self, slot: str) -> Any:
        """A recorded value, `UNSET`, or the class `Gone` where it can't be known."""
        value = self.values.get(slot, Gone)
        if value is not Gone:
            return value
        return UNSET if self.unset_known and slot not in self.unknown else Gone

    def encoded(self) -> bytes:
        """Canonical JSON of the values; only meaningful while `complete`."""
        if self._encoded is None:
            self._encoded = encode_recorded(self.values)
        return self._encoded

    def hold(self, slot: str, place: int, value: Any, event: int) -> None:
        """A slot has a value from a place on."""
        self.timeline.add(slot, place, value, event)
        self._own_point[slot] = (place, event)
        self.unknown.pop(slot, None)
        if value is UNSET and self.unset_known:
            self.values.pop(slot, None)
        else:
            self.values[slot] = value
        self._encoded = None

    def lose(self, slot: str, place: int, event: int) -> None:
        """A slot was written and the value is not known."""
        self.timeline.add(slot, place, MALFORMED, event)
        self.values.pop(slot, None)
        self.unknown[slot] = event
        self._encoded = None

    def lose_all(self, place: int, why: Gone, event: int) -> None:
        """Any slot may have changed."""
        self.timeline.add_base(place, why, event)
        self.values.clear()
        self.unknown.clear()
        self._own_point.clear()
        self.unset_known = False
        self._encoded = None

    def begin(self, place: int, event: int) -> None:
        """The baseline: what nothing lists is unset, what was written before it stays."""
        known, lost = dict(self.values), dict(self.unknown)
        self.timeline.add_base(place, UNSET, -1)
        self.unset_known = True
        self._all_point = (place, event)
        for slot, value in known.items():
            self.hold(slot, place, value, self._own_point.get(slot, (place, event))[1])
        for slot, write in lost.items():
            self.lose(slot, place, write)

    def replace(self, place: int, event: int, encoded: bytes) -> None:
        """A full snapshot (in canonical JSON): it lists every set slot and is the truth from its place on."""
        if not self.complete or self.encoded() != encoded:
            slots: dict[str, Any] = tolerant.load(encoded)
            partly = not self.complete
            known = set(self.values) | (slots.keys() - self.unknown.keys() if self.unset_known else set())
            for slot in sorted(known):
                self.compare(slot, slots.get(slot, UNSET), place, event)
            if partly:
                self._complete(place, event, slots, known)
        self.agreed(place, event)

    def _complete(self, place: int, event: int, slots: dict[str, Any], known: set[str]) -> None:
        """Where not every slot was known: the snapshot says so of the others."""
        held = {slot: self.values.get(slot, UNSET) for slot in known}
        lost, self.unknown = self.unknown, {}
        self.timeline.add_base(place, UNSET, event)
        self.unset_known = True
        for slot, value in sorted(held.items()):
            self.hold(slot, place, value, self._own_point[slot][1])
        for slot in sorted((slots.keys() | lost.keys()) - known):
            self.hold(slot, place, slots.get(slot, UNSET), event)

    def agreed(self, place: int, event: int) -> None:
        """Every slot was seen to agree, or was replaced, at a place."""
        self._all_point = (place, event)

    def confirm(self, slot: str, claimed: Any, place: int, event: int) -> None:
        """A partial snapshot speaks of one slot."""
        self.compare(slot, claimed, place, event)
        self._own_point[slot] = (place, event)

    def compare(self, slot: str, claimed: Any, place: int, event: int) -> None:
        """Hold a claimed value against what is known of a slot; the claim stands."""
        current = self.current(slot)
        if current is Gone:
            self.hold(slot, place, claimed, event)
        elif current is claimed or (
            current is not UNSET and claimed is not UNSET and agree(claimed, current)
        ):
            if holds_mark(current) and not holds_mark(claimed):
                self.hold(slot, place, claimed, event)
        else:
            self.contradict(slot, current, claimed, place, event)
            self.hold(slot, place, claimed, event)

    def contradict(self, slot: str, folded: Any, claimed: Any, place: int, event: int) -> None:
        """A row claims another value than the fold gives: nothing since the last agreeing point is known."""
        since, point = self._last_agreeing(slot)
        if since < place:
            self.timeline.add(slot, since + 1, MISMATCH, event)
        self.findings.append(
            Raised(
                "FOLD_MISMATCH", event,
                f"{slot}: the recorded writes give another value than this row claims",
                part=slot, events=(point,) if point >= 0 else (),
                data={"slot": slot, "folded": _plain(folded), "claimed": _plain(claimed),
                      "folded_unset": folded is UNSET, "claimed_unset": claimed is UNSET,
                      "between": [point, event]},
            )
        )  # fmt: skip

    def contradict_all(self, event: int, folded: str, claimed: str) -> None:
        """A fingerprint of every slot differs: no slot is known since it last agreed, nor from here on."""
        since, point = self._all_point
        for slot in self.timeline.slots:
            agreed = self._last_agreeing(slot)[0]
            if agreed > since:
                self.timeline.hold_from(slot, since + 1)
            self.timeline.add(slot, agreed + 1, MISMATCH, event)
        self.timeline.add_base(since + 1, MISMATCH, event)
        self.findings.append(
            Raised(
                "FOLD_MISMATCH", event, "the recorded writes give other values than this fingerprint",
                events=(point,) if point >= 0 else (),
                data={"slot": None, "folded": folded, "claimed": claimed, "between": [point, event]},
            )
        )  # fmt: skip
        self.values.clear()
        self.unknown.clear()
        self.unset_known = False
        self._encoded = None

    def _last_agreeing(self, slot: str) -> tuple[int, int]:
        return max(self._own_point.get(slot, (-1, -1)), self._all_point)


def _plain(value: Any) -> Any:
    return None if value is UNSET else value
