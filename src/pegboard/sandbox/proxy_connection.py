"""One connection to the proxy, from its request to its end."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress

import h11

from pegboard.http_client.guarded_client import GuardedClient
from pegboard.model.call_errors import EgressRefused, ToolError, Unavailable
from pegboard.sandbox.proxy_http import (
    MalformedHttp,
    ProxyRequest,
    create_client_parser,
    create_server_parser,
    read_request,
    read_response,
)
from pegboard.sandbox.proxy_relay import (
    LoopTurns,
    ProxyBody,
    ProxyStream,
    copy_stream,
    limit_idle_time,
    run_tasks,
)
from pegboard.telemetry.logs import get_logger

_MAX_REQUEST_HEAD_BYTES = 2**14
_MAX_RESPONSE_HEAD_BYTES = 2**16
_LINGER_SECONDS = 2.0
_MAX_REASON_PHRASE_BYTES = 400

_log = get_logger(__name__)


class ProxyError(Exception):
    """The proxy responds with this status and reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class ProxyConnection:
    """Serves one client: with a tunnel, with the response for a URL, or with an error."""

    def __init__(
        self,
        client: socket.socket,
        outbound: GuardedClient,
        *,
        user_id: str,
        turns: LoopTurns,
        dials: asyncio.Semaphore,
        idle_seconds: float,
    ) -> None:
        self._client = ProxyStream(client, turns)
        self._parser = create_client_parser()
        self._outbound = outbound
        self._user_id = user_id
        self._turns = turns
        self._dial_slots = dials
        self._idle_seconds = idle_seconds
        self._is_head_request = False
        self._answering = False
        self._tunnel_upstream: ProxyStream | None = None

    @property
    def idle_since(self) -> float | None:
        """When the server of a tunnel last sent data, if the client sent nothing since; else None."""
        upstream = self._tunnel_upstream
        return self._client.sent_at if upstream is not None and self._client.sent_at > upstream.sent_at else None

    async def run(self) -> None:
        """Serve the client until its connection ends; raise nothing except CancelledError."""
        broken = True
        try:
            try:
                await self._serve()
                broken = False
            except ProxyError as refusal:
                if not self._answering:
                    await self._refuse(refusal)
                    broken = False
        except OSError:
            pass  # the client has disconnected
        except asyncio.CancelledError:
            broken = False  # data that was received from either side is still delivered
            raise
        except Exception as error:
            _log.exception("proxy_failed", error=type(error).__name__)
        finally:
            self._client.close(broken=broken)

    async def _serve(self) -> None:
        request = await self._request()
        if request is None:
            return
        upstream = ProxyStream(await self._connect_upstream(request), self._turns)
        broken = False
        try:
            async with limit_idle_time(self._idle_seconds, self._client, upstream):
                if request.message is None:
                    await self._tunnel(upstream)
                else:
                    await self._fetch(request, request.message, upstream)
        except TimeoutError:
            broken = True
            raise ProxyError(504, f"{request.place} sent nothing for {self._idle_seconds:g} s") from None
        except (OSError, ProxyError):
            broken = True
            raise
        finally:
            upstream.close(broken=broken)
        if request.message is not None:
            await self._linger()

    async def _request(self) -> ProxyRequest | None:
        try:
            async with asyncio.timeout(self._idle_seconds):
                head = await self._client.head(_MAX_REQUEST_HEAD_BYTES)
            request = read_request(head, self._parser) if head else None
        except TimeoutError:
            raise ProxyError(408, f"No complete request was received within {self._idle_seconds:g} s") from None
        except MalformedHttp as error:
            raise ProxyError(error.status, f"The proxy cannot read the request: {error}") from None
        self._is_head_request = request is not None and request.method == b"HEAD"
        return request

    async def _connect_upstream(self, request: ProxyRequest) -> socket.socket:
        try:
            async with self._dial_slots:
                return await self._outbound.connect(request.host, request.port, self._user_id)
        except EgressRefused as error:
            raise ProxyError(403, error.message) from None
        except Unavailable as error:
            raise ProxyError(503, error.message) from None
        except ToolError as error:
            raise ProxyError(502, error.message) from None

    async def _tunnel(self, upstream: ProxyStream) -> None:
        self._answering = True
        self._tunnel_upstream = upstream
        await self._client.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
        async with run_tasks(copy_stream(self._client, upstream), copy_stream(upstream, self._client)) as both:
            await asyncio.gather(*both)

    async def _fetch(self, request: ProxyRequest, message: h11.Request, upstream: ProxyStream) -> None:
        parser = create_server_parser()
        works = (self._forward_request(message, upstream, parser), self._relay_response(request, upstream, parser))
        async with run_tasks(*works) as (forward, back):
            await asyncio.wait((forward, back), return_when=asyncio.FIRST_COMPLETED)
            if not back.done():
                await forward
            await back

    async def _forward_request(self, message: h11.Request, upstream: ProxyStream, parser: h11.Connection) -> None:
        body = ProxyBody(self._client, self._parser)
        # A server that stops reading the request may have responded; the response decides.
        with suppress(_UpstreamClosed):
            await _send_upstream(upstream, parser.send(message))
            try:
                while data := await body.piece():
                    await _send_upstream(upstream, parser.send(h11.Data(data)))
            except MalformedHttp as error:
                raise ProxyError(400, f"The proxy cannot read the request's body: {error}") from None
            await _send_upstream(upstream, parser.send(h11.EndOfMessage()))
        # One request per connection: further data from the client is discarded, and only its EOF is passed on.
        while await self._client.some():
            pass
        upstream.finish()

    async def _relay_response(self, request: ProxyRequest, upstream: ProxyStream, parser: h11.Connection) -> None:
        while isinstance(response := await self._response(request, upstream, parser), h11.InformationalResponse):
            if self._parser.their_http_version != b"1.0":
                await self._client.send(self._parser.send(response))
        self._answering = True
        await self._client.send(self._parser.send(response))
        body = ProxyBody(upstream, parser)
        try:
            while data := await body.piece():
                await self._client.send(self._parser.send(h11.Data(data)))
        except MalformedHttp as error:
            raise ProxyError(502, f"The response of {request.place} is invalid: {error}") from None
        await self._client.send(self._parser.send(h11.EndOfMessage()))

    async def _response(
        self, request: ProxyRequest, upstream: ProxyStream, parser: h11.Connection
    ) -> h11.Response | h11.InformationalResponse:
        try:
            head = await upstream.head(_MAX_RESPONSE_HEAD_BYTES)
            if head:
                return read_response(head, parser)
        except MalformedHttp as error:
            raise ProxyError(502, f"{request.place} did not answer in HTTP: {error}") from None
        except OSError as error:
            raise ProxyError(502, f"The connection to {request.place} broke: {error.strerror}") from None
        raise ProxyError(502, f"{request.place} closed the connection without an answer")

    async def _refuse(self, refusal: ProxyError) -> None:
        # Many clients show only the status line of a refused tunnel, so it contains the reason as well.
        phrase = " ".join(refusal.reason.split()).encode("ascii", "replace")[:_MAX_REASON_PHRASE_BYTES]
        body = refusal.reason.encode() + b"\n"
        head = b"HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n" % (
            refusal.status,
            phrase,
            len(body),
        )
        async with asyncio.timeout(_LINGER_SECONDS):
            await self._client.send(head + b"Connection: close\r\n\r\n" + (b"" if self._is_head_request else body))
        await self._linger()

    async def _linger(self) -> None:
        """Read for a moment: closing a socket with unread data resets it, and the client would lose the response."""
        self._client.finish()
        with suppress(TimeoutError):
            async with asyncio.timeout(_LINGER_SECONDS):
                while await self._client.some():
                    pass


class _UpstreamClosed(Exception):
    """The server reads no more of the request."""


async def _send_upstream(upstream: ProxyStream, data: bytes) -> None:
    try:
        await upstream.send(data)
    except OSError:
        raise _UpstreamClosed from None
