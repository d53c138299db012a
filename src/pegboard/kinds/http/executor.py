"""Executor of http tools: sends requests to an upstream, follows redirects and reads responses."""

from __future__ import annotations

from functools import partial
from typing import Any

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from pegboard.http_client.bounded_body import read_bounded_body
from pegboard.http_client.circuit_breaker import CircuitBreakers
from pegboard.http_client.guarded_client import GuardedClient
from pegboard.http_client.host_limits import HostLimiter, get_origin
from pegboard.kinds.base import OpenTool, Prepared, read_config
from pegboard.kinds.http import KIND
from pegboard.kinds.http.config import HttpConfig
from pegboard.kinds.http.request_template import HttpRequest, RequestTemplate
from pegboard.kinds.http.response import make_status_error, read_result
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
from pegboard.model.call_errors import EgressRefused, InvalidArguments, ResultTooLarge, ToolError, UpstreamFailed
from pegboard.model.tool import Tool

MAX_REDIRECTS = 5
_REDIRECT_PREFIX = "Upstream redirected"
REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
# Headers that describe a body, removed if the body is dropped.
_BODY_HEADERS = ("Content-Type", "Content-Encoding", "Content-Language", "Content-Location", "Content-Disposition")


class RedirectTrail:
    """The redirects of one call; limits their number and detects loops."""

    __slots__ = ("_mask", "_steps")

    def __init__(self, mask: SecretMask) -> None:
        self._mask = mask
        self._steps: list[tuple[str, URL]] = []

    def follow(self, request: HttpRequest, status: int, location: str | None) -> HttpRequest:
        """Return the next request; at another origin it has no credentials, also not after further redirects."""
        self._steps.append((request.method, request.url))
        if len(self._steps) > MAX_REDIRECTS:
            raise UpstreamFailed(f"Upstream redirected more than {MAX_REDIRECTS} times")
        url = self._target(request.url, status, location)
        leaves = get_origin(url) != get_origin(request.url)
        if leaves:
            self._check_cross_origin(request.url, url)
        method, body, bare = request.method, request.body, request.bare_headers
        headers = bare if leaves else request.headers
        if (status == 303 and method not in {"GET", "HEAD"}) or (status in {301, 302} and method == "POST"):
            method, body, headers, bare = "GET", None, _drop_body_headers(headers), _drop_body_headers(bare)
        if (method, url) in self._steps:
            raise UpstreamFailed(f"Upstream redirects in a loop, back to {get_origin(url)}")
        return request._replace(method=method, url=url, headers=headers, body=body, bare_headers=bare)

    def add_redirect_to_message(self, error: ToolError, url: URL) -> None:
        """Add to a refusal of this URL that the request was redirected to it."""
        if self._steps and isinstance(error, EgressRefused) and not error.message.startswith(_REDIRECT_PREFIX):
            error.reword(f"{_REDIRECT_PREFIX} to {get_origin(url)}. {error.message}")

    def _target(self, base: URL, status: int, location: str | None) -> URL:
        if not location:
            raise UpstreamFailed(f"Upstream answered {status} without a Location")
        try:
            url = base.join(URL(location)).with_fragment(None)
            named = bool(url.host) and url.port is not None
        except (ValueError, TypeError):
            raise UpstreamFailed("Upstream redirected to an invalid URL") from None
        if url.scheme not in {"http", "https"}:
            raise EgressRefused(f"Upstream redirected to a {url.scheme or 'schemeless'} address")
        if not named:
            raise UpstreamFailed("Upstream redirected to a URL without a host")
        return url

    def _check_cross_origin(self, base: URL, url: URL) -> None:
        """Raise EgressRefused if the redirect would expose the request, or a credential in the URL, to others."""
        if base.scheme == "https" and url.scheme == "http":
            raise EgressRefused(
                f"Upstream redirected from https to {get_origin(url)}, where others on the network "
                "could read the request; if that is intended, set the tool's url to it"
            )
        if any(self._mask.text(shown) != shown for shown in (str(url), url.human_repr())):
            raise EgressRefused(
                f"Upstream redirected to another origin, {get_origin(url)}, with the tool's credential in the URL; if "
                "that is intended, set the tool's url to it"
            )


def _drop_body_headers(headers: CIMultiDict[str]) -> CIMultiDict[str]:
    kept = headers.copy()
    for name in _BODY_HEADERS:
        kept.popall(name, None)
    return kept


# An error's body is read only for its message.
_MAX_ERROR_BYTES = 2**20
# Compact JSON is hardly ever shorter than a quarter of the original, whatever its whitespace and escapes.
_MAX_COMPACTION = 4


class HttpExecutor:
    """Calls upstreams over HTTP through the guarded client."""

    def __init__(
        self,
        outbound: GuardedClient,
        breakers: CircuitBreakers,
        hosts: HostLimiter,
        *,
        max_response_bytes: int,
        most_at_once: int = MAX_CALLS_PER_USER,
    ) -> None:
        self._outbound = outbound
        self._max_response_bytes = max_response_bytes
        self._calls = UpstreamCalls(breakers, hosts, most_at_once=most_at_once, threads_name="pegboard-http")

    def prepare(self, tool: OpenTool) -> Prepared:
        """Compile the request once; raise ToolError for an address or a credential that cannot be used."""
        config = read_config(HttpConfig, tool.config)
        self._outbound.check(config.url)
        template = RequestTemplate.of(config, tool.auth)
        # An owner may lower the board's limit, but not raise it.
        limit = min(config.max_response_bytes or self._max_response_bytes, self._max_response_bytes)
        exchange = _HttpRunner(
            self._outbound,
            self._calls,
            tool=tool.tool,
            config=config,
            template=template,
            mask=SecretMask((*template.secrets, *tool.secrets)),
            limit=limit,
        )
        return Prepared(exchange.run)

    async def close(self) -> None:
        """Shut down the threads; the guarded client owns the connections."""
        self._calls.close()


class _HttpRunner:
    """Sends the requests of one tool; serves any number of calls."""

    __slots__ = (
        "_calls",
        "_is_full_response",
        "_limit",
        "_mask",
        "_may_resend",
        "_most",
        "_name",
        "_origin",
        "_outbound",
        "_seconds",
        "_small_bytes",
        "_template",
    )

    def __init__(
        self,
        outbound: GuardedClient,
        calls: UpstreamCalls,
        *,
        tool: Tool,
        config: HttpConfig,
        template: RequestTemplate,
        mask: SecretMask,
        limit: int,
    ) -> None:
        self._outbound = outbound
        self._calls = calls
        self._template = template
        self._origin = template.origin
        self._mask = mask
        self._is_full_response = config.response == "full"
        self._limit = limit
        self._most = tool.max_result_bytes
        self._small_bytes = min(LARGE_ANSWER_BYTES, _MAX_COMPACTION * (self._most or LARGE_ANSWER_BYTES))
        self._may_resend = tool.read_only or tool.idempotent
        self._seconds = get_attempt_seconds(tool, KIND.default_timeout)
        # As stored: secret references are not resolved in it.
        path = str(tool.config["url"]).partition("://")[2].partition("?")[0].partition("#")[0].partition("/")[2]
        self._name = f"{config.method} {template.origin}/{path}"

    async def run(self, call: ReadyCall) -> Any:
        """Send the request and return the output; credentials are masked in the output and in errors."""
        try:
            request = self._template.fill(call.arguments)
        except InvalidArguments as error:
            error.did_run = False
            raise
        user_id = call.caller.user_id
        self._calls.user_limit.take(user_id)
        try:
            ends = compute_attempt_deadline(call, self._seconds)
            response, body = await self._send_once(request, user_id, self._origin, ends)
            if response.status in REDIRECT_STATUSES:
                response, body = await self._follow_redirects(request, response, user_id, ends)
            if response.status >= 400:
                raise make_status_error(response.status, response.headers, body, self._mask)
            if len(body) <= self._small_bytes:
                return read_result(response.status, response.headers, body, self._mask, full=self._is_full_response)
            return await self._read_in_thread(response, body)
        except ToolError as error:
            error.reword(self._mask.text(f"{error.message} ({self._name})"))
            raise
        finally:
            self._calls.user_limit.give_back(user_id)

    async def _read_in_thread(self, response: aiohttp.ClientResponse, body: bytes) -> Any:
        if self._most is not None and len(body) > _MAX_COMPACTION * self._most:
            raise ResultTooLarge(
                f"Upstream answered with {len(body):,} bytes, of the tool's result at most {self._most:,} are allowed; "
                "ask for less at once"
            )
        read = partial(read_result, response.status, response.headers, body, self._mask, full=self._is_full_response)
        return await self._calls.run_in_thread(read)

    async def _follow_redirects(
        self, request: HttpRequest, response: aiohttp.ClientResponse, user_id: str, ends: float
    ) -> tuple[aiohttp.ClientResponse, bytes]:
        """Follow redirects and return the final response."""
        trail = RedirectTrail(self._mask)
        body = b""
        try:
            while response.status in REDIRECT_STATUSES:
                request = trail.follow(request, response.status, response.headers.get("Location"))
                self._outbound.check(str(request.url))
                response, body = await self._send_once(request, user_id, get_origin(request.url), ends)
        except ToolError as error:
            error.did_run = True  # the first upstream may have acted before it redirected
            trail.add_redirect_to_message(error, request.url)
            raise
        return response, body

    async def _send_once(
        self, request: HttpRequest, user_id: str, origin: str, ends: float
    ) -> tuple[aiohttp.ClientResponse, bytes]:
        """Send one request and return the response and its body; report the result to the caller's circuit breaker."""
        async with self._calls.hosts.reserve_slot(user_id, origin, ends):
            with BreakerAttempt(self._calls.breakers.of(user_id, origin), ends) as attempt:
                response = await self._outbound.send(
                    request.method, request.url, headers=request.headers, body=request.body, resend=self._may_resend
                )
                status = response.status
                attempt.has_failed = status >= 500
                body = (
                    await read_bounded_body(response, self._limit)
                    if 200 <= status < 300
                    else await self._other(response)
                )
        return response, body

    async def _other(self, response: aiohttp.ClientResponse) -> bytes:
        """Return the body of a response that is not a success; empty if it cannot be read: the status is sufficient."""
        if response.status in REDIRECT_STATUSES:
            response.release()  # closes the connection unless the whole body has arrived
            return b""
        if response.status < 400:
            return await read_bounded_body(response, self._limit)
        try:
            return await read_bounded_body(response, min(self._limit, _MAX_ERROR_BYTES))
        except UpstreamFailed:
            return b""
