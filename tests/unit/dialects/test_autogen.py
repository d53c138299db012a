"""AutoGen: messages, events and runs."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.dialects.autogen import AutoGen
from pegboard.dialects.base import Answer
from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from tests.unit.dialects.framework_payloads import bad, calls_of, examples, good, streamed, tool_of

DIALECT = AutoGen()
CALL = {"id": "c1", "arguments": '{"x": 1}', "name": "a"}
RESULT = {"content": "7", "name": "a", "call_id": "c1", "is_error": False}


def event(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"source": "agent", "content": content, "type": kind, **more}


def test_calls_that_a_run_repeats_count_once() -> None:
    run = {
        "messages": [
            event("TextMessage", "hi"),
            event("ToolCallRequestEvent", [CALL]),
            event("ToolCallExecutionEvent", [RESULT]),
            event("ToolCallSummaryMessage", "7", tool_calls=[CALL], results=[RESULT]),
        ],
        "stop_reason": None,
    }
    assert calls_of(DIALECT, run, received=False) == [AskedCall("a", {"x": 1}, "c1", result="7")]
    assert calls_of(DIALECT, run["messages"], received=False) == [AskedCall("a", {"x": 1}, "c1", result="7")]


def test_a_summary_alone_has_its_calls_with_their_results() -> None:
    failed = RESULT | {"is_error": True, "content": "no"}
    summary = event("ToolCallSummaryMessage", "no", tool_calls=[CALL], results=[failed])
    assert calls_of(DIALECT, summary, received=False) == [AskedCall("a", {"x": 1}, "c1", error="no")]


def test_the_same_id_in_a_later_message_is_another_call() -> None:
    request = event("AssistantMessage", [CALL])
    done = {"type": "FunctionExecutionResultMessage", "content": [RESULT]}
    assert [call.result for call in calls_of(DIALECT, [request, done, request], received=False)] == ["7", ABSENT]


@pytest.mark.parametrize("payload", [{"content": [CALL]}, {"content": [CALL], "source": "agent"}])
def test_a_message_without_a_type_is_known_by_its_calls(payload: Any) -> None:
    assert calls_of(DIALECT, payload, received=False) == [AskedCall("a", {"x": 1}, "c1")]


@pytest.mark.parametrize(
    "payload",
    [
        {"role": "assistant", "content": "hi"},
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"content": [{"type": "tool_use", "name": "a", "input": {}}], "type": "message"},
        {"messages": [{"type": "ai", "content": ""}]},
    ],
)
def test_messages_of_others_are_not_taken(payload: Any) -> None:
    assert not DIALECT.recognises(payload)


def test_texts_of_a_stream_hold_no_call() -> None:
    final = {"finish_reason": "function_calls", "content": [CALL], "cached": False, "thought": None}
    assert streamed(DIALECT, ["Action: no", final]) == [AskedCall("a", {"x": 1}, "c1")]
    assert calls_of(DIALECT, {"finish_reason": "stop", "content": "hi", "cached": False}, received=False) == []


def test_all_answers_are_in_one_message_whether_one_or_many_were_asked_for() -> None:
    answers = [Answer(AskedCall("a", {}, "c1"), good("hi", "a")), Answer(AskedCall("b", {}, "c2"), bad("no", "b"))]
    rendered = DIALECT.render(answers, many=True)
    assert [(one["content"], one["call_id"], one["is_error"]) for one in rendered["content"]] == [
        ("hi", "c1", False),
        ("no", "c2", True),
    ]
    assert len(DIALECT.render(answers[:1], many=False)["content"]) == 1


def test_an_image_is_reported_in_words() -> None:
    output = {"content": [{"type": "text", "text": "a"}, {"type": "image", "data": "aGk=", "mimeType": "image/png"}]}
    (one,) = DIALECT.render([Answer(AskedCall("a", {}, "c1"), good(output, "a"))], many=False)["content"]
    assert one["content"] == "a\n[image image/png]"


def test_a_definition_is_that_of_the_example() -> None:
    (case,) = examples("autogen", "definition")
    (shape,) = case.payload
    assert DIALECT.define(tool_of(shape["name"], shape["parameters"], shape["description"])) == shape
