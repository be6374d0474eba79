"""The command line: cheap until an app starts, and calm about what is wrong."""

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from engine import __version__
from riff_tui import cli
from riff_tui.compat import CalmExit, crash_line
from tests.riff_tui.driving import ROOT


def run(*args: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli.cli, list(args), prog_name="riff-tui")
    return result.exit_code, result.output


def test_version_and_help() -> None:
    assert run("--version") == (0, f"riff-tui, version {__version__}\n")
    code, text = run("--help")
    assert code == 0 and "riff-tui CALL" in text and "demo" in text
    code, text = run("open", "--help")
    assert code == 0 and all(
        option in text for option in ("--at", "--visit", "--time", "--finding", "--session")
    )


def test_a_missing_call_is_a_typed_error_and_no_screen() -> None:
    code, text = run("/no/such/call")
    assert code == 3
    assert text == "riff-tui: NO_EVENT_SOURCE: there is no call at /no/such/call\n"


def test_an_error_shows_what_it_names_escaped() -> None:
    code, text = run("/no/such\x1b[2Jcall")
    assert code == 3
    assert text == "riff-tui: NO_EVENT_SOURCE: there is no call at /no/such\\e[2Jcall\n"
    app = CalmExit()
    app.crash = ValueError("\x1b[2J\u202e")
    assert crash_line(app) == r"internal error: ValueError: \e[2J\u202e (RIFF_DEBUG=1 shows where)"


def test_without_a_terminal_it_says_so() -> None:
    call = str(ROOT / "sample_artifacts/consent-restart")
    command = [sys.executable, "-m", "riff_tui.cli", call]
    ended = subprocess.run(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == cli.USAGE
    assert ended.stdout == ""
    assert ended.stderr == "riff-tui: needs a terminal to draw on; for programs there is riff-engine\n"


def test_two_moments_are_refused() -> None:
    code, text = run(str(ROOT / "sample_artifacts/consent-restart"), "--at", "bus:1", "--visit", "menu#1")
    assert code == 2 and "choose one" in text


def test_the_command_line_imports_nothing_heavy() -> None:
    show = "import sys, riff_tui.cli; print([m for m in ('textual', 'rich', 'numpy') if m in sys.modules])"
    command = [sys.executable, "-c", show]
    assert subprocess.check_output(command, cwd=ROOT, text=True).strip() == "[]"


def test_the_app_imports_nothing_of_hydration() -> None:
    heavy = "('numpy', 'engine.hydrate', 'engine.debug.cursor')"
    show = f"import sys, riff_tui.app; print([m for m in {heavy} if m in sys.modules])"
    command = [sys.executable, "-c", show]
    assert subprocess.check_output(command, cwd=ROOT, text=True).strip() == "[]"


def test_over_ssh_textual_gets_its_settings_before_it_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in cli.OVER_SSH:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    cli.prepare_environment()
    assert not any(name in os.environ for name in cli.OVER_SSH)
    monkeypatch.setenv("SSH_CONNECTION", "1 2 3 4")
    monkeypatch.setenv("TEXTUAL_FPS", "30")
    cli.prepare_environment()
    assert os.environ["TEXTUAL_FPS"] == "30"
    assert os.environ["TEXTUAL_ANIMATIONS"] == "none"
    for name in cli.OVER_SSH:
        monkeypatch.delenv(name)
