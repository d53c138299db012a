"""Retries, fallbacks and progress in a graph; graphs that are cancelled and resumed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from pegboard.board import Pegboard
from pegboard.model.call import CallContext
from pegboard.testing import NoSettings, calls_of, memory_board
from tests.integration.langgraph_agents import agent_graph, answers_in, asks, call, texts_in
from tests.waiting import until

NUMBER = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
THREAD = RunnableConfig(configurable={"thread_id": "one"})
BEGIN: dict[str, Any] = {"messages": [HumanMessage("begin")]}


async def test_a_tool_that_breaks_its_contract_twice_shows_three_attempts_in_the_state() -> None:
    async with memory_board() as board:
        answers: list[Any] = ["nonsense", {"number": "three"}, {"number": 3}]

        @board.tool(output_schema=NUMBER, retry={"max_attempts": 4})
        def measure() -> Any:
            return answers.pop(0)

        ended = await agent_graph(board, [asks(call("measure", "x"))]).ainvoke(BEGIN)
    (run,) = ended["tool_runs"]
    assert (run["success"], run["attempts"], run["fallback"]) == (True, 3, False)
    assert texts_in(ended["messages"]) == ['{"number":3}']
    assert ended["tool_errors"] == []


async def test_the_fallback_of_a_tool_shows_in_the_state_and_is_no_error() -> None:
    async with memory_board() as board:

        @board.tool(output_schema=NUMBER, retry={"max_attempts": 4}, fallback={"value": {"number": 0}})
        def measure() -> Any:
            return "nonsense"

        ended = await agent_graph(board, [asks(call("measure", "x"))]).ainvoke(BEGIN)
        rows = await calls_of(board)
    (run,) = ended["tool_runs"]
    assert (run["success"], run["attempts"], run["fallback"]) == (True, 4, True)
    assert run["run_id"] == rows[0].id
    assert texts_in(ended["messages"]) == ['{"number":0}']
    assert ended["tool_errors"] == []


async def test_progress_is_reported_to_the_process_that_streams_custom_events() -> None:
    async with memory_board() as board:

        @board.tool
        async def dig(context: CallContext) -> str:
            context.progress(1, 2, "halfway")
            return "deep"

        graph = agent_graph(board, [asks(call("dig", "x"))])
        events = [event async for event in graph.astream(BEGIN, stream_mode="custom")]
    assert events == [
        {"type": "tool_progress", "id": "x", "name": "dig", "progress": 1, "total": 2, "message": "halfway"}
    ]


async def test_progress_from_a_thread_and_pieces_of_output_are_reported_too() -> None:
    async with memory_board() as board:

        @board.tool
        def write(context: CallContext) -> str:
            context.partial("Once upon")
            return "Once upon a time"

        graph = agent_graph(board, [asks(call("write", "x"))])
        events = [event async for event in graph.astream(BEGIN, stream_mode="custom")]
    assert [event["partial"] for event in events] == ["Once upon"]


async def test_a_graph_that_is_cancelled_cancels_its_calls() -> None:
    async with memory_board() as board:
        begun = asyncio.Event()

        @board.tool
        async def wait() -> None:
            begun.set()
            await asyncio.Event().wait()

        running = asyncio.create_task(agent_graph(board, [asks(call("wait"), call("wait"))]).ainvoke(BEGIN, THREAD))
        await begun.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        rows = await calls_of(board)
    assert [(row.status, row.code) for row in rows] == [("failed", "cancelled")] * 2


async def test_a_resumed_graph_runs_again_only_what_did_no_harm() -> None:
    async with memory_board() as board:
        ran = {"pay": 0, "look": 0, "send": 0}
        is_interrupted = True
        waiting = asyncio.Semaphore(0)

        @board.tool
        def pay() -> str:
            ran["pay"] += 1
            return "paid"

        @board.tool(read_only=True)
        async def look() -> str:
            ran["look"] += 1
            if is_interrupted:
                waiting.release()
                await asyncio.Event().wait()
            return "seen"

        @board.tool
        async def send() -> str:
            ran["send"] += 1
            waiting.release()
            await asyncio.Event().wait()
            return "sent"

        asked = asks(call("pay", "a"), call("look", "b"), call("send", "c"))
        graph = agent_graph(board, [asked], checkpointer=InMemorySaver())
        running = asyncio.create_task(graph.ainvoke(BEGIN, THREAD))
        await waiting.acquire()
        await waiting.acquire()
        await until(lambda: calls_of(board, "pay"))
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        is_interrupted = False
        ended = await graph.ainvoke(None, THREAD)
    assert ran == {"pay": 1, "look": 2, "send": 1}
    paid, seen, sent = answers_in(ended["messages"])
    assert (paid.text, paid.artifact["repeated"]) == ("paid", True)
    assert (seen.text, seen.artifact["repeated"]) == ("seen", False)
    assert (sent.status, sent.artifact["code"], sent.artifact["repeated"]) == ("error", "cancelled", True)
    assert [failure["tool"] for failure in ended["tool_errors"]] == ["send"]


async def test_another_board_on_the_same_database_resumes_a_graph_without_running_a_call_twice(tmp_path: Path) -> None:
    ran = {"pay": 0, "look": 0}
    saver, begun, may_look = InMemorySaver(), asyncio.Event(), asyncio.Event()

    def pay() -> str:
        ran["pay"] += 1
        return "paid"

    async def look() -> str:
        ran["look"] += 1
        begun.set()
        await may_look.wait()
        return "seen"

    @asynccontextmanager
    async def opened() -> AsyncIterator[Pegboard]:
        url = f"sqlite:///{tmp_path}/board.db"
        async with Pegboard.open(url, settings=NoSettings(home=tmp_path)) as board:
            board.tool(pay)
            board.tool(read_only=True)(look)
            yield board

    async with opened() as board:
        graph = agent_graph(board, [asks(call("pay", "a"), call("look", "b"))], checkpointer=saver)
        running = asyncio.create_task(graph.ainvoke(BEGIN, THREAD))
        await begun.wait()
        await until(lambda: calls_of(board, "pay"))
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    may_look.set()
    async with opened() as board:
        ended = await agent_graph(board, [], checkpointer=saver).ainvoke(None, THREAD)
    assert texts_in(ended["messages"]) == ["paid", "seen"]
    assert ran == {"pay": 1, "look": 2}


async def test_a_tool_that_detaches_continues_and_the_resumed_graph_gets_its_answer() -> None:
    async with memory_board() as board:
        begun, may_end, ran = asyncio.Event(), asyncio.Event(), 0

        @board.tool(on_disconnect="detach")
        async def build() -> str:
            nonlocal ran
            ran += 1
            begun.set()
            await may_end.wait()
            return "built"

        graph = agent_graph(board, [asks(call("build"))], checkpointer=InMemorySaver())
        running = asyncio.create_task(graph.ainvoke(BEGIN, THREAD))
        await begun.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        may_end.set()
        ended = await graph.ainvoke(None, THREAD)
    assert texts_in(ended["messages"]) == ["built"]
    assert ran == 1


async def test_the_same_call_in_another_message_or_thread_runs_again() -> None:
    async with memory_board() as board:
        count = 0

        @board.tool
        def add_one() -> int:
            nonlocal count
            count += 1
            return count

        script = [asks(call("add_one", "same")) for _ in range(3)]
        graph = agent_graph(board, script, checkpointer=InMemorySaver())
        ended = await graph.ainvoke(BEGIN, THREAD)
        other = agent_graph(board, [asks(call("add_one", "same"), id="m")], checkpointer=InMemorySaver())
        await other.ainvoke(BEGIN, THREAD)
        another = agent_graph(board, [asks(call("add_one", "same"), id="m")], checkpointer=InMemorySaver())
        await another.ainvoke(BEGIN, RunnableConfig(configurable={"thread_id": "two"}))
    assert texts_in(ended["messages"]) == ["1", "2", "3"]
    assert count == 5


async def test_two_calls_of_a_message_that_are_the_same_run_both() -> None:
    async with memory_board() as board:
        count = 0

        @board.tool
        def add_one() -> int:
            nonlocal count
            count += 1
            return count

        script = [asks(call("add_one", "same"), call("add_one", "same"))]
        ended = await agent_graph(board, script, checkpointer=InMemorySaver()).ainvoke(BEGIN, THREAD)
    assert sorted(texts_in(ended["messages"])) == ["1", "2"]


async def test_a_call_that_a_person_changed_before_the_graph_continues_runs_as_changed() -> None:
    async with memory_board() as board:
        sent: list[str] = []

        @board.tool
        def send(to: str) -> str:
            sent.append(to)
            return f"sent to {to}"

        graph = agent_graph(board, [asks(call("send", "a", to="all"), id="m")], checkpointer=InMemorySaver())
        await graph.ainvoke(BEGIN, THREAD, interrupt_before=["tools"])
        before = await graph.aget_state(THREAD)
        await graph.ainvoke(None, THREAD)
        edited = asks(call("send", "a", to="Ada"), id="m")
        changed = await graph.aupdate_state(before.config, {"messages": [edited]}, as_node="agent")
        ended = await graph.ainvoke(None, changed)
    assert sent == ["all", "Ada"]
    assert texts_in(ended["messages"]) == ["sent to Ada"]
