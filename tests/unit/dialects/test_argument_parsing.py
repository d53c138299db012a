"""Parsing of arguments in any form."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.json_schema.arguments_text import parse_arguments, reject_duplicate_keys
from pegboard.model.call import Malformed
from pegboard.model.call_errors import MalformedArguments

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, {}),
        ("", {}),
        (" \n", {}),
        ("null", {}),
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('""', {}),
    ],
)
def test_an_object_its_text_and_the_text_of_its_text_are_the_same(given: Any, expected: Any) -> None:
    assert parse_arguments(given) == expected


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ('{"a": "b', "closed"),
        ("[1]", "an array"),
        ("5", "a number"),
        ([1], "an array"),
        (5, "a number"),
        (True, "a boolean"),
        ("{'a': 1}", "double quotes"),
        ('{"a": 1} {"b": 2}', "nothing more"),
        ('{"a": 1, "a": 2}', "the key 'a' occurs twice"),
        ('{"x": [{"a": "b:c", "a": 2}]}', "the key 'a' occurs twice"),
        ('{"a": "\\ud800"}', "surrogate"),
        ('{"a": "\ud800"}', "surrogate"),
        ('{"a": 1e999}', "too large"),
        ("[" * 100_000, "deep"),
        ('{"a":' * 900 + "1" + "}" * 900 + ':"', ""),
        ('"' * 3, ""),
    ],
)
def test_what_cannot_be_read_is_kept_with_the_reason(given: Any, why: str) -> None:
    read = parse_arguments(given)
    assert isinstance(read, Malformed)
    assert why in read.why
    assert read.text == (given if isinstance(given, str) else json.dumps(given).replace(" ", ""))


def test_numbers_beyond_double_keep_their_digits() -> None:
    assert parse_arguments('{"a": 123456789012345678901234567890}') == {"a": 123456789012345678901234567890}
    assert str(parse_arguments('{"a": 0.12345678901234567890123}')["a"]) == "0.12345678901234567890123"


@given(st.dictionaries(st.text(max_size=4), JSON, max_size=4), st.booleans())
def test_every_object_survives_being_written(value: dict[str, Any], twice: bool) -> None:
    text = json.dumps(value, ensure_ascii=twice)
    assert parse_arguments(json.dumps(text) if twice else text) == value


@given(JSON)
def test_only_keys_that_are_there_twice_are_refused(value: Any) -> None:
    reject_duplicate_keys(json.dumps(value).encode(), value)
    reject_duplicate_keys(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"), value)
    with pytest.raises(MalformedArguments, match="twice"):
        reject_duplicate_keys(b'{"k": %s, "k": 1}' % json.dumps(value).encode(), {"k": 1})


@given(st.text())
def test_any_text_is_read_or_malformed(text: str) -> None:
    assert isinstance(parse_arguments(text), dict | Malformed)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "x: y", "a": 1}',
        '{"a": 1, "a": "x: y"}',
        r'{"a": 1, "a": "\u003a"}',
        r'{"a": 1, "a": "\u003A\u003a", "b": "::"}',
        r'{"a\u003a": 1, "a:": 1}',
        '{"a:": 1, "a:": 1}',
        '{"b": [{"a": ":::", "c": {"a": 1, "a": 1}}]}',
    ],
)
def test_a_key_that_is_there_twice_is_seen_whatever_colons_there_are(text: str) -> None:
    with pytest.raises(MalformedArguments, match="twice"):
        reject_duplicate_keys(text.encode(), json.loads(text))
