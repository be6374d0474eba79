"""The command line. Textual is imported when an app starts, and not before."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine import __version__
from engine.model.errors import EngineError

if TYPE_CHECKING:
    from riff_tui.opening import Request

FAILED = 3
"""Exit status when the call can't be opened."""
USAGE = 2
"""Exit status where there is no terminal to draw on."""
OVER_SSH = {"TEXTUAL_FPS": "15", "TEXTUAL_ANIMATIONS": "none", "TEXTUAL_SMOOTH_SCROLL": "0"}
"""What Textual reads at import; fewer frames keep up with a slow line."""


class CallOrCommand(click.Group):
    """`riff-tui CALL` opens a call; a first word that names a command runs that."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Send anything that is no command to `open`."""
        own = ("--help", "-h", "--version", "--calls")
        if args and args[0] not in self.commands and not args[0].startswith(own):
            args.insert(0, "open")
        return super().parse_args(ctx, args)


@click.group(
    cls=CallOrCommand, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name="riff-tui")
@click.option(
    "--calls",
    type=click.Path(path_type=Path),
    envvar="RIFF_CALLS",
    help="Choose among the calls of a folder.",
)
@click.pass_context
def cli(ctx: click.Context, calls: Path | None) -> None:
    r"""Debug a recorded voice call in the terminal.

    \b
    riff-tui CALL        open a call: a folder, an archive or turns.jsonl
    riff-tui --calls DIR choose among the calls of a folder (or RIFF_CALLS)
    riff-tui demo        open the sample call
    riff-tui open --help the options of both

    RIFF_THEME chooses dark, light or terminal; ? shows the keys inside.
    """
    if ctx.invoked_subcommand is not None:
        return
    if calls is None:
        click.echo(ctx.get_help())
    elif not calls.is_dir():
        fail("NO_EVENT_SOURCE", f"there is no folder at {calls}")
    else:
        run_app(None, calls)


def _moments(function: Any) -> Any:
    """The options that say where to stand first."""
    for option in (
        click.option("--finding", metavar="CODE", help="Start at a finding, by code or id."),
        click.option("--time", "time", type=float, metavar="MS", help="Start at a time of the call clock."),
        click.option("--visit", metavar="ID", help="Start at a visit, for example menu#2."),
        click.option("--at", "at", metavar="EVENT", help="Start at an event, for example bus:482."),
        click.option("--reveal", is_flag=True, help="Show classified values; the screen says so."),
    ):
        function = option(function)
    return function


@cli.command("open")
@click.argument("call", type=click.Path(path_type=Path))
@click.option("--session", metavar="ID", help="Which session, where the call holds several.")
@click.option("--verify", is_flag=True, help="Hash the files again, whatever is kept of the call.")
@_moments
def open_command(call: Path, session: str | None, reveal: bool, verify: bool, **moments: Any) -> None:
    """Open a recorded call: a folder, an archive or turns.jsonl."""
    start(call, session, reveal, verify, moments)


@cli.command("demo")
@_moments
def demo_command(reveal: bool, **moments: Any) -> None:
    """Open the sample call that ships with riff-tui."""
    from riff_tui.demo_call import demo_call_path

    start(demo_call_path(), None, reveal, False, moments)


def start(path: Path, session: str | None, reveal: bool, verify: bool, moments: dict[str, Any]) -> None:
    """Run the app on a call and leave with its status."""
    named = [(name, str(value)) for name, value in moments.items() if value is not None]
    if len(named) > 1:
        raise click.UsageError("choose one of --at, --visit, --time and --finding")
    if not path.exists():
        fail("NO_EVENT_SOURCE", f"there is no call at {path}")
    where, place = named[0] if named else (None, "")
    from riff_tui.opening import Request

    asked = Request(path, session, reveal, where, place, verify)  # type: ignore[arg-type]  # options' names
    run_app(asked)


def run_app(request: Request | None, calls: Path | None = None) -> None:
    """Run the app and leave with its status."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):  # where Textual reads keys, and where it draws
        words = "riff-tui: needs a terminal to draw on; for programs there is riff-engine"
        click.echo(words, err=not sys.stdout.isatty())
        sys.exit(USAGE)
    prepare_environment()
    from riff_tui.app import RiffApp
    from riff_tui.compat import crash_line

    app = RiffApp(request, calls)
    app.run(mouse="SSH_CONNECTION" not in os.environ)
    if (line := crash_line(app)) is not None:
        click.echo(f"riff-tui: {line}", err=True)
        sys.exit(1)
    if app.left_trouble is not None:
        fail(*app.left_trouble)
    sys.exit(app.return_code or 0)


def prepare_environment() -> None:
    """Over SSH: what Textual reads when it is imported, unless the user has set it."""
    if "SSH_CONNECTION" in os.environ:
        for name, value in OVER_SSH.items():
            os.environ.setdefault(name, value)


def fail(code: str, message: str) -> None:
    """Say what is wrong on stderr and leave; a message may hold data of the call."""
    from riff_tui.text import clean

    click.echo(clean(f"riff-tui: {code}: {message}"), err=True)
    sys.exit(FAILED)


def main(args: Sequence[str] | None = None) -> None:
    """Entry point."""
    try:
        cli.main(args=None if args is None else list(args), prog_name="riff-tui")
    except EngineError as error:
        fail(error.code, error.message)
    except FileNotFoundError as error:
        fail("NO_EVENT_SOURCE", str(error))


if __name__ == "__main__":
    main()
