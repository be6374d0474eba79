"""Gate 13 of the paper of 2026-07-10: app, CLI and API give the same projection and hash (contract 3.5)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from engine.canonical import canonical
from engine.model.commands import Request, Response
from engine.service.http.app import create_app
from engine.service.library import Folder
from engine.workspace.store import Store
from riff_tui import client
from tests.riff_tui.driving import SAMPLES, opened
from tests.service.asked import shell

WALK = (
    *("s", "i", "n", "3", "s", "o", "O", "f", "F", "N", "I", "G", "g", "w", "e", "E"),
    *("c", "H", "L", "colon", "2", "s", "enter"),
    *("1", "enter", "escape", "b", "2", "enter", "escape", "3", "4", "enter", "escape", "5", "6"),
)
"""Motions both ways, counts, a look at a visit, a place that was typed, a breakpoint, and every pane."""
ASKED = {
    *("open", "list_visits", "list_events", "list_conversation", "list_findings"),
    *("inspect_event", "inspect_conversation", "set_breakpoint"),
    *("seek", "step_into", "step_back", "step_over", "step_out", "reverse_out"),
}


@pytest.mark.parametrize("name", ["property-menu", "legacy-ring"])
async def test_gate_13_app_cli_and_api_give_the_same_projection_and_hash(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told: list[tuple[Request, Response]] = []
    send = client.send

    def listen(request: Request, *rest: Any) -> Response:
        told.append((request, send(request, *rest)))
        return told[-1][1]

    monkeypatch.setattr(client, "send", listen)
    async with opened(name) as pilot:
        for key in WALK:
            await pilot.press(key)
            await pilot.pause()
    actions = {request.action for request, _ in told}
    assert actions >= ASKED
    bodies = [canonical(msgspec.to_builtins(request)) for request, _ in told]
    shown = [canonical(msgspec.to_builtins(response)) for _, response in told]
    assert all(response.determinism_hash for _, response in told)
    status, out = shell("do", str(SAMPLES / name), "--jsonl", given=b"\n".join(bodies))
    assert (status, out.splitlines()) == (0, shown)
    if told[0][0].session_id is not None:  # the API asks for calls by session
        assert [one async for one in over_http(bodies, tmp_path)] == shown


async def over_http(bodies: list[bytes], index: Path) -> AsyncIterator[bytes]:
    """The answers of the HTTP API, without a network."""
    transport = httpx.ASGITransport(app=create_app(Folder(Store(SAMPLES, index / "calls.sqlite")), "t" * 43))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as api:
        for body in bodies:
            headers = {"Authorization": f"Bearer {'t' * 43}"}
            yield (await api.post("/v1/commands", content=body, headers=headers)).content
