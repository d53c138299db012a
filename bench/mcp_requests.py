"""Requests of MCP for the load generator, in both revisions."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import orjson

from bench.load import request
from bench.servers import ARGUMENTS

SESSION, STATELESS = "2025-11-25", "2026-07-28"
_ACCEPT = {"Accept": "application/json, text/event-stream"}
_META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": SESSION, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}


def build_stateless_call(tool: str, key: str | None) -> bytes:
    """Return a call in the revision without sessions."""
    params = {"name": tool, "arguments": ARGUMENTS, "_meta": _META}
    headers = {"Mcp-Name": tool}
    return _build_stateless("tools/call", params, key, headers)


def build_stateless_list(key: str | None) -> bytes:
    """Return a request for the list of tools in the revision without sessions."""
    return _build_stateless("tools/list", {"_meta": _META}, key, {})


def _build_stateless(method: str, params: Mapping[str, Any], key: str | None, headers: Mapping[str, str]) -> bytes:
    body = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    return request("/mcp", body, key, {**_ACCEPT, "MCP-Protocol-Version": STATELESS, "Mcp-Method": method, **headers})


class SessionConnection:
    """One connection with requests of one session, one after the other."""

    def __init__(self, port: int, key: str | None) -> None:
        self._port = port
        self._key = key
        self._session_id = ""

    async def open(self) -> SessionConnection:
        """Connect and initialize a session."""
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        body = orjson.dumps(_INITIALIZE)
        head = await self._exchange(request("/mcp", body, self._key, _ACCEPT), b"200")
        (line,) = (line for line in head.split(b"\r\n") if line.lower().startswith(b"mcp-session-id:"))
        self._session_id = line.partition(b":")[2].strip().decode()
        await self._send({"jsonrpc": "2.0", "method": "notifications/initialized"}, b"202")
        return self

    def build_call(self, tool: str) -> bytes:
        """Return a call in this session."""
        params = {"name": tool, "arguments": ARGUMENTS}
        return self._build({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})

    async def call(self, tool: str) -> None:
        """Call the tool; raise RuntimeError if the response is another one than expected."""
        await self._exchange(self.build_call(tool), b"200")

    async def end(self) -> None:
        """End the session, and disconnect."""
        message = self._build({}).replace(b"POST", b"DELETE", 1)
        await self._exchange(message, b"20")
        self.close()

    def close(self) -> None:
        """Disconnect without ending the session."""
        self._writer.close()

    def _build(self, message: Mapping[str, Any]) -> bytes:
        headers = {**_ACCEPT, "MCP-Protocol-Version": SESSION, "Mcp-Session-Id": self._session_id}
        return request("/mcp", orjson.dumps(message) if message else b"", self._key, headers)

    async def _send(self, message: Mapping[str, Any], status: bytes) -> None:
        await self._exchange(self._build(message), status)

    async def _exchange(self, message: bytes, status: bytes) -> bytes:
        self._writer.write(message)
        head = await self._reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 " + status):
            raise RuntimeError(f"the server answered {head.decode()}")
        fields = dict(line.lower().split(b": ", 1) for line in head[:-4].split(b"\r\n")[1:])
        if b"transfer-encoding" in fields:
            await self._reader.readuntil(b"\r\n0\r\n\r\n")
        else:
            await self._reader.readexactly(int(fields.get(b"content-length", 0)))
        return head
