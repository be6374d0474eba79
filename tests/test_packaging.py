"""The distribution holds what it must, and the sample call is found installed or not."""

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

import engine
from riff_tui.demo_call import DEMO_CALL, demo_call_path

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "sample_artifacts" / DEMO_CALL


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel and lay its files out as an installer would."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("riff_tui-*.whl")
    site = folder / "site"
    with ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


def files_under(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its name relative to it."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def test_wheel_holds_the_sample_call_byte_for_byte(installed: Path) -> None:
    assert files_under(installed / "riff_tui" / "demo" / DEMO_CALL) == files_under(SAMPLE)


def test_wheel_holds_both_packages_with_their_types_and_nothing_else(installed: Path) -> None:
    info = f"riff_tui-{engine.__version__}.dist-info"
    assert {path.name for path in installed.iterdir()} == {"engine", "riff_tui", info}
    assert (installed / "engine" / "py.typed").is_file()
    assert (installed / "riff_tui" / "py.typed").is_file()


def test_installed_package_finds_its_own_copy(installed: Path, tmp_path: Path) -> None:
    show = "from riff_tui.demo_call import demo_call_path; print(demo_call_path())"
    command = [sys.executable, "-c", show]
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    printed = subprocess.check_output(command, cwd=tmp_path, env=environment, text=True)
    assert Path(printed.strip()) == installed / "riff_tui" / "demo" / DEMO_CALL


def test_checkout_finds_the_one_copy_in_git() -> None:
    assert demo_call_path() == SAMPLE
