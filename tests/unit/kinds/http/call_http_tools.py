"""http tools as an executor receives them, and calls as the pipeline runs them."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import time
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from typing import Any

from pegboard.http_client.address_policy import AllowList
from pegboard.http_client.circuit_breaker import CircuitBreakers
from pegboard.http_client.guarded_client import GuardedClient, Resolver
from pegboard.http_client.host_limits import HostLimiter
from pegboard.kinds.base import OpenTool, Prepared
from pegboard.kinds.http.executor import HttpExecutor
from pegboard.kinds.upstream_limits import MAX_CALLS_PER_USER
from pegboard.model.call import Caller, ReadyCall
from pegboard.model.call_errors import TimedOut
from pegboard.model.tool import Kind, Tool

_NOW = datetime(2026, 1, 1, tzinfo=UTC)


def open_tool(
    config: Mapping[str, Any],
    auth: Mapping[str, Any] | None = None,
    *,
    owner: str = "olga",
    secrets: frozenset[str] = frozenset(),
    **fields: Any,
) -> OpenTool:
    """A GET tool unless the config has another method."""
    whole = {"method": "GET", **config}
    tool = Tool("id", owner, "it", Kind.HTTP, {**whole, **fields.pop("stored", {})}, {}, _NOW, _NOW, **fields)
    return OpenTool(tool, whole, auth, secrets)


class HttpCalls:
    """An executor with its pool, and helpers to call its tools."""

    def __init__(
        self, executor: HttpExecutor, outbound: GuardedClient, breakers: CircuitBreakers, hosts: HostLimiter
    ) -> None:
        self.executor = executor
        self.hosts = hosts
        self.outbound = outbound
        self.breakers = breakers

    async def get(self, url: str, arguments: Mapping[str, Any] | None = None, **more: Any) -> Any:
        """Call a tool made for this one call and return its output."""
        return await self.call({"url": url}, arguments, **more)

    async def call(
        self,
        config: Mapping[str, Any],
        arguments: Mapping[str, Any] | None = None,
        auth: Mapping[str, Any] | None = None,
        *,
        user: str = "carl",
        **fields: Any,
    ) -> Any:
        """Call a tool with this config, made for this one call, and return its output."""
        tool = open_tool(config, auth, **fields)
        return await run(self.executor.prepare(tool), tool.tool, arguments, user=user)


async def run(prepared: Prepared, tool: Tool, arguments: Mapping[str, Any] | None = None, *, user: str = "carl") -> Any:
    """Run the call under its time, as the pipeline does."""
    seconds = tool.config.get("timeout") or tool.timeout or 30.0
    ready = ReadyCall("run", tool, Caller(user, user), dict(arguments or {}), "", time.monotonic() + seconds)
    try:
        async with asyncio.timeout(seconds):
            return await prepared.run(ready)
    except TimeoutError:
        raise TimedOut(f"Tool '{tool.name}' did not finish within {seconds:g} s") from None


@contextlib.asynccontextmanager
async def http_calls(
    allow: str = "127.0.0.1",
    *,
    resolver: Resolver | None = None,
    breakers: CircuitBreakers | None = None,
    max_response_bytes: int = 2**20,
    most_at_once: int = MAX_CALLS_PER_USER,
    most_a_host: int = 400,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[HttpCalls]:
    """An executor that may reach the addresses of the list."""
    outbound = GuardedClient(AllowList.read(allow), resolver=resolver, connect_seconds=2.0, ssl_context=tls)
    breakers = breakers or CircuitBreakers()
    hosts = HostLimiter(most_a_host)
    executor = HttpExecutor(outbound, breakers, hosts, max_response_bytes=max_response_bytes, most_at_once=most_at_once)
    try:
        yield HttpCalls(executor, outbound, breakers, hosts)
    finally:
        await executor.close()
        await outbound.close()
