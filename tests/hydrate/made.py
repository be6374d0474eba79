"""Generated calls that know their owners, order and values by construction (contract 2.2 to 2.4)."""

from __future__ import annotations

from typing import Any, NamedTuple

from hypothesis import strategies as st

from tests.calls import flow, row, slot, state

STATES = ("a", "b", "c")
SLOTS = ("x", "y", "via", "q")
"""``via`` is what every edge sets to its own id; ``q`` is only written by rows that no visit owns."""
Values = dict[str, Any]


def edges() -> dict[str, Any]:
    """A flow in which every state leads to every state, over edges that set ``via`` to their own id."""
    states = []
    for name in STATES:
        made = state(name, [(f"slot_equals:x:{number}", to) for number, to in enumerate(STATES)])
        for edge in made["transitions"]:
            edge["sets"] = [{"slot": "via", "value": edge["edge_id"]}]
        states.append(made)
    return flow(states, map(slot, SLOTS))


class Made(NamedTuple):
    """One row, and what becomes of it."""

    kind: str
    payload: dict[str, Any]
    owner: int | None
    attribution: str


class MadeCall(NamedTuple):
    """A call without gap or conflict.

    Attributes:
        rows: In durable order.
        owners: Event id → visit index (None: nobody's) and attribution.
        ids: Visit ids in order of entry.
        entries: The values that each visit entered with; a slot that is not there is unset.
        exits: The values each visit left with; None where no exit was recorded.
        lost: Visits in which a row that nobody owns wrote ``q``.
        alike: Visits whose exit stands directly before the next entry.
    """

    rows: list[dict[str, Any]]
    owners: dict[str, tuple[int | None, str]]
    ids: list[str]
    entries: list[Values]
    exits: list[Values | None]
    lost: set[int]
    alike: set[int]


class _Maker:
    """Draws one visit after another; what a visit leaves for later stands in `late`."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.made: list[Made] = []
        self.values: Values = draw(st.dictionaries(st.sampled_from("xy"), st.integers(0, 3)))
        self.ids: list[str] = []
        self.emitted: list[bool] = []
        self.left: dict[int, bool] = {}
        self.late: list[Made] = []
        self.entries: list[Values] = []
        self.exits: list[Values | None] = []
        self.lost: set[int] = set()
        self.alike: set[int] = set()

    def one_of(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def call(self) -> MadeCall:
        path: list[str] = self.draw(st.lists(st.sampled_from(STATES), min_size=1, max_size=5))
        seeds = {name: {"value": value, "writer": "s"} for name, value in self.values.items()}
        self.made.append(Made("session_started", {"initial_state": path[0]}, 0, "boundary"))
        self.made.append(Made("session_slots_seeded", {"slots": seeds}, 0, "interval"))
        counts = dict.fromkeys(STATES, 0)
        for index, name in enumerate(path):
            counts[name] += 1
            self.emitted.append(self.one_of(True, False))
            self.ids.append(f"{name}#{counts[name]}")
            self._visit(index, name, path[index + 1] if index + 1 < len(path) else None)
        rows = [row(seq, one.kind, seq * 10, **one.payload) for seq, one in enumerate(self.made, 1)]
        owners = {f"bus:{seq}": (one.owner, one.attribution) for seq, one in enumerate(self.made, 1)}
        return MadeCall(rows, owners, self.ids, self.entries, self.exits, self.lost, self.alike)

    def _visit(self, index: int, name: str, to: str | None) -> None:
        emitted = {"visit_id": self.ids[index]} if self.emitted[index] else {}
        self.made.append(Made("state_entered", {"state_id": name} | emitted, index, "boundary"))
        self.entries.append(dict(self.values))
        body = [made for _ in range(self.draw(st.integers(0, 4))) for made in [self._row(index, name)]]
        late, self.late = self.late, []
        places = sorted(
            self.draw(st.lists(st.integers(0, len(body)), min_size=len(late), max_size=len(late)))
        )
        for made, place in reversed(list(zip(late, places, strict=True))):
            body.insert(place, made)
        self.made += body
        if to is not None:
            self._leave(index, name, to)
        elif self.one_of(True, False):
            self.made.append(self._own("state_exited", index, {"state_id": name}, True))
            self.exits.append(dict(self.values))
        else:
            self.exits.append(None)

    def _own(self, kind: str, index: int, payload: dict[str, Any], boundary: bool = False) -> Made:
        """A row of the open visit, with or without its id."""
        named = self.one_of(True, False)
        attribution = "boundary" if boundary else "explicit" if named else "interval"
        return Made(kind, payload | ({"visit_id": self.ids[index]} if named else {}), index, attribution)

    def _row(self, index: int, name: str) -> Made:
        what = self.one_of("note", "write", "write", "stray", "lost", "telemetry")
        other = next(one for one in STATES if one != name)
        if what == "write":
            return self._own("slot_write", index, self._written(self.one_of("x", "y"), "direct"))
        if what == "stray":
            return Made("note", {"state_id": other}, None, "none")
        if what == "lost":
            self.lost.add(index)
            return Made("slot_write", self._written("q", "direct") | {"state_id": other}, None, "none")
        if what == "telemetry" and index:
            return self._telemetry(index)
        return self._own("note", index, {})

    def _telemetry(self, index: int) -> Made:
        """Telemetry of an earlier visit: where that has exited it is listed where it was observed."""
        cause = self.draw(st.integers(0, index - 1))
        late = {"text": "hello", "visit_id": self.ids[cause]}
        exited = self.left[cause]
        return Made(
            "assistant_transcript", late, index if exited else cause, "interval" if exited else "explicit"
        )

    def _written(self, name: str, kind: str, new: Any = None) -> dict[str, Any]:
        """A write that knows the value before it; it takes effect now."""
        old = self.values.pop(name, None)
        made = {"slot": name, "old": old, "kind": kind, "writer": "w"}
        value = self.one_of(0, 1, 2, None, "removed") if new is None else new
        if value == "removed":
            return made | {"new": None, "present": False}
        self.values[name] = value
        return made | {"new": value}

    def _leave(self, index: int, name: str, to: str) -> None:
        """Verdict, boundary writes, exit and commit, in one of the orders that were seen."""
        edge = f"{name}:{STATES.index(to)}"
        exits = self.one_of(True, True, True, False)
        self.left[index] = exits
        matched = {"edge_id": edge, "to": to, "when": "always", "result": "matched"}
        won = {"winner": edge, "final": True, "candidates": [matched]}
        self.made.append(self._own("transition_verdict", index, won))
        between: list[Made] = []
        if self.one_of(True, False):
            place = self.one_of("before", "between", "late") if exits else self.one_of("before", "late")
            ids = {} if place == "before" else self._band_ids(index, edge, name == to)
            payload = self._written("via", "transition_set", edge) | ids
            attribution = "boundary" if place != "before" else "interval"
            band = Made("slot_write", payload, index, attribution)
            {"before": self.made, "between": between, "late": self.late}[place].append(band)
        turn = {"from_state": name, "turn_index": index}
        commit = Made("transition_committed", turn | {"to_state": to, "edge_id": edge}, index, "boundary")
        when = self.one_of("before", "between", "late") if exits else self.one_of("before", "late")
        {"before": self.made, "between": between, "late": self.late}[when].append(commit)
        if self.one_of(True, False):
            self.late.append(Made("locked_choice_evaluated", dict(turn), index, "derived"))
        self.exits.append(dict(self.values) if exits else None)
        if exits:
            left = {"state_id": name, "to_state": to, "edge_id": edge}
            self.made.append(self._own("state_exited", index, left, True))
            if not between:
                self.alike.add(index)
            self.made += between

    def _band_ids(self, index: int, edge: str, same_state: bool) -> dict[str, Any]:
        """What tells whose boundary a write is: its edge, its visit, or (where nothing does) its value."""
        both = {"edge_id": edge, "visit_id": self.ids[index]}
        options: list[dict[str, Any]] = [both, {"visit_id": self.ids[index]}, {}]
        return dict(self.one_of(*options, *([] if same_state else [{"edge_id": edge}])))


@st.composite
def made_calls(draw: st.DrawFn) -> MadeCall:
    """Re-entries, self-transitions, missing exits, late rows, with and without explicit visit ids."""
    return _Maker(draw).call()
