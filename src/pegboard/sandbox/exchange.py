"""One connection to the proxy, from its request to its end."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress

from pegboard.core.errors import EgressRefused, ToolError, Unavailable
from pegboard.egress.outbound import Outbound
from pegboard.sandbox.heads import Malformed, Request, Response, read_request, read_response
from pegboard.sandbox.relay import Body, Patience, Stream, Turns, chunk, pump, running
from pegboard.telemetry.logs import get_logger

_HEAD = 2**14
_ANSWERED_HEAD = 2**16
_LINGER_SECONDS = 2.0
_LONGEST_PHRASE = 400

_log = get_logger(__name__)


class Refusal(Exception):
    """The client is answered with this status and reason, and with nothing else."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class Exchange:
    """Answers one client: with a tunnel, with what is at a URL, or with why not."""

    def __init__(
        self,
        client: socket.socket,
        outbound: Outbound,
        *,
        user_id: str,
        turns: Turns,
        dials: asyncio.Semaphore,
        idle_seconds: float,
    ) -> None:
        self._client = Stream(client, turns)
        self._outbound = outbound
        self._user_id = user_id
        self._turns = turns
        self._dials = dials
        self._idle_seconds = idle_seconds
        self._without_body = False
        self._answering = False
        self._tunnelled: Stream | None = None

    @property
    def resting_since(self) -> float | None:
        """When a tunnel's server spoke last, if the client has said nothing since, as kept connections of pools do."""
        upstream = self._tunnelled
        return self._client.sent_at if upstream is not None and self._client.sent_at > upstream.sent_at else None

    async def run(self) -> None:
        """Serve the client to the end of its connection; nothing is raised but that it is cancelled."""
        broken = True
        try:
            try:
                await self._serve()
                broken = False
            except Refusal as refusal:
                if not self._answering:
                    await self._refuse(refusal)
                    broken = False
        except OSError:
            pass  # the client is gone
        except asyncio.CancelledError:
            broken = False  # what was taken from either side still reaches the other
            raise
        except Exception as error:
            _log.exception("proxy_failed", error=type(error).__name__)
        finally:
            self._client.close(broken=broken)

    async def _serve(self) -> None:
        request = await self._request()
        if request is None:
            return
        upstream = Stream(await self._connected(request), self._turns)
        broken = False
        try:
            async with Patience(self._idle_seconds) as patience:
                self._client.patience = upstream.patience = patience
                if request.path is None:
                    await self._tunnel(upstream)
                else:
                    await self._fetch(request, upstream)
        except TimeoutError:
            broken = True
            raise Refusal(504, f"Nothing came from {request.place} for {self._idle_seconds:g} s") from None
        except (OSError, Refusal):
            broken = True
            raise
        finally:
            upstream.close(broken=broken)
        if request.path is not None:
            await self._linger()

    async def _request(self) -> Request | None:
        try:
            async with asyncio.timeout(self._idle_seconds):
                head = await self._client.head(_HEAD)
            request = read_request(head) if head else None
        except TimeoutError:
            raise Refusal(408, f"No whole request came within {self._idle_seconds:g} s") from None
        except Malformed as error:
            raise Refusal(error.status, f"The proxy cannot read the request: {error}") from None
        self._without_body = request is not None and request.method == b"HEAD"
        return request

    async def _connected(self, request: Request) -> socket.socket:
        try:
            async with self._dials:
                return await self._outbound.connect(request.host, request.port, self._user_id)
        except EgressRefused as error:
            raise Refusal(403, error.message) from None
        except Unavailable as error:
            raise Refusal(503, error.message) from None
        except ToolError as error:
            raise Refusal(502, error.message) from None

    async def _tunnel(self, upstream: Stream) -> None:
        self._answering = True
        self._tunnelled = upstream
        await self._client.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
        async with running(pump(self._client, upstream), pump(upstream, self._client)) as both:
            await asyncio.gather(*both)

    async def _fetch(self, request: Request, upstream: Stream) -> None:
        async with running(self._forward(request, upstream), self._return(request, upstream)) as (forward, back):
            await asyncio.wait((forward, back), return_when=asyncio.FIRST_COMPLETED)
            if not back.done():
                await forward
            await back

    async def _forward(self, request: Request, upstream: Stream) -> None:
        body = Body(self._client, request.framing)
        chunked = request.framing.chunked
        # Where it takes no more it may have answered all the same: what comes back tells.
        with suppress(_NotTaken):
            await _send(upstream, request.head())
            try:
                while data := await body.piece():
                    await _send(upstream, chunk(data) if chunked else data)
            except Malformed as error:
                raise Refusal(400, f"The proxy cannot read the request's body: {error}") from None
            if chunked:
                await _send(upstream, chunk(b""))
        # One request a connection: whatever else the client says goes nowhere, and its end is all that is passed on.
        while await self._client.some():
            pass
        upstream.finish()

    async def _return(self, request: Request, upstream: Stream) -> None:
        while (response := await self._response(request, upstream)).interim:
            if request.minor:
                await self._client.send(response.head(chunked=False))
        chunked = response.framing.chunked and request.minor > 0
        self._answering = True
        await self._client.send(response.head(chunked=chunked))
        body = Body(upstream, response.framing)
        try:
            while data := await body.piece():
                await self._client.send(chunk(data) if chunked else data)
        except Malformed as error:
            raise Refusal(502, f"The answer of {request.place} is not right: {error}") from None
        if chunked:
            await self._client.send(chunk(b""))

    async def _response(self, request: Request, upstream: Stream) -> Response:
        try:
            head = await upstream.head(_ANSWERED_HEAD)
            if head:
                return read_response(head, request.method)
        except Malformed as error:
            raise Refusal(502, f"{request.place} did not answer in HTTP: {error}") from None
        except OSError as error:
            raise Refusal(502, f"The connection to {request.place} broke: {error.strerror}") from None
        raise Refusal(502, f"{request.place} closed the connection without an answer")

    async def _refuse(self, refusal: Refusal) -> None:
        # Many clients show the status line alone where a tunnel is refused, so the reason is in it as well.
        phrase = " ".join(refusal.reason.split()).encode("ascii", "replace")[:_LONGEST_PHRASE]
        body = refusal.reason.encode() + b"\n"
        head = b"HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n" % (
            refusal.status,
            phrase,
            len(body),
        )
        async with asyncio.timeout(_LINGER_SECONDS):
            await self._client.send(head + b"Connection: close\r\n\r\n" + (b"" if self._without_body else body))
        await self._linger()

    async def _linger(self) -> None:
        """Read on for a moment: closing on bytes that were not read would take the answer back."""
        self._client.finish()
        with suppress(TimeoutError):
            async with asyncio.timeout(_LINGER_SECONDS):
                while await self._client.some():
                    pass


class _NotTaken(Exception):
    """A server takes no more of a request."""


async def _send(upstream: Stream, data: bytes) -> None:
    try:
        await upstream.send(data)
    except OSError:
        raise _NotTaken from None
