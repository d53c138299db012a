"""Semantic Kernel: names in two parts, items, chunks."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.dialects.base import Answer
from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from pegboard.dialects.semantic_kernel import SemanticKernel
from tests.unit.dialects.framework_payloads import bad, calls_of, examples, good, streamed, tool_of

DIALECT = SemanticKernel()


def item(**more: Any) -> dict[str, Any]:
    return {"content_type": "function_call", **more}


def chunk(*items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"choice_index": 0, "content_type": "message", "role": "assistant", "items": list(items), **more}


def message(role: str, *items: dict[str, Any]) -> dict[str, Any]:
    return {"content_type": "message", "role": role, "items": list(items)}


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"name": "weather-get", "plugin_name": "weather", "function_name": "get"}, "weather-get"),
        ({"plugin_name": "weather", "function_name": "get"}, "weather-get"),
        ({"function_name": "get"}, "get"),
        ({"name": "a-b-c"}, "a-b-c"),
    ],
)
def test_the_name_is_the_plugin_and_the_function(given: dict[str, Any], name: str) -> None:
    (call,) = calls_of(DIALECT, item(id="c1", arguments={}, **given), received=False)
    assert call.name == name


@pytest.mark.parametrize(
    ("name", "extra", "parts"),
    [
        ("weather-get", {}, ("weather", "get")),
        ("a-b-c", {}, ("a", "b-c")),
        ("a-b-c", {"plugin_name": "a-b", "function_name": "c"}, ("a-b", "c")),
        ("get", {}, (None, "get")),
        ("-get", {}, (None, "-get")),
    ],
)
def test_an_answer_names_both_parts_as_they_were_asked_for(name: str, extra: dict[str, str], parts: Any) -> None:
    call = AskedCall(name, {}, "c1", extra=extra)
    (answered,) = DIALECT.render([Answer(call, good(1, name))], many=False)["items"]
    assert (answered["name"], answered.get("plugin_name"), answered["function_name"]) == (name, *parts)


def test_an_answer_keeps_both_ids() -> None:
    (call,) = calls_of(DIALECT, message("assistant", item(id="fc_1", call_id="c1", name="a", arguments="{}")))
    assert call.id == "c1"
    (answered,) = DIALECT.render([Answer(call, good(1))], many=False)["items"]
    assert (answered["id"], answered["call_id"]) == ("fc_1", "c1")
    assert calls_of(DIALECT, DIALECT.compose([call])) == [call]


def test_there_is_one_message_an_answer_and_a_failure_says_so() -> None:
    answers = [Answer(AskedCall("a", {}, "c1"), good("hi", "a")), Answer(AskedCall("b", {}, "c2"), bad("no", "b"))]
    rendered = DIALECT.render(answers, many=True)
    assert [(one["role"], one["items"][0]["id"], one["items"][0]["result"]) for one in rendered] == [
        ("tool", "c1", "hi"),
        ("tool", "c2", '{"error":"no"}'),
    ]


def test_a_history_has_its_answers() -> None:
    result = {"content_type": "function_result", "id": "c1", "result": "7", "name": "a"}
    history = {
        "messages": [message("assistant", item(id="c1", name="a"), item(id="c2", name="b")), message("tool", result)]
    }
    assert [(call.id, call.result) for call in calls_of(DIALECT, history, received=False)] == [
        ("c1", "7"),
        ("c2", ABSENT),
    ]


def test_interleaved_calls_are_distinguished_by_index() -> None:
    chunks = [
        chunk(item(id="c1", index=0, name="a", arguments=""), item(id="c2", index=1, name="b", arguments="")),
        chunk(item(index=1, function_name="", arguments='{"x"')),
        chunk(item(index=0, function_name="", arguments='{"y": 1}')),
        chunk(item(index=1, function_name="", arguments=": 2}")),
    ]
    assert streamed(DIALECT, chunks) == [AskedCall("a", {"y": 1}, "c1"), AskedCall("b", {"x": 2}, "c2")]


def test_an_empty_object_at_the_head_is_what_more_may_follow() -> None:
    head = chunk(item(id="c1", index=0, name="a", arguments="{}"))
    assert streamed(DIALECT, [head]) == [AskedCall("a", {}, "c1")]
    assert streamed(DIALECT, [head, chunk(item(index=0, arguments='{"x": 1}'))]) == [AskedCall("a", {"x": 1}, "c1")]


def test_a_stream_that_says_it_is_over_may_have_calls_without_arguments() -> None:
    head = chunk(item(id="c1", index=0, name="a", arguments=""))
    assert streamed(DIALECT, [head])[0].is_malformed
    assert streamed(DIALECT, [head, chunk(finish_reason="tool_calls")]) == [AskedCall("a", {}, "c1")]


def test_whole_calls_without_an_index_are_not_run_together() -> None:
    chunks = [chunk(item(name="a", arguments={"x": 1})), chunk(item(name="b", arguments={"x": 2}))]
    assert streamed(DIALECT, chunks) == [AskedCall("a", {"x": 1}), AskedCall("b", {"x": 2})]


def test_a_definition_is_that_of_the_example() -> None:
    (case,) = examples("semantic_kernel", "definition")
    function = case.payload[0]["function"]
    tool = tool_of(function["name"], function["parameters"], function["description"])
    assert DIALECT.define_all([tool]) == case.payload
