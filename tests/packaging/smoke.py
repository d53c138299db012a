"""Uses the installed package once in every way: `smoke.py DATABASE_URL`, with its Python, in an empty folder.

It imports nothing that the wheel does not install.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import asyncpg

from pegboard import Pegboard
from pegboard.settings import Settings
from pegboard.surfaces.cli.main import main as run_command_line

PROGRAM = str(Path(sys.executable).with_name("pegboard"))
TABLE = "CREATE TABLE moods (id INTEGER PRIMARY KEY, energy INTEGER NOT NULL CHECK (energy BETWEEN 1 AND 10))"
MCP_SERVER = '''
from mcp.server import MCPServer

server = MCPServer("greeter", log_level="ERROR")


@server.tool()
def greet(name: str) -> str:
    """Greets a person."""
    return f"Hello, {name}!"


server.run()
'''


class Upstream(BaseHTTPRequestHandler):
    """An HTTP API that returns the path of each request."""

    def do_GET(self) -> None:
        """Send the path as JSON."""
        body = json.dumps({"path": self.path}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


async def create_table(url: str) -> None:
    """Create the table that a tool inserts rows into."""
    if url.startswith("sqlite"):
        with contextlib.closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
            connection.execute(TABLE)
        return
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    await connection.execute(TABLE.replace("id INTEGER", "id bigint GENERATED ALWAYS AS IDENTITY"))
    await connection.close()


def write_tables_file(url: str, file: Path) -> None:
    """Write the tables file as `pegboard tables init` makes it of the database."""
    made = subprocess.run(
        [PROGRAM, "--json", "tables", "init", "--database", url, "moods"], check=True, capture_output=True
    )
    document = json.loads(made.stdout)
    (field,) = document["tables"][0]["fields"]
    assert (field["name"], field["min"], field["max"]) == ("energy", 1, 10), field
    file.write_text(json.dumps(document | {"database": url}))


def list_tools(port: int) -> list[dict[str, Any]]:
    """Return a tool of every kind that is registered by its definition."""
    Path("greeter.py").write_text(MCP_SERVER)
    name = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    definitions: dict[str, dict[str, Any]] = {
        "mock": {"mock_response": {"sky": "clear"}},
        "builtin": {"operation": "calculate_rsi", "parameters": {"period": 2}},
        "http": {"method": "GET", "url": f"http://127.0.0.1:{port}/hello/{{name}}"},
        "mcp": {"command": [sys.executable, str(Path("greeter.py").resolve())], "tool": "greet"},
        "python": {"code": "def main(name: str):\n    return 'Hello, ' + name"},
        "shell": {"command": "echo Hello, {name}"},
    }
    prices = {"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number"}}}}
    return [
        {
            "name": f"{kind}_tool",
            "tool_type": kind,
            "config": config,
            "timeout": 120,
            "input_schema": prices if kind == "builtin" else name,
        }
        for kind, config in definitions.items()
    ]


@contextlib.asynccontextmanager
async def open_board(url: str, tables: Path) -> AsyncIterator[Pegboard]:
    """Open a board with a tool of every kind."""
    upstream = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    port = upstream.server_address[1]
    async with Pegboard.open(
        url, settings=Settings(tables=tables, egress_allow=f"127.0.0.1:{port}", mcp_connect_seconds=120)
    ) as board:

        @board.tool
        async def internal_tool(name: str) -> str:
            return f"Hello, {name}"

        for definition in list_tools(port):
            await board.add(definition)
        yield board
    upstream.shutdown()
    upstream.server_close()


async def call_every_kind(url: str) -> None:
    """Call a tool of every kind once, and verify the journal with the command line."""
    await create_table(url)
    tables = Path("tables.json")
    await asyncio.to_thread(write_tables_file, url, tables)
    ada = {"name": "Ada"}
    calls: list[tuple[str, dict[str, Any], Any]] = [
        ("mock_tool", ada, {"sky": "clear"}),
        ("internal_tool", ada, "Hello, Ada"),
        ("http_tool", ada, {"path": "/hello/Ada"}),
        ("mcp_tool", ada, {"result": "Hello, Ada!"}),
        ("python_tool", ada, "Hello, Ada"),
        ("shell_tool", ada, {"stdout": "Hello, Ada\n", "stderr": "", "exit_code": 0}),
    ]
    async with open_board(url, tables) as board:
        for name, arguments, output in calls:
            result = await board.call(name, arguments)
            assert result.success, (name, result.problem)
            assert result.output == output, (name, result.output)
        rsi = await board.call("builtin_tool", {"prices": [1, 2, 3, 2, 4]})
        assert rsi.success, rsi.problem
        inserted = await board.call("add-moods", {"energy": 7})
        assert inserted.success, inserted.problem
        assert (await board.call("add-moods", {"energy": 11})).problem is not None


def show_every_help(*path: str) -> int:
    """Show the help of this command and those below it, in this process; return how many there are."""
    printed = io.StringIO()
    sys.argv = ["pegboard", *path, "--help"]
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        run_command_line()
    text = printed.getvalue()
    assert "Usage: pegboard" in text, (path, text)
    below = re.findall(r"^  ([a-z][a-z-]*)(?: |$)", text.partition("Commands:")[2], re.MULTILINE)
    return 1 + sum(show_every_help(*path, name) for name in below)


def main(url: str) -> None:
    """Use the installed board."""
    os.environ["PEGBOARD_HOME"] = str(Path.cwd() / "home")
    os.environ["PEGBOARD_DATABASE_URL"] = url
    commands = show_every_help()
    assert commands > 50, commands
    asyncio.run(call_every_kind(url))
    verified = subprocess.run([PROGRAM, "--local", "audit", "verify"], check=False, capture_output=True, text=True)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    sys.stdout.write(f"{commands} commands show their help, every kind answered: {verified.stdout}")


if __name__ == "__main__":
    main(sys.argv[1])
