"""The official reference servers, as published: imported, and called."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from pegboard.http_client.address_policy import AllowList
from pegboard.http_client.guarded_client import GuardedClient
from pegboard.kinds.mcp.session_pool import McpSessionPool
from pegboard.kinds.mcp.tool_result import read_output
from pegboard.kinds.mcp.upstream import Upstream
from pegboard.model.call import Progress
from pegboard.model.call_errors import ExecutionFailed, UpstreamUnreachable
from tests.waiting import until

BIN = Path(sys.executable).parent
EVERYTHING = BIN.parent / "reference/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
NODE = str(BIN / "node")


@pytest.fixture
async def upstreams() -> AsyncIterator[McpSessionPool]:
    """A pool with the board's defaults."""
    outbound = GuardedClient(AllowList.read("127.0.0.0/8"), connect_seconds=10)
    made = McpSessionPool(outbound, children=4, child_memory=2 * 2**30, max_bytes=10 * 2**20, connect_seconds=30)
    yield made
    await made.close()
    await outbound.close()


class Everything:
    """The reference server over HTTP, on a port that is the same after a restart."""

    def __init__(self, port: int) -> None:
        self.upstream = Upstream(f"http://127.0.0.1:{port}/mcp", None)
        self._environment = {**os.environ, "PORT": str(port)}
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        command = [NODE, str(EVERYTHING), "streamableHttp"]
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(
            command, env=self._environment, stdout=quiet, stderr=quiet, start_new_session=True
        )
        give_up = time.monotonic() + 30
        while time.monotonic() < give_up:
            try:
                httpx.get(str(self.upstream.server_url), trust_env=False)
            except httpx.TransportError:
                time.sleep(0.02)
            else:
                return
        raise RuntimeError("server-everything did not start")

    def stop(self) -> None:
        """Kill the server."""
        if self._process is not None:
            # Node is a child of the program with this name.
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


@pytest.fixture
def everything_over_http(unused_tcp_port: int) -> Iterator[Everything]:
    """The reference server, listening."""
    server = Everything(unused_tcp_port)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def unused_tcp_port() -> int:
    """A port that no process listens on."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port: int = unused.getsockname()[1]
        return port


@pytest.fixture(params=["stdio", "http"])
def everything(request: pytest.FixtureRequest) -> Upstream:
    """The reference server, as a command and over HTTP."""
    if request.param == "stdio":
        return Upstream(None, (NODE, str(EVERYTHING), "stdio"))
    server: Everything = request.getfixturevalue("everything_over_http")
    return server.upstream


async def call(upstreams: McpSessionPool, upstream: Upstream, tool: str, **arguments: Any) -> Any:
    """Call the imported tool and return its output."""
    found = {each.name: each for each in await upstreams.tools(upstream)}[tool]
    answer = await upstreams.call(upstream, tool, arguments, pinned=found.digest)
    return read_output(answer, has_output_schema=found.output_schema is not None)


async def test_time(upstreams: McpSessionPool) -> None:
    server = Upstream(None, (str(BIN / "mcp-server-time"), "--local-timezone", "Europe/Berlin"))
    tools = {tool.name: tool for tool in await upstreams.tools(server)}
    assert set(tools) == {"get_current_time", "convert_time"}
    assert tools["get_current_time"].input_schema["required"] == ["timezone"]
    now = await call(upstreams, server, "get_current_time", timezone="Asia/Tokyo")
    assert now["timezone"] == "Asia/Tokyo"
    assert now["datetime"].endswith("+09:00")
    with pytest.raises(ExecutionFailed, match="Nowhere"):
        await call(upstreams, server, "get_current_time", timezone="Nowhere/Land")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit and an untracked file."""
    author = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for command in (("init", "-b", "main"), (*author, "commit", "--allow-empty", "-m", "begin")):
        subprocess.run(["git", *command], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "new.txt").write_text("hello")
    return tmp_path


async def test_git(upstreams: McpSessionPool, repository: Path) -> None:
    where = str(repository)
    server = Upstream(None, (str(BIN / "mcp-server-git"), "--repository", where), working_dir=where)
    names = {tool.name for tool in await upstreams.tools(server)}
    assert {"git_status", "git_add", "git_commit", "git_log"} <= names
    assert "new.txt" in await call(upstreams, server, "git_status", repo_path=where)
    await call(upstreams, server, "git_add", repo_path=where, files=["new.txt"])
    assert "begin" in str(await call(upstreams, server, "git_log", repo_path=where, max_count=5))


async def test_everything(everything: Upstream, upstreams: McpSessionPool) -> None:
    tools = {tool.name: tool for tool in await upstreams.tools(everything)}
    assert {"echo", "get-sum", "get-tiny-image", "get-structured-content"} <= set(tools)
    assert await call(upstreams, everything, "echo", message="grüß dich") == "Echo: grüß dich"
    assert "5" in await call(upstreams, everything, "get-sum", a=2, b=3)
    image = await call(upstreams, everything, "get-tiny-image")
    assert [block["type"] for block in image["content"]] == ["text", "image", "text"]
    assert image["content"][1]["mimeType"] == "image/png"
    weather = await call(upstreams, everything, "get-structured-content", location="New York")
    assert set(weather) >= {"temperature", "conditions"}
    links = await call(upstreams, everything, "get-resource-links", count=2)
    assert [block["type"] for block in links["content"]].count("resource_link") == 2
    resource = await call(upstreams, everything, "get-resource-reference", resourceType="Text", resourceId=1)
    assert "resource" in [block["type"] for block in resource["content"]]


async def test_progress_of_a_long_call(everything: Upstream, upstreams: McpSessionPool) -> None:
    received: list[Progress] = []
    arguments = {"duration": 0.2, "steps": 4}
    await upstreams.call(everything, "trigger-long-running-operation", arguments, on_progress=received.append)
    assert [each.progress for each in received][:3] == [1, 2, 3]


async def test_a_restarted_server_gets_the_next_call(
    everything_over_http: Everything, upstreams: McpSessionPool
) -> None:
    upstream = everything_over_http.upstream
    assert await call(upstreams, upstream, "echo", message="a") == "Echo: a"
    everything_over_http.stop()
    with pytest.raises(UpstreamUnreachable):
        await upstreams.call(upstream, "echo", {"message": "b"})
    everything_over_http.start()

    async def back() -> Any:
        return await call(upstreams, upstream, "echo", message="c")

    assert await until(back) == "Echo: c"
