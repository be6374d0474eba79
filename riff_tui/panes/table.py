"""The table of panes: name to function. Imported when a call is open, with all that it asks of the engine."""

from __future__ import annotations

from collections.abc import Callable

from riff_tui.content import Content
from riff_tui.panes import call, conversation, edges, events, findings, variables
from riff_tui.viewstate import ViewState

PaneFunction = Callable[[ViewState, int], Content]
"""A pane's rows for a view, at a width."""

CONTENTS: dict[str, PaneFunction] = {
    "events": lambda view, width: events.content(view),
    "variables": lambda view, width: variables.content(view),
    "edges": lambda view, width: edges.content(view),
    "conversation": conversation.content,
    "findings": lambda view, width: findings.content(view),
    "call": call.content,
}
