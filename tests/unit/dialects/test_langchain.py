"""LangChain's messages and LangGraph's states, checked with langchain-core."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from langchain_core.load import dumpd
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    ToolMessage,
    message_to_dict,
    messages_from_dict,
)
from langchain_core.messages.tool import invalid_tool_call, tool_call, tool_call_chunk
from langchain_core.utils.function_calling import convert_to_openai_tool

from pegboard.dialects.base import Answer
from pegboard.dialects.detect import Dialects
from pegboard.dialects.langchain import Langchain, Langgraph
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.model.call import Malformed
from tests.unit.dialects.framework_payloads import (
    CALLS,
    answer_in,
    bad,
    calls_of,
    examples,
    good,
    parsed,
    streamed,
    tool_of,
)

LANGCHAIN = Langchain()
LANGGRAPH = Langgraph()
WEATHER = AskedCall("get_weather", {"city": "Zürich"}, "call_W1")
ASKS = AIMessage("", tool_calls=[tool_call(name="get_weather", args={"city": "Zürich"}, id="call_W1")])
TELLS = ToolMessage('{"temp_c": 7.5}', tool_call_id="call_W1", name="get_weather")


def pieces(*texts: str, index: int | None = 0, id: str = "call_W1") -> list[dict[str, Any]]:
    """Return chunks with the arguments of one call."""
    begun = [tool_call_chunk(name="get_weather", args="", id=id, index=index)]
    made = begun + [tool_call_chunk(args=text, index=index) for text in texts]
    return [AIMessageChunk(content="", tool_call_chunks=[piece]).model_dump() for piece in made]


@given(calls=CALLS)
def test_langchain_takes_what_is_composed(calls: list[AskedCall]) -> None:
    message = AIMessage.model_validate(LANGCHAIN.compose(calls))
    assert [(call["name"], call["args"], call["id"]) for call in message.tool_calls] == [call[:3] for call in calls]
    (state,) = messages_from_dict([{"type": "ai", "data": LANGGRAPH.compose(calls)["messages"][0]}])
    assert state == message


@given(calls=CALLS)
@example(calls=[AskedCall("save", {"row": {"lc": 1, "deep": {"lc": 2}}, "rows": [{"__lc_escaped__": 3}]}, "1")])
@example(calls=[AskedCall("save", {"lc": 1, "type": "constructor", "id": [], "kwargs": {}}, "1")])
def test_every_serialisation_of_langchain_is_read(calls: list[AskedCall]) -> None:
    message = AIMessage.model_validate(LANGCHAIN.compose(calls))
    for payload in (message.model_dump(), message_to_dict(message), dumpd(message)):
        assert calls_of(LANGCHAIN, payload, received=False) == calls
        assert calls_of(LANGGRAPH, {"messages": [payload]}, received=False) == calls


@pytest.mark.parametrize("result", [good({"temp_c": 7.5}), good("sunny"), bad("no")], ids=["object", "text", "failure"])
def test_langchain_takes_what_is_rendered(result: Any) -> None:
    rendered = LANGCHAIN.render([Answer(WEATHER, result)], many=False)
    assert ToolMessage.model_validate(rendered).model_dump() == rendered
    assert rendered["status"] == ("success" if result.success else "error")


def test_a_picture_is_a_block_that_langchain_knows() -> None:
    output = {"content": [{"type": "text", "text": "Here"}, {"type": "image", "data": "aGk=", "mimeType": "image/png"}]}
    message = ToolMessage.model_validate(LANGCHAIN.render([Answer(WEATHER, good(output))], many=False))
    assert [block["type"] for block in message.content_blocks] == ["text", "image"]


def test_langchain_takes_a_definition() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    definition = LANGCHAIN.define(tool_of("get_weather", schema, "Weather"))
    assert (
        convert_to_openai_tool(definition) == definition == LANGGRAPH.define(tool_of("get_weather", schema, "Weather"))
    )


def test_calls_that_langchain_could_not_read_are_malformed() -> None:
    for text in ('{"city": "Zür', "", None):
        message = AIMessage(
            "", invalid_tool_calls=[invalid_tool_call(name="get_weather", args=text, id="1", error="x")]
        )
        (call,) = calls_of(LANGCHAIN, message.model_dump())
        assert isinstance(call.arguments, Malformed) and call.arguments.text == (text or "")
        assert (call.name, call.id) == ("get_weather", "1")


def test_bare_calls_are_read_alone_and_in_lists() -> None:
    known = Dialects([LANGCHAIN, LANGGRAPH])
    bare = {"name": "get_weather", "args": {"city": "Zürich"}, "id": "call_W1"}
    for call in (bare, bare | {"type": "tool_call"}):
        assert known.read(call).calls == (WEATHER,) and not known.read(call).many
        assert known.read([call, call]).calls == (WEATHER, WEATHER)
    sent = {"__type": "tool_call_with_context", "tool_call": bare, "state": {"x": []}}
    assert known.read(sent).calls == (WEATHER,) and known.read(sent).dialect == "langgraph"


def test_raw_calls_of_a_provider_are_read_if_there_are_no_others() -> None:
    raw = [
        {"id": "call_W1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Zürich"}'}}
    ]
    message = {"type": "ai", "content": "", "additional_kwargs": {"tool_calls": raw}, "tool_calls": []}
    assert calls_of(LANGCHAIN, message, received=False) == [WEATHER]
    assert calls_of(LANGCHAIN, ASKS.model_dump() | {"additional_kwargs": {"tool_calls": raw}}) == [WEATHER]
    block = {"type": "tool_call", "name": "get_weather", "args": {"city": "Zürich"}, "id": "call_W1"}
    assert calls_of(LANGCHAIN, ASKS.model_dump() | {"content": [block]}) == [WEATHER]
    assert calls_of(LANGCHAIN, {"type": "ai", "content": [block], "tool_calls": []}) == [WEATHER]


def test_what_a_provider_runs_itself_is_marked_with_its_result() -> None:
    call = {"type": "server_tool_call", "id": "s1", "name": "web_search", "args": {"q": "x"}}
    done = {"type": "server_tool_result", "tool_call_id": "s1", "status": "success", "output": [1]}
    read = calls_of(LANGCHAIN, AIMessage([call, done]).model_dump())
    assert read == [AskedCall("web_search", {"q": "x"}, "s1", [1], provider_executed=True)]
    assert calls_of(LANGCHAIN, LANGCHAIN.compose(read)) == read
    failed = calls_of(LANGCHAIN, AIMessage([call, done | {"status": "error", "output": "no"}]).model_dump())
    assert [(one.error, one.is_open) for one in failed] == [("no", False)]
    chunk = {"type": "server_tool_call_chunk", "index": 0}
    texts: list[Any] = [chunk | {"id": "s1", "name": "web_search", "args": '{"q"'}, chunk | {"args": ': "x"}'}, done]
    assert streamed(LANGCHAIN, [AIMessageChunk(content=[text]).model_dump() for text in texts]) == read


@pytest.mark.parametrize("dump", [BaseMessage.model_dump, message_to_dict, dumpd], ids=["dumped", "wrapped", "lc"])
def test_a_history_answers_its_calls(dump: Any) -> None:
    failed = ToolMessage("no", tool_call_id="call_W1", status="error")
    for received, result, error in ((TELLS, {"temp_c": 7.5}, None), (failed, None, "no")):
        history = [dump(message) for message in (HumanMessage("Weather?"), ASKS, received)]
        (call,) = Dialects([LANGCHAIN, LANGGRAPH]).read(history).calls
        assert (call.result or None, call.error, call.arguments) == (result, error, {"city": "Zürich"})
        assert calls_of(LANGGRAPH, {"messages": history}) == [call]


def test_a_call_is_given_with_the_last_chunk() -> None:
    stream = Dialects([LANGCHAIN]).stream()
    for chunk in pieces('{"city": ', '"Zürich"}'):
        assert stream.feed(chunk) == []
    assert stream.feed(AIMessageChunk(content="", chunk_position="last").model_dump()) == [WEATHER]
    assert stream.end() == []


def test_a_call_without_arguments_is_one_only_if_the_model_came_to_its_end() -> None:
    for reason, is_malformed in (("tool_calls", False), ("length", True)):
        end = AIMessageChunk(
            content="", response_metadata={"finish_reason": reason}, chunk_position="last"
        ).model_dump()
        assert [call.is_malformed for call in streamed(LANGCHAIN, [*pieces(), end])] == [is_malformed]


def test_chunks_without_an_index_begin_a_call_with_every_name() -> None:
    chunks = pieces('{"n": 1}', index=None, id="a") + pieces('{"n"', ": 2}", index=None, id="b")
    assert [(call.id, call.arguments) for call in streamed(LANGCHAIN, chunks)] == [("a", {"n": 1}), ("b", {"n": 2})]


def test_a_whole_message_after_its_chunks_is_not_counted_again() -> None:
    assert streamed(LANGCHAIN, [*pieces('{"city": "Zürich"}'), ASKS.model_dump()]) == [WEATHER]


def test_langgraph_answers_with_one_update_as_a_tool_node_does() -> None:
    (case,) = examples("langgraph", "result")
    answers = [answer_in(case._replace(about={"canonical": item})) for item in case.about["canonical"]]
    rendered = parsed(LANGGRAPH.render(answers, many=True))
    for message, wanted in zip(rendered["messages"], parsed(case.payload)["messages"], strict=True):
        # Its message for a failure has its own wording.
        shown = ("content",) if wanted["status"] == "error" else ()
        assert {key: message[key] for key in wanted if key not in shown} == {
            key: value for key, value in wanted.items() if key not in shown
        }


def test_updates_and_states_of_a_run_give_every_call_once() -> None:
    asks, answer = ASKS.model_dump(), TELLS.model_dump()
    updates = [{"agent": {"messages": [asks]}}, {"tools": {"messages": [answer]}}, {"other": None}]
    states = [{"messages": [asks]}, {"messages": [asks, answer]}, {"messages": [asks, answer]}]
    for chunks in (updates, states, [["updates", update] for update in updates]):
        assert calls_of(LANGGRAPH, chunks) == [WEATHER._replace(result={"temp_c": 7.5})]


def test_nodes_that_stream_at_the_same_time_are_distinguished() -> None:
    ways = [[[chunk, {"langgraph_node": node}] for chunk in pieces(f'{{"n": {node}', "}", id=node)] for node in "12"]
    chunks = [pair for pairs in zip(*ways, strict=True) for pair in pairs]
    assert [call.arguments for call in streamed(LANGGRAPH, chunks)] == [{"n": 1}, {"n": 2}]
    moded = [["messages", pair] for pair in chunks]
    assert [call.arguments for call in streamed(LANGGRAPH, moded)] == [{"n": 1}, {"n": 2}]


def test_events_of_a_run_give_the_calls_of_its_models_once() -> None:
    def event(kind: str, run: str, **data: Any) -> dict[str, Any]:
        return {"event": kind, "run_id": run, "name": "x", "data": data}

    end = event("on_chat_model_end", "1", output=ASKS.model_dump())
    chain = event("on_chain_end", "0", output={"messages": [ASKS.model_dump()]})
    done = event("on_tool_end", "2", output=TELLS.model_dump())
    chunks = [event("on_chat_model_stream", "1", chunk=chunk) for chunk in pieces('{"city": "Zürich"}')]
    for events in ([*chunks, end, chain, done], [end, chain, done]):
        assert calls_of(LANGCHAIN, events, received=False) == [WEATHER._replace(result={"temp_c": 7.5})]


def test_a_chunk_that_has_calls_and_no_pieces_of_them_is_whole() -> None:
    message = ASKS.model_dump() | {"type": "AIMessageChunk", "tool_call_chunks": []}
    assert calls_of(LANGCHAIN, message, received=False) == [WEATHER]
