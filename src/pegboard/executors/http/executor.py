"""http tools: a request to an upstream, its redirects, and what comes of the answer."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import aiohttp

from pegboard.core.call import ReadyCall
from pegboard.core.errors import InvalidArguments, ResultTooLarge, ToolError, UpstreamFailed
from pegboard.core.outbound import HttpConfig
from pegboard.core.tool import Tool
from pegboard.egress.breaker import Breakers
from pegboard.egress.hosts import Hosts, origin_of
from pegboard.egress.outbound import Outbound
from pegboard.egress.reading import read_capped
from pegboard.executors.attempts import LARGE_ANSWER, MOST_AT_ONCE, Attempt, Places, attempt_seconds, end_of
from pegboard.executors.base import OpenTool, Prepared
from pegboard.executors.http.answers import failure_of, result_of
from pegboard.executors.http.redirects import STATUSES, Trail
from pegboard.executors.http.template import Request, RequestTemplate
from pegboard.executors.masking import Mask
from pegboard.executors.reading import read_config

# An error's body is only read for what it says.
_ERROR_BYTES = 2**20
_READERS = 2
# However many blanks and escapes a text has, as compact JSON it is hardly ever shorter than this part of it.
_COMPACTED = 4


class HttpExecutor:
    """Calls upstreams over HTTP, through one guarded pool of connections."""

    def __init__(
        self,
        outbound: Outbound,
        breakers: Breakers,
        hosts: Hosts,
        *,
        max_response_bytes: int,
        most_at_once: int = MOST_AT_ONCE,
    ) -> None:
        self._outbound = outbound
        self._breakers = breakers
        self._hosts = hosts
        self._max_response_bytes = max_response_bytes
        self._places = Places(most_at_once)
        # Its own, as whoever else waits for a thread is not to wait for large answers; none starts before it is needed.
        self._readers = ThreadPoolExecutor(_READERS, "pegboard-http")

    def prepare(self, tool: OpenTool) -> Prepared:
        """The request compiled once; raises ToolError for an address or a credential that cannot be sent."""
        config = read_config(HttpConfig, tool.config)
        self._outbound.check(config.url)
        template = RequestTemplate.of(config, tool.auth)
        # An owner may ask for less than the board reads, never for more.
        limit = min(config.max_response_bytes or self._max_response_bytes, self._max_response_bytes)
        exchange = _Exchange(
            self._outbound,
            self._breakers,
            self._hosts,
            self._places,
            self._readers,
            tool=tool.tool,
            config=config,
            template=template,
            mask=Mask((*template.secrets, *tool.secrets)),
            limit=limit,
        )
        return Prepared(exchange.run)

    async def close(self) -> None:
        """Let go of the threads; connections belong to the outbound pool, which others use too."""
        self._readers.shutdown(wait=False, cancel_futures=True)


class _Exchange:
    """One tool's way to its upstream and back, ready for any number of calls."""

    __slots__ = (
        "_breakers",
        "_full",
        "_hosts",
        "_limit",
        "_mask",
        "_most",
        "_name",
        "_origin",
        "_outbound",
        "_places",
        "_readers",
        "_resend",
        "_seconds",
        "_small",
        "_template",
    )

    def __init__(
        self,
        outbound: Outbound,
        breakers: Breakers,
        hosts: Hosts,
        places: Places,
        readers: ThreadPoolExecutor,
        *,
        tool: Tool,
        config: HttpConfig,
        template: RequestTemplate,
        mask: Mask,
        limit: int,
    ) -> None:
        self._outbound = outbound
        self._breakers = breakers
        self._hosts = hosts
        self._places = places
        self._readers = readers
        self._template = template
        self._origin = template.origin
        self._mask = mask
        self._full = config.response == "full"
        self._limit = limit
        self._most = tool.max_result_bytes
        self._small = min(LARGE_ANSWER, _COMPACTED * (self._most or LARGE_ANSWER))
        self._resend = tool.read_only or tool.idempotent
        self._seconds = attempt_seconds(tool)
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
        user_id = call.caller.user_id
        self._places.take(user_id)
        try:
            ends = end_of(call, self._seconds)
            response, body = await self._exchanged(request, user_id, self._origin, ends)
            if response.status in STATUSES:
                response, body = await self._followed(request, response, user_id, ends)
            if response.status >= 400:
                raise failure_of(response.status, response.headers, body, self._mask)
            if len(body) <= self._small:
                return result_of(response.status, response.headers, body, self._mask, full=self._full)
            return await self._read_aside(response, body)
        except ToolError as error:
            error.message = self._mask.text(f"{error.message} ({self._name})")
            error.args = (error.message,)
            raise
        finally:
            self._places.give_back(user_id)

    async def _read_aside(self, response: aiohttp.ClientResponse, body: bytes) -> Any:
        if self._most is not None and len(body) > _COMPACTED * self._most:
            raise ResultTooLarge(
                f"Upstream answered with {len(body):,} bytes, of the tool's result at most {self._most:,} are allowed; "
                "ask for less at once"
            )
        read = partial(result_of, response.status, response.headers, body, self._mask, full=self._full)
        return await asyncio.get_running_loop().run_in_executor(self._readers, read)

    async def _followed(
        self, request: Request, response: aiohttp.ClientResponse, user_id: str, ends: float
    ) -> tuple[aiohttp.ClientResponse, bytes]:
        """The answer at the end of a way of redirects."""
        trail = Trail(self._mask)
        body = b""
        try:
            while response.status in STATUSES:
                request = trail.follow(request, response.status, response.headers.get("Location"))
                self._outbound.check(str(request.url))
                response, body = await self._exchanged(request, user_id, origin_of(request.url), ends)
        except ToolError as error:
            error.did_run = True  # whatever the first of them did before it sent us on
            trail.explain(error, request.url)
            raise
        return response, body

    async def _exchanged(
        self, request: Request, user_id: str, origin: str, ends: float
    ) -> tuple[aiohttp.ClientResponse, bytes]:
        """One request's answer and its body, with the caller's breaker of that upstream told how it went."""
        async with self._hosts.admitted(user_id, origin, ends):
            with Attempt(self._breakers.of(user_id, origin), ends) as attempt:
                response = await self._outbound.send(
                    request.method, request.url, headers=request.headers, body=request.body, resend=self._resend
                )
                status = response.status
                attempt.has_failed = status >= 500
                body = await read_capped(response, self._limit) if 200 <= status < 300 else await self._other(response)
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
