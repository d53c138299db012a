"""Calls of gpt-oss in Harmony."""

from __future__ import annotations

import pytest

from pegboard.dialects.text.harmony import Harmony
from tests.formats import cases
from tests.unit.dialects.text.feeding import calls_of, list_malformed_calls, list_valid_calls, render_success

(EXAMPLE,) = (case for case in cases("result") if str(case) == "text_gpt_oss_harmony-success")
BODY = '<|message|>{"a": 1}'


@pytest.mark.parametrize(
    "header",
    [
        " to=functions.f<|channel|>commentary json",
        "<|start|>assistant to=functions.f<|channel|>commentary json",
        "<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json",
        "<|channel|>commentary to=functions.f<|constrain|>json",
        "<|channel|>analysis<|message|>I need f.<|end|><|start|>assistant<|channel|>commentary to=functions.f",
    ],
)
def test_a_message_to_a_function_is_a_call_wherever_it_is_addressed(header: str) -> None:
    for end in ("<|call|>", ""):
        assert list_valid_calls(Harmony(), header + BODY + end) == [("f", {"a": 1})]


@pytest.mark.parametrize(
    "header",
    [
        "<|channel|>final",
        "<|channel|>analysis",
        "<|channel|>final to=functions.f",
        "<|channel|>analysis to=functions.f",
        "<|channel|>analysis to=python code",
        "<|start|>functions.f to=assistant<|channel|>commentary",
        "<|start|>user to=functions.f<|channel|>commentary",
        "I go to=functions.f<|channel|>commentary",
    ],
)
def test_a_message_to_any_other_user_is_none(header: str) -> None:
    assert calls_of(Harmony(), header + BODY + "<|end|>") == []


def test_a_call_that_is_quoted_in_a_thought_is_none() -> None:
    quoted = "<|start|>assistant to=functions.f<|channel|>commentary<|message|>{}<|call|>"
    assert calls_of(Harmony(), f"<|channel|>analysis<|message|>Maybe {quoted} and {quoted}<|end|>") == []


def test_several_messages_are_several_calls() -> None:
    first, second = (f"<|channel|>commentary to=functions.{name}{BODY}" for name in "fg")
    for between in ("<|call|><|start|>assistant", "<|start|>assistant"):
        assert list_valid_calls(Harmony(), first + between + second) == [("f", {"a": 1}), ("g", {"a": 1})]


def test_a_message_that_continues_after_its_json_is_malformed() -> None:
    assert list_malformed_calls(Harmony(), " to=functions.f<|message|>{} or so<|call|>") == [("f", "{} or so")]
    assert list_malformed_calls(Harmony(), " to=functions.f<|message|>") == [("f", "")]
    assert list_valid_calls(Harmony(), " to=functions.f<|message|><|call|>") == [("f", {})]


def test_a_text_without_calls_is_still_known() -> None:
    assert Harmony().recognises("<|channel|>final<|message|>Hello")
    assert not Harmony().recognises("<|channel|>other to=functions.f")


def test_an_answer_is_a_message_from_the_function() -> None:
    assert render_success(Harmony()) == EXAMPLE.payload
