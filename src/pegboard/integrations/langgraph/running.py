"""One call of a graph on its way through the board."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig

from pegboard.board import Pegboard
from pegboard.core.call import Caller, Progress, ToolCall
from pegboard.dialects.asked import AskedCall
from pegboard.dialects.base import Answer
from pegboard.dialects.parts.langchain_messages import tool_message
from pegboard.integrations.langgraph.state import ToolRun
from pegboard.live.telling import Telling

CallerOf = Caller | Callable[[RunnableConfig], Caller]


def caller_of(board: Pegboard, caller: CallerOf | None, config: RunnableConfig) -> Caller:
    """Who asks in this run of the graph: the admin, unless somebody is named."""
    if caller is None:
        return board.admin
    return caller if isinstance(caller, Caller) else caller(config)


async def run_call(
    board: Pegboard, call: AskedCall, caller: Caller, write: Callable[[Any], None], *, key: str | None = None
) -> ToolMessage:
    """The answer to one call, as the message that goes back to the model; its progress is written meanwhile."""

    def tell(progress: Progress) -> None:
        said = {"progress": progress.progress, "total": progress.total, "message": progress.message}
        said["partial"] = progress.partial
        known = {name: value for name, value in said.items() if value is not None}
        write({"type": "tool_progress", "id": call.id, "name": call.name, **known})

    telling = Telling(tell)
    asked = ToolCall(call.name, call.arguments, call.id or None, dialect="langchain", on_progress=telling, key=key)
    try:
        return message_of(Answer(call, await board.pipeline.run(asked, caller)))
    finally:
        telling.end()


def message_of(answer: Answer) -> ToolMessage:
    """The ToolMessage with this answer, and how it came about as its artifact."""
    return ToolMessage(**{**tool_message(answer), "artifact": _run_of(answer)})


def _run_of(answer: Answer) -> ToolRun:
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
