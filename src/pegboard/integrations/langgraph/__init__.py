"""The board in LangGraph: a node that runs an AI message's calls, one that handles their errors, and LangChain tools.

tools = BoardToolNode(board)
graph.add_node("tools", tools)
graph.add_node("error_handler", ToolErrorNode())
graph.add_conditional_edges("agent", route_after_agent, ["tools", END])
graph.add_conditional_edges("tools", route_after_tools, ["agent", "error_handler"])
graph.add_edge("error_handler", "agent")
"""

from __future__ import annotations

try:
    import langgraph.graph as _  # noqa: F401 -- only whether it is installed
except ImportError as error:
    raise ImportError(
        "pegboard.integrations.langgraph needs LangGraph: pip install '/path/to/pegboard[langgraph]', or "
        "pip install langgraph"
    ) from error

from pegboard.integrations.langgraph.error_node import ToolErrorNode
from pegboard.integrations.langgraph.graph_state import (
    BoardState,
    ToolFailure,
    ToolRun,
    route_after_agent,
    route_after_tools,
)
from pegboard.integrations.langgraph.langchain_tools import BoardTool, board_langchain_tools
from pegboard.integrations.langgraph.run_call import CallerOf
from pegboard.integrations.langgraph.tool_node import BoardToolNode

__all__ = [
    "BoardState",
    "BoardTool",
    "BoardToolNode",
    "CallerOf",
    "ToolErrorNode",
    "ToolFailure",
    "ToolRun",
    "board_langchain_tools",
    "route_after_agent",
    "route_after_tools",
]
