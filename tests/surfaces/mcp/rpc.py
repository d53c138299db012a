"""Raw MCP requests over HTTP, in both revisions."""

from __future__ import annotations

import base64
import json
import ssl
from collections.abc import Mapping
from typing import Any

import httpx

from tests.board_surfaces import KEY

SESSION, STATELESS = "2025-11-25", "2026-07-28"
REVISIONS = (SESSION, STATELESS)
META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientCapabilities": {},
}
ACCEPT = "application/json, text/event-stream"
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class RpcClient:
    """A client of one revision, which sends messages unchanged."""

    def __init__(self, http: httpx.AsyncClient, revision: str, path: str = "/mcp") -> None:
        self.http = http
        self.revision = revision
        self.path = path
        self.session_id: str | None = None

    @property
    def is_stateless(self) -> bool:
        """True for the revision without sessions."""
        return self.revision == STATELESS

    async def start(self) -> None:
        """Initialize a session, if the revision has them."""
        if self.is_stateless:
            return
        params = {"protocolVersion": SESSION, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        reply = await self.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        assert reply.status_code == 200, reply.text
        self.session_id = reply.headers["mcp-session-id"]
        assert (await self.notify("notifications/initialized")).status_code == 202

    def message(self, method: str, params: Mapping[str, Any] | None = None, id: Any = 1) -> dict[str, Any]:
        """A request."""
        given = dict(params or {})
        if self.is_stateless:
            given["_meta"] = {**META, **given.get("_meta", {})}
        return {"jsonrpc": "2.0", "id": id, "method": method, "params": given}

    def headers(self, message: Any = None) -> dict[str, str]:
        """The headers that belong to a message."""
        headers = {"Accept": ACCEPT, "Content-Type": "application/json"}
        if self.session_id is not None:
            headers |= {"Mcp-Session-Id": self.session_id, "MCP-Protocol-Version": SESSION}
        if self.is_stateless:
            headers["MCP-Protocol-Version"] = STATELESS
            method = message.get("method") if isinstance(message, dict) else None
            if isinstance(method, str):
                headers["Mcp-Method"] = method
                params = message.get("params")
                value = params.get(NAMED_BY.get(method, "")) if isinstance(params, dict) else None
                if isinstance(value, str):
                    headers["Mcp-Name"] = value if value.isascii() else encoded(value)
        return headers

    async def post(self, message: Any, **headers: str | None) -> httpx.Response:
        """Return the response to a message; `headers` replace its own, and None omits one."""
        given: dict[str, str | None] = {**self.headers(message)}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {name: value for name, value in given.items() if value is not None}
        return await self.http.post(self.path, content=json.dumps(message).encode(), headers=sent)

    async def raw(self, body: bytes, **headers: str | None) -> httpx.Response:
        """The response to a body that need not be a message."""
        given: dict[str, str | None] = {**self.headers(self.message("tools/list"))}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {name: value for name, value in given.items() if value is not None}
        return await self.http.post(self.path, content=body, headers=sent)

    async def send(self, method: str, params: Mapping[str, Any] | None = None, id: Any = 1) -> httpx.Response:
        """The response to a request."""
        return await self.post(self.message(method, params, id))

    async def notify(self, method: str, params: Mapping[str, Any] | None = None) -> httpx.Response:
        """The response to a notification."""
        return await self.post({"jsonrpc": "2.0", "method": method, "params": dict(params or {})})

    async def result(self, method: str, params: Mapping[str, Any] | None = None, id: Any = 1) -> dict[str, Any]:
        """The result of a request that must succeed."""
        reply = await self.send(method, params, id)
        assert reply.status_code == 200, reply.text
        body = reply.json()
        assert body["jsonrpc"] == "2.0"
        assert body["id"] == id
        assert type(body["id"]) is type(id)
        result: dict[str, Any] = body["result"]
        return result

    async def call(self, name: str, arguments: Mapping[str, Any] | None = None, **params: Any) -> dict[str, Any]:
        """The result of a call."""
        return await self.result("tools/call", {"name": name, "arguments": dict(arguments or {}), **params})

    async def check_alive(self) -> None:
        """The server answers the next request."""
        assert "tools" in await self.result("tools/list")


def encoded(value: str) -> str:
    """A header value in base64 form."""
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="


def error(reply: httpx.Response, status: int, code: int, id: Any = 1) -> dict[str, Any]:
    """The JSON-RPC error of a response."""
    assert reply.status_code == status, (reply.status_code, reply.text)
    body = reply.json()
    assert body["jsonrpc"] == "2.0"
    assert body["id"] == id
    assert body["error"]["code"] == code, body
    assert body["error"]["message"]
    found: dict[str, Any] = body["error"]
    return found


def client_of(url: str, key: str | None = KEY) -> httpx.AsyncClient:
    """An HTTP client of the server at this URL."""
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    # Without TLS, an empty trust store saves the time to load the real one.
    trusted = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return httpx.AsyncClient(base_url=url, headers=headers, timeout=20, verify=trusted, trust_env=False)
