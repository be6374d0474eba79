"""Untrusted text is escaped and cut, whatever it holds and however long it is."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from riff_tui.spans import column, fit, sides, width_of
from riff_tui.text import clean, cut, cut_middle, pad, seconds, wrap


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred", "\\e[31mred"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("\u202eevil", "\\u202eevil"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\x00\x9b", "\\x00\\x9b"),
        ("[bold]markup[/]", "[bold]markup[/]"),
        ("\ud800", "\\ud800"),
        ("café 名前 🙂", "café 名前 🙂"),
    ],
)
def test_clean_escapes_what_a_terminal_could_obey(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_ten_megabytes_are_cut_before_they_are_looked_at() -> None:
    started = time.perf_counter()
    shown = clean("\x1b" * 10_000_000)
    assert time.perf_counter() - started < 0.05
    assert len(shown) < 5_000


@given(st.text(), st.integers(0, 40))
def test_cut_and_pad_take_the_cells_they_are_given(text: str, width: int) -> None:
    assert cell_len(cut(clean(text), width)) <= width
    assert cell_len(pad(text, width)) == width


@given(st.text(), st.integers(8, 40))
def test_cut_middle_keeps_both_ends(text: str, width: int) -> None:
    shown = cut_middle(text, width)
    if text.isascii():
        assert cell_len(shown) <= width
    assert shown.isprintable() or "\u00a0" in shown


@given(st.text(), st.integers(2, 40), st.integers(1, 5))
def test_wrap_loses_no_line_and_fits(text: str, width: int, most: int) -> None:
    lines = wrap(text, width, most)
    assert 1 <= len(lines) <= most
    assert all(cell_len(line) <= width for line in lines)


def test_wrap_breaks_at_spaces_and_says_when_it_cuts() -> None:
    assert wrap("one two three", 7, 3) == ["one two", "three"]
    assert wrap("one two three four", 7, 2) == ["one two", "three…"]
    assert wrap("abcdefghij", 4, 9) == ["abcd", "efgh", "ij"]


def test_a_missing_clock_is_a_dash() -> None:
    assert seconds(None) == "—"
    assert seconds(12640) == "12.640s"


@given(st.lists(st.tuples(st.text(), st.sampled_from(["", "dim", "bad"]))), st.integers(1, 60))
def test_a_fitted_line_has_the_width_and_one_run_for_each_style(
    runs: list[tuple[str, str]], width: int
) -> None:
    line = fit(runs, width)
    assert width_of(line) == width
    assert all(first[1] != second[1] for first, second in pairwise(line))


def test_the_right_side_gives_way() -> None:
    left = (("left", ""),)
    assert "".join(text for text, _ in sides(left, (("right", ""),), 12)) == "left   right"
    assert "".join(text for text, _ in sides(left, (("right", ""),), 8)) == "left    "
    assert column("ab", 4) == ("ab   ", "")
