"""Servers and requests from which nothing can be imported: each gets a clear error in time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
import pytest

import pegboard.kinds.mcp.importer as importing
from pegboard import Pegboard
from pegboard.model.api_errors import Forbidden, Invalid
from pegboard.model.call import Caller
from pegboard.model.call_errors import ToolError, UpstreamFailed, UpstreamUnreachable
from pegboard.testing import NoSettings, member, memory_board
from tests.mcp_servers.processes import matching
from tests.unit.kinds.mcp.changeable_server import ChangeableServer, changeable_server, odd, tool
from tests.upstreams import Behaviour, Received, Wire, answer, answer_json, early_close, hang, reset, upstream
from tests.waiting import until


async def lie(got: Received, wire: Wire) -> None:
    """Answer with an invalid list."""
    await answer_json({"jsonrpc": "2.0", "id": json.loads(got.body)["id"], "result": {"tools": "many"}})(got, wire)


async def test_a_member_starts_no_commands(board: Pegboard, tmp_path: Path) -> None:
    mark = f"mark-{tmp_path.name}"
    with pytest.raises(Forbidden, match="admins"):
        await board.imports.mcp(await member(board), command=odd("notes", str(tmp_path / "notes"), mark))
    with pytest.raises(Forbidden, match="agent"):
        await board.imports.mcp(Caller(board.admin.user_id, "a", "admin", agent_id="x"), command=odd("notes", mark))
    assert matching(mark) == set()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "server_url is required"),
        ({"server_url": "https://x.example", "command": ["x"]}, "server_url is required"),
        ({"server_url": "ws://x.example"}, "server_url must start with http"),
        ({"server_url": "https://u:hunter2@x.example"}, "may not hold a user or password"),
        ({"server_url": "http://10.0.0.1/mcp"}, "server_url: Tools may not reach '10.0.0.1'"),
        ({"server_url": "https://x.example", "env": {"A": "b"}}, "env and working_dir are for a command"),
        ({"server_url": "https://x.example", "headers": {"A": "b\r\nc"}}, "line break"),
        ({"server_url": "https://x.example", "headers": {"Host": "b"}}, "written by the board itself"),
        ({"server_url": "https://x.example", "prefix": "a b"}, "prefix: "),
        ({"server_url": "https://x.example", "auth_config": {"type": "basic"}}, "auth_config: "),
        ({"command": ["x"], "auth_config": {"type": "bearer", "token": "t"}}, "through env"),
        ({"server_url": "https://x.example/{{secret:NOPE}}"}, "Secret 'NOPE' does not exist"),
    ],
)
async def test_what_makes_no_sense_is_refused_with_the_reason(
    board: Pegboard, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(Invalid) as refused:
        await board.imports.mcp(board.admin, **given)
    assert message in refused.value.message
    assert "hunter2" not in refused.value.message


async def test_a_board_that_starts_no_commands_says_so() -> None:
    async with memory_board(mcp_children=0) as board:
        with pytest.raises(Invalid, match="PEGBOARD_MCP_CHILDREN is 0"):
            await board.imports.mcp(board.admin, command=odd("fine"))


@pytest.mark.parametrize(
    ("instead", "kind", "message"),
    [
        ({"initialize": answer(401, "who are you?")}, UpstreamFailed, "401"),
        ({"initialize": answer(404)}, UpstreamFailed, "404"),
        ({"initialize": answer(200, "<html>", Content_Type="text/html")}, UpstreamFailed, ""),
        ({"tools/list": answer(500, "oops")}, UpstreamFailed, "500"),
        ({"tools/list": reset}, UpstreamUnreachable, "127.0.0.1"),
        ({"tools/list": early_close}, UpstreamUnreachable, "127.0.0.1"),
        ({"tools/list": lie}, UpstreamFailed, "did not list its tools as MCP requires"),
    ],
)
async def test_a_server_that_cannot_list_its_tools_ends_in_a_clear_error(
    instead: dict[str, Behaviour], kind: type[ToolError], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with changeable_server(tool("say")) as server, memory_board(egress_allow="127.0.0.1") as board:
        await _warm(board, server)
        monkeypatch.setattr(importing, "LIST_SECONDS", 2.0)
        server.instead.update(instead)
        with pytest.raises(kind) as failed, anyio.fail_after(20):
            await board.imports.mcp(board.admin, server_url=server.url)
        assert message in failed.value.message
        server.instead.clear()

        async def healed() -> Any:
            try:
                return await board.imports.mcp(board.admin, server_url=server.url)
            except ToolError:
                return None

        assert (await until(healed)).created == ["say"]


@pytest.mark.parametrize("method", ["initialize", "tools/list"])
async def test_a_server_that_says_nothing_is_given_up(
    board: Pegboard, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with changeable_server(tool("say")) as server:
        await _warm(board, server)
        monkeypatch.setattr(importing, "LIST_SECONDS", 0.5)
        server.instead[method] = hang
        with pytest.raises(UpstreamUnreachable, match=r"did not list its tools within 0\.5 s"), anyio.fail_after(20):
            await board.imports.mcp(board.admin, server_url=server.url)


async def _warm(board: Pegboard, server: ChangeableServer) -> None:
    """Load the SDK, which takes a while."""
    await board.imports.mcp(board.admin, server_url=f"{server.url}/warm", dry_run=True)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("exit-at-once", "no key for ********"),
        ("hang", "within"),
        ("hang-list", "within"),
        ("liar", "did not list its tools as MCP requires"),
        ("many", "10,000"),
        ("pages", "100 pages"),
    ],
)
async def test_a_command_that_cannot_list_its_tools_ends_and_leaves_nothing(
    how: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "LIST_SECONDS", 20.0 if "within" not in message else 2.0)
    mark = f"mark-{uuid4()}"
    async with memory_board() as board:
        with pytest.raises(UpstreamFailed) as failed, anyio.fail_after(30):
            await board.imports.mcp(board.admin, command=odd(how, mark), env={"SERVICE_KEY": "swordfish"})
        assert message in failed.value.message
        assert "swordfish" not in failed.value.message
    assert matching(mark) == set()
    with pytest.raises(UpstreamFailed):
        async with memory_board() as board:
            await board.imports.mcp(board.admin, command=["/no/such/program"])


async def test_the_time_that_a_command_has_to_start_is_a_setting() -> None:
    async with memory_board(mcp_connect_seconds=1) as board:
        with pytest.raises(ToolError, match="did not answer initialize within 1 s"), anyio.fail_after(30):
            await board.imports.mcp(board.admin, command=odd("hang", f"mark-{uuid4()}"))


async def test_a_name_that_leads_to_a_private_address_is_refused() -> None:
    async def resolver(_host: str, _port: int) -> Sequence[str]:
        return ["192.168.7.7"]

    async with Pegboard.open("memory", settings=NoSettings(), resolver=resolver) as board:
        with pytest.raises(Invalid, match="PEGBOARD_EGRESS_ALLOW"), anyio.fail_after(20):
            await board.imports.mcp(board.admin, server_url="http://mcp.example.com/mcp")


@pytest.mark.parametrize(
    "behaviour",
    [
        answer_json({"status": "ok", "items": [1, 2, 3]}),
        answer_json(["a", "list"]),
        answer(200, "<html>Hello</html>", Content_Type="text/html"),
        answer(200, "not json", Content_Type="application/json"),
        answer(204),
    ],
)
async def test_what_is_no_mcp_server_is_named_so_in_one_sentence(board: Pegboard, behaviour: Behaviour) -> None:
    async with upstream(behaviour) as server:
        with pytest.raises(UpstreamFailed) as refused:
            await board.imports.mcp(board.admin, server_url=f"{server.url}/x")
    assert f"{server.url} is not an MCP server: HTTP 20" in refused.value.message
    assert len(refused.value.message) < 300
    assert "validation error" not in refused.value.message


@pytest.mark.parametrize(("path", "hinted"), [("/sse", True), ("/a/sse/", True), ("/other", False)])
async def test_the_url_of_the_older_transport_is_recognised(board: Pegboard, path: str, hinted: bool) -> None:
    async with upstream(answer(404, "Error Cannot POST")) as server:
        with pytest.raises(UpstreamFailed) as refused:
            await board.imports.mcp(board.admin, server_url=server.url + path)
    assert "404 Not Found: Error Cannot POST" in refused.value.message
    assert ("the older SSE transport, which is not supported; try " in refused.value.message) is hinted
    assert (f"try {path.partition('/sse')[0]}/mcp" in refused.value.message) is hinted
