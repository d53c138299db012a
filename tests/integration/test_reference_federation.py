"""The official reference servers, imported into a board, as the official MCP client uses them through it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from pegboard import Pegboard
from pegboard.testing import memory_board
from tests.board_surfaces import KEY, served
from tests.surfaces.mcp.rpc import client_of
from tests.surfaces.rest.clients import good

pytestmark = pytest.mark.anyio
BIN = Path(sys.executable).parent
EVERYTHING = BIN.parent / "reference/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
MODES = ("legacy", "auto")
STATIC = "demo://resource/static/document/architecture.md"


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    """A fresh board in memory."""
    async with memory_board(admin_key=KEY, drain_seconds=2, egress_allow="127.0.0.0/8") as fresh:
        yield fresh


@pytest.fixture
async def url(board: Pegboard) -> AsyncIterator[str]:
    """The address of the board's server."""
    async with served(board) as address:
        yield address


@pytest.fixture
async def admin(url: str) -> AsyncIterator[httpx.AsyncClient]:
    """The admin of the board, over HTTP."""
    async with client_of(url) as http:
        yield http


async def take(admin: httpx.AsyncClient, *command: str, **more: Any) -> list[str]:
    """Import a server, and return the names of its tools."""
    report = good(await admin.post("/v1/imports/mcp", json={"command": list(command), **more}, timeout=60))
    created: list[str] = report["created"]
    return created


@asynccontextmanager
async def connected(url: str, mode: str, callbacks: Mapping[str, Any]) -> AsyncIterator[Client]:
    """The official client."""
    http = httpx2.AsyncClient(timeout=60, headers={"Authorization": f"Bearer {KEY}"})
    transport = streamable_http_client(f"{url}/mcp", http_client=http)
    async with http, Client(transport, mode=mode, **callbacks) as client:
        yield client


class Answers:
    """The responses of a client, and the requests that it received."""

    def __init__(self) -> None:
        self.logged: asyncio.Queue[Any] = asyncio.Queue()
        self.messages: asyncio.Queue[Any] = asyncio.Queue()
        self.callbacks: dict[str, Any] = {
            "elicitation_callback": self.elicit,
            "sampling_callback": self.sample,
            "list_roots_callback": self.list_roots,
            "logging_callback": self.log,
            "message_handler": self.receive,
        }

    async def elicit(self, _context: Any, params: Any) -> types.ElicitResult:
        """Give a name."""
        assert "name" in params.requested_schema["properties"]
        return types.ElicitResult(action="accept", content={"name": "Ann"})

    async def sample(self, _context: Any, _params: Any) -> types.CreateMessageResult:
        """Give a text."""
        content = types.TextContent(text="sampled text")
        return types.CreateMessageResult(role="assistant", content=content, model="m1")

    async def list_roots(self, _context: Any) -> types.ListRootsResult:
        """Return one root."""
        return types.ListRootsResult(roots=[types.Root.model_validate({"uri": "file:///work", "name": "work"})])

    async def log(self, params: Any) -> None:
        """Keep a log message."""
        self.logged.put_nowait(params)

    async def receive(self, message: Any) -> None:
        """Keep a notification."""
        self.messages.put_nowait(message)


def text_of(result: Any) -> str:
    """All text of a result."""
    assert not result.is_error, result
    return "\n".join(block.text for block in result.content if block.type == "text")


@pytest.mark.parametrize("mode", MODES)
async def test_everything_passes_tools_prompts_resources_and_progress(
    admin: httpx.AsyncClient, url: str, mode: str
) -> None:
    names = await take(admin, str(BIN / "node"), str(EVERYTHING), "stdio", prefix="all_")
    # The server offers these only to clients with the capabilities.
    assert {"all_trigger-elicitation-request", "all_trigger-sampling-request", "all_get-roots-list"} <= set(names)
    seen: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    async with connected(url, mode, {}) as client:
        assert "Echo: hi" in text_of(await client.call_tool("all_echo", {"message": "hi"}))
        arguments = {"duration": 0.2, "steps": 4}
        await client.call_tool("all_trigger-long-running-operation", arguments, progress_callback=on_progress)
        assert seen[:3] == [1, 2, 3]
        prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
        assert "all_simple-prompt" in prompts
        prompt = await client.get_prompt("all_args-prompt", {"city": "Paris"})
        assert "Paris" in prompt.messages[0].content.model_dump()["text"]
        assert STATIC in {str(resource.uri) for resource in (await client.list_resources()).resources}
        assert (await client.read_resource(STATIC)).contents
        dynamic = await client.read_resource("demo://resource/dynamic/text/3")
        assert "3" in dynamic.contents[0].model_dump()["text"]
        reference = types.PromptReference(name="all_completable-prompt")
        completed = await client.complete(reference, {"name": "department", "value": "E"})
        assert completed.completion.values == ["Engineering"]
        refused = await client.call_tool("all_trigger-elicitation-request", {})
        assert refused.is_error


async def test_everything_asks_the_client_of_a_session(admin: httpx.AsyncClient, url: str) -> None:
    await take(admin, str(BIN / "node"), str(EVERYTHING), "stdio")
    answers = Answers()
    async with connected(url, "legacy", answers.callbacks) as client:
        assert "Name: Ann" in text_of(await client.call_tool("trigger-elicitation-request", {}))
        sampled = await client.call_tool("trigger-sampling-request", {"prompt": "Say it", "maxTokens": 10})
        assert "sampled text" in text_of(sampled)
        assert "file:///work" in text_of(await client.call_tool("get-roots-list", {}))
    rows = good(await admin.get("/v1/executions"))["items"]
    assert [row["status"] for row in rows] == ["succeeded"] * 3


async def test_everything_reports_log_messages_and_updates_to_a_session(admin: httpx.AsyncClient, url: str) -> None:
    await take(admin, str(BIN / "node"), str(EVERYTHING), "stdio")
    answers = Answers()
    async with connected(url, "legacy", answers.callbacks) as client:
        level = types.SetLevelRequest(params=types.SetLevelRequestParams(level="debug"))
        await client.session.send_request(level, types.EmptyResult)
        subscribing = types.SubscribeRequest(params=types.SubscribeRequestParams(uri=STATIC))
        await client.session.send_request(subscribing, types.EmptyResult)
        await client.call_tool("toggle-subscriber-updates", {})
        async with asyncio.timeout(20):
            while not isinstance(message := await answers.messages.get(), types.ResourceUpdatedNotification):
                pass
        assert str(message.params.uri) == STATIC
        await client.call_tool("toggle-simulated-logging", {})
        async with asyncio.timeout(20):
            assert "level" in (await answers.logged.get()).model_dump()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with an untracked file."""
    subprocess.run(["git", "init", "-b", "main"], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "new.txt").write_text("hello")
    return tmp_path


@pytest.mark.parametrize("mode", MODES)
async def test_time_and_git_pass_their_results(admin: httpx.AsyncClient, url: str, mode: str, repository: Path) -> None:
    await take(admin, str(BIN / "mcp-server-time"), "--local-timezone", "Europe/Berlin")
    where = str(repository)
    await take(admin, str(BIN / "mcp-server-git"), "--repository", where, working_dir=where)
    async with connected(url, mode, {}) as client:
        assert "+09:00" in text_of(await client.call_tool("get_current_time", {"timezone": "Asia/Tokyo"}))
        assert (await client.call_tool("get_current_time", {"timezone": "Nowhere/Land"})).is_error
        assert "new.txt" in text_of(await client.call_tool("git_status", {"repo_path": where}))
