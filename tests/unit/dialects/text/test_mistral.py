"""Calls of Mistral's models."""

from __future__ import annotations

import pytest

from pegboard.dialects.detect import Dialects
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.text.mistral_text import MistralNemo, MistralSmall32
from tests.unit.dialects.text.feeding import calls_of, failed, list_malformed_calls, list_valid_calls, render_success

WEATHER = '{"city": "Zürich"}'


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[TOOL_CALLS][{", "text_mistral_nemo"),
        ("[TOOL_CALLS] [{", "text_mistral_nemo"),
        ("[TOOL_CALLS]f[CALL_ID]", "text_mistral_small32"),
        ("[TOOL_CALLS]f[ARGS]", "text_mistral_small32"),
        ("[TOOL_CALLS]f{", "text_mistral_small32"),
        ("[TOOL_CALLS]", None),
        ("[TOOL_CALLS]f", None),
        ("The mark [TOOL_CALLS] begins a call", None),
    ],
)
def test_the_text_after_the_mark_distinguishes_the_two(text: str, name: str | None) -> None:
    found = Dialects([MistralNemo(), MistralSmall32()]).detect(text)
    assert (found.name if found else None) == name


def test_ids_come_and_go() -> None:
    calls = [AskedCall("f", {"a": 1}, "abcdef123"), AskedCall("g", {})]
    for dialect in (MistralNemo(), MistralSmall32()):
        assert calls_of(dialect, dialect.compose(calls)) == calls


def test_special_tokens_may_be_left_out_of_a_named_call() -> None:
    assert list_valid_calls(MistralSmall32(), f"Sure. [TOOL_CALLS]f{WEATHER}[TOOL_CALLS]g{{}}") == [
        ("f", {"city": "Zürich"}),
        ("g", {}),
    ]


def test_a_named_call_without_whole_arguments_is_malformed() -> None:
    assert list_malformed_calls(MistralSmall32(), '[TOOL_CALLS]f[ARGS]{"city": "Zü') == [("f", '{"city": "Zü')]
    assert list_malformed_calls(MistralSmall32(), "[TOOL_CALLS]f[CALL_ID]1[TOOL_CALLS]g[ARGS]") == [
        ("f", ""),
        ("g", ""),
    ]
    assert list_malformed_calls(MistralSmall32(), "[TOOL_CALLS]f") == []
    assert list_malformed_calls(MistralSmall32(), "[TOOL_CALLS]f[ARGS][TOOL_CALLS]") == [("f", "")]


def test_prose_after_the_mark_names_no_tool() -> None:
    text = "[TOOL_CALLS] is what begins a call, as in {}."
    assert calls_of(MistralSmall32(), text) == calls_of(MistralNemo(), text) == []


def test_an_array_that_is_cut_off_keeps_its_whole_calls() -> None:
    text = f'[TOOL_CALLS][{{"name": "f", "arguments": {WEATHER}}}, {{"id": "1", "name": "g", "arguments": {{"a": [1'
    assert list_valid_calls(MistralNemo(), text) == [("f", {"city": "Zürich"})]
    assert list_malformed_calls(MistralNemo(), text) == [("g", '{"a": [1')]


def test_an_object_that_is_no_call_is_malformed() -> None:
    assert list_malformed_calls(MistralNemo(), '[TOOL_CALLS][{"tool": "f"}, {"name": 7}, {\'name\': 1}, 7]') == [
        ("", '{"tool": "f"}'),
        ("", '{"name": 7}'),
        ("", "{'name': 1}"),
    ]


def test_arguments_may_be_a_text_of_json_or_left_out() -> None:
    text = '[TOOL_CALLS][{"name": "f", "arguments": "{\\"a\\": 1}"}, {"name": "g"}]'
    assert list_valid_calls(MistralNemo(), text) == [("f", {"a": 1}), ("g", {})]


def test_what_it_thinks_in_its_own_marks_is_no_call() -> None:
    assert calls_of(MistralSmall32(), "[THINK]perhaps [TOOL_CALLS]f[ARGS]{}[/THINK]No.") == []


def test_answers_go_by_the_id() -> None:
    content = '{"temp_c": 7.5, "sky": "bewölkt"}'
    assert render_success(MistralNemo(), id="abcdef123") == (
        f'[TOOL_RESULTS]{{"content": {content}, "call_id": "abcdef123"}}[/TOOL_RESULTS]'
    )
    assert render_success(MistralSmall32(), id="abcdef123") == (
        f"[TOOL_RESULTS]abcdef123[TOOL_CONTENT]{content}[/TOOL_RESULTS]"
    )
    assert failed(MistralNemo(), id="1") == (
        '[TOOL_RESULTS]{"content": "Error: It said \\"no\\"", "call_id": "1"}[/TOOL_RESULTS]'
    )
