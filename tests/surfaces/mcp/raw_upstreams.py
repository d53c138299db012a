"""Imports of MCP servers that return the results in their files."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from tests.mcp_servers.run_servers import FOLDER
from tests.surfaces.mcp.rpc import RpcClient
from tests.surfaces.rest.clients import good

SECRET = "a-secret-of-the-upstream"
PROMPT: Mapping[str, Any] = {
    "name": "hello",
    "title": "Hello",
    "icons": [{"src": "x"}],
    "_meta": {"a/b": 1},
    "x-own": 2,
}
RESOURCE: Mapping[str, Any] = {"uri": "ui://own/view", "name": "view", "mimeType": "text/html", "_meta": {"a/b": 1}}
TEMPLATE: Mapping[str, Any] = {"uriTemplate": "note://{id}/text", "name": "note"}
CATALOG: Mapping[str, Any] = {
    "capabilities": {"prompts": {}, "resources": {}, "completions": {}},
    "prompts/list": {"prompts": [PROMPT]},
    "resources/list": {"resources": [RESOURCE]},
    "resources/templates/list": {"resourceTemplates": [TEMPLATE]},
    "prompts/get hello": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Hi"}}],
        "_meta": {"c/d": 1},
    },
    "resources/read ui://own/view": {"contents": [{"uri": "ui://own/view", "text": "<p>", "_meta": {"e": 1}}], "x": 1},
    "resources/read note://7/text": {"contents": [{"uri": "note://7/text", "text": "seven"}]},
    "completion/complete": {"completion": {"values": ["seven"], "hasMore": False}},
}


class Upstreams:
    """Servers that return the results in their files, and their imports."""

    def __init__(self, folder: Path, http: httpx.AsyncClient) -> None:
        self._folder = folder
        self.http = http
        self.report: dict[str, Any] = {}

    def make(self, name: str, results: Mapping[str, Any] | None = None) -> Path:
        """Write the file of a server with one tool, `NAME_tool`, and return it."""
        file = self._folder / f"{name}.json"
        tools = {"tools": [{"name": f"{name}_tool", "inputSchema": {"type": "object"}}]}
        file.write_text(json.dumps({"tools/list": tools, **CATALOG, **(results or {})}))
        return file

    def write(self, file: Path, results: Mapping[str, Any]) -> None:
        """Let the server of a file return something else from now on."""
        changed = file.with_suffix(".new")
        changed.write_text(json.dumps({**json.loads(file.read_text()), **results}))
        changed.rename(file)

    def command(self, file: Path) -> list[str]:
        """The command of a file's server."""
        return [sys.executable, str(FOLDER / "raw_server.py"), str(file)]

    async def take(self, stem: str, results: Mapping[str, Any] | None = None, prefix: str = "", **options: Any) -> Path:
        """Import a server with one tool, and return its file; the report is in `report`."""
        file = self.make(stem, results)
        await self.take_again(file, prefix=prefix, **options)
        return file

    async def take_again(self, file: Path, **options: Any) -> dict[str, Any]:
        """Import the server of a file."""
        given = {"command": self.command(file), "env": {"S": SECRET}, **options}
        self.report = good(await self.http.post("/v1/imports/mcp", json=given, timeout=60))
        return self.report

    async def show(self) -> dict[str, Any]:
        """Return the latest imported server, as the API shows it."""
        found: dict[str, Any] = good(await self.http.get(f"/v1/upstreams/{self.report['upstream_id']}"))
        return found


async def listed(rpc: RpcClient, method: str, member: str) -> list[dict[str, Any]]:
    """The entries of a list."""
    entries: list[dict[str, Any]] = (await rpc.result(method))[member]
    return entries
