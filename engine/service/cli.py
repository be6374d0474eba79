"""``riff-engine``: the engine's command line (contract 3.5)."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import NoReturn, ParamSpec

import click

from engine import __version__
from engine.model.errors import EngineError
from engine.service.actioncli import ActionGroup, Named

USAGE, TYPED_ERROR = 2, 3
_P = ParamSpec("_P")


def typed_errors(command: Callable[_P, None]) -> Callable[_P, None]:
    """Exit 3 on a typed error: its JSON on stdout, its message on stderr (contract 3.5)."""

    @wraps(command)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            command(*args, **kwargs)
            sys.stdout.flush()
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except EngineError as error:
            _refuse(error)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        except OSError as problem:  # what is read of a call has typed errors of its own
            click.echo(f"riff-engine: {problem.strerror or problem}", err=True)
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(TYPED_ERROR)
        except Exception as error:
            logging.getLogger("riff.engine").exception("a bug: a command did not end as it should")
            _refuse(EngineError("INTERNAL", f"a bug ({type(error).__name__}): RIFF_DEBUG=1 shows where"))

    return run


def _refuse(error: EngineError) -> NoReturn:
    from engine.canonical import canonical

    click.echo(canonical(error.document()))
    click.echo(f"riff-engine: {error.code}: {error.message}", err=True)
    sys.exit(TYPED_ERROR)


@click.group(cls=ActionGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="riff-engine")
@click.option(
    "--calls",
    type=click.Path(path_type=Path),
    envvar="RIFF_CALLS",
    help="A folder of calls, asked by session id.",
)
@click.option("--verify", is_flag=True, help="Read and hash again what is kept of calls that are unchanged.")
@click.pass_context
def main(ctx: click.Context, calls: Path | None, verify: bool) -> None:
    """Answer questions about retained voice calls."""
    if ctx.invoked_subcommand != "serve" and "RIFF_DEBUG" not in os.environ:
        logging.getLogger("riff").addHandler(logging.NullHandler())  # no traceback reaches a user
    ctx.obj = Named(calls, verify)


_CALL = click.argument("call", type=click.Path(path_type=Path))
_SESSION = click.option("--session", help="Which session, where turns.jsonl holds several.")


@main.command()
@_CALL
@_SESSION
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the artifact here."
)
@click.option("--reveal", is_flag=True, help="Show classified values; the artifact is marked as revealed.")
@typed_errors
def hydrate(call: Path, session: str | None, output: Path | None, reveal: bool) -> None:
    """Write the debug artifact of CALL as canonical JSON."""
    from engine.hydrate.document import artifact_chunks
    from engine.hydrate.pipeline import open_call
    from engine.service.output import refuse_inside, write_whole

    hydrated = open_call(call, session=session, reveal=reveal)
    if output is None:
        for chunk in artifact_chunks(hydrated):
            sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.write(b"\n")
        return
    refuse_inside(output, call, "output")
    write_whole(output, artifact_chunks(hydrated), "output")


@main.command()
@_CALL
@click.option("--json", "as_json", is_flag=True, help="Canonical JSON also on a terminal.")
@typed_errors
def doctor(call: Path, as_json: bool) -> None:
    """Say what was found of CALL, what was read, and what was not understood."""
    from engine.canonical import canonical
    from engine.service import doctor as examination

    report = examination.report(call)
    if as_json or not sys.stdout.isatty():
        sys.stdout.buffer.write(canonical(report) + b"\n")
    else:
        click.echo(examination.draw(report))


@main.command("do")
@click.argument("words", nargs=-1, metavar="[CALL] [REQUEST]")
@click.option("--jsonl", is_flag=True, help="One request a line, over one session.")
@click.pass_obj
@typed_errors
def do_requests(source: Named, words: tuple[str, ...], jsonl: bool) -> None:
    """Answer the REQUEST of a file, or of standard input, about CALL; with --calls about any call there."""
    from engine.service.asking import do, names_a_call
    from engine.service.library import Beside, Library

    if len(words) > 2:
        raise click.UsageError("too many words")
    folder = source.folder()
    library: Library | None = folder
    if words and (folder is None or len(words) == 2 or names_a_call(words[0])):
        named = source.one(words[0])
        library, words = named if folder is None else Beside(named, folder), words[1:]
    if library is None:
        raise click.UsageError("name a call, or a folder of calls with --calls")
    refused = do(library, words[0] if words else "-", jsonl, sys.stdout.buffer)
    if refused is not None:
        click.echo(f"riff-engine: {refused.code}: {refused.message}", err=True)
        sys.exit(TYPED_ERROR)


@main.command()
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0: any free one."
)
@click.option("--socket", "path", type=click.Path(path_type=Path), help="A unix socket instead of a port.")
@click.option(
    "--token-file", type=click.Path(path_type=Path), help="Made (0600) with a new token if missing."
)
@click.pass_obj
@typed_errors
def serve(source: Named, port: int, path: Path | None, token_file: Path | None) -> None:
    """Serve the calls below --calls over HTTP, on the loopback interface only."""
    library = source.folder()
    if library is None:
        raise click.UsageError("name the folder of calls with --calls")
    try:
        from engine.service.http.serve import listening, token_from
        from engine.service.http.serve import serve as run
    except ImportError:
        message = "serving needs the extra api: pip install 'riff-tui[api]'"
        raise EngineError("BAD_ARGUMENT", message, argument="serve") from None
    from platformdirs import user_state_path

    kept = token_file or user_state_path("riff-tui", appauthor=False) / "token"
    token = token_from(kept)
    library.rows()  # a folder that can't be read is said now
    bound = listening(port, path)
    run(library, token, bound, lambda where: click.echo(f"{where}  token: {kept}", err=True))


if __name__ == "__main__":
    main()
