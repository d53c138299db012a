"""http tools: a request to an upstream, its redirects, and what comes of the answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import aiohttp
from pydantic import ValidationError

from pegboard.core.call import ReadyCall
from pegboard.core.configs import default_timeout
from pegboard.core.errors import (
    InvalidArguments,
    Misconfigured,
    TimedOut,
    ToolError,
    UpstreamFailed,
    UpstreamUnreachable,
)
from pegboard.core.outbound import HttpConfig
from pegboard.core.tool import Tool
from pegboard.egress.breaker import Breakers
from pegboard.egress.outbound import Outbound
from pegboard.egress.reading import read_capped
from pegboard.executors.base import OpenTool, Prepared
from pegboard.executors.http.answers import failure_of, result_of
from pegboard.executors.http.redirects import STATUSES, Trail, origin_of
from pegboard.executors.http.template import Request, RequestTemplate
from pegboard.executors.masking import Mask

# An error's body is only read for what it says.
_ERROR_BYTES = 2**20
# The clock that ends an attempt starts a little before the one here.
_EARLY_SECONDS = 0.01


class HttpExecutor:
    """Calls upstreams over HTTP, through one guarded pool of connections."""

    def __init__(self, outbound: Outbound, breakers: Breakers, *, max_response_bytes: int) -> None:
        self._outbound = outbound
        self._breakers = breakers
        self._max_response_bytes = max_response_bytes

    def prepare(self, tool: OpenTool) -> Prepared:
        """The request compiled once; raises ToolError for an address or a credential that cannot be sent."""
        config = _read(tool.config)
        self._outbound.check(config.url)
        template = RequestTemplate.of(config, tool.auth)
        # An owner may ask for less than the board reads, never for more.
        limit = min(config.max_response_bytes or self._max_response_bytes, self._max_response_bytes)
        exchange = _Exchange(
            self._outbound,
            self._breakers,
            tool=tool.tool,
            config=config,
            template=template,
            mask=Mask((*template.secrets, *tool.secrets)),
            limit=limit,
        )
        return Prepared(exchange.run)

    async def close(self) -> None:
        """Nothing is held: connections belong to the outbound pool, which others use too."""


class _Exchange:
    """One tool's way to its upstream and back, ready for any number of calls."""

    __slots__ = (
        "_breakers",
        "_full",
        "_limit",
        "_mask",
        "_name",
        "_origin",
        "_outbound",
        "_owner_id",
        "_seconds",
        "_template",
    )

    def __init__(
        self,
        outbound: Outbound,
        breakers: Breakers,
        *,
        tool: Tool,
        config: HttpConfig,
        template: RequestTemplate,
        mask: Mask,
        limit: int,
    ) -> None:
        self._outbound = outbound
        self._breakers = breakers
        self._template = template
        self._origin = template.origin
        self._mask = mask
        self._owner_id = tool.owner_id
        self._full = config.response == "full"
        self._limit = limit
        self._seconds = _attempt_seconds(tool)
        # As it is stored: named secrets in it are not resolved there.
        path = str(tool.config["url"]).partition("://")[2].partition("?")[0].partition("#")[0].partition("/")[2]
        self._name = f"{config.method} {template.origin}/{path}"

    async def run(self, call: ReadyCall) -> Any:
        """What the upstream answers; no credential is in it, nor in the error."""
        try:
            request = self._template.fill(call.arguments)
        except InvalidArguments as error:
            error.did_run = False
            raise
        ends = min(time.monotonic() + self._seconds, call.deadline) - _EARLY_SECONDS
        try:
            response, body = await self._exchanged(request, self._origin, ends)
            if response.status in STATUSES:
                response, body = await self._followed(request, response, ends)
            if response.status >= 400:
                raise failure_of(response.status, response.headers, body, self._mask)
            return result_of(response.status, response.headers, body, self._mask, full=self._full)
        except ToolError as error:
            error.message = self._mask.text(f"{error.message} ({self._name})")
            error.args = (error.message,)
            raise

    async def _followed(
        self, request: Request, response: aiohttp.ClientResponse, ends: float
    ) -> tuple[aiohttp.ClientResponse, bytes]:
        """The answer at the end of a way of redirects."""
        trail = Trail(self._mask)
        body = b""
        try:
            while response.status in STATUSES:
                request = trail.follow(request, response.status, response.headers.get("Location"))
                self._outbound.check(str(request.url))
                response, body = await self._exchanged(request, origin_of(request.url), ends)
        except ToolError as error:
            error.did_run = True  # whatever the first of them did before it sent us on
            raise
        return response, body

    async def _exchanged(self, request: Request, origin: str, ends: float) -> tuple[aiohttp.ClientResponse, bytes]:
        """One request's answer and its body, with the upstream's breaker told how it went."""
        breaker = self._breakers.of(self._owner_id, origin)
        breaker.admit()
        try:
            response = await self._outbound.send(
                request.method, request.url, headers=request.headers, body=request.body
            )
            status = response.status
            body = await read_capped(response, self._limit) if 200 <= status < 300 else await self._other(response)
        except (UpstreamUnreachable, TimedOut):
            breaker.failed()
            raise
        except UpstreamFailed:
            breaker.succeeded()  # it is there, whatever it said
            raise
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
        if status >= 500:
            breaker.failed()
        else:
            breaker.succeeded()
        return response, body

    async def _other(self, response: aiohttp.ClientResponse) -> bytes:
        """The body of an answer that is no success: as much as there is of it, since the status alone says a lot."""
        if response.status in STATUSES:
            response.release()  # closes the connection unless the whole body is here
            return b""
        if response.status < 400:
            return await read_capped(response, self._limit)
        try:
            return await read_capped(response, min(self._limit, _ERROR_BYTES))
        except UpstreamFailed:
            return b""


def _read(config: Mapping[str, Any]) -> HttpConfig:
    try:
        return HttpConfig.model_validate(config)
    except ValidationError as error:
        # What pydantic would show of the config may be a named secret, which is filled in by now.
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(["config", *map(str, first["loc"])])
        raise Misconfigured(f"{where}: {first['msg'].removeprefix('Value error, ')}") from None


def _attempt_seconds(tool: Tool) -> float:
    one: float | None = tool.config.get("timeout")
    tries = tool.retry.max_attempts if tool.retry is not None and "timeout" in tool.retry.on else 1
    return one or (tool.timeout or default_timeout(tool.tool_type)) / tries
