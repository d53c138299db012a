"""A2A messages whose data parts are calls and results."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.dialects.a2a import A2A, convert_whole_floats
from pegboard.dialects.base import Answer
from pegboard.dialects.parsed_calls import ABSENT, AskedCall
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

DIALECT = A2A()
PAYLOADS = [case.payload for case in examples("a2a", "call", "stream", "result")]


def part(kind: str, data: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"data": data, "metadata": {"adk_type": kind, **metadata}}


def message(*parts: dict[str, Any], identity: str = "m1") -> dict[str, Any]:
    return {"messageId": identity, "role": "ROLE_AGENT", "parts": list(parts)}


CALL = part("function_call", {"id": "1", "name": "add", "args": {"a": 1.0}})
READ = [AskedCall("add", {"a": 1}, "1")]


@pytest.mark.parametrize("case", examples("a2a", "result"), ids=str)
def test_a_result_is_the_message_of_the_example_but_for_its_id(case: Case) -> None:
    rendered = DIALECT.render([answer_in(case)], many=False)
    assert rendered == {**case.payload, "messageId": "results-call_W1"}


@pytest.mark.parametrize("case", examples("a2a", "definition"), ids=str)
def test_definitions_are_the_skills_of_the_examples(case: Case) -> None:
    tools = [
        dataclasses.replace(tool_of(skill["id"], {"type": "object"}, skill["description"]), tags=("x",))
        for skill in case.payload
    ]
    assert DIALECT.define_all(tools) == case.payload


@given(CALLS)
def test_calls_that_are_composed_are_read_back(calls: list[AskedCall]) -> None:
    assert calls_of(DIALECT, DIALECT.compose(calls), received=False) == calls


@pytest.mark.parametrize(
    "payload",
    [
        CALL,
        [CALL],
        message({"text": "hi"}, CALL),
        {"message": message(CALL)},
        {"task": {"id": "t", "status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": message(CALL)}}},
        {"statusUpdate": {"taskId": "t", "status": {"message": message(CALL)}}},
        {"artifactUpdate": {"taskId": "t", "artifact": {"artifactId": "a", "parts": [CALL]}}},
        {"jsonrpc": "2.0", "id": 1, "result": {"message": message(CALL)}},
        {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message(CALL)}},
        {"kind": "message", "role": "agent", "parts": [{"kind": "data", **CALL}]},
        {"kind": "status-update", "status": {"state": "working", "message": message({"kind": "data", **CALL})}},
        {"kind": "task", "status": {"state": "completed"}, "artifacts": [{"parts": [{"kind": "data", **CALL}]}]},
        {"messageId": "m", "parts": [{"data": CALL["data"], "metadata": {"type": "function_call"}}]},
        {"messageId": "m", "parts": [{"data": {"data": CALL["data"]}, "metadata": CALL["metadata"]}]},
    ],
)
def test_a_call_is_read_in_whatever_it_comes(payload: Any) -> None:
    assert calls_of(DIALECT, payload, received=False) == READ


def test_what_a_task_repeats_of_its_updates_counts_once() -> None:
    answer = part("function_response", {"id": "1", "name": "add", "response": {"result": 2.0}})
    nameless = part("function_call", {"name": "sub", "args": {}})
    history = [message(CALL, nameless), message(answer, identity="m2")]
    stream = [
        {"statusUpdate": {"status": {"message": history[0]}}},
        {"statusUpdate": {"status": {"message": history[1]}}},
        {"task": {"id": "t", "status": {"state": "TASK_STATE_COMPLETED"}, "history": history}},
    ]
    add, sub = sorted(calls_of(DIALECT, stream, received=False))
    assert (add.result, sub.result) == (2, ABSENT)
    assert len(streamed(DIALECT, stream)) == 2


def test_two_calls_with_one_id_in_one_message_stay_two() -> None:
    assert calls_of(DIALECT, message(CALL, CALL)) == READ * 2


def test_a_data_part_that_does_not_say_it_is_a_call_is_none() -> None:
    assert (
        calls_of(DIALECT, message({"data": CALL["data"]}, {"data": CALL["data"], "metadata": {"adk_type": "x"}})) == []
    )


def test_a_long_running_call_and_code_the_agent_ran_are_reported_as_such() -> None:
    parts = [
        part("function_call", {"id": "1", "name": "add", "args": {}}, adk_is_long_running=True),
        part("executable_code", {"language": "PYTHON", "code": "1"}),
        part("code_execution_result", {"outcome": "OUTCOME_OK", "output": "1"}),
    ]
    add, code = calls_of(DIALECT, message(*parts))
    assert add.extra == {"long_running": True}
    assert code == AskedCall("code_execution", {"language": "PYTHON", "code": "1"}, result="1", provider_executed=True)
    assert calls_of(DIALECT, DIALECT.compose([code])) == [code]


def test_a_call_that_was_run_elsewhere_is_composed_with_its_answer() -> None:
    call = AskedCall("search", {}, "1", result=[1], provider_executed=True)
    [read] = calls_of(DIALECT, DIALECT.compose([call]))
    assert (read.result, read.is_open) == ([1], False)
    [unknown] = calls_of(DIALECT, DIALECT.compose([call._replace(result=ABSENT)]))
    assert not unknown.is_open


def test_a_failure_says_so_in_the_response() -> None:
    answers = [Answer(AskedCall("add", {}, "1"), bad("No")), Answer(AskedCall("add", {}, "2"), good([1]))]
    parts = DIALECT.render(answers, many=True)["parts"]
    assert [one["data"]["response"] for one in parts] == [{"error": "No"}, {"result": [1]}]


def test_integers_return_from_doubles_at_any_depth_and_nothing_else_changes() -> None:
    deep: Any = 3.0
    for _ in range(5_000):
        deep = [deep]
    whole = convert_whole_floats(deep)
    for _ in range(5_000):
        whole = whole[0]
    assert type(whole) is int
    given_value = {"a": 1.5, "b": [2.0, {"c": -0.0}], "d": 1e300, "e": True, "f": "3.0"}
    assert convert_whole_floats(given_value) == given_value
    assert [type(item) for item in convert_whole_floats(given_value).values()] == [float, list, float, bool, str]
    assert type(given_value["b"][0]) is float  # type: ignore[index]


@given(st.one_of(JSON, replace_one_value(PAYLOADS), replace_one_value(PAYLOADS).map(lambda payload: [payload])))
def test_nothing_but_a_refusal_comes_of_any_json(payload: Any) -> None:
    never_raises(DIALECT, payload)
