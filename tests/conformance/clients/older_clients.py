"""Clients of the SDK before version 2, in the environment of requirements/clients.txt: LangChain and OpenAI Agents."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread
import httpx

from tests.surfaces.cli.run_program import Program
from tests.surfaces.rest.clients import good, mock

_PYTHON = Path(sys.prefix) / "clients-python/bin/python"
_PROGRAM = Path(__file__).with_name("older_program.py")
_CLIENTS = ("langchain", "openai-agents")
_CALLS = 50
# Longer than any refusal takes, and shorter than the timeout of any client.
_REFUSAL_SECONDS = 20.0
_SECONDS = 120


async def check_older_clients(url: str, key: str, http: httpx.AsyncClient) -> list[str]:
    """Return what the clients did otherwise than expected on this server; `http` is its admin."""
    faults = []
    for client in _CLIENTS:
        try:
            await _check_client(client, url, key, http)
            await _check_scripts(client, url, key)
        except (AssertionError, RuntimeError) as error:
            faults.append(f"{client}: {error}")
    return faults


async def _check_client(client: str, url: str, key: str, http: httpx.AsyncClient) -> None:
    since = datetime.now(UTC)
    used = await _use(client, f"{url}/mcp", key)
    assert used["results"] == [number + 1 for number in range(_CALLS)], used["results"]
    assert "division" in used["failure"].lower(), used["failure"]
    assert await _count_rows(http, since) == _CALLS + 1, "not one row for each call"
    added, agent = f"added_for_{client.replace('-', '_')}", f"agent of {client}"
    assert added not in used["tools"], "the tool exists already"
    good(await http.post("/v1/tools", json=mock(added)), 201)
    good(await http.post("/v1/agents", json={"name": agent, "tools": [added]}), 201)
    assert added in (await _use(client, f"{url}/mcp", key))["tools"], "a tool that was added is not listed"
    assert (await _use(client, f"{url}/agents/{agent.replace(' ', '%20')}/mcp", key)) == {"tools": [added]}
    began = time.monotonic()
    code, _, errors = await _run(_PROGRAM.read_text(), "wrong", client, f"{url}/mcp")
    assert code != 0, "a wrong key is accepted"
    assert "401" in errors, errors[-2000:]
    assert time.monotonic() - began < _REFUSAL_SECONDS, "a wrong key is refused too late"


async def _check_scripts(client: str, url: str, key: str) -> None:
    """The printed configurations list the tools over both transports."""
    for transport in ("http", "stdio"):
        words = ("mcp", "config", client, "--transport", transport, "--url", url)
        printed = await anyio.to_thread.run_sync(partial(Program().run, *words))
        code, output, errors = await _run(printed.done().out, key)
        assert code == 0, errors[-2000:]
        assert "math_eval" in output.split(), f"{transport}: {output}"


async def _use(client: str, url: str, key: str) -> dict[str, Any]:
    code, output, errors = await _run(_PROGRAM.read_text(), key, client, url)
    if code != 0:
        raise RuntimeError(errors[-2000:])
    used: dict[str, Any] = json.loads(output)
    return used


async def _run(script: str, key: str, *words: str) -> tuple[int, str, str]:
    """Run a script in the environment of these clients; return its exit code, its output and its errors."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PEGBOARD_")}
    process = await asyncio.create_subprocess_exec(
        _PYTHON,
        *("-c", script, *words),
        env={**clean, "PEGBOARD_KEY": key},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(_SECONDS):
            output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode is not None
    return process.returncode, output.decode(), errors.decode()


async def _count_rows(http: httpx.AsyncClient, since: datetime) -> int:
    params: dict[str, Any] = {"surface": "mcp", "since": since.isoformat(), "limit": 200}
    return len(good(await http.get("/v1/executions", params=params))["items"])
