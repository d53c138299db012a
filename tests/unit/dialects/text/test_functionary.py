"""Calls in a tag that names the function."""

from __future__ import annotations

import pytest

from pegboard.dialects.text.marked_calls import Functionary31
from tests.unit.dialects.text.feeding import calls_of, list_malformed_calls, list_valid_calls, render_success


@pytest.mark.parametrize(
    ("text", "is_known"),
    [
        ("<function=f>{", True),
        ("<function=f>\n {", True),
        ("<function=f>", False),
        ("<function=f>\n<parameter=a>", False),
        ("<function=f></function>", False),
        ("<function=", False),
    ],
)
def test_it_is_recognised_by_the_object_after_the_tag(text: str, is_known: bool) -> None:
    assert Functionary31().recognises(text) is is_known


def test_an_end_tag_in_a_string_ends_nothing() -> None:
    text = '<function=f>{"a": "</function>", "b": "<function=g>{}</function>"}</function>'
    assert list_valid_calls(Functionary31(), text) == [("f", {"a": "</function>", "b": "<function=g>{}</function>"})]


def test_a_call_without_its_end_tag_is_malformed() -> None:
    assert list_malformed_calls(Functionary31(), '<function=f>{"a": 1}') == [("f", '{"a": 1}')]
    assert list_malformed_calls(Functionary31(), "<function=f>{}<function=g>{}</func") == [
        ("f", "{}"),
        ("g", "{}</func"),
    ]
    assert list_malformed_calls(Functionary31(), "<function=f>{} and more</function>") == [("f", "{} and more")]


def test_no_arguments_are_none_and_no_name_is_no_call() -> None:
    assert list_valid_calls(Functionary31(), "<function=f></function>") == [("f", {})]
    assert calls_of(Functionary31(), "<function=>{}</function><function=a b>{}</function>") == []


def test_an_answer_is_a_turn_of_the_tools() -> None:
    assert render_success(Functionary31()) == (
        '<|start_header_id|>ipython<|end_header_id|>\n\n{"temp_c": 7.5, "sky": "bewölkt"}<|eot_id|>'
    )
