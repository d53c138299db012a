"""Calls of Kimi K2, whose ids contain the name."""

from __future__ import annotations

import pytest

from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.text.marked_calls import KimiK2
from tests.formats import cases
from tests.unit.dialects.text.feeding import calls_of, list_malformed_calls, list_valid_calls, render_success

(EXAMPLE,) = (case for case in cases("result") if str(case) == "text_kimi_k2-success")


def call(identity: str, arguments: str = "{}") -> str:
    return f"<|tool_call_begin|>{identity}<|tool_call_argument_begin|>{arguments}<|tool_call_end|>"


@pytest.mark.parametrize(
    ("identity", "name"),
    [
        ("functions.f:0", "f"),
        (" functions.f:12 ", "f"),
        ("functions.a.b:0", "a.b"),
        ("functions.a:b:0", "a:b"),
        ("f:0", "f"),
        ("f", "f"),
        (":0", ":0"),
        ("", ""),
    ],
)
def test_the_name_is_in_the_id(identity: str, name: str) -> None:
    assert calls_of(KimiK2(), call(identity)) == [AskedCall(name, {}, identity.strip())]


def test_an_id_is_kept_if_it_says_the_name() -> None:
    text = KimiK2().compose([AskedCall("f", {}, "functions.f:7"), AskedCall("f", {}, "call_1"), AskedCall("g", {})])
    assert [found.id for found in calls_of(KimiK2(), text)] == ["functions.f:7", "functions.f:1", "functions.g:2"]


def test_a_call_without_its_end_mark_is_malformed() -> None:
    assert list_malformed_calls(KimiK2(), call("functions.f:0", '{"a": 1}').removesuffix("<|tool_call_end|>")) == [
        ("f", '{"a": 1}')
    ]
    text = "<|tool_call_begin|>functions.f:0" + call("functions.g:1")
    assert (list_valid_calls(KimiK2(), text), list_malformed_calls(KimiK2(), text)) == ([("g", {})], [])


def test_an_end_mark_in_a_string_ends_nothing() -> None:
    assert list_valid_calls(KimiK2(), call("functions.f:0", '{"a": "<|tool_call_end|>"}')) == [
        ("f", {"a": "<|tool_call_end|>"})
    ]


def test_an_answer_goes_by_the_id() -> None:
    assert render_success(KimiK2(), id="abcdef123") == EXAMPLE.payload
