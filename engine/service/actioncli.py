"""The subcommands of ``riff-engine`` that stand for actions, made from the table when they are asked for."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from engine.service.action import Action, StoreAction
    from engine.service.dispatcher import Answer
    from engine.service.library import Folder, OnePath


class Named(NamedTuple):
    """Where calls come from, as the global options say.

    Attributes:
        calls: The folder of ``--calls``, or None.
        verify: Read every call again, whatever the index and the kept columns say.
    """

    calls: Path | None
    verify: bool

    def folder(self) -> Folder | None:
        """The calls of the folder, where one is named."""
        from engine.service.library import Folder
        from engine.workspace.columncache import ColumnCache
        from engine.workspace.store import Store

        if self.calls is None:
            return None
        return Folder(Store(self.calls, verify=self.verify), ColumnCache(verify=self.verify))

    def one(self, path: str) -> OnePath:
        """The call of a path."""
        from engine.service.library import OnePath
        from engine.workspace.columncache import ColumnCache

        return OnePath(Path(path), ColumnCache(verify=self.verify))


class ActionGroup(click.Group):
    """A group that has every action as a command too; the table is read when a name is none of its own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Own commands, then the actions in the order of their table."""
        from engine.service.schema import ALL

        own = super().list_commands(ctx)
        return own + [name for name in ALL if name not in own]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """An own command, or the one of an action."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        from engine.service.schema import ALL

        action = ALL.get(cmd_name)
        return None if action is None else _command(action)


def _command(action: Action | StoreAction) -> click.Command:
    from engine.service.action import StoreAction
    from engine.service.cli import typed_errors

    of_a_call: list[click.Parameter] = [
        click.Argument(["call"]),
        click.Option(["--event"], metavar="ID", help="Ask at this event."),
        click.Option(["--visit"], metavar="ID", help="Ask at the entry of this visit."),
        click.Option(["--time"], type=float, metavar="MS", help="Ask at this moment of the call clock."),
        click.Option(["--session"], help="Which session, where turns.jsonl holds several."),
    ]
    return click.Command(
        action.name,
        params=[
            *([] if isinstance(action, StoreAction) else of_a_call),
            click.Option(
                ["--arg", "args"], multiple=True, metavar="NAME=JSON",
                help=f"An argument: {_arguments(action)}. What is no JSON is text.",
            ),
            click.Option(["--json", "as_json"], is_flag=True, help="Canonical JSON also on a terminal."),
        ],
        help=action.summary,
        callback=typed_errors(click.pass_obj(lambda source, **given: _run(action.name, source, **given))),
    )  # fmt: skip


def _arguments(action: Action | StoreAction) -> str:
    return ", ".join(action.args.__struct_fields__)


def _run(
    action: str,
    source: Named,
    args: tuple[str, ...],
    as_json: bool,
    call: str | None = None,
    event: str | None = None,
    visit: str | None = None,
    time: float | None = None,
    session: str | None = None,
) -> None:
    from engine.service.asking import Where, argument, ask, ask_calls

    if sum(one is not None for one in (event, visit, time)) > 1:
        raise click.UsageError("give one of --event, --visit, --time")
    given: dict[str, Any] = dict(map(argument, args))
    if call is None:
        tell(ask_calls(action, source.folder(), given), as_json)
    else:
        tell(ask(action, call, source, session, Where(event, visit, time), given), as_json)


def tell(told: Answer, as_json: bool) -> None:
    """Print an answer: drawn for people on a terminal, else its bytes.

    Raises:
        EngineError: The refusal, where it is one.
    """
    if told.error is not None:
        raise told.error
    if as_json or not sys.stdout.isatty():
        sys.stdout.buffer.write(told.document + b"\n")
        return
    from engine.service.draw import draw

    draw(told.document)
