"""Servers, proxies and browsers that do not do what the pages expect."""

from __future__ import annotations

import json
import re

import pytest
from playwright.async_api import Browser, Page, expect

from pegboard.surfaces.cli.board_server import DEMO_TOOLS
from pegboard.testing import memory_board
from tests.board_surfaces import KEY, served
from tests.browser.proxy import Answer, Proxy, proxied
from tests.browser.visit import Visit, visiting

# Longer than a page waits for a stream of which nothing arrives.
STALLED_MS = 60_000


def problem(status: int, detail: str, **headers: str) -> Answer:
    """A refusal by the board itself."""
    body = json.dumps({"status": status, "title": "Refused", "detail": detail}).encode()
    named = {"content-type": "application/problem+json", **headers}
    return Answer(status, body, tuple((name.replace("_", "-").encode(), text.encode()) for name, text in named.items()))


async def log_in_through(visit: Visit, proxy: Proxy) -> None:
    """Use the board through the proxy from now on."""
    visit.url = proxy.url
    visit.expected += ["Failed to load resource", "net::ERR_"]
    await visit.log_in()


async def expect_tools(page: Page) -> None:
    """The list of tools is there."""
    await expect(page.get_by_role("link", name="get_weather")).to_be_visible()


async def test_a_page_older_than_the_server_offers_to_reload_and_keeps_what_was_typed(admin: Visit) -> None:
    async with proxied(admin.url) as proxy:
        await log_in_through(admin, proxy)
        page = await admin.open("tools/get_weather")
        await page.get_by_label("city").fill("Lisbon")
        proxy.changed[b"x-console-build"] = b"a-newer-one"
        await page.get_by_role("button", name="Call", exact=True).click()
        await page.get_by_role("link", name="Tools", exact=True).first.hover()
        await admin.board.tools.update("get_weather", {"description": "Changed"}, admin.board.admin)
        await expect(page.get_by_text("The server has a newer console")).to_be_visible()
        await expect(page.get_by_label("city")).to_have_value("Lisbon")


@pytest.mark.parametrize("status", [502, 503])
async def test_a_page_of_a_proxy_in_place_of_an_answer_is_named_and_tried_again(admin: Visit, status: int) -> None:
    async with proxied(admin.url) as proxy:
        await log_in_through(admin, proxy)
        proxy.answers["/v1/"] = Answer(status)
        page = await admin.open("tools")
        await expect(page.get_by_text("The server does not answer as it should")).to_be_visible()
        await expect(page.get_by_role("status")).to_contain_text("a proxy may be in between")
        await expect(page.get_by_text("Bad Gateway")).to_be_hidden()
        proxy.answers.clear()
        await expect_tools(page)
        await expect(page.get_by_text("The server does not answer as it should")).to_be_hidden()


async def test_refusals_of_a_list_say_what_to_do_and_keep_the_page(admin: Visit) -> None:
    async with proxied(admin.url) as proxy:
        await log_in_through(admin, proxy)
        page = await admin.open("tools")
        await expect_tools(page)
        proxy.answers["/v1/tools"] = problem(429, "Too many requests", retry_after="7")
        await page.get_by_label("Filter by name or description").fill("weather")
        alert = page.get_by_role("alert").filter(has_text="Too many requests")
        await expect(alert).to_contain_text("Try again in 7 seconds")
        await expect(page.get_by_label("Filter by name or description")).to_have_value("weather")
        proxy.answers["/v1/tools"] = Answer(200, b"<html>Log in to the hotel</html>")
        await alert.get_by_role("button", name="Try again").click()
        await expect(page.get_by_role("status")).to_contain_text("The answer is not JSON")
        proxy.answers.clear()
        await expect_tools(page)


async def test_a_call_that_a_proxy_refuses_keeps_its_arguments(admin: Visit) -> None:
    async with proxied(admin.url) as proxy:
        await log_in_through(admin, proxy)
        page = await admin.open("tools/get_weather")
        await page.get_by_label("city").fill("Lisbon")
        proxy.answers["/v1/calls"] = Answer(413)
        await page.get_by_role("button", name="Call", exact=True).click()
        await expect(page.get_by_role("alert")).to_contain_text("HTTP 413")
        await expect(page.get_by_label("city")).to_have_value("Lisbon")
        proxy.answers.clear()
        await page.get_by_role("button", name="Call", exact=True).click()
        await expect(page.get_by_role("cell", name="clear")).to_be_visible()


@pytest.mark.parametrize("fault", ["is_buffering", "is_stalling"])
async def test_a_stream_that_a_proxy_holds_back_is_noticed_and_named(admin: Visit, fault: str) -> None:
    async with proxied(admin.url) as proxy:
        await log_in_through(admin, proxy)
        setattr(proxy, fault, True)
        await admin.page.clock.install()
        page = await admin.open("tools")
        await expect_tools(page)
        await page.clock.fast_forward(STALLED_MS)
        await expect(page.get_by_text("Events of the server do not arrive")).to_be_visible()
        await expect(page.get_by_role("status").filter(has_text="buffering")).to_be_visible()
        setattr(proxy, fault, False)
        await page.clock.fast_forward(STALLED_MS)
        await expect(page.get_by_text("Events of the server do not arrive")).to_be_hidden()
        await expect_tools(page)


async def test_the_console_works_under_a_path_of_a_proxy(browser: Browser) -> None:
    async with (
        proxied(prefix="/tools/board") as proxy,
        memory_board(DEMO_TOOLS, admin_key=KEY, public_url=proxy.url) as board,
        served(board) as proxy.target,
    ):
        context = await browser.new_context()
        page = await context.new_page()
        failed: list[str] = []
        page.on("response", lambda response: failed.append(response.url) if response.status == 404 else None)
        await page.goto(f"{proxy.url}/console/tools")
        await page.get_by_label("API key").fill(KEY)
        await page.get_by_role("button", name="Log in").click()
        await expect_tools(page)
        await page.get_by_role("link", name="get_weather").click()
        await page.get_by_label("city").fill("Lisbon")
        await page.get_by_role("button", name="Call", exact=True).click()
        await expect(page.get_by_role("cell", name="clear")).to_be_visible()
        await expect(page).to_have_url(re.compile("/tools/board/console/tools/get_weather"))
        await page.reload()
        await expect(page.get_by_role("heading", name="get_weather")).to_be_visible()
        assert failed == []
        await context.close()


async def test_without_javascript_the_page_says_what_is_needed(browser: Browser) -> None:
    async with visiting(browser, java_script_enabled=False) as visit:
        page = await visit.open("tools")
        await expect(page.locator("noscript")).to_be_visible()
        assert "needs JavaScript" in await page.locator("noscript").inner_text()


async def test_where_storage_is_forbidden_preferences_last_for_the_tab(admin: Visit) -> None:
    await admin.context.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError') } })"
    )
    admin.expected.append("unable to save color scheme")
    page = await admin.open("tools")
    await expect_tools(page)
    await page.get_by_role("button", name="Colour scheme").click()
    await page.get_by_role("menuitem", name="Dark").click()
    await expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")


async def test_a_language_that_the_browser_cannot_format_becomes_english(admin: Visit) -> None:
    await admin.context.add_init_script("Object.defineProperty(navigator, 'language', { get: () => 'x_y@z' })")
    await admin.board.call("get_weather", {"city": "Oslo"})
    page = await admin.open("executions")
    cell = page.get_by_role("table", name="Executions").get_by_role("row").nth(1)
    await expect(cell).to_contain_text(re.compile(r"\d\d:\d\d:\d\d"))


async def test_what_the_address_has_beside_the_filters_is_named(admin: Visit) -> None:
    page = await admin.open("executions?status=nonsense&colour=<b>red&tool=echo")
    notice = page.get_by_role("alert").filter(has_text="A part of the address is ignored")
    await expect(notice).to_contain_text("status=nonsense has a value that this page does not know")
    await expect(notice).to_contain_text("colour=<b>red is not known on this page")
    await expect(notice).to_contain_text("This page knows: tool, code,")
    await notice.get_by_role("button", name="Close").click()
    await expect(notice).to_be_hidden()
    await admin.open("tools?q=weather")
    await expect_tools(page)
    await expect(notice).to_be_hidden()


async def test_hostile_texts_are_text_in_lists_and_the_palette(admin: Visit) -> None:
    hostile = "<img src=x onerror=alert(1)> \u202eevil\u202c \x1b[31m " + "W" * 1500
    await admin.board.add(
        {
            "name": "hostile",
            "description": hostile,
            "tags": ["<b>tag</b>"],
            "tool_type": "mock",
            "input_schema": {},
            "config": {"mock_response": hostile},
            "keep_result": True,
        }
    )
    await admin.board.call("hostile", {})
    page = await admin.open("tools?q=hostile")
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name="hostile"))
    await expect(row).to_contain_text("<img src=x onerror=alert(1)>")
    await expect(row).to_contain_text("U+202E")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await page.keyboard.press("Control+k")
    await page.keyboard.type("hostile")
    await expect(page.get_by_text("Call hostile")).to_be_visible()
    assert await page.locator("img").count() == 0
    await admin.open("executions?tool=hostile")
    await expect(page.get_by_role("table", name="Executions").get_by_role("row")).to_have_count(2)
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
