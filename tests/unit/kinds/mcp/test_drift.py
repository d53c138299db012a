"""Imported tools after their server changed them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.model.api_errors import Conflict, Forbidden, Invalid, NotFound
from pegboard.model.call import Caller
from pegboard.model.import_report import ImportReport
from pegboard.model.secrets import MASK
from pegboard.testing import NoSettings, member
from tests.unit.kinds.mcp.changeable_server import ChangeableServer, changeable_server, odd, tool
from tests.waiting import until

OTHER = tool("say", "Says something else.", inputSchema={"type": "object", "required": ["text"]})


async def drifted(board: Pegboard, name: str = "say") -> bool:
    return (await board.tools.get(name, board.admin)).drifted


async def change(board: Pegboard, running_server: ChangeableServer, to: dict[str, Any] = OTHER) -> None:
    """Let the server change its first tool, and a call notice it."""
    running_server.tools[0] = to
    running_server.restart()
    refused = await board.call("say")
    assert refused.problem is not None
    assert refused.problem.code == "drifted"
    await until(lambda: drifted(board))


async def test_the_next_call_of_a_changed_tool_is_refused_and_never_reaches_the_server(stored: Pegboard) -> None:
    async with changeable_server(tool("say"), tool("look")) as running_server:
        await stored.imports.mcp(stored.admin, server_url=running_server.url)
        assert (await stored.call("say")).success
        await change(stored, running_server)
        refused = await stored.call("say", {"text": "x"})
        assert refused.problem is not None
        assert refused.problem.code == "drifted"
        assert "pegboard tools accept say" in refused.problem.message
        assert [call["name"] for call in running_server.calls] == ["say"]
        assert (await stored.call("look")).success
        assert await drifted(stored, "look") is False


async def test_importing_again_lists_it_with_the_change_and_leaves_it_refused(stored: Pegboard) -> None:
    async with changeable_server(tool("say"), tool("look")) as running_server:
        await stored.imports.mcp(stored.admin, server_url=running_server.url)
        before = await stored.tools.get("say", stored.admin)
        await change(stored, running_server)
        for dry_run in (True, False):
            taken = await stored.imports.mcp(stored.admin, server_url=running_server.url, dry_run=dry_run)
            assert (taken.drifted, taken.updated, taken.unchanged) == (["say"], [], ["look"])
            assert set(taken.changes["say"]) == {"description", "input_schema", "config"}
            assert taken.changes["say"]["description"] == {
                "before": "Says something.",
                "after": "Says something else.",
            }
        after = await stored.tools.get("say", stored.admin)
        assert (after.version, after.description, after.config) == (1, before.description, before.config)
        assert after.drifted


async def test_an_import_notices_by_itself_and_a_dry_run_flags_nothing(board: Pegboard) -> None:
    async with changeable_server(tool("say")) as running_server:
        await board.imports.mcp(board.admin, server_url=running_server.url)
        running_server.tools[0] = OTHER

        async def noticed(dry_run: bool) -> list[str]:
            return (await board.imports.mcp(board.admin, server_url=running_server.url, dry_run=dry_run)).drifted

        assert await until(lambda: noticed(True)) == ["say"]
        assert not await drifted(board)
        assert await noticed(False) == ["say"]
        assert await drifted(board)
        assert (await board.call("say")).problem is not None
        assert running_server.calls == []


async def test_accepting_takes_the_new_definition_and_keeps_what_is_the_owners(stored: Pegboard) -> None:
    async with changeable_server(tool("say")) as running_server:
        await stored.imports.mcp(
            stored.admin,
            server_url=running_server.url,
            headers={"X-Own": "of-mine-123"},
            auth_config={"type": "bearer", "token": "tok-123456"},
        )
        tool_config = dict((await stored.tools.get("say", stored.admin)).config)
        own = {"rate_limit": {"max_calls": 5, "period": "second"}, "is_public": True, "timeout": 9}
        patch = {**own, "config": {**tool_config, "headers": {"X-Own": MASK}, "timeout": 4}}
        await stored.tools.update("say", patch, stored.admin)
        await change(stored, running_server)
        shown, promised = await stored.imports.mcp.accept("say", stored.admin, dry_run=True)
        assert shown.drifted
        assert shown.description == "Says something."
        assert await drifted(stored)
        accepted, changes = await stored.imports.mcp.accept("say", stored.admin)
        assert changes == promised
        assert set(changes) == {"description", "input_schema", "config"}
        assert changes["config"]["after"]["headers"] == {"X-Own": MASK}
        assert (accepted.description, accepted.drifted, accepted.version) == ("Says something else.", False, 3)
        assert (accepted.is_public, accepted.timeout, accepted.config["timeout"]) == (True, 9, 4)
        assert (await stored.call("say", {"text": "x"})).success
        assert running_server.server.last.one("X-Own") == "of-mine-123"
        assert running_server.server.last.one("Authorization") == "Bearer tok-123456"
        missing = await stored.call("say")
        assert missing.problem is not None
        assert missing.problem.message == "Invalid parameters: missing 'text'"


async def test_accept_on_import_takes_every_change_at_once(stored: Pegboard) -> None:
    async with changeable_server(tool("say"), tool("look"), tool("same")) as running_server:
        await stored.imports.mcp(stored.admin, server_url=running_server.url)
        running_server.tools[1] = tool("look", "Looks harder.")
        await change(stored, running_server)
        promised = await stored.imports.mcp(stored.admin, server_url=running_server.url, accept=True, dry_run=True)
        assert await drifted(stored)
        taken = await stored.imports.mcp(stored.admin, server_url=running_server.url, accept=True)
        assert taken == promised
        assert (taken.updated, taken.unchanged, taken.drifted) == (["say", "look"], ["same"], [])
        for name in ("say", "look"):
            assert not await drifted(stored, name)
            assert (await stored.call(name, {"text": "x"})).success


async def test_one_that_is_again_what_it_was_is_called_again_after_an_import(board: Pegboard) -> None:
    async with changeable_server(tool("say")) as running_server:
        await board.imports.mcp(board.admin, server_url=running_server.url)
        await change(board, running_server)
        running_server.tools[0] = tool("say")

        async def as_before() -> Any:
            taken = await board.imports.mcp(board.admin, server_url=running_server.url)
            return taken if not taken.drifted else None

        assert await until(as_before) == ImportReport(unchanged=["say"])
        assert (await board.call("say")).success


async def test_the_flag_stays_through_changes_of_the_owners(board: Pegboard) -> None:
    async with changeable_server(tool("say")) as running_server:
        await board.imports.mcp(board.admin, server_url=running_server.url)
        await change(board, running_server)
        changed = await board.tools.update("say", {"description": "My own words"}, board.admin)
        assert changed.drifted
        running_server.tools[0] = tool("say", "A third one.")

        async def third() -> Any:
            _, changes = await board.imports.mcp.accept("say", board.admin, dry_run=True)
            return changes["description"]["after"] == "A third one."

        await until(third)
        accepted, _ = await board.imports.mcp.accept("say", board.admin)
        assert (accepted.description, accepted.drifted) == ("A third one.", False)


async def test_what_cannot_be_accepted_says_why(board: Pegboard) -> None:
    other = await member(board)
    agent = Caller(board.admin.user_id, "admin", "admin", agent_id="x")
    async with changeable_server(tool("say"), tool("look")) as running_server:
        await board.imports.mcp(board.admin, server_url=running_server.url)
        with pytest.raises(Forbidden, match="agent"):
            await board.imports.mcp.accept("say", agent)
        with pytest.raises(NotFound):
            await board.imports.mcp.accept("say", other)
        with pytest.raises(Conflict, match="of kind builtin"):
            await board.imports.mcp.accept("echo", board.admin)
        await board.tools.update("say", {"is_public": True}, board.admin)
        with pytest.raises(Forbidden, match="belongs to another user"):
            await board.imports.mcp.accept("say", other)
        del running_server.tools[0]

        async def gone() -> bool:
            try:
                await board.imports.mcp.accept("say", board.admin, dry_run=True)
            except Conflict as error:
                return "no longer offers 'say'" in error.message
            return False

        await until(gone)
        running_server.tools.insert(
            0, tool("say", inputSchema={"type": "object", "$ref": "https://example.com/x.json"})
        )

        async def broken() -> bool:
            try:
                await board.imports.mcp.accept("say", board.admin)
            except Conflict:
                return False
            except Invalid as error:
                return "input_schema" in error.message
            return False

        await until(broken)


async def test_one_that_is_gone_is_not_flagged_since_there_is_nothing_to_accept(board: Pegboard) -> None:
    async with changeable_server(tool("say")) as running_server:
        await board.imports.mcp(board.admin, server_url=running_server.url)
        running_server.tools.clear()
        running_server.restart()
        refused = await board.call("say")
        assert refused.problem is not None
        assert refused.problem.code == "upstream_failed"
        running_server.tools.append(tool("say"))

        async def back() -> bool:
            return (await board.call("say")).success

        await until(back)


async def test_a_command_that_changes_its_tools_drifts_too(board: Pegboard, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("As it was.")
    command = odd("steps", str(text))
    await board.imports.mcp(board.admin, command=command, prefix="odd_")
    assert (await board.call("odd_echo", {"text": "x"})).output == "x"
    text.write_text("As it is.")

    async def noticed() -> list[str]:
        return (await board.imports.mcp(board.admin, command=command, prefix="odd_")).drifted

    assert await until(noticed) == ["odd_echo"]
    refused = await board.call("odd_echo")
    assert refused.problem is not None
    assert refused.problem.code == "drifted"
    accepted, _ = await board.imports.mcp.accept("odd_echo", board.admin)
    assert accepted.description == "As it is."
    assert (await board.call("odd_echo", {"text": "y"})).output == "y"


async def test_every_board_on_the_database_refuses_it(database_url: str, tmp_path: Path) -> None:
    settings = NoSettings(home=tmp_path / "home", egress_allow="127.0.0.1")
    async with (
        changeable_server(tool("say")) as running_server,
        Pegboard.open(database_url, settings=settings) as one,
        Pegboard.open(database_url, settings=settings) as two,
    ):
        await one.imports.mcp(one.admin, server_url=running_server.url)

        async def callable_there() -> bool:
            return (await two.call("say")).success

        await until(callable_there)
        await change(one, running_server)
        await until(lambda: drifted(two))
        await two.imports.mcp.accept("say", two.admin)

        async def accepted_there() -> bool:
            return (await one.call("say", {"text": "x"})).success

        await until(accepted_there)
