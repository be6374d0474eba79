"""The artifact (contract 2.10): its fixed shapes, its bytes, its hash, completeness and sources."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from engine.canonical import canonical, fingerprint, sha256
from engine.hydrate.document import artifact, artifact_bytes, artifact_chunks
from engine.hydrate.hashes import HYDRATION_REVISION
from engine.hydrate.pipeline import open_call
from engine.model.limits import Settings
from engine.service.cli import main
from tests.calls import NO_FILE, flow, lines, manifest, row, wav, write_call
from tests.debug.helpers import SAMPLES, sample
from tests.hydrate.ask import entered, seeded, start, started

NAMES = sorted(path.name for path in SAMPLES.iterdir())

GOLDEN = {
    "revision": 4,
    "consent-restart": "sha256:4f73d8f9d2ed54a31b40af2bfd0c717c51dd078c8f0d5244c355c8f4cc735bb4",
    "legacy-ring": "sha256:c03b507745ede306c307ac24dab25322c867f03d16e8f224a905041efa2220c7",
    "property-menu": "sha256:15162c10315f3950075866ff39d682607561a8697c3f660fc4ac2ecfe0e3bbb7",
}
"""Hashes of the artifacts' bytes. Where one changes, raise `HYDRATION_REVISION` and renew them here."""


# Shapes.

Check = Callable[[Any, str], None]


def a(*types: type) -> Check:
    """A value of one of these very types: true is no number."""

    def check(value: Any, at: str) -> None:
        assert type(value) in types, f"{at} is {value!r}"

    return check


def one_of(*words: str | None) -> Check:
    def check(value: Any, at: str) -> None:
        assert value in words, f"{at} is {value!r}"

    return check


def each(item: Check) -> Check:
    def check(value: Any, at: str) -> None:
        assert type(value) is list, at
        for number, one in enumerate(value):
            item(one, f"{at}[{number}]")

    return check


def every(item: Check) -> Check:
    """An object of any keys."""

    def check(value: Any, at: str) -> None:
        assert type(value) is dict, at
        for key, one in value.items():
            item(one, f"{at}.{key}")

    return check


def maybe(inner: Check) -> Check:
    def check(value: Any, at: str) -> None:
        if value is not None:
            inner(value, at)

    return check


def at_least(**keys: Check) -> Check:
    """An object that has these keys; ``from_`` is the key ``from``."""
    wanted = {key.rstrip("_"): check for key, check in keys.items()}

    def check(value: Any, at: str) -> None:
        assert type(value) is dict, at
        assert wanted.keys() <= value.keys(), f"{at} lacks {wanted.keys() - value.keys()}"
        for key, inner in wanted.items():
            inner(value[key], f"{at}.{key}")

    return check


def shape(**keys: Check) -> Check:
    """An object of these keys and no other."""
    inner = at_least(**keys)

    def check(value: Any, at: str) -> None:
        inner(value, at)
        assert len(value) == len(keys), f"{at} has {value.keys() - {key.rstrip('_') for key in keys}}"

    return check


def anything(value: Any, at: str) -> None:
    """Any JSON."""


TEXT, NUMBER, FLAG, COUNT = a(str), a(int, float), a(bool), a(int)
TEXTS, OBJECT = each(TEXT), every(anything)

CELL = shape(
    availability=one_of("available", "redacted", "unavailable"), value=anything, unset=FLAG,
    reason=maybe(TEXT),
    event_id=maybe(TEXT), provenance=one_of("recorded", "derived", "simulated"),
    classification=one_of("public", "internal", "pii", "secret", None),
)  # fmt: skip
SNAPSHOT = shape(
    evidence=one_of("proven", "unavailable"), reason=maybe(TEXT), event_id=maybe(TEXT), cells=every(CELL)
)
_ENVELOPE: dict[str, Check] = {
    "event_id": TEXT, "visit_id": maybe(TEXT), "seq": maybe(COUNT), "clock_ms": maybe(NUMBER),
    "clock": one_of("recorded", "derived", "none"), "kind": TEXT, "source_type": maybe(TEXT),
    "provenance": one_of("recorded", "derived", "simulated"), "source_refs": each(OBJECT),
    "derived_from": TEXTS, "attribution": one_of("explicit", "interval", "boundary", "derived", "none"),
    "observed_visit_id": maybe(TEXT), "placement": maybe(TEXT), "payload": OBJECT,
}  # fmt: skip
GUARD = shape(event_id=TEXT, guard=TEXT, result=maybe(FLAG), slots_read=TEXTS, context_reads=maybe(OBJECT))
EDGE = shape(
    edge_id=TEXT, declaration_index=maybe(COUNT), from_=TEXT, to=maybe(TEXT), when=maybe(TEXT),
    reason=maybe(TEXT),
    sets=each(shape(slot=TEXT, value=anything)), clears=TEXTS, from_flow=FLAG, guards=each(GUARD),
    verdict=one_of("won", "lost", "shadowed", "error", "not_evaluated", "unavailable"),
)  # fmt: skip
BEAT = shape(
    status=one_of("proven", "disproven", "unavailable", "redacted"),
    provenance=one_of("recorded", "derived", "simulated"), explanation=TEXT, refs=TEXTS,
)  # fmt: skip
CONTEXT = maybe(shape(event_id=TEXT, fields=OBJECT))
VISIT = shape(
    visit_id=TEXT, state_id=TEXT, ordinal=COUNT, goal=maybe(TEXT),
    entry_edge=maybe(shape(edge_id=maybe(TEXT), from_visit_id=maybe(TEXT), event_id=TEXT)),
    entry_snapshot=SNAPSHOT, exit_snapshot=SNAPSHOT, micro_events=each(shape(**_ENVELOPE)),
    boundary_band=TEXTS, context=shape(entry=CONTEXT, exit=CONTEXT), legal_exits=each(EDGE),
    final_verdict=maybe(shape(event_id=TEXT, winner=maybe(TEXT))),
    exit_commit=maybe(at_least(event_id=TEXT)),
    evidence_beats=shape(intended=BEAT, generated=BEAT, sent=BEAT, heard=BEAT, caller_said=BEAT,
    decided=BEAT),
    findings=TEXTS,
)  # fmt: skip
FINDING = shape(
    finding_id=TEXT, code=TEXT, severity=one_of("error", "warning", "info"), owner=TEXT, visit_id=maybe(TEXT),
    event_id=maybe(TEXT), event_ids=TEXTS, clock_ms=maybe(NUMBER), title=TEXT, explanation=TEXT,
    confidence=one_of("recorded", "recorded_lifecycle", "recorded_lifecycle_plus_text", "derived"),
    next_action=shape(action=TEXT, args=OBJECT, text=TEXT), data=OBJECT,
)  # fmt: skip
TURN = at_least(item_id=TEXT, visit_id=maybe(TEXT), start_ms=maybe(NUMBER), end_ms=maybe(NUMBER),
    lane=one_of("agent", "caller", "dtmf", "barge_in", "decision"),
    observations=each(shape(source=TEXT, text=maybe(TEXT), refs=TEXTS)), acted_on=OBJECT,
    agreement=one_of("agree", "disagree", "single_source", "unavailable"), wer=maybe(a(float)),
    diff=each(shape(op=TEXT, live=TEXT, timed=TEXT)), audio_range=anything, refs=TEXTS,
)  # fmt: skip
ATTEMPT = at_least(output_attempt_id=TEXT, causal_visit_id=maybe(TEXT), parent_attempt_id=maybe(TEXT),
    outcome=one_of("completed", "interrupted", "failed", "abandoned", None), attempt_confidence=maybe(TEXT),
)  # fmt: skip
SPAN = at_least(playback_id=TEXT, output_attempt_id=maybe(TEXT), visit_id=maybe(TEXT), stage=TEXT,
    start_ms=maybe(NUMBER), end_ms=maybe(NUMBER), outcome=maybe(TEXT),
)  # fmt: skip
SOURCE = shape(
    artifact=TEXT, status=one_of("read", "missing", "refused", "unreadable", "unused"), rows=maybe(COUNT),
    malformed=COUNT, sha256=maybe(TEXT), reason=maybe(TEXT),
)  # fmt: skip
ARTIFACT = shape(
    schema=one_of("riff.state_program_debugger/v1"), session_id=maybe(TEXT), flow_id=maybe(TEXT),
    recorded_engine_revision=maybe(TEXT), recorded_build_id=maybe(TEXT), flow_version=maybe(TEXT),
    completeness=one_of("complete", "incomplete"), completeness_reasons=TEXTS, findings=each(FINDING),
    conversation=each(TURN), visits=each(VISIT), slot_order=TEXTS, output_attempts=each(ATTEMPT),
    playback_spans=each(SPAN), unattributed_events=each(shape(**_ENVELOPE, reason=TEXT)),
    cursor_projection=one_of(None), sources=each(SOURCE),
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_shape_key_by_key(name: str) -> None:
    ARTIFACT(artifact(sample(name)), "$")


@pytest.mark.parametrize("name", NAMES)
def test_what_ids_refer_to_is_there(name: str) -> None:
    found = artifact(sample(name))
    visits = {visit["visit_id"]: visit for visit in found["visits"]}
    events = {one["event_id"] for visit in found["visits"] for one in visit["micro_events"]}
    events |= {one["event_id"] for one in found["unattributed_events"]}
    ids = [one["finding_id"] for one in found["findings"]]
    assert len(set(ids)) == len(ids)
    for one in found["findings"]:
        assert set(one["event_ids"]) <= events
        assert one["event_id"] is None or one["event_id"] in events
        assert one["finding_id"].startswith(f"{one['code']}:{one['event_id'] or ''}")
    for visit_id, visit in visits.items():
        assert visit["findings"] == [
            one["finding_id"] for one in found["findings"] if one["visit_id"] == visit_id
        ]
        assert set(visit["boundary_band"]) <= events
        assert {ref for beat in visit["evidence_beats"].values() for ref in beat["refs"]} <= events
        assert all(one["visit_id"] == visit_id for one in visit["micro_events"])
        assert list(visit["entry_snapshot"]["cells"]) in ([], sorted(found["slot_order"]))
        for snapshot in (visit["entry_snapshot"], visit["exit_snapshot"]):
            known = any(cell["availability"] != "unavailable" for cell in snapshot["cells"].values())
            assert (snapshot["evidence"] == "proven") == known == (snapshot["reason"] is None)
            assert all(
                (cell["reason"] is None) == (cell["availability"] == "available")
                for cell in snapshot["cells"].values()
            )
    assert len(events) == sum(len(visit["micro_events"]) for visit in found["visits"]) + len(
        found["unattributed_events"]
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_first_entry_is_the_state_entered(name: str) -> None:
    first = artifact(sample(name))["visits"][0]
    kinds = {one["event_id"]: one["kind"] for one in first["micro_events"]}
    entries = [event_id for event_id, kind in kinds.items() if kind == "state_entered"]
    assert first["entry_snapshot"]["event_id"] == entries[0]
    assert first["entry_edge"] is None


def test_without_a_state_entered_the_first_entry_is_session_started(tmp_path: Path) -> None:
    call = open_call(write_call(tmp_path, events=[started(1), seeded(2, {"a": 1})], flow=flow()))
    assert artifact(call)["visits"][0]["entry_snapshot"]["event_id"] == "bus:1"


# Bytes and hashes.


@pytest.mark.parametrize("name", NAMES)
def test_bytes_are_canonical(name: str) -> None:
    data = artifact_bytes(sample(name))
    assert canonical(json.loads(data)) == data
    assert b"".join(artifact_chunks(sample(name))) == data


@pytest.mark.parametrize("name", NAMES)
def test_the_same_folder_anywhere_gives_the_same_bytes(tmp_path: Path, name: str) -> None:
    copy = tmp_path / "deep" / "another name"
    shutil.copytree(SAMPLES / name, copy)
    again = open_call(copy)
    assert artifact_bytes(again) == artifact_bytes(sample(name))
    assert again.artifact_hash == sample(name).artifact_hash


@pytest.mark.parametrize("name", NAMES)
def test_golden_bytes(name: str) -> None:
    assert (HYDRATION_REVISION, sha256(artifact_bytes(sample(name)))) == (GOLDEN["revision"], GOLDEN[name]), (
        "the artifact of an unchanged folder changed: raise HYDRATION_REVISION and renew GOLDEN"
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_hash_is_that_of_what_the_artifact_is_a_function_of(name: str) -> None:
    call = sample(name)
    listed = artifact(call)["sources"]
    assert call.artifact_hash == fingerprint(
        {
            "schema": "riff.state_program_debugger/v1",
            "contract": 2,
            "hydration_revision": HYDRATION_REVISION,
            "settings": {"clock_tolerance_ms": 250.0, "overlap_share": 0.5},
            "redaction": "redacted",
            "sources": [{key: one[key] for key in ("artifact", "status", "sha256")} for one in listed],
        }
    )


def _folder(where: Path, name: str = "call", **files: Any) -> Path:
    rows = start(row(4, "barge_in", 20))
    return write_call(where, name=name, **({"events": rows, "flow": flow(), "manifest": manifest()} | files))


CHANGES: dict[str, dict[str, Any]] = {
    "a row": {"events": start(row(4, "barge_in", 21))},
    "the manifest": {"manifest": manifest(kind="web")},
    "the flow": {"flow": flow(goal="another")},
    "a transcript": {"live": [{"speaker": "agent", "text": "hello"}]},
    "a recording": {"files": {"audio/agent.wav": wav(0.1)}},
    "a file that is not read": {"turns": ["{}"]},
    "white space": {"files": {"bus_events.jsonl": lines(start(row(4, "barge_in", 20))) + "\n"}},
}


@pytest.mark.parametrize("name", CHANGES)
def test_any_change_of_a_source_changes_the_hash(tmp_path: Path, name: str) -> None:
    changed = open_call(_folder(tmp_path, "changed", **CHANGES[name]))
    assert changed.artifact_hash != open_call(_folder(tmp_path)).artifact_hash


def test_a_setting_changes_the_hash_and_an_unnamed_file_does_not(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    known = open_call(folder).artifact_hash
    assert open_call(folder, settings=Settings(clock_tolerance_ms=251.0)).artifact_hash != known
    (folder / "notes.txt").write_text("not named by the contract")
    assert open_call(folder).artifact_hash == known


def test_each_session_of_one_file_has_an_artifact_and_a_hash_of_its_own(tmp_path: Path) -> None:
    turns = [{"turn_index": 0, "session_id": name, "from_state": "menu"} for name in ("a", "b")]
    folder = write_call(tmp_path, turns=turns)
    one, other = (open_call(folder, session=name) for name in ("a", "b"))
    assert artifact_bytes(one) != artifact_bytes(other)
    assert one.artifact_hash != other.artifact_hash


def test_the_command_writes_those_bytes(tmp_path: Path) -> None:
    folder, target = _folder(tmp_path), tmp_path / "artifact.json"
    runner = CliRunner()
    assert runner.invoke(main, ["hydrate", str(folder), "-o", str(target)]).exit_code == 0
    assert target.read_bytes() == artifact_bytes(open_call(folder)) + b"\n"
    assert runner.invoke(main, ["hydrate", str(folder)]).stdout_bytes == target.read_bytes()
    assert (
        json.loads(runner.invoke(main, ["hydrate", str(folder), "--reveal"]).stdout_bytes)["revealed"] is True
    )


# Completeness and sources.


_TURN = {"turn_index": 0, "session_id": "v3:test-0001", "from_state": "menu"}
_BARE = [started(1), entered(2, "menu")]
_FAULTY = [
    *_BARE,
    row(3, "turn_complete"),
    row(4, "turn_complete"),
    row(6, "barge_in", state_id="bye"),
]

COMPLETENESS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "everything required": ({}, []),
    "the ring alone": ({"durable": NO_FILE}, []),
    "the durable ledger alone": ({"events": None, "durable": start()}, []),
    "no manifest": ({"manifest": None}, []),
    "no flow": ({"flow": None}, ["missing:flow.json"]),
    "no baseline": ({"events": _BARE}, ["BASELINE_MISSING", "missing:session_slots_seeded"]),
    "no ledger": (
        {"events": None, "turns": [_TURN]},
        ["LEDGER_MISSING", "missing:bus_events.jsonl", "missing:session_slots_seeded",
         "missing:state_trace.jsonl"],
    ),
    "codes once each, sorted, then what is missing": (
        {"events": _FAULTY, "flow": None},
        ["BASELINE_MISSING", "CONFLICTING_ATTRIBUTION", "EVENTS_MISSING", "MALFORMED_EVENT",
         "missing:flow.json", "missing:session_slots_seeded"],
    ),
    "a finding of another owner": (
        {"live": [{"speaker": "caller", "text": "a", "start_ms": 20, "end_ms": 30}],
         "timed": [{"speaker": "caller", "text": "b", "start_ms": 20, "end_ms": 30}]},
        [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPLETENESS)
def test_completeness(tmp_path: Path, name: str) -> None:
    files, reasons = COMPLETENESS[name]
    found = artifact(open_call(_folder(tmp_path, **files)))
    assert found["completeness_reasons"] == reasons
    assert found["completeness"] == ("incomplete" if reasons else "complete")


def _sources(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["artifact"]: one for one in found["sources"]}


def test_sources_say_what_became_of_every_named_file(tmp_path: Path) -> None:
    folder = _folder(
        tmp_path,
        durable=[*start(), "{broken"],
        trace=[{"row": 0, "node": "menu", "seq": 4, "type": "suppressed"}],
        timeline={"playback_spans": [{"playback_id": "p", "start_ms": 0, "end_ms": 1}]},
        files={
            "audio/agent.wav": wav(0.1),
            "audio/other.wav": wav(0.1),
            "transcripts/live.jsonl.gz": b"no gzip",
            "notes.txt": "not named",
        },
    )
    (folder / "tool_fixtures.jsonl").symlink_to("/dev/null")
    sources = _sources(artifact(open_call(folder)))
    expected = {
        "audio/agent.wav": "read", "audio/manifest.json": "missing", "audio/other.wav": "unused",
        "bus_events.jsonl": "read", "flow.json": "read", "manifest.json": "read",
        "state_audio_timeline.json": "read", "state_trace.jsonl": "read", "tool_fixtures.jsonl": "refused",
        "trace.jsonl": "read", "transcripts/live.jsonl.gz": "unreadable",
        "transcripts/timed.jsonl": "missing", "turns.jsonl": "missing",
    }  # fmt: skip
    assert {name: one["status"] for name, one in sources.items()} == expected
    assert list(sources) == sorted(sources)
    assert (sources["state_trace.jsonl"]["rows"], sources["state_trace.jsonl"]["malformed"]) == (3, 1)
    for name, one in sources.items():
        assert (one["reason"] is None) == (one["status"] == "read")
        if one["status"] == "read":
            assert one["sha256"] == sha256((folder / name).read_bytes())


def test_spans_of_a_call_with_audio_rows_are_unused(tmp_path: Path) -> None:
    rows = start(row(4, "audio_started", 10, playback_id="p"))
    folder = _folder(tmp_path, events=rows, timeline={"playback_spans": []})
    assert _sources(artifact(open_call(folder)))["state_audio_timeline.json"]["status"] == "unused"


def test_a_file_name_that_is_no_utf8_does_not_stop_the_artifact(tmp_path: Path) -> None:
    folder = _folder(tmp_path, files={"audio/agent.wav": wav(0.1)})
    try:
        (folder / "audio" / "x\udcff.wav").write_bytes(wav(0.1))
    except (OSError, UnicodeEncodeError):
        pytest.skip("this file system takes no such name")
    assert _sources(artifact(open_call(folder)))["audio/x\ufffd.wav"]["status"] == "unused"


def test_no_negative_zero_stands_in_the_artifact(tmp_path: Path) -> None:
    rows = [
        started(1, clock_ms=-0.0),
        seeded(2, {"a": -0.0}),
        entered(3, "menu"),
        row(4, "slot_write", slot="b", old=None, new={"k": [-0.0, -0.05]}, kind="direct", writer="w"),
        row(5, "note", text="-0.0"),
    ]
    call = open_call(write_call(tmp_path, events=rows, flow=flow(), manifest=manifest()))
    whole = artifact_bytes(call)
    assert whole == canonical(json.loads(whole))
    assert whole.count(b"-0.0") == 2
    assert b'{"k":[0.0,-0.05]}' in whole
