"""Results of calls are stored with the calls that they belong to."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.conversations import stored_calls
from pegboard.model.api_errors import Invalid
from pegboard.model.conversation import Message
from tests.formats import cases
from tests.unit.conversations.test_added_messages import added

WEATHER = {"temp_c": 7.5, "sky": "bewölkt"}
PAIRS = [
    ("openai_chat", "single", "success"),
    ("anthropic_messages", "single", "success"),
    ("gemini_generate_content", "with_id", "success"),
    ("bedrock_converse", "single", "success_json"),
    ("openai_responses", "single", "success"),
    ("openai_agents", "raw_item", "success"),
    ("openai_legacy_function_call", "single", "success"),
    ("langchain", "single", "success"),
    ("pydantic_ai", "args_object", "success"),
    ("cohere_v2", "single", "success"),
    ("mistral", "single_string_arguments", "success"),
    ("ollama", "single", "success"),
    ("vercel_ai_v4", "assistant_message", "tool_message"),
    ("vercel_ai_v7", "assistant_message", "tool_message"),
    ("mastra", "toolCalls_current", "tool_result_chunk"),
    ("llama_index", "tool_call_block", "success"),
    ("haystack", "single", "success"),
    ("google_adk", "event", "event"),
    ("ag_ui", "assistant_message", "tool_message"),
    ("a2a", "adk_convention_data_part", "adk_convention"),
]


def payload(kind: str, dialect: str, name: str) -> Any:
    """A real payload."""
    return next(case.payload for case in cases(kind) if (case.dialect, case.name) == (dialect, name))


def get_outcome(message: Message) -> Any:
    """Return the stored outcome of the call that all of these contain."""
    call = next(call for call in message.tool_calls if call["name"] == "get_weather")
    assert "error" not in call
    return call["result"]


async def test_an_answer_in_any_dialect_finds_its_call(board: Pegboard) -> None:
    for dialect, call, result in PAIRS:
        bodies = payload("call", dialect, call), payload("result", dialect, result)
        for named in (None, dialect):
            (message,) = await added(board, *bodies, dialect=named)
            assert get_outcome(message) == WEATHER, dialect


async def test_a_whole_history_is_taken_at_once(board: Pegboard) -> None:
    for dialect, call, result in PAIRS:
        body = [{"role": "user", "content": "Weather?"}]
        for part in (payload("call", dialect, call), payload("result", dialect, result)):
            body += part if isinstance(part, list) else [part]
        user, message = await added(board, body)
        assert (user.role, user.content) == ("user", "Weather?")
        assert get_outcome(message) == WEATHER, dialect


def build_calls(*calls: tuple[str, str]) -> dict[str, Any]:
    """A message with these calls."""
    return {"role": "assistant", "content": "", "tool_calls": [{"id": i, "name": n, "arguments": {}} for i, n in calls]}


def build_answer(identity: str | None, content: str, **more: Any) -> dict[str, Any]:
    """The answer to a call."""
    return {"role": "tool", "content": content, **({} if identity is None else {"tool_call_id": identity}), **more}


async def test_the_latest_open_call_of_an_id_gets_the_answer(board: Pegboard) -> None:
    first, second = await added(
        board, build_calls(("c", "a")), build_calls(("c", "a")), build_answer("c", "new"), build_answer("c", "old")
    )
    assert (first.tool_calls[0]["result"], second.tool_calls[0]["result"]) == ("old", "new")


async def test_calls_of_one_message_with_the_same_id_are_answered_in_order(board: Pegboard) -> None:
    (message,) = await added(
        board, build_calls(("c", "a"), ("c", "b")), build_answer("c", "one"), build_answer("c", "two")
    )
    assert [call["result"] for call in message.tool_calls] == ["one", "two"]


async def test_an_answer_without_an_id_goes_by_the_name(board: Pegboard) -> None:
    bodies = build_answer(None, "B", name="b"), build_answer("2", "one"), build_answer(None, "two", name="a")
    (message,) = await added(board, build_calls(("1", "b"), ("2", "a"), ("3", "a")), *bodies)
    assert [call["result"] for call in message.tool_calls] == ["B", "one", "two"]


async def test_a_call_whose_arguments_could_not_be_read_is_answered_too(board: Pegboard) -> None:
    function = {"name": "a", "arguments": '{"x'}
    asked = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "function", "function": function}],
    }
    (message,) = await added(board, asked)
    assert message.tool_calls[0]["error"] == "malformed_arguments"
    (message,) = await added(board, asked, build_answer("c", "Say it again"))
    assert message.tool_calls[0]["result"] == "Say it again" and "error" not in message.tool_calls[0]
    assert message.tool_calls[0]["raw_arguments"] == '{"x'


WAITS = "no call with the (id|name) '[a-z]+' is waiting for an answer in this thread"
ADDED = "the call with the (id|name) '[a-z]+' already has an answer: it was added before. Leave out this answer"


@pytest.mark.parametrize(
    ("bodies", "why"),
    [
        ([build_answer("nobody", "1")], WAITS),
        ([build_calls(("c", "a")), build_answer("c", "1"), build_answer("c", "2")], ADDED),
        ([build_calls(("c", "a")), build_answer("c", "1"), build_answer(None, "2", name="a")], ADDED),
        ([build_calls(("c", "a")), [build_answer("c", "1"), build_answer("c", "2")]], ADDED),
        ([build_calls(("c", "a")), build_answer(None, "1", name="b")], WAITS),
        (
            [
                build_calls(("c", "a")),
                [build_answer("c", "1"), {"role": "user", "content": "x"}, build_answer("d", "2")],
            ],
            WAITS,
        ),
    ],
)
async def test_an_answer_to_no_open_call_is_refused_and_nothing_is_added(
    board: Pegboard, bodies: list[Any], why: str
) -> None:
    thread = await board.threads.create(board.admin)
    for body in bodies[:-1]:
        await board.threads.add(thread.id, board.admin, body)
    before = await board.threads.messages(thread.id, board.admin)
    with pytest.raises(Invalid, match=why):
        await board.threads.add(thread.id, board.admin, bodies[-1])
    assert await board.threads.messages(thread.id, board.admin) == before
    assert (await board.threads.get(thread.id, board.admin)).messages == len(before.items)


@pytest.mark.parametrize("later", [0, 12])
async def test_an_answer_that_the_board_has_kept_itself_is_refused_with_that_reason(
    board: Pegboard, later: int
) -> None:
    thread = await board.threads.create(board.admin)
    await board.run(build_calls(("call_1", "echo")), thread=thread.id)
    for number in range(later):
        await board.run(build_calls((f"other_{number}", "math_eval")), thread=thread.id)
    for answer in (build_answer("call_1", "{}"), build_answer(None, "{}", name="echo")):
        with pytest.raises(Invalid, match="already has an answer: the board added it when it ran the call"):
            await board.threads.add(thread.id, board.admin, answer)
    # A later call with the same id is another call.
    await board.threads.add(thread.id, board.admin, build_calls(("call_1", "echo")))
    (message,) = await board.threads.add(thread.id, board.admin, build_answer("call_1", "again"))
    assert message.tool_calls[0]["result"] == "again"


async def test_a_call_is_found_many_messages_back_but_not_any_number(
    board: Pegboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_calls, "MAX_LOOK_BACK_MESSAGES", 20)
    later = [build_calls((f"c{number}", "a")) for number in range(15)]
    messages = await added(board, build_calls(("first", "a")), later, build_answer("first", "found"))
    assert messages[0].tool_calls[0]["result"] == "found"
    with pytest.raises(Invalid, match="no call with the id 'first'"):
        await added(board, build_calls(("first", "a")), later, later, build_answer("first", "too late"))


async def test_the_message_that_holds_the_call_returns(board: Pegboard) -> None:
    thread = await board.threads.create(board.admin)
    (asked,) = await board.threads.add(thread.id, board.admin, build_calls(("c", "a")))
    (get_outcome,) = await board.threads.add(thread.id, board.admin, build_answer("c", '{"x": 1}'))
    assert get_outcome.id == asked.id and get_outcome.tool_calls[0]["result"] == {"x": 1}
    assert list((await board.threads.messages(thread.id, board.admin)).items) == [get_outcome]
