"""Calls of Gemma 4, which has its own grammar."""

from __future__ import annotations

import pytest

from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.text.gemma import Gemma4
from tests.formats import cases
from tests.unit.dialects.text.feeding import calls_of, in_pieces, list_malformed_calls, list_valid_calls, render_success

(EXAMPLE,) = (case for case in cases("result") if str(case) == "text_gemma4-success")


def call(inside: str) -> str:
    return f"<|tool_call>call:f{{{inside}}}<tool_call|>"


@pytest.mark.parametrize(
    ("inside", "arguments"),
    [
        ("", {}),
        ('a:<|"|>x<|"|>', {"a": "x"}),
        ('a:<|"|><|"|>', {"a": ""}),
        ('a:<|"|>}<tool_call|>{"\\n<|"|>,b:1', {"a": '}<tool_call|>{"\\n', "b": 1}),
        ("a : [ 1 , -2.5e3 , true , null , None ]", {"a": [1, -2500.0, True, None, None]}),
        ('b:{c:{}, <|"|>d e<|"|>:[false]}', {"b": {"c": {}, "d e": [False]}}),
        ('"a":"x\\n\\"y\\""', {"a": 'x\n"y"'}),
        ("größe:12345678901234567890123", {"größe": 12345678901234567890123}),
    ],
)
def test_values_are_read(inside: str, arguments: dict[str, object]) -> None:
    assert list_valid_calls(Gemma4(), call(inside)) == [("f", arguments)]
    assert list_valid_calls(Gemma4(), *in_pieces(call(inside), 1)) == [("f", arguments)]


@pytest.mark.parametrize(
    "inside",
    [
        "a:x",
        "a",
        "a:",
        ":1",
        "a:1,",
        "a:1 2",
        "a:12:30",
        'a:<|"|>x<|"|>y',
        "a:1,a:2",
        "a:<b>",
        "a:[1}",
        "a:[}",
        "a:NaN",
    ],
)
def test_what_does_not_fit_the_grammar_is_malformed(inside: str) -> None:
    assert [found.name for found in calls_of(Gemma4(), call(inside)) if found.is_malformed] == ["f"]


def test_a_call_that_is_cut_off_is_malformed() -> None:
    assert list_malformed_calls(Gemma4(), '<|tool_call>call:f{a:<|"|>Zü') == [("f", '{a:<|"|>Zü')]
    assert list_malformed_calls(Gemma4(), "<|tool_call>call:f{a:1}") == [("f", "{a:1}")]
    assert list_malformed_calls(Gemma4(), "<|tool_call>call:f{a:1<tool_call|>") == [("f", "{a:1<tool_call|>")]
    assert list_malformed_calls(Gemma4(), "<|tool_call>call:get_wea") == []


def test_a_call_after_one_without_an_end_mark_is_read() -> None:
    text = "<|tool_call>call:f{}" + call("a:1")
    assert (list_malformed_calls(Gemma4(), text), list_valid_calls(Gemma4(), text)) == (
        [("f", "{}")],
        [("f", {"a": 1})],
    )


def test_what_is_on_the_channel_for_thoughts_is_no_call() -> None:
    assert list_valid_calls(Gemma4(), f"<|channel>thought\n{call('a:1')}<channel|>{call('a:2')}") == [("f", {"a": 2})]


def test_a_string_with_the_mark_for_strings_in_it_is_written_as_json() -> None:
    calls = [AskedCall("f", {'<|"|>': ['<|"|>', "\\"]})]
    assert calls_of(Gemma4(), Gemma4().compose(calls)) == calls


def test_an_answer_is_a_response() -> None:
    assert render_success(Gemma4()) == f"<|tool_response>{EXAMPLE.payload}"
