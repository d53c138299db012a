"""Stored results of calls, and whether they match their tools' output schemas."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.dialect_calls import AnsweredCalls
from pegboard.model.api_errors import Invalid, NotFound
from pegboard.model.call import CallRequest
from pegboard.model.conversation import Message
from pegboard.testing import member

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def mock(name: str, response: Any, **more: Any) -> dict[str, Any]:
    """A tool that answers this."""
    config = {"mock_response": response}
    return {"name": name, "tool_type": "mock", "config": config, "input_schema": {"type": "object"}, **more}


@pytest.fixture
async def tools(board: Pegboard) -> Pegboard:
    """A board with a tool that declares its output, one that does not, and one that fails."""
    await board.add(mock("counted", {"n": 1}, output_schema=NUMBER, is_public=True))
    await board.add(mock("free", [1, 2]))
    await board.add(mock("wrong", {"n": "one"}, output_schema=NUMBER))
    return board


async def run_in_thread(board: Pegboard, raw: Any) -> Message:
    """Run a payload and return the only message of its thread."""
    thread = await board.threads.create(board.admin)
    asked = board.payloads.read(raw, None, board.admin)
    answered = await board.payloads.run(asked, CallRequest(board.admin, thread_id=thread.id))
    await board.threads.remember(thread.id, board.admin, answered, board.dialects.turn_reader.read_assistant_text(raw))
    (message,) = (await board.threads.messages(thread.id, board.admin)).items
    return message


async def test_calls_are_remembered_with_how_they_went(tools: Pegboard) -> None:
    function = {"name": "counted", "arguments": '{"x": 1}'}
    calls = [
        {"id": "c1", "type": "function", "function": function},
        {"id": "c2", "type": "function", "function": {"name": "wrong", "arguments": "{}"}},
        {"id": "c3", "type": "function", "function": {"name": "free", "arguments": "{"}},
        {"id": "c4", "type": "function", "function": {"name": "free", "arguments": ""}},
        {"id": "c5", "type": "function", "function": {"name": "nonesuch", "arguments": "{}"}},
    ]
    message = await run_in_thread(tools, {"role": "assistant", "content": "Let me count.", "tool_calls": calls})
    assert (message.role, message.content, message.dialect) == ("assistant", "Let me count.", "openai_chat")
    counted, wrong, malformed, free, unknown = message.tool_calls
    assert (counted["id"], counted["arguments"], counted["result"]) == ("c1", {"x": 1}, {"n": 1})
    assert counted["result_valid"] is True and counted["attempts"] == 1 and counted["duration_ms"] >= 0
    assert "error" not in counted and "code" not in counted
    assert wrong["code"] == "contract_violation" and "output schema" in wrong["error"] and "result" not in wrong
    assert malformed["code"] == "malformed_arguments" and malformed["raw_arguments"] == "{"
    assert malformed["arguments"] is None and "cannot be read" in malformed["error"]
    assert free["result"] == [1, 2] and "result_valid" not in free
    assert unknown["code"] == "tool_not_found"
    for call in message.tool_calls:
        assert (await tools.execution(call["run_id"])).thread_id == message.thread_id


async def test_what_the_provider_ran_itself_is_kept_with_what_is_known(tools: Pegboard) -> None:
    content = [
        {"type": "text", "text": "I looked."},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result", "url": "u"}]},
        {"type": "tool_use", "id": "t1", "name": "free", "input": {}},
    ]
    message = await run_in_thread(tools, {"role": "assistant", "content": content})
    searched, ran = message.tool_calls
    assert message.content == "I looked."
    assert (searched["name"], searched["provider_executed"]) == ("web_search", True)
    assert searched["result"] and "run_id" not in searched and "duration_ms" not in searched
    assert (ran["result"], ran["attempts"]) == ([1, 2], 1)


async def test_a_call_without_an_id_gets_one(tools: Pegboard) -> None:
    message = await run_in_thread(tools, {"name": "free", "arguments": {}})
    assert message.tool_calls[0]["id"].startswith("call_") and message.content is None


async def test_nothing_reported_and_nothing_called_is_no_message(board: Pegboard) -> None:
    thread = await board.threads.create(board.admin)
    nothing = AnsweredCalls(board.payloads.read([], None, board.admin), ())
    await board.threads.remember(thread.id, board.admin, nothing, None)
    assert (await board.threads.get(thread.id, board.admin)).messages == 0
    await board.threads.remember(thread.id, board.admin, nothing, "Good day")
    assert [one.content for one in (await board.threads.messages(thread.id, board.admin)).items] == ["Good day"]


async def test_a_thread_that_is_gone_or_another_s_remembers_nothing(board: Pegboard) -> None:
    thread = await board.threads.create(board.admin)
    nothing = AnsweredCalls(board.payloads.read([], None, board.admin), ())
    for text in (None, "hi"):
        with pytest.raises(NotFound):
            await board.threads.remember(thread.id, await member(board, f"for {text}"), nothing, text)
    await board.threads.delete(thread.id, board.admin)
    with pytest.raises(NotFound):
        await board.threads.remember(thread.id, board.admin, nothing, "hi")


async def test_more_text_than_a_message_holds_is_refused(board: Pegboard) -> None:
    thread = await board.threads.create(board.admin)
    nothing = AnsweredCalls(board.payloads.read([], None, board.admin), ())
    with pytest.raises(Invalid, match="1,048,577 bytes of text, at most 1,048,576"):
        await board.threads.remember(thread.id, board.admin, nothing, "x" * (2**20 + 1))


@pytest.mark.parametrize(
    ("name", "result", "valid"),
    [("counted", {"n": 1}, True), ("counted", {"n": "1"}, False), ("counted", None, False), ("free", 1, None)],
)
async def test_a_recorded_result_is_held_against_its_tool_s_schema(
    tools: Pegboard, name: str, result: Any, valid: bool | None
) -> None:
    thread = await tools.threads.create(tools.admin)
    call = {"id": "c", "name": name, "arguments": {}, "result": result, "result_valid": "made up"}
    body = {"role": "assistant", "content": None, "tool_calls": [call]}
    (message,) = await tools.threads.add(thread.id, tools.admin, body)
    assert message.tool_calls[0].get("result_valid") is valid


async def test_a_result_that_would_take_too_long_to_check_is_remembered_unchecked(board: Pegboard) -> None:
    union = {"type": "array", "items": {"anyOf": [{"const": number} for number in range(4000)]}}
    await board.add(mock("counted", 1, output_schema=union))
    thread = await board.threads.create(board.admin)
    call = {"id": "c", "name": "counted", "arguments": {}, "result": [-1] * 20_000}
    (message,) = await board.threads.add(thread.id, board.admin, {"role": "assistant", "tool_calls": [call]})
    assert len(message.tool_calls[0]["result"]) == 20_000 and "result_valid" not in message.tool_calls[0]


async def test_a_result_that_arrives_later_is_held_against_the_schema_then(tools: Pegboard) -> None:
    thread = await tools.threads.create(tools.admin)
    calls = [{"id": "c", "name": "counted", "arguments": {}}]
    (asked,) = await tools.threads.add(
        thread.id, tools.admin, {"role": "assistant", "content": "", "tool_calls": calls}
    )
    assert "result_valid" not in asked.tool_calls[0]
    answer = {"role": "tool", "tool_call_id": "c", "content": '{"n": "many"}'}
    (answered,) = await tools.threads.add(thread.id, tools.admin, answer)
    assert answered.tool_calls[0]["result_valid"] is False


async def test_no_caller_learns_of_a_tool_that_they_may_not_call(tools: Pegboard) -> None:
    ada = await member(tools, "ada")
    thread = await tools.threads.create(ada)
    calls = [
        {"id": str(place), "name": name, "arguments": {}, "result": 1}
        for place, name in enumerate(("wrong", "counted"))
    ]
    (message,) = await tools.threads.add(thread.id, ada, {"role": "assistant", "content": "", "tool_calls": calls})
    assert [call.get("result_valid") for call in message.tool_calls] == [None, False]


async def test_memory_form_is_read_back_with_all_that_is_in_it(tools: Pegboard) -> None:
    message = await run_in_thread(
        tools, [{"name": "counted", "arguments": {"x": 1}}, {"name": "wrong", "arguments": {}}]
    )
    body = {"role": "assistant", "content": message.content, "tool_calls": list(message.tool_calls)}
    thread = await tools.threads.create(tools.admin)
    (again,) = await tools.threads.add(thread.id, tools.admin, body)
    assert [dict(sorted(call.items())) for call in again.tool_calls] == [
        dict(sorted(call.items())) for call in message.tool_calls
    ]
