"""Actions for many tools of the list at once, and deleted tools."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import anyio.to_thread
from playwright.async_api import Page, expect
from typer.testing import CliRunner

from pegboard.surfaces.cli.main import app as program
from pegboard.testing import member
from tests.board_surfaces import KEY
from tests.browser.visit import Visit


def mock(name: str, **definition: Any) -> dict[str, Any]:
    """A mock tool."""
    schema = {"type": "object", "properties": {}}
    return {"name": name, "tool_type": "mock", "input_schema": schema, "config": {"mock_response": 1}} | definition


async def select(page: Page, *names: str) -> None:
    """Select rows of the list."""
    for name in names:
        await page.get_by_role("checkbox", name=f"Select {name}").check()


async def press(page: Page, action: str) -> None:
    """Press a button of the bar for selected tools."""
    await page.get_by_role("region", name="Selected tools").get_by_role("button", name=action, exact=True).click()


async def test_selected_tools_are_deactivated_tagged_deleted_and_restored(admin: Visit) -> None:
    board = admin.board
    for name in ("one", "two", "three"):
        await board.add(mock(name, tags=["old"]))
    page = await admin.open("tools?kind=mock&tag=old")
    await select(page, "one", "two")
    await press(page, "Deactivate")
    await expect(page.get_by_text("Deactivated 2 tools")).to_be_visible()
    await expect(page.get_by_role("row", name=re.compile("two"))).to_contain_text("Inactive")
    await page.get_by_role("button", name="Undo").click()
    await expect(page.get_by_role("row", name=re.compile("two"))).to_contain_text("Active")
    await expect(page.get_by_role("region", name="Selected tools")).to_be_hidden()

    await select(page, "one", "three")
    await press(page, "Tag")
    dialog = page.get_by_role("dialog", name="Tag 2 tools")
    await dialog.get_by_label("Add").fill("new, newer")
    await dialog.get_by_label("Remove").fill("old")
    await dialog.get_by_role("button", name="Tag").click()
    await expect(page.get_by_role("link", name="one")).to_be_hidden()
    assert (await board.tools.get("three", board.admin)).tags == ("new", "newer")

    await page.get_by_role("button", name="Remove the filter: tag old").click()
    await page.get_by_label("Filter by name or description").fill("e")
    await select(page, "one", "three")
    await press(page, "Delete")
    await expect(page.get_by_text("Deleted 2 tools")).to_be_visible()
    await expect(page.get_by_role("link", name="three")).to_be_hidden()
    await page.get_by_label("State").select_option("deleted")
    await select(page, "three")
    await press(page, "Restore")
    await expect(page.get_by_text("Restored 1 tool")).to_be_visible()
    await page.get_by_role("row", name=re.compile("one")).get_by_role("button", name="Restore").click()
    await expect(page.get_by_text("Restored one")).to_be_visible()
    assert (await board.tools.get("one", board.admin)).name == "one"


async def test_each_tool_that_an_action_fails_for_is_named_with_the_reason(visit: Visit) -> None:
    visit.expected.append("403")
    caller = await member(visit.board, "ana")
    await visit.log_in((await visit.board.people.create_key(caller.user_id, visit.board.admin)).key)
    await visit.board.add(mock("own"), caller=caller)
    page = await visit.open("tools?kind=mock")
    await select(page, "get_weather", "own")
    await press(page, "Delete")
    result = page.get_by_role("alert").filter(has_text="Deleted 1 tool, failed for 1")
    await expect(result.get_by_role("listitem")).to_have_text(
        ["get_weather: Tool 'get_weather' belongs to another user"]
    )
    await expect(page.get_by_role("link", name="own")).to_be_hidden()
    await expect(page.get_by_role("region", name="Selected tools")).to_contain_text("1 tool selected")
    await result.get_by_role("button", name="Close").click()
    await expect(result).to_be_hidden()


async def test_the_keyboard_alone_selects_and_deletes(admin: Visit) -> None:
    for name in ("keyed_a", "keyed_b"):
        await admin.board.add(mock(name))
    page = await admin.open("tools?q=keyed")
    await expect(page.get_by_role("link", name="keyed_a")).to_be_visible()
    for key in ("j", "x", "j", "x"):
        await page.keyboard.press(key)
    bar = page.get_by_role("region", name="Selected tools")
    await expect(bar).to_contain_text("2 tools selected")
    await page.keyboard.press("Escape")
    await expect(bar).to_be_hidden()
    await page.keyboard.press("x")
    await bar.get_by_role("button", name="Delete").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("link", name="keyed_b")).to_be_hidden()
    await expect(page.get_by_role("link", name="keyed_a")).to_be_visible()


async def test_selected_tools_are_put_on_an_agent(admin: Visit) -> None:
    board = admin.board
    one = await board.add(mock("one"))
    two = await board.add(mock("two"))
    agent = await board.people.create_agent("helper", [one.id], board.admin, None)
    page = await admin.open("tools?kind=mock")
    await select(page, "one", "two")
    await press(page, "Put on an agent")
    dialog = page.get_by_role("dialog", name="Put 2 tools on an agent")
    await dialog.get_by_label("Agent").select_option("helper")
    await dialog.get_by_role("button", name="Put on the agent").click()
    await expect(page.get_by_text("Put 2 tools on helper")).to_be_visible()
    assert set(board.people.get_agent(agent.id, board.admin).tools) == {one.id, two.id}


async def test_the_exported_yaml_is_applied_by_the_command(admin: Visit, tmp_path: Path) -> None:
    board = admin.board
    code = "def py(a: int) -> int:\n    # it adds\n    return a + 1\n"
    python = {"name": "py", "tool_type": "python", "config": {"code": code}, "tags": ["no", "0o7", "2024-01-01"]}
    await board.add(python)
    await board.add(mock("limited", rate_limit={"max_calls": 3, "period": "minute"}, fallback={"value": None}))
    await board.add(mock("plain", description='<b>"quoted": #not a comment\u202e', timeout=2.5))
    await board.add(mock("exact") | {"config": {"mock_response": {"n": 9007199254740993}}})
    names = ["py", "limited", "plain", "exact"]
    page = await admin.open("tools")
    await select(page, *names, "math_eval")
    async with page.expect_download() as download:
        await press(page, "Export as YAML")
    await expect(page.get_by_role("alert").filter(has_text="Exported 4 tools")).to_contain_text("math_eval")
    file = tmp_path / "tools.yaml"
    await (await download.value).save_as(file)
    before = {name: (await board.tools.get(name, board.admin)) for name in names}

    async def apply() -> str:
        environment = {"PEGBOARD_URL": admin.url, "PEGBOARD_KEY": KEY}
        result = await anyio.to_thread.run_sync(
            lambda: CliRunner().invoke(program, ["apply", str(file)], env=environment)
        )
        assert result.exit_code == 0, result.output
        return result.output

    assert "Nothing to do" in await apply()
    for name in names:
        await board.tools.delete(name, board.admin)
    assert "4 created" in await apply()
    for name in names:
        tool = await board.tools.get(name, board.admin)
        assert board.tools.has_same_definition(before[name], tool), name
