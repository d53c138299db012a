"""Run the MCP inspector and clients of the SDK before version 2 against a server: a part of `make conformance`."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any

import httpx

from tests.api_documents import STYLES, document, large
from tests.conformance.clients.inspector import check_inspector
from tests.conformance.clients.older_clients import check_older_clients
from tests.surfaces.cli.run_program import serving
from tests.surfaces.mcp.rpc import client_of
from tests.surfaces.rest.clients import good
from tests.upstreams import upstream

_OPERATIONS = 100


async def main() -> int:
    """Return the exit code: 0 if every client worked as expected."""
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "pegboard.toml").write_text('egress_allow = "127.0.0.1"\n')
        with serving(home, "--demo") as url:
            key = (home / "credentials").read_text().strip()
            async with upstream() as server, client_of(url, key) as http:
                wanted = await _add_tools(http, server.url)
                faults += await check_inspector(f"{url}/mcp", key, wanted)
                faults += await check_older_clients(url, key, http)
    for fault in faults:
        sys.stdout.write(f"{fault}\n")
    sys.stdout.write("clients: failed\n" if faults else "clients: every one worked\n")
    return 1 if faults else 0


async def _add_tools(http: httpx.AsyncClient, upstream_url: str) -> set[str]:
    """Import two API documents; return the names of tools that are listed then."""
    await _import(http, document(), upstream_url)
    await _import(http, large(_OPERATIONS), upstream_url)
    return {"echo", "get_weather", "create_ticket", "rsi_signal", "res1_post", *(case.name for case in STYLES)}


async def _import(http: httpx.AsyncClient, described: dict[str, Any], upstream_url: str) -> None:
    body = {"document": described, "server_url": upstream_url}
    good(await http.post("/v1/imports/openapi", json=body, timeout=60))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
