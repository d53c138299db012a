"""Runs one call of a graph on the board."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig

from pegboard.board import Pegboard
from pegboard.dialects.base import Answer
from pegboard.dialects.langchain import render_tool_message
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.integrations.langgraph.graph_state import ToolRun
from pegboard.model.call import Caller, Progress, ToolCall
from pegboard.progress.throttle import ProgressThrottle

CallerOf = Caller | Callable[[RunnableConfig], Caller]


def resolve_caller(board: Pegboard, caller: CallerOf | None, config: RunnableConfig) -> Caller:
    """Return the caller of this run of the graph: the admin by default."""
    if caller is None:
        return board.admin
    return caller if isinstance(caller, Caller) else caller(config)


async def run_call(
    board: Pegboard, call: AskedCall, caller: Caller, write: Callable[[Any], None], *, key: str | None = None
) -> ToolMessage:
    """Run one call and return the ToolMessage for the model; progress is written to the stream."""

    def on_progress(progress: Progress) -> None:
        values = {"progress": progress.progress, "total": progress.total, "message": progress.message}
        values["partial"] = progress.partial
        known = {name: value for name, value in values.items() if value is not None}
        write({"type": "tool_progress", "id": call.id, "name": call.name, **known})

    throttle = ProgressThrottle(on_progress)
    asked = ToolCall(call.name, call.arguments, call.id or None, dialect="langchain", on_progress=throttle, key=key)
    try:
        return build_tool_message(Answer(call, await board.calls.call(asked, caller)))
    finally:
        throttle.end()


def build_tool_message(answer: Answer) -> ToolMessage:
    """Return the ToolMessage of this answer, with its ToolRun as the artifact."""
    return ToolMessage(**{**render_tool_message(answer), "artifact": _build_tool_run(answer)})


def _build_tool_run(answer: Answer) -> ToolRun:
    result, problem = answer.result, answer.result.problem
    return ToolRun(
        tool=answer.name,
        call_id=answer.id,
        run_id=answer.run_id,
        success=result.success,
        attempts=result.attempts,
        fallback=result.fallback,
        duration_ms=result.elapsed_ms,
        repeated=result.repeat_of is not None,
        code=problem.code if problem else None,
        error_type=problem.type.value if problem else None,
        retryable=problem.retryable if problem else False,
        retry_after_ms=problem.retry_after_ms if problem else None,
    )
