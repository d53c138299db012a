"""The documentation of the API in a browser, under the policy of the pages."""

from __future__ import annotations

from playwright.async_api import expect

from tests.browser.visit import Visit


async def test_the_api_is_documented_and_can_be_tried_under_a_strict_policy(admin: Visit) -> None:
    page = admin.page
    await page.goto(f"{admin.url}/docs")
    await expect(page.locator(".title").first).to_contain_text("Pegboard")
    operation = page.locator("#operations-calls-list_dialects")
    await operation.get_by_role("button").first.click()
    await operation.get_by_role("button", name="Try it out").click()
    await operation.get_by_role("button", name="Execute").click()
    await expect(operation.locator(".live-responses-table .response").first).to_contain_text("200")
