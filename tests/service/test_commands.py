"""What responses promise: hashes, deltas, pages, sessions (contract 3.1 to 3.4)."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.canonical import sha256
from engine.debug import compare, projection
from engine.debug.session import Session
from engine.hydrate.call import Call
from engine.hydrate.pipeline import open_call
from engine.model.breakpoint import Breakpoint
from engine.service.actions import ON_A_CALL
from engine.service.dispatcher import answer
from engine.service.library import Folder, Opened
from engine.service.schema import ALL
from engine.workspace.store import Store
from tests.calls import row, write_call
from tests.debug.helpers import journey
from tests.service.asked import SAMPLES, ask, request, shell


@cache
def call() -> Call:
    return open_call(SAMPLES / "property-menu")


def body(action: str, cursor: Any = None, **more: Any) -> bytes:
    return json.dumps(request(action, call().session_id, cursor) | more).encode()


def test_stepping_forward_and_back_gives_the_same_bytes() -> None:
    begin = ask(call(), "seek", visit_id="menu#1")
    there = ask(call(), "step_into", begin["cursor"], count=5)
    back = ask(call(), "step_back", there["cursor"], count=5)
    for name in ("cursor", "projection", "determinism_hash", "exit_decision", "findings"):
        assert back[name] == begin[name]


def test_an_expected_hash_that_is_not_of_this_cursor_refuses() -> None:
    first = ask(call(), "step_into")
    for cursor, refused in ((first["cursor"], False), ({"visit_id": "menu#1"}, True)):
        sent = body("step_into", cursor, expected_hash=first["determinism_hash"])
        told = answer(sent, Opened(call()))
        assert (told.error is not None and told.error.code == "STALE_HASH") is refused


def test_a_refused_command_changes_nothing() -> None:
    session = Session((Breakpoint("slot:_route"),))
    sent = body("clear_breakpoint", args={"all": True}, expected_hash="sha256:0")
    assert answer(sent, Opened(call()), session).session is session


def test_the_delta_is_what_changed_between_two_cursors() -> None:
    told = ask(call(), "seek", {"visit_id": "menu#1"}, event_id="bus:21")
    (delta,) = [one for one in told["variable_delta"] if one["slot"] == "_route"]
    assert (delta["before"]["unset"], delta["after"]["value"], delta["event_id"]) == (
        True, "existing_request", "bus:21",
    )  # fmt: skip
    assert ask(call(), "inspect_event", {"event_id": "bus:21"})["variable_delta"] == []


def test_motions_at_an_end_keep_the_cursor_and_say_so() -> None:
    end = ask(call(), "seek", end=True)["cursor"]
    told = ask(call(), "step_into", end)
    assert (told["cursor"], told["result"]) == (end, {"at": "end"})
    start = ask(call(), "seek", start=True)["cursor"]
    assert ask(call(), "step_back", start)["result"] == {"at": "start"}


def test_pages_give_every_item_once() -> None:
    seen, after = [], None
    while True:
        told = ask(call(), "list_events", limit=7, after=after)
        seen += [one["event_id"] for one in told["result"]["events"]]
        after = told["page"]["next"]
        assert told["page"]["status"] == ("complete" if after is None else "partial")
        if after is None:
            break
    assert len(seen) == len(set(seen)) == told["page"]["total"]
    assert seen == [one["event_id"] for one in ask(call(), "list_events", limit=500)["result"]["events"]]


OTHERS = {"list_events", "list_conversation", "compare_visits", "compare_calls", "export_artifact"}


@pytest.mark.parametrize("action", sorted(set(ON_A_CALL) - OTHERS))
def test_motions_and_inspections_stay_small(action: str) -> None:
    needs = {
        "seek": {"visit_id": "menu#1"}, "set_breakpoint": {"on": "input"}, "clear_breakpoint": {"all": True},
        "inspect_slot_history": {"slot": "_route"}, "why": {"slot": "_route"},
        "inspect_context_history": {"field": "turn_count"},
    }  # fmt: skip
    sent = body(action, {"visit_id": "menu#1"}, args=needs.get(action, {}))
    assert len(answer(sent, Opened(call())).document) <= 10 * 1024


def test_the_hash_names_artifact_and_place() -> None:
    hashes = {ask(call(), "seek", event_id=f"bus:{seq}")["determinism_hash"] for seq in (20, 21, 22)}
    assert len(hashes) == 3
    other = open_call(SAMPLES / "legacy-ring")
    assert ask(other, "seek", start=True)["determinism_hash"] not in hashes


def test_a_session_keeps_breakpoints_and_a_request_may_bring_its_own() -> None:
    stream = b"\n".join(
        [
            body("set_breakpoint", args={"on": "slot:_route"}),
            body("set_breakpoint", args={"on": "slot:_route"}),
            body("list_breakpoints"),
            body("continue"),
            body("continue", args={"breakpoints": []}),
        ]
    )
    status, out = shell("do", str(SAMPLES / "property-menu"), "--jsonl", given=stream)
    told = [json.loads(line) for line in out.splitlines()]
    assert status == 0
    assert [one["on"] for one in told[2]["result"]["breakpoints"]] == ["slot:_route"]
    assert told[3]["cursor"]["event_id"] == "bus:21"
    assert told[3]["result"]["hit"]["id"] == told[0]["result"]["id"]
    assert told[4]["result"]["at"] == "end"


def test_a_line_that_is_too_long_is_refused_and_the_next_one_served() -> None:
    stream = b"x" * (3 * 1024 * 1024) + b"\n\n" + body("open")
    _, out = shell("do", str(SAMPLES / "property-menu"), "--jsonl", given=stream)
    first, second = [json.loads(line) for line in out.splitlines()]
    assert first["error"]["code"] == "LIMIT_EXCEEDED"
    assert second["action"] == "open"


@pytest.mark.parametrize(
    ("on", "stops"),
    [
        ("visit:ask#1", ["drv:entry_boundary:bus:9"]),
        ("guard:always=true", ["bus:4"]),
        ("guard:always=false", ["bus:13"]),
        ("edge:menu:0", ["bus:10"]),
        ("time:220", ["bus:10"]),  # recorded later, but of the visit before
        ("time:230.5", ["bus:11"]),
        ("time:999999", []),
    ],
)
def test_where_breakpoints_stop(tmp_path_factory: pytest.TempPathFactory, on: str, stops: list[str]) -> None:
    own = journey(tmp_path_factory.mktemp("call"))
    for action, cursor, order in (("continue", None, stops), ("reverse_continue", "end", stops[::-1])):
        place = ask(own, "seek", end=True)["cursor"] if cursor else None
        found = []
        while True:
            told = ask(own, action, place, breakpoints=[{"on": on}])
            if told["result"]["hit"] is None:
                break
            place = told["cursor"]
            found.append(place["event_id"])
        assert found == order


@pytest.mark.parametrize(
    ("when", "hits", "undecided"),
    [
        ("slots.a == 'y'", ["bus:12"], 1),
        ("slots.a == 'z'", [], 1),
        ("event.payload.new == 1", ["bus:8"], 0),
        ("visit.state_id == 'menu'", ["bus:6", "bus:8", "bus:18"], 0),
        ("has(slots.phone)", [], 4),  # classified: whether it is set is not told
        ("slots.phone == '555 0100'", [], 4),
        ("size(slots) > 0", [], 4),  # may ask for any slot, and one is hidden
        ("slots['a'] == 'y' && slots.nothing == 1", [], 2),
        ("slots.a", [], 4),
        ("[1, 2].exists(x, x == event.payload.new)", ["bus:8"], 0),
        ("event.payload.exists(key, key == 'edge_id')", ["bus:6"], 0),
        ("[event.seq][1] == 1", [], 4),
        ("8 % (event.seq - 8) == 0", ["bus:6", "bus:12"], 1),
    ],
)
def test_conditions(
    tmp_path_factory: pytest.TempPathFactory, when: str, hits: list[str], undecided: int
) -> None:
    own = journey(tmp_path_factory.mktemp("call"))
    found, place, passed = [], None, set()
    while True:
        points = [{"on": "event:slot_write", "when": when}]
        told = ask(own, "continue", place, breakpoints=points)
        passed |= {one["event_id"] for one in told["result"]["undecided"]}
        if told["result"]["hit"] is None:
            break
        place = told["cursor"]
        found.append(place["event_id"])
    assert (found, len(passed)) == (hits, undecided)


LOOP = f"[{','.join('1' * 30)}].all(x, "


@pytest.mark.parametrize(
    "when",
    [
        LOOP * 7 + "true" + ")" * 7,  # a loop within a loop within …: it would run for hours
        LOOP.replace(".all(", ".// a comment\nall\n(") * 7 + "true" + ")" * 7,
        "[1].map(x, x).exists(y, y == 1)",
        "[1].all(slots, true)",
        "x == 1 && [1].all(x, true)",
        "[1].all(x, nothing(x))",
    ],
)
def test_a_condition_that_is_refused(when: str) -> None:
    told = ask(call(), "continue", breakpoints=[{"on": "slot:_route", "when": when}])
    assert told["error"]["code"] == "BAD_ARGUMENT"
    assert told["error"]["details"]["argument"] == "args.breakpoints[0].when"


def test_undecided_are_those_that_the_run_went_past() -> None:
    points = [{"on": "slot:_route"}, {"on": "event:slot_write", "when": "slots.caller_phone == 'x'"}]
    told = ask(call(), "continue", breakpoints=points)
    assert told["cursor"]["event_id"] == "bus:21"
    every = ask(call(), "continue", breakpoints=points[1:])["result"]["undecided"]
    passed = [one["event_id"] for one in every if int(one["event_id"].partition(":")[2]) <= 21]
    assert [one["event_id"] for one in told["result"]["undecided"]] == passed
    assert 0 < len(passed) < len(every)
    back = ask(call(), "reverse_continue", told["cursor"], breakpoints=[{**points[1], "hit_count": 99}])
    gone = [one["event_id"] for one in back["result"]["undecided"]]
    assert gone == [one for one in passed[::-1] if one != "bus:21"]


def test_a_breakpoint_of_a_session_may_not_be_there_in_another_call() -> None:
    session = Session()
    for on in ("guard:slot_equals:_route:existing_request", "visit:menu_full_announce#1"):
        body = json.dumps(request("set_breakpoint", call().session_id, on=on)).encode()
        session = answer(body, Opened(call()), session).session
    other = open_call(SAMPLES / "consent-restart")
    told = ask(other, "continue", None, session)
    assert (told["result"]["hit"], told["result"]["at"]) == (None, "end")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(sorted(ALL)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(st.sampled_from(["action", "session_id", "cursor", "args", "branch", "capsule"]), JSON)
)
def test_no_request_ends_in_a_traceback(value: dict[str, Any]) -> None:
    value["schema"] = "riff.debug_command/v1"
    told = json.loads(answer(json.dumps(value).encode(), Opened(call())).document)
    assert told["schema"] in ("riff.debug_response/v1", "riff.debug_error/v1")


# Causes and comparisons.


def test_why_leads_from_the_value_to_what_the_caller_said() -> None:
    found = ask(call(), "why", {"event_id": "bus:21"}, slot="_route")["result"]
    assert (found["value"]["value"], found["write"]["event_id"]) == ("existing_request", "bus:21")
    assert found["input"]["acted_on"]["text"] == "Status"
    assert {one["source"]: one["text"] for one in found["input"]["observations"]} == {
        "gemini": "stay this", "whisper": "Status",
    }  # fmt: skip
    assert found["input"]["audio_range"]["status"] == "available"


@pytest.mark.parametrize(
    ("cursor", "slot", "ends"),
    [
        ("bus:5", "a", "the baseline"),
        ("bus:7", "via", "the edge's verdict"),
        ("bus:12", "a", "the write names no input"),
        ("bus:3", "via", "nothing wrote it up to here"),
    ],
)
def test_why_says_where_the_chain_ends(
    tmp_path_factory: pytest.TempPathFactory, cursor: str, slot: str, ends: str
) -> None:
    own = journey(tmp_path_factory.mktemp("call"))
    assert ask(own, "why", {"event_id": cursor}, slot=slot)["result"]["ends"] == ends


def test_two_visits_first_differ_where_what_was_done_differs() -> None:
    retried = open_call(SAMPLES / "consent-restart")
    pair = {"baseline_visit_id": "menu_retry#1", "candidate_visit_id": "menu_retry#2"}
    found = ask(retried, "compare_visits", **pair)["result"]
    assert (found["event"]["index"], found["event"]["candidate"]["event_id"]) == (2, "bus:43")
    assert (found["edge"], found["output"]) == (None, None)
    same = ask(retried, "compare_visits", **pair | {"candidate_visit_id": "menu_retry#1"})["result"]
    assert [same[name] for name in ("event", "variable", "edge", "output")] == [None] * 4


def test_two_calls_first_differ_at_a_visit(tmp_path: Path) -> None:
    other = open_call(SAMPLES / "consent-restart")
    library = Folder(Store(SAMPLES, tmp_path / "calls.sqlite"))
    for name, aligned, apart in ((call().session_id, 5, False), (other.session_id, 0, True)):
        sent = json.dumps(request("compare_calls", call().session_id, other=name)).encode()
        told = json.loads(answer(sent, library).document)["result"]
        assert told["candidate"] == name
        assert (told["divergence"]["aligned"], told["divergence"]["first"] is not None) == (aligned, apart)


def test_a_history_names_the_event_behind_every_value() -> None:
    told = ask(call(), "inspect_slot_history", slot="_route")["result"]["changes"]
    first = next(one for one in told if one["cell"]["value"] is not None)
    assert (first["event_id"], first["cell"]["value"]) == ("bus:21", "existing_request")


def test_visits_and_findings_of_a_stretch_of_the_call() -> None:
    every = ask(call(), "list_visits")["result"]["visits"]
    some = ask(call(), "list_visits", start_ms=every[1]["exit_ms"], end_ms=every[2]["entry_ms"] + 0.5)
    assert some["result"]["visits"] == every[1:3]
    assert some["page"]["total"] == 2
    finding = ask(call(), "list_findings")["result"]["findings"][0]
    for shift, count in ((0, 1), (1, 0)):
        where = {"start_ms": finding["clock_ms"] + shift, "end_ms": finding["clock_ms"] + shift}
        assert len(ask(call(), "list_findings", **where)["result"]["findings"]) == count


# Exports.


def test_the_exported_artifact_is_what_hydrate_gives(tmp_path: Path) -> None:
    _, artifact = shell("hydrate", str(SAMPLES / "property-menu"))
    status, out = shell(
        "export_artifact", str(SAMPLES / "property-menu"), "--arg", f"path={tmp_path / 'artifact.json'}"
    )
    told = json.loads(out)["result"]
    assert status == 0
    assert (tmp_path / "artifact.json").read_bytes() == artifact
    assert (told["sha256"], told["bytes"]) == (sha256(artifact), len(artifact))


def test_only_a_client_that_may_write_has_files_written(tmp_path: Path) -> None:
    path = tmp_path / "artifact.json"
    told = answer(body("export_artifact", args={"path": str(path)}), Opened(call()))
    assert told.error is not None
    assert told.error.code == "READ_ONLY"
    assert not path.exists()


def test_nothing_is_written_into_the_call(tmp_path: Path) -> None:
    copy = tmp_path / "call"
    shutil.copytree(SAMPLES / "property-menu", copy)
    (tmp_path / "link").symlink_to(copy, target_is_directory=True)
    before = sorted(copy.rglob("*"))
    for path in (copy / "artifact.json", tmp_path / "link" / "audio" / "x", copy, tmp_path / "no" / "x", ""):
        status, out = shell("export_artifact", str(copy), "--arg", f"path={json.dumps(str(path))}")
        assert (status, json.loads(out)["error"]["details"]["argument"]) == (3, "args.path")
    assert sorted(copy.rglob("*")) == before


def test_nothing_is_written_into_another_call(tmp_path: Path) -> None:
    copy = shutil.copytree(SAMPLES / "legacy-ring", tmp_path / "calls" / "other")
    (tmp_path / "calls" / "packed.zip").write_bytes(b"PK")
    before = {path: path.read_bytes() for path in (tmp_path / "calls").rglob("*") if path.is_file()}
    for path in (copy / "bus_events.jsonl", copy / "new", tmp_path / "calls" / "packed.zip"):
        status, out = shell("export_artifact", str(SAMPLES / "property-menu"), "--arg", f"path={path}")
        assert (status, json.loads(out)["error"]["code"]) == (3, "BAD_ARGUMENT")
        assert shell("hydrate", str(SAMPLES / "property-menu"), "-o", str(path))[0] == 3
    assert {path: path.read_bytes() for path in (tmp_path / "calls").rglob("*") if path.is_file()} == before


def test_an_export_touches_no_file_but_its_own(tmp_path: Path) -> None:
    mine = tmp_path / "a.json.partial"
    mine.write_text("mine")
    status, _ = shell(
        "export_artifact", str(SAMPLES / "property-menu"), "--arg", f"path={tmp_path / 'a.json'}"
    )
    assert (status, mine.read_text()) == (0, "mine")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "a.json.partial"]


@pytest.mark.parametrize("path", [".", "/", "x" * 400, "/dev/null/x"])
def test_a_path_that_can_not_be_written_is_refused(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out = shell("export_artifact", str(SAMPLES / "property-menu"), "--arg", f"path={path}")
    assert (status, json.loads(out)["error"]["details"]["argument"]) == (3, "args.path")


# What can go wrong around it.


def test_words_that_are_no_utf8_are_refused() -> None:
    for words in (("--arg", "slot=\udcff"), ("--event", "\udcff")):
        status, out = shell("why", str(SAMPLES / "property-menu"), *words)
        assert (status, json.loads(out)["error"]["code"]) == (3, "BAD_ARGUMENT")


def test_a_bug_is_an_answer_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("inner")

    monkeypatch.setattr(projection, "findings_here", broken)
    status, out = shell("open", str(SAMPLES / "property-menu"))
    assert (status, json.loads(out)["error"]["code"]) == (3, "INTERNAL")
    assert b"inner" not in out


def test_a_call_may_be_named_beside_a_folder_of_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, body = str(SAMPLES / "property-menu"), json.dumps(request("open", "v3:pm-0001")).encode()
    (tmp_path / "request.json").write_bytes(body)
    wanted = shell("do", path, str(tmp_path / "request.json"))
    monkeypatch.setenv("RIFF_CALLS", str(SAMPLES))
    assert shell("do", path, str(tmp_path / "request.json")) == wanted
    assert shell("do", path, given=body) == wanted
    assert shell("do", str(tmp_path / "request.json")) == wanted
    other = ("--arg", "other=voice-1777009875064")
    assert shell("compare_calls", path, *other) == shell("compare_calls", "v3:pm-0001", *other)
    assert shell("open", "v3:pm-0001", "--session", "another")[0] == 3


def test_a_slot_that_one_call_only_knows_is_a_difference(tmp_path: Path) -> None:
    calls = []
    for name, slots in (("one", {"x": 1}), ("two", {"x": 1, "y": 2})):
        listed = {slot: {"value": value, "writer": "w"} for slot, value in slots.items()}
        rows = [
            row(1, "session_started", 0, initial_state="menu"),
            row(2, "session_slots_seeded", 0, slots=listed),
            row(3, "state_entered", 0, state_id="menu"),
        ]
        calls.append(open_call(write_call(tmp_path, events=rows, name=name)))
    found = compare.compare_visits(calls[0], 0, calls[1], 0).variable
    assert found is not None
    assert (found.slot, found.baseline.unset, found.candidate.value) == ("y", True, 2)
