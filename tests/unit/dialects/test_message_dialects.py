"""Common properties of Mistral, Cohere, Ollama, LangChain, LangGraph, LlamaIndex and Haystack."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.cohere import CohereV2
from pegboard.dialects.detect import Dialects
from pegboard.dialects.haystack import Haystack
from pegboard.dialects.langchain import Langchain, Langgraph
from pegboard.dialects.llama_index import LlamaIndex
from pegboard.dialects.mistral import Mistral
from pegboard.dialects.ollama import Ollama
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.model.call import Malformed
from tests.formats import TOOLS, Case, cases
from tests.unit.dialects.framework_payloads import (
    ARGUMENTS,
    JSON,
    NAMES,
    answer_in,
    bad,
    calls_of,
    examples,
    good,
    never_raises,
    parsed,
    replace_one_value,
    streamed,
    tool_of,
)
from tests.unit.dialects.test_formats import check

EVERY: list[Dialect] = [Mistral(), CohereV2(), Ollama(), Langchain(), Langgraph(), LlamaIndex(), Haystack()]
KNOWN = Dialects(EVERY)
READ = [case for dialect in EVERY for case in examples(dialect.name, "call", "stream")]
STREAMS = [case for case in READ if case.kind == "stream"]
# As OpenAI writes it: nothing in it identifies Haystack.
FOUND = [case for case in READ if str(case) != "haystack-openai_dict_format"]
# LangGraph combines several answers; its own test has them.
RESULTS = [case for dialect in EVERY for case in examples(dialect.name, "result") if dialect.name != "langgraph"]
# Made from Python functions, and not from the schemas of the examples.
DEFINITIONS = [
    case
    for dialect in EVERY
    for case in examples(dialect.name, "definition")
    if case.name not in ("native_from_function", "to_openai_tool")
]
SOURCES = {
    tool["function"]["name"]: tool["function"]
    for case in cases("definition")
    if case.dialect == "cohere_v2"
    for tool in case.payload
}
IDS = st.text("abcXYZ019", min_size=9, max_size=9)
CALLS = st.lists(
    st.tuples(NAMES, ARGUMENTS, IDS).map(lambda made: AskedCall(*made)),
    min_size=1,
    max_size=3,
    unique_by=lambda call: call.id,
)
CALL = {"id": "abcdefghi", "function": {"name": "a", "arguments": {"x": 1}}}
V1 = {"name": "a", "parameters": {"x": 1}}
# Shapes that the examples do not have.
MORE: dict[str, list[Any]] = {
    "mistral": [
        [{"role": "assistant", "tool_calls": [CALL]}, {"role": "tool", "tool_call_id": "abcdefghi", "content": "1"}],
        {"object": "conversation.response", "outputs": [{"type": "tool.execution", "name": "web_search", "info": {}}]},
        [{"event": "x", "data": {"type": "tool.execution.started", "id": "1", "name": "a", "arguments": "{}"}}],
    ],
    "cohere_v2": [
        [{"role": "CHATBOT", "tool_calls": [V1]}, {"role": "TOOL", "tool_results": [{"call": V1, "outputs": [{}]}]}],
        [{"event_type": "tool-calls-chunk", "tool_call_delta": {"name": "a", "index": 0, "parameters": "{}"}}],
        [{"event_type": "tool-calls-generation", "tool_calls": [V1]}],
    ],
    "ollama": [[{"role": "assistant", "tool_calls": [CALL]}, {"role": "tool", "tool_name": "a", "content": "1"}]],
    "langchain": [
        [{"event": "on_chat_model_end", "run_id": "1", "data": {"output": {"type": "ai", "content": ""}}}],
        {"type": "ai", "content": [{"type": "server_tool_call", "id": "1", "name": "a", "args": {}}], "tool_calls": []},
        {"type": "ai", "content": "", "invalid_tool_calls": [{"name": "a", "args": "{", "type": "invalid_tool_call"}]},
    ],
    "langgraph": [[{"agent": {"messages": [{"type": "ai", "content": "", "tool_calls": [{"name": "a", "args": 1}]}]}}]],
    "llama_index": [
        {"tool_name": "a", "tool_kwargs": {}, "tool_id": "1", "tool_output": {"blocks": [{"text": 1}], "is_error": 1}},
        [{"current_agent_name": "a", "delta": "", "tool_calls": [{"tool_id": "1", "tool_kwargs": {}}]}],
    ],
    "haystack": [{"replies": [{"_role": "assistant", "_content": [{"tool_call": {"tool_name": "a", "id": "1"}}]}]}],
}  # fmt: skip
DEEP: Any = {}
for _ in range(900):
    DEEP = {"a": DEEP}


@pytest.mark.parametrize("case", READ, ids=str)
def test_an_example_whose_dialect_is_named_becomes_its_calls(case: Case) -> None:
    check(case, list(KNOWN.read(case.payload, case.dialect, TOOLS.get).calls))


@pytest.mark.parametrize("case", FOUND, ids=str)
def test_an_example_is_found_to_be_in_its_dialect(case: Case) -> None:
    asked = KNOWN.read(case.payload, None, TOOLS.get)
    assert asked.dialect == case.dialect
    check(case, list(asked.calls))


@pytest.mark.parametrize("case", STREAMS, ids=str)
def test_a_stream_gives_every_call_once(case: Case) -> None:
    check(case, streamed(KNOWN[case.dialect], case.payload))


@pytest.mark.parametrize("case", STREAMS, ids=str)
def test_half_of_a_stream_gives_no_call_that_the_whole_does_not_give(case: Case) -> None:
    whole = {call.name: call.arguments for call in streamed(KNOWN[case.dialect], case.payload)}
    for end in range(1, len(case.payload)):
        for call in streamed(KNOWN[case.dialect], case.payload[:end]):
            assert call.is_malformed or call.arguments == whole[call.name]


@pytest.mark.parametrize("case", RESULTS, ids=str)
def test_a_result_is_rendered_as_in_its_example(case: Case) -> None:
    extra = {"api": "conversations"} if case.name == "conversations" else {}
    assert parsed(KNOWN[case.dialect].render([answer_in(case, **extra)], many=False)) == parsed(case.payload)


@pytest.mark.parametrize("case", DEFINITIONS, ids=str)
def test_a_definition_is_that_of_its_example(case: Case) -> None:
    sources = [SOURCES[name] for name in case.about["tools"]]
    tools = [tool_of(source["name"], source["parameters"], source["description"]) for source in sources]
    assert KNOWN[case.dialect].define_all(tools) == case.payload


@pytest.mark.parametrize("dialect", EVERY, ids=lambda dialect: dialect.name)
@given(calls=CALLS)
def test_what_is_composed_is_read_as_the_same_calls(dialect: Dialect, calls: list[AskedCall]) -> None:
    read = calls_of(dialect, dialect.compose(calls), received=False)
    if dialect.name == "ollama":
        calls = [call._replace(id="") for call in calls]
    assert read == calls


@pytest.mark.parametrize("dialect", EVERY, ids=lambda dialect: dialect.name)
@given(calls=CALLS)
def test_calls_with_their_answers_are_not_asked_for_again(dialect: Dialect, calls: list[AskedCall]) -> None:
    results = [good({"n": 1}, call.name) if place % 2 else bad("no", call.name) for place, call in enumerate(calls)]
    answers = [Answer(call, result) for call, result in zip(calls, results, strict=True)]
    rendered = dialect.render(answers, many=True)
    read = calls_of(dialect, [dialect.compose(calls), *(rendered if isinstance(rendered, list) else [rendered])])
    assert [(call.name, call.arguments) for call in read] == [(call.name, call.arguments) for call in calls]
    found = [call.error if call.error is not None else call.result for call in read]
    assert found == [{"n": 1} if place % 2 else "no" for place in range(len(calls))]


@pytest.mark.parametrize("dialect", EVERY, ids=lambda dialect: dialect.name)
def test_calls_without_an_id_are_composed_and_read_without_one(dialect: Dialect) -> None:
    calls = [AskedCall("get_weather", {"city": "Zürich"}), AskedCall("list_projects", {})]
    assert calls_of(dialect, dialect.compose(calls)) == calls


@pytest.mark.parametrize("dialect", EVERY, ids=lambda dialect: dialect.name)
def test_arguments_that_could_not_be_read_stay_unread_when_composed(dialect: Dialect) -> None:
    calls = [AskedCall("get_weather", Malformed('{"city": "Zür', "it ends too early"), "abcdefghi")]
    (read,) = calls_of(dialect, dialect.compose(calls))
    assert read.name == "get_weather" and isinstance(read.arguments, Malformed)
    assert read.arguments.text == '{"city": "Zür'


@pytest.mark.parametrize("dialect", EVERY, ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("arguments", [{"a": 10**30}, DEEP, {"a": "\ud800"}], ids=["huge", "deep", "half a pair"])
@pytest.mark.parametrize("id", ["abcdefghi", ""], ids=["with id", "without id"])
def test_an_answer_can_be_written_whatever_was_asked(dialect: Dialect, arguments: Any, id: str) -> None:
    call = AskedCall("get_weather", arguments, id)
    assert dialect.compose([call])
    assert b"no such city" in dialect.render_json(Answer(call, bad("no such city", "get_weather")))
    assert dialect.render([Answer(call, good([1]))] * 2, many=True)


@pytest.mark.parametrize("dialect", EVERY, ids=lambda dialect: dialect.name)
@given(payload=JSON)
def test_anything_but_a_call_is_unreadable_at_worst(dialect: Dialect, payload: Any) -> None:
    never_raises(dialect, payload)


@pytest.mark.parametrize("dialect", EVERY, ids=lambda dialect: dialect.name)
@given(data=st.data())
def test_a_payload_with_something_wrong_inside_is_unreadable_at_worst(dialect: Dialect, data: st.DataObject) -> None:
    made = [case.payload for case in examples(dialect.name, "call", "stream", "result")]
    never_raises(dialect, data.draw(replace_one_value(made + MORE[dialect.name])))


@pytest.mark.parametrize("dialect", EVERY, ids=lambda dialect: dialect.name)
def test_ten_thousand_calls_in_one_message_are_ten_thousand_calls(dialect: Dialect) -> None:
    calls = [AskedCall("list_projects", {"n": n}, f"{n:09}") for n in range(10_000)]
    assert [call.arguments["n"] for call in calls_of(dialect, dialect.compose(calls))] == list(range(10_000))
