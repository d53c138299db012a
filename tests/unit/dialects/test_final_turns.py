"""A message without calls, such as the last of an agent loop, is parsed as such and not as a broken call."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pegboard.dialects.catalog import load_dialects
from pegboard.dialects.final_turn import has_visible_calls
from pegboard.dialects.parsed_calls import Unreadable

KNOWN = load_dialects()
TEXT = {"type": "text", "text": "Done."}
USER = {"role": "user", "content": "Go."}
TURNS: list[tuple[Any, str]] = [
    ({"role": "assistant", "content": "Done."}, "openai_chat"),
    ({"role": "assistant", "content": "Done.", "tool_calls": None}, "openai_chat"),
    ({"role": "assistant", "content": "Done.", "tool_calls": []}, "openai_chat"),
    ({"role": "assistant", "content": None, "audio": {"id": "a"}}, "openai_chat"),
    ([USER, {"role": "assistant", "content": "Done."}], "openai_chat"),
    ({"messages": [USER, {"role": "assistant", "content": "Done."}], "tools": [{"type": "function"}]}, "openai_chat"),
    ({"role": "assistant", "content": [TEXT]}, "anthropic_messages"),
    ([USER, {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm"}, TEXT]}], "anthropic_messages"),
    ([TEXT], "anthropic_messages"),
    ({"role": "model", "parts": [{"text": "Done."}]}, "gemini_generate_content"),
    ({"role": "model", "parts": None}, "gemini_generate_content"),
    ({"contents": [{"role": "user", "parts": [{"text": "Go."}]}]}, "gemini_generate_content"),
    ({"content": {"role": "model", "parts": [{"text": "Done."}]}, "index": 0}, "gemini_generate_content"),
    ({"role": "assistant", "content": [{"text": "Done."}]}, "bedrock_converse"),
    ({"role": "assistant", "content": [{"reasoningContent": {}}, {"text": "Done."}]}, "bedrock_converse"),
    (
        {"output": {"message": {"role": "assistant", "content": [{"text": "Done."}]}}, "stopReason": "end_turn"},
        "bedrock_converse",
    ),
    ({"text": "Done.", "toolCalls": []}, "mastra"),
    ({"text": "Done.", "toolCalls": [], "toolResults": [], "steps": [{"toolCalls": []}]}, "mastra"),
    (USER, "plain"),
    ([{"text": "Done."}], "plain"),
    ("Done.", "plain"),
    ("[1] says so, see `<tool_call>`", "plain"),
    ("<think>Hm</think>Action: none is needed", "plain"),
    ("```\n[TOOL_CALLS] is how it looks\n```\n", "plain"),
    ("data: as in the table", "plain"),
    (["Do", "ne."], "plain"),
]
# Payloads with a visible call that cannot be parsed, or that may be cut off.
OTHERS: list[Any] = [
    {"role": "assistant", "content": [TEXT, {"type": "tool_use", "name": "a"}]},
    {"role": "assistant", "content": [TEXT, {"type": "tool_call", "name": "a", "args": {}}]},
    {"role": "assistant", "content": [{"name": "a", "arguments": {}}]},
    {"role": "assistant", "content": "Done.", "tool_use": {"name": "a"}},
    {"role": "assistant", "content": "Done.", "functionCalls": [{"name": "a"}]},
    {"role": "model", "parts": [{"text": "Done."}, {"functionCalls": [{"name": "a"}]}]},
    {"text": "Done.", "toolCalls": [{"a": 1}]},
    {"text": "Done.", "toolCalls": [], "steps": [{"toolCalls": [{"a": 1}]}]},
    {"messages": [USER, {"role": "assistant", "tool": {"name": "a"}}]},
    {"role": "admin", "content": "Done."},
    {"text": "hi", "count": 3},
    {"content": "Done."},
    [USER, {"x": 1}],
    '{"name": "a", "argum',
    '[{"name": "a"',
    'data: {"choices": [',
    "[TOOL_CALLS] a",
]


@pytest.mark.parametrize(("payload", "dialect"), TURNS)
def test_a_message_without_calls_has_none_in_its_own_dialect(payload: Any, dialect: str) -> None:
    assert KNOWN.read(payload) == (dialect, (), True)
    if not isinstance(payload, str):
        assert KNOWN.read(json.dumps(payload)) == (dialect, (), True)


@pytest.mark.parametrize("name", [name for name, dialect in KNOWN.items() if "history" in dialect.abilities])
def test_the_last_turn_of_every_dialect_has_no_calls(name: str) -> None:
    dialect = KNOWN[name]
    turn = json.loads(json.dumps(dialect.say("assistant", "Done.", "m1")))
    history = [*json.loads(json.dumps(dialect.say("user", "Go.", "m0"))), *turn]
    for payload in (turn[0], turn, history):
        assert KNOWN.read(payload).calls == ()
        assert KNOWN.read(payload, name)[:2] == (name, ())


@pytest.mark.parametrize("payload", OTHERS)
def test_what_may_be_a_call_is_no_message_without_calls(payload: Any) -> None:
    with pytest.raises(Unreadable, match="unrecognised_format"):
        KNOWN.read(payload)


@pytest.mark.parametrize("payload", [{"role": "assistant", "content": "Done."}, "Done."])
def test_a_payload_that_must_have_calls_is_refused_without_them(payload: Any) -> None:
    with pytest.raises(Unreadable):
        KNOWN.read(payload, has_calls=True)


def test_the_name_of_a_tool_alone_is_no_final_text() -> None:
    with pytest.raises(Unreadable):
        KNOWN.read("echo", schema_of={"echo": {}}.get)


def test_null_calls_and_definitions_are_no_calls() -> None:
    quiet = {
        "tool_calls": None,
        "function_call": None,
        "toolCalls": [],
        "tools": [{"type": "function"}],
        "x": ["tool_use"],
    }
    assert not has_visible_calls([quiet, {"usage": {"tool_use_prompt_token_count": 3}}])
    assert has_visible_calls([quiet, {"a": {"b": [{"type": "function_call"}]}}])


def test_a_list_is_in_the_dialect_of_its_first_call_and_not_of_a_message_that_looks_like_another() -> None:
    call = {"id": "abcdefghi", "function": {"name": "echo", "arguments": "{}"}}
    finished = {"role": "assistant", "content": "Done.", "tool_calls": None}
    answer = {"role": "tool", "content": "1", "tool_call_id": "abcdefghi", "name": "echo"}
    asking = {"role": "assistant", "content": "", "tool_calls": [call]}
    for history in ([USER, asking, answer, finished], [USER, finished, USER, asking]):
        asked = KNOWN.read(history)
        assert (asked.dialect, len(asked.calls)) == ("mistral", 1)
