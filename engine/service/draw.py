"""Answers drawn for people on a terminal, with Rich. Text of the call is escaped: it commands no terminal."""

from __future__ import annotations

from typing import Any

import msgspec
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from engine.debug.text import escape

_WIDEST = 400
"""Characters of one value."""


def draw(document: bytes) -> None:
    """Print a response: where it stands, what changed, and its result."""
    response = msgspec.json.decode(document)
    console = Console(highlight=False)
    console.print(_heading(response))
    for name in ("result", "variable_delta", "projection"):
        if response[name] not in ([], {}, None):
            console.print(_titled(name, response[name]))
    page = response["page"]
    if page["next"] is not None:
        words = f"more: --arg after={page['next']} ({page['total']} in all)"
        console.print(Text(words, style="dim"))


def _heading(response: dict[str, Any]) -> Text:
    cursor = response["cursor"] or {}
    words = [response["action"], response["session_id"], cursor.get("visit_id"), cursor.get("event_id")]
    return Text("  ".join(_plain(word) for word in words if word is not None), style="bold")


def _titled(name: str, value: Any) -> RenderableType:
    tree = Tree(Text(name.replace("_", " "), style="bold"))
    tree.add(_drawn(value))
    return tree


def _drawn(value: Any) -> RenderableType:
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return _rows(value)
    if isinstance(value, list):
        return Group(*map(_drawn, value)) if value else Text("none", style="dim")
    if isinstance(value, dict):
        return _members(value)
    return Text(_plain(value))


def _members(value: dict[str, Any]) -> RenderableType:
    if not value:
        return Text("none", style="dim")
    grid = Table.grid(padding=(0, 2))
    for name, item in sorted(value.items(), key=lambda member: (_place(member[0]), member[0])):
        grid.add_row(Text(_plain(name), style="cyan"), _drawn(item))
    return grid


def _rows(rows: list[dict[str, Any]]) -> RenderableType:
    """Rows whose members are plain as a table, others one below the other."""
    if any(isinstance(item, dict | list) and item for row in rows for item in row.values()):
        return Group(*(part for row in rows for part in (_members(row), Text(""))))
    table = Table(box=None, header_style="cyan", padding=(0, 2, 0, 0))
    told = {name for row in rows for name, value in row.items() if value is not None}
    names = sorted(told, key=lambda name: (_place(name), name))
    for name in names:
        table.add_column(Text(_plain(name)), no_wrap=name in _FIRST, overflow="fold")
    for row in rows:
        table.add_row(*(Text(_plain(row.get(name))) for name in names))
    return table


_FIRST = ("event_id", "finding_id", "visit_id", "slot", "edge_id", "clock_ms", "kind", "meaning")
"""Members that name a row, in the order of its columns; the others follow by name."""


def _place(name: str) -> int:
    return _FIRST.index(name) if name in _FIRST else len(_FIRST)


def _plain(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | dict):
        return "none" if not value else "…"
    return escape(str(value), _WIDEST)
