"""The board's tools as LangChain's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from langchain_core.tools import BaseTool, ToolException
from langgraph.config import get_stream_writer
from langgraph.types import StreamWriter
from pydantic import PrivateAttr

from pegboard.board import Pegboard
from pegboard.core.call import Caller
from pegboard.core.tool import Tool
from pegboard.dialects.asked import AskedCall
from pegboard.dialects.parts.defining import name_for, schema_for
from pegboard.integrations.langgraph.running import run_call
from pegboard.stages.resolve import resolve


class BoardTool(BaseTool):
    """A tool of the board; called by a model it answers with a ToolMessage, failed or not, and else raises."""

    _board: Pegboard = PrivateAttr()
    _caller: Caller = PrivateAttr()

    @classmethod
    def of(cls, tool: Tool, board: Pegboard, caller: Caller) -> BoardTool:
        """The LangChain tool that calls this one, as this caller."""
        schema = {"properties": {}, **schema_for(tool)}  # LangChain looks for them, whether or not there are any
        made = cls(name=name_for(tool), description=tool.description or "", args_schema=schema)
        made._board, made._caller = board, caller
        return made

    def _to_args_and_kwargs(self, tool_input: Any, tool_call_id: str | None) -> Any:
        # As one thing: as keywords, arguments named config or run_manager would meet LangChain's own.
        return (self._parse_input(tool_input, tool_call_id), tool_call_id), {}

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"The board is asynchronous: call '{self.name}' or its graph with ainvoke or astream")

    async def _arun(self, arguments: Any, tool_call_id: str | None) -> Any:
        call = AskedCall(self.name, arguments, tool_call_id or "")
        answer = await run_call(self._board, call, self._caller, _writer())
        if tool_call_id is not None:
            return answer
        if answer.status == "error":
            raise ToolException(answer.text)
        return answer.content


def board_langchain_tools(
    board: Pegboard, *, caller: Caller | None = None, names: Iterable[str] | None = None
) -> list[BaseTool]:
    """The tools that a model is handed for this caller, or those of these names, for `bind_tools` or an agent.

    Raises ToolNotFound where the caller has no tool of that name.
    """
    who = caller or board.admin
    pegs = board.snapshot.handed_to(who) if names is None else [resolve(board.snapshot, name, who) for name in names]
    return [BoardTool.of(peg.tool, board, who) for peg in pegs]


def _writer() -> StreamWriter:
    try:
        return get_stream_writer()
    except (RuntimeError, KeyError):  # not in a graph
        return lambda _: None
