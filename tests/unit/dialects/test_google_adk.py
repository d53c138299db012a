"""Events of Google's Agent Development Kit."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from pegboard.dialects.base import Answer
from pegboard.dialects.google_adk import GoogleAdk
from pegboard.dialects.parsed_calls import AskedCall
from tests.formats import Case
from tests.unit.dialects.framework_payloads import (
    CALLS,
    JSON,
    answer_in,
    bad,
    calls_of,
    examples,
    good,
    never_raises,
    replace_one_value,
    streamed,
    tool_of,
)

DIALECT = GoogleAdk()
PAYLOADS = [case.payload for case in examples("google_adk", "call", "stream", "result")]


def event(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"author": "agent", "invocationId": "i1", "content": {"role": "model", "parts": list(parts)}, **more}


def call(identity: str, **args: Any) -> dict[str, Any]:
    return {"functionCall": {"id": identity, "name": "add", "args": args}}


@pytest.mark.parametrize("case", examples("google_adk", "result"), ids=str)
def test_a_result_is_the_event_of_the_example_but_for_its_id_and_time(case: Case) -> None:
    rendered = DIALECT.render([answer_in(case)], many=False)
    assert rendered == {key: value for key, value in case.payload.items() if key not in ("id", "timestamp")}
    types.Content.model_validate(rendered["content"])


@pytest.mark.parametrize("case", examples("google_adk", "definition"), ids=str)
def test_definitions_are_those_of_the_examples(case: Case) -> None:
    tools = [tool_of(given["name"], given["parametersJsonSchema"], given["description"]) for given in case.payload]
    assert DIALECT.define_all(tools) == case.payload
    types.FunctionDeclaration.model_validate(DIALECT.define(tools[0]))


@given(CALLS)
def test_calls_that_are_composed_are_read_back(calls: list[AskedCall]) -> None:
    calls = [calls[0]._replace(extra={"long_running": True, "thought_signature_b64": "cw=="}), *calls[1:]]
    composed = DIALECT.compose(calls)
    assert calls_of(DIALECT, composed, received=False) == calls
    types.Content.model_validate(composed["content"])


def test_calls_of_partial_events_that_the_final_one_repeats_count_once() -> None:
    partial = [event(call("early", a=1), partial=True), event(call("early", a=1), call("x"), partial=True)]
    final = event(call("adk-1", a=1), call("adk-2"), longRunningToolIds=["adk-2"])
    calls = [AskedCall("add", {"a": 1}, "adk-1"), AskedCall("add", {}, "adk-2", extra={"long_running": True})]
    assert streamed(DIALECT, [*partial, final]) == calls
    assert calls_of(DIALECT, [*partial, final], received=False) == calls


def test_a_final_event_without_calls_leaves_those_of_partial_events() -> None:
    events = [event(call("adk-1", a=1), partial=True), event({"text": "Let me"})]
    assert calls_of(DIALECT, events) == [AskedCall("add", {"a": 1}, "adk-1")]


def test_arguments_that_partial_events_streamed_and_no_one_completed_are_malformed() -> None:
    piece = {"name": "add", "willContinue": True, "partialArgs": [{"jsonPath": "$.a", "numberValue": 1}]}
    [broken] = streamed(DIALECT, [event({"functionCall": piece}, partial=True)])
    assert broken.arguments.text == '{"a":1'
    [whole] = streamed(DIALECT, [event({"functionCall": piece}, partial=True), event(call("adk-1", a=1))])
    assert whole == AskedCall("add", {"a": 1}, "adk-1")


def test_a_session_says_which_calls_are_answered() -> None:
    def answer(identity: str, response: Any) -> dict[str, Any]:
        return {"functionResponse": {"id": identity, "name": "add", "response": response}}

    events = [
        event(call("1"), call("2"), call("3"), call("4")),
        event(answer("1", {"result": 2}), answer("2", {"error": "no"}), answer("3", {"sum": 1, "result": 2})),
    ]
    calls = calls_of(DIALECT, events, received=False)
    assert [(one.result, one.error) for one in calls[:1]] == [(2, None)]
    assert calls[1].error == "no"
    assert calls[2].result == {"sum": 1, "result": 2}
    assert calls[3].is_open
    assert calls_of(DIALECT, {"appName": "x", "events": events}) == calls


def test_what_the_python_sdk_dumps_is_read_too() -> None:
    parts = [{"function_call": {"id": "1", "name": "add", "args": {}}, "text": None}]
    dumped = {"author": "agent", "invocation_id": "i", "content": {"parts": parts}, "long_running_tool_ids": {"1"}}
    assert calls_of(DIALECT, dumped, received=False) == [AskedCall("add", {}, "1", extra={"long_running": True})]


def test_a_failure_says_so_in_the_response() -> None:
    answers = [Answer(AskedCall("add", {}, "1"), bad("No")), Answer(AskedCall("add", {}, "2"), good([1]))]
    parts = DIALECT.render(answers, many=True)["content"]["parts"]
    assert [part["functionResponse"]["response"] for part in parts] == [{"error": "No"}, {"result": [1]}]


@given(st.one_of(JSON, replace_one_value(PAYLOADS), replace_one_value(PAYLOADS).map(lambda payload: [payload])))
def test_nothing_but_a_refusal_comes_of_any_json(payload: Any) -> None:
    never_raises(DIALECT, payload)
