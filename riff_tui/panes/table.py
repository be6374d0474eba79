"""The table of panes: name to function. Imported when a call is open, with all that it asks of the engine."""

from __future__ import annotations

from collections.abc import Callable

from riff_tui.content import Content
from riff_tui.panes import call, conversation, edges, events, findings, variables
from riff_tui.viewstate import ViewState

PaneFunction = Callable[[ViewState, int, int], Content]
"""A pane's rows for a view, a width, and a number of rows that can be seen."""

CONTENTS: dict[str, PaneFunction] = {
    "events": lambda view, width, rows: events.content(view),
    "variables": lambda view, width, rows: variables.content(view),
    "edges": lambda view, width, rows: edges.content(view, width),
    "conversation": lambda view, width, rows: conversation.content(view, width),
    "findings": lambda view, width, rows: findings.content(view),
    "call": call.content,
}
