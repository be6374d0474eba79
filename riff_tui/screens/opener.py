"""Opens the call behind the first frame, builds the conversation after it, and watches the folder."""

from __future__ import annotations

import threading

from engine.model.errors import EngineError
from riff_tui.messages import Failed, Heard, Loading, Opened, Seen
from riff_tui.opening import Opening, Request
from riff_tui.screens.motions import Motions
from riff_tui.viewstate import ViewState, with_fields

LOOKS_EVERY = 3.0
"""Seconds between two looks at whether the call is still where it was."""


class Opener(Motions):
    """The part of the debugger that waits for things. Work runs in threads and comes back as messages."""

    def __init__(self, request: Request) -> None:
        super().__init__(ViewState(title=request.path.name or str(request.path)))
        self.request = request
        self._opening = Opening(request)
        self.stopped = threading.Event()
        self._looks = False

    def on_mount(self) -> None:
        """Paint the empty frame first; hydration starts behind it."""
        self.call_after_refresh(self._start)
        self.set_interval(LOOKS_EVERY, self._look_at_folder)

    def on_unmount(self) -> None:
        """Stop hydration: the process waits for its threads."""
        self.stopped.set()

    def _start(self) -> None:
        self.run_worker(self._open, thread=True, exclusive=True, group="open", exit_on_error=False)

    def _open(self) -> None:
        """Runs in a thread: whatever happens comes back as a message."""
        try:
            view = self._opening.view(self.view, self._progress, self.stopped.is_set)
        except EngineError as error:
            self.post_message(Failed(error.code, error.message))
        except OSError as error:
            self.post_message(Failed("UNREADABLE", str(error)))
        except Exception as error:
            self.post_message(Failed("INTERNAL", f"{type(error).__name__}: {error}"))
        else:
            self.post_message(Opened(view))
            self._hear(view)
            if not self.stopped.is_set():
                self._opening.keep()

    def _hear(self, view: ViewState) -> None:
        """Build the conversation lane; in a long call the other panes work meanwhile."""
        trouble = ""
        try:
            self._opening.hear(view)
        except EngineError as error:
            trouble = f"{error.code}: {error.message}"
        except Exception as error:
            trouble = f"{type(error).__name__}: {error}"
        self.post_message(Heard(trouble))

    def _progress(self, stage: str, share: float) -> None:
        if not self.stopped.is_set():
            self.post_message(Loading(stage, share))

    def on_loading(self, message: Loading) -> None:
        """Say how far hydration is; a stage that starts anew does not turn the share back."""
        if self.view.phase == "loading":
            shares = [share for share in (self.view.loaded[1], message.share) if share is not None]
            self.view = with_fields(self.view, loaded=(message.stage, max(shares, default=None)))
            self.show_bars()

    def on_opened(self, message: Opened) -> None:
        """Show the call."""
        self.set_view(with_fields(message.view, narrow=self.view.narrow, size=self.view.size), follow=True)

    def on_heard(self, message: Heard) -> None:
        """Show the conversation."""
        talk = "failed" if message.trouble else "ready"
        self.view = with_fields(self.view, talk=talk, talk_trouble=message.trouble)
        self.pane("conversation").follows = True
        self.ask_again(follow=self._asking)

    def on_failed(self, message: Failed) -> None:
        """Say why there is no call; quitting then reports it on stderr."""
        self.set_view(with_fields(self.view, phase="failed", trouble=(message.code, message.message)))

    def cancel_opening(self) -> None:
        """Stop hydration at its next look."""
        self.stopped.set()
        self.view = with_fields(self.view, loaded=("cancelling…", self.view.loaded[1]))
        self.show_bars()

    def _look_at_folder(self) -> None:
        """In a thread: a share that hangs must not hang the keys."""
        if not self._looks:
            self._looks = True
            self.run_worker(self._look, thread=True, group="look", exit_on_error=False)

    def _look(self) -> None:
        gone = not self.request.path.exists()
        self._looks = False
        if gone != self.view.gone:
            self.post_message(Seen(gone))

    def on_seen(self, message: Seen) -> None:
        """The call is gone from where it was, or it is back: the status line says it."""
        self.view = with_fields(self.view, gone=message.gone)
        self.show_bars()
