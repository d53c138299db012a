"""The data of a call: caller, request, ready call, context, result and journal row.

Types that are created for every call are named tuples: immutable like a frozen dataclass, and three times faster to
create.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol

import orjson

from pegboard.model.call_errors import UNAVAILABLE_CODES, Ignored, Problem
from pegboard.model.mcp_exchange import McpExchange
from pegboard.model.tool import Tool

Role = Literal["admin", "member"]
Surface = Literal["rest", "mcp", "cli", "library", "console"]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a call: a user, the key, and the agent that the key is bound to."""

    user_id: str
    name: str
    role: Role = "member"
    key_id: str | None = None
    agent_id: str | None = None
    # The API key of a session; None if the caller uses no session.
    parent_key_id: str | None = None

    @property
    def is_session(self) -> bool:
        """True if `key_id` is a session of the web console."""
        return self.parent_key_id is not None

    @property
    def is_admin(self) -> bool:
        """True if this caller may see and change everything."""
        return self.role == "admin"


@dataclass(frozen=True, slots=True)
class Progress:
    """What a running tool reports: a number, a message, or partial output."""

    progress: float | None = None
    total: float | None = None
    message: str | None = None
    partial: str | None = None


OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Malformed:
    """Arguments that cannot be parsed: their text, and the reason."""

    text: str
    why: str


class NamedBy(NamedTuple):
    """A saved definition (a chain or a fallback) that names the tool of a call in place of the caller."""

    owner_id: str
    # The tool that had the name when the definition was saved, or None.
    tool_id: str | None
    # The owners of all definitions that led to this call, except the caller.
    others: frozenset[str]

    @classmethod
    def of(cls, tool: Tool, name: str, caller: Caller, outer: NamedBy | None) -> NamedBy:
        """Return the NamedBy of a call to `name` in this tool's definition; `outer` is that of the enclosing call."""
        others = outer.others if outer is not None else frozenset()
        if tool.owner_id != caller.user_id:
            others |= {tool.owner_id}
        return cls(tool.owner_id, tool.bound_tools.get(name.lower()), others)

    def may_reach(self, tool: Tool) -> bool:
        """Return True if the definitions may use this tool: it is public, or `others` has no owner but the tool's."""
        return tool.is_public or self.others <= {tool.owner_id}


class CallRequest(NamedTuple):
    """A request to run calls: who sends it and how, and what applies to all of its calls."""

    caller: Caller
    surface: Surface = "library"
    request_id: str | None = None
    # The idempotency key; each of several calls gets a key derived from it.
    key: str | None = None
    thread_id: str | None = None


class ToolCall(NamedTuple):
    """A call as requested; nothing in it is trusted yet."""

    name: str
    arguments: Any
    id: str | None = None
    surface: Surface = "library"
    dialect: str = "plain"
    request_id: str | None = None
    on_progress: OnProgress | None = None
    key: str | None = None
    thread_id: str | None = None
    chain_id: str | None = None
    named_by: NamedBy | None = None
    # What an MCP client gets beside the output; None for other clients.
    exchange: McpExchange | None = None


class ReadyCall(NamedTuple):
    """A call after resolving, authorisation and validation; the only input of an executor."""

    run_id: str
    tool: Tool
    caller: Caller
    arguments: dict[str, Any]
    digest: str
    deadline: float
    on_progress: OnProgress | None = None
    key: str | None = None
    # True if the executor commits the journal entry that `conclude` returns for an output, together with its effects.
    is_transactional: bool = False
    ignored: tuple[Ignored, ...] = ()
    # True if the call may change something, so that an interrupted call has to be reported as in doubt.
    has_effects: bool = True
    conclude: Callable[[Any], Any] | None = None
    # The database in which the executor commits this entry as a receipt, if it is not the board's own.
    receipts_in: str | None = None
    exchange: McpExchange | None = None


class Cancellable(Protocol):
    """An object that knows whether its call was cancelled."""

    @property
    def is_cancelled(self) -> bool:
        """True if the caller no longer waits for the call."""


@dataclass(frozen=True, slots=True)
class CallContext:
    """What a handler gets for a parameter that is annotated with this class.

    A handler in an OS thread cannot be ended from outside. If its call was cancelled or timed out, reporting progress
    raises Cancelled in the handler; a handler that reports none can check `is_cancelled`.
    """

    caller: Caller
    run_id: str
    deadline: float
    on_progress: OnProgress | None = None
    call: Cancellable | None = None

    @property
    def is_cancelled(self) -> bool:
        """True if the call was cancelled or timed out, so that the result is not used."""
        return self.call is not None and self.call.is_cancelled

    @property
    def seconds_left(self) -> float:
        """The seconds until the deadline."""
        return max(0.0, self.deadline - time.monotonic())

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress to the subscribers of the call."""
        if self.on_progress is not None:
            self.on_progress(Progress(progress, total, message))

    def partial(self, text: str) -> None:
        """Send a part of the output to the subscribers early; the handler still has to return the whole result."""
        if self.on_progress is not None:
            self.on_progress(Progress(partial=text))


@dataclass(frozen=True)
class ToolResult:
    """How a call ended: `output` if it succeeded, `problem` if it failed."""

    tool_name: str
    success: bool
    output_json: bytes = b"null"
    problem: Problem | None = None
    elapsed_ms: float = 0.0
    call_id: str | None = None
    run_id: str = ""
    attempts: int = 0
    fallback: bool = False
    result_style: str = "plain"
    repeat_of: str | None = None
    ignored: tuple[Ignored, ...] = ()

    @property
    def is_unavailable(self) -> bool:
        """True if the board could not run or record the call."""
        return self.problem is not None and self.problem.code in UNAVAILABLE_CODES

    @cached_property
    def output(self) -> Any:
        """The output as JSON data, parsed from `output_json` on first access."""
        return orjson.loads(self.output_json)


Status = Literal["succeeded", "failed", "refused", "in_doubt"]


class Execution(NamedTuple):
    """One row of the journal: the caller, the tool, the time, and how the call ended."""

    id: str
    tool_name: str
    status: Status
    started_at: datetime
    finished_at: datetime
    elapsed_ms: float
    caller_id: str
    caller: str
    surface: Surface
    dialect: str
    attempts: int = 0
    tool_id: str | None = None
    tool_version: int | None = None
    kind: str | None = None
    key_id: str | None = None
    agent_id: str | None = None
    request_id: str | None = None
    code: str | None = None
    error: str | None = None
    arguments_digest: str | None = None
    arguments: Any = None
    row_id: str | None = None
    chain_id: str | None = None
    thread_id: str | None = None
    repeat_of: str | None = None
    result: Any = None
    printed: str | None = None
    tries: Any = None
