"""Where a graph goes after the model spoke, and after tools ran."""

from __future__ import annotations

from typing import Any, Literal

from pegboard.integrations.langgraph.state import last_round, messages_in


def route_after_agent(state: Any, *, messages_key: str = "messages") -> Literal["tools", "__end__"]:
    """To "tools" where the model's last message makes calls, also such whose arguments cannot be read; else the end."""
    message, _ = last_round(messages_in(state, messages_key))
    return "tools" if message.tool_calls or message.invalid_tool_calls else "__end__"


def route_after_tools(state: Any, *, messages_key: str = "messages") -> Literal["error_handler", "agent"]:
    """To "error_handler" where a call of the last round failed, else back to "agent"."""
    _, answers = last_round(messages_in(state, messages_key))
    return "error_handler" if any(answer.status == "error" for answer in answers) else "agent"
