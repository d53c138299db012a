"""MCP servers over HTTP: the SDK's transport, kept from losing a whole session to the fault of one request."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple, cast

import httpx2
import orjson
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client

from pegboard.core.errors import InvalidArguments, ToolError, UpstreamFailed, UpstreamUnreachable
from pegboard.egress.outbound import Outbound
from pegboard.egress.sdk_client import HANG_UP, sdk_client
from pegboard.executors.mcp.refusals import refusal_of
from pegboard.executors.mcp.upstream import Upstream

FAULT = "pegboard.fault"

# A call may be silent for as long as its own time lasts, which whoever called keeps.
_TIMES = httpx2.Timeout(30.0, read=None)
_ASIDE_SECONDS = 10.0
_MOST_ASIDE = 64
# What a server has to end a call that was cancelled, before its connection is closed.
_GRACE_SECONDS = 1.0
_MOST_FAULTS = 1000
# Messages that nobody waits for are small; what is larger is a call.
_SMALL = 4096
_LISTENING_SECONDS = 1.0
_SESSION = "mcp-session-id"


class Fault(NamedTuple):
    """What went wrong with one request; its error says whether the server may have acted on it."""

    error: ToolError
    session_unknown: bool = False


class Requests:
    """What the SDK's transport needs of an HTTP client.

    A request that fails is answered with an error of its own, which `fault` knows again; until `settle`, while the
    session is being made, everything fails with it. Nobody waits for a cancellation or a declined request to be sent.
    """

    def __init__(self, client: httpx2.AsyncClient, shown: str) -> None:
        self._client = client
        self._shown = shown
        self._faults: dict[str, Fault] = {}
        self._aside: set[asyncio.Task[None]] = set()
        self._listened = 0.0
        self._settled = False
        # Calls on their way, by their ids: those without an answer yet, and those whose answers come as events.
        self._waiting: dict[Any, asyncio.Future[httpx2.Response]] = {}
        self._streams: dict[Any, httpx2.Response] = {}
        self.max_redirects = client.max_redirects

    def settle(self) -> None:
        """From now on a request fails by itself."""
        self._settled = True

    def fault(self, data: Any) -> Fault | None:
        """The fault that an error with this data stands for, if it is one of ours."""
        token = data.get(FAULT) if isinstance(data, dict) else None
        return self._faults.pop(token, None) if isinstance(token, str) else None

    def build_request(self, method: str, url: httpx2.URL | str, **parts: Any) -> httpx2.Request:
        """The request, with the times that hold for tools; one that cannot be written says so when it is sent."""
        try:
            return self._client.build_request(method, url, timeout=_TIMES, **parts)
        except ValueError:
            return self._client.build_request(method, url, extensions={FAULT: True})

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """The answer; for a message it always is one that the SDK can read."""
        if request.method != "POST":
            if request.method == "GET":
                await self._not_too_often()
            return await self._client.send(request, **options)
        if FAULT in request.extensions:
            return self._answer(request, Fault(InvalidArguments("The arguments hold text that is not valid Unicode")))
        message = orjson.loads(await request.aread())
        if message.get("method") == "notifications/cancelled":
            self._give_up((message.get("params") or {}).get("requestId"))
        if _is_aside(await request.aread()):
            if len(self._aside) < _MOST_ASIDE:
                task = asyncio.create_task(self._send_aside(request))
                self._aside.add(task)
                task.add_done_callback(self._aside.discard)
            return httpx2.Response(202, request=request)
        try:
            return await self._awaited(message.get("id"), request, options)
        except httpx2.TransportError as error:
            if not self._settled:
                raise
            fault = error.__cause__ if isinstance(error.__cause__, ToolError) else UpstreamUnreachable(str(error))
            return self._answer(request, Fault(fault))

    async def _awaited(self, key: Any, request: httpx2.Request, options: Any) -> httpx2.Response:
        async def whole() -> httpx2.Response:
            response = await self._read(request, await self._client.send(request, **options))
            if key is not None and not self._settled and not _speaks_mcp(response):
                await response.aclose()
                return self._answer(request, Fault(_no_mcp(self._shown, response)))
            return response

        sending = self._waiting[key] = asyncio.ensure_future(whole())
        try:
            response = await sending
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                sending.cancel()
                raise
            return self._answer(request, Fault(UpstreamUnreachable(f"{self._shown} did not answer in time")))
        finally:
            self._waiting.pop(key, None)
        if not response.is_closed:
            self._streams = {each: stream for each, stream in self._streams.items() if not stream.is_closed}
            self._streams[key] = response
        return response

    def _give_up(self, key: Any) -> None:
        """Close the connection of a call that nobody waits for any more, if the server does not end it by itself."""
        sending, stream = self._waiting.get(key), self._streams.pop(key, None)
        later = asyncio.get_running_loop().call_later
        if sending is not None:
            later(_GRACE_SECONDS, sending.cancel)
        elif stream is not None:
            later(_GRACE_SECONDS, stream.extensions[HANG_UP])

    async def close(self) -> None:
        """Give up what is still being sent."""
        for task in self._aside:
            task.cancel()
        if self._aside:
            await asyncio.wait(self._aside)
        await self._client.aclose()

    async def _read(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        status = response.status_code
        is_json = response.headers.get("content-type", "").lower().startswith("application/json")
        try:
            if is_json or status >= 400:
                # Read here, where it can fail without the session.
                await response.aread()
        except BaseException:
            await response.aclose()
            raise
        if status < 400:
            return response
        said = _error_in(response.content) if is_json else None
        if _SESSION in request.headers and (status == 404 or (status == 400 and "session" in str(said).lower())):
            lost = UpstreamUnreachable(f"{self._shown} does not know the session any more")
            lost.did_run = False
            return self._answer(request, Fault(lost, session_unknown=True))
        if said is not None:
            return response
        refusal = refusal_of(self._shown, status, response.headers, response.content)
        if not self._settled and status in (404, 405) and request.url.path.rstrip("/").endswith("/sse"):
            refusal = UpstreamFailed(
                f"{refusal.message.rstrip('.')}. This looks like a URL of the older SSE transport, which is not "
                f"supported; try {request.url.path.rstrip('/').removesuffix('/sse')}/mcp"
            )
        return self._answer(request, Fault(refusal))

    def _answer(self, request: httpx2.Request, fault: Fault) -> httpx2.Response:
        token = secrets.token_hex(8)
        self._faults[token] = fault
        if len(self._faults) > _MOST_FAULTS:
            del self._faults[next(iter(self._faults))]
        error = {"code": -32000, "message": fault.error.message, "data": {FAULT: token}}
        return httpx2.Response(500, json={"jsonrpc": "2.0", "id": None, "error": error}, request=request)

    async def _send_aside(self, request: httpx2.Request) -> None:
        with suppress(httpx2.HTTPError, TimeoutError):
            async with asyncio.timeout(_ASIDE_SECONDS):
                response = await self._client.send(request, stream=True)
                await response.aclose()

    async def _not_too_often(self) -> None:
        """Hold up a server that ends its stream at once, and would have it asked for again without end."""
        wait = self._listened + _LISTENING_SECONDS - time.monotonic()
        self._listened = time.monotonic() + max(wait, 0.0)
        if wait > 0:
            await asyncio.sleep(wait)


class Web:
    """An SDK transport to an upstream's URL, through the board's own way out."""

    def __init__(self, upstream: Upstream, outbound: Outbound, *, max_bytes: int) -> None:
        client = sdk_client(outbound, headers=dict(upstream.headers), limit=max_bytes)
        self.requests = Requests(client, upstream.shown)
        self._url = upstream.server_url or ""
        self._max_bytes = max_bytes

    @asynccontextmanager
    async def open(self) -> AsyncIterator[TransportStreams]:
        """The streams."""
        transport = streamable_http_client(
            self._url,
            http_client=cast(httpx2.AsyncClient, self.requests),
            max_sse_event_size=self._max_bytes,
        )
        try:
            async with transport as streams:
                yield streams
        finally:
            await self.requests.close()


def _is_aside(body: bytes) -> bool:
    """Whether the message is one that nobody waits for: a notification, or an answer to the server."""
    if len(body) > _SMALL:
        return False
    message = orjson.loads(body)
    if "method" not in message:
        return True
    return "id" not in message and message["method"] != "notifications/initialized"


def _speaks_mcp(response: httpx2.Response) -> bool:
    """Whether a response can be one of the protocol: a redirect, an error, events or a JSON-RPC message."""
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if response.status_code >= 300 or media_type == "text/event-stream":
        return True
    if media_type != "application/json":
        return False
    try:
        answer = orjson.loads(response.content)
    except orjson.JSONDecodeError:
        return False
    return isinstance(answer, dict) and "jsonrpc" in answer


def _no_mcp(shown: str, response: httpx2.Response) -> ToolError:
    media_type = response.headers.get("content-type", "").partition(";")[0].strip()[:100] or "no Content-Type"
    return UpstreamFailed(
        f"What answers at {shown} is no MCP server: HTTP {response.status_code}, {media_type}, without a JSON-RPC "
        "message. Check the URL; it often ends in /mcp"
    )


def _error_in(body: bytes) -> str | None:
    """The message of a JSON-RPC error; None if it is something else."""
    try:
        answer = orjson.loads(body)
        message = answer["error"]["message"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    return str(message) if "jsonrpc" in answer else None


def fault_in(error: BaseException) -> ToolError:
    """What an exception that the SDK's tasks ended with means for a call."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ToolError):
        return error
    if isinstance(error.__cause__, ToolError):
        return error.__cause__
    if isinstance(error, httpx2.HTTPError | OSError):
        return UpstreamUnreachable(str(error) or type(error).__name__)
    return UpstreamFailed(str(error) or type(error).__name__)
