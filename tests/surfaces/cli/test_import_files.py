"""`pegboard import mcp FILE`: the servers in the files of other MCP clients."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest

from pegboard import Pegboard
from pegboard.surfaces.cli.exit_codes import UsageError
from pegboard.surfaces.cli.mcp_server_files import FileServer, is_server_file, read_server_file
from pegboard.testing import memory_board
from tests.board_surfaces import KEY, served
from tests.surfaces.cli.run_program import Outcome, Program
from tests.unit.kinds.mcp.changeable_server import changeable_server, odd, tool

Run = Callable[..., Awaitable[Outcome]]
SECRET = "a-value-that-stays-hidden"


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    """A fresh board in memory that may reach loopback."""
    async with memory_board(admin_key=KEY, drain_seconds=2, egress_allow="127.0.0.1") as fresh:
        yield fresh


@pytest.fixture
async def run(board: Pegboard, tmp_path: Path) -> AsyncIterator[Run]:
    """Runs the program as the board's admin while the board serves."""
    async with served(board) as url:
        program = Program({"PEGBOARD_URL": url, "PEGBOARD_KEY": KEY, "PEGBOARD_HOME": str(tmp_path / "home")})

        async def runs(*words: str, **more: str) -> Outcome:
            return await anyio.to_thread.run_sync(lambda: program.run(*words, **more))

        yield runs


def write_file(folder: Path, data: Any, name: str = "mcp.json") -> str:
    """A file with the data."""
    path = folder / name
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return str(path)


def read(folder: Path, entry: Any, **environment: str) -> FileServer:
    """The server of a file with this entry."""
    (server,) = read_server_file(write_file(folder, {"mcpServers": {"it": entry}}), environment)
    return server


async def test_each_server_is_imported_and_gets_a_line(run: Run, tmp_path: Path) -> None:
    async with changeable_server(tool("say"), tool("look")) as running_server:
        servers = {
            "over http": {"url": running_server.url, "headers": {"X-Api-Key": SECRET, "X-Team": "blue"}},
            "broken": {"command": "/no/such/program"},
            "paused": {"command": "x", "disabled": True},
            "empty": {},
            "local": {"command": odd("fine")[0], "args": odd("fine")[1:], "env": {"MY_TOKEN": SECRET, "LANG": "C"}},
        }
        file = write_file(tmp_path, {"mcpServers": servers})
        ran = await run("import", "mcp", file, "--prefix", "my_")
        assert ran.code == 1
        lines = ran.out.splitlines()
        assert lines[0] == "+ over http: 2 created; secrets: over_http.X-Api-Key"
        assert lines[1].startswith("! broken: The MCP server 'program' exited")
        assert lines[2:] == [
            "- paused: disabled in the file",
            "! empty: it has neither a command nor a url",
            "+ local: 1 created; secrets: local.MY_TOKEN",
        ]
        assert SECRET not in ran.out + ran.err
        assert running_server.server.last.one("X-Api-Key") == SECRET
        (await run("call", "my_say", "text=hi")).done()
        assert running_server.server.last.one("X-Api-Key") == SECRET
        shown = (await run("tools", "show", "my_say", "--json")).done().json
        assert shown["tags"] == ["mcp:over http"]
        assert shown["config"]["headers"]["X-Api-Key"] == "{{secret:over_http.X-Api-Key}}"
        shown = (await run("tools", "show", "my_echo", "--json")).done().json
        assert shown["tags"] == ["mcp:local"]
        assert shown["config"]["env"]["MY_TOKEN"] == "{{secret:local.MY_TOKEN}}"
        listed = (await run("secrets", "list", "--json")).done().json["items"]
        assert {item["name"] for item in listed} == {"over_http.X-Api-Key", "local.MY_TOKEN"}
        again = await run("import", "mcp", file, "--prefix", "my_")
        assert again.out.splitlines()[0] == "+ over http: 2 unchanged; secrets: over_http.X-Api-Key"


async def test_a_dry_run_uses_the_credentials_and_stores_nothing(run: Run, tmp_path: Path) -> None:
    async with changeable_server(tool("say")) as running_server:
        entry = {"url": f"{running_server.url}?key=${{QUERY_TOKEN}}", "headers": {"Authorization": f"Bearer {SECRET}"}}
        file = write_file(tmp_path, {"servers": {"it": entry}})
        ran = (await run("import", "mcp", file, "--dry-run", QUERY_TOKEN="a/b c")).done()
        assert ran.out == "+ it: dry run: 1 created; secrets: it.QUERY_TOKEN, it.Authorization\n"
        assert running_server.server.last.one("Authorization") == f"Bearer {SECRET}"
        assert running_server.server.last.target.endswith("?key=a%2Fb%20c")
        assert (await run("secrets", "list", "--json")).done().json["items"] == []
        assert (await run("tools", "show", "say")).code == 1
        (await run("import", "mcp", file, QUERY_TOKEN="a/b c")).done()
        ran = (await run("import", "mcp", file, "--dry-run", QUERY_TOKEN="a/b c")).done()
        assert ran.out.startswith("+ it: dry run: 1 unchanged")


async def test_the_secrets_of_a_failed_import_are_removed_and_the_options_apply(run: Run, tmp_path: Path) -> None:
    async with changeable_server(tool("say"), tool("look")) as running_server:
        servers = {
            "a b": {"url": running_server.url},
            "gone": {"url": "http://127.0.0.1:1/mcp", "headers": {"X-Api-Key": SECRET}},
        }
        file = write_file(tmp_path, {"mcpServers": servers})
        ran = await run("import", "mcp", file, "--prefix", "{server}_", "--include", "s*", "--public", "--json")
        assert ran.code == 1
        first, second = ran.json["servers"]
        assert (first["status"], first["report"]["created"]) == ("imported", ["a_b_say"])
        assert (second["status"], "127.0.0.1:1" in second["error"]) == ("failed", True)
        assert (await run("tools", "show", "a_b_say", "--json")).done().json["is_public"]
        assert (await run("secrets", "list", "--json")).done().json["items"] == []


async def test_an_import_of_which_everything_is_left_out_fails(run: Run, tmp_path: Path) -> None:
    async with changeable_server(tool("say")) as running_server:
        file = write_file(
            tmp_path, {"mcpServers": {"it": {"url": running_server.url, "headers": {"X-Api-Key": SECRET}}}}
        )
        ran = await run("import", "mcp", file, "--include", "none")
        assert ran.code == 1
        assert (await run("secrets", "list", "--json")).done().json["items"] == []
        assert ran.out == "! it: 1 left out: no tool of the server has a name like this\n"


async def test_the_board_itself_is_skipped_in_every_form_that_the_program_prints(run: Run, tmp_path: Path) -> None:
    for transport in ("http", "stdio"):
        for options in ([], ["--agent", "helper"]):
            words = ("mcp", "config", "claude-code", "--transport", transport, *options)
            file = write_file(tmp_path, (await run(*words)).done().out)
            assert (await run("import", "mcp", file)).done().out == "- pegboard: it serves this board itself\n"
    others = {
        "home": {"command": "python3", "args": ["-m", "pegboard", "mcp"]},
        "variable": {"command": "pegboard", "args": ["mcp"], "env": {"PEGBOARD_URL": "http://127.0.0.1:1"}},
        "option": {"command": "/no/such/pegboard", "args": ["mcp", "--url", "http://127.0.0.1:1"]},
        "address": {"url": "http://127.0.0.1:1/mcp"},
    }
    ran = await run("import", "mcp", write_file(tmp_path, {"mcpServers": others}), "--json")
    statuses = {item["name"]: item["status"] for item in ran.json["servers"]}
    assert statuses == {"home": "skipped", "variable": "failed", "option": "failed", "address": "failed"}


async def test_the_name_of_a_single_import_is_its_tag(run: Run, board: Pegboard) -> None:
    async with changeable_server(tool("say"), tool("look")) as running_server:
        (await run("import", "mcp", running_server.url, "--name", "my server", "--include", "say")).done()
        assert (await run("tools", "show", "say", "--json")).done().json["tags"] == ["mcp:my server"]
        await board.imports.mcp(board.admin, server_url=running_server.url, name="x" * 100, include=["look"])
        assert (await run("tools", "show", "look", "--json")).done().json["tags"] == ["mcp:" + "x" * 60]


def test_codex_keeps_its_servers_in_toml(tmp_path: Path) -> None:
    text = """
model = "gpt-5"
[mcp_servers.remote]
url = "https://a.example/mcp"
bearer_token_env_var = "REMOTE"
http_headers = { "X-Region" = "eu" }
env_http_headers = { "X-Team-Token" = "TEAM" }
[mcp_servers.local]
command = "docs-server"
args = ["--port", "4000"]
env_vars = ["DOCS_KEY", { name = "LOCALE", source = "local" }, "UNSET"]
cwd = "/srv"
[mcp_servers.local.env]
MODE = "fast"
[mcp_servers.off]
command = "x"
enabled = false
"""
    variables = {"REMOTE": "r", "TEAM": "t", "DOCS_KEY": "d", "LOCALE": "de"}
    remote, local, off = read_server_file(write_file(tmp_path, text, "config.toml"), variables)
    headers = {
        "X-Region": "eu",
        "X-Team-Token": "{{secret:remote.X-Team-Token}}",
        "Authorization": "Bearer {{secret:remote.Authorization}}",
    }
    assert remote.body == {"server_url": "https://a.example/mcp", "headers": headers}
    assert remote.secrets == {"remote.X-Team-Token": "t", "remote.Authorization": "r"}
    assert local.body == {
        "command": ["docs-server", "--port", "4000"],
        "env": {"MODE": "fast", "DOCS_KEY": "{{secret:local.DOCS_KEY}}", "LOCALE": "de"},
        "working_dir": "/srv",
    }
    assert local.secrets == {"local.DOCS_KEY": "d"}
    assert off.is_disabled


def test_json_may_have_comments_and_trailing_commas(tmp_path: Path) -> None:
    text = """{
  // the servers
  "inputs": [{"id": "k", "type": "promptString"},],
  "servers": { /* one
     of them */
    "it": {"type": "http", "url": "https://a.example//mcp", "headers": {"X-Key": "${input:k}"}, // last
    },
  }, /* end, ] */
}"""
    (server,) = read_server_file(write_file(tmp_path, text), {})
    assert server.body == {"server_url": "https://a.example//mcp", "headers": {"X-Key": "{{secret:it.k}}"}}
    assert server.secrets == {}


def test_variables_of_the_environment_are_filled_in(tmp_path: Path) -> None:
    entry = {
        "command": "${env:RUNNER}",
        "args": ["${userHome}/x", "--token=${API_TOKEN}", "$RUNNER", "${MODE:-slow}", 3],
        "env": {"API_TOKEN": "$API_TOKEN", "NOTE": "$RUNNER costs $5", "DEBUG": True, "NONE": None},
    }
    server = read(tmp_path, entry, RUNNER="uvx", API_TOKEN="t")
    token = "{{secret:it.API_TOKEN}}"
    assert server.body == {
        "command": ["uvx", f"{Path.home()}/x", f"--token={token}", "$RUNNER", "slow", "3"],
        "env": {"API_TOKEN": token, "NOTE": "$RUNNER costs $5", "DEBUG": "true"},
    }
    assert server.secrets == {"it.API_TOKEN": "t"}


def test_credentials_become_secrets_and_other_values_stay(tmp_path: Path) -> None:
    env = {
        "GITHUB_PERSONAL_ACCESS_TOKEN": "g",
        "DATABASE_URL": "postgres://user:word@host/db",
        "REGION": "eu",
        "MY_KEY": "{{secret:MINE}}",
        "PASSWORD": "",
        "SHARED_TOKEN": "${SHARED_TOKEN}",
        "A_TOKEN": "a-${SHARED_TOKEN}",
    }
    server = read(tmp_path, {"command": "x", "env": env}, SHARED_TOKEN="s")
    assert server.body["env"] == {
        "GITHUB_PERSONAL_ACCESS_TOKEN": "{{secret:it.GITHUB_PERSONAL_ACCESS_TOKEN}}",
        "DATABASE_URL": "{{secret:it.DATABASE_URL}}",
        "REGION": "eu",
        "MY_KEY": "{{secret:MINE}}",
        "PASSWORD": "",
        "SHARED_TOKEN": "{{secret:it.SHARED_TOKEN}}",
        "A_TOKEN": "a-{{secret:it.SHARED_TOKEN}}",
    }
    assert set(server.secrets.values()) == {"g", "postgres://user:word@host/db", "s"}
    twice = read(tmp_path, {"url": "https://a.example/${K_TOKEN}", "headers": {"K_TOKEN": "b"}}, K_TOKEN="a")
    assert twice.secrets == {"it.K_TOKEN": "a", "it.K_TOKEN_2": "b"}
    assert twice.body["server_url"] == "https://a.example/{{secret:it.K_TOKEN}}"


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("text", "not an object"),
        ({"command": "x", "args": "y"}, "args is not a list"),
        ({"command": ["x"]}, "command has a value that is not a text"),
        ({"command": "x", "env": ["A=b"]}, "env is not an object"),
        ({"command": "x", "envFile": ".env"}, "envFile"),
        ({"command": "x", "args": ["${workspaceFolder}"]}, "the environment variable workspaceFolder is not set"),
        ({"type": "sse", "url": "https://a.example"}, "the transport 'sse' is not supported"),
        ({"url": "https://a.example", "headers": {"X": {}}}, "headers has a value that is not a text"),
        ({"url": "https://a.example", "bearer_token_env_var": "T"}, "the environment variable T is not set"),
    ],
)
def test_an_entry_that_cannot_be_used_has_a_reason(tmp_path: Path, entry: Any, problem: str) -> None:
    server = read(tmp_path, entry)
    assert problem in str(server.problem)
    assert server.body == {}


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("{}", "a.json", "no servers in it"),
        ('{"mcpServers": {}}', "a.json", "no servers in it"),
        ("[]", "a.json", "no servers in it"),
        ('{\n"mcpServers": }', "a.json", ":2: not JSON"),
        ("x = ", "a.toml", "not TOML"),
    ],
)
def test_a_file_without_servers_is_a_usage_error(tmp_path: Path, text: str, name: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        read_server_file(write_file(tmp_path, text, name), {})
    assert message in raised.value.message


def test_a_missing_file_and_options_of_one_server_are_usage_errors(tmp_path: Path) -> None:
    file = write_file(tmp_path, {"mcpServers": {"it": {"command": "x"}}})
    for words, message in (
        (["/no/such/mcp.json"], "/no/such/mcp.json: No such file"),
        ([file, "--env", "A=b"], "--env cannot be used with a file"),
        ([file, "--bearer", "X"], "--auth and --bearer cannot be used with a file"),
    ):
        ran = Program().run("import", "mcp", *words)
        assert (ran.code, ran.out) == (2, "")
        assert message in ran.err


def test_a_file_is_distinguished_from_a_url_and_a_command() -> None:
    assert is_server_file(["~/.codex/config.toml"])
    assert is_server_file(["MCP.JSON"])
    assert not is_server_file(["https://a.example/mcp.json"])
    assert not is_server_file(["server", "mcp.json"])
    assert not is_server_file(["server"])
