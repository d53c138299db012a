"""HTTP transport to MCP servers: the SDK's transport, wrapped so that one failed request does not end the session."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple, cast

import httpx2
import orjson
from mcp.client.streamable_http import streamable_http_client

from pegboard.http_client.guarded_client import GuardedClient
from pegboard.http_client.mcp_transport import CLOSE_EXTENSION, create_sdk_client
from pegboard.kinds.mcp.mcp_errors import make_http_refusal
from pegboard.kinds.mcp.stdio_transport import TransportStreams
from pegboard.kinds.mcp.upstream import Upstream
from pegboard.model.call_errors import InvalidArguments, ToolError, UpstreamFailed, UpstreamUnreachable

FAULT_KEY = "pegboard.fault"

# No read timeout: a call may be silent until its own deadline, which the caller enforces.
_TIMEOUTS = httpx2.Timeout(30.0, read=None)
_BACKGROUND_SEND_SECONDS = 10.0
_MAX_BACKGROUND_SENDS = 64
# How long a server may take to end a cancelled call before its connection is closed.
_CANCEL_GRACE_SECONDS = 1.0
_MAX_FAULTS = 1000
# Notifications are small; anything larger is a call.
_MAX_NOTIFICATION_BYTES = 4096
_MIN_LISTEN_SECONDS = 1.0
_SESSION_HEADER = "mcp-session-id"


class RequestFault(NamedTuple):
    """The error of one request; its `did_run` is False if the server certainly did not act on it."""

    error: ToolError
    session_unknown: bool = False


class McpHttpClient:
    """The HTTP client of the SDK's transport.

    A failed request gets an error response, which `fault` maps back to the error; until `settle`, while the session
    is being opened, a failed request ends the session. Cancellations and answers to the server are sent in
    the background.
    """

    def __init__(self, client: httpx2.AsyncClient, shown: str) -> None:
        self._client = client
        self._shown = shown
        self._faults: dict[str, RequestFault] = {}
        self._background_tasks: set[asyncio.Task[None]] = set()
        self._last_listen = 0.0
        self._settled = False
        # Running calls by id: those without a response yet, and those whose response is an event stream.
        self._waiting: dict[Any, asyncio.Future[httpx2.Response]] = {}
        self._streams: dict[Any, httpx2.Response] = {}
        self.max_redirects = client.max_redirects

    def settle(self) -> None:
        """From now on a failed request does not end the session."""
        self._settled = True

    def fault(self, data: Any) -> RequestFault | None:
        """Return the fault that an error with this data represents, or None if it is not one of ours."""
        token = data.get(FAULT_KEY) if isinstance(data, dict) else None
        return self._faults.pop(token, None) if isinstance(token, str) else None

    def build_request(self, method: str, url: httpx2.URL | str, **parts: Any) -> httpx2.Request:
        """Build the request with the timeouts of tools; if it cannot be encoded, `send` returns an error."""
        try:
            return self._client.build_request(method, url, timeout=_TIMEOUTS, **parts)
        except ValueError:
            return self._client.build_request(method, url, extensions={FAULT_KEY: True})

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send the request; for a POST the response is always one that the SDK can parse."""
        if request.method != "POST":
            if request.method == "GET":
                await self._wait_before_listen()
            return await self._client.send(request, **options)
        if FAULT_KEY in request.extensions:
            return self._answer(
                request, RequestFault(InvalidArguments("The arguments hold text that is not valid Unicode"))
            )
        message = orjson.loads(await request.aread())
        if message.get("method") == "notifications/cancelled":
            self._give_up((message.get("params") or {}).get("requestId"))
        if _is_background_message(message, await request.aread()):
            if len(self._background_tasks) < _MAX_BACKGROUND_SENDS:
                task = asyncio.create_task(self._send_in_background(request))
                self._background_tasks.add(task)
                task.add_done_callback(self._background_tasks.discard)
            return httpx2.Response(202, request=request)
        try:
            return await self._await_response(message.get("id"), request, options)
        except httpx2.TransportError as error:
            if not self._settled:
                raise
            fault = error.__cause__ if isinstance(error.__cause__, ToolError) else UpstreamUnreachable(str(error))
            return self._answer(request, RequestFault(fault))

    async def _await_response(self, key: Any, request: httpx2.Request, options: Any) -> httpx2.Response:
        async def send_request() -> httpx2.Response:
            response = await self._read(request, await self._client.send(request, **options))
            if key is not None and not self._settled and not _speaks_mcp(response):
                await response.aclose()
                return self._answer(request, RequestFault(_make_not_mcp_error(self._shown, response)))
            return response

        sending = self._waiting[key] = asyncio.ensure_future(send_request())
        try:
            response = await sending
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                sending.cancel()
                raise
            return self._answer(request, RequestFault(UpstreamUnreachable(f"{self._shown} did not answer in time")))
        finally:
            self._waiting.pop(key, None)
        if not response.is_closed:
            self._streams = {each: stream for each, stream in self._streams.items() if not stream.is_closed}
            self._streams[key] = response
        return response

    def _give_up(self, key: Any) -> None:
        """Close the connection of a cancelled call if the server does not end it within the grace period."""
        sending, stream = self._waiting.get(key), self._streams.pop(key, None)
        later = asyncio.get_running_loop().call_later
        if sending is not None:
            later(_CANCEL_GRACE_SECONDS, sending.cancel)
        elif stream is not None:
            later(_CANCEL_GRACE_SECONDS, stream.extensions[CLOSE_EXTENSION])

    async def close(self) -> None:
        """Cancel background requests and close the client."""
        for task in self._background_tasks:
            task.cancel()
        if self._background_tasks:
            await asyncio.wait(self._background_tasks)
        await self._client.aclose()

    async def _read(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        status = response.status_code
        is_json = response.headers.get("content-type", "").lower().startswith("application/json")
        try:
            if is_json or status >= 400:
                # Read here, so that a failure does not end the session.
                await response.aread()
        except BaseException:
            await response.aclose()
            raise
        if status < 400:
            return response
        message = _read_rpc_error(response.content) if is_json else None
        if _SESSION_HEADER in request.headers and (
            status == 404 or (status == 400 and "session" in str(message).lower())
        ):
            lost = UpstreamUnreachable(f"{self._shown} does not know the session any more")
            lost.did_run = False
            return self._answer(request, RequestFault(lost, session_unknown=True))
        if message is not None:
            return response
        refusal = make_http_refusal(self._shown, status, response.headers, response.content)
        if not self._settled and status in (404, 405) and request.url.path.rstrip("/").endswith("/sse"):
            refusal = UpstreamFailed(
                f"{refusal.message.rstrip('.')}. This looks like a URL of the older SSE transport, which is not "
                f"supported; try {request.url.path.rstrip('/').removesuffix('/sse')}/mcp"
            )
        return self._answer(request, RequestFault(refusal))

    def _answer(self, request: httpx2.Request, fault: RequestFault) -> httpx2.Response:
        token = secrets.token_hex(8)
        self._faults[token] = fault
        if len(self._faults) > _MAX_FAULTS:
            del self._faults[next(iter(self._faults))]
        error = {"code": -32000, "message": fault.error.message, "data": {FAULT_KEY: token}}
        return httpx2.Response(500, json={"jsonrpc": "2.0", "id": None, "error": error}, request=request)

    async def _send_in_background(self, request: httpx2.Request) -> None:
        with suppress(httpx2.HTTPError, TimeoutError):
            async with asyncio.timeout(_BACKGROUND_SEND_SECONDS):
                response = await self._client.send(request, stream=True)
                await response.aclose()

    async def _wait_before_listen(self) -> None:
        """Delay reconnecting to a server that closes its event stream at once, to avoid a busy loop."""
        wait = self._last_listen + _MIN_LISTEN_SECONDS - time.monotonic()
        self._last_listen = time.monotonic() + max(wait, 0.0)
        if wait > 0:
            await asyncio.sleep(wait)


class McpHttpTransport:
    """An SDK transport to an upstream's URL over the board's guarded client."""

    def __init__(self, upstream: Upstream, outbound: GuardedClient, *, max_bytes: int) -> None:
        client = create_sdk_client(outbound, headers=dict(upstream.headers), limit=max_bytes)
        self.requests = McpHttpClient(client, upstream.display_name)
        self._url = upstream.server_url or ""
        self._max_bytes = max_bytes

    @asynccontextmanager
    async def open(self) -> AsyncIterator[TransportStreams]:
        """Open the transport and yield its streams."""
        transport = streamable_http_client(
            self._url,
            http_client=cast(httpx2.AsyncClient, self.requests),
            max_sse_event_size=self._max_bytes,
        )
        try:
            async with transport as streams:
                yield cast(TransportStreams, streams)
        finally:
            await self.requests.close()


def _is_background_message(message: Mapping[str, Any], body: bytes) -> bool:
    """True if the message gets no response: a notification, or a response to the server."""
    if "method" not in message:
        return True
    if len(body) > _MAX_NOTIFICATION_BYTES:
        return False
    return "id" not in message and message["method"] != "notifications/initialized"


def _speaks_mcp(response: httpx2.Response) -> bool:
    """True if a response can be part of the protocol: a redirect, an error, events or a JSON-RPC message."""
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


def _make_not_mcp_error(shown: str, response: httpx2.Response) -> ToolError:
    media_type = response.headers.get("content-type", "").partition(";")[0].strip()[:100] or "no Content-Type"
    return UpstreamFailed(
        f"{shown} is not an MCP server: HTTP {response.status_code}, {media_type}, without a JSON-RPC "
        "message. Check the URL; it often ends in /mcp"
    )


def _read_rpc_error(body: bytes) -> str | None:
    """Return the message of a JSON-RPC error, or None if the body is something else."""
    try:
        answer = orjson.loads(body)
        message = answer["error"]["message"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    return str(message) if "jsonrpc" in answer else None


def explain_transport_error(error: BaseException) -> ToolError:
    """Convert an exception that ended the SDK's tasks to the error of a call."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ToolError):
        return error
    if isinstance(error.__cause__, ToolError):
        return error.__cause__
    if isinstance(error, httpx2.HTTPError | OSError):
        return UpstreamUnreachable(str(error) or type(error).__name__)
    return UpstreamFailed(str(error) or type(error).__name__)
