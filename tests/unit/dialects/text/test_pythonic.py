"""Calls in Python syntax."""

from __future__ import annotations

import pytest

from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.text.pythonic import Lfm25Pythonic
from pegboard.model.api_errors import Invalid
from tests.formats import cases
from tests.unit.dialects.text.feeding import calls_of, in_pieces, list_malformed_calls, list_valid_calls, render_success

(EXAMPLE,) = (case for case in cases("result") if str(case) == "text_lfm25_pythonic-success")


def calls(inside: str) -> str:
    return f"<|tool_call_start|>[{inside}]<|tool_call_end|>"


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("'a\nb'", "a\nb"),
        (r"'it\'s'", "it's"),
        ('"it\'s"', "it's"),
        (r"'\x41\u00e9\U0001f680\101\n\t\\\/\d\8'", "Aé🚀A\n\t\\\\/\\d\\8"),
        (r'"\ud83d\ude80\/"', "🚀/"),
        (r'"\d\n"', "\\d\n"),
        ("')]<|tool_call_end|>('", ")]<|tool_call_end|>("),
        ("[True, False, None, true, false, null]", [True, False, None, True, False, None]),
        ("{'a': {\"b\": [1, -2.5, 1e-05]}, \"c\": 'd'}", {"a": {"b": [1, -2.5, 1e-05]}, "c": "d"}),
        ("12345678901234567890123", 12345678901234567890123),
    ],
)
def test_literals_of_python_and_json_are_read(literal: str, value: object) -> None:
    text = calls(f"f(a={literal}, b = 1)")
    assert (
        list_valid_calls(Lfm25Pythonic(), text)
        == list_valid_calls(Lfm25Pythonic(), *in_pieces(text, 1))
        == [("f", {"a": value, "b": 1})]
    )


@pytest.mark.parametrize(
    "inside",
    [
        "1", "'x'", "a", "a=", "a=x", "a=g()", "a=(1)", "a==1", "a=b=1", "a=1,", "a=1, a=2", "'a'=1", "a: 1", "'a': 1",
        "**{'a': 1}", "a={b=1}", "a='x' 'y'", "a='x' + 'y'", "a=f'x'", "a=r'x'", "a='''x'''", "a=1 2", "a={1: 2}",
        "a=[1}", "a=lambda: 1", "a=__import__('os')", "a=1_000", "a=nan", r"a='\ud83d'", "a=1; b=2", "a=[1]]",
    ],
)  # fmt: skip
def test_anything_else_is_malformed_and_never_evaluated(inside: str) -> None:
    found = calls_of(Lfm25Pythonic(), calls(f"f({inside})"))
    assert [(call.name, call.is_malformed) for call in found] == [("f", True)]


def test_what_is_malformed_keeps_its_text() -> None:
    assert list_malformed_calls(Lfm25Pythonic(), calls("f(a=x)")) == [("f", "a=x")]


def test_a_list_that_is_cut_off_keeps_its_whole_calls() -> None:
    text = "<|tool_call_start|>[f(a=1), g(b='Zü"
    assert list_valid_calls(Lfm25Pythonic(), text) == [("f", {"a": 1})]
    assert list_malformed_calls(Lfm25Pythonic(), text) == [("g", "b='Zü")]
    assert list_malformed_calls(Lfm25Pythonic(), "<|tool_call_start|>[f(a=[1, 2<|tool_call_end|>") == [("f", "a=[1, 2")]
    assert calls_of(Lfm25Pythonic(), "<|tool_call_start|>[get_wea") == []


def test_a_list_may_be_json_or_one_call_without_brackets() -> None:
    assert list_valid_calls(Lfm25Pythonic(), calls('{"name": "f", "arguments": {"a": 1}}, {"name": "g"}')) == [
        ("f", {"a": 1}),
        ("g", {}),
    ]
    assert list_valid_calls(Lfm25Pythonic(), "<|tool_call_start|>f(a=1)<|tool_call_end|>") == [("f", {"a": 1})]


def test_what_has_no_name_is_no_call() -> None:
    for inside in ("", "f", "(a=1)", "a b(c=1)", "]", "1, 2"):
        assert calls_of(Lfm25Pythonic(), calls(inside)) == []


def test_a_key_that_cannot_be_a_keyword_is_refused() -> None:
    with pytest.raises(Invalid, match="odd key"):
        Lfm25Pythonic().compose([AskedCall("f", {"odd key": 1})])


def test_an_answer_is_a_turn_of_the_tool() -> None:
    assert render_success(Lfm25Pythonic()) == EXAMPLE.payload
