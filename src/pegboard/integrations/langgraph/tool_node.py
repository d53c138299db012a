"""The node that runs the calls of an AI message."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import Any, cast

from langchain_core.messages import AIMessage, ToolMessage, message_chunk_to_message
from langchain_core.messages.base import BaseMessageChunk
from langchain_core.runnables import RunnableConfig
from langgraph.types import StreamWriter

from pegboard.board import Pegboard
from pegboard.core.call import Caller, ToolCall
from pegboard.core.errors import ExecutionFailed
from pegboard.dialects.asked import AskedCall
from pegboard.dialects.base import Answer
from pegboard.integrations.langgraph.running import CallerOf, caller_of, message_of, run_call
from pegboard.integrations.langgraph.state import answers_of_turn, is_given_up, last_round, messages_in
from pegboard.pipeline import refused

# How many calls of one message run side by side; the others wait for their turn.
_AT_ONCE = 20


class BoardToolNode:
    """Runs the calls of the last AI message on the board and answers each, in their order; needs `ainvoke`/`astream`.

    The calls are the admin's unless `caller` says otherwise: a Caller, or a function of the run's config that gives
    one. In a thread, a call that may have effects runs once, however often the graph is resumed. Progress is written to
    the graph's custom stream. Where the graph is cancelled so are its calls, but those of tools that detach.
    """

    def __init__(self, board: Pegboard, *, caller: CallerOf | None = None, messages_key: str = "messages") -> None:
        self._board = board
        self._caller = caller
        self._messages_key = messages_key
        # Calls that go on without the graph.
        self._detached: set[asyncio.Task[ToolMessage]] = set()

    async def __call__(self, state: Any, config: RunnableConfig, writer: StreamWriter = lambda _: None) -> Any:
        """What the state gets: the answers as messages, and how they came about as `tool_runs`."""
        messages = messages_in(state, self._messages_key)
        message, answered = last_round(messages)
        caller = caller_of(self._board, self._caller, config)
        given_up = {self._tool(it.name) for round in answers_of_turn(messages) for it in round if is_given_up(it)}
        room = asyncio.Semaphore(_AT_ONCE)

        async def one(call: AskedCall, key: str | None) -> ToolMessage:
            if self._tool(call.name) in given_up:
                return _refusal(call)
            async with room:
                return await run_call(self._board, call, caller, writer, key=key)

        running: list[asyncio.Future[ToolMessage]] = []
        for place, call in enumerate(self._calls(message, answered, caller)):
            if call.is_open:
                task = asyncio.create_task(one(call, self._key(call, place, message, config)))
                running.append(self._shielded(task) if self._board.payloads.detaches(call) else task)
        # Whoever cancels this waits until all that are cancelled have been recorded.
        answers = await asyncio.gather(*running, return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        if isinstance(state, list):
            return answers
        return {self._messages_key: answers, "tool_runs": [cast("ToolMessage", answer).artifact for answer in answers]}

    def _calls(self, message: AIMessage, answered: list[ToolMessage], caller: Caller) -> tuple[AskedCall, ...]:
        if isinstance(message, BaseMessageChunk):
            message = cast("AIMessage", message_chunk_to_message(message))
        dumped = [each.model_dump() for each in (message, *answered)]
        payloads = self._board.payloads
        # Not `payloads.read`: a graph may make more calls at once than a payload may hold.
        return payloads.dialects.read(dumped, "langchain", lambda name: payloads.schema_of(name, caller)).calls

    def _key(self, call: AskedCall, place: int, message: AIMessage, config: RunnableConfig) -> str | None:
        """What a call is known by when the graph is resumed; None where nothing tells, or running it twice is no harm.

        The arguments are part of it: a call that a person changed before it is resumed is another one.
        """
        thread = config.get("configurable", {}).get("thread_id")
        peg = self._board.snapshot.find(call.name) if call.name else None
        if thread is None or not message.id or peg is None or call.is_malformed:
            return None
        if peg.tool.idempotent or not peg.tool.has_effects:
            return None
        # An id that the model did not give is another one whenever the message is read.
        given = call.id if any(each["id"] == call.id for each in message.tool_calls) else None
        parts = (str(thread), message.id, place, given, call.arguments)
        try:
            return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()
        except TypeError:  # keys that are no texts; the board says so
            return None

    def _tool(self, name: str | None) -> str | None:
        """The tool that is meant: models may spell its name in several ways."""
        peg = self._board.snapshot.find(name) if name else None
        return peg.tool.id if peg is not None else name

    def _shielded(self, task: asyncio.Task[ToolMessage]) -> asyncio.Future[ToolMessage]:
        self._detached.add(task)
        task.add_done_callback(self._detached.discard)
        return asyncio.shield(task)


def _refusal(call: AskedCall) -> ToolMessage:
    """The answer to a call of a tool that the graph does without; it does not reach the board."""
    error = ExecutionFailed(f"Tool '{call.name}' was given up until the next message of the user, and did not run")
    return message_of(Answer(call, refused(ToolCall(call.name, call.arguments, call.id or None), error)))
