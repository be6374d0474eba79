"""The one table of actions: bindings, footer, palette, help and docs/keys.md are all made from it.

`python -m riff_tui.actions > docs/keys.md` writes the key card anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

GROUPS = ("Move in time", "Go to", "Look and select", "Breakpoints", "App")
"""Groups of the help screen, in order."""
TIME, PLACE, LOOK, STOP, APP = GROUPS


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
    return [
        Action(name, (key,), title, f"next {help}", TIME, f"move('{name}', 1)", footer),
        Action(f"{name}-back", (key.upper(),), back, f"previous {help}", TIME, f"move('{name}', -1)"),
    ]


def _run(title: str, key: str, help: str, run: str, footer: str = "") -> Action:
    return Action(title.replace(" ", "-"), (key,), title, help, TIME, run, footer)


def _pane(number: int, name: str, shows: str) -> Action:
    help_ = f"{PANES[name]}: {shows}"
    return Action(f"pane-{name}", (str(number),), f"{name} pane", help_, LOOK, f"digit({number})")


PANES = {
    "events": "Events",
    "variables": "Variables",
    "edges": "Edges",
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
    Action("exit", ("f",), "visit exit", "this visit's exit", TIME, "move('bound', 1)"),
    Action("entry", ("F",), "visit entry", "this visit's entry", TIME, "move('bound', -1)"),
    _run("continue", "c", "run to the next breakpoint; Esc interrupts", "run_to(1)", "continue"),
    _run("continue back", "C", "run to the previous breakpoint; Esc interrupts", "run_to(-1)"),
    *_move("write", "w", "next write", "previous write", "write of the selected slot"),
    *_move("finding", "e", "next finding", "previous finding", "finding", "finding"),
    Action("first", ("g",), "first event", "first event of the call", PLACE, "edge_of_call(-1)"),
    Action("last", ("G",), "last event", "last event of the call", PLACE, "edge_of_call(1)"),
    Action(
        "goto",
        ("colon",),
        "go to",
        "go to #482, 12.4s, menu#2, a finding or an event id",
        PLACE,
        "goto",
        "go to",
    ),
    Action("here", ("t",), "cursor to row", "move the cursor to the selected row", PLACE, "to_row"),
    Action("look-back", ("u",), "look back", "look at the visit before; time stays", LOOK, "look(-1)"),
    Action("look-on", ("d",), "look ahead", "look at the visit after; time stays", LOOK, "look(1)"),
    Action("look-home", ("H",), "back to cursor", "look at the cursor's visit again", LOOK, "look(0)"),
    Action(
        "variables",
        ("v",),
        "all or changed",
        "variables: all, or those changed in this visit",
        LOOK,
        "changed_only",
    ),
    Action(
        "open",
        ("enter",),
        "open row",
        "open the row: payload, full value, visit; a finding jumps",
        LOOK,
        "open_row",
        "open",
    ),
    _pane(1, "events", "visit by visit, and those that no visit owns"),
    _pane(2, "variables", "at entry, at the cursor, at exit; context fields below"),
    _pane(3, "edges", "every way out of the visit, and what became of it"),
    _pane(4, "conversation", "who said what, and what was acted on"),
    _pane(5, "findings", "what is wrong, the gravest first"),
    _pane(6, "call", "story, first divergence, completeness, next action"),
    Action(
        "count",
        ("7", "8", "9", "0"),
        "count",
        "and 1 to 6: a count, when a motion follows",
        LOOK,
        "digit({key})",
    ),
    Action("next-pane", ("tab",), "next pane", "go through the panes", LOOK, "cycle(1)"),
    Action("last-pane", ("shift+tab",), "previous pane", "go back through the panes", LOOK, "cycle(-1)"),
    Action(
        "breakpoint",
        ("b",),
        "breakpoint",
        "breakpoint on the selected event kind, state or slot",
        STOP,
        "breakpoint",
    ),
    Action("breakpoints", ("B",), "edit breakpoints", "edit all breakpoints", STOP, "breakpoints"),
    Action("help", ("question_mark",), "keys", "show the keys", APP, "help", "keys"),
    Action("palette", ("ctrl+p",), "palette", "every action by name", APP, "app.command_palette"),
    Action("close", ("escape",), "close", "close, interrupt a run, drop a count", APP, "close"),
    Action("quit", ("q",), "quit", "leave", APP, "app.quit", "quit"),
)

_SHOWN = {
    "colon": ":",
    "question_mark": "?",
    "enter": "Enter",
    "escape": "Esc",
    "tab": "Tab",
    "shift+tab": "Shift+Tab",
    "ctrl+p": "Ctrl+P",
}


def shown(key: str) -> str:
    """A key as people write it."""
    return _SHOWN.get(key, key)


def footer() -> Iterator[tuple[str, str]]:
    """Key and word of the actions that the footer names, the most needed first."""
    order = ("help", "step", "visit", "finding", "goto", "open", "continue", "quit")
    words = {action.name: action for action in ACTIONS if action.footer}
    for name in order:
        yield shown(words[name].keys[0]), words[name].footer


def _is_pair(first: Action, second: Action) -> bool:
    """Whether two actions are one letter in both cases, the lower one first."""
    one, other = first.keys[0], second.keys[0]
    return first.group == second.group and len(one) == 1 and one.islower() and other == one.upper()


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
    "A number before a motion repeats it: 5n. Arrows, PgUp and PgDn move the selection, never time.",
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
