"""An HTTP client for the MCP SDK that sends its requests through GuardedClient.

Not the transport of httpx2: it has another connection pool, which checks no address.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress

import aiohttp
import httpx2
from multidict import CIMultiDict
from yarl import URL

from pegboard.http_client.bounded_body import read_chunk
from pegboard.http_client.guarded_client import USER_AGENT, GuardedClient
from pegboard.http_client.network_errors import NETWORK_ERRORS, explain_read_error, format_host_port
from pegboard.model.call_errors import TimedOut, ToolError, UpstreamFailed, UpstreamUnreachable

# Name of the response extension with the function that closes the connection at once, even while it is read.
CLOSE_EXTENSION = "pegboard.hang_up"

_TIMEOUT_SECONDS = 30.0
_READ_TIMEOUT_SECONDS = 300.0
_LINGER_SECONDS = 0.05
_LINGER_BYTES = 2**16
_OWN_HEADERS = frozenset({"host", "connection", "content-length", "transfer-encoding", "accept-encoding"})


def create_sdk_client(outbound: GuardedClient, *, headers: Mapping[str, str], limit: int) -> httpx2.AsyncClient:
    """Return a client that adds these headers to every request; response bodies are limited, except event streams."""
    own = httpx2.Headers({"User-Agent": USER_AGENT})
    own.update(headers)
    return httpx2.AsyncClient(
        headers=own,
        transport=_GuardedTransport(outbound, limit),
        timeout=httpx2.Timeout(_TIMEOUT_SECONDS, read=_READ_TIMEOUT_SECONDS),
        follow_redirects=False,
        trust_env=False,
    )


class _GuardedTransport(httpx2.AsyncBaseTransport):
    def __init__(self, outbound: GuardedClient, limit: int) -> None:
        self._outbound = outbound
        self._limit = limit

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread()
        headers = CIMultiDict(
            (name, value) for name, value in request.headers.multi_items() if name not in _OWN_HEADERS
        )
        headers["Accept-Encoding"] = "identity"
        silent = request.extensions.get("timeout", {}).get("read")
        url = URL(str(request.url), encoded=True)
        try:
            async with asyncio.timeout(silent):
                response = await self._outbound.send(request.method, url, headers=headers, body=body or None)
        except TimeoutError:
            silence = _make_silence_error(url, silent)
            raise httpx2.ReadTimeout(silence.message, request=request) from silence
        except ToolError as error:
            raise _choose_transport_error(error)(error.message, request=request) from error
        encoding = ", ".join(response.headers.getall("Content-Encoding", ())).strip().lower()
        if encoding not in ("", "identity"):
            response.close()
            fault = UpstreamFailed(
                f"{format_host_port(url)} answered with the Content-Encoding '{encoding[:100]}', "
                "which was not asked for"
            )
            raise httpx2.RemoteProtocolError(fault.message, request=request) from fault
        limit = None if response.content_type == "text/event-stream" else self._limit
        return httpx2.Response(
            response.status,
            headers=list(response.raw_headers),
            stream=_LimitedBody(request, response, limit, silent),
            extensions={CLOSE_EXTENSION: response.close},
            request=request,
        )


class _LimitedBody(httpx2.AsyncByteStream):
    def __init__(
        self, request: httpx2.Request, response: aiohttp.ClientResponse, limit: int | None, silent: float | None
    ) -> None:
        self._request = request
        self._response = response
        self._limit = limit
        self._silent = silent

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._limit
        while chunk := await self._next():
            if left is not None:
                left -= len(chunk)
                if left < 0:
                    self._response.close()
                    fault = UpstreamFailed(
                        f"The answer of {format_host_port(self._response.url)} is more than {self._limit} bytes"
                    )
                    raise httpx2.ReadError(fault.message, request=self._request) from fault
            yield chunk

    async def aclose(self) -> None:
        response = self._response
        if response.closed:
            return
        try:
            # The end of an event stream follows its last event; once it is read, the connection can be reused.
            with suppress(*NETWORK_ERRORS):
                async with asyncio.timeout(_LINGER_SECONDS):
                    left = _LINGER_BYTES
                    while left > 0 and (chunk := await read_chunk(response)):
                        left -= len(chunk)
        finally:
            if not response.closed:
                response.close()

    async def _next(self) -> bytes:
        url = self._response.url
        try:
            async with asyncio.timeout(self._silent):
                return await read_chunk(self._response)
        except TimeoutError:
            self._response.close()
            silence = _make_silence_error(url, self._silent)
            raise httpx2.ReadTimeout(silence.message, request=self._request) from silence
        except NETWORK_ERRORS as error:
            self._response.close()
            fault = explain_read_error(error, url)
            raise httpx2.ReadError(fault.message, request=self._request) from fault
        except BaseException:
            self._response.close()
            raise


def _make_silence_error(url: URL, seconds: float | None) -> TimedOut:
    return TimedOut(f"{format_host_port(url)} sent nothing for {seconds or 0:g} s")


def _choose_transport_error(error: ToolError) -> type[httpx2.TransportError]:
    if isinstance(error, UpstreamFailed) and not isinstance(error, UpstreamUnreachable):
        return httpx2.RemoteProtocolError
    return httpx2.ConnectError
