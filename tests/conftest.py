"""What every test gets: the snapshot set-up, an empty home folder, and calm Hypothesis settings."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests import snapshots

# A busy machine is not a failure, and a failing example can be run again from the log.
settings.register_profile("riff", deadline=None, print_blob=True)
settings.load_profile("riff")


def pytest_configure(config: pytest.Config) -> None:
    """Store pictures in the top-level folder snapshots/."""
    snapshots.install(tests_named=any("::" in arg for arg in config.args))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish() -> None:
    """Keep the environment out of the snapshot report, which is written next."""
    snapshots.forget_environment()


@pytest.fixture(scope="session", autouse=True)
def empty_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Give the run a home folder of its own: no test reads or writes the developer's settings."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        for folder in ("CACHE", "CONFIG", "DATA", "STATE"):
            patch.delenv(f"XDG_{folder}_HOME", raising=False)
        yield
