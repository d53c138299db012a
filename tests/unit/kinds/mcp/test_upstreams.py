"""Imported servers of a board on both databases: rows, credentials, rotation, and later additions."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from pegboard import Pegboard
from pegboard.kinds.mcp import upstream_monitor
from pegboard.model.api_errors import Conflict, Forbidden, Invalid, NotFound
from pegboard.model.mcp_peer import PeerFailed
from pegboard.model.registered_upstream import RegisteredUpstream
from pegboard.registry.upstream_registry import UpstreamRegistry
from pegboard.testing import member
from tests.mcp_servers.run_servers import FOLDER
from tests.waiting import until

SECRET = "a-secret-of-the-upstream"
PROMPT = {"name": "hello", "description": "Greets.", "x-size": 1.25, "x-big": 2**70, "x-order": {"b": 1, "a": 2}}
OFFERED: dict[str, Any] = {
    "capabilities": {"prompts": {}, "resources": {}},
    "tools/list": {"tools": [{"name": "say", "inputSchema": {"type": "object"}}]},
    "tools/call": {"content": [], "notify": ["notifications/tools/list_changed"]},
    "prompts/list": {"prompts": [PROMPT]},
    "resources/list": {"resources": []},
    "resources/templates/list": {"resourceTemplates": []},
}


class Server:
    """A server that returns the results in its file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.write()

    def write(self, **results: Any) -> None:
        """Change the results from now on."""
        changed = self._file.with_suffix(".new")
        changed.write_text(json.dumps(OFFERED | {name.replace("__", "/"): value for name, value in results.items()}))
        changed.rename(self._file)

    @property
    def given(self) -> dict[str, Any]:
        """Return the fields of its import."""
        return {"command": [sys.executable, str(FOLDER / "raw_server.py"), str(self._file)], "env": {"S": SECRET}}


@pytest.fixture
def server(tmp_path: Path) -> Server:
    """A server to import."""
    return Server(tmp_path / "results.json")


def get_only(board: Pegboard) -> RegisteredUpstream:
    """The only server of the board."""
    (found,) = board.snapshot.upstreams.list_owned(None)
    return found


async def read_row(board: Pegboard) -> str:
    """Everything that the database has of the servers."""
    async with board.database.read() as conn:
        rows = (await conn.execute(text("SELECT config, auth_config, entries, revision FROM upstreams"))).all()
    return str(rows)


async def test_a_server_is_stored_and_read_again_by_another_process(
    stored: Pegboard, database_url: str, server: Server
) -> None:
    await stored.imports.mcp(stored.admin, **server.given, prefix="p_", include=["s*"], is_public=True, follow=True)
    async with Pegboard.open(database_url, settings=stored.settings) as other:
        found = get_only(other)
        assert found == get_only(stored)
        assert (found.prefix, found.include, found.is_public, found.follow) == ("p_", ("s*",), True, True)
        assert found.tools == ("say",)
        (entry,) = found.get_entries("prompts")
        assert list(entry.entry["x-order"]) == ["b", "a"]
        assert (entry.entry["x-size"], entry.entry["x-big"]) == (1.25, 2**70)


async def test_an_import_that_changes_nothing_writes_nothing(stored: Pegboard, server: Server) -> None:
    await stored.imports.mcp(stored.admin, **server.given)
    before = await read_row(stored)
    await stored.imports.mcp(stored.admin, **server.given)
    await stored.imports.mcp(stored.admin, command=server.given["command"])
    assert await read_row(stored) == before


async def test_credentials_are_encrypted_rotated_and_removed(stored: Pegboard, server: Server) -> None:
    await stored.imports.mcp(stored.admin, **server.given)
    before = await read_row(stored)
    assert SECRET not in before
    assert "pb1:" in before
    report = await stored.rotate_secrets()
    assert report.finished
    assert f"pb1:{report.key_id}:" in await read_row(stored)
    found = get_only(stored)
    assert stored.upstreams.unseal(found)[0]["env"] == {"S": SECRET}
    assert stored.upstreams.open(found).config["env"] == {"S": SECRET}
    server.write(tools__call={"content": [{"type": "text", "text": SECRET}]})
    assert (await stored.call("say")).output == "********"
    await stored.upstreams.remove(found.id, stored.admin)
    assert "pb1:" not in await read_row(stored)
    assert list(stored.snapshot.upstreams.list_owned(None)) == []


async def test_a_named_secret_is_used_with_its_present_value(stored: Pegboard, server: Server) -> None:
    await stored.secrets.put("TOKEN", "first-value", stored.admin)
    await stored.imports.mcp(stored.admin, command=server.given["command"], env={"S": "{{secret:TOKEN}}"})
    assert stored.upstreams.describe(get_only(stored)).config["env"] == {"S": "{{secret:TOKEN}}"}
    peer = stored.snapshot.upstreams.get_peer(get_only(stored).id)
    assert ("S", "first-value") in peer.upstream.env
    await stored.secrets.put("TOKEN", "second-value", stored.admin)
    peer = stored.snapshot.upstreams.get_peer(get_only(stored).id)
    assert ("S", "second-value") in peer.upstream.env
    await stored.secrets.remove("TOKEN", stored.admin)
    shown = stored.upstreams.describe(get_only(stored))
    assert shown.state == "unavailable"
    assert "TOKEN" in str(shown.connection.last_error)


async def test_two_boards_on_one_database_see_the_same_changes(
    stored: Pegboard, database_url: str, server: Server
) -> None:
    async with Pegboard.open(database_url, settings=stored.settings) as other:
        await stored.imports.mcp(stored.admin, **server.given)

        async def has_it() -> bool:
            return bool(other.snapshot.upstreams.list_owned(None))

        assert await until(has_it)
        await other.upstreams.remove(get_only(other).id, other.admin, tools=True)

        async def lost_it() -> bool:
            return not stored.snapshot.upstreams.list_owned(None) and stored.snapshot.find("say") is None

        assert await until(lost_it)


async def test_a_tool_that_a_followed_server_adds_is_added_once_and_with_its_patterns(
    stored: Pegboard, server: Server
) -> None:
    await stored.imports.mcp(stored.admin, **server.given, follow=True, include=["s*"])
    server.write(
        tools__list={"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("say", "sing", "go")]}
    )
    await stored.call("say")

    async def has_tool() -> bool:
        return stored.snapshot.find("sing") is not None and get_only(stored).tools == ("say", "sing", "go")

    assert await until(has_tool)
    assert stored.snapshot.find("go") is None
    sing = await stored.tools.get("sing", stored.admin)
    assert (sing.version, sing.owner_id, sing.tags) == (
        1,
        stored.admin.user_id,
        (await stored.tools.get("say", stored.admin)).tags,
    )


async def test_only_an_owner_or_an_admin_may_accept_and_remove(stored: Pegboard, server: Server) -> None:
    await stored.imports.mcp(stored.admin, **server.given)
    other = await member(stored)
    found = get_only(stored)
    with pytest.raises(NotFound):
        await stored.imports.changes.accept(found.id, other)
    with pytest.raises(NotFound):
        await stored.upstreams.remove(found.id, other)
    with pytest.raises(Forbidden):
        await stored.imports.mcp(other, **server.given)
    with pytest.raises(Conflict, match="nothing to accept"):
        await stored.imports.changes.accept(found.id, stored.admin)
    assert isinstance(stored.upstreams, UpstreamRegistry)


async def test_a_prefix_that_is_too_long_is_refused(board: Pegboard, server: Server) -> None:
    with pytest.raises(Invalid) as raised:
        await board.imports.mcp(board.admin, **server.given, prefix="p" * 65)
    assert raised.value.faults[0].field == "prefix"


async def test_a_prompt_that_changed_while_no_session_was_open_is_refused(board: Pegboard, server: Server) -> None:
    await board.imports.mcp(board.admin, **server.given)
    found = get_only(board)
    peer = board.snapshot.upstreams.get_peer(found.id)
    await peer.check_entry("prompts", "hello")
    server.write(prompts__list={"prompts": [{**PROMPT, "description": "Other."}]})
    session = board.imports.monitor.pool.find_session(peer.upstream)
    assert session is not None
    session.end()
    await session.task
    await board.imports.monitor.pool.tools(peer.upstream)
    with pytest.raises(PeerFailed, match="was changed by the server"):
        await peer.check_entry("prompts", "hello")


async def test_names_that_no_tool_can_have_are_not_stored_for_a_followed_server(
    stored: Pegboard, server: Server
) -> None:
    await stored.imports.mcp(stored.admin, **server.given, follow=True)
    names = ("say", "x" * 100_000, "sing")
    server.write(tools__list={"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]})
    await stored.call("say")

    async def has_tool() -> bool:
        return stored.snapshot.find("sing") is not None and "sing" in get_only(stored).tools

    assert await until(has_tool)
    assert get_only(stored).tools == ("say", "sing")


async def test_a_server_that_reports_changes_without_end_is_read_less_and_less_often(
    board: Pegboard, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upstream_monitor, "MIN_READ_SECONDS", 0.01)
    monkeypatch.setattr(upstream_monitor, "MAX_READS_IN_A_ROW", 2)
    monkeypatch.setattr(upstream_monitor, "LIST_MAX_AGE_SECONDS", 1000.0)
    await board.imports.mcp(board.admin, **server.given)
    server.write(prompts__list={"prompts": [PROMPT], "notify": ["notifications/prompts/list_changed"]})
    peer = board.snapshot.upstreams.get_peer(get_only(board).id)
    monitor = board.imports.monitor
    await monitor.expire(peer)
    began = time.monotonic()
    end = peer.watch()

    async def has_reported() -> bool:
        return monitor.find_status(peer).reported >= 6

    assert await until(has_reported)
    # The reads after the second, third … report each wait twice as long as the one before.
    assert time.monotonic() - began >= 0.01 * sum(2**doublings for doublings in range(1, 4))
    end()
