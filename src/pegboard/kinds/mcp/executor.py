"""Executor of mcp tools: calls a tool of another server and checks it against the accepted definition."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

from yarl import URL

from pegboard.http_client.circuit_breaker import CircuitBreakers
from pegboard.http_client.host_limits import HostLimiter, get_origin
from pegboard.kinds.base import OpenTool, Prepared, read_config
from pegboard.kinds.masked_progress import MaskedProgress, StreamMask
from pegboard.kinds.mcp import KIND
from pegboard.kinds.mcp.call_client import CallClient
from pegboard.kinds.mcp.config import McpConfig
from pegboard.kinds.mcp.input_requests import InputRequired, check_declared, describe_input_request
from pegboard.kinds.mcp.session_pool import McpSessionPool
from pegboard.kinds.mcp.tool_result import read_output
from pegboard.kinds.mcp.upstream import ProtocolFailed, ToolChanged, ToolGone, Upstream, UpstreamTool
from pegboard.kinds.secret_mask import SecretMask
from pegboard.kinds.upstream_limits import (
    LARGE_ANSWER_BYTES,
    MAX_CALLS_PER_USER,
    BreakerAttempt,
    UpstreamCalls,
    compute_attempt_deadline,
    get_attempt_seconds,
)
from pegboard.model.call import ReadyCall
from pegboard.model.call_errors import Drifted, RateLimited, TimedOut, ToolError, UpstreamFailed
from pegboard.model.mcp_exchange import McpFailure
from pegboard.model.tool import Tool

OnDrift = Callable[[Tool, UpstreamTool | None], None]


class McpExecutor:
    """Calls tools of MCP servers over pooled sessions."""

    def __init__(
        self,
        upstreams: McpSessionPool,
        breakers: CircuitBreakers,
        hosts: HostLimiter,
        on_drift: OnDrift,
        *,
        most_at_once: int = MAX_CALLS_PER_USER,
    ) -> None:
        self._upstreams = upstreams
        self._calls = UpstreamCalls(breakers, hosts, most_at_once=most_at_once, threads_name="pegboard-mcp")
        self._on_drift = on_drift

    def prepare(self, tool: OpenTool) -> Prepared:
        """Read the config once; nothing is connected before the first call."""
        config = read_config(McpConfig, tool.config)
        upstream = Upstream.of(config, tool.auth, tool.tool.owner_id)
        self._upstreams.check(upstream)
        secrets = upstream.secrets | tool.secrets
        exchange = _McpRunner(
            self._upstreams,
            self._calls,
            on_drift=self._on_drift,
            tool=tool.tool,
            config=config,
            upstream=upstream,
            mask=SecretMask(secrets),
            progress_mask=StreamMask(secrets),
        )
        return Prepared(exchange.run)

    async def close(self) -> None:
        """Shut down the threads; the pool owns the sessions, because importers use them too."""
        self._calls.close()


class _McpRunner:
    """Calls one tool of an upstream; serves any number of calls."""

    def __init__(
        self,
        upstreams: McpSessionPool,
        calls: UpstreamCalls,
        *,
        on_drift: OnDrift,
        tool: Tool,
        config: McpConfig,
        upstream: Upstream,
        mask: SecretMask,
        progress_mask: StreamMask,
    ) -> None:
        self._upstreams = upstreams
        self._calls = calls
        self._host = None if upstream.server_url is None else get_origin(URL(upstream.server_url))
        self._on_drift = on_drift
        self._tool = tool
        self._upstream = upstream
        self._mask = mask
        self._progress_mask = progress_mask
        self._name = config.tool or tool.name
        self._pinned = config.pinned
        self._response = config.response
        self._has_output_schema = tool.output_schema is not None
        self._seconds = get_attempt_seconds(tool, KIND.default_timeout)
        self._reported_digest: str | None = None

    async def run(self, call: ReadyCall) -> Any:
        """Call the upstream's tool and return its output; credentials are masked in the output and in errors."""
        user_id = call.caller.user_id
        exchange = call.exchange
        if exchange is not None:
            exchange.reset()
        client = None if exchange is None else CallClient(exchange, self._mask, self._upstream.display_name)
        self._calls.user_limit.take(user_id)
        try:
            returned = await self._answer(call, client)
            answer = await self._mask_output(returned)
            if exchange is not None and returned.get("resultType") == "input_required":
                check_declared(answer, exchange.capabilities or {}, self._upstream.display_name)
                # The state is encrypted for the client, and its server needs it unchanged.
                exchange.input_required = {**answer, "requestState": returned.get("requestState")}
                raise InputRequired(
                    f"{self._upstream.display_name} asked the client for input{describe_input_request(answer)}"
                )
            if exchange is not None:
                exchange.result = answer
            return read_output(answer, response=self._response, has_output_schema=self._has_output_schema)
        except ToolError as error:
            if exchange is not None and isinstance(error, ProtocolFailed):
                exchange.failure = McpFailure(*map(self._mask.mask_value, error.failure))
            raise self._mask.error(error) from None
        finally:
            self._calls.user_limit.give_back(user_id)

    async def _mask_output(self, output: dict[str, Any]) -> dict[str, Any]:
        size = self._mask.count_bytes_to_mask(output)
        if not size:
            return output
        if size <= LARGE_ANSWER_BYTES:
            masked: dict[str, Any] = self._mask.mask_value(output)
            return masked
        return await self._calls.run_in_thread(self._mask.mask_value, output)

    async def _answer(self, call: ReadyCall, client: CallClient | None) -> dict[str, Any]:
        breaker = self._calls.breakers.of(call.caller.user_id, self._upstream.origin)
        listener = None if call.on_progress is None else MaskedProgress(call.on_progress, self._progress_mask)
        ends = compute_attempt_deadline(call, self._seconds)
        try:
            async with self._reserve_connection(call.caller.user_id, ends):
                with BreakerAttempt(breaker, ends) as attempt:
                    if client is not None:
                        client.on_wait = attempt.put_off
                    return await self._upstreams.call(
                        self._upstream if client is None else client.select(self._upstream),
                        self._name,
                        call.arguments,
                        pinned=self._pinned,
                        on_progress=listener,
                        client=client,
                    )
        except (UpstreamFailed, RateLimited, Drifted, TimedOut) as error:
            if isinstance(error, ToolChanged | ToolGone):
                self._report_drift(error)
            raise
        except ToolError as error:
            error.did_run = False  # the upstream was not called
            raise

    def _reserve_connection(self, user_id: str, ends: float) -> AbstractAsyncContextManager[None]:
        """Reserve a connection to the server for this user; a command needs none."""
        return nullcontext() if self._host is None else self._calls.hosts.reserve_slot(user_id, self._host, ends)

    def _report_drift(self, error: ToolChanged | ToolGone) -> None:
        """Report each definition that differs from the accepted one, once."""
        live = error.live if isinstance(error, ToolChanged) else None
        digest = live.digest if live is not None else "gone"
        if self._pinned is not None and digest != self._reported_digest:
            self._reported_digest = digest
            self._on_drift(self._tool, live)
