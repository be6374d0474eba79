"""The HTTP API: the same bytes as everywhere, and nobody else's (contract 3.5)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings

from engine.hydrate.call import Call
from engine.hydrate.pipeline import open_call
from engine.model.errors import EngineError
from engine.service.dispatcher import answer
from engine.service.http.app import Limits, create_app
from engine.service.http.guard import App
from engine.service.http.serve import listening, token_from
from engine.service.http.sessions import IDLE_SECONDS, Sessions
from engine.service.http.status import STATUS
from engine.service.library import Folder, Opened
from engine.workspace.store import Store
from tests.service.asked import SAMPLES, request
from tests.service.test_every_action import BAD, GOOD, OF_CALLS

TOKEN = "t" * 43
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
SESSION = "v3:pm-0001"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return Folder(Store(SAMPLES, tmp_path_factory.mktemp("index") / "calls.sqlite"))


@pytest.fixture(scope="module")
def app(library: Folder) -> App:
    return create_app(library, TOKEN)


def send(
    app: App, method: str, path: str, /, headers: dict[str, str] | None = None, **more: Any
) -> httpx.Response:
    """One request, without a network."""

    async def go() -> httpx.Response:
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as client:
            return await client.request(method, path, headers=HEADERS if headers is None else headers, **more)

    return asyncio.run(go())


def command(app: App, body: bytes, **headers: str) -> httpx.Response:
    return send(app, "POST", "/v1/commands", headers=HEADERS | headers, content=body)


CASES = [(action, cursor, args) for action, cursor, args in GOOD]
CASES += [(action, cursor, args) for action, cursor, args, _, _ in BAD]
CASES += [(action, None, args) for action, args in OF_CALLS]


@pytest.mark.parametrize(("action", "cursor", "args"), CASES)
def test_one_request_has_the_same_bytes_as_in_this_process(
    app: App, library: Folder, action: str, cursor: Any, args: dict[str, Any]
) -> None:
    body = json.dumps(request(action, SESSION, cursor, **args)).encode()
    told = answer(body, library)
    response = command(app, body)
    assert response.content == told.document
    assert (response.status_code == 200) is (told.error is None)


@pytest.mark.parametrize(
    ("path", "action", "session_id", "args"),
    [
        (f"/api/debug/state_trace?session_id={SESSION}&limit=2", "state_trace", SESSION, {"limit": 2}),
        ("/api/sessions?limit=1&after=1", "list_calls", None, {"limit": 1, "after": "1"}),
        ("/api/sessions?kind=none", "list_calls", None, {"kind": "none"}),
    ],
)
def test_the_other_paths_are_requests_too(
    app: App, library: Folder, path: str, action: str, session_id: str | None, args: dict[str, Any]
) -> None:
    body = json.dumps(request(action, session_id, **args)).encode()
    assert send(app, "GET", path).content == answer(body, library).document


@pytest.mark.parametrize(
    ("method", "path", "status", "argument"),
    [
        ("GET", "/", 404, "path"),
        ("GET", "/v1/commands", 405, "method"),
        ("GET", "/api/debug/state_trace", 400, "parameter"),
        ("GET", "/api/sessions?limit=many", 400, "limit"),
    ],
)
def test_what_there_is_not(app: App, method: str, path: str, status: int, argument: str) -> None:
    response = send(app, method, path)
    assert response.status_code == status
    assert response.json()["error"]["details"]["argument"] == argument
    assert not [name for name in response.headers if name.startswith("access-control")]


@pytest.mark.parametrize("path", ["/openapi.json", "/v1/commands", "/api/sessions", "/nowhere"])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": TOKEN},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": "Bearer \xff"},
        HEADERS | {"Host": "evil.example"},
        HEADERS | {"Host": "127.0.0.1.evil.example:8765"},
        HEADERS | {"Host": "localhost:80:80"},
    ],
)
def test_without_the_token_at_the_right_host_nothing_is_told(
    app: App, path: str, headers: dict[str, str]
) -> None:
    sent = {name: value.encode("latin-1") for name, value in headers.items()}
    response = send(app, "GET", path, headers=sent)  # type: ignore[arg-type]
    assert (response.status_code, response.json()["error"]["code"]) == (401, "UNAUTHORIZED")


@pytest.mark.parametrize("path", ["/schema", "/schema/swagger", "/schema/openapi.json", "/docs", "/"])
def test_there_is_nothing_beside_the_routes(app: App, path: str) -> None:
    response = send(app, "GET", path)
    assert (response.status_code, response.json()["error"]["details"]["argument"]) == (404, "path")


def test_every_status_of_the_table() -> None:
    assert {STATUS[code] for code in STATUS} == {400, 401, 403, 404, 409, 422, 499, 500, 503}


def test_a_session_keeps_breakpoints_under_its_own_token(app: App) -> None:
    one, other = {"Riff-Session": "a" * 16}, {"Riff-Session": "b" * 16}
    setting = json.dumps(request("set_breakpoint", SESSION, on="slot:_route")).encode()
    going = json.dumps(request("continue", SESSION)).encode()
    assert command(app, setting, **one).status_code == 200
    assert command(app, going, **one).json()["cursor"]["event_id"] == "bus:21"
    for headers in (other, {}):
        assert command(app, going, **headers).json()["result"]["at"] == "end"
    assert command(app, going, **{"Riff-Session": "short"}).status_code == 400


def test_commands_of_one_session_take_turns(app: App) -> None:
    token = {"Riff-Session": "c" * 16}
    seqs = [12, 13, 14, 15, 16, 17, 18, 19]

    async def all_at_once() -> None:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            bodies = [
                json.dumps(request("set_breakpoint", SESSION, on=f"time:{seq}")).encode() for seq in seqs
            ]
            sent = [client.post("/v1/commands", content=one, headers=HEADERS | token) for one in bodies]
            await asyncio.gather(*sent)

    asyncio.run(all_at_once())
    told = command(app, json.dumps(request("list_breakpoints", SESSION)).encode(), **token).json()
    assert sorted(one["on"] for one in told["result"]["breakpoints"]) == [f"time:{seq}" for seq in seqs]


def test_a_session_ends_when_it_is_idle() -> None:
    now = [0.0]
    sessions = Sessions(lambda: now[0])
    kept = sessions.get("a" * 16)
    sessions.put("a" * 16, kept)
    now[0] = IDLE_SECONDS
    assert sessions.get("a" * 16) is kept
    now[0] += 1
    assert sessions.get("a" * 16) is not kept


def test_a_body_that_is_too_long_or_too_slow_is_cut(app: App, library: Folder) -> None:
    response = command(app, b"x" * (1024 * 1024 + 1))
    assert (response.status_code, response.json()["error"]["details"]["limit"]) == (413, "body_bytes")
    hasty = create_app(library, TOKEN, Limits(body_seconds=0.05))

    async def endless() -> Any:
        while True:
            yield b" "
            await asyncio.sleep(0.01)

    response = send(hasty, "POST", "/v1/commands", content=endless())
    assert (response.status_code, response.json()["error"]["details"]["limit"]) == (429, "body_seconds")


def test_a_request_that_takes_too_long_is_cancelled(library: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    def slow(body: bytes, calls: Any, session: Any, cancelled: Any) -> Any:
        while not cancelled():
            time.sleep(0.005)
        asked.append(True)
        return answer(body, calls)

    monkeypatch.setattr("engine.service.http.app.answer", slow)
    hasty = create_app(library, TOKEN, Limits(wall_seconds=0.05))
    response = command(hasty, b"{}")
    assert (response.status_code, response.json()["error"]["details"]["limit"]) == (429, "wall_seconds")
    for _ in range(200):
        if asked:
            break
        time.sleep(0.01)
    assert asked == [True]


def test_a_bug_is_logged_and_not_told(
    library: Folder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> Any:
        raise ValueError("inner secret")

    monkeypatch.setattr("engine.service.http.app.answer", broken)
    response = command(create_app(library, TOKEN), b"{}")
    assert (response.status_code, response.json()["error"]["code"]) == (500, "INTERNAL")
    assert "secret" not in response.text
    assert "inner secret" in caplog.text


def test_an_answer_that_nobody_waits_for_keeps_its_place() -> None:
    """Ten requests that take too long are never more than two at a time."""
    going, most = 0, 0
    lock = threading.Lock()

    class Slow(Opened):
        def call(self, session_id: str | None) -> Call:
            nonlocal going, most
            with lock:
                going += 1
                most = max(most, going)
            time.sleep(0.3)
            with lock:
                going -= 1
            return super().call(session_id)

    library = Slow(open_call(SAMPLES / "property-menu"))
    slow = create_app(library, TOKEN, limits=Limits(wall_seconds=0.02, at_once=2))
    body = json.dumps(request("open", SESSION)).encode()

    async def one_after_the_other() -> list[int]:
        transport = httpx.ASGITransport(app=slow)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            sent = [await client.post("/v1/commands", content=body, headers=HEADERS) for _ in range(10)]
            await asyncio.sleep(0.5)
            return [one.status_code for one in sent]

    assert set(asyncio.run(one_after_the_other())) == {429}
    assert most == 2


def test_a_hundred_clients_get_right_answers(app: App, library: Folder) -> None:
    bodies = [
        json.dumps(request(action, SESSION, {"event_id": f"bus:{seq}"})).encode()
        for seq in range(12, 37)
        for action in ("inspect_variables", "inspect_edges", "step_into", "step_back")
    ]
    wanted = [answer(body, library).document for body in bodies]

    async def all_at_once() -> list[bytes]:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            sent = [client.post("/v1/commands", content=body, headers=HEADERS) for body in bodies]
            return [one.content for one in await asyncio.gather(*sent)]

    assert asyncio.run(all_at_once()) == wanted


def test_requests_made_from_the_schema_are_answered(app: App) -> None:
    schema = schemathesis.openapi.from_dict(send(app, "GET", "/openapi.json").json())
    schema.app = app
    statuses = set()

    @settings(max_examples=60, database=None, suppress_health_check=list(HealthCheck))
    @given(case=schema.as_strategy())
    def each(case: Any) -> None:
        statuses.add(case.call(headers=HEADERS).status_code)

    each()
    assert statuses
    assert not [status for status in statuses if status >= 500]


# The server itself.


@contextmanager
def serving(
    where: Path, *words: str, program: tuple[str, ...] = ("-m", "engine.service.cli")
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running server, and what it says of its address; its token lies in a folder of the test."""
    process = subprocess.Popen(
        [sys.executable, *program, "--calls", str(SAMPLES), "serve",
         "--token-file", str(where / "token"), *words],
        stderr=subprocess.PIPE, text=True, env=os.environ | {"XDG_CACHE_HOME": str(where)},
    )  # fmt: skip
    assert process.stderr is not None
    try:
        yield process, process.stderr.readline().split()[0]
    finally:
        process.terminate()
        assert process.wait(10) in (0, -15)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, str]]:
    """A running server: its port and its token."""
    where = tmp_path_factory.mktemp("server")
    with serving(where, "--port", "0") as (_, address):
        yield int(address.rpartition(":")[2]), (where / "token").read_text().strip()


HASTY = (
    "import engine.service.http.serve as s; s.HEADER_SECONDS = 0.3\n"
    "from engine.service.cli import main; main()"
)


def test_a_connection_that_says_no_more_is_closed(tmp_path: Path) -> None:
    """Also one that was answered before, and sends another head by halves."""
    with (
        serving(tmp_path, "--port", "0", program=("-c", HASTY)) as (_, address),
        socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])), timeout=10) as one,
    ):
        one.sendall(b"GET /api/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert b" 401 " in one.recv(4096)
        one.sendall(b"GET /x HT")
        while one.recv(4096):
            pass


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc to see another's memory")
def test_memory_does_not_grow_with_a_hundred_clients(tmp_path: Path, library: Folder) -> None:
    """Each wave asks a hundred times at once for a long page; a wave more costs next to nothing."""
    body = json.dumps(request("list_events", SESSION, limit=500)).encode()
    wanted = answer(body, library).document
    with serving(tmp_path, "--port", "0") as (process, address):
        token = (tmp_path / "token").read_text().strip()

        async def wave() -> None:
            limits = httpx.Limits(max_connections=100)
            async with httpx.AsyncClient(base_url=address, limits=limits, timeout=60) as client:
                headers = {"Authorization": f"Bearer {token}"}
                sent = [client.post("/v1/commands", content=body, headers=headers) for _ in range(100)]
                assert {one.content for one in await asyncio.gather(*sent)} == {wanted}

        asyncio.run(wave())
        before = peak_memory(process.pid)
        for _ in range(3):
            asyncio.run(wave())
        assert peak_memory(process.pid) - before < 100 * len(wanted)


def peak_memory(pid: int) -> int:
    """Most bytes that a process has had in memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    return 1024 * int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


def fetch(server: tuple[int, str], path: str) -> httpx.Response:
    port, token = server
    return httpx.get(f"http://127.0.0.1:{port}{path}", headers={"Authorization": f"Bearer {token}"})


def test_it_listens_on_the_loopback_interface(server: tuple[int, str]) -> None:
    port, token = server
    response = httpx.get(
        f"http://127.0.0.1:{port}/api/sessions", headers={"Authorization": f"Bearer {token}"}
    )
    assert response.json()["page"]["total"] == 3
    assert not {"server", "date"} & set(response.headers)


def test_clients_that_say_nothing_do_not_keep_others_out(server: tuple[int, str]) -> None:
    silent = [socket.create_connection(("127.0.0.1", server[0])) for _ in range(50)]
    for one in silent:
        one.sendall(b"POST /v1/commands HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
    assert fetch(server, "/openapi.json").status_code == 200
    for one in silent:
        one.close()


@pytest.mark.parametrize(
    "sent", [b"\0\xff\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/9.9\r\nHost: a\r\n\r\n"]
)
def test_what_is_no_http_is_refused(server: tuple[int, str], sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server[0]), timeout=5) as one:
        one.sendall(sent)
        assert one.recv(4096).split()[1] in (b"400", b"401", b"505")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_on_a_signal_and_leaves_no_socket(tmp_path: Path, number: int) -> None:
    path = tmp_path / "socket"
    with serving(tmp_path, "--socket", str(path)) as (process, address):
        assert address == f"unix:{path}"
        transport = httpx.HTTPTransport(uds=str(path))
        token = (tmp_path / "token").read_text().strip()
        with httpx.Client(transport=transport, headers={"Authorization": f"Bearer {token}"}) as client:
            assert client.get("http://localhost/api/sessions").json()["page"]["total"] == 3
        process.send_signal(number)
        assert process.wait(10) == 0
        assert not path.exists()


def test_a_token_file_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "new" / "token"
    token = token_from(path)
    assert len(token) >= 43
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert token_from(path) == token
    path.chmod(0o644)
    with pytest.raises(EngineError, match="others may read it"):
        token_from(path)
    path.write_text("short")
    path.chmod(0o600)
    with pytest.raises(EngineError, match="at least 43 characters"):
        token_from(path)
    with pytest.raises(EngineError, match="token file"):
        token_from(path / "below")


def test_a_port_or_path_that_is_taken_is_a_typed_error(tmp_path: Path) -> None:
    with listening(0, None) as bound:
        bound.listen()
        with pytest.raises(EngineError) as refused:
            listening(bound.getsockname()[1], None)
    assert refused.value.details == {"argument": "port"}
    path = tmp_path / "socket"
    with listening(0, path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with pytest.raises(EngineError):
            listening(0, path)
