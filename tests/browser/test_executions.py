"""The journal: filters, the panel of a row, and following it with the keyboard."""

from __future__ import annotations

import re

from playwright.async_api import expect

from pegboard.testing import calls_of
from tests.browser.visit import Visit


async def make_calls(visit: Visit) -> None:
    """Make one call that succeeds, one that is refused and one that fails."""
    await visit.board.call("get_weather", {"city": "Lisbon"})
    await visit.board.call("get_weather", {"city": 3})
    await visit.board.call("math_eval", {"expression": "1/0"})


async def test_rows_are_filtered_and_the_address_says_so(admin: Visit) -> None:
    await make_calls(admin)
    page = await admin.open("executions")
    rows = page.get_by_role("table", name="Executions").get_by_role("row")
    await expect(rows).to_have_count(4)
    await page.get_by_label("Status").select_option("refused")
    await expect(rows).to_have_count(2)
    await expect(rows.nth(1)).to_contain_text("invalid_type")
    await expect(page).to_have_url(re.compile("status=refused"))
    await page.get_by_label("Status").select_option("in_doubt")
    await page.get_by_role("button", name="Remove all filters").click()
    await expect(rows).to_have_count(4)


async def test_the_panel_says_why_a_call_failed_and_back_closes_it(admin: Visit) -> None:
    await make_calls(admin)
    page = await admin.open("executions")
    await page.get_by_role("row").filter(has_text="math_eval").get_by_role("link").click()
    panel = page.get_by_role("complementary", name="Execution")
    await expect(panel).to_contain_text("execution_failed")
    await expect(panel).to_contain_text("Division by zero")
    await expect(panel).to_contain_text("Read the message, which is that of the tool")
    await page.go_back()
    await expect(panel).to_be_hidden()


async def test_the_keyboard_alone_opens_follows_and_closes_rows(admin: Visit) -> None:
    await make_calls(admin)
    newest, older = reversed((await calls_of(admin.board))[1:])
    page = await admin.open("executions")
    await expect(page.get_by_role("row")).to_have_count(4)
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    panel = page.get_by_role("complementary", name="Execution")
    await expect(panel).to_contain_text(newest.id)
    await page.keyboard.press("j")
    await expect(panel).to_contain_text(older.id)
    await page.keyboard.press("Escape")
    await expect(panel).to_be_hidden()


async def test_new_rows_wait_until_the_person_asks_for_them(admin: Visit) -> None:
    await make_calls(admin)
    page = await admin.open("executions")
    rows = page.get_by_role("table", name="Executions").get_by_role("row")
    await expect(rows).to_have_count(4)
    await admin.board.call("get_weather", {"city": "Oslo"})
    await expect(page.get_by_role("button", name="1 new")).to_be_visible()
    await expect(rows).to_have_count(4)
    await page.get_by_role("button", name="1 new").click()
    await expect(rows).to_have_count(5)


async def test_recorded_arguments_fill_the_form_of_the_tool(admin: Visit) -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    definition = {"name": "keeper", "tool_type": "mock", "input_schema": schema, "config": {"mock_response": 1}}
    await admin.board.add({**definition, "keep_arguments": True})
    await admin.board.call("keeper", {"city": "Oslo"})
    (row,) = await calls_of(admin.board)
    page = await admin.open(f"executions?open={row.id}")
    await page.get_by_role("link", name="Try again with these arguments").click()
    await expect(page.get_by_label("city")).to_have_value("Oslo")


async def test_an_address_made_by_hand_opens_what_is_right_in_it(admin: Visit) -> None:
    await make_calls(admin)
    admin.expected.append("404 (Not Found)")
    page = await admin.open("executions?status=nonsense&since=yesterday&min_ms=-1&open=no-such-id")
    await expect(page.get_by_role("row")).to_have_count(4)
    await expect(page.get_by_role("alert").filter(has_text="no-such-id")).to_be_visible()
    await admin.open("no/such/page")
    await expect(page.get_by_role("heading", name="No such page")).to_be_visible()
