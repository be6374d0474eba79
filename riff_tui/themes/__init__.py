"""The looks of the app: what a role is in the dark, the light and the terminal's own colours.

The layout and the roles stand in riff.tcss; a theme only fills in the variables that it names.
"""

from __future__ import annotations

from collections.abc import Mapping

from textual.theme import BUILTIN_THEMES, Theme

_DARK = {
    "dim": "#858d99",
    "strong": "#eceff4",
    "good": "#93c07f",
    "bad": "#ee7b72",
    "warn": "#dfb263",
    "sim": "#bb97e6",
    "accent": "#86b9f2",
    "rule": "#343a44",
    "select": "#2b3546",
    "time": "#1f2733",
    "badge": "#262b34",
}
_LIGHT = {
    "dim": "#69717c",
    "strong": "#14171c",
    "good": "#38762a",
    "bad": "#b3261e",
    "warn": "#855600",
    "sim": "#6b3fa0",
    "accent": "#1d5ca6",
    "rule": "#d2cec4",
    "select": "#d9e4f4",
    "time": "#ebeef3",
    "badge": "#e7e4dc",
}
_TERMINAL = {
    "dim": "ansi_default",
    "strong": "ansi_default",
    "good": "ansi_green",
    "bad": "ansi_red",
    "warn": "ansi_yellow",
    "sim": "ansi_magenta",
    "accent": "ansi_cyan",
    "rule": "ansi_default",
    "select": "ansi_default",
    "time": "ansi_default",
    "badge": "ansi_default",
}


def _variables(colours: dict[str, str], **styles: str) -> dict[str, str]:
    named = {f"riff-{role}": colour for role, colour in colours.items()}
    looks = {"dim": "none", "select": "none", "badge": "none", "rule": "none"} | styles
    return named | {f"riff-{role}-style": style for role, style in looks.items()}


DARK = Theme(
    name="riff-dark",
    primary="#86b9f2",
    background="#15181d",
    surface="#1b1f26",
    panel="#1b1f26",
    foreground="#c8ced8",
    dark=True,
    variables=_variables(_DARK),
)
LIGHT = Theme(
    name="riff-light",
    primary="#1d5ca6",
    background="#fbfaf7",
    surface="#f1efe9",
    panel="#f1efe9",
    foreground="#2d3138",
    dark=False,
    variables=_variables(_LIGHT),
)
TERMINAL = Theme(
    name="riff-terminal",
    ansi=True,
    primary="ansi_blue",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    dark=True,
    variables=BUILTIN_THEMES["ansi-dark"].variables
    | _variables(_TERMINAL, dim="dim", select="reverse", badge="reverse", rule="dim"),
)
THEMES = {"dark": DARK, "light": LIGHT, "terminal": TERMINAL}
"""Themes by the name that RIFF_THEME takes."""


def choose(environment: Mapping[str, str]) -> Theme:
    """The theme to start with.

    RIFF_THEME decides. Without it: the terminal's own colours where there are 16 of them, over SSH (they are
    shorter to send) and with NO_COLOR (they speak by weight); else dark.
    """
    wanted = environment.get("RIFF_THEME", "")
    if wanted in THEMES:
        return THEMES[wanted]
    if "NO_COLOR" in environment or "SSH_CONNECTION" in environment or not _many_colours(environment):
        return TERMINAL
    return DARK


def _many_colours(environment: Mapping[str, str]) -> bool:
    """Whether the terminal says that it shows at least 256 colours."""
    words = (environment.get("COLORTERM", ""), environment.get("TERM", ""))
    return words[0] in ("truecolor", "24bit") or any(mark in words[1] for mark in ("256", "direct", "kitty"))
