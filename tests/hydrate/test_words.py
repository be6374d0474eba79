"""What two sources heard, compared word by word (contract 2.8)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.hydrate import words
from engine.hydrate.words import MAX_WORDS, edit_distance, word_diff, word_error_rate

LONG = "a " * MAX_WORDS
TEXTS = st.lists(st.sampled_from("abc"), max_size=8)


@pytest.mark.parametrize(
    ("live", "timed", "rate"),
    [
        ("", "", None),
        ("a", "", None),
        ("", "a b", 1.0),
        ("a b c", "a x c", 0.3333),
        ("a a", "a", 1.0),
        (LONG + "a", LONG + "b", round(1 / (MAX_WORDS + 1), 4)),
        (LONG + "a b", LONG + LONG + "b", 0.4996),
        ("x " * (MAX_WORDS + 1), "y " * (MAX_WORDS + 1), None),
    ],
    ids=range(8),
)
def test_the_rate_counts_every_word_or_says_nothing(live: str, timed: str, rate: float | None) -> None:
    assert word_error_rate(live, timed) == rate


@given(TEXTS, TEXTS)
def test_common_ends_cost_no_edit(live: list[str], timed: list[str]) -> None:
    rate = word_error_rate(" ".join(live), " ".join(timed))
    assert rate == (round(edit_distance(live, timed) / len(timed), 4) if timed else None)


@given(TEXTS, TEXTS, st.integers(1, 4))
def test_a_diff_holds_every_word_of_both(live: list[str], timed: list[str], most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "MAX_WORDS", most)
        runs = word_diff(" ".join(live), " ".join(timed))
    for side, whole in (("live", live), ("timed", timed)):
        assert [word for run in runs for word in run[side].split()] == whole
    assert all((run["op"] == "equal") == (run["live"] == run["timed"]) for run in runs)
