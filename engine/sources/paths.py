"""Paths that a file or an archive states, as names inside the call; no disk is touched (contract 1.9)."""

from __future__ import annotations

import re

_DRIVE = re.compile(r"[A-Za-z]:")


def resolve(stated: str, folder: str = "") -> str | None:
    """A stated path as a name inside the call, with forward slashes, or None when it leaves the call.

    A backslash separates too, since archives made elsewhere use it and a hostile one would hide behind it.

    Args:
        stated: The path as written.
        folder: The folder inside the call that it is relative to; "" for the call itself.
    """
    text = stated.replace("\\", "/")
    if text.startswith("/") or _DRIVE.match(text):
        return None
    parts = folder.split("/") if folder else []
    for part in text.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
