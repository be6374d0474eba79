"""A pytest plugin that gives every run the same environment.

It is loaded by `-p` in pyproject.toml, so before the other plugins: the snapshot plugin imports Textual, and
Textual reads TEXTUAL_THEME and its like once, at import.
"""

import os

PASSED_ON = {"TEXTUAL_SNAPSHOT_TEMPDIR", "TEXTUAL_SNAPSHOT_FILE_OPEN_PREFIX"}
"""What the snapshot plugin itself hands from one process to the next, or reads."""

COLOUR_AND_SIZE = {
    *("CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "FORCE_COLOR", "NO_COLOR"),
    *("COLUMNS", "JUPYTER_COLUMNS", "JUPYTER_LINES", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE"),
    *("ESCDELAY", "LANG", "LANGUAGE", "TERM_PROGRAM", "TMUX"),
}
"""What Rich, Textual or click would take from the developer's terminal."""


def make_deterministic() -> None:
    """Drop what would change a picture or a text, and name one terminal, locale and time zone."""
    for name in list(os.environ):
        textual = name.startswith("TEXTUAL") and name not in PASSED_ON
        if textual or name in COLOUR_AND_SIZE or name.startswith(("LC_", "RIFF_")):
            del os.environ[name]
    os.environ.update(LC_ALL="C.UTF-8", TERM="xterm-256color", TZ="UTC")


make_deterministic()
