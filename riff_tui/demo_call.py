"""The sample call that ships with the package."""

from pathlib import Path

DEMO_CALL = "consent-restart"
"""The folder name of the sample call."""


def demo_call_path() -> Path:
    """Find the folder of the sample call.

    An installed package carries the call as `riff_tui/demo/consent-restart`. In a source checkout (an
    editable install) it is kept once, as `sample_artifacts/consent-restart` beside the package.

    Returns:
        The absolute path of the call folder.

    Raises:
        FileNotFoundError: The call is in neither place; the message names both.
    """
    package = Path(__file__).resolve().parent
    places = (package / "demo" / DEMO_CALL, package.parent / "sample_artifacts" / DEMO_CALL)
    for place in places:
        if (place / "manifest.json").is_file():
            return place
    raise FileNotFoundError(f"the sample call is missing: looked in {places[0]} and {places[1]}")
