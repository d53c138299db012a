"""mcp tools: a call of another server's tool, checked against what its owner took on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

from yarl import URL

from pegboard.core.call import ReadyCall
from pegboard.core.errors import Drifted, RateLimited, TimedOut, ToolError, UpstreamFailed
from pegboard.core.outbound import McpConfig
from pegboard.core.tool import Tool
from pegboard.egress.breaker import Breakers
from pegboard.egress.hosts import Hosts, origin_of
from pegboard.executors.attempts import LARGE_ANSWER, MOST_AT_ONCE, Attempt, Places, attempt_seconds, end_of
from pegboard.executors.base import OpenTool, Prepared
from pegboard.executors.masking import Mask
from pegboard.executors.mcp.content import output_of
from pegboard.executors.mcp.pool import Upstreams
from pegboard.executors.mcp.upstream import Changed, Gone, Upstream, UpstreamTool
from pegboard.executors.passing import Passing, PieceMask
from pegboard.executors.reading import read_config

OnDrift = Callable[[Tool, UpstreamTool | None], None]

_READERS = 2


class McpExecutor:
    """Calls tools of MCP servers over pooled sessions."""

    def __init__(
        self,
        upstreams: Upstreams,
        breakers: Breakers,
        hosts: Hosts,
        on_drift: OnDrift,
        *,
        most_at_once: int = MOST_AT_ONCE,
    ) -> None:
        self._upstreams = upstreams
        self._breakers = breakers
        self._hosts = hosts
        self._places = Places(most_at_once)
        self._readers = ThreadPoolExecutor(_READERS, "pegboard-mcp")
        self._on_drift = on_drift

    def prepare(self, tool: OpenTool) -> Prepared:
        """The upstream and what to call there, read once; nothing is connected before the first call."""
        config = read_config(McpConfig, tool.config)
        upstream = Upstream.of(config, tool.auth, tool.tool.owner_id)
        self._upstreams.check(upstream)
        secrets = upstream.secrets | tool.secrets
        exchange = _Exchange(
            self._upstreams,
            self._breakers,
            self._hosts,
            self._places,
            self._readers,
            on_drift=self._on_drift,
            tool=tool.tool,
            config=config,
            upstream=upstream,
            mask=Mask(secrets),
            told_mask=PieceMask(secrets),
        )
        return Prepared(exchange.run)

    async def close(self) -> None:
        """Let go of the threads; sessions belong to the pool, which importers use too."""
        self._readers.shutdown(wait=False, cancel_futures=True)


class _Exchange:
    """One tool's way to its upstream and back, ready for any number of calls."""

    def __init__(
        self,
        upstreams: Upstreams,
        breakers: Breakers,
        hosts: Hosts,
        places: Places,
        readers: ThreadPoolExecutor,
        *,
        on_drift: OnDrift,
        tool: Tool,
        config: McpConfig,
        upstream: Upstream,
        mask: Mask,
        told_mask: PieceMask,
    ) -> None:
        self._upstreams = upstreams
        self._breakers = breakers
        self._hosts = hosts
        self._host = None if upstream.server_url is None else origin_of(URL(upstream.server_url))
        self._places = places
        self._readers = readers
        self._on_drift = on_drift
        self._tool = tool
        self._upstream = upstream
        self._mask = mask
        self._told_mask = told_mask
        self._name = config.tool or tool.name
        self._pinned = config.pinned
        self._response = config.response
        self._has_output_schema = tool.output_schema is not None
        self._seconds = attempt_seconds(tool)
        self._told_of: str | None = None

    async def run(self, call: ReadyCall) -> Any:
        """What the upstream's tool answers; no credential is in it, nor in the error."""
        user_id = call.caller.user_id
        self._places.take(user_id)
        try:
            answer = await self._answer(call)
            output = output_of(answer, response=self._response, has_output_schema=self._has_output_schema)
            return await self._masked(output)
        except ToolError as error:
            raise self._mask.error(error) from None
        finally:
            self._places.give_back(user_id)

    async def _masked(self, output: Any) -> Any:
        size = self._mask.to_look_through(output)
        if not size:
            return output
        if size <= LARGE_ANSWER:
            return self._mask.looked_through(output)
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._mask.looked_through, output)

    async def _answer(self, call: ReadyCall) -> dict[str, Any]:
        breaker = self._breakers.of(call.caller.user_id, self._upstream.origin)
        told = None if call.on_progress is None else Passing(call.on_progress, self._told_mask)
        ends = end_of(call, self._seconds)
        try:
            async with self._admitted(call.caller.user_id, ends):
                with Attempt(breaker, ends):
                    return await self._upstreams.call(
                        self._upstream, self._name, call.arguments, pinned=self._pinned, on_progress=told
                    )
        except (UpstreamFailed, RateLimited, Drifted, TimedOut) as error:
            if isinstance(error, Changed | Gone):
                self._noticed(error)
            raise
        except ToolError as error:
            error.did_run = False  # nobody asked it
            raise

    def _admitted(self, user_id: str, ends: float) -> AbstractAsyncContextManager[None]:
        """The time in which this user has a connection to the server; a command needs none."""
        return nullcontext() if self._host is None else self._hosts.admitted(user_id, self._host, ends)

    def _noticed(self, error: Changed | Gone) -> None:
        """Tell once of each definition that is not the one the owner took on."""
        live = error.live if isinstance(error, Changed) else None
        digest = live.digest if live is not None else "gone"
        if self._pinned is not None and digest != self._told_of:
            self._told_of = digest
            self._on_drift(self._tool, live)
