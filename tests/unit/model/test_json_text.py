"""JSON text that every database can store, and the equality of JSON values."""

from __future__ import annotations

import json
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest

from pegboard.model.json_text import is_json_equal, is_uuid, json_text, replace_unstorable


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        ({"a": 1, "b": [2]}, {"b": [2.0], "a": 1}),
        ([1, "x"], (1, "x")),
        ({"a": None}, MappingProxyType({"a": None})),
        (Decimal(2), 2),
        (True, True),
    ],
)
def test_equal_values_are_equal_in_any_order_and_form(one: Any, other: Any) -> None:
    assert is_json_equal(one, other)
    assert is_json_equal(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (True, 1),
        (False, 0.0),
        ({"a": [True]}, {"a": [1]}),
        ({"a": None}, {}),
        ([1], [1, 2]),
        ([], {}),
        (None, False),
        ("1", 1),
    ],
)
def test_values_that_differ_in_json_are_not_equal(one: Any, other: Any) -> None:
    assert not is_json_equal(one, other)
    assert not is_json_equal(other, one)


def test_exact_numbers_distinguish_one_from_one_point_zero_at_any_depth() -> None:
    assert not is_json_equal({"a": [1]}, {"a": [1.0]}, exact_numbers=True)
    assert is_json_equal({"a": [1.0, 2]}, {"a": [1.0, 2]}, exact_numbers=True)


@pytest.mark.parametrize("value", [2**70, {"a": [-(2**80)]}, "\ud800", Decimal("1.10"), [None, {"x": "é"}]])
def test_json_text_is_json_that_can_be_stored(value: Any) -> None:
    text = json_text(value)
    text.encode()
    assert json.loads(text, parse_float=Decimal) == value


def test_a_value_that_is_not_json_becomes_a_string() -> None:
    assert json.loads(json_text({"a": object})).startswith("{'a': <class")


def test_unstorable_characters_are_replaced_and_others_kept() -> None:
    assert replace_unstorable("a\0b\ud800é") == "a\ufffdb?é"


def test_only_the_canonical_form_is_a_uuid() -> None:
    assert is_uuid("0190AAAA-0000-7000-8000-000000000001")
    for text in ("0190aaaa000070008000000000000001", "{0190aaaa-0000-7000-8000-000000000001}", "x"):
        assert not is_uuid(text)
