"""Canonical bytes and hashes (contract 3.1); vectors, so that a library upgrade can't change one unseen."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.canonical import canonical, fingerprint, normalise, sha256

VECTORS: list[tuple[Any, str]] = [
    # Words and integers, of any size in full.
    (None, "null"),
    (True, "true"),
    (False, "false"),
    (0, "0"),
    (-1, "-1"),
    (2**53 + 1, "9007199254740993"),
    (2**63 - 1, "9223372036854775807"),
    (-(2**63), "-9223372036854775808"),
    (2**64, "18446744073709551616"),
    (10**30, "1000000000000000000000000000000"),
    (-(10**30), "-1000000000000000000000000000000"),
    # Floats: an integral one stays a float, the shortest digits that give it back, no negative zero.
    (1.0, "1.0"),
    (-1.0, "-1.0"),
    (0.0, "0.0"),
    (-0.0, "0.0"),
    (0.1, "0.1"),
    (0.1 + 0.2, "0.30000000000000004"),
    (4.35, "4.35"),
    (1e-5, "0.00001"),
    (1e-6, "1e-6"),
    (1e-7, "1e-7"),
    (1e15, "1000000000000000.0"),
    (1e16, "1e16"),
    (1e21, "1e21"),
    (1e100, "1e100"),
    (1.5e300, "1.5e300"),
    (123456789.125, "123456789.125"),
    (12345678901234567890.0, "1.2345678901234567e19"),
    (5e-324, "5e-324"),
    (2.2250738585072014e-308, "2.2250738585072014e-308"),
    (1.7976931348623157e308, "1.7976931348623157e308"),
    # Strings: UTF-8 as it is, only what JSON must escape.
    ("", '""'),
    ("menu", '"menu"'),
    ('"\\/', '"\\"\\\\/"'),
    ("\b\f\n\r\t", '"\\b\\f\\n\\r\\t"'),
    ("\x00\x1f", '"\\u0000\\u001f"'),
    ("\x7f\x80", '"\x7f\x80"'),
    ("é ß 漢 \u2028 😀", '"é ß 漢 \u2028 😀"'),
    ("e\u0301", '"e\u0301"'),
    # Lone surrogates become U+FFFD, a pair is one character.
    ("\ud800", '"\ufffd"'),
    ("a\udfffb", '"a\ufffdb"'),
    ("\ud800\ud800", '"\ufffd\ufffd"'),
    ("\ud83d\ude00", '"😀"'),
    # Keys in the order of their code points, no white space.
    ({}, "{}"),
    ([], "[]"),
    ([1, 1.0, "1", None, [[]]], '[1,1.0,"1",null,[[]]]'),
    ((1, 2), "[1,2]"),
    ({"b": 1, "a": {"d": 2, "c": 3}, "": 0}, '{"":0,"a":{"c":3,"d":2},"b":1}'),
    ({"a10": 1, "a9": 2, "A": 3, "_": 4}, '{"A":3,"_":4,"a10":1,"a9":2}'),
    ({"é": 1, "z": 2, "😀": 3, "\uffff": 4}, '{"z":2,"é":1,"\uffff":4,"😀":3}'),
    ({"\udc00": -0.0}, '{"\ufffd":0.0}'),
]


@pytest.mark.parametrize(("value", "text"), VECTORS, ids=[f"{at}" for at in range(len(VECTORS))])
def test_vector(value: Any, text: str) -> None:
    assert canonical(value) == text.encode()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, [math.nan], {"a": {"b": math.inf}}])
def test_what_is_no_number_has_no_canonical_form(value: Any) -> None:
    with pytest.raises(ValueError, match="no canonical form"):
        canonical(value)


def test_hashes_are_over_the_canonical_bytes() -> None:
    assert sha256(b"") == f"sha256:{hashlib.sha256(b'').hexdigest()}"
    assert fingerprint({"b": -0.0, "a": "\ud800"}) == sha256('{"a":"\ufffd","b":0.0}'.encode())
    assert fingerprint({"unit": "4B", "count": 1}) == (
        "sha256:615fd6e182256867afcaedf72e23302757dc465709488f5a54c9bd9b7b596b16"
    )


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(json_values)
def test_canonical_bytes_read_back_as_the_same_value_and_give_the_same_bytes(value: Any) -> None:
    encoded = canonical(value)
    assert json.loads(encoded) == normalise(value)
    assert canonical(json.loads(encoded)) == encoded
    assert b"\n" not in encoded


@given(st.dictionaries(st.text(), json_values, max_size=6))
def test_the_order_of_keys_takes_no_part(value: dict[str, Any]) -> None:
    backwards = dict(reversed(list(value.items())))
    assert canonical(backwards) == canonical(value)
    assert msgspec.json.encode(normalise(value), order="sorted") == canonical(value)
