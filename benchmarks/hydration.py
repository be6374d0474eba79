"""One hydration in a fresh process, up to the first screen. `python -m benchmarks.hydration CALL [artifact]`.

The first screen is asked for by the functions that the app itself calls when a call is open, without Textual:
breadcrumb, status, and the rows of every pane around the opening cursor.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

from engine.hydrate.pipeline import open_call

WIDTH, HEIGHT = 80, 24


def first_screen(call: Any, path: Path) -> tuple[int, str]:
    """Ask for everything that the first screen shows; gives its rows and the event it stands at."""
    from engine.debug import cursor
    from riff_tui import asking
    from riff_tui.panes import chrome, conversation, table
    from riff_tui.viewstate import ViewState

    view = asking.first_view(ViewState(title=path.name), call, cursor.opening(call))
    lines = [*chrome.breadcrumb(view, WIDTH), *chrome.status(view, WIDTH), *conversation.spoken(view, WIDTH)]
    for content_of in table.CONTENTS.values():
        content = content_of(view, WIDTH, HEIGHT)
        first = max(0, (content.current or 0) - HEIGHT // 2)
        lines += [content.draw(row, WIDTH) for row in range(first, min(content.count, first + HEIGHT))]
    return len(lines), view.answers.status.event_id or ""


def main(path: Path, artifact: bool) -> None:
    """Hydrate, ask, and print the times as JSON."""
    begin = perf_counter()
    call = open_call(path)
    opened = perf_counter()
    rows, event = first_screen(call, path)
    shown = perf_counter()
    peak = [
        resource.getrusage(who).ru_maxrss * 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ]
    found = {
        "open": opened - begin,
        "screen": shown - opened,
        "rows": rows,
        "event": event,
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
