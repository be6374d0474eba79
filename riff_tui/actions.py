"""The one table of actions: bindings, footer, palette, help and docs/keys.md are all made from it.

`python -m riff_tui.actions > docs/keys.md` writes the key card anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

GROUPS = ("Move in time", "Go to", "Look and select", "Breakpoints", "App")
"""Groups of the help screen, in order."""


class Action(NamedTuple):
    """One thing that a key does.

    Attributes:
        name: Stable name, for a configuration of keys.
        keys: Keys that do it, in Textual's names.
        title: Two or three words, for palette and footer.
        help: One line, for the help screen and the key card.
        run: The action string that Textual runs.
        footer: Word in the footer; empty for actions that the footer leaves out.
    """

    name: str
    keys: tuple[str, ...]
    title: str
    help: str
    group: str
    run: str
    footer: str = ""


def _move(name: str, key: str, title: str, back: str, help: str, footer: str = "") -> list[Action]:
    """A motion pair: lower case goes forward, upper case goes back."""
    group = GROUPS[0]
    return [
        Action(name, (key,), title, f"next {help}", group, f"move('{name}', 1)", footer),
        Action(f"{name}-back", (key.upper(),), back, f"previous {help}", group, f"move('{name}', -1)"),
    ]


def _pane(number: int, name: str, shows: str) -> Action:
    return Action(f"pane-{name}", (str(number),), f"{name} pane", shows, GROUPS[2], f"digit({number})", "")


PANES = {"events": "Events", "variables": "Variables", "edges": "Edges"} | {
    "conversation": "Conversation",
    "findings": "Findings",
    "call": "Call",
}
"""Panes by number: name and title."""

ACTIONS: tuple[Action, ...] = (
    *_move("step", "s", "step", "step back", "event that means something", "step"),
    *_move("event", "i", "next event", "previous event", "event, nothing skipped"),
    *_move("visit", "n", "next visit", "previous visit", "visit", "visit"),
    *_move("same", "o", "same state again", "same state before", "visit of the same state"),
    Action("exit", ("f",), "visit exit", "this visit's exit", GROUPS[0], "move('bound', 1)"),
    Action("entry", ("F",), "visit entry", "this visit's entry", GROUPS[0], "move('bound', -1)"),
    Action(
        *("continue", ("c",), "continue", "run to the next breakpoint; Esc interrupts", GROUPS[0]),
        *("run_to(1)", "continue"),
    ),
    Action(
        *(
            "continue-back",
            ("C",),
            "continue back",
            "run to the previous breakpoint; Esc interrupts",
            GROUPS[0],
        ),
        "run_to(-1)",
    ),
    *_move("write", "w", "next write", "previous write", "write of the selected slot"),
    *_move("finding", "e", "next finding", "previous finding", "finding", "finding"),
    Action("first", ("g",), "first event", "first event of the call", GROUPS[1], "edge_of_call(-1)"),
    Action("last", ("G",), "last event", "last event of the call", GROUPS[1], "edge_of_call(1)"),
    Action(
        *("goto", ("colon",), "go to", "go to #482, 12.4s, menu#2, a finding or an event id", GROUPS[1]),
        *("goto", "go to"),
    ),
    Action("here", ("t",), "cursor to row", "move the cursor to the selected row", GROUPS[1], "to_row"),
    Action("look-back", ("u",), "look back", "look at the visit before; time stays", GROUPS[2], "look(-1)"),
    Action("look-on", ("d",), "look ahead", "look at the visit after; time stays", GROUPS[2], "look(1)"),
    Action("look-home", ("H",), "back to cursor", "look at the cursor's visit again", GROUPS[2], "look(0)"),
    Action(
        *("variables", ("v",), "all or changed", "variables: all, or those changed in this visit", GROUPS[2]),
        "changed_only",
    ),
    Action(
        *("open", ("enter",), "open row", "open the row: payload, full value, visit; a finding jumps"),
        *(GROUPS[2], "open_row", "open"),
    ),
    _pane(1, "events", "events of the call, visit by visit; and those of no visit"),
    _pane(2, "variables", "slots at entry, at the cursor and at exit; context fields below"),
    _pane(3, "edges", "every way out of the visit, and what became of it"),
    _pane(4, "conversation", "who said what, and what was acted on"),
    _pane(5, "findings", "what is wrong, the gravest first"),
    _pane(6, "call", "the caller's story, first divergence, completeness, next action"),
    Action(
        "count", ("7", "8", "9", "0"), "count", "with 1 to 6: digits of a count", GROUPS[2], "digit({key})"
    ),
    Action("next-pane", ("tab",), "next pane", "go through the panes", GROUPS[2], "cycle(1)"),
    Action("last-pane", ("shift+tab",), "previous pane", "go back through the panes", GROUPS[2], "cycle(-1)"),
    Action(
        *("breakpoint", ("b",), "breakpoint", "breakpoint on the selected event kind, state or slot"),
        *(GROUPS[3], "breakpoint"),
    ),
    Action("breakpoints", ("B",), "edit breakpoints", "edit all breakpoints", GROUPS[3], "breakpoints"),
    Action("help", ("question_mark",), "keys", "show the keys", GROUPS[4], "help", "keys"),
    Action("palette", ("ctrl+p",), "palette", "every action by name", GROUPS[4], "app.command_palette"),
    Action("close", ("escape",), "close", "close, interrupt a run, drop a count", GROUPS[4], "close"),
    Action("quit", ("q",), "quit", "leave", GROUPS[4], "app.quit", "quit"),
)

_SHOWN = {"colon": ":", "question_mark": "?", "enter": "Enter", "escape": "Esc", "tab": "Tab"} | {
    "shift+tab": "Shift+Tab",
    "ctrl+p": "Ctrl+P",
}


def shown(key: str) -> str:
    """A key as people write it."""
    return _SHOWN.get(key, key)


def footer() -> Iterator[tuple[str, str]]:
    """Key and word of the actions that the footer names, the most needed first."""
    order = ("step", "visit", "finding", "continue", "goto", "open", "help", "quit")
    words = {action.name: action for action in ACTIONS if action.footer}
    for name in order:
        yield shown(words[name].keys[0]), words[name].footer


def _is_pair(first: Action, second: Action) -> bool:
    a, b = first.keys[0], second.keys[0]
    return (
        first.group == second.group
        and len(a) == 1
        and a.isalpha()
        and b == a.swapcase()
        and a < "{"
        and a > b
    )


def table(actions: Iterable[Action] = ACTIONS) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Groups with their rows: keys and help. A pair of one letter in both cases stands on one row."""
    known = list(actions)
    for group in GROUPS:
        rows: list[tuple[str, str]] = []
        of_group = [action for action in known if action.group == group]
        while of_group:
            action = of_group.pop(0)
            keys, help_ = " ".join(map(shown, action.keys)), action.help
            if of_group and _is_pair(action, of_group[0]):
                other = of_group.pop(0)
                keys, help_ = f"{keys} {shown(other.keys[0])}", _both(help_, other.help)
            rows.append((keys, help_))
        yield group, rows


def _both(forward: str, back: str) -> str:
    """The help of a pair: what the two lines have in common is said once."""
    if forward.replace("next", "previous", 1) == back:
        return forward.replace("next", "next, previous", 1)
    return f"{forward}; {back}"


INTRO = (
    "Lower case goes forward, upper case goes back. A motion means the same in every pane.",
    "A number before a motion repeats it: `5n`. Arrows, PgUp and PgDn move the selection, never time.",
)


def key_card() -> str:
    """The key card, as Markdown."""
    lines = ["# Keys", "", *INTRO, ""]
    for group, rows in table():
        lines += [f"## {group}", "", "| key | action |", "|---|---|"]
        lines += [f"| {' '.join(f'`{key}`' for key in keys.split(' '))} | {help_} |" for keys, help_ in rows]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    print(key_card(), end="")
