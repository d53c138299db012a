"""The LangGraph node that runs the calls of an AI message."""

from __future__ import annotations

import hashlib
import json
from functools import partial
from typing import Any, cast

from langchain_core.messages import AIMessage, ToolMessage, message_chunk_to_message
from langchain_core.messages.base import BaseMessageChunk
from langchain_core.runnables import RunnableConfig
from langgraph.types import StreamWriter

from pegboard.board import Pegboard
from pegboard.concurrency.concurrent_calls import ConcurrentCalls
from pegboard.dialects.base import Answer
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.integrations.langgraph.graph_state import (
    find_last_round,
    get_messages,
    group_answers_by_round,
    is_given_up,
)
from pegboard.integrations.langgraph.run_call import CallerOf, build_tool_message, resolve_caller, run_call
from pegboard.model.call import Caller, ToolCall
from pegboard.model.call_errors import ExecutionFailed
from pegboard.pipeline import refuse_call


class BoardToolNode:
    """Runs the calls of the last AI message and answers each in order; requires `ainvoke` or `astream`.

    Calls run as the admin unless `caller` is given: a Caller, or a function of the run's config that returns one. In a
    thread, a call that may have effects runs once, however often the graph is resumed. Progress is written to the
    graph's custom stream. If the graph is cancelled, so are its calls, except those of tools that detach.
    """

    def __init__(self, board: Pegboard, *, caller: CallerOf | None = None, messages_key: str = "messages") -> None:
        self._board = board
        self._caller = caller
        self._messages_key = messages_key
        self._concurrent = ConcurrentCalls()

    async def __call__(self, state: Any, config: RunnableConfig, writer: StreamWriter = lambda _: None) -> Any:
        """Return the state update: the answers as messages, and their details as `tool_runs`."""
        messages = get_messages(state, self._messages_key)
        message, answered = find_last_round(messages)
        caller = resolve_caller(self._board, self._caller, config)
        given_up = {
            self._tool(it.name) for round in group_answers_by_round(messages) for it in round if is_given_up(it)
        }

        async def one(call: AskedCall, key: str | None) -> ToolMessage:
            if self._tool(call.name) in given_up:
                return _refuse_given_up_call(call)
            return await run_call(self._board, call, caller, writer, key=key)

        answers = await self._concurrent.run(
            (partial(one, call, self._key(call, place, message, config)), self._board.payloads.detaches(call))
            for place, call in enumerate(self._calls(message, answered, caller))
            if call.is_open
        )
        if isinstance(state, list):
            return answers
        return {self._messages_key: answers, "tool_runs": [answer.artifact for answer in answers]}

    def _calls(self, message: AIMessage, answered: list[ToolMessage], caller: Caller) -> tuple[AskedCall, ...]:
        if isinstance(message, BaseMessageChunk):
            message = cast("AIMessage", message_chunk_to_message(message))
        dumped = [each.model_dump() for each in (message, *answered)]
        payloads = self._board.payloads
        # Not `payloads.read`: a graph may make more calls at once than a payload may contain.
        return payloads.dialects.read(dumped, "langchain", lambda name: payloads.schema_of(name, caller)).calls

    def _key(self, call: AskedCall, place: int, message: AIMessage, config: RunnableConfig) -> str | None:
        """Return the idempotency key for a resumed graph; None if it is unknown or not needed.

        The arguments are part of it: a call that a person changed before the graph is resumed is another call.
        """
        thread = config.get("configurable", {}).get("thread_id")
        compiled = self._board.snapshot.find(call.name) if call.name else None
        if thread is None or not message.id or compiled is None or call.is_malformed:
            return None
        if compiled.tool.idempotent or not compiled.has_effects:
            return None
        # An id that was not given by the model changes whenever the message is read.
        given = call.id if any(each["id"] == call.id for each in message.tool_calls) else None
        parts = (str(thread), message.id, place, given, call.arguments)
        try:
            return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()
        except TypeError:  # keys that are not strings; the board reports them
            return None

    def _tool(self, name: str | None) -> str | None:
        """Return the id of the tool: models may spell its name in several ways."""
        compiled = self._board.snapshot.find(name) if name else None
        return compiled.tool.id if compiled is not None else name


def _refuse_given_up_call(call: AskedCall) -> ToolMessage:
    """Return the answer to a call of a tool that was given up; the call does not reach the board."""
    error = ExecutionFailed(f"Tool '{call.name}' was given up until the next message of the user, and did not run")
    return build_tool_message(Answer(call, refuse_call(ToolCall(call.name, call.arguments, call.id or None), error)))
