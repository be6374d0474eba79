"""Every finding a recording can raise (contract 2.12): what raises it, and the nearest call that does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from engine.canonical import fingerprint, sha256
from engine.hydrate.call import Call
from engine.hydrate.pipeline import open_call
from engine.model.artifact import Finding
from engine.model.findings import FINDINGS
from tests.calls import NO_FILE, flow, manifest, row, state, wav, write_call
from tests.hydrate.ask import (
    committed,
    entered,
    exited,
    found,
    seeded,
    slots_of,
    snapshot,
    start,
    started,
    two_states,
    verdict,
    write,
)

Files = dict[str, Any]
"""Arguments of `write_call`; what is not named has its ordinary content."""

_LINE = "open the source line"
_TYPES = "check the runtime's durable types"
_WRITER = "find the unledgered writer between the two events"
_BOUNDARY = "inspect the boundary"
_EDGES = "compare verdict, exit and commit"


class Case(NamedTuple):
    """A call that raises one finding, and one that differs in the point and does not.

    Attributes:
        finding_id: The only finding of its code.
        advice: The words of its next action.
        action, args: The action that leads on.
    """

    raises: Files
    quiet: Files
    finding_id: str
    visit_id: str | None
    event_id: str | None
    advice: str
    action: str = "inspect_event"
    args: Mapping[str, Any] | None = None
    severity: str = "warning"
    owner: str = "capture"


def _events(*rows: Any, **files: Any) -> Files:
    return {"events": list(rows)} | files


def _menu(*rows: Any, **files: Any) -> Files:
    """Seq 1 to 3 open `menu`; then these rows."""
    return _events(*start(*rows), **files)


def _left(*rows: Any, to: str = "bye", **files: Any) -> Files:
    """`menu` is decided by these rows from seq 4 on, left, and `bye` entered."""
    leaving = (exited(8, "menu", to, edge_id="menu:0"), entered(9, "bye"), committed(10, "menu", to))
    return _menu(*rows, *leaving, **files)


def _dense(files: Files) -> Files:
    """The same rows with `seq` counted from 1 on, so that nothing is missing."""
    rows = [dict(item, seq=number) for number, item in enumerate(files["events"], 1)]
    return files | {"events": rows}


def _decided(*, winner: str | None = "menu:0", to: str = "bye", left_to: str = "bye", **more: Any) -> Files:
    return _dense(_left(verdict(4, winner, to, **more), to=left_to))


_TWICE = flow([state("menu", [("always", "bye"), ("always", "bye")]), state("bye")])
_NO_ID = {"to": "bye", "when": "always", "result": "matched"}
_BOTH = [
    {"edge_id": "menu:0", "to": "bye", "when": "always", "result": "matched"},
    {"edge_id": "menu:1", "to": "bye", "when": "always", "result": "matched"},
]
_SETS = two_states(sets=[("via", "menu")], slots=slots_of("via"))
_VIA = write(5, "via", None, "menu", "transition_set", edge_id="menu:0")
_OTHER_VIA = write(5, "via", None, "other", "transition_set", edge_id="menu:0")
_CHOICE = {
    "slot": "route",
    "options": [
        {"value": "status", "phrases": ["status"], "dtmf": "1"},
        {"value": "status", "phrases": ["state of it"], "dtmf": "2"},
        {"value": "rent", "phrases": ["pay rent"], "dtmf": "3"},
    ],
}
_CHOOSING = flow(
    [state("menu", [("always", "bye")], locked_choice=_CHOICE), state("bye", [("always", "menu")])]
)


def _heard(live: str, timed: str) -> Files:
    words: Files = {"speaker": "caller", "row": 0, "start_ms": 100, "end_ms": 900}
    rows = [
        started(1, clock_ms=0),
        seeded(2),
        entered(3, "menu", clock_ms=0),
        row(4, "turn_complete", 2000, turn_index=0),
    ]
    return _events(*rows, live=[words | {"text": live}], timed=[words | {"text": timed}], flow=_CHOOSING)


def _chosen(seq: int, choice: str, turn: int) -> dict[str, Any]:
    return row(
        seq, "locked_choice_evaluated", from_state="menu", turn_index=turn, choice=choice, result="matched"
    )


def _again(first: str, second: str, back_to: str = "menu") -> Files:
    return _menu(
        _chosen(4, first, 0),
        exited(5, "menu", "bye"),
        entered(6, "bye"),
        exited(7, "bye", back_to),
        entered(8, back_to),
        _chosen(9, second, 1) | {"from_state": back_to},
        flow=_CHOOSING,
    )


def _turn(index: int, **slots: Any) -> dict[str, Any]:
    return {"turn_index": index, "session_id": "v3:test-0001", "post_turn_snapshot": slots}


def _turns(*between: Any) -> Files:
    ends = [row(4, "turn_complete", turn_index=0), row(6, "turn_complete", turn_index=1)]
    middle = between or (row(5, "turn_scratch_reset", reason="next"),)
    return _menu(ends[0], *middle, ends[1], turns=[_turn(0, unit="4B"), _turn(1, unit="5C")])


_AGENT_WAV = wav(0.1)


def _audio(digest: str) -> Files:
    track = {"track": "agent", "path": "agent.wav", "channel": 0, "perspective": "carrier_recorded",
             "clock_offset_ms": 0, "sha256": digest}  # fmt: skip
    listed = {"schema": "riff.call_audio/v1", "tracks": [track]}
    return _menu(audio_manifest=listed, files={"audio/agent.wav": _AGENT_WAV})


_RING_ONLY: Files = {"durable": NO_FILE}

CASES: dict[str, Case] = {
    "MALFORMED_LINE": Case(
        _menu("{not json", row(4, "turn_complete", turn_index=0), **_RING_ONLY),
        _menu("", row(4, "turn_complete", turn_index=0), **_RING_ONLY),
        "MALFORMED_LINE:bus_events.jsonl:4", None, None, _LINE, "list_findings", {"code": "MALFORMED_LINE"},
    ),
    "TRUNCATED_LINE": Case(
        _menu(durable=start(), files={"bus_events.jsonl": '{"seq": 1, "ty'}),
        _menu(durable=start(), files={"bus_events.jsonl": '{"seq": 1, "ty\n'}),
        "TRUNCATED_LINE:bus_events.jsonl:1", None, None, _LINE, "list_findings", {"code": "TRUNCATED_LINE"},
    ),
    "MALFORMED_EVENT": Case(
        _menu(row(4, "turn_complete")), _menu(row(4, "turn_complete", turn_index=0)),
        "MALFORMED_EVENT:bus:4", "menu#1", "bus:4", _LINE,
    ),
    "SOURCE_ROW_CONFLICT": Case(
        _menu(row(4, "turn_complete", turn_index=0), durable=start(row(4, "turn_complete", turn_index=1))),
        _menu(row(4, "turn_complete", turn_index=0), durable=start(row(4, "turn_complete", turn_index=0))),
        "SOURCE_ROW_CONFLICT:bus:4", "menu#1", "bus:4", _LINE,
    ),
    "DUPLICATE_SEQ": Case(
        _menu(row(4, "barge_in", 5), row(4, "turn_complete", 5, turn_index=0)),
        _menu(row(4, "barge_in", 5), row(4, "barge_in", 5)),
        "DUPLICATE_SEQ:bus:4.1", "menu#1", "bus:4.1", _LINE,
    ),
    "SOURCE_HASH_MISMATCH": Case(
        _audio(sha256(b"other")), _audio(sha256(_AGENT_WAV)),
        "SOURCE_HASH_MISMATCH:audio/agent.wav", None, None, _LINE, "list_findings",
        {"code": "SOURCE_HASH_MISMATCH"},
    ),
    "EVENTS_MISSING": Case(
        _menu(row(6, "turn_complete", turn_index=0)), _menu(row(4, "turn_complete", turn_index=0)),
        "EVENTS_MISSING:bus:6", "menu#1", "bus:6", _TYPES,
    ),
    "LEDGER_MISSING": Case(
        {"turns": [_turn(0) | {"from_state": "menu"}]},
        _menu(turns=[_turn(0) | {"from_state": "menu"}]),
        "LEDGER_MISSING:-", None, None, _TYPES, "open", {},
    ),
    "CAPTURE_FAILURE": Case(
        _menu(row(4, "capture_failure", what="disk full")), _menu(row(4, "disk_full", what="disk full")),
        "CAPTURE_FAILURE:bus:4", "menu#1", "bus:4", _TYPES,
    ),
    "BASELINE_MISSING": Case(
        _events(started(1), entered(2, "menu")), _events(started(1), seeded(2), entered(3, "menu")),
        "BASELINE_MISSING:-", None, None, _WRITER, "inspect_variables", {},
    ),
    "BASELINE_REPEATED": Case(
        _menu(seeded(4, {"a": 1})), _menu(write(4, "a", None, 1)),
        "BASELINE_REPEATED:bus:4", "menu#1", "bus:4", _WRITER,
    ),
    "FOLD_MISMATCH": Case(
        _menu(write(4, "a", None, 1), write(5, "a", 2, 3)),
        _menu(write(4, "a", None, 1), write(5, "a", 1, 3)),
        "FOLD_MISMATCH:bus:5:a", "menu#1", "bus:5", _WRITER, "inspect_slot_history", {"slot": "a"},
    ),
    "FINGERPRINT_MISMATCH": Case(
        _menu(snapshot(4, "entry", {}, fingerprint=fingerprint({"a": 1}))),
        _menu(snapshot(4, "entry", {}, fingerprint=fingerprint({}))),
        "FINGERPRINT_MISMATCH:bus:4", "menu#1", "bus:4", _WRITER,
    ),
    "UNATTRIBUTED_DIFF": Case(
        _turns(), _turns(write(5, "unit", None, "5C")),
        "UNATTRIBUTED_DIFF:bus:6:unit", "menu#1", "bus:6", _WRITER, "inspect_slot_history", {"slot": "unit"},
    ),
    "ENTRY_MISSING": Case(
        _events(row(4, "barge_in", visit_id="menu#1", state_id="menu"), seeded(5)),
        _events(started(4), row(5, "barge_in", visit_id="menu#1", state_id="menu"), seeded(6)),
        "ENTRY_MISSING:bus:4", "menu#1", "bus:4", _BOUNDARY,
    ),
    "EXIT_MISSING": Case(
        _menu(entered(4, "bye")), _menu(exited(4, "menu", "bye"), entered(5, "bye")),
        "EXIT_MISSING:bus:4", "menu#1", "bus:4", _BOUNDARY,
    ),
    "EXIT_WITHOUT_ENTRY": Case(
        _menu(exited(4, "bye", "menu")), _menu(exited(4, "menu", "bye")),
        "EXIT_WITHOUT_ENTRY:bus:4", None, "bus:4", _BOUNDARY,
    ),
    "CONFLICTING_ATTRIBUTION": Case(
        _menu(row(4, "barge_in", state_id="bye")), _menu(row(4, "barge_in", state_id="menu")),
        "CONFLICTING_ATTRIBUTION:bus:4", None, "bus:4", _BOUNDARY,
    ),
    "CLOCK_REGRESSION": Case(
        _menu(*(row(seq, "barge_in", clock) for seq, clock in enumerate((1000, 1000, 749, 1000), 4))),
        _menu(*(row(seq, "barge_in", clock) for seq, clock in enumerate((1000, 1000, 750, 1000), 4))),
        "CLOCK_REGRESSION:bus:6", "menu#1", "bus:6", _BOUNDARY,
    ),
    "EDGE_JOIN_AMBIGUOUS": Case(
        _menu(row(4, "transition_verdict", winner="bye", candidates=[_NO_ID]), flow=_TWICE),
        _menu(row(4, "transition_verdict", winner="bye", candidates=[_NO_ID])),
        "EDGE_JOIN_AMBIGUOUS:bus:4", "menu#1", "bus:4", _BOUNDARY, "inspect_edges", {"visit_id": "menu#1"},
    ),
    "CANDIDATES_TRUNCATED": Case(
        _menu(verdict(4, "menu:0", truncated=2)), _menu(verdict(4, "menu:0", truncated=0)),
        "CANDIDATES_TRUNCATED:bus:4", "menu#1", "bus:4", _BOUNDARY, "inspect_edges", {"visit_id": "menu#1"},
    ),
    "FLOW_VERSION_MISMATCH": Case(
        _menu(flow=flow() | {"flow_version": "sha256:0"}), _menu(flow=flow()),
        "FLOW_VERSION_MISMATCH:-", None, None, _BOUNDARY, "open", {},
    ),
    "MULTIPLE_WINNERS": Case(
        _menu(row(4, "transition_verdict", winner="menu:0", candidates=_BOTH), flow=_TWICE),
        _menu(row(4, "transition_verdict", winner="menu:0", candidates=_BOTH[:1]), flow=_TWICE),
        "MULTIPLE_WINNERS:bus:4", "menu#1", "bus:4", _EDGES, "inspect_edges", {"visit_id": "menu#1"}, "error",
    ),
    "NO_WINNER": Case(
        _decided(winner=None), _decided(),
        "NO_WINNER:bus:4", "menu#1", "bus:4", _EDGES, "inspect_edges", {"visit_id": "menu#1"}, "error",
    ),
    "UNKNOWN_EDGE": Case(
        _decided(winner="menu:7"), _decided(winner="menu:0"),
        "UNKNOWN_EDGE:bus:4", "menu#1", "bus:4", _EDGES, "inspect_edges", {"visit_id": "menu#1"}, "error",
    ),
    "WINNER_TARGET_MISMATCH": Case(
        _decided(left_to="menu"), _decided(left_to="bye"),
        "WINNER_TARGET_MISMATCH:bus:4", "menu#1", "bus:4", _EDGES, "inspect_edges",
        {"visit_id": "menu#1"}, "error",
    ),
    "BOUNDARY_WRITE_MISMATCH": Case(
        _dense(_left(verdict(4, "menu:0"), _OTHER_VIA, flow=_SETS)),
        _dense(_left(verdict(4, "menu:0"), _VIA, flow=_SETS)),
        "BOUNDARY_WRITE_MISMATCH:bus:4:via", "menu#1", "bus:4", _EDGES, "inspect_edges",
        {"visit_id": "menu#1"}, "error",
    ),
    "TRANSCRIPT_DISAGREEMENT": Case(
        _heard("statue", "statute"), _heard("Status.", "status"),
        "TRANSCRIPT_DISAGREEMENT:timed:0", "menu#1", "timed:0",
        "compare what was heard with what was acted on", "inspect_conversation",
        {"visit_id": "menu#1"}, "info", "model",
    ),
    "CHOICE_REPEATED": Case(
        _again("status", "status"), _again("status", "rent"),
        "CHOICE_REPEATED:bus:9", "menu#2", "bus:9", "compare the two visits", "compare_visits",
        {"baseline_visit_id": "menu#1", "candidate_visit_id": "menu#2"}, "warning", "flow",
    ),
}  # fmt: skip


def _open(where: Path, files: Files, name: str = "call") -> Call:
    given = {"flow": flow(), "manifest": manifest()} | files
    return open_call(write_call(where, name=name, **given))


def _of(call: Call, code: str) -> list[Finding]:
    return [one for one in call.findings if one.code == code]


def test_there_is_a_case_for_every_finding() -> None:
    assert CASES.keys() == FINDINGS.keys()


@pytest.mark.parametrize("code", CASES)
def test_raised(tmp_path: Path, code: str) -> None:
    case = CASES[code]
    (one,) = _of(_open(tmp_path, case.raises), code)
    assert one.finding_id == case.finding_id
    assert (one.severity, one.owner) == (case.severity, case.owner)
    assert (one.visit_id, one.event_id) == (case.visit_id, case.event_id)
    assert one.event_ids[:1] == ([] if case.event_id is None else [case.event_id])
    args = {"event_id": case.event_id} if case.args is None else case.args
    assert (one.next_action.action, one.next_action.args, one.next_action.text) == (
        case.action,
        args,
        case.advice,
    )
    assert one.title
    assert one.explanation
    assert one.confidence in ("recorded", "derived")


@pytest.mark.parametrize("code", CASES)
def test_not_raised_by_the_nearest_sound_call(tmp_path: Path, code: str) -> None:
    assert _of(_open(tmp_path, CASES[code].quiet), code) == []


@pytest.mark.parametrize("code", CASES)
def test_a_capture_finding_makes_the_artifact_incomplete(tmp_path: Path, code: str) -> None:
    call = _open(tmp_path, CASES[code].raises)
    assert (code in call.completeness_reasons) == (CASES[code].owner == "capture")
    assert call.completeness == ("incomplete" if call.completeness_reasons else "complete")


@pytest.mark.parametrize("code", CASES)
def test_ids_are_unique_and_the_same_again(tmp_path: Path, code: str) -> None:
    ids = found(_open(tmp_path, CASES[code].raises))
    assert len(set(ids)) == len(ids)
    assert found(_open(tmp_path, CASES[code].raises, name="again")) == ids


def test_a_call_without_a_fault_has_no_finding(tmp_path: Path) -> None:
    call = _open(tmp_path, _decided())
    assert (call.findings, call.completeness, call.completeness_reasons) == ([], "complete", [])


# Several findings of one code.


SEVERAL: dict[str, tuple[Files, list[str]]] = {
    "a conflict within one file names both rows and keeps the smaller": (
        _menu(row(4, "barge_in", 5, playback_id="b"), row(4, "barge_in", 5, playback_id="a"), **_RING_ONLY),
        ["SOURCE_ROW_CONFLICT:bus:4"],
    ),
    "three events at one seq are two findings": (
        _menu(row(4, "barge_in", 5), row(4, "dtmf", 5, digit="1"), row(4, "turn_complete", 5, turn_index=0)),
        ["DUPLICATE_SEQ:bus:4.1", "DUPLICATE_SEQ:bus:4.2"],
    ),
    "a malformed row without a seq is anchored where it stands": (
        _menu({"type": "barge_in", "clock_ms": 1}, durable=start()),
        ["MALFORMED_EVENT:bus:bus_events.jsonl:4"],
    ),
    "bytes that are no UTF-8 are kept and reported": (
        _menu(row(4, "barge_in", note="\udcff"), files={"turns.jsonl": b'{"turn_index": 0, "x": "\xff"}\n'}),
        ["MALFORMED_EVENT:bus:4", "MALFORMED_LINE:turns.jsonl:1"],
    ),
    "each gap is one finding, what lies in none another": (
        _menu(row(6, "barge_in"), row(9, "barge_in"), manifest=manifest(capture={"events_emitted": 12})),
        ["EVENTS_MISSING:-", "EVENTS_MISSING:bus:6", "EVENTS_MISSING:bus:9"],
    ),
    "failed emits and each recorded failure": (
        _menu(row(4, "capture_failure", what="x"), row(5, "capture_failure", what="x"),
              manifest=manifest(capture={"emit_failures": 2})),
        ["CAPTURE_FAILURE:-", "CAPTURE_FAILURE:bus:4", "CAPTURE_FAILURE:bus:5"],
    ),
    "a partial snapshot contradicts slot by slot": (
        _menu(write(4, "a", None, 1), write(5, "b", None, 1),
              snapshot(6, "entry", {"a": 2, "b": 2}, partial=True)),
        ["FOLD_MISMATCH:bus:6:a", "FOLD_MISMATCH:bus:6:b"],
    ),
    "a fingerprint alone contradicts every slot at once": (
        _menu(write(4, "a", None, 1), snapshot(5, "exit", fingerprint=fingerprint({"a": 2}))),
        ["FOLD_MISMATCH:bus:5"],
    ),
    "one boundary mismatch a slot": (
        _dense(_left(verdict(4, "menu:0"), flow=two_states(sets=[("a", 1), ("b", 2)]))),
        ["BOUNDARY_WRITE_MISMATCH:bus:4:a", "BOUNDARY_WRITE_MISMATCH:bus:4:b"],
    ),
    "one unattributed difference a slot": (
        _menu(row(4, "turn_complete", turn_index=0), row(5, "turn_complete", turn_index=1),
              turns=[_turn(0, a=1, b=1), _turn(1, b=2, c=1)]),
        ["UNATTRIBUTED_DIFF:bus:5:a", "UNATTRIBUTED_DIFF:bus:5:b", "UNATTRIBUTED_DIFF:bus:5:c"],
    ),
    "two records of one turn leave no stretch between them": (
        _menu(row(4, "turn_complete", turn_index=0), turns=[_turn(0, a=1), _turn(0, a=2)]), [],
    ),
    "turns closed in another order leave no stretch between them": (
        _menu(row(4, "turn_complete", turn_index=1), write(5, "a", None, 1),
              row(6, "turn_complete", turn_index=0), turns=[_turn(0), _turn(1, a=1)]),
        [],
    ),
    "the fingerprints of seeds, of a snapshot and of a context": (
        _events(started(1), seeded(2, {"a": 1}, fingerprint="sha256:0"), entered(3, "menu"),
                snapshot(4, "entry", {"a": 1}, fingerprint="sha256:0"),
                row(5, "state_context_snapshot", phase="entry", context_fingerprint="sha256:0")),
        ["FINGERPRINT_MISMATCH:bus:2", "FINGERPRINT_MISMATCH:bus:4", "FINGERPRINT_MISMATCH:bus:5"],
    ),
    "a flow that is not the one the manifest names": (
        _menu(manifest=manifest(flow_version="sha256:0")), ["FLOW_VERSION_MISMATCH:-"],
    ),
    "a flow that is not the one session_started names": (
        _events(started(1, flow_version="sha256:0"), seeded(2), entered(3, "menu")),
        ["FLOW_VERSION_MISMATCH:-"],
    ),
    "a call without flow.json disagrees with no version": (
        _events(started(1, flow_version="sha256:0"), seeded(2), entered(3, "menu"), flow=None), [],
    ),
    "every verdict of a visit is looked at": (
        _menu(verdict(4, "menu:0", truncated=1), verdict(5, "menu:9", truncated=True)),
        ["CANDIDATES_TRUNCATED:bus:4", "CANDIDATES_TRUNCATED:bus:5", "UNKNOWN_EDGE:bus:5"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SEVERAL)
def test_several(tmp_path: Path, name: str) -> None:
    files, ids = SEVERAL[name]
    call = _open(tmp_path, files)
    codes = {one.partition(":")[0] for one in ids} or {"FLOW_VERSION_MISMATCH"}
    assert sorted(found(call, *codes)) == sorted(ids)


@pytest.mark.parametrize("code", ["UNKNOWN_EDGE", "BOUNDARY_WRITE_MISMATCH"])
def test_a_flow_of_another_version_accuses_nobody(tmp_path: Path, code: str) -> None:
    files = CASES[code].raises | {"manifest": manifest(flow_version="sha256:0")}
    assert found(_open(tmp_path, files), code, "FLOW_VERSION_MISMATCH") == ["FLOW_VERSION_MISMATCH:-"]


def test_both_rows_of_a_conflict_are_named_and_the_durable_one_stands(tmp_path: Path) -> None:
    files = CASES["SOURCE_ROW_CONFLICT"].raises
    (one,) = _of(_open(tmp_path, files), "SOURCE_ROW_CONFLICT")
    assert one.data["rows"] == ["state_trace.jsonl:4", "bus_events.jsonl:4"]
    assert all(where in one.explanation for where in one.data["rows"])


def test_a_fold_mismatch_says_what_was_folded_and_claimed_between_which_events(tmp_path: Path) -> None:
    (one,) = _of(_open(tmp_path, CASES["FOLD_MISMATCH"].raises), "FOLD_MISMATCH")
    assert (one.data["slot"], one.data["folded"], one.data["claimed"]) == ("a", 1, 2)
    assert one.data["between"] == ["bus:4", "bus:5"]


@pytest.mark.parametrize(
    ("live", "timed", "severity"),
    [
        ("statue", "statute", "info"),  # neither is a choice
        ("status", "state of it", "info"),  # two phrases of one value
        ("status", "pay rent", "warning"),  # one value, and another
        ("status", "statue", "warning"),  # one value, and none
        ("statue", "pay rent", "warning"),
    ],
)
def test_a_disagreement_matters_when_the_choice_does(
    tmp_path: Path, live: str, timed: str, severity: str
) -> None:
    (one,) = _of(_open(tmp_path, _heard(live, timed)), "TRANSCRIPT_DISAGREEMENT")
    assert (one.severity, one.owner, one.confidence) == (severity, "model", "derived")
    assert (one.data["live"], one.data["timed"]) == (live, timed)


@pytest.mark.parametrize(
    ("files", "ids"),
    [
        (_again("status", "status", back_to="bye"), []),  # another state
        (_menu(_chosen(4, "status", 0), _chosen(5, "status", 0), flow=_CHOOSING), []),  # one visit
        (_menu(*(dict(item, result="no") for item in _again("status", "status")["events"][3:])), []),
    ],
)
def test_a_choice_that_is_not_repeated(tmp_path: Path, files: Files, ids: list[str]) -> None:
    assert found(_open(tmp_path, files), "CHOICE_REPEATED") == ids


def test_findings_stand_in_event_order_with_those_of_no_event_first(tmp_path: Path) -> None:
    call = _open(
        tmp_path,
        _menu(
            row(4, "turn_complete"),
            write(5, "a", 1, 2),
            row(6, "barge_in", state_id="bye"),
            manifest=manifest(capture={"emit_failures": 1}),
        ),
    )
    assert found(call) == [
        "CAPTURE_FAILURE:-", "MALFORMED_EVENT:bus:4", "FOLD_MISMATCH:bus:5:a",
        "CONFLICTING_ATTRIBUTION:bus:6",
    ]  # fmt: skip


def test_ids_stay_unique_where_one_event_raises_a_code_twice(tmp_path: Path) -> None:
    """A slot's name with a colon must not make two ids one."""
    call = _open(
        tmp_path,
        _menu(
            write(4, "a", None, 1),
            write(5, "a:b", None, 1),
            snapshot(6, "exit", {"a": 2, "a:b": 2}, partial=True),
            {"seq": 7, "type": "session_slots_seeded", "slots": {"a": {}, "b": {}}},
        ),
    )
    ids = found(call)
    assert Counter(ids).most_common(1)[0][1] == 1
    assert {"MALFORMED_EVENT:bus:7:a", "MALFORMED_EVENT:bus:7:b"} <= set(ids)
