"""Tools copied from one board to another with `export` and `apply`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio.to_thread
import yaml

from tests.api_documents import pets
from tests.surfaces.cli.run_program import Program
from tests.upstreams import upstream

SCHEMA = {"type": "object", "properties": {"x": {"type": "string"}}}
AUTHS: dict[str, dict[str, Any]] = {
    "bearer": {"type": "bearer", "token": "{{secret:TOKEN}}"},
    "basic": {"type": "basic", "username": "me", "password": "{{secret:TOKEN}}"},
    "api_key": {"type": "api_key", "api_key": "{{secret:TOKEN}}", "header_name": "X-Its-Key"},
    "in_query": {"type": "api_key", "api_key": "{{secret:TOKEN}}", "query_name": "key"},
    "custom": {
        "type": "custom",
        "headers": {"X-A": "Token {{secret:TOKEN}}"},
        "query": {"q": "{{secret:OTHER}}"},
        "cookies": {"sid": "{{secret:TOKEN}}"},
    },
}


def tool(name: str, kind: str, config: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A definition of this kind."""
    return {"name": name, "tool_type": kind, "config": config, "input_schema": SCHEMA, **more}


def every_kind(url: str) -> list[dict[str, Any]]:
    """Return tools of every kind that can be stored, with a reference wherever one is allowed."""
    env = {"TOKEN": "{{secret:TOKEN}}"}
    step = {"id": "a", "tool": "m_mock", "arguments": {}}
    return [
        *(tool(f"h_{name}", "http", {"url": url, "method": "GET"}, auth_config=auth) for name, auth in AUTHS.items()),
        tool("h_header", "http", {"url": url, "method": "GET", "headers": {"X-T": "Bearer {{secret:TOKEN}}"}}),
        tool("h_url", "http", {"url": f"{url}/?k={{{{secret:TOKEN}}}}", "method": "GET"}),
        tool("m_web", "mcp", {"server_url": f"{url}/mcp", "tool": "say"}, auth_config=AUTHS["bearer"]),
        tool("m_command", "mcp", {"command": ["server"], "env": env, "tool": "say"}),
        tool("m_mock", "mock", {"mock_response": {"a": 1}}, auth_config=AUTHS["bearer"], tags=["t"], is_public=True),
        tool("m_python", "python", {"code": "def run(x=''):\n    return x", "env": env}),
        tool("m_shell", "shell", {"command": "printenv TOKEN", "env": env}),
        tool("m_builtin", "builtin", {"operation": "echo"}, rate_limit={"max_calls": 5, "period": "minute"}),
        tool("m_internal", "internal", {"handler": "elsewhere"}, fallback={"tool": "m_mock"}),
        tool("m_chain", "internal", {"handler": "chain", "chain": {"steps": [step]}}),
    ]


def board(home: Path, **more: str) -> Program:
    """The program with the database of one home folder."""
    return Program({"PEGBOARD_HOME": str(home), "PEGBOARD_EGRESS_ALLOW": "127.0.0.1", **more})


def set_secrets(program: Program) -> None:
    """Set the secrets that the tools refer to."""
    for name in ("TOKEN", "OTHER"):
        program.run("--local", "secrets", "set", name, f"value-of-{name}").done()


async def test_a_board_moves_from_sqlite_to_postgresql(tmp_path: Path, postgres_url: str) -> None:
    old = board(tmp_path / "old")
    new = board(tmp_path / "new", PEGBOARD_DATABASE_URL=postgres_url)
    tools, moved, again = (tmp_path / name for name in ("tools.json", "moved.yaml", "again.yaml"))
    document = tmp_path / "api.json"
    async with upstream() as server:

        def move() -> None:
            tools.write_text(json.dumps(every_kind(server.url)))
            document.write_text(json.dumps(pets("cats", base=server.url)))
            set_secrets(old)
            old.run("--local", "apply", str(tools)).done()
            old.run("--local", "import", "openapi", str(document), "--bearer", "TOKEN").done()
            exported = old.run("--local", "export", str(moved)).done()
            assert "Masked" not in exported.err
            assert "value-of" not in moved.read_text()
            set_secrets(new)
            new.run("--local", "apply", str(moved)).done()
            new.run("--local", "export", str(again)).done()
            for name in ("cats", *(f"h_{auth}" for auth in AUTHS), "h_header", "h_url", "m_builtin", "m_chain"):
                new.run("--local", "call", name).done()

        await anyio.to_thread.run_sync(move)
        received = server.received
    before, after = (yaml.safe_load(file.read_text())["tools"] for file in (moved, again))
    assert after == before
    kinds = {each["tool_type"] for each in before}
    assert kinds == {"http", "mcp", "python", "shell", "builtin", "mock", "internal"}
    cats, bearer, basic, api_key, in_query, custom, header, url = received
    token = "value-of-TOKEN"
    assert cats.one("Authorization") == bearer.one("Authorization") == header.one("X-T") == f"Bearer {token}"
    assert (basic.one("Authorization") or "").startswith("Basic ")
    assert api_key.one("X-Its-Key") == token
    assert (in_query.target, url.target) == (f"/?key={token}", f"/?k={token}")
    assert (custom.one("X-A"), custom.one("Cookie")) == (f"Token {token}", f"sid={token}")


def test_a_masked_credential_is_named_by_the_export_and_refused_by_another_board(tmp_path: Path) -> None:
    old, new = board(tmp_path / "old"), board(tmp_path / "new")
    literal = {"type": "basic", "username": "me", "password": "hush-hush"}
    given = tool("t", "mock", {"mock_response": 1}, auth_config=literal)
    old.run("--local", "apply", "-", stdin=json.dumps(given)).done()
    exported = old.run("--local", "export").done()
    assert "Masked: credentials of t." in exported.err
    [shown] = yaml.safe_load(exported.out)["tools"]
    assert shown["auth_config"] == {"type": "basic", "username": "********", "password": "********"}
    assert "= t" in old.run("--local", "apply", "-", stdin=exported.out).done().out
    refused = new.run("--local", "apply", "-", stdin=exported.out)
    assert refused.code == 1
    assert "auth_config.username" in refused.err
    assert "give the value itself" in refused.err


def test_a_dry_run_of_apply_counts_what_it_would_do(tmp_path: Path) -> None:
    program = board(tmp_path)
    many = [tool(f"t{number}", "mock", {"mock_response": 1}) for number in range(20)]
    program.run("--local", "apply", "-", stdin=json.dumps(many)).done()
    kept = json.dumps([*many[:2], {**many[2], "description": "New"}, tool("new", "mock", {"mock_response": 1})])
    shown = program.run("--local", "apply", "-", "--prune", "--dry-run", stdin=kept).done()
    assert shown.err == "Would apply: 1 created, 1 updated, 17 deleted, 2 unchanged\n"
    assert shown.out.count("- t") == 17
