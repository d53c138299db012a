"""The page Connect: its texts, the agent in their address, and the tests of the connection."""

from __future__ import annotations

import re
import subprocess

import anyio.to_thread
from playwright.async_api import Page, expect

from pegboard.testing import calls_of, member
from tests.board_surfaces import KEY
from tests.browser.test_try_it import mock
from tests.browser.visit import Visit


async def read_text(page: Page) -> str:
    """The text to copy."""
    return await page.get_by_role("region", name="Text to copy").inner_text()


async def test_the_command_of_the_page_runs_as_it_stands(admin: Visit) -> None:
    page = await admin.open("connect")
    await expect(page.get_by_role("heading", name="curl")).to_be_visible()
    await expect(page.get_by_role("region", name="Text to copy")).to_contain_text("get_weather")
    text = await read_text(page)
    assert KEY not in await page.content()

    def run() -> subprocess.CompletedProcess[str]:
        variables = {"PATH": "/usr/bin:/bin", "PEGBOARD_KEY": KEY}
        return subprocess.run(
            ["sh", "-c", text], env=variables, capture_output=True, text=True, timeout=60, check=False
        )

    ended = await anyio.to_thread.run_sync(run)
    assert '"success":true' in ended.stdout, ended.stderr


async def test_the_page_makes_the_call_over_rest_and_over_mcp_and_leads_to_its_row(admin: Visit) -> None:
    page = await admin.open("connect")
    await page.get_by_role("button", name="Test over REST").click()
    test = page.get_by_role("region", name="Self-test")
    await expect(test.get_by_text("Succeeded")).to_be_visible()
    await expect(test.get_by_role("region", name="Answer")).to_contain_text("temperature_c")
    await page.get_by_role("link", name="Cursor").click()
    await expect(page).to_have_url(re.compile("way=cursor"))
    assert f"{admin.url}/mcp" in await read_text(page)
    await page.get_by_role("button", name="Test over MCP").click()
    for step in ("initialize", "tools/list", "tools/call get_weather"):
        await expect(test.get_by_text(step, exact=True)).to_be_visible()
    await test.get_by_role("link", name="Its row in Executions").click()
    await expect(page.get_by_role("complementary", name="Execution")).to_contain_text("get_weather")
    rows = await calls_of(admin.board, "get_weather")
    assert [(row.surface, row.dialect, row.status) for row in rows] == [
        ("console", "plain", "succeeded"),
        ("console", "mcp", "succeeded"),
    ]
    await page.go_back()
    await expect(page.get_by_role("heading", name="Cursor")).to_be_visible()


async def test_the_keyboard_chooses_an_agent_and_a_client_and_tests_it(admin: Visit) -> None:
    await admin.board.add(mock("its_tool", {"answer": 42}))
    await admin.board.people.create_agent("a helper", ["its_tool"], admin.board.admin, None)
    page = await admin.open("overview")
    await expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    await page.keyboard.press("g")
    await page.keyboard.press("c")
    await expect(page.get_by_role("heading", name="Connect")).to_be_visible()
    await expect(page.get_by_label("Which tools").locator("option")).to_have_count(2)
    await page.get_by_label("Which tools").focus()
    await page.keyboard.press("ArrowDown")
    await expect(page).to_have_url(re.compile("agent=a"))
    await expect(page.get_by_text("pegboard keys create --agent 'a helper'")).to_be_visible()
    await page.get_by_role("link", name="Claude Code").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("region", name="Text to copy")).to_contain_text("/agents/a%20helper/mcp")
    await expect(page.get_by_label("Tool of the examples").locator("option")).to_have_count(2)
    await page.get_by_label("Tool of the examples").focus()
    await page.keyboard.press("ArrowDown")
    await page.get_by_role("button", name="Test over MCP").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("1 tool,")).to_be_visible()
    await expect(page.get_by_role("region", name="Answer")).to_contain_text("42")


async def test_a_wrong_address_says_what_is_wrong(visit: Visit) -> None:
    caller = await member(visit.board, "ana")
    await visit.log_in((await visit.board.people.create_key(caller.user_id, visit.board.admin)).key)
    visit.expected.append("404 (Not Found)")
    await visit.board.people.create_agent("of admin", [], visit.board.admin, None)
    page = await visit.open("connect?agent=of%20admin")
    await expect(page.get_by_role("alert")).to_contain_text("'of admin' not found")
    await expect(page.get_by_role("button", name="Test over REST")).to_have_count(0)
    await visit.open("connect?way=none")
    await expect(page.get_by_text("There is no way to connect with this name")).to_be_visible()
    await visit.open("connect?tool=none")
    await expect(page.get_by_text("The tool of the examples does not exist")).to_be_visible()
