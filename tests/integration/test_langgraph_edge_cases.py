"""Unusual calls of a model, in graphs that are resumed."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from pegboard.integrations.langgraph import BoardToolNode
from pegboard.testing import memory_board
from tests.integration.langgraph_agents import agent_graph, asks, call, texts_in

THREAD = RunnableConfig(configurable={"thread_id": "one"})
BEGIN: dict[str, Any] = {"messages": [HumanMessage("begin")]}


async def test_a_call_that_a_person_gave_to_another_tool_runs_there() -> None:
    async with memory_board() as board:
        ran: list[str] = []

        @board.tool
        def mail() -> None:
            ran.append("mail")

        @board.tool
        def post() -> None:
            ran.append("post")

        graph = agent_graph(board, [asks(call("mail", "a"), id="m")], checkpointer=InMemorySaver())
        await graph.ainvoke(BEGIN, THREAD, interrupt_before=["tools"])
        before = await graph.aget_state(THREAD)
        await graph.ainvoke(None, THREAD)
        edited = asks(call("post", "a"), id="m")
        await graph.ainvoke(None, await graph.aupdate_state(before.config, {"messages": [edited]}, as_node="agent"))
    assert ran == ["mail", "post"]


async def test_a_call_without_an_id_runs_once_however_often_its_message_is_read() -> None:
    async with memory_board() as board:
        ran = 0

        @board.tool
        def add_one() -> int:
            nonlocal ran
            ran += 1
            return ran

        message = AIMessage("", tool_calls=[{"name": "add_one", "args": {}, "id": None}] * 2, id="m")
        graph = agent_graph(board, [message], checkpointer=InMemorySaver())
        await graph.ainvoke(BEGIN, THREAD, interrupt_before=["tools"])
        before = await graph.aget_state(THREAD)
        first = await graph.ainvoke(None, THREAD)
        again = await graph.ainvoke(None, before.config)
    assert ran == 2
    assert texts_in(again["messages"]) == texts_in(first["messages"])


async def test_arguments_that_are_no_json_are_answered_and_do_not_end_the_graph() -> None:
    async with memory_board() as board:

        @board.tool
        def take(it: Any) -> None:
            pytest.fail("it ran")

        message = asks(call("take", it={1: "a", "b": 2}), id="m")
        (answer,) = await BoardToolNode(board)([message], THREAD)
    assert answer.status == "error"
