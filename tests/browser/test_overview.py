"""The overview: numbers that link to what they count, and an empty board."""

from __future__ import annotations

from playwright.async_api import expect

from tests.browser.test_executions import make_calls
from tests.browser.visit import Visit


async def test_an_empty_board_shows_the_first_steps_and_they_work(admin: Visit) -> None:
    page = await admin.open("")
    await page.get_by_role("link", name="get_weather").click()
    await page.get_by_label("city").fill("Lisbon")
    await page.get_by_role("button", name="Call").click()
    await expect(page.get_by_text("Succeeded")).to_be_visible()


async def test_each_number_leads_to_the_calls_that_it_counts(admin: Visit) -> None:
    await make_calls(admin)
    page = await admin.open("overview")
    await expect(page.get_by_role("link", name="Calls 3")).to_be_visible()
    await page.get_by_role("link", name="Failed 1").click()
    rows = page.get_by_role("table", name="Executions").get_by_role("row")
    await expect(rows).to_have_count(2)
    await expect(rows.nth(1)).to_contain_text("math_eval")


async def test_the_chart_is_also_a_table_and_the_span_is_in_the_address(admin: Visit) -> None:
    await make_calls(admin)
    page = await admin.open("overview?span=week")
    await expect(page.get_by_role("heading", name="Calls by day")).to_be_visible()
    await page.get_by_text("24 hours").click()
    await expect(page.get_by_role("heading", name="Calls by hour")).to_be_visible()
    await page.get_by_role("button", name="Show as a table").click()
    await expect(page.get_by_role("region", name="Calls by hour as a table").get_by_role("row").nth(1)).to_contain_text(
        "3"
    )


async def test_the_keyboard_alone_reaches_a_tool_that_fails(admin: Visit) -> None:
    await make_calls(admin)
    page = await admin.open("overview")
    worst = page.get_by_role("region", name="Most failed or refused calls").get_by_role("link").first
    await expect(worst).to_be_visible()
    for _ in range(60):
        if await worst.evaluate("link => link === document.activeElement"):
            break
        await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Executions", level=1)).to_be_visible()
