"""Properties of the dialects of the web frameworks and of MCP."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.dialects.base import Dialect
from pegboard.dialects.parsed_calls import AskedCall, Unreadable
from tests.formats import Case, cases
from tests.unit.dialects.web_dialects import (
    ALL,
    CALLS,
    JSON,
    KNOWN,
    NAMES,
    answer_to,
    insert_value,
    parsed,
    read,
    read_chunks,
    tool,
)

PAYLOADS = [case for kind in ("call", "stream", "result") for case in cases(kind) if case.dialect in NAMES]
# Other forms of results of their frameworks, with which a provider is not answered.
NOT_ANSWERS = {"toolResults_array", "tool_result_chunk", "event", "input_required_2026"}
RESULTS = [case for case in cases("result") if case.dialect in NAMES and case.name not in NOT_ANSWERS]
DEFINITIONS = [case for case in cases("definition") if case.dialect in NAMES]
EXTRAS: dict[str, dict[str, Any]] = {
    "unknown_tool_jsonrpc_error": {"rpc_id": "r-4"},
    "structured_array_2026": {"protocol_version": "2026-07-28"},
    "sampling_tool_result": {"sampling": True},
}


def check_refuses_at_most(payload: Any, name: str) -> None:
    for item in (name, None):
        try:
            KNOWN.read(payload, item)
        except Unreadable as refused:
            assert refused.message
    try:
        read_chunks(payload if isinstance(payload, list) else [payload], name)
    except Unreadable as refused:
        assert refused.message


@pytest.mark.parametrize("name", NAMES)
@given(payload=JSON)
def test_arbitrary_json_is_read_or_refused(name: str, payload: Any) -> None:
    check_refuses_at_most(payload, name)


@given(case=st.sampled_from(PAYLOADS), steps=st.lists(st.integers(0, 40), max_size=6), value=JSON)
def test_arbitrary_json_anywhere_in_a_payload_is_read_or_refused(case: Case, steps: list[int], value: Any) -> None:
    check_refuses_at_most(insert_value(case.payload, steps, value), case.dialect)


@pytest.mark.parametrize("dialect", ALL, ids=NAMES)
@given(calls=CALLS)
def test_what_is_composed_reads_as_the_same_calls(dialect: Dialect, calls: list[AskedCall]) -> None:
    again = read(dialect.compose(calls), dialect.name)
    assert [(call.name, call.id) for call in again] == [(call.name, call.id) for call in calls]
    for call, wanted in zip(again, calls, strict=True):
        assert call.is_malformed == wanted.is_malformed
        if call.is_malformed:
            assert call.arguments.text == wanted.arguments.text
        else:
            assert call.arguments == wanted.arguments


@pytest.mark.parametrize(
    "dialect", [dialect for dialect in ALL if dialect.name != "mcp"], ids=lambda dialect: dialect.name
)
@given(calls=CALLS)
def test_what_is_rendered_reads_as_the_answers(dialect: Dialect, calls: list[AskedCall]) -> None:
    message = dialect.render([answer_to(call, error="No luck") for call in calls], many=True)
    assert [(call.id, call.error) for call in read(message, dialect.name)] == [(call.id, "No luck") for call in calls]


@pytest.mark.parametrize("case", RESULTS, ids=str)
def test_results_are_rendered_as_the_frameworks_write_them(case: Case) -> None:
    canonical = case.about["canonical"]
    many = isinstance(canonical, list)
    answers = []
    for one in canonical if many else [canonical]:
        call = AskedCall(one["name"], one["arguments"], one["id"], extra=EXTRAS.get(case.name, {}))
        code = "tool_not_found" if case.name == "unknown_tool_jsonrpc_error" else "execution_failed"
        answers.append(answer_to(call, one.get("result"), error=one.get("error"), code=code))
    message, wanted = parsed(KNOWN[case.dialect].render(answers, many=many)), parsed(case.payload)
    if case.name == "tool_message":
        # The framework assigns the message's own id.
        message.pop("id", None), wanted.pop("id", None)
    assert message == wanted


@pytest.mark.parametrize("case", DEFINITIONS, ids=str)
def test_tools_are_declared_as_the_frameworks_write_them(case: Case) -> None:
    dialect, payload = KNOWN[case.dialect], case.payload
    if case.name == "tools_object":
        tools = [
            tool(
                name,
                next(v["jsonSchema"] for k, v in one.items() if k != "description"),
                description=one["description"],
            )
            for name, one in payload.items()
        ]
        assert dialect.define_all(tools) == payload
        return
    listed = payload["tools"] if case.name == "tools_list" else payload if isinstance(payload, list) else [payload]
    for one in listed:
        about: dict[str, Any] = {"description": one["description"], "display_name": one.get("title")}
        about["output_schema"] = one.get("outputSchema")
        about["read_only"] = one.get("annotations", {}).get("readOnlyHint", False)
        made = tool(one.get("name") or one["id"], one.get("inputSchema") or one["parameters"], **about)
        wanted = dict(one)
        if "annotations" in wanted:
            # A tool of this board does not declare whether it has external effects.
            wanted["annotations"] = {"readOnlyHint": True}
        assert dialect.define(made) == wanted


@pytest.mark.parametrize("dialect", ALL, ids=NAMES)
def test_a_name_that_does_not_fit_a_provider_is_declared_by_its_alias(dialect: Dialect) -> None:
    made = tool("x" * 200, {"type": "object"})
    assert str(made.alias) in str(dialect.define(made))
    assert "x" * 200 not in str(dialect.define(made))
