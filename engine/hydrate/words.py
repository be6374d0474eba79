"""What two sources heard, compared: words, edit distance, locked choice (contract 2.8, 4.4, 5.3)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from engine.model.flow import Option

_SPACES = re.compile(r"\s+")


@lru_cache(maxsize=4096)
def normalise_text(text: str) -> str:
    """NFKC, case-folded, without punctuation, white space collapsed."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = "".join(" " if char.isspace() else char for char in folded if not _is_punctuation(char))
    return _SPACES.sub(" ", kept).strip()


def _is_punctuation(char: str) -> bool:
    return unicodedata.category(char).startswith("P")


def words(text: str) -> list[str]:
    """The normalised words of a text."""
    found = normalise_text(text)
    return found.split(" ") if found else []


MAX_WORDS = 2_000
"""Words that are compared with each other at most, so that one row can't stall hydration."""


def edit_distance(one: list[str], other: list[str]) -> int:
    """Word insertions, deletions and substitutions that turn one list into the other."""
    row = list(range(len(other) + 1))
    for i, word in enumerate(one, 1):
        left = row[0]
        row[0] = i
        for j, target in enumerate(other, 1):
            best = left + (word != target)
            left = row[j]
            row[j] = min(best, left + 1, row[j - 1] + 1)
    return row[-1]


def word_error_rate(live: str, timed: str) -> float | None:
    """Edit distance over timed words, rounded to four places.

    None where there are no timed words, or where too many differ to count them.
    """
    expected, heard = words(timed), words(live)
    if not expected:
        return None
    left, right = _without_common_ends(heard, expected)
    if max(len(left), len(right)) > MAX_WORDS:
        return None
    return round(edit_distance(left, right) / len(expected), 4)


def _without_common_ends(one: list[str], other: list[str]) -> tuple[list[str], list[str]]:
    """Two lists without the words that both begin with and both end with."""
    shorter = min(len(one), len(other))
    start = next((at for at in range(shorter) if one[at] != other[at]), shorter)
    ends = range(shorter - start)
    end = next((at for at in ends if one[-1 - at] != other[-1 - at]), shorter - start)
    return one[start : len(one) - end], other[start : len(other) - end]


def word_diff(live: str, timed: str) -> list[dict[str, Any]]:
    """``{op, live, timed}`` runs of words: ``equal``, ``replace``, ``delete`` (live only), ``insert``."""
    heard, expected = words(live), words(timed)
    matcher = SequenceMatcher(None, heard[:MAX_WORDS], expected[:MAX_WORDS], autojunk=False)
    runs: list[tuple[str, list[str], list[str]]] = [
        (op, heard[a:b], expected[c:d]) for op, a, b, c, d in matcher.get_opcodes()
    ]
    more, most = heard[MAX_WORDS:], expected[MAX_WORDS:]
    if more or most:
        # What is too long to be compared word by word is one run.
        op = "equal" if more == most else "replace" if more and most else "delete" if more else "insert"
        runs.append((op, more, most))
    return [{"op": op, "live": " ".join(one), "timed": " ".join(other)} for op, one, other in runs]


def choose(text: str, options: Sequence[Option]) -> int | None:
    """Which option a locked choice gives for a text, by its place, or None (contract 5.3)."""
    heard = normalise_text(text)
    phrases = [
        (place, normalise_text(phrase)) for place, option in enumerate(options) for phrase in option.phrases
    ]
    for place, phrase in phrases:
        if phrase and phrase == heard:
            return place
    padded = f" {heard} "
    within = {place for place, phrase in phrases if phrase and f" {phrase} " in padded}
    return within.pop() if len(within) == 1 else None
