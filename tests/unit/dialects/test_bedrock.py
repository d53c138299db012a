"""Bedrock's Converse API: blocks in, one message with every result out."""

from __future__ import annotations

from functools import cache
from typing import Any

import botocore.session  # type: ignore[import-untyped]
import pytest
from botocore.validate import ParamValidator  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from pegboard.dialects.base import Answer
from pegboard.dialects.bedrock import BedrockConverse
from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from pegboard.model.call import Malformed
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

DIALECT = BedrockConverse()
PAYLOADS = [case.payload for case in examples("bedrock_converse", "call", "stream", "result")]
USE = {"toolUse": {"toolUseId": "tooluse_1", "name": "add", "input": {"a": 1}}}


@cache
def converse() -> Any:
    service = botocore.session.get_session().get_service_model("bedrock-runtime")
    return service.operation_model("Converse").input_shape


def accepted(*messages: dict[str, Any], tools: list[Any] | None = None) -> bool:
    """Whether boto3 would send this."""
    given: dict[str, Any] = {"modelId": "x", "messages": list(messages)}
    report = ParamValidator().validate(given | ({"toolConfig": {"tools": tools}} if tools else {}), converse())
    assert not report.has_errors(), report.generate_report()
    return True


def starts(index: int, **block: Any) -> dict[str, Any]:
    return {"contentBlockStart": {"contentBlockIndex": index, "start": block}}


def delta(index: int, **block: Any) -> dict[str, Any]:
    return {"contentBlockDelta": {"contentBlockIndex": index, "delta": block}}


def stops(index: int) -> dict[str, Any]:
    return {"contentBlockStop": {"contentBlockIndex": index}}


@pytest.mark.parametrize("case", examples("bedrock_converse", "result"), ids=str)
def test_a_result_is_the_message_of_the_example(case: Case) -> None:
    message = DIALECT.render([answer_in(case)], many=False)
    assert message == case.payload
    assert accepted(message)


@pytest.mark.parametrize("case", examples("bedrock_converse", "definition"), ids=str)
def test_definitions_are_those_of_the_examples_and_ones_boto3_takes(case: Case) -> None:
    specs = [given["toolSpec"] for given in case.payload]
    tools = [tool_of(spec["name"], spec["inputSchema"]["json"], spec["description"]) for spec in specs]
    defined = DIALECT.define_all(tools)
    assert defined == case.payload
    assert accepted(tools=[*defined, DIALECT.define(tool_of("silent", {"type": "object"}, ""))])


@given(CALLS)
def test_calls_that_are_composed_are_read_back(calls: list[AskedCall]) -> None:
    message = DIALECT.compose(calls)
    assert calls_of(DIALECT, message, received=False) == calls
    assert accepted(message)


def test_ids_that_bedrock_refuses_are_replaced_alike_in_a_call_and_its_answer() -> None:
    call = AskedCall("add", {}, "a|b" * 40)
    [made] = DIALECT.compose([call])["content"]
    [answered] = DIALECT.render([Answer(call, good(1))], many=False)["content"]
    assert made["toolUse"]["toolUseId"] == answered["toolResult"]["toolUseId"]
    assert len(made["toolUse"]["toolUseId"]) <= 64
    assert accepted({"role": "assistant", "content": [made]}, {"role": "user", "content": [answered]})


def test_arguments_that_could_not_be_read_stay_unreadable_through_compose() -> None:
    message = DIALECT.compose([AskedCall("add", Malformed('{"a": ', "why"), "tooluse_1")])
    [call] = calls_of(DIALECT, message)
    assert accepted(message)
    assert call.arguments.text == '{"a": '


@pytest.mark.parametrize(
    ("output", "content"),
    [
        ({"a": 1}, [{"json": {"a": 1}}]),
        ([1], [{"json": {"result": [1]}}]),
        (None, [{"json": {"result": None}}]),
        ("hi", [{"text": "hi"}]),
        (" ", [{"json": {"result": " "}}]),
        (
            {
                "content": [
                    {"type": "image", "mimeType": "image/jpeg", "data": "aGk="},
                    {"type": "text", "text": "A cat"},
                ]
            },
            [{"image": {"format": "jpeg", "source": {"bytes": "aGk="}}}, {"text": "A cat"}],
        ),
    ],
)
def test_an_output_goes_as_an_object_a_text_or_a_picture(output: Any, content: list[Any]) -> None:
    message = DIALECT.render([Answer(AskedCall("add", {}, "tooluse_1"), good(output))], many=False)
    assert message["content"] == [{"toolResult": {"toolUseId": "tooluse_1", "content": content, "status": "success"}}]
    assert accepted(message)


def test_a_failure_has_the_status_of_one() -> None:
    [block] = DIALECT.render([Answer(AskedCall("add", {}, "tooluse_1"), bad("No"))], many=True)["content"]
    assert block["toolResult"] == {"toolUseId": "tooluse_1", "content": [{"text": "No"}], "status": "error"}


@pytest.mark.parametrize(
    "payload",
    [
        USE,
        USE["toolUse"],
        [USE],
        {"role": "assistant", "content": [{"text": "yes"}, USE]},
        {"message": {"role": "assistant", "content": [USE]}},
        {"output": {"message": {"role": "assistant", "content": [USE]}}, "stopReason": "tool_use"},
    ],
)
def test_a_call_is_read_in_whatever_it_comes(payload: Any) -> None:
    assert calls_of(DIALECT, payload, received=False) == [AskedCall("add", {"a": 1}, "tooluse_1")]


def test_a_history_says_which_calls_are_answered() -> None:
    results = [
        {"toolUseId": "tooluse_1", "content": [{"json": {"sum": 3}}], "status": "success"},
        {"toolUseId": "tooluse_2", "content": [{"text": "broken"}], "status": "error"},
        {"toolUseId": "tooluse_3", "content": [{"text": "[1]"}]},
    ]
    uses = [{"toolUse": {"toolUseId": f"tooluse_{n}", "name": "add", "input": {}}} for n in (1, 2, 3, 4)]
    history = [
        {"role": "user", "content": [{"text": "hi"}]},
        {"role": "assistant", "content": uses},
        {"role": "user", "content": [{"toolResult": result} for result in results]},
    ]
    calls = calls_of(DIALECT, history, received=False)
    found = [(call.result, call.error) for call in calls]
    assert found == [({"sum": 3}, None), (ABSENT, "broken"), ([1], None), (ABSENT, None)]
    assert calls_of(DIALECT, {"messages": history}) == calls


def test_what_the_provider_ran_is_marked_and_has_its_result() -> None:
    use = {"toolUseId": "t1", "name": "nova_code", "input": {}, "type": "server_tool_use"}
    result = {"toolUseId": "t1", "content": [{"json": {"n": 2}}], "status": "success", "type": "nova_code_result"}
    [call] = calls_of(DIALECT, {"role": "assistant", "content": [{"toolUse": use}, {"toolResult": result}]})
    assert call == AskedCall("nova_code", {}, "t1", result={"n": 2}, provider_executed=True)
    message = DIALECT.compose([call])
    assert calls_of(DIALECT, message) == [call]
    assert accepted(message)
    stream = [
        starts(0, toolUse={"toolUseId": "t1", "name": "nova_code", "type": "server_tool_use"}),
        stops(0),
        starts(1, toolResult={"toolUseId": "t1", "type": "nova_code_result", "status": "success"}),
        delta(1, toolResult=[{"text": "2"}]),
        delta(1, toolResult=[{"text": "3"}]),
        stops(1),
        {"messageStop": {"stopReason": "end_turn"}},
    ]
    [given_out] = streamed(DIALECT, stream)
    assert given_out == call._replace(result="23")


@pytest.mark.parametrize("reason", ["max_tokens", "malformed_tool_use"])
def test_a_call_at_which_the_answer_was_cut_off_is_malformed(reason: str) -> None:
    stream = [starts(0, toolUse={"toolUseId": "t1", "name": "add"}), stops(0), {"messageStop": {"stopReason": reason}}]
    assert streamed(DIALECT, stream)[0].is_malformed
    whole = {"output": {"message": {"role": "assistant", "content": [USE]}}, "stopReason": reason}
    assert calls_of(DIALECT, whole)[0].arguments.text == '{"a":1'


def test_a_call_without_arguments_is_good_once_its_block_is_complete() -> None:
    stream = [starts(0, toolUse={"toolUseId": "t1", "name": "add"}), stops(0)]
    assert streamed(DIALECT, stream[:1])[0].is_malformed
    assert streamed(DIALECT, stream)[0].arguments == {}


def test_events_that_an_agent_passes_on_are_read_and_the_final_message_does_not_repeat_them() -> None:
    stream: list[Any] = [
        {"event": starts(0, toolUse={"toolUseId": "tooluse_1", "name": "add"})},
        {"event": delta(0, toolUse={"input": '{"a": 1}'})},
        {"event": stops(0)},
        {"message": {"role": "assistant", "content": [USE]}},
    ]
    assert calls_of(DIALECT, stream, received=False) == [AskedCall("add", {"a": 1}, "tooluse_1")]


@given(st.one_of(JSON, replace_one_value(PAYLOADS), replace_one_value(PAYLOADS).map(lambda payload: [payload])))
def test_nothing_but_a_refusal_comes_of_any_json(payload: Any) -> None:
    never_raises(DIALECT, payload)
