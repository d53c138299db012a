"""A LangGraph agent that calls tools of a board; the model follows a script.

Install LangGraph first: pip install '/path/to/pegboard[langgraph]'. Then run: python langgraph_agent.py
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.graph import END, START, StateGraph

from pegboard import Pegboard
from pegboard.integrations.langgraph import (
    BoardState,
    BoardToolNode,
    ToolErrorNode,
    board_langchain_tools,
    route_after_agent,
    route_after_tools,
)

RATE = {"type": "object", "properties": {"rate": {"type": "number"}}, "required": ["rate"]}


def calls(**arguments: Any) -> AIMessage:
    """A message that calls each tool named with these arguments."""
    named = enumerate(arguments.items())
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"call_{n}"} for n, (name, args) in named])


class ScriptedModel(BaseChatModel):
    """A chat model that says one line after another; put your provider's in its place."""

    script: list[AIMessage]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
        """The model with these tools, which the script knows already."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.script.pop(0))])


SCRIPT = [
    calls(get_rate={"currency": "USD"}, send_invoice={"to": "Ada", "amount": "a lot"}),
    calls(send_invoice={"to": "Ada", "amount": 120}),
    AIMessage("The invoice is on its way. The rate is an old one: the bank did not answer."),
]


async def main() -> dict[str, Any]:
    """The state of the graph at its end."""
    async with Pegboard.open("memory") as board:

        @board.tool(
            read_only=True,
            output_schema=RATE,
            retry={"max_attempts": 2},
            fallback={"value": {"rate": 1.1}},
        )
        def get_rate(currency: str) -> dict[str, Any]:
            """What one euro costs in this currency."""
            return {"error": "the bank is closed"}  # breaks the contract, so it is tried again, then falls back

        @board.tool
        def send_invoice(to: str, amount: float) -> str:
            """Send an invoice over this amount."""
            return f"Sent to {to}: {amount:.2f} EUR"

        model = ScriptedModel(script=list(SCRIPT)).bind_tools(board_langchain_tools(board))

        async def agent(state: BoardState) -> dict[str, Any]:
            return {"messages": [await model.ainvoke(state["messages"])]}

        graph = StateGraph(BoardState)
        graph.add_node("agent", agent)
        graph.add_node("tools", BoardToolNode(board))
        graph.add_node("error_handler", ToolErrorNode(max_rounds=2))
        graph.add_edge(START, "agent")
        graph.add_conditional_edges("agent", route_after_agent, ["tools", END])
        graph.add_conditional_edges("tools", route_after_tools, ["agent", "error_handler"])
        graph.add_edge("error_handler", "agent")
        return await graph.compile().ainvoke({"messages": [HumanMessage("Send Ada an invoice")]})


if __name__ == "__main__":
    state = asyncio.run(main())
    for message in state["messages"]:
        print(f"{message.type:6} {message.text or [call['name'] for call in message.tool_calls]}")
    for run in state["tool_runs"]:
        print(f"{run['tool']:12} attempts {run['attempts']}, fallback {run['fallback']}, {run['duration_ms']:.1f} ms")
