"""The library surface: what a program does with an open board."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, TypeVar, overload

from pegboard.cancelling import Cancelling
from pegboard.chains.outcomes import ChainOutcome
from pegboard.chains.running import Asking, Chains
from pegboard.core.call import Caller, Execution, OnProgress, ToolCall, ToolResult
from pegboard.core.chains import Chain
from pegboard.core.definitions import ToolCreate
from pegboard.core.keys import check_key
from pegboard.core.tool import Tool
from pegboard.dialects.asked import Asked
from pegboard.dialects.dialects import Dialects, Stream
from pegboard.dialects.saying import said
from pegboard.executors.internal import Handler
from pegboard.following.following import Following
from pegboard.live.events import Event
from pegboard.live.onlookers import Onlookers
from pegboard.memory.threads import Threads
from pegboard.payloads import Payloads
from pegboard.pipeline import Pipeline
from pegboard.registry.apply import Plan, apply
from pegboard.registry.definition import checked, read_definition
from pegboard.registry.executions import Executions
from pegboard.registry.hanging import Functions
from pegboard.registry.pages import Page
from pegboard.registry.registry import Registry, refuse_agents
from pegboard.registry.snapshot import Snapshot
from pegboard.replay import Replay, Replays
from pegboard.store.database import Database
from pegboard.store.executions import ExecutionFilter

F = TypeVar("F", bound=Callable[..., Any])


class Library:
    """Register tools, call them, follow and read what happens; as the admin unless `caller` says otherwise."""

    admin: Caller
    pipeline: Pipeline
    payloads: Payloads
    threads: Threads
    following: Following
    cancelling: Cancelling
    chains: Chains
    onlookers: Onlookers
    dialects: Dialects
    snapshot: Snapshot
    tools: Registry
    replays: Replays
    _functions: Functions
    _recorded: Executions
    _database: Database

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        caller: Caller | None = None,
        on_progress: OnProgress | None = None,
        key: str | None = None,
    ) -> ToolResult:
        """Call a tool, as the admin unless `caller` says otherwise; a failed call is a result too.

        A call with a `key` runs once: asked for again within a day, it is answered as it was the first time.
        """
        given = {} if arguments is None else arguments
        call = ToolCall(str(name), given, on_progress=on_progress, key=check_key(key))
        return await self.pipeline.run(call, caller or self.admin)

    async def run(
        self,
        raw: Any,
        *,
        dialect: str | None = None,
        caller: Caller | None = None,
        key: str | None = None,
        thread: str | None = None,
    ) -> Any:
        """Run the calls of a payload in any dialect; the answer is in the same. A `key` holds for each of them.

        With a `thread`, what was said and done is remembered in that conversation.
        """
        who = caller or self.admin
        asked, text = await self._read(raw, dialect, who)
        if thread is not None:
            await self.threads.get(thread, who)
        answered = await self.payloads.run(asked, who, key=key, thread_id=thread)
        if thread is not None:
            await self.threads.remember(thread, who, answered, text)
        return self.payloads.render(answered)

    async def follow(
        self,
        raw: Any,
        *,
        dialect: str | None = None,
        caller: Caller | None = None,
        key: str | None = None,
        thread: str | None = None,
    ) -> AsyncIterator[Event]:
        """Run the calls of a payload and tell of them meanwhile: tool_use, tool_progress, tool_result and complete."""
        who = caller or self.admin
        asked, text = await self._read(raw, dialect, who)
        if thread is not None:
            await self.threads.get(thread, who)
        feed = self.following.start(asked, who, key=key, thread_id=thread, text=text)
        with self.following.reading(feed) as events:
            async for batch in events.batches():
                for event in batch:
                    yield event

    async def _read(self, raw: Any, dialect: str | None, caller: Caller) -> tuple[Asked, str | None]:
        """The calls of a payload and its text; a large text is read in a thread."""
        return await self.payloads.large_reads.run(
            lambda: (self.payloads.read(raw, dialect, caller), said(raw)),
            len(raw) if isinstance(raw, str) else 0,
            caller,
        )

    async def chain(
        self,
        chain: Mapping[str, Any] | Chain,
        given: Mapping[str, Any] | None = None,
        *,
        caller: Caller | None = None,
        key: str | None = None,
    ) -> ChainOutcome:
        """Run steps that refer to each other and to what is `given`; a step that fails is an outcome too.

        Raises Invalid where it is no chain, before anything runs.
        """
        steps = chain if isinstance(chain, Chain) else checked(Chain, chain, "")
        return await self.chains.run(steps, given or {}, Asking(caller or self.admin, key=check_key(key)))

    async def watch(self, *, caller: Caller | None = None) -> AsyncIterator[Event]:
        """What happens on the board from now on: the caller's own calls, or all calls for an admin."""
        who = caller or self.admin
        refuse_agents(who)
        with self.onlookers.watching() as events:
            async for batch in events.batches(events.last):
                for event in batch:
                    if who.is_admin or event.owner_id == who.user_id:
                        yield event

    async def cancel(self, run_id: str, *, caller: Caller | None = None) -> None:
        """End a running call: it is answered and recorded as cancelled. Raises NotFound, or Conflict if it is over."""
        await self.cancelling.cancel(run_id, caller or self.admin)

    def normalize(self, raw: Any, *, dialect: str | None = None, caller: Caller | None = None) -> dict[str, Any]:
        """The calls of a payload in the board's own form: `{dialect, calls}`; runs nothing."""
        who = caller or self.admin
        return self.payloads.normalised(self.payloads.read(raw, dialect, who), who)

    def stream(self, dialect: str | None = None, *, caller: Caller | None = None) -> Stream:
        """What a model streams, to be fed chunk by chunk: `feed` and `end` give the calls that are whole."""
        return self.payloads.stream(dialect, caller or self.admin)

    async def definitions(self, dialect: str = "plain", *, strict: bool = False, caller: Caller | None = None) -> Any:
        """What to hand a model: the caller's own tools and the public ones of admins, as that provider wants them."""
        tools = [peg.tool for peg in self.snapshot.handed_to(caller or self.admin)]
        return self.dialects.named(dialect, "dialect").declare(tools, strict=strict)

    @overload
    def tool(self, function: F) -> F: ...
    @overload
    def tool(self, *, name: str | None = None, **fields: Any) -> Callable[[F], F]: ...
    def tool(self, function: F | None = None, *, name: str | None = None, **fields: Any) -> F | Callable[[F], F]:
        """Make a function a tool at once; it lives in this process and is never stored."""

        def hang(function: F) -> F:
            self._functions.hang(function, name, fields)
            return function

        return hang if function is None else hang(function)

    def handler(self, name: str, *, for_members: bool = False) -> Callable[[F], F]:
        """Offer a function to the stored tools of kind internal that name this handler.

        Tools of admins may name it; those of members only with `for_members`, with any schema that a member writes.
        """

        def offer(function: F) -> F:
            self._functions.offer(name, Handler.of(function, for_members=for_members))
            return function

        return offer

    async def add(self, definition: Mapping[str, Any] | ToolCreate, *, caller: Caller | None = None) -> Tool:
        """Register a tool from its definition."""
        spec = definition if isinstance(definition, ToolCreate) else read_definition(definition)
        return await self.tools.create(spec, caller or self.admin)

    async def apply(
        self, definitions: Sequence[Any], *, prune: bool = False, dry_run: bool = False, caller: Caller | None = None
    ) -> Plan:
        """Make the caller's tools match these definitions, all or nothing."""
        return await apply(
            definitions,
            caller or self.admin,
            prune=prune,
            dry_run=dry_run,
            registry=self.tools,
            database=self._database,
            snapshot=self.snapshot,
        )

    async def executions(
        self, wanted: ExecutionFilter, *, caller: Caller | None = None, cursor: str | None = None, limit: int = 50
    ) -> Page[Execution]:
        """The journal, newest first: one's own calls, or everybody's for an admin."""
        return await self._recorded.page(wanted, caller or self.admin, cursor=cursor, limit=limit)

    async def execution(self, execution_id: str, *, caller: Caller | None = None) -> Execution:
        """One row of the journal."""
        return await self._recorded.get(execution_id, caller or self.admin)

    async def replay(
        self, execution_id: str, *, tool: str | None = None, version: int | None = None, caller: Caller | None = None
    ) -> Replay:
        """Run a recorded call again, effects and all: against its tool, a version of it, or another tool."""
        caller = caller or self.admin
        recorded = await self.execution(execution_id, caller=caller)
        return await self.replays.run(recorded, caller, tool=tool, version=version)
