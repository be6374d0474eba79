"""Pictures of the screen: where they are stored, and the type of the `snap_compare` fixture.

A picture of tests/riff_tui/test_panes.py::test_events is snapshots/riff_tui/test_panes/test_events.svg.
`pytest --snapshot-update` writes the pictures that changed and deletes those that no test of a run file takes
(one process only: with pytest-xdist, syrupy neither reports nor deletes leftovers).
"""

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar, Protocol

import pytest_textual_snapshot as plugin
from syrupy.data import SnapshotCollections
from syrupy.location import PyTestLocation
from textual.app import App
from textual.pilot import Pilot

ROOT = Path(__file__).resolve().parent.parent


class SnapCompare(Protocol):
    """The fixture `snap_compare`: take a picture of an app and compare it with the stored one."""

    def __call__(
        self,
        app: App[Any],
        press: Iterable[str] = (),
        terminal_size: tuple[int, int] = (80, 24),
        run_before: Callable[[Pilot[Any]], Awaitable[None] | None] | None = None,
    ) -> bool: ...


class TopLevelSvg(plugin.SVGImageExtension):  # type: ignore[misc]  # the plugin has no types
    """The plugin's SVG files, in the top-level folder snapshots/."""

    tests_named: ClassVar[bool] = False
    """Whether tests were chosen one by one, as `path::name`."""

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        """The folder of a test file's pictures, by the file's place under tests/."""
        test_file = Path(test_location.filepath).resolve()
        return str(ROOT / "snapshots" / test_file.relative_to(ROOT / "tests").with_suffix(""))

    def discover_snapshots(self, *, test_location: PyTestLocation) -> SnapshotCollections:
        """The stored pictures of a test file, and no other goldens in its folder.

        None of them when tests were chosen by name: syrupy looks for the folder beside the test file, so it
        would take every picture of the tests not chosen for a leftover, and delete it on `--snapshot-update`.
        """
        pictures = SnapshotCollections()
        if not self.tests_named:
            for found in super().discover_snapshots(test_location=test_location):
                if found.location.endswith(".svg"):
                    pictures.add(found)
        return pictures


def install(*, tests_named: bool) -> None:
    """Let the plugin store its pictures in snapshots/, and keep the environment out of its report.

    Args:
        tests_named: Tests were chosen one by one, as `path::name`.
    """
    TopLevelSvg.tests_named = tests_named
    plugin.SVGImageExtension = TopLevelSvg


def forget_environment() -> None:
    """Make the HTML report hold no environment variables; the plugin would print all of them."""
    collect = plugin.retrieve_svg_diffs

    def collect_without_environment(tempdir: object) -> tuple[list[Any], int]:
        diffs, passed = collect(tempdir)
        for diff in diffs:
            diff.environment = {}
        return diffs, passed

    plugin.retrieve_svg_diffs = collect_without_environment
