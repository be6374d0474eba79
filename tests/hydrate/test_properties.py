"""What holds for every call: owners and values by construction, and an order of rows that does not matter."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.canonical import fingerprint
from engine.hydrate.call import Call
from engine.hydrate.document import artifact, artifact_bytes
from engine.hydrate.pipeline import open_call
from engine.hydrate.variables import cell, cursor_point, entry_snapshot, exit_snapshot
from tests.calls import NO_FILE, flow, manifest, row, slot, write_call
from tests.hydrate.ask import UNSET, at_cursor, event, exited, found, ids, recorded, shown, steps
from tests.hydrate.made import SLOTS, MadeCall, edges, made_calls

generated = settings(max_examples=60, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
Rows = list[dict[str, Any]]
FLOW = edges()


def opened(folders: pytest.TempPathFactory, rows: Rows, durable: Rows | None = None) -> Call:
    where = folders.mktemp("made")
    return open_call(write_call(where, events=rows, durable=durable, flow=FLOW, manifest=manifest()))


def plain(value: Any) -> Any:
    """An artifact without what tells where its rows stood."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if key not in ("sources", "source_refs")}
    return [plain(item) for item in value] if isinstance(value, list) else value


# Owners, order and values are known by construction.


@given(made=made_calls())
@generated
def test_every_row_has_the_owner_it_was_made_with(
    tmp_path_factory: pytest.TempPathFactory, made: MadeCall
) -> None:
    call = opened(tmp_path_factory, made.rows)
    assert ids(call) == made.ids
    for event_id, (visit, attribution) in made.owners.items():
        seen = event(call, event_id)
        wanted = made.ids[visit] if visit is not None else None
        assert (seen.visit_id, seen.attribution) == (wanted, attribution), event_id
    strays = sorted(
        f"CONFLICTING_ATTRIBUTION:{one}" for one, (owner, _) in made.owners.items() if owner is None
    )
    assert sorted(found(call, "CONFLICTING_ATTRIBUTION")) == strays


@given(made=made_calls())
@generated
def test_every_bus_row_is_listed_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, made: MadeCall
) -> None:
    call = opened(tmp_path_factory, made.rows)
    document = artifact(call)
    inside = [[one["event_id"] for one in visit["micro_events"]] for visit in document["visits"]]
    outside = [one["event_id"] for one in document["unattributed_events"]]
    listed = [one for part in (*inside, outside) for one in part if one.startswith("bus:")]
    assert sorted(listed) == sorted(f"bus:{one['seq']}" for one in made.rows)
    for visit in range(len(made.ids)):
        assert steps(call, visit) == [one for one, (owner, _) in made.owners.items() if owner == visit]
    assert outside == [one for one, (owner, _) in made.owners.items() if owner is None]


@given(made=made_calls())
@generated
def test_values_are_the_fold_of_the_writes(tmp_path_factory: pytest.TempPathFactory, made: MadeCall) -> None:
    call = opened(tmp_path_factory, made.rows)
    assert found(call, "FOLD_MISMATCH", "BASELINE_MISSING") == []
    for visit, values in enumerate(made.entries):
        assert seen(entry_snapshot(call, visit).cells) == {name: values.get(name, UNSET) for name in SLOTS}
        after, left = made.exits[visit], exit_snapshot(call, visit)
        if after is None:
            closed = visit + 1 < len(made.ids)
            assert (left.reason, left.cells) == ("exit_missing" if closed else "no_exit_boundary", {})
            continue
        wanted = {name: after.get(name, UNSET) for name in SLOTS}
        if visit in made.lost:
            wanted["q"] = ("unavailable", "unattributed_write")
        assert seen(left.cells) == wanted


def seen(cells: dict[str, Any]) -> dict[str, Any]:
    return {name: shown(found) for name, found in cells.items()}


@given(made=made_calls())
@generated
def test_the_columns_fit_together(tmp_path_factory: pytest.TempPathFactory, made: MadeCall) -> None:
    """The cursor ends at the exit, and a visit enters with what the one directly before it left."""
    call = opened(tmp_path_factory, made.rows)
    for visit in range(len(made.ids)):
        if made.exits[visit] is None:
            continue
        cells, last = exit_snapshot(call, visit).cells, int(call.micro_events(visit)[-1])
        at_last = {name: cell(call, name, cursor_point(call, visit, name, last)) for name in SLOTS}
        at_exit = {
            name: cell(call, name, cursor_point(call, visit, name, call.first_exit + visit)) for name in SLOTS
        }
        assert at_last == at_exit == cells
        if visit in made.alike and visit + 1 < len(made.ids):
            entered = entry_snapshot(call, visit + 1).cells
            owned = [name for name in SLOTS if name != "q" or visit not in made.lost]
            assert [entered[name] for name in owned] == [cells[name] for name in owned]


# The order of rows, within and across the ledgers, and repeats of them change nothing.


@given(made=made_calls(), data=st.data())
@generated
def test_the_order_and_number_of_equal_rows_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, made: MadeCall, data: st.DataObject
) -> None:
    wanted = plain(artifact(opened(tmp_path_factory, made.rows)))
    whole = st.permutations(made.rows)
    some = st.lists(st.sampled_from(made.rows), max_size=8)
    ring = data.draw(some) if data.draw(st.booleans()) else [*data.draw(whole), *data.draw(some)]
    durable = [*data.draw(whole), *data.draw(some)]
    other_keys = [dict(sorted(one.items(), reverse=True)) for one in ring]
    assert plain(artifact(opened(tmp_path_factory, other_keys, durable))) == wanted
    split = data.draw(st.integers(0, len(made.rows)))
    parts = data.draw(whole)
    assert plain(artifact(opened(tmp_path_factory, parts[:split], parts[split:]))) == wanted


@given(made=made_calls())
@settings(generated, max_examples=10)
def test_the_place_of_the_folder_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, made: MadeCall
) -> None:
    where = tmp_path_factory.mktemp("made")
    folder = write_call(where, events=made.rows, flow=FLOW, manifest=manifest())
    before = artifact_bytes(open_call(folder))
    moved = shutil.copytree(folder, tmp_path_factory.mktemp("moved") / "deeper" / "ünder another name")
    assert artifact_bytes(open_call(Path(moved))) == before


# One visit, folded a second time by the letter of the contract.

GONE = "unavailable"
_values = st.one_of(st.none(), st.integers(0, 2))
_slots = st.dictionaries(st.sampled_from("xyz"), _values)
changes = st.one_of(
    st.tuples(st.just("write"), st.sampled_from("xyz"), _values, st.one_of(_values, st.just(UNSET))),
    st.tuples(st.just("right"), st.sampled_from("xyz"), st.one_of(_values, st.just(UNSET))),
    st.tuples(st.just("unreadable"), st.sampled_from(["x", "y", None])),
    st.tuples(st.sampled_from(["full", "partial", "seeds"]), _slots),
    st.tuples(st.just("fingerprint"), st.booleans()),
    st.tuples(st.just("note")),
    st.tuples(st.just("gap")),
)


class Naive:
    """The fold, one list of cells an event; `point` is the last agreeing event of each slot."""

    def __init__(self, seeds: dict[str, Any] | None) -> None:
        known = seeds is not None
        start = {name: (seeds or {}).get(name, UNSET) if known else (GONE, "no_baseline") for name in "xyz"}
        self.now: dict[str, Any] = start
        self.rest_known = known
        self.point = dict.fromkeys("xyz", 0)
        self.cells: list[dict[str, Any]] = [dict(start)]
        self.mismatches = 0

    def known(self, name: str) -> bool:
        return not isinstance(self.now[name], tuple)

    def hide(self, name: str) -> None:
        for cells in self.cells[self.point[name] + 1 :]:
            cells[name] = (GONE, "fold_mismatch")

    def settle(self, name: str, value: Any, check: Any = None) -> None:
        """A slot takes a value; `check` is what the row claims was there before, where it claims anything."""
        if check is not None and self.known(name) and not agrees(check[0], self.now[name]):
            self.hide(name)
            self.mismatches += 1
        self.now[name] = value
        self.point[name] = len(self.cells)

    def take(self, change: tuple[Any, ...]) -> dict[str, Any]:
        """Apply a change and give its row, without a seq."""
        made = getattr(self, f"_{change[0]}")(*change[1:])
        self.cells.append(dict(self.now))
        return made  # type: ignore[no-any-return]

    def _write(self, name: str, old: Any, new: Any) -> dict[str, Any]:
        self.settle(name, new, (old,))
        written = {"new": None, "present": False} if new == UNSET else {"new": new}
        return {"type": "slot_write", "slot": name, "old": old, "kind": "direct", "writer": "w"} | written

    def _right(self, name: str, new: Any) -> dict[str, Any]:
        now = self.now[name]
        return self._write(name, now if self.known(name) and now != UNSET else None, new)

    def _unreadable(self, name: str | None) -> dict[str, Any]:
        for lost in "xyz" if name is None else name:
            self.now[lost] = (GONE, "malformed_write")
        self.rest_known = self.rest_known and name is not None
        named = {} if name is None else {"slot": name}
        return {"type": "slot_write", "old": None, "kind": "direct", "writer": "w"} | named

    def _full(self, slots: dict[str, Any]) -> dict[str, Any]:
        for name in "xyz":
            self._claim(name, slots.get(name, UNSET))
        self.rest_known = True
        return {"type": "state_slot_snapshot", "phase": "entry", "slots": slots}

    def _partial(self, slots: dict[str, Any]) -> dict[str, Any]:
        for name, value in slots.items():
            self._claim(name, value)
        return {"type": "state_slot_snapshot", "phase": "entry", "slots": slots, "partial": True}

    def _claim(self, name: str, value: Any) -> None:
        if self.known(name) and self.now[name] != value:
            self.hide(name)
            self.mismatches += 1
        self.now[name] = value
        self.point[name] = len(self.cells)

    def _seeds(self, slots: dict[str, Any]) -> dict[str, Any]:
        for name, value in slots.items():
            self.settle(name, value)
        seeds = {name: {"value": value, "writer": "w"} for name, value in slots.items()}
        return {"type": "session_slots_seeded", "slots": seeds}

    def _fingerprint(self, right: bool) -> dict[str, Any]:
        comparable = self.rest_known and all(map(self.known, "xyz"))
        held = {name: value for name, value in self.now.items() if value != UNSET} if comparable else {}
        stated = fingerprint(held) if right else "sha256:0"
        for name in "xyz" if comparable else "":
            if right:
                self.point[name] = len(self.cells)
            else:
                self.hide(name)
                self.now[name] = (GONE, "fold_mismatch")
        if comparable and not right:
            self.rest_known = False
            self.mismatches += 1
        return {"type": "state_slot_snapshot", "phase": "entry", "fingerprint": stated}

    def _gap(self) -> dict[str, Any]:
        """A row after a missing range, where no durable ledger was kept."""
        self.now = dict.fromkeys("xyz", (GONE, "seq_gap"))
        self.rest_known = False
        return {"type": "note", "gap": True}

    def _note(self) -> dict[str, Any]:
        return {"type": "note"}


def agrees(old: Any, folded: Any) -> bool:
    return old is None if folded == UNSET else bool(old == folded)


@given(seeds=st.one_of(st.none(), _slots), todo=st.lists(changes, max_size=14))
@settings(generated, max_examples=200)
def test_the_fold_is_that_of_the_contract(
    tmp_path_factory: pytest.TempPathFactory, seeds: dict[str, Any] | None, todo: list[tuple[Any, ...]]
) -> None:
    if seeds is None:
        todo = [change for change in todo if change[0] != "seeds"]
    naive = Naive(seeds)
    made = [naive.take(change) for change in todo]
    begin = [row(1, "session_started", 0, initial_state="menu"), row(3, "state_entered", 0, state_id="menu")]
    listed = {name: {"value": value, "writer": "w"} for name, value in (seeds or {}).items()}
    begin.insert(1, row(2, "note" if seeds is None else "session_slots_seeded", 0, slots=listed))
    rows, numbers = list(begin), []
    for one in made:
        numbers.append(rows[-1]["seq"] + (2 if one.get("gap") else 1))
        rows.append(row(numbers[-1], one.pop("type"), 0, **one))
    rows.append(exited(rows[-1]["seq"] + 1, "menu"))
    where, declared = tmp_path_factory.mktemp("fold"), flow(slots=map(slot, "xyz"))
    call = open_call(write_call(where, events=rows, durable=NO_FILE, flow=declared))
    for number, cells in zip(numbers, naive.cells[1:], strict=True):
        assert {name: shown(at_cursor(call, f"bus:{number}", name)) for name in "xyz"} == cells, number
    assert seen(exit_snapshot(call, 0).cells) == naive.now
    if seeds is not None:
        assert seen(entry_snapshot(call, 0).cells) == naive.cells[0]
    assert len(found(call, "FOLD_MISMATCH")) == naive.mismatches
    assert len(recorded(call)) == len(rows)
