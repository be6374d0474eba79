"""Every action, good and bad, in this process and through the command line: the same bytes (contract 3.5)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from engine.hydrate.call import Call
from engine.hydrate.pipeline import open_call
from engine.service.dispatcher import answer
from engine.service.library import Folder, Opened
from engine.workspace.store import Store
from tests.service.asked import SAMPLES, ask, request, shell

PATH = SAMPLES / "property-menu"
MENU = {"visit_id": "menu#1"}
WRITE = {"event_id": "bus:21"}
PAIR = {"baseline_visit_id": "menu#1", "candidate_visit_id": "goodbye#1"}
GUARD = "slot_equals:_route:existing_request"

GOOD: list[tuple[str, Any, dict[str, Any]]] = [
    ("open", None, {}),
    ("describe", None, {}),
    ("state_trace", None, {}),
    ("state_trace", None, {"limit": 2, "after": "2"}),
    ("list_visits", None, {}),
    ("list_events", None, {"visit_id": "menu#1", "limit": 500}),
    ("list_events", None, {"kind": "slot_write", "limit": 3}),
    ("list_events", None, {"slot": "_route"}),
    ("list_events", None, {"provenance": "derived", "start_ms": 1000, "end_ms": 8000.5}),
    ("list_events", None, {"unattributed": True}),
    ("list_events", None, {"from_event": "bus:21", "limit": 2}),
    ("list_findings", None, {}),
    ("list_findings", None, {"by": "severity", "limit": 2}),
    ("list_findings", None, {"start_ms": 5000, "end_ms": 7000}),
    ("list_visits", None, {"start_ms": 5800, "end_ms": 9000}),
    ("list_findings", None, {"code": "TRANSCRIPT_DISAGREEMENT", "visit_id": "menu#1"}),
    ("list_conversation", None, {"visit_id": "menu#1"}),
    ("list_conversation", None, {"start_ms": 0, "end_ms": 3000}),
    ("seek", None, {"visit_id": "menu#1"}),
    ("seek", None, {"place": "#21"}),
    ("seek", WRITE, {"place": "4.5s"}),
    ("seek", None, {"event_id": "bus:21"}),
    ("seek", None, {"time_ms": 5000}),
    ("seek", None, {"finding_id": "TRANSCRIPT_DISAGREEMENT"}),
    ("seek", None, {"end": True}),
    ("seek", None, {"next": {"slot": "_route"}}),
    ("seek", WRITE, {"previous": {"kind": "caller_transcript"}}),
    ("seek", WRITE, {"previous": {"finding": True}}),
    ("seek", None, {"next": {"finding": "TRANSCRIPT_DISAGREEMENT"}}),
    ("seek", None, {"next": {"state": "menu"}}),
    ("seek", None, {"turn_index": 1}),
    ("seek", None, {"next": {"turn": True}}),
    ("seek", WRITE, {"previous": {"turn": True}}),
    ("seek", None, {"next": {"meaningful": True}}),
    ("step_into", MENU, {"count": 3, "fields": ["variables", "edges", "beats", "context", "breadcrumb"]}),
    ("step_back", None, {}),
    ("step_over", MENU, {}),
    ("reverse_over", MENU, {"fields": ["conversation_window", "mode"]}),
    ("step_out", MENU, {}),
    ("reverse_out", WRITE, {}),
    ("continue", None, {"breakpoints": [{"on": "slot:_route"}]}),
    (
        "continue",
        None,
        {"breakpoints": [{"on": "guard:slot_equals:_route:existing_request=true"}, {"on": "edge:menu:1"}]},
    ),
    ("reverse_continue", WRITE, {"breakpoints": [{"on": "input"}, {"on": "time:100", "enabled": False}]}),
    ("set_breakpoint", None, {"on": "event:slot_write", "when": "slots._via == 'menu'", "hit_count": 2}),
    ("list_breakpoints", None, {}),
    ("clear_breakpoint", None, {"all": True}),
    ("inspect_variables", WRITE, {}),
    ("inspect_context", MENU, {}),
    ("inspect_edges", WRITE, {}),
    ("inspect_evidence", MENU, {}),
    ("inspect_conversation", MENU, {}),
    ("inspect_event", WRITE, {}),
    ("inspect_slot_history", None, {"slot": "_route"}),
    ("inspect_context_history", None, {"field": "turn_count"}),
    ("why", WRITE, {"slot": "_route"}),
    ("compare_visits", None, PAIR),
    ("compare_calls", None, {"other": "v3:pm-0001"}),
]

OF_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("list_calls", {}),
    ("list_calls", {"limit": 1, "after": "1"}),
    ("list_calls", {"finding": "TRANSCRIPT_DISAGREEMENT", "since": "2026-07-01T00:00:00Z"}),
    ("latest_call", {}),
    ("latest_call", {"flow_id": "property"}),
    ("latest_call", {"kind": "no such kind"}),
    ("list_calls", {"since": "yesterday"}),
    ("list_calls", {"finding": "NOTHING"}),
]

BAD: list[tuple[str, Any, dict[str, Any], str, str | None]] = [
    ("stepinto", None, {}, "UNKNOWN_ACTION", None),
    ("", None, {}, "UNKNOWN_ACTION", None),
    ("step_into", {"visit_id": "menu#9"}, {}, "UNKNOWN_VISIT", None),
    ("step_into", {"event_id": "bus:999"}, {}, "UNKNOWN_EVENT", None),
    ("step_into", {"event_id": "bus:21", "visit_id": "goodbye#1"}, {}, "BAD_ARGUMENT", "cursor.visit_id"),
    ("step_into", {"event_id": "bus:21", "visit_index": 3}, {}, "BAD_ARGUMENT", "cursor.visit_index"),
    ("step_into", {"visit_index": 3}, {}, "BAD_ARGUMENT", "cursor"),
    ("step_into", {"event": "bus:21"}, {}, "BAD_ARGUMENT", "cursor.event"),
    ("step_into", None, {"count": 0}, "BAD_ARGUMENT", "args.count"),
    ("step_into", None, {"count": "3"}, "BAD_ARGUMENT", "args.count"),
    ("step_into", None, {"count": 1.5}, "BAD_ARGUMENT", "args.count"),
    ("step_into", None, {"cuont": 1}, "BAD_ARGUMENT", "args.cuont"),
    ("step_into", None, {"fields": ["everything"]}, "BAD_ARGUMENT", "args.fields[0]"),
    ("step_into", None, {"execution_target": "candidate_flow"}, "BAD_ARGUMENT", "execution_target"),
    ("seek", None, {}, "BAD_ARGUMENT", "args"),
    ("seek", None, {"place": "nowhere"}, "BAD_ARGUMENT", "args.place"),
    ("seek", None, {"place": "menu#9"}, "UNKNOWN_VISIT", None),
    ("list_events", None, {"from_event": "bus:99999"}, "UNKNOWN_EVENT", None),
    ("list_events", None, {"from_event": "bus:21", "unattributed": True}, "UNKNOWN_EVENT", None),
    ("list_events", None, {"from_event": "bus:21", "after": "1"}, "BAD_ARGUMENT", "args.from_event"),
    ("list_findings", None, {"by": "size"}, "BAD_ARGUMENT", "args.by"),
    ("seek", None, {"start": True, "end": True}, "BAD_ARGUMENT", "args"),
    ("seek", None, {"start": False}, "BAD_ARGUMENT", "args.start"),
    ("seek", None, {"next": {}}, "BAD_ARGUMENT", "args.next"),
    ("seek", None, {"next": {"slot": "_rote"}}, "UNKNOWN_SLOT", None),
    ("seek", None, {"next": {"kind": "slot_wrote"}}, "BAD_ARGUMENT", "args.next.kind"),
    ("seek", None, {"previous": {"state": "nowhere"}}, "BAD_ARGUMENT", "args.previous.state"),
    ("seek", None, {"next": {"finding": "NOTHING"}}, "BAD_ARGUMENT", "args.next.finding"),
    ("seek", None, {"start": True, "count": 2}, "BAD_ARGUMENT", "args.count"),
    ("seek", None, {"next": {"meaningful": True}, "count": 0}, "BAD_ARGUMENT", "args.count"),
    ("continue", None, {"breakpoints": [{"on": "slot:_route"}], "count": 0}, "BAD_ARGUMENT", "args.count"),
    ("list_events", None, {"kind": "slot_wrote"}, "BAD_ARGUMENT", "args.kind"),
    ("seek", None, {"finding_id": "NOTHING"}, "UNKNOWN_FINDING", None),
    ("seek", None, {"turn_index": 99}, "UNKNOWN_EVENT", None),
    ("seek", None, {"turn_index": "1"}, "BAD_ARGUMENT", "args.turn_index"),
    ("seek", None, {"next": {"turn": False}}, "BAD_ARGUMENT", "args.next.turn"),
    ("list_events", None, {"limit": 501}, "LIMIT_EXCEEDED", None),
    ("list_events", None, {"limit": 0}, "BAD_ARGUMENT", "args.limit"),
    ("list_events", None, {"after": "x"}, "BAD_ARGUMENT", "args.after"),
    ("list_events", None, {"after": "99999999"}, "BAD_ARGUMENT", "args.after"),
    ("list_events", None, {"slot": "nothing"}, "UNKNOWN_SLOT", None),
    ("list_events", None, {"start_ms": 2, "end_ms": 1}, "BAD_ARGUMENT", "args.end_ms"),
    ("list_findings", None, {"code": "NOTHING"}, "BAD_ARGUMENT", "args.code"),
    ("list_findings", None, {"start_ms": 2, "end_ms": 1}, "BAD_ARGUMENT", "args.end_ms"),
    ("list_visits", None, {"start_ms": 2, "end_ms": 1}, "BAD_ARGUMENT", "args.end_ms"),
    ("list_conversation", None, {"visit_id": "menu#9"}, "UNKNOWN_VISIT", None),
    ("continue", None, {"breakpoints": [{"on": "slot:nothing"}]}, "UNKNOWN_SLOT", "args.breakpoints[0].on"),
    ("continue", None, {"breakpoints": [{"when": "true"}]}, "BAD_ARGUMENT", "args.breakpoints[0].on"),
    ("set_breakpoint", None, {"on": "slot:_route", "when": "slots."}, "BAD_ARGUMENT", "args.when"),
    ("set_breakpoint", None, {"on": "slot:_route", "when": "__import__('os')"}, "BAD_ARGUMENT", "args.when"),
    ("set_breakpoint", None, {"on": "slot:_route", "hit_count": 0}, "BAD_ARGUMENT", "args.hit_count"),
    ("clear_breakpoint", None, {}, "BAD_ARGUMENT", "args.id"),
    ("clear_breakpoint", None, {"id": "bp-0"}, "UNKNOWN_BREAKPOINT", None),
    ("inspect_slot_history", None, {}, "BAD_ARGUMENT", "args.slot"),
    ("inspect_slot_history", None, {"slot": "nothing"}, "UNKNOWN_SLOT", None),
    ("inspect_context_history", None, {"field": "nothing"}, "BAD_ARGUMENT", "args.field"),
    ("why", None, {"slot": "nothing"}, "UNKNOWN_SLOT", None),
    ("compare_visits", None, {"baseline_visit_id": "menu#1"}, "BAD_ARGUMENT", "args.candidate_visit_id"),
    (
        "compare_visits",
        None,
        {"baseline_visit_id": "menu#1", "candidate_visit_id": "x#1"},
        "UNKNOWN_VISIT",
        None,
    ),
    ("export_artifact", None, {}, "BAD_ARGUMENT", "args.path"),
    ("describe", None, {"action": "open"}, "BAD_ARGUMENT", "args.action"),
]


@cache
def call() -> Call:
    return open_call(PATH)


def test_the_table_holds_every_action_that_is_described() -> None:
    described = {one["action"] for one in ask(call(), "describe")["result"]["actions"]}
    assert described == {action for action, _, _ in GOOD} | {action for action, _ in OF_CALLS} | {
        "export_artifact"
    }


@pytest.mark.parametrize(("action", "cursor", "args"), GOOD)
def test_one_request_has_one_answer_everywhere(
    tmp_path: Path, action: str, cursor: Any, args: dict[str, Any]
) -> None:
    body = json.dumps(request(action, call().session_id, cursor, **args)).encode()
    told = answer(body, Opened(call()))
    assert told.error is None
    response = json.loads(told.document)
    assert (response["schema"], response["action"], response["mode"]) == (
        "riff.debug_response/v1", action, "recorded",
    )  # fmt: skip
    (tmp_path / "request.json").write_bytes(body)
    assert shell("do", str(PATH), str(tmp_path / "request.json")) == (0, told.document + b"\n")
    assert shell("do", str(PATH), given=body) == (0, told.document + b"\n")
    assert shell("do", str(PATH), "--jsonl", given=body + b"\n") == (0, told.document + b"\n")
    calls = ("--calls", str(SAMPLES))
    assert shell(*calls, "do", given=body) == (0, told.document + b"\n")
    words = [] if action == "describe" else [str(PATH)]
    for name, option in (("event_id", "--event"), ("visit_id", "--visit")):
        words += [option, cursor[name]] if cursor and name in cursor else []
    words += [word for name, value in args.items() for word in ("--arg", f"{name}={json.dumps(value)}")]
    assert shell(action, *words) == (0, told.document + b"\n")
    if words:
        assert shell(*calls, action, str(call().session_id), *words[1:]) == (0, told.document + b"\n")


@pytest.mark.parametrize(("action", "args"), OF_CALLS)
def test_one_request_about_many_calls_has_one_answer_everywhere(
    tmp_path: Path, action: str, args: dict[str, Any]
) -> None:
    library = Folder(Store(SAMPLES, tmp_path / "calls.sqlite"))
    body = json.dumps(request(action, None, **args)).encode()
    told = answer(body, library)
    status = 0 if told.error is None else 3
    calls = ("--calls", str(SAMPLES))
    assert shell(*calls, "do", given=body) == (status, told.document + b"\n")
    assert shell(*calls, "do", "--jsonl", given=body) == (0, told.document + b"\n")
    words = [word for name, value in args.items() for word in ("--arg", f"{name}={json.dumps(value)}")]
    assert shell(*calls, action, *words) == (status, told.document + b"\n")
    assert shell(*calls, "--verify", action, *words) == (status, told.document + b"\n")


@pytest.mark.parametrize(("action", "cursor", "args", "code", "argument"), BAD)
def test_a_wrong_request_is_refused_with_a_code(
    action: str, cursor: Any, args: dict[str, Any], code: str, argument: str | None
) -> None:
    body = json.dumps(request(action, call().session_id, cursor, **args)).encode()
    told = answer(body, Opened(call()))
    error = json.loads(told.document)["error"]
    assert error["code"] == code
    if argument is not None:
        assert error["details"]["argument"] == argument
    assert shell("do", str(PATH), given=body) == (3, told.document + b"\n")
    assert shell("do", str(PATH), "--jsonl", given=body + b"\n") == (0, told.document + b"\n")


@pytest.mark.parametrize(
    ("body", "code", "argument"),
    [
        (b"", "BAD_ARGUMENT", "request"),
        (b"{", "BAD_ARGUMENT", "request"),
        (b"\xff\xfe", "BAD_ARGUMENT", "request"),
        (b"[]", "BAD_ARGUMENT", "request"),
        (b"[" * 100_000, "BAD_ARGUMENT", "request"),
        (b'{"schema":"riff.debug_command/v2","action":"open"}', "BAD_ARGUMENT", "schema"),
        (b'{"schema":"riff.debug_command/v1"}', "BAD_ARGUMENT", "action"),
        (b'{"schema":"riff.debug_command/v1","action":"open","sesion_id":"x"}', "BAD_ARGUMENT", "sesion_id"),
        (b'{"schema":"riff.debug_command/v1","action":"open","args":[]}', "BAD_ARGUMENT", "args"),
        (b'{"schema":"riff.debug_command/v1","action":"open"}', "BAD_ARGUMENT", "session_id"),
        (b'{"schema":"riff.debug_command/v1","action":"open","session_id":"no"}', "UNKNOWN_SESSION", None),
        (b'{"schema":"riff.debug_command/v1","action":"open","capsule":{}}', "BAD_ARGUMENT", "capsule"),
        (b'{"schema":"riff.debug_command/v1","action":"open","branch":"br-1"}', "UNKNOWN_BRANCH", None),
        (b" " * (1024 * 1024 + 1), "LIMIT_EXCEEDED", None),
    ],
)
def test_what_is_no_request(body: bytes, code: str, argument: str | None) -> None:
    status, document = shell("do", str(PATH), given=body)
    error = json.loads(document)["error"]
    assert (status, error["code"], error["details"].get("argument")) == (3, code, argument)
