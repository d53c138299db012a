"""The node that runs an AI message's calls on the board, in real graphs."""

from __future__ import annotations

import asyncio
import operator
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from pegboard.board import Pegboard
from pegboard.integrations.langgraph import BoardToolNode
from pegboard.model.api_errors import Unauthorised
from pegboard.model.call import Caller
from pegboard.testing import calls_of, member, memory_board
from tests.integration.langgraph_agents import agent_graph, answers_in, asks, call, texts_in

NO_CONFIG = RunnableConfig()


async def run(board: Pegboard, *messages: Any, **options: Any) -> list[ToolMessage]:
    """Return the node's messages, in a graph of only this node."""
    graph = StateGraph(MessagesState)
    graph.add_node("tools", BoardToolNode(board, **options))
    graph.add_edge(START, "tools")
    ended = await graph.compile().ainvoke({"messages": list(messages)})
    return answers_in(ended["messages"][len(messages) :])


async def test_calls_are_answered_in_their_order_whichever_ends_first() -> None:
    async with memory_board() as board:
        met = asyncio.Event()

        @board.tool
        async def first() -> str:
            await met.wait()
            return "first"

        @board.tool
        async def second() -> str:
            met.set()
            return "second"

        answers = await run(board, asks(call("first", "a"), call("second", "b")))
    assert [(answer.text, answer.tool_call_id, answer.name) for answer in answers] == [
        ("first", "a", "first"),
        ("second", "b", "second"),
    ]


async def test_calls_with_the_same_id_keep_their_order_and_their_answers() -> None:
    async with memory_board() as board:
        answers = await run(board, asks(call("echo", "x", n=1), call("echo", "x", n=2)))
    assert [answer.tool_call_id for answer in answers] == ["x", "x"]
    assert ['"n":1' in text for text in texts_in(answers)] == [True, False]


async def test_many_calls_are_all_answered() -> None:
    async with memory_board() as board:
        asked = asks(*(call("math_eval", str(number), expression=f"{number} + 0") for number in range(150)))
        answers = await run(board, asked)
    assert [answer.tool_call_id for answer in answers] == [str(number) for number in range(150)]
    assert {answer.status for answer in answers} == {"success"}


async def test_an_answer_says_in_its_artifact_how_it_came_about() -> None:
    async with memory_board() as board:
        (answer,) = await run(board, asks(call("echo", "x")))
        (row,) = await calls_of(board)
    artifact = answer.artifact
    assert artifact.pop("duration_ms") > 0
    assert artifact == {
        "tool": "echo",
        "call_id": "x",
        "run_id": row.id,
        "success": True,
        "attempts": 1,
        "fallback": False,
        "repeated": False,
        "code": None,
        "error_type": None,
        "retryable": False,
        "retry_after_ms": None,
    }
    assert row.dialect == "langchain"


async def test_a_failure_is_an_answer_with_the_boards_words_for_the_model() -> None:
    async with memory_board() as board:

        @board.tool
        def broken() -> None:
            raise ValueError("no paper in the printer")

        failed, unknown, invalid = await run(
            board, asks(call("broken"), call("nothing_such"), call("math_eval", expression=3))
        )
    assert (failed.status, failed.text) == ("error", "no paper in the printer")
    assert (unknown.status, unknown.text) == ("error", "Tool 'nothing_such' not found")
    assert invalid.status == "error"
    assert "expression" in invalid.text
    codes = [answer.artifact["code"] for answer in (failed, unknown, invalid)]
    assert codes == ["execution_failed", "tool_not_found", "invalid_type"]


async def test_a_call_whose_arguments_cannot_be_read_is_answered_and_recorded() -> None:
    invalid = {"name": "echo", "args": '{"a": ', "id": "bad", "error": "cut off", "type": "invalid_tool_call"}
    async with memory_board() as board:
        good, bad = await run(board, AIMessage("", tool_calls=[call("echo", "good")], invalid_tool_calls=[invalid]))
        rows = await calls_of(board)
    assert (good.tool_call_id, good.status) == ("good", "success")
    assert (bad.tool_call_id, bad.status, bad.artifact["code"]) == ("bad", "error", "malformed_arguments")
    assert "Send the call again" in bad.text
    assert sorted(row.status for row in rows) == ["refused", "succeeded"]


async def test_a_graph_goes_to_its_tools_if_all_calls_are_unreadable() -> None:
    invalid = {"name": "echo", "args": "{", "id": "bad", "error": None, "type": "invalid_tool_call"}
    async with memory_board() as board:
        ended = await agent_graph(board, [AIMessage("", invalid_tool_calls=[invalid])]).ainvoke({"messages": []})
    assert [answer.status for answer in answers_in(ended["messages"])] == ["error"]
    assert ended["messages"][-1].text == "done"


async def test_a_message_assembled_from_chunks_makes_its_calls() -> None:
    pieces = ['{"expression"', ': "6 * 7"}']
    chunks = [
        AIMessageChunk(content="", tool_call_chunks=[{"name": name, "args": args, "id": id, "index": 0}])
        for name, id, args in (("math_eval", "x", pieces[0]), (None, None, pieces[1]))
    ]
    async with memory_board() as board:
        (answer,) = await run(board, chunks[0] + chunks[1])
    assert "42" in answer.text


async def test_calls_that_a_user_has_answered_do_not_run() -> None:
    async with memory_board() as board:
        asked = asks(call("echo", "by a person"), call("echo", "open"))
        answers = await run(board, asked, ToolMessage("I looked it up myself", tool_call_id="by a person"))
        assert len(await calls_of(board)) == 1
    assert [answer.tool_call_id for answer in answers] == ["open"]


async def test_messages_may_have_another_key_or_be_the_state_itself() -> None:
    class Talk(TypedDict):
        talk: Annotated[list[AnyMessage], add_messages]
        tool_runs: Annotated[list[Any], operator.add]

    @dataclass
    class Held:
        talk: list[AnyMessage]

    asked = asks(call("echo", "x"))
    async with memory_board() as board:
        node = BoardToolNode(board, messages_key="talk")
        graph = StateGraph(Talk)
        graph.add_node("tools", node)
        graph.add_edge(START, "tools")
        ended = await graph.compile().ainvoke({"talk": [asked], "tool_runs": []})
        held = await node(Held([asked]), NO_CONFIG)
        (listed,) = await node([asked], NO_CONFIG)
    assert [answer.tool_call_id for answer in answers_in(ended["talk"])] == ["x"]
    assert [run["call_id"] for run in ended["tool_runs"]] == ["x"]
    assert held["talk"][0].tool_call_id == listed.tool_call_id == "x"


async def test_a_state_in_which_no_model_has_recognised_is_refused() -> None:
    async with memory_board() as board:
        with pytest.raises(ValueError, match="no AIMessage"):
            await run(board, HumanMessage("hello"))


async def test_a_graph_that_is_not_awaited_is_reported_to_be() -> None:
    async with memory_board() as board:
        with pytest.raises(TypeError, match="ainvoke, astream"):
            agent_graph(board, [asks(call("echo"))]).invoke({"messages": []})


async def test_a_member_calls_what_a_member_may() -> None:
    async with memory_board() as board:

        @board.tool
        def private() -> str:
            return "of the admin"

        other_user = await member(board)
        refused, allowed = await run(board, asks(call("private"), call("echo")), caller=other_user)
        (own,) = await run(board, asks(call("private")))
        rows = await calls_of(board)
    assert refused.artifact["code"] == "tool_not_found"
    assert (allowed.status, own.text) == ("success", "of the admin")
    assert [row.caller for row in rows] == ["member", "member", board.admin.name]


async def test_the_config_of_a_run_may_set_the_caller() -> None:
    async with memory_board() as board:
        agent = await board.people.create_agent("helper", ["echo"], board.admin, None)
        key = await board.people.create_key(board.admin.user_id, board.admin, agent_id=agent.id)

        def holder(config: RunnableConfig) -> Caller:
            return board.snapshot.holder(config["configurable"]["key"])

        node = BoardToolNode(board, caller=holder)
        graph = agent_graph(board, [asks(call("echo"), call("math_eval", expression="1"))], tools=node)
        config = RunnableConfig(configurable={"key": key.key})
        ended = await graph.ainvoke({"messages": []}, config)
        rows = await calls_of(board)
        with pytest.raises(Unauthorised):
            again = agent_graph(board, [asks(call("echo"))], tools=node)
            await again.ainvoke({"messages": []}, RunnableConfig(configurable={"key": "peg_nonsense"}))
    assert [answer.status for answer in answers_in(ended["messages"])] == ["success", "error"]
    assert {row.agent_id for row in rows} == {agent.id}
