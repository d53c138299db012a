"""Conversion of a response."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.kinds.mcp.tool_result import read_output
from pegboard.model.call_errors import ExecutionFailed


def text(message: str) -> dict[str, Any]:
    return {"type": "text", "text": message}


IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}


@pytest.mark.parametrize(
    ("result", "output"),
    [
        ({"content": [text("hi")]}, "hi"),
        ({"content": [text('{"a": 1}')]}, '{"a": 1}'),
        ({"content": []}, {"content": []}),
        ({"content": [text("a"), text("b")]}, {"content": [text("a"), text("b")]}),
        ({"content": [IMAGE]}, {"content": [IMAGE]}),
        ({"content": [text('{"b": 2, "a": [1]}')], "structuredContent": {"a": [1], "b": 2}}, {"a": [1], "b": 2}),
        ({"content": [text("3")], "structuredContent": {"result": 3}}, {"result": 3}),
        ({"content": [text("hi")], "structuredContent": {"result": "hi"}}, {"result": "hi"}),
        ({"content": [text("1"), text("2")], "structuredContent": {"result": [1, 2]}}, {"result": [1, 2]}),
        ({"content": [], "structuredContent": {"result": []}}, {"result": []}),
        ({"content": [text("null")], "structuredContent": None}, None),
        ({"content": [text("7")], "structuredContent": 7}, 7),
    ],
)
def test_an_answer_is_as_short_as_it_can_be_without_losing_anything(result: dict[str, Any], output: Any) -> None:
    assert read_output(result) == output


@pytest.mark.parametrize(
    ("content", "structured"),
    [
        ([text("It is warm.")], {"degrees": 21}),
        ([text("1")], {"result": True}),
        ([text("21"), IMAGE], {"result": 21}),
        ([text("1"), text("3")], {"result": [1, 2]}),
        ([text(f"{2**70}")], {"result": 2**70 + 1}),
    ],
)
def test_text_that_says_something_else_is_kept_beside_structured_content(
    content: list[dict[str, Any]], structured: Any
) -> None:
    result = {"content": content, "structuredContent": structured}
    assert read_output(result) == {"content": content, "structuredContent": structured}


def test_a_tool_with_an_output_schema_answers_with_structured_content() -> None:
    result = {"content": [text("It is warm.")], "structuredContent": {"degrees": 21}}
    assert read_output(result, has_output_schema=True) == {"degrees": 21}


def test_a_tool_with_an_output_schema_that_sends_none_answers_with_what_there_is() -> None:
    assert read_output({"content": [text("warm")]}, has_output_schema=True) == "warm"


def test_the_full_answer_is_everything() -> None:
    assert read_output({"content": [text("hi")]}, response="full") == {"content": [text("hi")]}
    whole = {"content": [text("3")], "structuredContent": {"result": 3}}
    assert read_output(whole, response="full", has_output_schema=True) == whole


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([text("no such city")], "no such city"),
        ([text("one"), IMAGE, text("two")], "one\ntwo"),
        ([], "The tool failed without an error message"),
        ([IMAGE], "The tool failed without an error message"),
        ([text("x" * 5000)], "x" * 1999 + "…"),
    ],
)
def test_an_answer_that_is_an_error_is_a_failure_with_its_text(content: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(ExecutionFailed) as failed:
        read_output({"content": content, "isError": True, "structuredContent": {"a": 1}}, response="full")
    assert failed.value.message == message
