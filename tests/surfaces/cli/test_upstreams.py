"""`pegboard upstreams` and the prompts and resources of `pegboard import mcp`."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import anyio.to_thread
import pytest

from pegboard import Pegboard
from tests.board_surfaces import KEY, served
from tests.surfaces.cli.run_program import Outcome, Program
from tests.surfaces.cli.test_import import Run
from tests.surfaces.mcp.raw_upstreams import PROMPT, Upstreams
from tests.surfaces.mcp.rpc import client_of


@pytest.fixture
async def url(board: Pegboard) -> AsyncIterator[str]:
    """The address of the board's server."""
    async with served(board) as address:
        yield address


@pytest.fixture
def run(url: str, tmp_path: Path) -> Run:
    """Runs the program as the board's admin while the board keeps running."""
    program = Program({"PEGBOARD_URL": url, "PEGBOARD_KEY": KEY, "PEGBOARD_HOME": str(tmp_path / "home")})

    async def runs(*words: str) -> Outcome:
        return await anyio.to_thread.run_sync(lambda: program.run(*words))

    return runs


@pytest.fixture
async def upstreams(url: str, tmp_path: Path) -> AsyncIterator[Upstreams]:
    """Servers to import."""
    async with client_of(url) as http:
        yield Upstreams(tmp_path, http)


async def test_a_server_is_imported_shown_accepted_and_removed(run: Run, upstreams: Upstreams) -> None:
    file = upstreams.make("one")
    command = ["--", *upstreams.command(file)]
    imported = (await run("import", "mcp", "--name", "notes", "--prefix", "my_", "--follow", *command)).done()
    assert imported.out.splitlines() == [
        "+ my_one_tool",
        "+ prompt hello",
        "+ resource ui://own/view",
        "+ resource template note://{id}/text",
    ]
    assert imported.err == "Imported: 1 created, 1 prompt, 1 resource, 1 resource template\n"
    listed = (await run("upstreams", "list")).done().out.splitlines()
    assert listed[0].split() == ["NAME", "ADDRESS", "PREFIX", "STATE", "TOOLS", "PROMPTS", "RESOURCES", "ID"]
    assert "notes" in listed[1]
    shown = (await run("upstreams", "show", "notes")).done().out
    assert "follows" in shown
    assert shown.splitlines()[2:] == [
        "tool my_one_tool",
        "prompt my_hello",
        "resource ui://own/view",
        "resource template note://{id}/text",
    ]
    upstreams.write(file, {"prompts/list": {"prompts": [{**PROMPT, "title": "Other"}]}})
    checked = (await run("upstreams", "check", "notes")).done()
    assert "! prompt hello changed upstream, refused until accepted" in checked.out
    assert checked.err.startswith("Would import: 1 unchanged")
    assert (await run("upstreams", "check", "notes", "--add")).done().err.startswith("Imported: ")
    again = (await run("import", "mcp", "--name", "notes", "--prefix", "my_", "--no-follow", *command)).done()
    assert "! prompt hello changed upstream, refused until accepted" in again.out
    assert "+title: Other" in again.out
    promised = (await run("upstreams", "accept", "notes", "--dry-run")).done()
    assert (promised.err, "+title: Other" in promised.out) == ("Nothing was changed\n", True)
    accepted = (await run("upstreams", "accept", "notes", "hello")).done()
    assert (accepted.out, accepted.err) == (promised.out, "accepted prompt hello\n")
    refused = await run("upstreams", "accept", "notes")
    assert (refused.code, "nothing to accept" in refused.err) == (1, True)
    kept = await run("upstreams", "remove", "notes")
    assert "--yes" in kept.err
    (await run("upstreams", "remove", "notes", "--tools", "--yes")).done()
    assert (await run("upstreams", "list")).done().err == "No imported MCP servers.\n"
    assert "my_one_tool" not in (await run("tools", "list")).done().out


async def test_an_unknown_server_is_named_and_json_is_that_of_the_api(run: Run, upstreams: Upstreams) -> None:
    missing = await run("upstreams", "show", "nothing")
    assert (missing.code, "Upstream 'nothing' not found" in missing.err) == (1, True)
    await upstreams.take("one", {"capabilities": {"tools": None, "prompts": {}}})
    shown = await upstreams.show()
    found = json.loads((await run("upstreams", "list", "--json")).done().out)["items"]
    assert [item["id"] for item in found] == [shown["id"]]
    assert found[0]["counts"] == shown["counts"]
    assert (await run("upstreams", "show", shown["id"], "--json")).done().json["prompts"] == shown["prompts"]


async def test_the_servers_of_http_tools_and_the_tools_of_a_secret_are_listed(run: Run, board: Pegboard) -> None:
    assert (await run("upstreams", "origins")).done().err == "No HTTP tools.\n"
    config = {"url": "https://api.example/x", "method": "GET", "headers": {"X-Key": "{{secret:KEY}}"}}
    await board.add({"name": "fetch", "tool_type": "http", "config": config, "input_schema": {"type": "object"}})
    await board.secrets.put("KEY", "x", board.admin)
    heading, row = (await run("upstreams", "origins")).done().out.splitlines()
    assert heading.split() == ["ORIGIN", "TOOLS", "CIRCUIT", "LAST", "FAILURE", "CODE"]
    assert row.split()[:3] == ["https://api.example:443", "1", "closed"]
    assert (await run("secrets", "list")).done().out.splitlines()[1].endswith("  fetch")


async def test_a_server_without_tools_is_imported_from_a_clients_file(
    run: Run, upstreams: Upstreams, tmp_path: Path
) -> None:
    command = upstreams.command(upstreams.make("one", {"capabilities": {"tools": None, "prompts": {}}}))
    servers = tmp_path / "mcp.json"
    servers.write_text(json.dumps({"mcpServers": {"notes": {"command": command[0], "args": command[1:]}}}))
    assert (await run("import", "mcp", str(servers))).done().out == "+ notes: 1 prompt\n"
