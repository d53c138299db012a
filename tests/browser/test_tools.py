"""The list of tools, with the mouse and with the keyboard alone."""

from __future__ import annotations

import re

from playwright.async_api import expect

from pegboard.testing import member
from tests.browser.visit import Visit


async def test_the_list_is_filtered_while_the_person_types_and_the_address_says_so(admin: Visit) -> None:
    page = await admin.open("tools")
    await expect(page.get_by_role("link", name="create_ticket")).to_be_visible()
    await page.get_by_label("Filter by name or description").fill("weath")
    await expect(page.get_by_role("link", name="create_ticket")).to_be_hidden()
    await expect(page.get_by_role("link", name="get_weather")).to_be_visible()
    await expect(page).to_have_url(re.compile(r"q=weath"))
    await page.reload()
    await expect(page.get_by_label("Filter by name or description")).to_have_value("weath")
    await expect(page.get_by_role("link", name="create_ticket")).to_be_hidden()


async def test_a_filter_without_a_match_says_which_to_remove(admin: Visit) -> None:
    page = await admin.open("tools?q=nothing-like-this&kind=mock")
    await page.get_by_role("button", name="Remove all filters").click()
    await expect(page.get_by_role("link", name="get_weather")).to_be_visible()


async def test_filters_by_kind_and_state_show_the_matching_tools(admin: Visit) -> None:
    page = await admin.open("tools")
    await page.get_by_label("Kind").select_option("mock")
    await expect(page.get_by_role("link", name="math_eval")).to_be_hidden()
    await expect(page.get_by_role("link", name="get_weather")).to_be_visible()
    await page.get_by_label("State").select_option("deleted")
    await expect(page.get_by_text("No tool matches these filters")).to_be_visible()


async def test_the_keyboard_alone_filters_chooses_and_opens_a_tool(admin: Visit) -> None:
    page = await admin.open("tools")
    await expect(page.get_by_role("link", name="create_ticket")).to_be_visible()
    await page.keyboard.press("/")
    await page.keyboard.type("ticket")
    await expect(page.get_by_role("link", name="get_weather")).to_be_hidden()
    await page.keyboard.press("Escape")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("link", name="get_weather")).to_be_visible()
    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await page.keyboard.press("k")
    await expect(page.locator("[role=row][data-chosen]")).to_have_count(1)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Arguments")).to_be_visible()


async def test_the_palette_finds_a_tool_and_opens_its_form(admin: Visit) -> None:
    page = await admin.open("overview")
    await expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    await page.keyboard.press("Control+k")
    await page.keyboard.type("weath")
    await expect(page.get_by_text("Call get_weather")).to_be_visible()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="get_weather")).to_be_visible()


async def test_the_list_of_shortcuts_and_the_pages_are_keys_away(admin: Visit) -> None:
    page = await admin.open("overview")
    await expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_hidden()
    await page.keyboard.press("g")
    await page.keyboard.press("t")
    await expect(page.get_by_role("heading", name="Tools", level=1)).to_be_visible()


async def test_only_visible_rows_of_many_tools_are_in_the_page(admin: Visit) -> None:
    for number in range(230):
        await admin.board.add(
            {"name": f"tool_{number:03}", "tool_type": "mock", "input_schema": {}, "config": {"mock_response": 1}}
        )
    page = await admin.open("tools?q=tool_")
    await expect(page.get_by_role("link", name="tool_000")).to_be_visible()
    assert await page.evaluate("document.querySelectorAll('*').length") < 2000
    while not await page.get_by_role("link", name="tool_229").is_visible():
        await page.keyboard.press("End")
        await page.evaluate("new Promise(requestAnimationFrame)")
    assert await page.evaluate("document.querySelectorAll('*').length") < 2000


async def test_a_member_sees_only_the_tools_they_may_call(visit: Visit) -> None:
    private = {"name": "only_admin", "tool_type": "mock", "input_schema": {}, "config": {"mock_response": 1}}
    await visit.board.add({**private, "is_public": False})
    caller = await member(visit.board, "ana")
    key = (await visit.board.people.create_key(caller.user_id, visit.board.admin)).key
    await visit.log_in(key)
    page = await visit.open("tools")
    await expect(page.get_by_role("link", name="get_weather")).to_be_visible()
    await expect(page.get_by_role("link", name="only_admin")).to_be_hidden()
    visit.expected.append("404 (Not Found)")
    await visit.open("tools/only_admin")
    await expect(page.get_by_role("alert")).to_contain_text("only_admin")
