"""Passes the messages of the MCP client that started this program to a server over HTTP, and its responses back."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import httpx
import orjson
from httpx_sse import EventSource

from pegboard.surfaces.cli.api_client import CONNECT_TIMEOUT_SECONDS, check_url, find_key, is_loopback
from pegboard.surfaces.cli.output import write_message
from pegboard.surfaces.cli.session import CliSession
from pegboard.surfaces.mcp.header_values import NAMED_BY, encode_header_value
from pegboard.surfaces.mcp.json_rpc import (
    InvalidMessage,
    RpcMessage,
    encode_error,
    parse_body,
    read_message,
)
from pegboard.surfaces.mcp.mcp_sessions import RunningRequests, cancel_request
from pegboard.surfaces.mcp.param_headers import ParamHeader, find_param_headers
from pegboard.surfaces.mcp.protocol import HEADER_MISMATCH, INTERNAL_ERROR, VERSION_KEY, ProtocolError
from pegboard.surfaces.mcp.stdio_lines import LineTooLong, StdioLines

_GRACE_SECONDS = 0.3
_CLOSE_SECONDS = 0.3
_RECONNECT_SECONDS = 1.0
_MAX_LINE = 64 * 2**20
_MAX_PAGES = 100
_ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


async def relay_to_server(session: CliSession, agent: str | None) -> None:
    """Relay messages until the end of the input; raise a CommandFailure if the URL or the key cannot be used."""
    url = check_url(session.url)
    key, _ = find_key(session)
    path = "/mcp" if agent is None else f"/agents/{quote(agent, safe='')}/mcp"
    plain = url.startswith("http:")
    async with httpx.AsyncClient(
        headers={"Authorization": f"Bearer {key}", **_ACCEPT},
        verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True,
        trust_env=not (plain and is_loopback(httpx.URL(url).host)),
        # A call may take long; a server that is gone closes the connection.
        timeout=httpx.Timeout(None, connect=CONNECT_TIMEOUT_SECONDS),
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
    ) as http:
        relay = McpRelay(http, url + path, StdioLines(_MAX_LINE))
        await relay.run()


class McpRelay:
    """One client on standard input and output, and its connections to the server."""

    def __init__(self, http: httpx.AsyncClient, url: str, lines: StdioLines) -> None:
        self._http = http
        self._url = url
        self._lines = lines
        self._tasks: set[asyncio.Task[None]] = set()
        self._requests: RunningRequests = {}
        # Of a client with sessions: its `initialize`, and the headers of its session.
        self._initialize: bytes = b""
        self._session: dict[str, str] = {}
        self._events: asyncio.Task[None] | None = None
        # The headers that repeat arguments, by tool; None before the tools were listed.
        self._param_headers: dict[str, tuple[ParamHeader, ...]] | None = None

    async def run(self) -> None:
        """Relay until the end of the input."""
        while True:
            try:
                line = await self._lines.read()
            except LineTooLong:
                write_message("A message is too large and was skipped")
                continue
            if line is None:
                break
            self._receive(line)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_GRACE_SECONDS)
        await self._close()

    def _receive(self, line: bytes) -> None:
        try:
            message = read_message(parse_body(line))
        except ProtocolError as error:
            self._lines.write(encode_error(error.id if isinstance(error, InvalidMessage) else None, error))
            return
        if message.method == "notifications/cancelled" and not self._session:
            # In the revision without sessions, a request is cancelled by closing its connection.
            cancel_request(self._requests, message.params)
            return
        task = asyncio.create_task(self._relay(line, message), name="pegboard-mcp-relay")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if message.id is not None and message.method is not None:
            self._requests[message.id] = task.cancel

    async def _relay(self, line: bytes, message: RpcMessage) -> None:
        try:
            await self._send(line, message)
        except httpx.HTTPError as error:
            why = f"The server at {self._url} cannot be reached: {str(error) or type(error).__name__}"
            self._refuse(message, ProtocolError(INTERNAL_ERROR, why))
        finally:
            if message.id is not None and message.method is not None:
                self._requests.pop(message.id, None)

    async def _send(self, line: bytes, message: RpcMessage, *, is_retry: bool = False) -> None:
        headers = await self._build_headers(message)
        async with self._http.stream("POST", self._url, content=line, headers=headers) as response:
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                async for event in EventSource(response).aiter_sse():
                    if event.data:
                        self._lines.write(event.data.encode())
                return
            body = await response.aread()
        # The server was restarted, or the session has expired: the client on this side cannot notice that.
        is_expired = response.status_code == 404 and "Mcp-Session-Id" in headers
        if is_expired and not is_retry and await self._reopen_session():
            await self._send(line, message, is_retry=True)
            return
        if response.is_success:
            self._notice(line, message, response, body)
        if message.id is None or message.method is None:
            if not response.is_success:
                write_message(f"The server refused {message.method or 'a response'}: HTTP {response.status_code}")
            return
        error = _read_error(response, body)
        if error is None:
            self._lines.write(body.replace(b"\n", b" "))
        elif error.code == HEADER_MISMATCH and not is_retry:
            self._param_headers = None  # the schema of the tool has changed
            await self._send(line, message, is_retry=True)
        else:
            self._refuse(message, error)

    def _notice(self, line: bytes, message: RpcMessage, response: httpx.Response, body: bytes) -> None:
        """Keep what later requests need from a response."""
        if message.method == "initialize" and "mcp-session-id" in response.headers:
            self._keep_session(line, response, body)
        elif message.method == "notifications/initialized":
            self._follow_events()
        elif message.method == "tools/list":
            self._learn(body)

    async def _build_headers(self, message: RpcMessage) -> dict[str, str]:
        meta = message.params.get("_meta")
        version = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
        if not isinstance(version, str) or message.method is None:
            return {} if message.method == "initialize" else self._session
        headers = {"MCP-Protocol-Version": version, "Mcp-Method": message.method}
        name = message.params.get(NAMED_BY.get(message.method, ""))
        if isinstance(name, str):
            headers["Mcp-Name"] = encode_header_value(name)
        arguments = message.params.get("arguments")
        if message.method == "tools/call" and isinstance(arguments, dict):
            if self._param_headers is None:
                await self._list_tools(meta)
            for param in (self._param_headers or {}).get(str(name), ()):
                text = param.format_argument(arguments)
                if text is not None:
                    headers[param.header.decode()] = encode_header_value(text)
        return headers

    async def _list_tools(self, meta: Any) -> None:
        """Read all pages of the list of tools, for the headers that repeat arguments."""
        self._param_headers = {}
        cursor: str | None = None
        for _ in range(_MAX_PAGES):
            params = {"_meta": meta} if cursor is None else {"_meta": meta, "cursor": cursor}
            message = {"jsonrpc": "2.0", "id": "pegboard-list", "method": "tools/list", "params": params}
            headers = {"MCP-Protocol-Version": meta[VERSION_KEY], "Mcp-Method": "tools/list"}
            response = await self._http.post(self._url, content=orjson.dumps(message), headers=headers)
            cursor = self._learn(response.content) if response.is_success else None
            if cursor is None:
                return

    def _learn(self, body: bytes) -> str | None:
        """Keep which headers the listed tools need, and return the cursor of the next page."""
        result = parse_body(body).get("result") or {}
        if self._param_headers is not None:
            for tool in result.get("tools", ()):
                self._param_headers[tool["name"]] = find_param_headers(tool["inputSchema"])
        cursor: str | None = result.get("nextCursor")
        return cursor

    def _keep_session(self, line: bytes, response: httpx.Response, body: bytes) -> None:
        self._initialize = line
        version = orjson.loads(body)["result"]["protocolVersion"]
        self._session = {"Mcp-Session-Id": response.headers["mcp-session-id"], "MCP-Protocol-Version": version}

    async def _reopen_session(self) -> bool:
        """Initialize again as the client did; return False if the server refuses."""
        response = await self._http.post(self._url, content=self._initialize)
        if "mcp-session-id" not in response.headers:
            return False
        self._keep_session(self._initialize, response, response.content)
        self._follow_events()
        return True

    def _follow_events(self) -> None:
        if self._events is not None:
            self._events.cancel()
        self._events = asyncio.create_task(self._relay_events(self._session), name="pegboard-mcp-events")

    async def _relay_events(self, session: dict[str, str]) -> None:
        """Relay the notifications of a session, and connect again until the server refuses."""
        while session is self._session:
            try:
                async for data in self._read_events(session):
                    self._lines.write_notification(data.encode())
            except httpx.HTTPStatusError:
                return
            except httpx.HTTPError:
                pass  # connect again
            await asyncio.sleep(_RECONNECT_SECONDS)

    async def _read_events(self, session: dict[str, str]) -> AsyncIterator[str]:
        headers = {**session, "Accept": "text/event-stream"}
        async with self._http.stream("GET", self._url, headers=headers) as response:
            response.raise_for_status()
            async for event in EventSource(response).aiter_sse():
                if event.data:
                    yield event.data

    def _refuse(self, message: RpcMessage, error: ProtocolError) -> None:
        if message.id is not None and message.method is not None:
            self._lines.write(encode_error(message.id, error))
        else:
            write_message(error.message)

    async def _close(self) -> None:
        tasks = [*self._tasks, *([self._events] if self._events is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._session:
            with suppress(httpx.HTTPError):  # the session expires by itself
                await self._http.delete(self._url, headers=self._session, timeout=_CLOSE_SECONDS)
        self._lines.close()


def _read_error(response: httpx.Response, body: bytes) -> ProtocolError | None:
    """Return the error of an HTTP response, or None if it is a JSON-RPC response that can be passed on unchanged."""
    try:
        value = parse_body(body)
    except ProtocolError:
        value = None
    if not isinstance(value, dict) or "jsonrpc" not in value:
        return ProtocolError(INTERNAL_ERROR, f"The server answered HTTP {response.status_code} without an MCP message")
    found = value.get("error")
    if not isinstance(found, dict):
        return None
    # The id may be null, if the server refused the request before it read the body.
    return ProtocolError(found.get("code", INTERNAL_ERROR), str(found.get("message", "")), found.get("data"))
