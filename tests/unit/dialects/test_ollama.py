"""Ollama's calls without ids, and answers that go by name."""

from __future__ import annotations

from typing import Any

from pegboard.dialects.base import Answer
from pegboard.dialects.detect import Dialects
from pegboard.dialects.ollama import Ollama
from pegboard.dialects.parsed_calls import AskedCall
from tests.unit.dialects.framework_payloads import bad, calls_of, good, tool_of

OLLAMA = Ollama()


def build_call_message(*numbers: int, name: str = "x") -> dict[str, Any]:
    """Return a message with one call for each number."""
    calls = [{"function": {"name": name, "arguments": {"n": number}}} for number in numbers]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def build_answer(content: str, name: str = "x") -> dict[str, Any]:
    """Return the answer to one."""
    return {"role": "tool", "tool_name": name, "content": content}


def test_answers_go_to_the_calls_of_their_name_in_order() -> None:
    history = [
        build_call_message(1, 2),
        build_answer("[1]"),
        build_answer('{"error": "no"}'),
        {"role": "user", "content": "Again"},
        build_call_message(3),
    ]
    first, second, third = calls_of(OLLAMA, history, received=False)
    assert (first.result, second.error, third.is_open) == ([1], "no", True)


def test_an_answer_after_a_whole_response_is_the_answer_to_its_call() -> None:
    response = {"model": "m", "done": True, "message": build_call_message(1)}
    assert [call.result for call in calls_of(OLLAMA, [response, build_answer("7")])] == ["7"]


def test_an_answer_to_a_call_that_is_not_in_sight_stands_alone() -> None:
    other, answered = calls_of(OLLAMA, [build_call_message(1), build_answer("7", "y")])
    assert other.is_open and other.name == "x"
    assert (answered.name, answered.result, answered.arguments) == ("y", "7", None)


def test_a_call_in_a_stream_is_given_at_once() -> None:
    stream = Dialects([OLLAMA]).stream()
    given = stream.feed({"model": "m", "done": False, "message": build_call_message(1)})
    assert [call.arguments for call in given] == [{"n": 1}]
    assert stream.feed({"model": "m", "done": True, "message": {"role": "assistant", "content": ""}}) == []
    assert stream.end() == []


def test_ids_of_newer_servers_are_read() -> None:
    call = {"id": "call_1", "function": {"index": 0, "name": "x", "arguments": {"n": 1}}}
    message = {"role": "assistant", "tool_calls": [call]}
    answer = {"role": "tool", "tool_name": "x", "tool_call_id": "call_1", "content": "7"}
    assert calls_of(OLLAMA, [message, answer], received=False) == [AskedCall("x", {"n": 1}, "call_1", "7")]


def test_one_bare_call_is_answered_by_one_message() -> None:
    known = Dialects([OLLAMA])
    asked = known.read(build_call_message(1)["tool_calls"][0])
    assert not asked.many
    assert OLLAMA.render([Answer(asked.calls[0], bad("no", "x"))], many=False) == build_answer('{"error":"no"}')
    assert OLLAMA.render([Answer(asked.calls[0], good("hi", "x"))], many=True) == [build_answer("hi")]


def test_a_definition_has_only_what_ollama_keeps() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": ["string", "null"], "maxLength": 3, "title": "A"}, "b": True},
        "additionalProperties": False,
    }
    parameters = OLLAMA.define(tool_of("x", schema, ""))["function"]["parameters"]
    assert parameters == {"type": "object", "properties": {"a": {"type": ["string", "null"]}, "b": {}}}
    assert {"maxLength", "title", "additionalProperties"} <= OLLAMA.limits.ignored


def test_calls_of_others_are_not_recognised() -> None:
    function = {"name": "x", "arguments": {}}
    assert not OLLAMA.recognises({"role": "assistant", "tool_calls": [{"type": "function", "function": function}]})
    assert not OLLAMA.recognises({"id": "abcdefghi", "function": function})
    assert not OLLAMA.recognises({"message": build_call_message(1), "finish_reason": "TOOL_CALL"})
