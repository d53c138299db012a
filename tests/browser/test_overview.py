"""The overview: numbers that link to what they count, and an empty board."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx
from playwright.async_api import expect

from tests.board_surfaces import KEY
from tests.browser.test_executions import make_calls
from tests.browser.visit import Visit
from tests.surfaces.rest.clients import good
from tests.unit.kinds.mcp.changeable_server import ChangeableServer, tool
from tests.upstreams import upstream


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


async def test_what_needs_attention_is_listed_with_its_reason(admin: Visit) -> None:
    talker = ChangeableServer([tool("say")])
    headers = {"Authorization": f"Bearer {KEY}"}
    async with (
        upstream(talker.behave) as server,
        httpx.AsyncClient(base_url=admin.url, headers=headers) as api,
    ):
        talker.server = server
        body = {"server_url": talker.url, "name": "talker"}
        good(await api.post("/v1/imports/mcp", json=body))
        expires = (datetime.now(UTC) + timedelta(days=3)).isoformat()
        me = good(await api.get("/v1/me"))["user"]["id"]
        created = await api.post(f"/v1/users/{me}/keys", json={"name": "nightly", "expires_at": expires})
        assert created.status_code == 201, created.text
        page = await admin.open("overview")
        attention = page.get_by_role("alert")
        await expect(attention).to_contain_text("Your key nightly expires on")
        await expect(attention).not_to_contain_text("drifted")
        talker.tools = [tool("say", "Says something else.")]
        good(await api.post("/v1/imports/mcp", json=body))
        await expect(attention).to_contain_text("1 drifted")
        await attention.get_by_role("link", name="1 drifted").click()
        await expect(page.get_by_role("article", name="tool say")).to_contain_text("Says something else.")


async def test_a_member_asks_for_nothing_that_would_be_refused(visit: Visit) -> None:
    headers = {"Authorization": f"Bearer {KEY}"}
    async with httpx.AsyncClient(base_url=visit.url, headers=headers) as api:
        user = (await api.post("/v1/users", json={"name": "ada"})).json()
        key = (await api.post(f"/v1/users/{user['id']}/keys", json={"name": "laptop"})).json()["key"]
    await visit.log_in(key)
    refused: list[str] = []
    visit.page.on("response", lambda response: refused.append(response.url) if response.status == 403 else None)
    page = await visit.open("overview")
    await expect(page.get_by_role("heading", name="No calls in the last 24 hours")).to_be_visible()
    await visit.open("executions")
    await expect(page.get_by_text("No calls yet")).to_be_visible()
    await expect(page.get_by_role("button", name="Export")).to_be_hidden()
    assert refused == []
