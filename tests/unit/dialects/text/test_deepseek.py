"""Calls of DeepSeek's models."""

from __future__ import annotations

from pegboard.dialects.text.marked_calls import DeepSeekR1, DeepSeekV31
from tests.unit.dialects.text.feeding import list_malformed_calls, list_valid_calls, render_success

CALL, SEP, END = "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"


def test_a_call_that_is_cut_before_its_end_mark_is_malformed_and_the_next_is_not() -> None:
    assert list_malformed_calls(DeepSeekV31(), f'{CALL}f{SEP}{{"a": 1}}') == [("f", '{"a": 1}')]
    assert list_malformed_calls(DeepSeekR1(), f'{CALL}function{SEP}f\n```json\n{{"a": 1}}\n```') == [
        ("f", '{"a": 1}\n')
    ]
    text = f"{CALL}f{SEP}{{}}{CALL}g{SEP}{{}}{END}"
    assert (list_malformed_calls(DeepSeekV31(), text), list_valid_calls(DeepSeekV31(), text)) == (
        [("f", "{}")],
        [("g", {})],
    )


def test_a_name_that_is_cut_off_is_no_call() -> None:
    for text in (CALL, f"{CALL}get", f"{CALL}get_weather{END}"):
        assert (list_valid_calls(DeepSeekV31(), text), list_malformed_calls(DeepSeekV31(), text)) == ([], [])
    assert list_malformed_calls(DeepSeekR1(), f"{CALL}function{SEP}get_wea") == []


def test_arguments_that_are_no_block_of_json_are_malformed_in_r1() -> None:
    assert list_malformed_calls(DeepSeekR1(), f"{CALL}function{SEP}f\n{{}}{END}") == [("f", "")]
    assert list_malformed_calls(DeepSeekR1(), f"{CALL}function{SEP}f\n```json\nhello\n```{END}") == [("f", "hello\n")]


def test_a_tool_named_function_is_still_reported_from_r1() -> None:
    text = f'{CALL}function{SEP}{{"a": 1}}{END}'
    assert DeepSeekV31().recognises(text)
    assert not DeepSeekR1().recognises(text)


def test_answers_are_outputs_between_marks() -> None:
    one = '<｜tool▁output▁begin｜>{"temp_c": 7.5, "sky": "bewölkt"}<｜tool▁output▁end｜>'
    assert render_success(DeepSeekV31()) == one
    assert render_success(DeepSeekV31(), 2) == one + one
    assert render_success(DeepSeekR1(), 2) == f"<｜tool▁outputs▁begin｜>{one}\n{one}<｜tool▁outputs▁end｜>"
