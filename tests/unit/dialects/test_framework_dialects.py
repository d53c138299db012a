"""Properties of the dialect of every framework: its examples, round trips, and arbitrary input."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.dialects.autogen import AutoGen
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.crewai import CrewAI
from pegboard.dialects.envelope import Envelope
from pegboard.dialects.memory_form import Memory
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.pydantic_ai import PydanticAI
from pegboard.dialects.semantic_kernel import SemanticKernel
from pegboard.dialects.smolagents import Smolagents
from pegboard.model.call import Malformed
from pegboard.model.ids import new_id
from tests.formats import Case
from tests.unit.dialects.framework_payloads import (
    CALLS,
    JSON,
    TEXTS,
    answer_in,
    bad,
    calls_of,
    examples,
    good,
    never_raises,
    parsed,
    replace_one_value,
    streamed,
)
from tests.unit.dialects.test_formats import check

FRAMEWORKS: list[Dialect] = [PydanticAI(), SemanticKernel(), AutoGen(), Smolagents(), CrewAI()]
EVERY = [*FRAMEWORKS, Memory(), Envelope()]
BY_NAME = {dialect.name: dialect for dialect in EVERY}
READ = [case for dialect in FRAMEWORKS for case in examples(dialect.name, "call", "stream")]
RESULTS = [
    case
    for dialect in FRAMEWORKS
    for case in examples(dialect.name, "result")
    # Its framework treats a failed return as the same.
    if case.name != "error_retry_prompt"
]
STREAMS = [case for case in READ if case.kind == "stream"]
MORE: dict[str, list[Any]] = {
    "memory": [
        {"id": "1", "name": "a", "arguments": {"x": 1}, "result": 2},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "a", "arguments": {}, "error": "b"}]},
    ],
    "envelope": [
        {"tool_name": "a", "args": {"x": 1}, "request_id": "1", "timestamp": "2026-01-01T00:00:00Z", "version": "1.0"},
        {"tool_name": "a", "request_id": "1", "status": "error", "error_msg": "no", "payload": None},
    ],
    "pydantic_ai": [
        [{"event_kind": "function_tool_call", "part": {"part_kind": "tool-call", "tool_name": "a", "args": {"x": 1}}}],
        [{"event_kind": "part_delta", "index": 0, "delta": {"part_delta_kind": "tool_call", "args_delta": {"x": 1}}}],
    ],
    "semantic_kernel": [{"messages": [{"content_type": "message", "items": [{"content_type": "function_call"}]}]}],
    "autogen": [{"messages": [{"type": "ToolCallSummaryMessage", "content": "", "tool_calls": [], "results": []}]}],
}
DEEP: Any = {}
for _ in range(900):
    DEEP = {"a": DEEP}


@pytest.mark.parametrize("case", READ, ids=str)
@pytest.mark.parametrize("received", [True, False], ids=["named", "found"])
def test_an_example_becomes_its_calls(case: Case, received: bool) -> None:
    check(case, calls_of(BY_NAME[case.dialect], case.payload, received=received))


@pytest.mark.parametrize("case", STREAMS, ids=str)
def test_an_example_of_a_stream_gives_every_call_once(case: Case) -> None:
    check(case, streamed(BY_NAME[case.dialect], case.payload))


@pytest.mark.parametrize("case", STREAMS, ids=str)
def test_half_of_a_stream_is_never_a_call_that_runs(case: Case) -> None:
    for end in range(1, len(case.payload) - 1):
        assert all(call.is_malformed for call in streamed(BY_NAME[case.dialect], case.payload[:end]))


@pytest.mark.parametrize("case", RESULTS, ids=str)
def test_a_result_is_rendered_as_in_its_example(case: Case) -> None:
    thought = {"thought": "I need the weather"} if case.dialect == "crewai" else {}
    assert parsed(BY_NAME[case.dialect].render([answer_in(case, **thought)], many=False)) == parsed(case.payload)


@pytest.mark.parametrize("dialect", EVERY, ids=lambda dialect: dialect.name)
@given(data=st.data())
def test_what_is_composed_is_read_as_the_same_calls(dialect: Dialect, data: st.DataObject) -> None:
    calls = data.draw(CALLS)
    if dialect.name == "envelope":  # whose ids are UUIDs
        calls = [call._replace(id=new_id()) for call in calls]
    read = calls_of(dialect, dialect.compose(calls))
    assert [(call.name, call.arguments) for call in read] == [(call.name, call.arguments) for call in calls]
    if dialect.name != "crewai":
        assert [call.id for call in read] == [call.id for call in calls]
    assert all(call.is_open for call in read)


@pytest.mark.parametrize("dialect", EVERY, ids=lambda dialect: dialect.name)
def test_arguments_that_could_not_be_read_stay_unread_when_composed(dialect: Dialect) -> None:
    calls = [AskedCall("get_weather", Malformed('{"city": "Zür', "it ends too early"), "c1")]
    (read,) = calls_of(dialect, dialect.compose(calls))
    assert read.name == "get_weather" and isinstance(read.arguments, Malformed)
    assert read.arguments.text == '{"city": "Zür'


@pytest.mark.parametrize("dialect", EVERY, ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("arguments", [{"a": 10**30}, DEEP], ids=["beyond 64 bits", "deep"])
def test_an_answer_can_be_written_whatever_was_asked(dialect: Dialect, arguments: Any) -> None:
    call = AskedCall("get_weather", arguments, "c1")
    assert b"no such city" in dialect.render_json(Answer(call, bad("no such city", "get_weather")))
    assert dialect.render([Answer(call, good([1]))] * 2, many=True)


@pytest.mark.parametrize("dialect", EVERY, ids=lambda dialect: dialect.name)
@given(data=st.data())
def test_anything_but_a_call_is_unreadable_at_worst(dialect: Dialect, data: st.DataObject) -> None:
    never_raises(dialect, data.draw(JSON | TEXTS | st.lists(TEXTS, max_size=3)))


@pytest.mark.parametrize("dialect", EVERY, ids=lambda dialect: dialect.name)
@given(data=st.data())
def test_a_payload_with_something_wrong_inside_is_unreadable_at_worst(dialect: Dialect, data: st.DataObject) -> None:
    good_ones = [case.payload for case in examples(dialect.name, "call", "stream", "result")]
    never_raises(dialect, data.draw(replace_one_value(good_ones + MORE.get(dialect.name, []))))


@pytest.mark.parametrize("dialect", EVERY, ids=lambda dialect: dialect.name)
def test_what_is_composed_is_recognised(dialect: Dialect) -> None:
    composed = dialect.compose([AskedCall("get_weather", {"city": "Zürich"}, "c1", extra={"timestamp": "now"})])
    items = composed if isinstance(composed, list) else [composed]
    # A call in memory without an outcome is the board's own shape.
    assert all(dialect.recognises(item) for item in items) == (dialect.name != "memory")


@pytest.mark.parametrize("case", READ, ids=str)
def test_no_other_framework_takes_an_example_for_its_own(case: Case) -> None:
    items = case.payload if isinstance(case.payload, list) else [case.payload]
    items = ["".join(items)] if all(isinstance(item, str) for item in items) else items
    for item in items:
        # A text beside an AutoGen stream is any text.
        others = [dialect for dialect in EVERY if dialect.name not in (case.dialect, "autogen")]
        assert isinstance(item, dict | str) and not any(dialect.recognises(item) for dialect in others)
