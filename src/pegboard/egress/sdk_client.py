"""An HTTP client for the MCP SDK whose requests leave through the guard and the pool of everything else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress

import aiohttp
import httpx2
from multidict import CIMultiDict
from yarl import URL

from pegboard.core.errors import TimedOut, ToolError, UpstreamFailed, UpstreamUnreachable
from pegboard.egress.faults import FAULTS, place, reading_fault
from pegboard.egress.outbound import USER_AGENT, Outbound

_SECONDS = 30.0
_SILENT_SECONDS = 300.0
_LINGER_SECONDS = 0.05
_LINGER_BYTES = 2**16
_OWN = frozenset({"host", "connection", "content-length", "transfer-encoding", "accept-encoding"})


def sdk_client(outbound: Outbound, *, headers: Mapping[str, str], limit: int) -> httpx2.AsyncClient:
    """A client that sends these headers with every request; an answer that is no event stream ends after the limit."""
    own = httpx2.Headers({"User-Agent": USER_AGENT})
    own.update(headers)
    return httpx2.AsyncClient(
        headers=own,
        transport=_Transport(outbound, limit),
        timeout=httpx2.Timeout(_SECONDS, read=_SILENT_SECONDS),
        follow_redirects=False,
        trust_env=False,
    )


class _Transport(httpx2.AsyncBaseTransport):
    def __init__(self, outbound: Outbound, limit: int) -> None:
        self._outbound = outbound
        self._limit = limit

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread()
        headers = CIMultiDict((name, value) for name, value in request.headers.multi_items() if name not in _OWN)
        headers["Accept-Encoding"] = "identity"
        silent = request.extensions.get("timeout", {}).get("read")
        url = URL(str(request.url), encoded=True)
        try:
            async with asyncio.timeout(silent):
                response = await self._outbound.send(request.method, url, headers=headers, body=body or None)
        except TimeoutError as error:
            raise httpx2.ReadTimeout(f"{place(url)} did not answer in time", request=request) from error
        except ToolError as error:
            raise _as_connecting(error)(error.message, request=request) from error
        try:
            return self._answer(request, response)
        except BaseException:
            response.close()
            raise

    def _answer(self, request: httpx2.Request, response: aiohttp.ClientResponse) -> httpx2.Response:
        encoding = ", ".join(response.headers.getall("Content-Encoding", ())).strip().lower()
        if encoding not in ("", "identity"):
            fault = UpstreamFailed(
                f"{place(response.url)} answered with the Content-Encoding '{encoding[:100]}', which was not asked for"
            )
            raise httpx2.RemoteProtocolError(fault.message, request=request) from fault
        endless = response.content_type == "text/event-stream"
        silent = request.extensions.get("timeout", {}).get("read")
        return httpx2.Response(
            response.status,
            headers=list(response.raw_headers),
            stream=_Body(request, response, None if endless else self._limit, silent),
            request=request,
        )


class _Body(httpx2.AsyncByteStream):
    def __init__(
        self, request: httpx2.Request, response: aiohttp.ClientResponse, limit: int | None, silent: float | None
    ) -> None:
        self._request = request
        self._response = response
        self._limit = limit
        self._silent = silent

    async def __aiter__(self) -> AsyncIterator[bytes]:
        content = self._response.content
        left = self._limit
        while chunk := await self._next(content):
            if left is not None:
                left -= len(chunk)
                if left < 0:
                    raise self._too_large()
            yield chunk

    async def aclose(self) -> None:
        response = self._response
        if response.closed:
            return
        try:
            # The end of an event stream follows its last event; the connection can be used again after it.
            with suppress(TimeoutError, *FAULTS):
                async with asyncio.timeout(_LINGER_SECONDS):
                    left = _LINGER_BYTES
                    while left > 0 and (chunk := await response.content.readany()):
                        left -= len(chunk)
        finally:
            if not response.closed:
                response.close()

    async def _next(self, content: aiohttp.StreamReader) -> bytes:
        try:
            async with asyncio.timeout(self._silent):
                return await content.readany()
        except TimeoutError as error:
            self._response.close()
            fault = TimedOut(f"{place(self._response.url)} sent nothing for {self._silent:g} s")
            fault.__cause__ = error
            raise httpx2.ReadTimeout(fault.message, request=self._request) from fault
        except FAULTS as error:
            self._response.close()
            broken = reading_fault(error, self._response.url)
            raise httpx2.ReadError(broken.message, request=self._request) from broken
        except BaseException:
            self._response.close()
            raise

    def _too_large(self) -> httpx2.ReadError:
        self._response.close()
        fault = UpstreamFailed(f"The answer of {place(self._response.url)} is more than {self._limit} bytes")
        error = httpx2.ReadError(fault.message, request=self._request)
        error.__cause__ = fault
        return error


def _as_connecting(error: ToolError) -> type[httpx2.TransportError]:
    if isinstance(error, TimedOut):
        return httpx2.ReadTimeout
    if isinstance(error, UpstreamFailed) and not isinstance(error, UpstreamUnreachable):
        return httpx2.RemoteProtocolError
    return httpx2.ConnectError
