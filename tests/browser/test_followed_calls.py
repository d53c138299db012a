"""Calls that take long: progress, output so far, cancel, and a connection that breaks meanwhile."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from playwright.async_api import Page, expect

from pegboard import CallContext
from pegboard.testing import calls_of
from tests.browser.relay import relayed
from tests.browser.test_try_it import call, mock
from tests.browser.visit import Visit


async def start_copy(visit: Visit, release: anyio.Event) -> Page:
    """Start a call that reports progress and waits."""

    @visit.board.tool
    async def copy_files(context: CallContext) -> str:
        """Copy files."""
        context.progress(3, 10, "copying <b>c.txt</b>")
        context.partial("a.txt\nb.txt\n")
        await release.wait()
        return "copied"

    page = await visit.open("tools/copy_files")
    await call(page)
    await expect(page.get_by_text("Running: 3 of 10")).to_be_visible()
    return page


async def test_progress_and_output_are_shown_while_a_call_runs(admin: Visit) -> None:
    release = anyio.Event()
    page = await start_copy(admin, release)
    await expect(page.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "30")
    await expect(page.get_by_text("copying <b>c.txt</b>")).to_be_visible()
    await expect(page.get_by_role("region", name="Output so far")).to_contain_text("b.txt")
    release.set()
    await expect(page.get_by_text("Succeeded")).to_be_visible()
    await expect(page.get_by_role("region", name="Result text")).to_contain_text("copied")


async def test_cancel_ends_the_call_on_the_server(admin: Visit) -> None:
    page = await start_copy(admin, anyio.Event())
    await page.get_by_role("button", name="Cancel").click()
    result = page.get_by_role("region", name="Result", exact=True)
    await expect(result.get_by_text("Cancelled", exact=True)).to_be_visible()
    (row,) = await calls_of(admin.board, "copy_files")
    assert (row.status, row.code) == ("failed", "cancelled")
    await result.get_by_role("link", name="Its row in the journal").click()
    await expect(page.get_by_role("complementary", name="Execution")).to_contain_text(row.id)


async def test_a_call_is_followed_on_after_the_connection_broke(admin: Visit) -> None:
    admin.expected.append("net::ERR_")
    release = anyio.Event()
    async with relayed(admin.url) as relay:
        admin.url = relay.url
        await admin.log_in()
        page = await start_copy(admin, release)
        relay.disconnect()
        await relay.connect()
        release.set()
        await expect(page.get_by_text("Succeeded")).to_be_visible()
    assert len(await calls_of(admin.board, "copy_files")) == 1


@pytest.mark.parametrize(
    ("dialect", "text"), [("openai_chat", '"role": "tool"'), ("anthropic_messages", '"tool_result"')]
)
async def test_the_answer_is_that_of_the_chosen_dialect(admin: Visit, dialect: str, text: str) -> None:
    page = await admin.open("tools/get_weather")
    await page.get_by_label("city").fill("Oslo")
    await page.get_by_label("Answer as").select_option(dialect)
    await call(page)
    await expect(page.get_by_role("region", name="Result text")).to_contain_text(text)


async def test_a_result_is_shown_as_its_tool_defines(admin: Visit) -> None:
    display: dict[str, Any] = {"fields": {"total": {"style": "money", "currency": "EUR", "scale": 2}}}
    await admin.board.add(mock("budget", {"total": 1250}, display=display))
    page = await admin.open("tools/budget")
    await call(page)
    await expect(page.get_by_role("region", name="Result text")).to_contain_text("EUR 12.50")
    await page.get_by_text("JSON", exact=True).last.click()
    await expect(page.get_by_role("region", name="Result text")).to_contain_text("1250")


async def test_a_repeat_with_the_same_key_runs_once(admin: Visit) -> None:
    page = await admin.open("tools/create_ticket?input=json")
    await page.get_by_label("Arguments as JSON").fill('{"title": "Broken door"}')
    await page.get_by_label("Idempotency key").fill("door-1")
    for number in (1, 2):
        await call(page)
        await expect(page.get_by_text("Succeeded")).to_be_visible()
        await expect(page.get_by_role("button", name="Call")).to_be_enabled()
        assert len(await calls_of(admin.board, "create_ticket")) == number
    first, second = await calls_of(admin.board, "create_ticket")
    assert second.repeat_of == first.id
