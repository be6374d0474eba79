"""One hydration in a fresh process, up to the first screen. `python -m benchmarks.hydration CALL [artifact]`.

The first screen is asked for by the functions that the app itself calls when a call is open, without Textual:
breadcrumb, status, and the rows of every pane around the opening cursor. As in the app, the conversation lane
comes behind it.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

from engine.debug import cursor
from engine.hydrate.pipeline import open_call
from riff_tui import asking
from riff_tui.panes import chrome, conversation, table
from riff_tui.viewstate import ViewState, with_fields

WIDTH, HEIGHT = 80, 24


def first_screen(call: Any, path: Path) -> Any:
    """Ask for everything that the first screen shows; gives the view."""
    view = asking.first_view(ViewState(title=path.name), call, cursor.opening(call))
    chrome.breadcrumb(view, WIDTH)
    chrome.status(view, WIDTH)
    conversation.spoken(view, WIDTH)
    for pane in table.CONTENTS.keys() - {"conversation"}:
        draw(view, pane)
    return view


def draw(view: Any, pane: str) -> int:
    """The rows of a pane around what it stands at."""
    content = table.CONTENTS[pane](view, WIDTH, HEIGHT)
    first = max(0, (content.current or 0) - HEIGHT // 2)
    return len([content.draw(row, WIDTH) for row in range(first, min(content.count, first + HEIGHT))])


def lane(view: Any) -> int:
    """Build the conversation lane and show it; gives the rows drawn."""
    asking.hear(view.call)
    return draw(asking.ask(with_fields(view, talk="ready")), "conversation")


def main(path: Path, artifact: bool) -> None:
    """Hydrate, ask, and print the times as JSON."""
    begin = perf_counter()
    call = open_call(path)
    opened = perf_counter()
    view = first_screen(call, path)
    shown = perf_counter()
    rows = lane(view)
    heard = perf_counter()
    peak = [
        resource.getrusage(who).ru_maxrss * 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ]
    found = {
        "open": opened - begin,
        "screen": shown - opened,
        "lane": heard - shown,
        "lane_rows": rows,
        "event": view.answers.event_id,
        "visits": len(call.visits),
        "findings": len(call.findings),
        "complete": call.completeness,
        "peak": peak,
        "textual": "textual" in sys.modules,
    }
    if artifact:
        from engine.hydrate.document import artifact_chunks

        begin = perf_counter()
        found["artifact_bytes"] = sum(len(chunk) for chunk in artifact_chunks(call))
        found["artifact"] = perf_counter() - begin
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), "artifact" in sys.argv[2:])
