"""The page Live: running calls with progress and cancel, and calls that end while the page is open."""

from __future__ import annotations

import asyncio
import re

import anyio
from playwright.async_api import Page, expect

from pegboard import CallContext
from pegboard.testing import calls_of
from tests.browser.test_live_data import wait_for_readers
from tests.browser.visit import Visit


async def open_live(visit: Visit, path: str = "live") -> Page:
    """Open the page, and wait until it receives events."""
    page = await visit.open(path)
    await wait_for_readers(visit, 1)
    return page


async def test_a_running_call_is_shown_with_its_progress_and_can_be_cancelled(admin: Visit) -> None:
    @admin.board.tool
    async def copy_files(context: CallContext) -> str:
        """Copy files."""
        context.progress(3, 10)
        await anyio.sleep_forever()
        raise AssertionError("never ends")

    page = await open_live(admin)
    await expect(page.get_by_text("No call runs now.")).to_be_visible()
    running = asyncio.create_task(admin.board.call("copy_files", {}))
    await expect(page.get_by_role("progressbar", name="Progress of copy_files")).to_have_attribute(
        "aria-valuenow", "30"
    )
    await page.get_by_role("button", name="Cancel copy_files").click()
    assert not (await running).success
    ended = page.get_by_role("table", name="Ended calls").get_by_role("row").nth(1)
    await expect(ended).to_contain_text("cancelled")
    await expect(page.get_by_text("No call runs now.")).to_be_visible()
    await ended.get_by_role("link").click()
    (row,) = await calls_of(admin.board, "copy_files")
    await expect(page.get_by_role("complementary", name="Execution")).to_contain_text(row.id)


async def test_calls_that_ran_before_the_page_was_opened_are_shown(admin: Visit) -> None:
    release = anyio.Event()

    @admin.board.tool
    async def wait_long() -> str:
        """Wait."""
        await release.wait()
        return "done"

    running = asyncio.create_task(admin.board.call("wait_long", {}))
    page = await open_live(admin)
    await expect(page.get_by_role("region", name="Running calls")).to_contain_text("wait_long")
    release.set()
    await running
    await expect(page.get_by_role("table", name="Ended calls")).to_contain_text("wait_long")


async def test_the_lists_are_filtered_and_pause_holds_them(admin: Visit) -> None:
    page = await open_live(admin, "live?q=weather")
    rows = page.get_by_role("table", name="Ended calls").get_by_role("row")
    await admin.board.call("echo", {})
    await admin.board.call("get_weather", {"city": "Oslo"})
    await expect(rows).to_have_count(2)
    await page.get_by_label("Status").select_option("failed")
    await expect(page).to_have_url(re.compile("status=failed"))
    await expect(page.get_by_text("Calls appear here when they end.")).to_be_visible()
    await page.get_by_label("Status").select_option("")
    await page.get_by_role("button", name="Pause").click()
    await admin.board.call("get_weather", {"city": "Bern"})
    await expect(page.get_by_role("button", name="Continue")).to_be_visible()
    await expect(rows).to_have_count(2)
    await page.get_by_role("button", name="Continue").click()
    await expect(rows).to_have_count(3)
