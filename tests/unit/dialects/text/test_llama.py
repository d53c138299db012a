"""Calls of Llama 3: bare JSON, or built-in tools after a tag."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.dialects.detect import Dialects
from pegboard.dialects.text.llama import Llama31
from tests.formats import cases
from tests.unit.dialects.text.feeding import calls_of, in_pieces, list_malformed_calls, list_valid_calls, render_success

(EXAMPLE,) = (case for case in cases("result") if str(case) == "text_llama31-success")
CALL = '{"name": "f", "parameters": {"a": 1}}'
MADE = ("f", {"a": 1})
HEAD = "<|start_header_id|>{}<|end_header_id|>\n\n"


@pytest.mark.parametrize(
    ("text", "times"),
    [
        (CALL, 1),
        (f"{CALL}<|eot_id|>", 1),
        (f"\n  {CALL}\nThat is it.", 1),
        (f"I look it up.\n{CALL}", 1),
        (f"{CALL}; {CALL}", 2),
        (f"{CALL}\n\n{CALL}, {CALL}", 3),
        (f"<|python_tag|>{CALL}<|eom_id|>", 1),
        (f"<|python_tag|>{CALL}; {CALL}", 2),
        (HEAD.format("assistant") + CALL, 1),
        ('{"type": "function", "name": "f", "parameters": {"a": 1}}<|eom_id|>', 1),
        ('<|python_tag|>f.call(a=1)<|eom_id|>', 1),
        ("Sure: <|python_tag|>f.call(\n  a = 1\n)", 1),
        (f"Write {CALL} to call it.", 0),
        (f"For example\n```json\n{CALL}\n```\n", 0),
        (HEAD.format("ipython") + CALL + "<|eot_id|>" + HEAD.format("user") + CALL + "<|eot_id|>", 0),
        ("<|python_tag|>import os\nos.remove('a')", 0),
        ("<|python_tag|>f(a=1)", 0),
        ('{"name": "f", "parameters": {"a": 1}, "description": "No call"}', 0),
        ('{"name": "f", "arguments": {}}', 0),
        ('{"name": 1, "parameters": {}} {"parameters": {}} {"type": "object", "name": "f", "parameters": {}}', 0),
    ],
)  # fmt: skip
def test_a_call_stands_at_the_beginning_of_a_line_or_after_the_tag(text: str, times: int) -> None:
    assert list_valid_calls(Llama31(), text) == list_valid_calls(Llama31(), *in_pieces(text, 1)) == [MADE] * times
    assert list_malformed_calls(Llama31(), text) == []


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ('{"name": "f", "parameters": {"a": "Zü', '{"a": "Zü'),
        ('{"name": "f", "parameters": {"a": 1}', '{"a": 1}'),
        ('{"name": "f", "parameters": {"a": 1, "a": 2}}', '{"a": 1, "a": 2}}'),
        ('{"type": "function", "name": "f", "parameters": {\'a\': 1}}', "{'a': 1}}"),
        ("<|python_tag|>f.call(a=", "a="),
        ("<|python_tag|>f.call(a=<|eom_id|>", "a="),
    ],
)
def test_a_call_that_cannot_be_read_is_malformed(text: str, rest: str) -> None:
    assert (list_valid_calls(Llama31(), text), list_malformed_calls(Llama31(), text)) == ([], [("f", rest)])


@pytest.mark.parametrize(
    ("payload", "is_known"),
    [
        (CALL, True),
        (f"{CALL}<|eot_id|>", True),
        ([{"name": "f", "parameters": {"a": 1}}], True),
        ({"name": "f", "parameters": "{}"}, True),
        ("<|python_tag|>f.call(", True),
        ("<|python_tag|>print(1)", False),
        ({"name": "f", "parameters": {}, "description": "a tool"}, False),
        ({"name": 1, "parameters": {}}, False),
        ({"parameters": {}}, False),
        ('The key "parameters" is for arguments', False),
    ],
)
def test_it_is_recognised_by_its_two_fields(payload: Any, is_known: bool) -> None:
    assert (Dialects([Llama31()]).detect(payload) is not None) is is_known


def test_an_object_is_a_call_unchanged() -> None:
    (call,) = calls_of(Llama31(), {"name": "f", "parameters": '{"a": 1}'})
    assert (call.name, call.arguments) == MADE


def test_an_answer_is_a_turn_with_a_json_string() -> None:
    assert render_success(Llama31()) == EXAMPLE.payload
