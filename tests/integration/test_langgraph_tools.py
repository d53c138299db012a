"""The board's tools as LangChain tools, the example, and the cost of the import."""

from __future__ import annotations

import runpy
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from pegboard.integrations.langgraph import board_langchain_tools
from pegboard.model.call import CallContext
from pegboard.model.call_errors import ToolNotFound
from pegboard.testing import calls_of, member, memory_board
from tests.integration.langgraph_agents import answers_in, asks, call

EXAMPLE = Path(__file__).parents[2] / "examples" / "langgraph_agent.py"


class Model(GenericFakeChatModel):
    """A scripted model that stores the tools it received."""

    def bind_tools(self, tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool], **_: Any) -> Runnable:  # type: ignore[type-arg]
        """Return the model, with the tools as a provider receives them."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools])


async def test_a_model_is_given_the_boards_definitions_and_a_tool_node_runs_its_calls() -> None:
    async with memory_board() as board:
        tools = board_langchain_tools(board, names=["math_eval", "echo"])
        model = Model(messages=iter([asks(call("math_eval", "x", expression="6 * 7"), call("math_eval", "y"))]))
        bound = model.bind_tools(tools)
        given = bound.kwargs["tools"]  # type: ignore[attr-defined]
        assert [tool["function"]["name"] for tool in given] == ["math_eval", "echo"]
        assert given[0] in await board.definitions("langchain")

        async def agent(state: MessagesState) -> dict[str, Any]:
            return {"messages": [await bound.ainvoke(state["messages"])]}

        graph = StateGraph(MessagesState)
        graph.add_node("agent", agent)
        graph.add_node("tools", ToolNode(tools))
        graph.add_edge(START, "agent")
        graph.add_edge("agent", "tools")
        ended = await graph.compile().ainvoke({"messages": [HumanMessage("What is 6 * 7?")]})
    good, bad = answers_in(ended["messages"])
    assert (good.tool_call_id, good.status, good.artifact["attempts"]) == ("x", "success", 1)
    assert "42" in good.text
    assert (bad.status, bad.artifact["code"]) == ("error", "missing")


async def test_every_schema_that_the_board_takes_can_be_shown_by_langchain() -> None:
    node = {"type": "object", "properties": {"child": {"$ref": "#/$defs/node"}}}
    schemas: dict[str, Any] = {
        "free": {},
        "bare": {"type": "object"},
        "titled": {"title": "Other", "description": "Another", "properties": {"a": {"type": "string"}}},
        "recursive": {"$defs": {"node": node}, "properties": {"root": {"$ref": "#/$defs/node"}}},
    }
    mocks = [
        {
            "name": name,
            "description": "Words",
            "tool_type": "mock",
            "config": {"mock_response": 1},
            "input_schema": schema,
        }
        for name, schema in schemas.items()
    ]
    async with memory_board(mocks) as board:
        for tool in board_langchain_tools(board, names=schemas):
            assert tool.args == schemas[tool.name].get("properties", {})
            shown = convert_to_openai_tool(tool)["function"]
            assert (shown["name"], shown["description"]) == (tool.name, "Words")
            assert (await tool.ainvoke(call(tool.name))).text == "1"


async def test_a_tool_called_by_hand_returns_or_raises() -> None:
    async with memory_board() as board:
        (tool,) = board_langchain_tools(board, names=["math_eval"])
        assert "42" in await tool.ainvoke({"expression": "6 * 7"})
        with pytest.raises(ToolException, match="missing 'expression'"):
            await tool.ainvoke({})
        with pytest.raises(NotImplementedError, match="ainvoke"):
            tool.invoke({"expression": "1"})


async def test_arguments_may_have_names_that_langchain_uses_itself() -> None:
    async with memory_board() as board:

        @board.tool
        def join(config: str, run_manager: str, callbacks: str, tool_call_id: str, tool_input: str) -> str:
            return config + run_manager + callbacks + tool_call_id + tool_input

        (tool,) = board_langchain_tools(board, names=["join"])
        names = {"config": "a", "run_manager": "b", "callbacks": "c", "tool_call_id": "d", "tool_input": "e"}
        answer = await tool.ainvoke(call("join", **names))
    assert answer.text == "abcde"


async def test_a_tool_is_the_callers() -> None:
    async with memory_board() as board:

        @board.tool
        def private() -> str:
            return "of the admin"

        other_user = await member(board)
        assert "private" not in [tool.name for tool in board_langchain_tools(board, caller=other_user)]
        assert "private" in [tool.name for tool in board_langchain_tools(board)]
        with pytest.raises(ToolNotFound, match="private"):
            board_langchain_tools(board, caller=other_user, names=["private"])
        (echo,) = board_langchain_tools(board, caller=other_user, names=["echo"])
        await echo.ainvoke({"a": 1})
        (row,) = await calls_of(board)
    assert row.caller == "member"


async def test_progress_of_a_tool_is_streamed_where_a_graph_runs_it() -> None:
    async with memory_board() as board:

        @board.tool
        async def dig(context: CallContext) -> str:
            context.progress(1, 2)
            return "deep"

        tools = board_langchain_tools(board, names=["dig"])
        graph = StateGraph(MessagesState)
        graph.add_node("tools", ToolNode(tools))
        graph.add_edge(START, "tools")
        asked = MessagesState(messages=[asks(call("dig", "x"))])
        events = [event async for event in graph.compile().astream(asked, stream_mode="custom")]
        assert await tools[0].ainvoke({}) == "deep"
    assert events == [{"type": "tool_progress", "id": "x", "name": "dig", "progress": 1, "total": 2}]


async def test_the_example_runs_and_shows_retries_fallback_and_the_error_handler() -> None:
    ended = await runpy.run_path(str(EXAMPLE))["main"]()
    by_tool = {run["tool"]: run for run in ended["tool_runs"]}
    assert (by_tool["get_rate"]["attempts"], by_tool["get_rate"]["fallback"]) == (2, True)
    assert [failure["tool"] for failure in ended["tool_errors"]] == ["send_invoice"]
    assert isinstance(ended["messages"][-1], AIMessage)
    assert [message.status for message in ended["messages"] if isinstance(message, ToolMessage)].count("error") == 1


def test_without_langgraph_the_extra_is_named_and_pegboard_itself_never_loads_it() -> None:
    code = """
import sys
import pegboard, pegboard.board, pegboard.integrations
assert not [name for name in sys.modules if name.split(".")[0] in ("langgraph", "langchain_core")]
sys.modules["langgraph"] = None
try:
    import pegboard.integrations.langgraph
except ImportError as error:
    assert "pip install '/path/to/pegboard[langgraph]'" in str(error), error
else:
    raise AssertionError("it was imported")
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
