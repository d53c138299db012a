"""The library surface: the methods that a Python program calls on an open board."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, TypeVar, overload

from pegboard.conversations.conversations import Conversations
from pegboard.dialect_calls import PayloadRunner
from pegboard.dialects.detect import CallStream, Dialects
from pegboard.kinds.chain.outcome import ChainOutcome
from pegboard.kinds.chain.run_chain import ChainRunner
from pegboard.kinds.internal.executor import Handler
from pegboard.kinds.internal.functions import FunctionRegistry
from pegboard.model.accounts import refuse_agents
from pegboard.model.call import Caller, CallRequest, Execution, OnProgress, ToolCall, ToolResult
from pegboard.model.chain import Chain
from pegboard.model.filters import ExecutionFilter
from pegboard.model.page import Page
from pegboard.model.tool import Tool
from pegboard.model.validation_messages import validate_model
from pegboard.pipeline import Pipeline
from pegboard.progress.board_watchers import BoardWatchers
from pegboard.progress.event_log import LogEvent
from pegboard.registry.apply_plan import ApplyPlan, apply_definitions
from pegboard.registry.board_search import FoundThing, search_board
from pegboard.registry.draft_tools import build_drafts
from pegboard.registry.execution_reader import ExecutionReader
from pegboard.registry.kind_list import KindDescription, list_kinds
from pegboard.registry.snapshot import Snapshot
from pegboard.registry.tool_create import ToolCreate, read_definition
from pegboard.registry.tool_registry import ToolRegistry
from pegboard.runs.cancellation import CallCanceller
from pegboard.runs.followed_runs import FollowedRuns
from pegboard.runs.handle import CallHandler
from pegboard.runs.replay import CallReplayer, Replay
from pegboard.runs.running_calls import RunningCalls, list_running_calls
from pegboard.storage.database import Database

F = TypeVar("F", bound=Callable[..., Any])


class Library:
    """Registers and calls tools, follows calls and reads the journal; acts as the admin unless `caller` is given."""

    admin: Caller
    database: Database
    calls: CallHandler
    pipeline: Pipeline
    payloads: PayloadRunner
    threads: Conversations
    following: FollowedRuns
    cancelling: CallCanceller
    chains: ChainRunner
    watchers: BoardWatchers
    dialects: Dialects
    snapshot: Snapshot
    tools: ToolRegistry
    replays: CallReplayer
    _functions: FunctionRegistry
    _recorded: ExecutionReader

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        caller: Caller | None = None,
        on_progress: OnProgress | None = None,
        key: str | None = None,
    ) -> ToolResult:
        """Call a tool, as the admin unless `caller` is given; a failed call is a result too.

        A call with a `key` runs once: within a day, a repeat with the same key returns the recorded result.
        """
        given = {} if arguments is None else arguments
        call = ToolCall(str(name), given, on_progress=on_progress, key=key)
        return await self.calls.call(call, caller or self.admin)

    async def run(
        self,
        raw: Any,
        *,
        dialect: str | None = None,
        caller: Caller | None = None,
        key: str | None = None,
        thread: str | None = None,
    ) -> Any:
        """Run the calls of a payload in any dialect and return the results in it; `key` applies to each call.

        With a `thread`, the messages, calls and results are stored in that conversation.
        """
        request = CallRequest(caller or self.admin, key=key, thread_id=thread)
        handled = await self.calls.run(await self.calls.read(raw, request, dialect=dialect, size=_measure_text(raw)))
        if handled.thread_error is not None:
            raise handled.thread_error
        return self.calls.render(handled)

    async def follow(
        self,
        raw: Any,
        *,
        dialect: str | None = None,
        caller: Caller | None = None,
        key: str | None = None,
        thread: str | None = None,
    ) -> AsyncIterator[LogEvent]:
        """Run the calls of a payload and yield its events: tool_use, tool_progress, tool_result and complete."""
        request = CallRequest(caller or self.admin, key=key, thread_id=thread)
        feed = self.calls.follow(
            await self.calls.read(raw, request, dialect=dialect, size=_measure_text(raw), with_text=True)
        )
        with self.following.reading(feed) as events:
            async for batch in events.batches():
                for event in batch:
                    yield event

    async def chain(
        self,
        chain: Mapping[str, Any] | Chain,
        given: Mapping[str, Any] | None = None,
        *,
        caller: Caller | None = None,
        key: str | None = None,
    ) -> ChainOutcome:
        """Run steps that refer to each other and to `given`; a failed step is part of the outcome.

        Raises Invalid if the chain is invalid, before any step runs.
        """
        steps = chain if isinstance(chain, Chain) else validate_model(Chain, chain, "")
        outcome = await self.calls.run_chain(steps, given or {}, CallRequest(caller or self.admin, key=key))
        assert outcome is not None  # None only if a client disconnects
        return outcome

    async def watch(self, *, caller: Caller | None = None) -> AsyncIterator[LogEvent]:
        """Yield new events of the board: of the caller's own calls, or of all calls for an admin."""
        caller = caller or self.admin
        refuse_agents(caller)
        with self.watchers.watch() as events:
            async for batch in events.batches(events.last):
                for event in batch:
                    if caller.is_admin or event.owner_id == caller.user_id:
                        yield event

    def running_calls(self, *, caller: Caller | None = None, limit: int = 50) -> RunningCalls:
        """Return the calls that run in this process, oldest first: the caller's own, or all calls for an admin."""
        return list_running_calls(self.pipeline, caller or self.admin, limit)

    async def cancel(self, run_id: str, *, caller: Caller | None = None) -> None:
        """Cancel a running call; raise NotFound if it is unknown and Conflict if it is over."""
        await self.cancelling.cancel(run_id, caller or self.admin)

    def normalize(
        self, raw: Any, *, dialect: str | None = None, check: bool = False, caller: Caller | None = None
    ) -> dict[str, Any]:
        """Return the calls of a payload in the board's own format, `{dialect, calls}`; runs nothing.

        With `check`, a call that would be refused has the `problem`.
        """
        caller = caller or self.admin
        return self.payloads.normalize_calls(self.payloads.read(raw, dialect, caller), caller, check=check)

    def stream(self, dialect: str | None = None, *, caller: Caller | None = None) -> CallStream:
        """Return a stream that is fed the chunks of a model's response; `feed` and `end` return the complete calls."""
        return self.payloads.stream(dialect, caller or self.admin)

    async def definitions(
        self,
        dialect: str = "plain",
        *,
        strict: bool = False,
        caller: Caller | None = None,
        drafts: Sequence[Any] | None = None,
    ) -> Any:
        """Return the tool definitions in this dialect: the caller's own tools and the public tools of admins.

        `drafts` are other definitions, which are not saved.
        """
        if drafts is None:
            tools = [item.tool for item in self.snapshot.list_offered_tools(caller or self.admin)]
        else:
            tools = await build_drafts(drafts, caller or self.admin, self.tools)
        return self.dialects.named(dialect, "dialect").declare(tools, strict=strict)

    @overload
    def tool(self, function: F) -> F: ...
    @overload
    def tool(self, *, name: str | None = None, **fields: Any) -> Callable[[F], F]: ...
    def tool(self, function: F | None = None, *, name: str | None = None, **fields: Any) -> F | Callable[[F], F]:
        """Register a function as a tool immediately; it exists only in this process and is not stored."""

        def register(function: F) -> F:
            self._functions.add_function(function, name, fields)
            return function

        return register if function is None else register(function)

    def handler(self, name: str, *, for_members: bool = False) -> Callable[[F], F]:
        """Register a function as the handler that stored internal tools refer to by name.

        Tools of admins may use it; tools of members only with `for_members`, and with any schema that a member writes.
        """

        def offer(function: F) -> F:
            self._functions.register_handler(name, Handler.of(function, for_members=for_members))
            return function

        return offer

    def kinds(self) -> list[KindDescription]:
        """Return the kinds of tools: what they are for, the schema of their config, and who may register them."""
        return list_kinds(self.tools.rules)

    async def add(self, definition: Mapping[str, Any] | ToolCreate, *, caller: Caller | None = None) -> Tool:
        """Register a tool from its definition."""
        spec = definition if isinstance(definition, ToolCreate) else read_definition(definition)
        return await self.tools.create(spec, caller or self.admin)

    async def apply(
        self, definitions: Sequence[Any], *, prune: bool = False, dry_run: bool = False, caller: Caller | None = None
    ) -> ApplyPlan:
        """Make the caller's tools match these definitions, all or nothing."""
        return await apply_definitions(
            definitions,
            caller or self.admin,
            prune=prune,
            dry_run=dry_run,
            registry=self.tools,
        )

    async def executions(
        self, wanted: ExecutionFilter, *, caller: Caller | None = None, cursor: str | None = None, limit: int = 50
    ) -> Page[Execution]:
        """Return a page of the journal, newest first: the caller's own calls, or all calls for an admin."""
        return await self._recorded.page(wanted, caller or self.admin, cursor=cursor, limit=limit)

    async def search(self, text: str, *, caller: Caller | None = None) -> list[FoundThing]:
        """Return at most 20 tools, agents, users and executions that the caller may see and the text finds."""
        return await search_board(
            text, caller or self.admin, tools=self.tools, snapshot=self.snapshot, executions=self._recorded
        )

    async def execution(self, execution_id: str, *, caller: Caller | None = None) -> Execution:
        """Return one row of the journal."""
        return await self._recorded.get(execution_id, caller or self.admin)

    async def replay(
        self,
        execution_id: str,
        *,
        tool: str | None = None,
        version: int | None = None,
        arguments: Mapping[str, Any] | None = None,
        caller: Caller | None = None,
    ) -> Replay:
        """Run a recorded call again, with its side effects: with its tool, a version of that tool, or another tool.

        `arguments` are used in place of the recorded ones.
        """
        caller = caller or self.admin
        recorded = await self.execution(execution_id, caller=caller)
        return await self.replays.run(recorded, CallRequest(caller), tool=tool, version=version, arguments=arguments)


def _measure_text(raw: Any) -> int:
    return len(raw) if isinstance(raw, str) else 0
