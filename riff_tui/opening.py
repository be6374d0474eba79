"""Opens a call beside the app: in a thread, with progress, and cancelled on request."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from engine.model.errors import EngineError
from engine.model.views import Cursor
from riff_tui.viewstate import ViewState, with_fields

if TYPE_CHECKING:
    from engine.hydrate.call import Call
    from engine.workspace.columncache import ColumnCache


class Request(NamedTuple):
    """What to open, and where to stand first.

    Attributes:
        where: How `place` names the first moment; None stands at the first divergence.
        verify: Hash the files again, whatever is kept of the call.
    """

    path: Path
    session: str | None = None
    reveal: bool = False
    where: Literal["at", "visit", "time", "finding"] | None = None
    place: str = ""
    verify: bool = False


class Opening:
    """Opens what a request names. Each step takes its while, and runs in a worker thread."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self._cache: ColumnCache | None = None

    def view(
        self, view: ViewState, progress: Callable[[str, float], None], cancelled: Callable[[], bool]
    ) -> ViewState:
        """Open the call and ask for its first view.

        Raises:
            EngineError: The call can't be opened, or `cancelled` said so.
        """
        from engine.workspace.columncache import ColumnCache
        from riff_tui import asking
        from riff_tui.panes import table  # noqa: F401  # imported here, so that the app need not wait for it

        request = self.request
        self._cache = ColumnCache(verify=request.verify)
        call = self._cache.open(
            request.path,
            session=request.session,
            reveal=request.reveal,
            progress=progress,
            cancelled=cancelled,
        )
        view = with_fields(view, revealed=request.reveal)
        try:
            cursor = first_cursor(request, call)
        except EngineError as error:
            cursor = opening(call)
            view = with_fields(view, notice=(f"{error.code}: {error.message}", "bad"))
        return asking.first_view(view, call, cursor)

    def hear(self, view: ViewState) -> None:
        """Build the conversation lane of the call."""
        from riff_tui import asking

        asking.hear(view.call)

    def keep(self) -> None:
        """Keep what was hydrated for the next time, where that is worth it."""
        if self._cache is not None:
            self._cache.keep_waiting()


def first_cursor(request: Request, call: Call) -> Cursor:
    """The cursor that a request names.

    Raises:
        EngineError: There is none of that name.
    """
    from riff_tui import client

    match request.where:
        case "at":
            return client.seek(call, event_id=request.place)
        case "visit":
            return client.seek(call, visit_id=request.place)
        case "time":
            return client.seek(call, time_ms=float(request.place))
        case "finding":
            return client.seek(call, finding_id=request.place)
    return opening(call)


def opening(call: Call) -> Cursor:
    """Where a call opens: its first divergence (contract 7.1), else the start."""
    from riff_tui import client, pages

    first = pages.of(call).opened.summary.first_divergence
    return client.seek(call, start=True) if first is None else client.seek(call, finding_id=first)
