"""Importing an API document, and importing it again."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.model.api_errors import Forbidden, Invalid
from pegboard.model.call import Caller
from pegboard.model.filters import ExecutionFilter, ToolFilter
from pegboard.model.import_report import ImportReport
from pegboard.model.tool import Tool
from pegboard.testing import member
from tests.api_documents import large, pets
from tests.upstreams import upstream

BASE = "https://api.example.com/v1"


async def names(board: Pegboard) -> list[str]:
    """The http tools on the board."""
    page = await board.tools.page(ToolFilter(), board.admin, cursor=None, limit=10_000)
    return [tool.name for tool in page.items if tool.tool_type == "http"]


async def version(board: Pegboard, name: str) -> int:
    return (await board.tools.get(name, board.admin)).version


async def again(board: Pegboard, document: Any, **given: Any) -> ImportReport:
    return await board.imports.openapi(board.admin, document=document, **given)


async def test_hundreds_of_operations_become_tools_and_stay_the_same_tools(stored: Pegboard) -> None:
    document = large(200)
    first = await again(stored, document)
    assert (len(first.created), first.left_out, first.updated, first.unchanged) == (200, [], [], [])
    assert sorted(await names(stored)) == sorted(first.created)
    before = {tool.id for name in first.created for tool in [await stored.tools.get(name, stored.admin)]}

    second = await again(stored, document)
    assert (second.created, second.updated, second.gone, second.changes) == ([], [], [], {})
    assert second.unchanged == first.created
    after = {tool.id for name in first.created for tool in [await stored.tools.get(name, stored.admin)]}
    assert after == before
    assert await version(stored, first.created[0]) == 1


async def test_only_what_changed_is_updated_and_the_change_is_reported(stored: Pegboard) -> None:
    document = pets("cats", "dogs")
    await again(stored, document)
    document["paths"]["/dogs"]["get"]["summary"] = "Look at all dogs"
    taken = await again(stored, document)
    assert (taken.updated, taken.unchanged, taken.created, taken.gone) == (["dogs"], ["cats"], [], [])
    both = {"before": "Look at dogs", "after": "Look at all dogs"}
    assert taken.changes == {"dogs": {"description": both}}
    assert (await version(stored, "dogs"), await version(stored, "cats")) == (2, 1)
    assert (await stored.tools.get("dogs", stored.admin)).description == "Look at all dogs"


async def test_a_dry_run_reports_the_same_and_writes_nothing(stored: Pegboard) -> None:
    document = pets("cats", "dogs")
    promised = await again(stored, document, dry_run=True)
    assert promised.created == ["cats", "dogs"]
    assert await names(stored) == []
    assert await again(stored, document) == promised
    document["paths"]["/dogs"]["get"]["parameters"] = [{"name": "q", "in": "query", "schema": {"type": "string"}}]
    document["paths"]["/fish"] = {"get": {"operationId": "fish"}}
    del document["paths"]["/cats"]
    promised = await again(stored, document, dry_run=True)
    assert (promised.created, promised.updated, promised.gone) == (["fish"], ["dogs"], ["cats"])
    assert promised.changes["dogs"]["input_schema"]["after"]["properties"] == {"q": {"type": "string"}}
    assert await names(stored) == ["cats", "dogs"]
    assert await version(stored, "dogs") == 1
    assert await again(stored, document) == promised


async def test_an_operation_that_is_no_longer_there_is_reported_and_left_alone(board: Pegboard) -> None:
    await again(board, pets("cats", "dogs"))
    taken = await again(board, pets("dogs"))
    assert (taken.gone, taken.unchanged) == (["cats"], ["dogs"])
    assert await names(board) == ["cats", "dogs"]


async def test_one_that_is_chosen_or_left_out_is_not_gone(board: Pegboard) -> None:
    await again(board, pets("cats", "dogs"))
    assert (await again(board, pets("cats", "dogs"), include=["dogs"])).gone == []
    broken = pets("cats", "dogs")
    broken["paths"]["/cats"]["get"]["parameters"] = [{"name": "x", "in": "header", "schema": {"$ref": "#/no"}}]
    broken["paths"]["/cats"]["get"]["parameters"][0]["required"] = True
    taken = await again(board, broken)
    assert ([each.name for each in taken.left_out], taken.gone) == (["cats"], [])


async def test_the_same_document_under_two_prefixes_is_two_sets_of_tools(board: Pegboard) -> None:
    both = pets("cats", "dogs")
    await again(board, both)
    assert (await again(board, both, prefix="my_")).created == ["my_cats", "my_dogs"]
    assert await again(board, both) == ImportReport(unchanged=["cats", "dogs"])
    assert await again(board, both, prefix="my_") == ImportReport(unchanged=["my_cats", "my_dogs"])
    assert (await again(board, pets("dogs"), prefix="my_")).gone == ["my_cats"]


async def test_a_renamed_operation_is_a_new_tool_and_the_old_one_is_gone(board: Pegboard) -> None:
    document = pets("cats")
    await again(board, document)
    document["paths"]["/cats"]["get"]["operationId"] = "every_cat"
    taken = await again(board, document)
    assert (taken.created, taken.gone) == (["every_cat"], ["cats"])


async def test_what_the_owner_set_since_is_kept(stored: Pegboard) -> None:
    document = pets("cats")
    await again(stored, document)
    own = {
        "is_public": True,
        "is_active": False,
        "timeout": 7,
        "rate_limit": {"max_calls": 3, "period": "minute"},
        "retry": {"max_attempts": 2, "on": ["transport"]},
        "tags": ["mine", "openapi:pets"],
        "auth_config": {"type": "bearer", "token": "tok-123456"},
        "config": {
            "url": f"{BASE}/cats",
            "method": "GET",
            "timeout": 3,
            "headers": {"X-Own": "value-of-mine"},
            "response": "full",
        },
    }
    before = await stored.tools.update("cats", own, stored.admin)
    assert (await again(stored, document)).unchanged == ["cats"]
    document["paths"]["/cats"]["get"]["description"] = "New words"
    assert (await again(stored, document)).updated == ["cats"]
    after = await stored.tools.get("cats", stored.admin)
    for field in ("is_public", "is_active", "timeout", "rate_limit", "retry", "tags", "sealed_auth", "config"):
        assert getattr(after, field) == getattr(before, field), field
    assert "New words" in (after.description or "")


async def test_a_repeated_import_can_change_the_visibility(board: Pegboard) -> None:
    await again(board, pets("cats"), is_public=True)
    assert (await board.tools.get("cats", board.admin)).is_public
    assert (await again(board, pets("cats"))).unchanged == ["cats"]
    assert (await again(board, pets("cats"), is_public=False)).updated == ["cats"]


async def _own_tool(board: Pegboard, caller: Caller, **others: Any) -> Tool:
    base = {"name": "cats", "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {"type": "object"}}
    return await board.add({**base, **others}, caller=caller)


@pytest.mark.parametrize("as_admin", [False, True])
async def test_another_users_tool_is_never_overwritten_not_even_by_an_admin(board: Pegboard, as_admin: bool) -> None:
    other = await member(board)
    owner, importer = (other, board.admin) if as_admin else (board.admin, other)
    await board.imports.openapi(owner, document=pets("cats", "dogs"))
    auth = {"type": "bearer", "token": "importers-own-token"}
    taken = await board.imports.openapi(importer, document=pets("cats", "fish"), auth_config=auth)
    assert taken.created == ["fish"]
    assert [(each.name, each.reason) for each in taken.left_out] == [
        ("cats", "a tool of this name belongs to another user; import with another prefix")
    ]
    cats = await board.tools.get("cats", board.admin)
    assert (cats.owner_id, cats.version, cats.sealed_auth) == (owner.user_id, 1, None)
    assert (await board.imports.openapi(importer, document=pets("cats"), prefix="my_")).created == ["my_cats"]


@pytest.mark.parametrize(
    "before",
    [
        {"name": "cats"},
        {"name": "CATS", "tags": ["openapi:pets"]},
        {
            "name": "cats",
            "tool_type": "http",
            "config": {"url": "https://elsewhere.example.com/cats", "method": "GET"},
        },
    ],
)
async def test_a_tool_from_elsewhere_is_never_overwritten(board: Pegboard, before: dict[str, Any]) -> None:
    made = await _own_tool(board, board.admin, **before)
    taken = await again(board, pets("cats", "dogs"))
    assert taken.created == ["dogs"]
    (left,) = taken.left_out
    assert left.name == "cats"
    assert "does not come from this source; import with another prefix" in left.reason
    assert await board.tools.get("cats", board.admin) == made


async def test_two_apis_of_one_title_do_not_overwrite_each_other(board: Pegboard) -> None:
    await again(board, pets("read_root", "only_there", title="FastAPI", base="https://one.example.com"))
    taken = await again(board, pets("read_root", "mine", title="FastAPI", base="https://two.example.com"))
    assert (taken.created, taken.updated, taken.gone) == (["mine"], [], [])
    assert "does not come from this source" in taken.left_out[0].reason
    assert (await board.tools.get("read_root", board.admin)).config["url"] == "https://one.example.com/read_root"


async def test_a_document_with_a_new_title_is_the_same_source_if_its_routes_are(board: Pegboard) -> None:
    await again(board, pets("cats", title="Pets"))
    renamed = pets("cats", title="Animals")
    assert await again(board, renamed) == ImportReport(unchanged=["cats"])
    renamed["paths"]["/cats"]["get"]["summary"] = "Look at every cat"
    assert (await again(board, renamed)).updated == ["cats"]


async def test_names_that_are_taken_otherwise_are_left_out(board: Pegboard) -> None:
    @board.tool
    def cats() -> int:
        return 1

    taken = await again(board, pets("cats", "echo", "dogs"))
    assert taken.created == ["dogs"]
    reasons = {each.name: each.reason for each in taken.left_out}
    assert set(reasons) == {"cats", "echo"}
    assert all("import with another prefix" in reason for reason in reasons.values())
    assert (await board.call("echo", {"message": "x"})).success


async def test_agents_import_nothing(board: Pegboard) -> None:
    caller = Caller(board.admin.user_id, "admin", "admin", agent_id="an-agent")
    with pytest.raises(Forbidden, match="agent"):
        await board.imports.openapi(caller, document=pets("cats"))
    assert await names(board) == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "document: give either document or url"),
        ({"document": {}, "url": "https://x.example"}, "document: give either document or url"),
        ({"document": {"a": 1}}, "not an API document"),
        ({"document": "<html></html>"}, "HTML"),
        ({"document": "{"}, "cannot be read in line 1"),
        ({"document": b"\xff\xfe"}, "UTF-8"),
        ({"document": ""}, "empty"),
        ({"document": pets("a"), "prefix": "1 "}, "prefix: "),
        ({"document": pets("a"), "include": [""]}, "include: "),
        ({"document": pets("a"), "auth_config": {"type": "bearer"}}, "auth_config: "),
        ({"document": pets("a"), "server_url": "ftp://x"}, "server_url"),
        ({"url": "https://user:hunter2@api.example.com/"}, "url: a URL may not hold a user or password"),
        ({"url": "file:///etc/passwd"}, "url must start with http"),
    ],
)
async def test_what_cannot_be_imported_is_refused_with_the_reason(
    board: Pegboard, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(Invalid) as refused:
        await board.imports.openapi(board.admin, **given)
    assert message in refused.value.message
    assert "hunter2" not in refused.value.message


async def test_private_servers_are_left_out_unless_allowed_and_nothing_is_sent_to_them(board: Pegboard) -> None:
    async with upstream() as server:
        document = pets("here", "meta", base=server.url)
        for host in ("169.254.169.254", "[::1]", "10.1.2.3", "2130706434", "0x7f.2"):
            document["paths"]["/meta"]["get"]["servers"] = [{"url": f"http://{host}/x"}]
            taken = await again(board, document)
            assert [each.name for each in taken.left_out] == ["meta"], host
            assert "PEGBOARD_EGRESS_ALLOW" in taken.left_out[0].reason
        assert taken.unchanged == ["here"]
        assert server.received == []
        assert (await board.call("here")).success
    page = await board.executions(ExecutionFilter())
    assert [row.tool_name for row in page.items] == ["here"]
