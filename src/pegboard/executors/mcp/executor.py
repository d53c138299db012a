"""mcp tools: a call of another server's tool, checked against what its owner took on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from pegboard.core.call import ReadyCall
from pegboard.core.configs import default_timeout
from pegboard.core.errors import Drifted, RateLimited, ToolError, UpstreamFailed, UpstreamUnreachable
from pegboard.core.outbound import McpConfig
from pegboard.core.tool import Tool
from pegboard.egress.breaker import Breakers
from pegboard.executors.base import OpenTool, Prepared
from pegboard.executors.masking import Mask
from pegboard.executors.mcp.content import output_of
from pegboard.executors.mcp.pool import Upstreams
from pegboard.executors.mcp.upstream import Changed, Gone, Upstream, UpstreamTool

OnDrift = Callable[[Tool, UpstreamTool | None], None]

# The clock that ends an attempt starts a little before the one here.
_EARLY_SECONDS = 0.01


class McpExecutor:
    """Calls tools of MCP servers over pooled sessions."""

    def __init__(self, upstreams: Upstreams, breakers: Breakers, on_drift: OnDrift) -> None:
        self._upstreams = upstreams
        self._breakers = breakers
        self._on_drift = on_drift

    def prepare(self, tool: OpenTool) -> Prepared:
        """The upstream and what to call there, read once; nothing is connected before the first call."""
        config = McpConfig.model_validate(tool.config)
        upstream = Upstream.of(config, tool.auth, tool.tool.owner_id)
        self._upstreams.check(upstream)
        mask = Mask(upstream.secrets | tool.secrets)
        exchange = _Exchange(
            self._upstreams,
            self._breakers,
            self._on_drift,
            tool=tool.tool,
            config=config,
            upstream=upstream,
            mask=mask,
        )
        return Prepared(exchange.run)

    async def close(self) -> None:
        """Nothing is held: sessions belong to the pool, which importers use too."""


class _Exchange:
    """One tool's way to its upstream and back, ready for any number of calls."""

    def __init__(
        self,
        upstreams: Upstreams,
        breakers: Breakers,
        on_drift: OnDrift,
        *,
        tool: Tool,
        config: McpConfig,
        upstream: Upstream,
        mask: Mask,
    ) -> None:
        self._upstreams = upstreams
        self._breakers = breakers
        self._on_drift = on_drift
        self._tool = tool
        self._upstream = upstream
        self._mask = mask
        self._name = config.tool or tool.name
        self._pinned = config.pinned
        self._response = config.response
        self._has_output_schema = tool.output_schema is not None
        self._seconds = _attempt_seconds(tool)
        self._told_of: str | None = None

    async def run(self, call: ReadyCall) -> Any:
        """What the upstream's tool answers; no credential is in it, nor in the error."""
        breaker = self._breakers.of(self._tool.owner_id, self._upstream.origin)
        breaker.admit()
        ends = min(time.monotonic() + self._seconds, call.deadline) - _EARLY_SECONDS
        try:
            answer = await self._upstreams.call(
                self._upstream, self._name, call.arguments, pinned=self._pinned, on_progress=call.on_progress
            )
        except UpstreamUnreachable as error:
            breaker.failed()
            raise self._mask.error(error) from None
        except (UpstreamFailed, RateLimited, Drifted) as error:
            breaker.succeeded()  # it is there, whatever it said
            if isinstance(error, Changed | Gone):
                self._noticed(error)
            raise self._mask.error(error) from None
        except ToolError as error:
            breaker.abandoned()  # nobody asked it
            error.did_run = False
            raise self._mask.error(error) from None
        except asyncio.CancelledError:
            # Cancelled because time was up, or because nobody wants the answer any more.
            if time.monotonic() >= ends:
                breaker.failed()
            else:
                breaker.abandoned()
            raise
        except BaseException:
            breaker.abandoned()
            raise
        breaker.succeeded()
        try:
            output = output_of(answer, response=self._response, has_output_schema=self._has_output_schema)
        except ToolError as error:
            raise self._mask.error(error) from None
        return self._mask.value(output)

    def _noticed(self, error: Changed | Gone) -> None:
        """Tell once of each definition that is not the one the owner took on."""
        live = error.live if isinstance(error, Changed) else None
        digest = live.digest if live is not None else "gone"
        if self._pinned is not None and digest != self._told_of:
            self._told_of = digest
            self._on_drift(self._tool, live)


def _attempt_seconds(tool: Tool) -> float:
    one: float | None = tool.config.get("timeout")
    tries = tool.retry.max_attempts if tool.retry is not None and "timeout" in tool.retry.on else 1
    return one or (tool.timeout or default_timeout(tool.tool_type)) / tries
