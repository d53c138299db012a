"""Importing the tools of another MCP server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pegboard import Pegboard
from pegboard.model.import_report import ImportReport
from pegboard.testing import member
from tests.unit.kinds.mcp.changeable_server import changeable_server, odd, tool
from tests.waiting import until


async def test_each_tool_of_a_server_becomes_a_tool_that_can_be_called_at_once(stored: Pegboard) -> None:
    shaped = {"type": "object", "properties": {"at": {"type": "number"}}, "required": ["at"]}
    hints = {"readOnlyHint": True, "destructiveHint": True, "idempotentHint": True, "title": "From the hints"}
    first = tool("say", "Says it.", title="Say It", outputSchema=shaped)
    async with changeable_server(
        first, tool("look", annotations=hints), tool("wipe", None, annotations={"destructiveHint": True})
    ) as running_server:
        taken = await stored.imports.mcp(stored.admin, server_url=running_server.url, is_public=True)
        assert taken == ImportReport(created=["say", "look", "wipe"])
        say, look, wipe = [await stored.tools.get(name, stored.admin) for name in taken.created]
        assert (say.description, say.display_name, say.is_public) == ("Says it.", "Say It", True)
        assert say.input_schema == {"$schema": "https://json-schema.org/draft/2020-12/schema", **first["inputSchema"]}
        assert say.output_schema == {"$schema": "https://json-schema.org/draft/2020-12/schema", **shaped}
        assert {key: say.config[key] for key in ("server_url", "tool")} == {
            "server_url": running_server.url,
            "tool": "say",
        }
        assert len(say.config["pinned"]) == 64
        assert (look.read_only, look.idempotent, look.destructive, look.display_name) == (
            True,
            True,
            False,
            "From the hints",
        )
        assert (wipe.read_only, wipe.destructive, wipe.description) == (False, True, None)
        answer = await stored.call("look", {"text": "hello"})
        assert answer.output == '{"called": "look", "text": "hello"}'


async def test_importing_again_changes_nothing_and_asks_for_the_session_it_has(stored: Pegboard) -> None:
    async with changeable_server(tool("say"), tool("look")) as running_server:
        await stored.imports.mcp(stored.admin, server_url=running_server.url)
        assert (await stored.call("say")).success
        assert await stored.imports.mcp(stored.admin, server_url=running_server.url) == ImportReport(
            unchanged=["say", "look"]
        )
        started = [got.body for got in running_server.server.received if b'"initialize"' in got.body]
        # Each import also declares that the client supports elicitation.
        assert [b'"sampling"' in body for body in started] == [False, True, True]


async def test_a_server_that_was_restarted_or_changed_a_moment_ago_is_asked_again(board: Pegboard) -> None:
    async with changeable_server(tool("say")) as running_server:
        await board.imports.mcp(board.admin, server_url=running_server.url)
        for name in ("look", "hear"):
            running_server.tools.append(tool(name))
            running_server.restart()
            assert (await board.imports.mcp(board.admin, server_url=running_server.url)).created == [name]


async def test_a_dry_run_writes_nothing(board: Pegboard) -> None:
    async with changeable_server(tool("say")) as running_server:
        assert (await board.imports.mcp(board.admin, server_url=running_server.url, dry_run=True)).created == ["say"]
        assert (await board.call("say")).problem is not None
        assert running_server.calls == []


async def test_names_are_made_fit_and_distinguished(board: Pegboard) -> None:
    names = ["get/user", "get user", "GET_USER", "1st", "class", "名前", "x" * 300, "{{secret:KEY}}"]
    async with changeable_server(*map(tool, names)) as running_server:
        taken = await board.imports.mcp(board.admin, server_url=running_server.url)
        assert [name[:20] for name in taken.created] == ["get_user", "_1st", "class_", taken.created[3], "x" * 20]
        assert [(each.name, each.reason) for each in taken.left_out] == [
            ("get user", "has the same name as 'get/user' by the rules of this board"),
            ("GET_USER", "has the same name as 'get/user' by the rules of this board"),
            ("{{secret:KEY}}", "its name holds '{{', which would refer to a secret of yours"),
        ]
        for name, wire in zip(taken.created, ["get/user", "1st", "class", "名前", "x" * 300], strict=True):
            assert (await board.call(name)).success
            assert running_server.calls[-1]["name"] == wire


async def test_prefix_and_patterns_choose_and_name(board: Pegboard) -> None:
    async with changeable_server(tool("get_a"), tool("get_b"), tool("put_a")) as running_server:
        given: dict[str, Any] = {"server_url": running_server.url, "prefix": "it_", "include": ["GET_*", "nothing*"]}
        taken = await board.imports.mcp(board.admin, **given)
        assert taken.created == ["it_get_a", "it_get_b"]
        assert [each.name for each in taken.left_out] == ["nothing*"]
        assert (await board.call("it_get_b")).success
        assert running_server.calls[-1]["name"] == "get_b"
        assert (await board.imports.mcp(board.admin, **given)).unchanged == taken.created
        assert (await board.imports.mcp(board.admin, server_url=running_server.url)).created == [
            "get_a",
            "get_b",
            "put_a",
        ]


async def test_definitions_that_the_board_cannot_take_are_left_out_with_the_reason(board: Pegboard) -> None:
    bad = [
        tool("remote", inputSchema={"type": "object", "$ref": "https://example.com/schema.json"}),
        tool("broken", inputSchema={"type": "object", "properties": {"a": {"type": "nothing"}}}),
        tool("nul", "a\0b"),
        tool("later", inputSchema={"$schema": "https://example.com/draft-99", "type": "object"}),
    ]
    async with changeable_server(*bad, tool("good", "w " * 5000)) as running_server:
        taken = await board.imports.mcp(board.admin, server_url=running_server.url)
        assert taken.created == ["good"]
        assert [each.name for each in taken.left_out] == ["remote", "broken", "nul", "later"]
        starts = ["input_schema", "input_schema", "description", "input_schema"]
        assert [each.reason.partition(":")[0].partition(".")[0] for each in taken.left_out] == starts
        description = (await board.tools.get("good", board.admin)).description or ""
        assert len(description) <= 2000
        assert description.endswith("w…")


async def test_a_tool_that_the_server_no_longer_offers_is_reported(board: Pegboard) -> None:
    async with changeable_server(tool("say"), tool("look")) as running_server:
        await board.imports.mcp(board.admin, server_url=running_server.url)
        running_server.tools.pop()

        async def gone() -> Any:
            taken = await board.imports.mcp(board.admin, server_url=running_server.url, include=["say"])
            return taken.gone and taken

        taken = await until(gone)
        assert (taken.gone, taken.unchanged) == (["look"], ["say"])
        answer = await board.call("look")
        assert answer.problem is not None
        assert (answer.problem.code, "no tool 'look'; it offers: say" in answer.problem.message) == (
            "upstream_failed",
            True,
        )
        running_server.tools.append(tool("look"))
        assert (await until(lambda: _succeeds(board, "look"))).success


async def _succeeds(board: Pegboard, name: str) -> Any:
    answer = await board.call(name)
    return answer if answer.success else None


async def test_a_tool_of_another_user_or_from_elsewhere_is_left_alone(board: Pegboard) -> None:
    other = await member(board)
    async with (
        changeable_server(tool("say"), tool("look")) as running_server,
        changeable_server(tool("say", "Another."), tool("look")) as twin,
    ):
        await board.imports.mcp(other, server_url=running_server.url)
        taken = await board.imports.mcp(board.admin, server_url=running_server.url)
        assert {each.reason for each in taken.left_out} == {
            "a tool of this name belongs to another user; import with another prefix"
        }
        taken = await board.imports.mcp(other, server_url=twin.url, accept=True)
        assert [each.name for each in taken.left_out] == ["say", "look"]
        assert all("does not come from this source" in each.reason for each in taken.left_out)
        assert (await board.tools.get("say", other)).description == "Says something."


async def test_no_one_flags_or_sees_the_tools_of_others_by_importing_from_their_server(board: Pegboard) -> None:
    other = await member(board)
    async with changeable_server(tool("say", "For admins: the keys are under the mat.")) as running_server:
        await board.imports.mcp(board.admin, server_url=running_server.url)
        running_server.tools[0] = tool("say", "For members.")
        running_server.restart()
        taken = await board.imports.mcp(other, server_url=running_server.url)
        assert (taken.drifted, taken.changes, [each.name for each in taken.left_out]) == ([], {}, ["say"])
        assert not (await board.tools.get("say", board.admin)).drifted


async def test_an_admins_command_is_started_and_its_tools_are_called(stored: Pegboard, tmp_path: Path) -> None:
    taken = await stored.imports.mcp(
        stored.admin, command=odd("folder"), working_dir=str(tmp_path), env={"LC_ALL": "C"}, prefix="odd_"
    )
    assert taken.created == ["odd_echo"]
    assert (await stored.call("odd_echo")).output == str(tmp_path)
    assert await stored.imports.mcp(stored.admin, command=odd("folder"), prefix="odd_") == ImportReport(
        unchanged=["odd_echo"]
    )
    assert (await stored.call("odd_echo")).output == str(tmp_path)


async def test_the_tools_of_a_server_have_its_tag_until_their_owner_changes_it(board: Pegboard) -> None:
    async with changeable_server(tool("say")) as running_server:
        await board.imports.mcp(board.admin, server_url=running_server.url)
        tag = f"mcp:{running_server.url.partition('://')[2].partition('/')[0]}"
        assert list((await board.tools.get("say", board.admin)).tags) == [tag]
        await board.tools.update("say", {"tags": ["mine"]}, board.admin)
        running_server.tools[0] = tool("say", "Otherwise.")
        running_server.restart()
        taken = await board.imports.mcp(board.admin, server_url=running_server.url)
        assert taken.drifted == ["say"]
        accepted, _ = await board.imports.mcp.accept("say", board.admin)
        assert list(accepted.tags) == ["mine"]
    await board.imports.mcp(board.admin, command=odd("fine"), prefix="c_")
    assert next(iter((await board.tools.get("c_echo", board.admin)).tags)).endswith(" faulty_server.py")
