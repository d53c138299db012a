"""Graphs with an agent whose messages come from a script."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from pegboard.board import Pegboard
from pegboard.integrations.langgraph import (
    BoardState,
    BoardToolNode,
    ToolErrorNode,
    route_after_agent,
    route_after_tools,
)


def call(name: str, id: str | None = None, **arguments: Any) -> dict[str, Any]:
    """Return a call as a model makes it."""
    return {"name": name, "args": arguments, "id": id or f"call_{uuid4().hex}", "type": "tool_call"}


def asks(*calls: dict[str, Any], **more: Any) -> AIMessage:
    """A message that makes these calls."""
    return AIMessage("", tool_calls=list(calls), **more)


def agent_graph(
    board: Pegboard,
    script: Iterable[AIMessage],
    *,
    tools: BoardToolNode | None = None,
    errors: ToolErrorNode | None = None,
    checkpointer: BaseCheckpointSaver[Any] | None = None,
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Agent, tools and error handler; the agent sends the messages of the script in order, and then 'done'."""
    lines = iter(script)

    def agent(state: BoardState) -> dict[str, Any]:
        return {"messages": [next(lines, AIMessage("done"))]}

    graph = StateGraph(BoardState)
    graph.add_node("agent", agent)
    graph.add_node("tools", tools or BoardToolNode(board))
    graph.add_node("error_handler", errors or ToolErrorNode())
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", route_after_agent, ["tools", END])
    graph.add_conditional_edges("tools", route_after_tools, ["agent", "error_handler"])
    graph.add_edge("error_handler", "agent")
    return graph.compile(checkpointer=checkpointer)


def answers_in(messages: Iterable[BaseMessage]) -> list[ToolMessage]:
    """The answers of tools among these messages."""
    return [message for message in messages if isinstance(message, ToolMessage)]


def texts_in(messages: Iterable[BaseMessage]) -> list[str]:
    """Return the answers of tools, as the model reads them."""
    return [message.text for message in answers_in(messages)]
