"""The ownership rules read a second time, row by row, on calls in which anything may stand anywhere."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.hydrate.pipeline import open_call
from tests.calls import row, write_call
from tests.hydrate.ask import event, found, ids
from tests.hydrate.made import STATES, edges

FLOW = edges()
Row = dict[str, Any]

names = st.sampled_from(STATES)
maybe_name = st.one_of(st.none(), names)
visit_ids = st.sampled_from([None, None, None, "a#1", "b#1", "a#2", "b#9"])
edge_ids = st.sampled_from([None, "a:0", "a:1", "b:0", "b:1"])
turns = st.one_of(st.none(), st.integers(0, 1))


def kind(name: str, **keys: st.SearchStrategy[Any]) -> st.SearchStrategy[Row]:
    made = st.fixed_dictionaries({"type": st.just(name), "visit_id": visit_ids, **keys})
    return made.map(lambda one: {key: value for key, value in one.items() if value is not None})


def edge_write(value: str) -> st.SearchStrategy[Row]:
    return kind("slot_write", slot=st.just("via"), new=st.just(value), kind=st.just("transition_set"),
                writer=st.just("w"), edge_id=edge_ids)  # fmt: skip


any_row = st.one_of(
    kind("state_entered", state_id=names),
    kind("state_entered", state_id=names),
    kind("state_exited", state_id=names),
    kind("state_exited", state_id=names),
    kind("transition_committed", from_state=names, to_state=names, turn_index=turns),
    kind("note", state_id=maybe_name),
    kind("assistant_transcript", text=st.just("hi"), state_id=maybe_name, causal_visit_id=visit_ids),
    kind("locked_choice_evaluated", from_state=names, turn_index=turns),
    edge_write("a:0"),
    edge_write("b:1"),
    kind("session_ended"),
    kind("transition_verdict", winner=st.sampled_from(["a:0", "b:1"]), final=st.just(True),
         candidates=st.just([])),
)  # fmt: skip


class Visit:
    """A visit of the second reading."""

    def __init__(self, visit_id: str, state: str, first: int) -> None:
        self.id, self.state, self.first = visit_id, state, first
        self.exited: int | None = None
        self.closed: int | None = None
        self.commit: Row | None = None
        self.rows = [first]

    @property
    def end(self) -> int | None:
        return self.exited if self.exited is not None else self.closed


Owned = tuple[Visit | None, str]
NOBODY: Owned = (None, "none")


class Reading(NamedTuple):
    """Visit ids, and owner and attribution of each row."""

    ids: list[str]
    owners: list[tuple[str | None, str]]


class Rules:
    """One pass for rules 1, 2, 3 (opening) and 5, then each row by itself; numbers are places in `rows`."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.visits: list[Visit] = []
        self.open: Visit | None = None
        self.initial = False
        self.open_at: list[Visit | None] = []
        self.owner: dict[int, Owned] = {}
        self.entered = {one.get("visit_id") for one in rows if one["type"] == "state_entered"}

    def read(self) -> Reading:
        self.cut_off()
        for number, one in enumerate(self.rows):
            before = self.open
            getattr(self, one["type"], self.other)(number, one)
            opened = self.visits and self.visits[-1].first == number
            self.open_at.append(self.visits[-1] if opened else before)
            if self.open is not None and self.may_own(number, one, self.open):
                self.open.rows.append(number)
        self.last_boundary()
        owners = [self.owner.get(number) or self.owned(number, one) for number, one in enumerate(self.rows)]
        shown = [(visit.id if visit is not None else None, how) for visit, how in owners]
        return Reading([visit.id for visit in self.visits], shown)

    def may_own(self, number: int, one: Row, visit: Visit) -> bool:
        if number in self.owner:
            return self.owner[number][0] is visit
        if "visit_id" in one:
            return bool(one["visit_id"] == visit.id)
        return one.get("state_id") in (None, visit.state)

    def begin(self, number: int, state: str, visit_id: str | None) -> None:
        if self.open is not None:
            self.open.closed = number
        taken = {visit.id for visit in self.visits}
        ordinal = 1 + sum(visit.state == state for visit in self.visits)
        while visit_id is None:
            visit_id, ordinal = (
                f"{state}#{ordinal}" if f"{state}#{ordinal}" not in taken else None,
                ordinal + 1,
            )
        self.open = Visit(visit_id, state, number)
        self.visits.append(self.open)
        self.initial = False

    def known(self, visit_id: str | None) -> Visit | None:
        return next((visit for visit in self.visits if visit.id == visit_id), None)

    # Rules 1, 2, 3 and 5.

    def cut_off(self) -> None:
        entries = ("session_started", "state_entered")
        first = next((at for at, one in enumerate(self.rows) if one["type"] in entries), len(self.rows))
        lead = self.rows[:first]
        states = {one["state_id"] for one in lead if "state_id" in one}
        named = {one["visit_id"] for one in lead if "visit_id" in one}
        if self.rows[0]["seq"] > 1 and len(states) == 1 and len(named) <= 1 and not named & self.entered:
            self.begin(0, states.pop(), named.pop() if named else None)

    def session_started(self, number: int, one: Row) -> None:
        if not self.visits:
            self.begin(number, one["initial_state"], one.get("visit_id"))
            self.initial = True
            self.owner[number] = (self.visits[0], "boundary")

    def state_entered(self, number: int, one: Row) -> None:
        known = self.known(one.get("visit_id"))
        if self.initial and self.open is not None and self.open.state == one["state_id"]:
            self.open.id = one.get("visit_id", self.open.id)
            self.initial = False
        elif known is not None:
            if known is not self.open:
                self.owner[number] = NOBODY
            return
        else:
            self.begin(number, one["state_id"], one.get("visit_id"))
        assert self.open is not None
        self.owner[number] = (self.open, "boundary")

    def state_exited(self, number: int, one: Row) -> None:
        visit = self.open
        if visit is None or (
            one["visit_id"] != visit.id if "visit_id" in one else one["state_id"] != visit.state
        ):
            self.owner[number] = NOBODY
            return
        visit.exited = number
        self.owner[number] = (visit, "boundary")
        self.open, self.initial = None, False

    def transition_committed(self, number: int, one: Row) -> None:
        closed = self.visits[:-1] if self.open is not None else self.visits
        fitting = [visit for visit in (closed[-1:] + ([self.open] if self.open else []))
                   if visit.state == one["from_state"] and visit.commit is None]  # fmt: skip
        if not fitting:
            self.owner[number] = NOBODY
            return
        chosen = fitting[0]
        if len(fitting) == 2 and self.open is not None and one["to_state"] != self.open.state:
            chosen = fitting[1]
        chosen.commit = one
        self.initial = self.initial and chosen is not self.open
        self.owner[number] = (chosen, "boundary")

    def other(self, number: int, one: Row) -> None:
        named = one.get("visit_id")
        if named is None or named in self.entered or self.known(named) is not None:
            return
        state = one.get("state_id", named.split("#")[0])
        if self.open is None:
            if not (self.visits and one["type"] == "slot_write"):
                self.begin(number, state, named)
        elif "state_id" in one and state != self.open.state:
            since = self.rows[self.open.rows[-1]]["seq"]
            if one["seq"] - since > number - self.open.rows[-1]:
                self.begin(number, state, named)

    def session_ended(self, number: int, one: Row) -> None:
        pass

    def last_boundary(self) -> None:
        for number, one in enumerate(self.rows):
            if one["type"] == "session_ended" and self.visits:
                last = self.visits[-1]
                if last.exited is not None and number > last.exited:
                    self.owner[number] = (last, "boundary")

    # Each row by itself: rules 8, 6, 7, then 3, 4 and 9.

    def owned(self, number: int, one: Row) -> Owned:
        now = self.open_at[number]
        if one["type"] == "slot_write":
            band = self.band(number, one, now)
            if band is not None:
                return band
        plain = self.plain(number, one, now)
        if one["type"] == "locked_choice_evaluated" and plain[1] != "explicit":
            return self.choice(number, one, now) or plain
        if one["type"] == "assistant_transcript" and now is not None and plain[0] is None:
            named = self.known(one.get("visit_id") or one.get("causal_visit_id"))
            if named is not None and named.end is not None and named.end < number:
                return now, "interval"
        return plain

    def plain(self, number: int, one: Row, now: Visit | None) -> Owned:
        if "visit_id" in one:
            named = self.known(one["visit_id"])
            still = named is not None and named.closed is not None and number > named.closed
            return (named, "explicit") if named is not None and (named is now or still) else NOBODY
        if now is None or one.get("state_id", now.state) != now.state:
            return NOBODY
        return now, "interval"

    def choice(self, number: int, one: Row, now: Visit | None) -> Owned | None:
        turn = one.get("turn_index")
        if now is not None and now.state == one["from_state"]:
            before = self.visits[self.visits.index(now) - 1] if now is not self.visits[0] else None
            left = before.commit if before is not None else None
            if (
                turn is None
                or left is None
                or (left["from_state"], left.get("turn_index")) != (now.state, turn)
            ):
                return None
        earlier = [at for at, made in enumerate(self.rows[:number]) if made["type"] == "transition_committed"]
        key = (one["from_state"], turn)
        fitting = [
            at for at in earlier if key == (self.rows[at]["from_state"], self.rows[at].get("turn_index"))
        ]
        owner = self.owner[fitting[0]][0] if len(fitting) == 1 and turn is not None else None
        if owner is None or one.get("visit_id", owner.id) != owner.id:
            return NOBODY
        return owner, "derived"

    def band(self, number: int, one: Row, now: Visit | None) -> Owned | None:
        """Rule 8; None where position and ids decide."""
        opened = [visit for visit in self.visits if visit.first < number]
        source = (opened[-1] if opened else None) if now is None else self.before(now)
        if source is None or (now is not None and number > self.first_verdict(now)):
            return None
        both = {visit.id: visit for visit in (now, source) if visit is not None}
        chosen: Visit | None = None
        named, edge = one.get("visit_id"), one.get("edge_id")
        if edge is not None and now is not None and edge.split(":")[0] == now.state:
            chosen = source if both.get(named or "") is source and edge == self.winner(source) else now
        elif edge is not None:
            chosen = source if edge == self.winner(source) else None
        elif named is not None:
            chosen = both.get(named)
        else:
            options = [visit for visit in (source, now) if visit is not None]
            does = [visit for visit in options if self.winner(visit) == one["new"]]
            chosen = next((visit for visit in does if not self.counted(number, visit)), None)
        if chosen is None:
            return NOBODY
        plain = self.plain(number, one, now)
        if chosen is not now:
            return chosen, "boundary"
        return plain if plain[0] is now else (chosen, "interval")

    def before(self, visit: Visit) -> Visit | None:
        place = self.visits.index(visit)
        return self.visits[place - 1] if place else None

    def verdicts(self, visit: Visit) -> list[int]:
        numbers = [at for at, one in enumerate(self.rows) if one["type"] == "transition_verdict"]
        return [at for at in numbers if self.plain(at, self.rows[at], self.open_at[at])[0] is visit]

    def first_verdict(self, visit: Visit) -> int:
        return next(iter(self.verdicts(visit)), len(self.rows))

    def winner(self, visit: Visit) -> str | None:
        """The edge that the last verdict names; an edge of another state is none of this visit's."""
        numbers = self.verdicts(visit)
        named = str(self.rows[numbers[-1]]["winner"]) if numbers else ""
        return named if named.startswith(f"{visit.state}:") else None

    def counted(self, number: int, visit: Visit) -> bool:
        """Whether an earlier write of the slot is of this boundary: it counts once."""
        earlier = [at for at, one in enumerate(self.rows[:number]) if one["type"] == "slot_write"]
        return any(
            (self.owner.get(at) or self.owned(at, self.rows[at]))[0] is visit
            and (
                self.open_at[at] in (visit, None)
                or self.band(at, self.rows[at], self.open_at[at]) is not None
            )
            for at in earlier
        )


@st.composite
def any_calls(draw: st.DrawFn) -> list[Row]:
    begin = draw(st.sampled_from([[], [{"type": "session_started", "initial_state": "a"}]]))
    seq = draw(st.sampled_from([1, 1, 1, 5]))
    made = []
    for one in [*begin, *draw(st.lists(any_row, min_size=1, max_size=16))]:
        made.append(row(seq, one["type"], 0, **{key: value for key, value in one.items() if key != "type"}))
        seq += draw(st.sampled_from([1, 1, 1, 1, 2]))
    return made


@given(rows=any_calls())
@settings(max_examples=150, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
def test_the_rules_by_the_letter(tmp_path_factory: pytest.TempPathFactory, rows: list[Row]) -> None:
    wanted = Rules(rows).read()
    call = open_call(write_call(tmp_path_factory.mktemp("rules"), events=rows, flow=FLOW))
    assert ids(call) == wanted.ids
    for number, one in enumerate(rows):
        seen = event(call, f"bus:{one['seq']}")
        assert (seen.visit_id, seen.attribution) == wanted.owners[number], (one["seq"], one["type"])
    lost = [f"bus:{one['seq']}" for one, (owner, _) in zip(rows, wanted.owners, strict=True) if owner is None]
    codes = found(call, "CONFLICTING_ATTRIBUTION", "EXIT_WITHOUT_ENTRY")
    assert sorted(code.partition(":")[2] for code in codes) == sorted(lost)
    for visit in call.visits:
        for one in rows[visit.exited + 1 :] if visit.exited is not None else ():
            seen = event(call, f"bus:{one['seq']}")
            assert seen.visit_id != visit.visit_id or seen.attribution in ("boundary", "derived")
