"""The board's tools as LangChain tools."""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any

from langchain_core.tools import BaseTool, ToolException
from langgraph.config import get_stream_writer
from langgraph.types import StreamWriter
from pydantic import PrivateAttr

from pegboard.board import Pegboard
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.shared.function_calls import build_portable_schema, get_provider_name
from pegboard.integrations.langgraph.run_call import run_call
from pegboard.model.call import Caller
from pegboard.model.tool import Tool
from pegboard.stages.resolve import resolve_tool

# The id of the call that the current task runs.
_call_id: ContextVar[str | None] = ContextVar("pegboard_langchain_call_id", default=None)


class BoardTool(BaseTool):
    """A tool of the board; called by a model it answers with a ToolMessage, failed or not, and else raises."""

    _board: Pegboard = PrivateAttr()
    _caller: Caller = PrivateAttr()

    @classmethod
    def of(cls, tool: Tool, board: Pegboard, caller: Caller) -> BoardTool:
        """Return the LangChain tool that calls this tool as this caller."""
        schema = {"properties": {}, **build_portable_schema(tool)}  # LangChain requires the key
        made = cls(name=get_provider_name(tool), description=tool.description or "", args_schema=schema)
        made._board, made._caller = board, caller
        return made

    async def arun(self, tool_input: Any, *args: Any, tool_call_id: str | None = None, **kwargs: Any) -> Any:
        """Run the tool as LangChain does; `_arun` gets the id of the call."""
        before = _call_id.set(tool_call_id)
        try:
            return await super().arun(tool_input, *args, tool_call_id=tool_call_id, **kwargs)
        finally:
            _call_id.reset(before)

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"The board is asynchronous: call '{self.name}' or its graph with ainvoke or astream")

    # LangChain adds no keywords, because no parameter is named run_manager or typed as a config.
    async def _arun(self, /, **arguments: Any) -> Any:
        tool_call_id = _call_id.get()
        call = AskedCall(self.name, arguments, tool_call_id or "")
        answer = await run_call(self._board, call, self._caller, _get_writer())
        if tool_call_id is not None:
            return answer
        if answer.status == "error":
            raise ToolException(answer.text)
        return answer.content


def board_langchain_tools(
    board: Pegboard, *, caller: Caller | None = None, names: Iterable[str] | None = None
) -> list[BaseTool]:
    """Return the tools offered to a model for this caller, or those of these names, for `bind_tools` or an agent.

    Raises ToolNotFound if the caller has no tool of that name.
    """
    caller = caller or board.admin
    if names is None:
        compiled_tools = board.snapshot.list_offered_tools(caller)
    else:
        compiled_tools = [resolve_tool(board.snapshot, name, caller) for name in names]
    return [BoardTool.of(item.tool, board, caller) for item in compiled_tools]


def _get_writer() -> StreamWriter:
    try:
        return get_stream_writer()
    except (RuntimeError, KeyError):  # not in a graph
        return lambda _: None
