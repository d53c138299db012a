"""Credentials of imported tools: encrypted, masked, resolved as their owner, and never shown."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from pegboard import Pegboard
from pegboard.model.api_errors import Invalid
from pegboard.model.call_errors import ToolError
from pegboard.model.filters import ExecutionFilter
from pegboard.model.secrets import MASK
from pegboard.registry.build_tool import build_tool_response
from pegboard.testing import member
from tests.api_documents import Case, at, document, pets
from tests.unit.kinds.mcp.changeable_server import changeable_server, odd, tool
from tests.upstreams import Received, Wire, answer, answer_json, by_path, upstream

TOKEN = "tok-that-nobody-may-see"
BEARER = {"type": "bearer", "token": TOKEN}


def in_files(folder: Path) -> list[str]:
    """Return the contents of the files."""
    return [path.read_bytes().decode("latin-1") for path in folder.rglob("*") if path.is_file()]


async def at_rest(board: Pegboard, folder: Path) -> list[str]:
    """Everything that the board has stored, as text."""
    found = in_files(folder)
    async with board.database.read() as conn:
        for table in ("tools", "tool_versions", "secrets", "executions"):
            found += [repr(tuple(row)) for row in await conn.execute(text(f"SELECT * FROM {table}"))]
    return found


async def test_credentials_are_encrypted_at_rest_in_every_version(stored: Pegboard, tmp_path: Path) -> None:
    async with upstream() as running_server, changeable_server(tool("say")) as other:
        await stored.imports.openapi(stored.admin, document=pets("cats", base=running_server.url), auth_config=BEARER)
        changed = {**BEARER, "token": f"{TOKEN}-2"}
        await stored.imports.openapi(stored.admin, document=pets("cats", base=running_server.url), auth_config=changed)
        await stored.imports.mcp(
            stored.admin, server_url=other.url, auth_config=BEARER, headers={"X-Other": f"{TOKEN}-3"}
        )
        assert (await stored.call("cats")).success
        assert running_server.last.one("Authorization") == f"Bearer {TOKEN}-2"
        assert (await stored.call("say")).success
        assert (other.server.last.one("Authorization"), other.server.last.one("X-Other")) == (
            f"Bearer {TOKEN}",
            f"{TOKEN}-3",
        )
    kept = await at_rest(stored, tmp_path)
    assert any("cats" in each for each in kept)
    forms = (TOKEN, base64.b64encode(TOKEN.encode()).decode(), TOKEN.encode().hex())
    assert not [each[:200] for each in kept for form in forms if form in each]


async def test_credentials_are_masked_wherever_tools_and_changes_are_shown(board: Pegboard) -> None:
    async with changeable_server(tool("say")) as running_server:
        given: dict[str, Any] = {
            "server_url": running_server.url,
            "headers": {"X-Key": f"{TOKEN}-h"},
            "auth_config": BEARER,
        }
        await board.imports.openapi(board.admin, document=pets("cats"), auth_config=BEARER)
        await board.imports.mcp(board.admin, **given)
        for name in ("cats", "say"):
            answer = build_tool_response(await board.tools.get(name, board.admin), board.admin)
            assert answer.auth_config == {"type": "bearer", "token": MASK}
            assert TOKEN not in answer.model_dump_json()
        new = {"type": "bearer", "token": f"{TOKEN}-new"}
        taken = await board.imports.openapi(board.admin, document=pets("cats"), auth_config=new, dry_run=True)
        assert taken.updated == ["cats"]
        assert TOKEN not in repr(taken)
        running_server.tools[0] = tool("say", "Otherwise.")
        running_server.restart()
        await board.call("say")
        for accept in (False, True):
            given |= {"headers": {"X-Key": f"{TOKEN}-other"}, "auth_config": new, "accept": accept}
            taken = await board.imports.mcp(board.admin, **given)
            assert list(taken.changes) == ["say"]
            assert set(taken.changes["say"]) >= {"auth_config", "config", "description"}
            assert TOKEN not in repr(taken)


async def test_the_commands_environment_is_masked_too(board: Pegboard) -> None:
    taken = await board.imports.mcp(board.admin, command=odd("environment"), env={"API_KEY": TOKEN})
    assert taken.created == []  # its tool has the name of a builtin one
    taken = await board.imports.mcp(board.admin, command=odd("environment"), env={"API_KEY": TOKEN}, prefix="o_")
    answer = build_tool_response(await board.tools.get("o_echo", board.admin), board.admin)
    assert answer.config is not None
    assert answer.config["env"] == {"API_KEY": MASK}
    result = await board.call("o_echo")
    assert '"API_KEY": "********"' in result.output
    assert "PEGBOARD" not in result.output
    again = await board.imports.mcp(
        board.admin, command=odd("environment"), env={"API_KEY": f"{TOKEN}-2"}, prefix="o_", dry_run=True
    )
    assert TOKEN not in repr(again)


async def test_named_secrets_are_the_owners_for_every_caller(stored: Pegboard, tmp_path: Path) -> None:
    other = await member(stored)
    await stored.secrets.put("KEY", f"{TOKEN}-admin", stored.admin)
    await stored.secrets.put("KEY", f"{TOKEN}-member", other)
    auth = {"type": "api_key", "api_key": "{{secret:KEY}}"}
    keyed: dict[str, Any] = {
        "components": {"securitySchemes": {"k": {"type": "apiKey", "in": "header", "name": "X-Token"}}}
    }
    async with upstream() as running_server, changeable_server(tool("say")) as server:
        await stored.imports.openapi(
            other, document=pets("cats", base=running_server.url, **keyed), auth_config=auth, is_public=True
        )
        await stored.imports.mcp(other, server_url=server.url, auth_config=auth, is_public=True)
        assert {got.one("X-API-Key") for got in server.server.received} == {f"{TOKEN}-member"}
        for caller in (other, stored.admin):
            assert (await stored.call("cats", caller=caller)).success
            assert running_server.last.one("X-Token") == f"{TOKEN}-member"
            assert (await stored.call("say", caller=caller)).success
            assert server.server.last.one("X-API-Key") == f"{TOKEN}-member"
        await stored.secrets.put("KEY", f"{TOKEN}-changed", other)
        assert (await stored.call("cats")).success
        assert running_server.last.one("X-Token") == f"{TOKEN}-changed"
        await stored.secrets.remove("KEY", other)
        refused = await stored.call("cats")
        assert refused.problem is not None
        assert refused.problem.code == "secret_unreadable"
    assert not [each[:200] for each in await at_rest(stored, tmp_path) if TOKEN in each]


async def test_a_secret_in_a_url_is_percent_encoded_and_never_shown(stored: Pegboard, tmp_path: Path) -> None:
    secret = "s3cret/&?#{id} ü"
    sent = "s3cret%2F%26%3F%23%7Bid%7D%20%C3%BC"
    await stored.secrets.put("URL_KEY", secret, stored.admin)
    async with upstream(
        by_path(cats=answer(400, f"bad key: {secret} {sent}"), other=answer_json([secret, sent]))
    ) as running_server:
        await stored.imports.openapi(stored.admin, document=pets("cats", "dogs", base=running_server.url))
        for name in ("cats", "dogs"):
            config = {
                "url": f"{running_server.url}/{name}/{{{{secret:URL_KEY}}}}?k={{{{secret:URL_KEY}}}}",
                "method": "GET",
            }
            changed = await stored.tools.update(name, {"config": config}, stored.admin)
            assert secret not in build_tool_response(changed, stored.admin).model_dump_json()
        failed = await stored.call("cats")
        assert running_server.last.target == f"/cats/{sent}?k={sent}"
        assert failed.problem is not None
        assert "bad key: ******** ********" in failed.problem.message
        answered = await stored.call("dogs")
        assert answered.output == [MASK, MASK]
        rows = (await stored.executions(ExecutionFilter())).items
        assert {row.tool_name for row in rows} == {"cats", "dogs"}
        assert not [row for row in rows if "s3cret" in repr(row)]
    assert not [each[:200] for each in await at_rest(stored, tmp_path) if "s3cret" in each]


async def test_a_secret_in_the_url_of_an_mcp_server_is_sent_encoded_and_kept_as_a_reference(board: Pegboard) -> None:
    await board.secrets.put("URL_KEY", "s3cret/& x", board.admin)
    async with changeable_server(tool("say")) as running_server:
        url = f"{running_server.url}?key={{{{secret:URL_KEY}}}}"
        assert (await board.imports.mcp(board.admin, server_url=url)).created == ["say"]
        assert {got.target for got in running_server.server.received} == {"/mcp?key=s3cret%2F%26%20x"}
        assert (await board.tools.get("say", board.admin)).config["server_url"] == url
        assert (await board.call("say")).success
        assert (await board.imports.mcp(board.admin, server_url=url)).unchanged == ["say"]


@pytest.mark.parametrize("place", ["auth", "header", "query", "path"])
async def test_a_server_that_repeats_the_credential_in_its_refusal_is_not_quoted(board: Pegboard, place: str) -> None:
    await board.secrets.put("KEY", TOKEN, board.admin)
    reference = "{{secret:KEY}}"

    async def repeat(got: Received, wire: Wire) -> None:
        await answer(401, f"who is {TOKEN}? {got.one('Authorization')} {got.target}")(got, wire)

    async with changeable_server(tool("say")) as running_server:
        running_server.instead = dict.fromkeys(("server/discover", "initialize"), repeat)
        ways: dict[str, dict[str, Any]] = {
            "auth": {"server_url": running_server.url, "auth_config": {"type": "bearer", "token": reference}},
            "header": {"server_url": running_server.url, "headers": {"X-Key": reference}},
            "query": {"server_url": f"{running_server.url}?key={reference}"},
            "path": {"server_url": f"{running_server.url}/{reference}"},
        }
        with pytest.raises(ToolError) as failed:
            await board.imports.mcp(board.admin, **ways[place])
        assert "401" in failed.value.message
        assert TOKEN not in failed.value.message


async def test_a_secret_that_would_change_the_requests_shape_is_refused_without_showing_it(board: Pegboard) -> None:
    await board.secrets.put("KEY", f"{TOKEN}\r\nX-Evil: 1", board.admin)
    async with changeable_server(tool("say")) as running_server:
        reference = "{{secret:KEY}}"
        ways: list[dict[str, Any]] = [
            {"headers": {"X-Key": reference}},
            {"auth_config": {"type": "bearer", "token": reference}},
        ]
        for given in ways:
            with pytest.raises(Invalid, match="line break") as refused:
                await board.imports.mcp(board.admin, server_url=running_server.url, **given)
            assert TOKEN not in str(refused.value)
        assert running_server.server.received == []


async def test_a_document_cannot_refer_to_the_secrets_of_a_caller_who_imports_it(board: Pegboard) -> None:
    await board.secrets.put("KEY", TOKEN, board.admin)
    async with upstream() as running_server:
        sly = [
            Case("in_path", "get", "/x/{{secret:KEY}}", {}, {}, ""),
            Case("in_query", "get", "/y?k={{secret:KEY}}", {}, {}, ""),
            Case("in_name", "get", "/z", {"parameters": [at("query", "{{secret:KEY}}", {"default": 1})]}, {}, ""),
            Case("in_server", "get", "/s", {"servers": [{"url": f"{running_server.url}/{{{{secret:KEY}}}}"}]}, {}, ""),
        ]  # fmt: skip
        taken = await board.imports.openapi(board.admin, document=document(sly, servers=[{"url": running_server.url}]))
        for name in taken.created:
            schema = (await board.tools.get(name, board.admin)).input_schema
            await board.call(name, dict.fromkeys(schema.get("properties", {}), "x"))
        assert [got for got in running_server.received if TOKEN.encode() in got.raw] == []
