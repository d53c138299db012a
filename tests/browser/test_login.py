"""Logging in, out, and in again over a page that stays as it was."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.board_surfaces import KEY
from tests.browser.proxy import proxied
from tests.browser.visit import Visit


async def test_a_key_opens_the_console_and_is_stored_nowhere(visit: Visit) -> None:
    page = await visit.open("tools")
    await page.get_by_label("API key").fill(KEY)
    await page.get_by_role("button", name="Log in").click()
    await expect(page.get_by_role("heading", name="Tools", level=1)).to_be_visible()
    stored = await page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])")
    assert KEY not in stored
    assert KEY not in await page.content()
    (cookie,) = await visit.context.cookies()
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"


async def test_a_wrong_key_is_refused_with_the_reason(visit: Visit) -> None:
    page = await visit.open("")
    await page.get_by_label("API key").fill("pb_wrong")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("alert")).to_contain_text("Not logged in")
    await expect(page.get_by_label("API key")).to_have_value("pb_wrong")


async def test_a_key_of_an_agent_is_refused_with_the_reason_and_the_eleventh_attempt_has_to_wait(visit: Visit) -> None:
    admin = visit.board.admin
    agent = await visit.board.people.create_agent("helper", [], admin, None)
    key = (await visit.board.people.create_key(admin.user_id, admin, agent_id=agent.id)).key
    visit.expected += ["403 (Forbidden)", "429 (Too Many Requests)"]
    page = await visit.open("")
    await page.get_by_label("API key").fill(key)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("alert")).to_contain_text("agent")
    for _ in range(10):
        await visit.context.request.post(f"{visit.url}/v1/sessions", data={"key": "pb_wrong"})
    await page.get_by_role("button", name="Log in").click()
    await expect(page.get_by_role("alert")).to_contain_text("Try again in")


async def test_a_browser_that_keeps_no_cookies_is_named(visit: Visit) -> None:
    async with proxied(visit.url) as proxy:
        proxy.dropped.add(b"set-cookie")
        visit.url = proxy.url
        page = await visit.open("")
        await page.get_by_label("API key").fill(KEY)
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("alert")).to_contain_text("Allow cookies for this address")


async def test_an_address_with_a_one_time_code_logs_in_and_forgets_the_code(visit: Visit) -> None:
    response = await visit.context.request.post(
        f"{visit.url}/v1/sessions/codes", headers={"Authorization": f"Bearer {KEY}"}
    )
    code = (await response.json())["code"]
    page = await visit.open(f"#code={code}")
    await expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    assert code not in page.url
    again = await visit.context.new_page()
    await visit.context.clear_cookies()
    await again.goto(f"{visit.url}/console/#code={code}")
    await expect(again.get_by_role("alert")).to_contain_text("Not logged in")


async def test_logging_out_ends_the_session_in_every_tab(visit: Visit) -> None:
    await visit.log_in()
    page = await visit.open("tools")
    other = await visit.context.new_page()
    await other.goto(f"{visit.url}/console/tools")
    await expect(other.get_by_role("heading", name="Tools", level=1)).to_be_visible()
    await page.get_by_role("button", name="Account").click()
    await page.get_by_role("menuitem", name="Log out").click()
    await expect(page.get_by_label("API key")).to_be_visible()
    await expect(other.get_by_label("API key")).to_be_visible()
    response = await visit.context.request.get(f"{visit.url}/v1/me")
    assert response.status == 401


async def test_a_session_that_ends_while_a_form_is_open_keeps_the_form(visit: Visit) -> None:
    await visit.log_in()
    page = await visit.open("tools/get_weather")
    await page.get_by_label("city").fill("Lisbon")
    await visit.context.clear_cookies()
    await page.get_by_role("button", name="Call").click()
    dialog = page.get_by_role("dialog", name="Your session is over")
    await dialog.get_by_label("API key").fill(KEY)
    await dialog.get_by_role("button", name="Log in").click()
    await expect(dialog).to_be_hidden()
    await expect(page.get_by_label("city")).to_have_value("Lisbon")
    await page.get_by_role("button", name="Call").click()
    await expect(page.get_by_text("Succeeded")).to_be_visible()


@pytest.mark.parametrize("scheme", ["Light", "Dark"])
async def test_the_colour_scheme_is_set_before_anything_is_painted(visit: Visit, scheme: str) -> None:
    await visit.log_in()
    page = await visit.open("tools")
    await page.get_by_role("button", name="Colour scheme").click()
    await page.get_by_role("menuitem", name=scheme).click()
    # A module runs after the page was read; what the attribute is then was set by the first script.
    await page.add_init_script(
        "document.addEventListener('readystatechange', () => {"
        " globalThis.seen ??= document.documentElement.dataset.mantineColorScheme })"
    )
    await page.reload()
    assert await page.evaluate("globalThis.seen") == scheme.lower()
