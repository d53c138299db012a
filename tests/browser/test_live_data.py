"""Lists follow the server: what is new waits behind a button, in one connection for all tabs, also after a break."""

from __future__ import annotations

import anyio
from playwright.async_api import Page, expect

from tests.browser.relay import relayed
from tests.browser.test_try_it import mock
from tests.browser.visit import Visit

# The browser of the tests shows all tabs at once; the page reads this instead.
VISIBILITY = """
  globalThis.shownState = 'visible'
  Object.defineProperty(document, 'visibilityState', { get: () => globalThis.shownState })
"""
SHOW = "state => { globalThis.shownState = state; document.dispatchEvent(new Event('visibilitychange')) }"


async def wait_for_readers(visit: Visit, count: int) -> None:
    """Wait until this many clients watch the calls of the board."""
    with anyio.fail_after(30):
        while visit.board.watchers.count != count:  # noqa: ASYNC110 -- the browser connects and leaves
            await anyio.sleep(0.01)


async def test_changed_tools_wait_until_the_person_asks_for_them(admin: Visit) -> None:
    page = await admin.open("tools")
    rows = page.get_by_role("table", name="Tools").get_by_role("row")
    await expect(page.get_by_role("link", name="get_weather")).to_be_visible()
    before = await rows.count()
    await admin.board.add(mock("a_new_tool", 1))
    await expect(page.get_by_role("button", name="1 changed")).to_be_visible()
    assert await rows.count() == before
    await page.get_by_role("button", name="1 changed").click()
    await expect(page.get_by_role("link", name="a_new_tool")).to_be_visible()
    await expect(page.get_by_role("button", name="Reload")).to_be_visible()


async def test_an_opened_tool_shows_what_another_person_changes(admin: Visit) -> None:
    page = await admin.open("tools/get_weather")
    await page.get_by_label("city").fill("Oslo")
    await admin.board.tools.update("get_weather", {"description": "Changed meanwhile"}, admin.board.admin)
    await expect(page.get_by_text("Changed meanwhile")).to_be_visible()
    await expect(page.get_by_label("city")).to_have_value("Oslo")


async def test_only_calls_that_match_the_filters_are_new(admin: Visit) -> None:
    await admin.board.call("get_weather", {"city": "Lisbon"})
    page = await admin.open("executions?tool=get_weather")
    await expect(page.get_by_role("row")).to_have_count(2)
    await wait_for_readers(admin, 1)
    await admin.board.call("echo", {})
    await admin.board.call("get_weather", {"city": "Oslo"})
    await expect(page.get_by_role("button", name="1 new")).to_be_visible()


async def test_tabs_share_a_connection_and_a_hidden_one_gives_it_up(admin: Visit) -> None:
    await admin.context.add_init_script(VISIBILITY)
    first = await admin.open("executions")
    second = await admin.context.new_page()
    await wait_for_readers(admin, 1)
    await second.goto(first.url)
    await expect(second.get_by_text("No calls yet")).to_be_visible()

    async def expect_news(page: Page, count: int) -> None:
        await admin.board.call("echo", {})
        await expect(page.get_by_role("button", name=f"{count} new")).to_be_visible()

    await expect_news(second, 1)
    assert admin.board.watchers.count == 1
    await first.evaluate(SHOW, "hidden")
    await expect_news(second, 2)
    await second.evaluate(SHOW, "hidden")
    await wait_for_readers(admin, 0)
    await admin.board.call("echo", {})
    await first.evaluate(SHOW, "visible")
    await expect(first.get_by_role("button", name="3 new")).to_be_visible()


async def test_after_a_break_the_page_goes_on_by_itself(admin: Visit) -> None:
    admin.expected.append("net::ERR_")
    async with relayed(admin.url) as relay:
        admin.url = relay.url
        await admin.log_in()
        await admin.board.call("get_weather", {"city": "Lisbon"})
        page = await admin.open("executions")
        await expect(page.get_by_role("row")).to_have_count(2)
        await wait_for_readers(admin, 1)
        relay.disconnect()
        notice = page.get_by_text("No connection to the server")
        await expect(notice).to_be_visible()
        await expect(page.get_by_role("row")).to_have_count(2)
        await wait_for_readers(admin, 0)
        await admin.board.call("get_weather", {"city": "Oslo"})
        await relay.connect()
        await expect(notice).to_be_hidden()
        await expect(page.get_by_role("button", name="1 new")).to_be_visible()
