"""The tabs of a tool: what models see of it, its calls, its versions, and who can call it."""

from __future__ import annotations

import json
import re
from typing import Any

from playwright.async_api import Locator, Page, expect

from pegboard.testing import calls_of, member
from tests.browser.visit import Visit

HARD_SCHEMA = {
    "type": "object",
    "properties": {
        "city name": {"type": "string", "description": "A city."},
        "unit": {"type": "string", "description": "Not a number.", "not": {"pattern": "^[0-9]"}},
    },
    "patternProperties": {"^x-": {"type": "string"}},
}
# Markup, a direction override, an invisible character, and a name that is special in JavaScript.
HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=1</script>\u202etxt.\u200b'
LONG = "\u00e9" * 40_000


def mock(name: str, **definition: Any) -> dict[str, Any]:
    """A tool that answers 1."""
    base = {"name": name, "tool_type": "mock", "input_schema": {"type": "object"}, "config": {"mock_response": 1}}
    return {**base, **definition}


async def open_tab(page: Page, name: str) -> None:
    """Open a tab of the tool."""
    await page.get_by_role("navigation", name="Tabs of the tool").get_by_role("link", name=name).click()


def provider_row(page: Page, dialect: str) -> Locator:
    """Return the row of a provider in the table of tokens and findings."""
    return page.get_by_role("table", name="Providers").get_by_role("row").filter(has_text=dialect)


async def test_what_gemini_cannot_take_of_a_tool_is_on_its_page(admin: Visit) -> None:
    await admin.board.add(mock("find_city", description="Find a city.", input_schema=HARD_SCHEMA))
    page = await admin.open("tools/find_city")
    await open_tab(page, "What the model sees")
    await expect(provider_row(page, "gemini_generate_content")).to_contain_text("3 Misread")
    await expect(provider_row(page, "anthropic_messages")).not_to_contain_text("Misread")
    await provider_row(page, "gemini_generate_content").get_by_role("link").click()
    column = page.get_by_role("region", name="gemini_generate_content", exact=True)
    await expect(column).to_contain_text("input_schema.patternProperties")
    await expect(column).to_contain_text("describe it in the description")
    await expect(column).to_contain_text("'city name' does not match")
    await expect(column.get_by_text("functionDeclarations")).to_be_visible()
    # Three are side by side; the address has them, and one can be exchanged and hidden.
    await expect(page).to_have_url(re.compile("as=openai_chat(%2C|,)anthropic_messages(%2C|,)gemini_generate_content"))
    await page.get_by_label("Dialect 1").select_option("mcp")
    await expect(page.get_by_role("region", name="mcp", exact=True)).to_contain_text("inputSchema")
    await page.get_by_role("button", name="Hide anthropic_messages").click()
    await expect(page.get_by_role("region", name="anthropic_messages", exact=True)).to_be_hidden()
    await page.reload()
    await expect(page.get_by_role("region", name="mcp", exact=True)).to_be_visible()
    await expect(column).to_be_visible()
    await page.goto(page.url.replace("mcp", "gemimi"))
    await page.get_by_role("button", name="Use gemini_generate_content").click()
    await expect(page.get_by_text("The address names no usable dialect")).to_be_hidden()


async def test_a_change_of_what_models_see_is_checked_before_it_is_saved_and_can_be_undone(admin: Visit) -> None:
    name = "a_name_that_is_much_too_long_for_providers_" * 2
    await admin.board.add(mock(name))
    admin.expected.append("422 (Unprocessable")
    page = await admin.open(f"tools/{name}?tab=model")
    await expect(page.get_by_text("The name is too long for some providers")).to_be_visible()
    column = page.get_by_role("region", name="openai_chat", exact=True)
    await expect(column).to_contain_text("Declared as")
    await expect(column).to_contain_text("Without a description")
    # With the keyboard alone.
    await page.get_by_role("button", name="Edit what models get").focus()
    await page.keyboard.press("Enter")
    await page.get_by_label("Description", exact=True).focus()
    await page.keyboard.type("Answers one.")
    await expect(column).to_contain_text("more than the saved version")
    await expect(column).not_to_contain_text("Without a description")
    schema = page.get_by_role("textbox", name="Schema of the arguments")
    await schema.fill('{"type": "objec"}')
    await expect(page.get_by_text("did you mean 'object'?")).to_be_visible()
    await expect(page.get_by_role("button", name="Save")).to_be_disabled()
    await schema.fill('{"type": "object", "properties": {"n": {"type": "integer", "maximum": 12345678901234567890}}}')
    await expect(column.get_by_text("12345678901234567890")).to_be_visible()
    await page.get_by_label("Name", exact=True).fill("answer_one")
    await expect(column).not_to_contain_text("Declared as")
    assert (await admin.board.tools.get(name, admin.board.admin)).version == 1
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("heading", name="answer_one", level=1)).to_be_visible()
    await expect(page).to_have_url(re.compile("/tools/answer_one"))
    saved = await admin.board.tools.get("answer_one", admin.board.admin)
    assert saved.input_schema["properties"]["n"]["maximum"] == 12345678901234567890
    assert (saved.version, saved.description) == (2, "Answers one.")
    admin.expected.append("404 (Not Found)")
    await page.get_by_role("button", name="Undo").click()
    await expect(page.get_by_text("is as it was")).to_be_visible()
    await expect(page.get_by_text("This tool was renamed")).to_be_visible()
    assert (await admin.board.tools.get(name, admin.board.admin)).description is None


async def test_a_version_that_another_person_saved_is_shown_and_not_overwritten(admin: Visit) -> None:
    await admin.board.add(mock("shared", description="First."))
    page = await admin.open("tools/shared?tab=model")
    await page.get_by_role("button", name="Edit what models get").click()
    await page.get_by_label("Description", exact=True).fill("Mine.")
    await admin.board.tools.update("shared", {"description": "Theirs.", "tags": ["new"]}, admin.board.admin)
    notice = page.get_by_role("alert").filter(has_text="Version 2 was saved")
    await expect(notice.get_by_role("listitem").filter(has_text="description")).to_contain_text("Theirs.")
    await expect(page.get_by_role("button", name="Save")).to_be_disabled()
    await notice.get_by_role("button", name="Apply my changes").click()
    await expect(page.get_by_label("Description", exact=True)).to_have_value("Mine.")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("Saved version 3 of shared")).to_be_visible()
    saved = await admin.board.tools.get("shared", admin.board.admin)
    assert (saved.description, saved.tags) == ("Mine.", ("new",))


async def test_who_can_call_create_ticket_and_why(admin: Visit) -> None:
    board = admin.board
    ana = await member(board, "ana")
    agent = await board.people.create_agent("helper", ["create_ticket"], ana, None)
    await board.people.create_key(ana.user_id, ana, agent_id=agent.id)
    page = await admin.open("tools/create_ticket")
    await open_tab(page, "Access")
    access = page.get_by_role("table", name="Access")
    await expect(access.get_by_role("row").filter(has_text="Owns the tool")).to_contain_text("admin (you)")
    await expect(access.get_by_role("row").filter(has_text="All users")).to_contain_text("The tool is public")
    helper = access.get_by_role("row").filter(has_text="The agent helper has the tool")
    await expect(helper).to_contain_text("ana")
    await expect(helper.get_by_role("cell").last).to_have_text("1")
    await expect(helper.get_by_role("link", name="helper")).to_have_attribute("href", f"/console/agents/{agent.id}")
    await board.tools.update("create_ticket", {"is_public": False, "is_active": False}, board.admin)
    await expect(page.get_by_role("alert")).to_contain_text("The tool is inactive")
    await expect(page.get_by_text("The tool is private")).to_be_visible()

    @board.tool
    def in_code() -> int:
        """Answer one."""
        return 1

    await admin.open("tools/in_code?tab=access")
    await expect(access.get_by_role("row").filter(has_text="Owns the tool")).to_be_visible()
    tabs = page.get_by_role("navigation", name="Tabs of the tool").get_by_role("link")
    await expect(tabs).to_have_text(["Try it", "What the model sees", "Executions", "Access"])


async def test_each_version_shows_what_changed_and_an_old_one_is_restored(admin: Visit) -> None:
    board = admin.board
    await board.add(mock("changing", description="Says one.", tags=["a", "b"]))
    await board.tools.update("changing", {"description": "Says two.", "config": {"mock_response": 2}}, board.admin)
    await board.tools.update("changing", {"tags": ["b"]}, board.admin)
    page = await admin.open("tools/changing")
    await open_tab(page, "Versions")
    versions = page.get_by_role("list", name="Versions")
    await expect(
        versions.get_by_role("button", name=re.compile("Version 3 Current .* by you Changed tags"))
    ).to_be_visible()
    second = versions.get_by_role("button", name=re.compile("^Version 2"))
    await expect(second).to_contain_text("Changed config, description")
    await second.focus()
    await page.keyboard.press("Enter")
    changes = page.get_by_role("list", name="Differences").get_by_role("listitem")
    await expect(changes.filter(has_text="description")).to_contain_text("Says two.")
    await expect(changes.filter(has_text="config.mock_response").get_by_role("definition")).to_have_text(["1", "2"])
    await page.get_by_text("Definition", exact=True).click()
    await expect(page.get_by_role("region", name="Definition of version 2")).to_contain_text('"Says two."')
    await second.click()
    await versions.get_by_role("button", name=re.compile("^Version 1")).click()
    await expect(page).to_have_url(re.compile("version=1"))
    await expect(changes).to_have_count(3)
    await page.get_by_role("button", name="Restore version 1").click()
    await expect(versions.get_by_role("button", name=re.compile("^Version 4 Current"))).to_be_visible()
    restored = await board.tools.get("changing", board.admin)
    assert (restored.description, restored.tags, restored.config) == ("Says one.", ("a", "b"), {"mock_response": 1})
    await page.get_by_role("button", name="Undo").click()
    await expect(versions.get_by_role("button", name=re.compile("^Version 5 Current"))).to_be_visible()
    assert (await board.tools.get("changing", board.admin)).tags == ("b",)
    await admin.open("tools/changing?tab=versions&version=99")
    await expect(page.get_by_text("There is no version 99.")).to_be_visible()


async def test_the_calls_of_a_tool_have_a_histogram_and_open_in_the_journal(admin: Visit) -> None:
    for city in ("Oslo", "Lisbon"):
        await admin.board.call("get_weather", {"city": city})
    await admin.board.call("get_weather", {})
    await admin.board.call("create_ticket", {"title": "Another tool"})
    page = await admin.open("tools/get_weather")
    await open_tab(page, "Executions")
    await expect(page.get_by_text("of 2 that ran")).to_be_visible()
    await expect(page.get_by_role("img", name="Calls by duration")).to_be_visible()
    await page.get_by_role("button", name="Show as a table").click()
    shares = page.get_by_role("region", name="Calls by duration as a table").get_by_role("row")
    await expect(shares.last.get_by_role("cell").last).to_have_text("100 %")
    rows = page.get_by_role("table", name="Executions").get_by_role("row")
    await expect(rows).to_have_count(4)
    await page.get_by_label("Status").select_option("refused")
    await expect(rows).to_have_count(2)
    await page.get_by_role("link", name="missing").focus()
    await rows.nth(1).get_by_role("link").click()
    await expect(page.get_by_role("complementary", name="Execution")).to_contain_text("get_weather")
    await page.go_back()
    await expect(page.get_by_label("Status")).to_have_value("refused")


async def test_a_call_runs_on_while_another_tab_is_open(admin: Visit) -> None:
    page = await admin.open("tools/get_weather?input=json")
    text = page.get_by_role("textbox", name="Arguments as JSON")
    await text.fill('{"city": "Lisbon"}')
    await page.get_by_role("button", name="Call").click()
    await open_tab(page, "What the model sees")
    await expect(page.get_by_role("heading", name="Declarations")).to_be_visible()
    await expect(page.get_by_role("heading", name="Arguments")).to_be_hidden()
    await open_tab(page, "Try it")
    await expect(page.get_by_text("Succeeded", exact=True)).to_be_visible()
    await expect(text).to_contain_text("Lisbon")


async def test_members_see_the_tabs_that_they_may_and_edit_only_their_own_tools(visit: Visit) -> None:
    caller = await member(visit.board, "ana")
    await visit.board.add(mock("of_ana"), caller=caller)
    key = (await visit.board.people.create_key(caller.user_id, visit.board.admin)).key
    await visit.log_in(key)
    page = await visit.open("tools/get_weather?tab=access")
    tabs = page.get_by_role("navigation", name="Tabs of the tool").get_by_role("link")
    await expect(tabs).to_have_text(["Try it", "What the model sees", "Executions"])
    await open_tab(page, "Executions")
    await expect(page.get_by_text("Your calls; admins see those of all users.")).to_be_visible()
    await expect(page.get_by_text("No calls yet")).to_be_visible()
    await open_tab(page, "What the model sees")
    await expect(provider_row(page, "mcp")).to_be_visible()
    await expect(page.get_by_role("button", name="Edit what models get")).to_be_hidden()
    await visit.open("tools/of_ana?tab=access")
    await expect(page.get_by_role("table", name="Access")).to_contain_text("All admins")
    await visit.board.tools.update("of_ana", {"description": "d"}, visit.board.admin)
    await open_tab(page, "Versions")
    await expect(page.get_by_role("button", name=re.compile("Version 2 Current .* by an admin"))).to_be_visible()


async def test_a_rate_limit_is_explained_and_a_refused_call_says_when_it_is_over(admin: Visit) -> None:
    limit = {"max_calls": 1, "period": "hour"}
    await admin.board.add(mock("rarely", rate_limit=limit))
    await admin.board.call("rarely", {})
    page = await admin.open("tools/rarely")
    await expect(page.get_by_text("Rate limit: 1 call per hour for each caller, 1 at once.")).to_be_visible()
    await page.get_by_role("button", name="Call").click()
    await expect(page.get_by_text(re.compile("The next call is accepted in 3[56]\\d\\d s"))).to_be_visible()
    assert [row.code for row in await calls_of(admin.board, "rarely")] == [None, "rate_limited"]
    await page.get_by_role("link", name="Its row in the journal").click()
    await expect(page.get_by_text("The rate limit allowed the next call at")).to_be_visible()


async def test_hostile_texts_are_only_text_on_every_tab(admin: Visit) -> None:
    properties = {
        HOSTILE: {"type": "string", "title": HOSTILE, "description": HOSTILE, "enum": [HOSTILE]},
        "__proto__": {"type": "string", "description": LONG},
    }
    hostile = mock(
        "hostile", description=HOSTILE + LONG[:1900], input_schema={"type": "object", "properties": properties}
    )
    await admin.board.add(hostile)
    changed = json.loads(json.dumps(hostile["input_schema"]).replace("string", "integer"))
    del changed["properties"][HOSTILE]["enum"]
    await admin.board.tools.update("hostile", {"input_schema": changed, "tags": [HOSTILE[:64]]}, admin.board.admin)
    await admin.board.call("hostile", {HOSTILE: HOSTILE})
    page = await admin.open("tools/hostile?tab=model")
    await expect(page.get_by_role("region", name="Declaration for openai_chat")).to_contain_text("onerror")
    await page.get_by_role("button", name="Edit what models get").click()
    await page.get_by_label("Name", exact=True).fill(HOSTILE)
    admin.expected.append("422 (Unprocessable")
    await expect(page.get_by_text("a tool name has ASCII letters")).to_be_visible()
    await open_tab(page, "Versions")
    await page.get_by_role("button", name=re.compile("^Version 2")).click()
    await expect(page.get_by_role("list", name="Differences")).to_contain_text("__proto__")
    await open_tab(page, "Executions")
    await expect(page.get_by_role("table", name="Executions")).to_contain_text("hostile")
    await open_tab(page, "Access")
    await expect(page.get_by_role("table", name="Access")).to_be_visible()
    assert await page.evaluate("document.querySelectorAll('img, script:not([src])').length") == 0
    assert "\u202e" not in await page.locator("main").inner_text()
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await expect(page).to_have_title("hostile \u00b7 Pegboard")
