"""OpenAI's Responses."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.responses.function_tool_param import FunctionToolParam
from openai.types.responses.response_input_item_param import ResponseInputItemParam
from openai.types.responses.response_output_item import ResponseOutputItem
from pydantic import TypeAdapter

from pegboard.dialects.detect import Dialects
from pegboard.dialects.openai_responses import OpenAIAgents, OpenAIResponses
from pegboard.dialects.parsed_calls import ABSENT, AskedCall, ParsedCalls, Unreadable
from tests.formats import TOOLS, cases
from tests.unit.dialects.openai_values import (
    CALLS,
    CUSTOM_CALLS,
    IMAGE,
    JSON,
    answer_for,
    failed,
    read_or_refuse,
    spoiled,
    succeeded,
    tool_of,
)

RESPONSES = OpenAIResponses()
KNOWN = Dialects([RESPONSES, OpenAIAgents()])
EXAMPLES = [case.payload for case in [*cases("call"), *cases("stream")] if case.dialect == RESPONSES.name]
INPUT: TypeAdapter[Any] = TypeAdapter(ResponseInputItemParam)
OUTPUT: TypeAdapter[Any] = TypeAdapter(ResponseOutputItem)

ONE = {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": '{"city": "Bern"}', "id": "fc_1"}
CUSTOM = {"type": "custom_tool_call", "call_id": "c2", "name": "run_sql", "input": "SELECT 1", "id": "ctc_1"}
MCP = {"type": "mcp_call", "id": "mcp_1", "name": "search_docs", "arguments": '{"query": "x"}', "server_label": "docs"}


def response(*items: Any, status: str = "completed") -> dict[str, Any]:
    return {"object": "response", "id": "resp_1", "status": status, "output": list(items)}


def read(payload: Any) -> ParsedCalls:
    return KNOWN.read(payload)


@pytest.mark.parametrize(
    "payload",
    [
        response(ONE),
        response({"type": "reasoning", "summary": []}, 7, ONE, {"type": "message", "content": []}, {"type": "new"}),
        ONE,
        [ONE],
        [{"role": "user", "content": "Hi"}, {"type": "reasoning", "id": "rs_1", "summary": []}, ONE],
        [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]}, ONE],
        {"type": "response.completed", "response": response(ONE)},
        {"type": "response.done", "response": response(ONE)},
    ],
)
def test_a_call_is_read_wherever_it_stands(payload: Any) -> None:
    asked = read(payload)
    assert asked.dialect == "openai_responses"
    assert asked.calls == (AskedCall("get_weather", {"city": "Bern"}, "c1", extra={"item_id": "fc_1"}),)


def test_a_request_with_its_input_is_read_if_the_dialect_is_named() -> None:
    assert [call.id for call in KNOWN.read({"model": "x", "input": [ONE]}, RESPONSES.name).calls] == ["c1"]


def test_only_one_bare_call_is_answered_by_one_object() -> None:
    assert not read(ONE).many
    assert read(MCP).many
    assert read([ONE]).many
    assert read(response(ONE)).many


def test_calls_that_a_history_answers_are_not_open() -> None:
    history = [
        ONE,
        CUSTOM,
        {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": '{"temp": 7}'}]},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": '{"error": "not now"}'},
        {"type": "function_call_output", "call_id": "elsewhere", "output": "late"},
    ]
    first, second, stray = read(history).calls
    assert (first.result, second.error, stray.result) == ({"temp": 7}, "not now", "late")
    assert not any(call.is_open for call in (first, second, stray))


@pytest.mark.parametrize(
    ("more", "result", "error"),
    [
        ({"output": '{"hits": 1}', "status": "completed"}, {"hits": 1}, None),
        ({"output": "two", "error": None}, "two", None),
        ({"error": "old style"}, ABSENT, "old style"),
        ({"error": {"type": "http_error", "code": 500, "message": "no"}}, ABSENT, "no"),
        ({"error": {"type": "mcp_tool_execution_error", "content": [{"type": "text", "text": "no"}]}}, ABSENT, "no"),
        ({"error": {"type": "mcp_tool_execution_error", "content": 7}}, ABSENT, "failed"),
        ({"status": "failed"}, ABSENT, "failed"),
        ({"status": "calling"}, ABSENT, None),
    ],
)
def test_what_an_mcp_server_was_asked_by_the_provider_is_never_open(more: Any, result: Any, error: str | None) -> None:
    (call,) = read(response({**MCP, **more})).calls
    assert (call.id, call.name, call.arguments, dict(call.extra)) == (
        "mcp_1",
        "search_docs",
        {"query": "x"},
        {"server": "docs"},
    )
    assert (call.result, call.error, call.provider_executed, call.is_open) == (result, error, True, False)


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"type": "web_search_call", "id": "1", "action": {"type": "search", "query": "x"}}, ("web_search", ABSENT)),
        ({"type": "file_search_call", "id": "1", "queries": ["x"], "results": [{}]}, ("file_search", [{}])),
        ({"type": "code_interpreter_call", "id": "1", "code": "1", "outputs": []}, ("code_interpreter", [])),
        ({"type": "image_generation_call", "id": "1", "result": "aGk="}, ("image_generation", "aGk=")),
        ({"type": "tool_search_call", "id": "1", "execution": "server", "arguments": {}}, ("tool_search", ABSENT)),
    ],
)
def test_what_the_provider_runs_itself_is_never_open(item: Any, expected: tuple[str, Any]) -> None:
    (call,) = read(item).calls
    assert ((call.name, call.result), call.id, call.is_open) == (expected, "1", False)


def test_a_shell_in_the_providers_container_is_the_providers_and_no_other_is_the_boards() -> None:
    shell = {"type": "shell_call", "call_id": "c9", "action": {"commands": ["ls"]}}
    output = {"type": "shell_call_output", "call_id": "c9", "output": [{"stdout": "a"}]}
    hosted = {**shell, "environment": {"type": "container_reference", "container_id": "x"}}
    (call,) = read([hosted, output]).calls
    assert (call.name, call.arguments, call.result, call.is_open) == (
        "shell",
        {"commands": ["ls"]},
        [{"stdout": "a"}],
        False,
    )
    assert read([{**shell, "environment": {"type": "local"}}, output]).calls == ()


@pytest.mark.parametrize(
    "item", [{"type": "computer_call", "call_id": "c"}, {"type": "apply_patch_call"}, {"type": "local_shell_call"}]
)
def test_what_a_client_does_with_means_of_its_own_is_passed_over(item: Any) -> None:
    assert read([item, ONE]).calls == read([ONE]).calls


def test_leave_to_run_is_asked_for_and_given() -> None:
    (case,) = [case for case in cases("result") if case.name == "mcp_approval"]
    (call,) = read({**MCP, "type": "mcp_approval_request", "id": "mcpr_1"}).calls
    assert not call.is_open
    assert RESPONSES.render([succeeded(None, call)], many=False) == case.payload
    refused = RESPONSES.render([failed("not today", call)], many=False)
    assert refused == {**case.payload, "approve": False, "reason": '{"error":"not today"}'}
    assert RESPONSES.compose([call]) == []


@pytest.mark.parametrize(
    "cut",
    [
        lambda item: response(item, status="incomplete"),
        lambda item: response({**item, "status": "incomplete"}),
        lambda item: {"type": "response.incomplete", "response": response(item, status="incomplete")},
    ],
)
def test_a_call_that_was_cut_off_is_malformed_unless_its_json_is_whole(cut: Any) -> None:
    assert read(cut({**ONE, "arguments": ""})).calls[0].is_malformed
    assert read(cut(CUSTOM)).calls[0].is_malformed
    assert read(cut(ONE)).calls[0].arguments == {"city": "Bern"}


def test_only_the_last_item_of_a_response_can_be_cut_off() -> None:
    done = {**CUSTOM, "call_id": "c0"}
    assert [call.is_malformed for call in read(response(done, CUSTOM, status="incomplete")).calls] == [False, True]


def test_results_are_the_examples_and_the_sdk_takes_them() -> None:
    (case,) = [case for case in cases("result") if case.dialect == RESPONSES.name and case.name == "success"]
    made = RESPONSES.render([answer_for(case)], many=False)
    assert INPUT.validate_python(made) == made
    assert orjson.loads(made.pop("output")) == orjson.loads(case.payload["output"])
    assert made == {key: value for key, value in case.payload.items() if key != "output"}


def test_what_a_call_needs_back_is_sent_back_with_its_answer() -> None:
    caller = {"type": "program", "caller_id": "p1"}
    first, second = read([{**ONE, "caller": caller, "namespace": "n", "async": True}, CUSTOM]).calls
    assert dict(first.extra) == {"item_id": "fc_1", "namespace": "n", "caller": caller, "async": True}
    answers = RESPONSES.render([failed("no", first), succeeded(IMAGE, second)], many=True)
    text, link = ({"type": "input_text", "text": text} for text in ("A cat", "[link file:///a]"))
    assert answers == [
        {"type": "function_call_output", "call_id": "c1", "output": '{"error":"no"}', "caller": caller},
        {
            "type": "custom_tool_call_output",
            "call_id": "c2",
            "output": [text, {"type": "input_image", "image_url": "data:image/png;base64,aGk="}, link],
        },
    ]
    for answer in answers:
        INPUT.validate_python(answer)


def test_definitions_are_the_examples_and_the_sdk_takes_them() -> None:
    (case,) = [case for case in cases("definition") if case.dialect == RESPONSES.name]
    for wanted in case.payload:
        made = RESPONSES.define(tool_of(wanted["name"], wanted["description"], wanted["parameters"]))
        assert made == wanted
        TypeAdapter(FunctionToolParam).validate_python(made)


def test_nulls_for_what_was_left_out_are_dropped() -> None:
    payload = {**ONE, "arguments": '{"city": "Bern", "unit": null}'}
    assert KNOWN.read(payload, None, TOOLS.get).calls[0].arguments == {"city": "Bern"}


@given(CALLS, st.lists(CUSTOM_CALLS, max_size=2), st.sampled_from([{}, {"item_id": "fc_1", "namespace": "n"}]))
def test_composed_calls_are_read_as_they_were_and_the_sdk_takes_them(
    calls: list[AskedCall], customs: list[AskedCall], extra: dict[str, Any]
) -> None:
    asked = (*(call._replace(extra=extra) for call in calls), *customs)
    items = orjson.loads(orjson.dumps(RESPONSES.compose(asked)))
    for item in items:
        INPUT.validate_python(item)
        OUTPUT.validate_python(item)
    assert read(items).calls == asked


@pytest.mark.parametrize("outcome", [{"result": {"hits": [1]}}, {"result": "two"}, {"error": "no"}, {}])
def test_what_the_provider_ran_is_composed_as_run(outcome: Any) -> None:
    call = AskedCall(
        "search_docs", {"query": "x"}, "mcp_1", **outcome, provider_executed=True, extra={"server": "docs"}
    )
    (item,) = RESPONSES.compose([call, AskedCall("web_search", {}, "ws_1", provider_executed=True)])
    OUTPUT.validate_python(item)
    assert read(item).calls == (call,)


@pytest.mark.parametrize("payload", [7, "text", {}, {"object": "response"}, {"choices": []}])
def test_what_is_nothing_of_it_is_refused(payload: Any) -> None:
    with pytest.raises(Unreadable, match="unrecognised_format"):
        KNOWN.read(payload, RESPONSES.name)


@given(JSON | st.sampled_from(EXAMPLES).flatmap(spoiled))
def test_arbitrary_json_anywhere_in_a_payload_is_read_or_refused(payload: Any) -> None:
    read_or_refuse(KNOWN, payload)
