"""Each page in both colour schemes and at two widths, checked with axe and for text that leaves the screen."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from pegboard.testing import calls_of
from tests.browser.launch import AXE
from tests.browser.test_agents import make_agent
from tests.browser.test_conversations import paste, store_thread
from tests.browser.test_executions import make_calls
from tests.browser.visit import Visit, visiting
from tests.unit.kinds.mcp.changeable_server import changeable_server, tool

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
CHECK = "async rules => (await axe.run(document, {runOnly: rules})).violations"


async def check_page(page: Page, what: str) -> list[str]:
    """Return what axe found, and whether the page is wider than the screen."""
    # A transition has no final colours.
    await page.evaluate("Promise.allSettled(document.getAnimations().map(each => each.finished))")
    violations = await page.evaluate(CHECK, RULES)
    found = [
        f"{what}: {each['id']}: {node['target']}: {node['failureSummary']}"
        for each in violations
        for node in each["nodes"]
    ]
    if await page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        found.append(f"{what}: wider than the screen")
    return found


async def open_pages(visit: Visit, page: Page) -> list[str]:
    """Return the problems of every page."""
    found: list[str] = []
    await make_calls(visit)
    row = (await calls_of(visit.board))[-1]

    async def look(path: str, sign: str) -> None:
        await visit.open(path)
        await expect(page.get_by_text(sign).first).to_be_visible()
        await page.evaluate(AXE.read_text(encoding="utf-8"))
        found.extend(await check_page(page, path or "log-in"))

    await look("tools", "API key")
    await visit.log_in()
    await look("tools", "create_ticket")
    await page.get_by_role("checkbox", name="Select get_weather").check()
    await expect(page.get_by_role("region", name="Selected tools")).to_be_visible()
    found.extend(await check_page(page, "selected tools"))
    await page.get_by_role("button", name="Tag", exact=True).click()
    await expect(page.get_by_role("dialog", name="Tag 1 tool")).to_be_visible()
    found.extend(await check_page(page, "a dialog with a form"))
    await look("overview", "Busiest tools")
    await look("live", "No call runs now")
    await visit.board.secrets.put("TOKEN", "x", visit.board.admin)
    await look("settings/account", "This browser")
    await look("settings/secrets", "Not used by any tool")
    await page.get_by_role("button", name="Remove TOKEN").click()
    await expect(page.get_by_role("dialog")).to_be_visible()
    found.extend(await check_page(page, "removing a secret"))
    await look(f"settings/people?open={visit.board.admin.user_id}", "Rename or change the role")
    await look("settings/journal", "has not been verified yet")
    await look("settings/tables", "no file of tables")
    await look("settings/system", "PEGBOARD_MAX_DEPTH")
    await look(f"executions?open={row.id}", "Read the message")
    await page.get_by_role("button", name="Proof").click()
    await expect(page.get_by_text("As the board wrote it")).to_be_visible()
    await page.get_by_role("button", name="Replay").click()
    await page.get_by_label("Arguments", exact=True).fill('{"expression": "1"}')
    await page.get_by_role("button", name="Run again").click()
    await expect(page.get_by_role("list", name="Differences")).to_be_visible()
    found.extend(await check_page(page, "replay"))
    await look("executions?status=in_doubt", "No call matches")
    await look("connect", "Test over REST")
    await page.get_by_role("button", name="Test over REST").click()
    await expect(page.get_by_text("Its row in Executions")).to_be_visible()
    found.extend(await check_page(page, "a tested connection"))
    async with changeable_server(tool("say")) as server:
        await visit.board.imports.mcp(visit.board.admin, server_url=server.url, name="notes")
        server.tools[0] = tool("say", "Now it says something else.")
        server.restart()
        await look("imports", "notes")
        await page.get_by_role("link", name="notes").click()
        await page.get_by_role("button", name="Check now").click()
        await expect(page.get_by_role("link", name="1 change to accept")).to_be_visible()
        found.extend(await check_page(page, "a source"))
        await look("imports?tab=changes", "Now it says something else.")
        await look("imports/new?from=mcp", "Store a secret")
        await page.get_by_label("Address of the server").fill(server.url)
        await page.get_by_role("button", name="Check what it would do").click()
        await expect(page.get_by_role("table", name="What would be imported")).to_be_visible()
        found.extend(await check_page(page, "a dry run"))
    await look("imports/new", "or drop it here")
    await look("tools/get_weather?input=json", "Copy as")
    await look("tools/create_ticket?tab=model&as=openai_chat,gemini_generate_content,mcp", "About")
    await page.get_by_role("button", name="Edit what models get").click()
    await expect(page.get_by_role("textbox", name="Schema of the arguments")).to_be_visible()
    found.extend(await check_page(page, "edit what models get"))
    await visit.board.tools.update("create_ticket", {"tags": ["demo", "new"]}, visit.board.admin)
    await expect(page.get_by_text("Version 2 was saved")).to_be_visible()
    found.extend(await check_page(page, "a newer version"))
    await look("tools/math_eval?tab=executions", "Calls by duration")
    await page.get_by_role("button", name="Show as a table").click()
    found.extend(await check_page(page, "durations as a table"))
    await look("tools/create_ticket?tab=versions&version=1", "What restoring it would change")
    await look("tools/create_ticket?tab=access", "Owns the tool")
    await look("tools/new", "What does the tool run?")
    await look("tools/new?kind=http", "Valid: the server accepts it")
    await page.get_by_role("textbox", name="name", exact=True).fill("")
    await expect(page.get_by_role("region", name="Form").get_by_text("required").first).to_be_visible()
    await page.get_by_role("button", name="More settings").click()
    await expect(page.get_by_role("textbox", name="display_name")).to_be_visible()
    found.extend(await check_page(page, "a refused definition"))
    await look("tools/get_weather?tab=edit", "As YAML")
    await page.get_by_label("description", exact=True).fill("Another text")
    await expect(page.get_by_text("Yours", exact=True)).to_be_visible()
    found.extend(await check_page(page, "a changed definition"))
    await look("tools/get_weather", "City name")
    await page.get_by_role("button", name="Call").click()
    await expect(page.get_by_text("Failed", exact=True)).to_be_visible()
    found.extend(await check_page(page, "a refused call"))
    agent, thread = await make_agent(visit, "get_weather", "create_ticket"), await store_thread(visit)
    await look("agents", "helpdesk")
    await look(f"agents/{agent}", "openai_chat")
    await look(f"agents/{agent}?choose=true", "create_ticket")
    await look(f"agents/{agent}?tab=model", "of 2 tools, about")
    await look(f"agents/{agent}?tab=keys", "No key is bound")
    await page.get_by_role("button", name="Create a key").click()
    await page.get_by_role("button", name="Create key").click()
    await expect(page.get_by_role("button", name="Copy the key")).to_be_visible()
    found.extend(await check_page(page, "new key"))
    await look("conversations", "Sums of the month")
    await look(f"conversations/{thread}", "What is 1 + 2?")
    await page.get_by_role("button", name="Arguments and result").click()
    await expect(page.get_by_role("region", name="Result text").first).to_be_visible()
    found.extend(await check_page(page, "a call of a conversation"))
    await look(f"conversations/{thread}?tab=history", "Messages (")
    await look("conversations/inspector", "The calls of the payload")
    await paste(page, '{"name": "nonesuch", "arguments": {}}')
    # The cursor of the editor blinks without end.
    await page.get_by_role("button", name="Run 1 call").focus()
    found.extend(await check_page(page, "a payload"))
    await page.get_by_role("button", name="Search or run a command").click()
    await page.keyboard.type("weath")
    await expect(page.get_by_text("Call get_weather")).to_be_visible()
    found.extend(await check_page(page, "palette"))
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
async def test_every_page_can_be_read_by_everybody(browser: Browser, scheme: str, width: int) -> None:
    options: dict[str, Any] = {
        "color_scheme": scheme,
        "viewport": {"width": width, "height": 800},
        "reduced_motion": "reduce",
    }
    async with visiting(browser, **options) as visit:
        # A log-in that is needed, and a definition that is refused.
        visit.expected += ["401 (Unauthorized)", "422 (Unprocessable Entity)"]
        found = await open_pages(visit, visit.page)
        assert not found, "\n\n".join(found)
