"""Agents: choose tools and see what they cost, the declarations of the model, keys and calls."""

from __future__ import annotations

import json
import re
from typing import Any

from playwright.async_api import expect

from pegboard.model.call import Caller
from tests.browser.visit import Visit

HOSTILE = "<img src=x onerror=alert(1)>\u202eevil"


async def make_agent(visit: Visit, *tools: str, name: str = "helpdesk", caller: Caller | None = None) -> str:
    """Create an agent of the caller, and return its id."""
    agent = await visit.board.people.create_agent(name, tools, caller or visit.board.admin, "Answers questions")
    return agent.id


async def get_lint(visit: Visit, **params: Any) -> dict[str, int]:
    """Return the tokens by dialect that the API counts."""
    answer = await (await visit.context.request.get(f"{visit.url}/v1/lint", params=params)).json()
    return {each["dialect"]: each["tokens"] for each in answer["providers"]}


async def test_what_an_agent_costs_in_tokens_is_shown_while_its_tools_are_chosen(admin: Visit) -> None:
    page = await admin.open("agents")
    await expect(page.get_by_text("No agents yet")).to_be_visible()
    await page.get_by_role("button", name="New agent").click()
    await page.get_by_label("Name", exact=True).fill("helpdesk")
    await page.get_by_role("button", name="Create and choose tools").click()
    await page.get_by_role("checkbox", name="get_weather").check()
    cost = page.get_by_role("region", name="Cost of the chosen tools")
    one = await get_lint(admin, tool="get_weather")
    row = cost.get_by_role("row").filter(has_text="openai_chat")
    await expect(row.get_by_role("cell").nth(1)).to_have_text(f"{one['openai_chat']:,}")
    await expect(row.get_by_role("cell").nth(2)).to_have_text(f"+{one['openai_chat']:,}")
    await page.get_by_label("Filter by name or description").fill("ticket")
    await page.get_by_role("checkbox", name="create_ticket").check()
    await expect(page).to_have_url(re.compile("q=ticket"))
    await expect(cost.get_by_text("2 chosen, 2 added")).to_be_visible()
    await cost.get_by_role("button", name="Save").click()
    saved = page.get_by_role("region", name="Cost of the tools")
    await expect(page.get_by_role("button", name="Remove create_ticket")).to_be_visible()
    (agent,) = (await admin.board.people.agents(admin.board.admin, cursor=None, limit=2)).items
    both = await get_lint(admin, agent=agent.id)
    for dialect, tokens in both.items():
        await expect(saved.get_by_role("row").filter(has_text=dialect)).to_contain_text(f"{tokens:,}")
    await page.get_by_role("button", name="Undo").click()
    await expect(page.get_by_text("No tools yet")).to_be_visible()
    await page.go_back()
    await expect(page.get_by_role("checkbox", name="create_ticket")).not_to_be_checked()


async def test_tools_are_chosen_and_removed_with_the_keyboard_alone(admin: Visit) -> None:
    agent = await make_agent(admin, "get_weather")
    page = await admin.open("agents")
    await expect(page.get_by_role("link", name="helpdesk")).to_be_visible()
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Remove get_weather")).to_be_visible()
    await page.get_by_role("button", name="Choose tools").press("Enter")
    await expect(page.get_by_role("checkbox", name="create_ticket")).to_be_visible()
    await page.keyboard.press("/")
    await page.keyboard.type("create_ticket")
    await expect(page.get_by_role("checkbox")).to_have_count(1)
    await page.keyboard.press("Tab")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Space")
    await page.get_by_role("button", name="Save").press("Enter")
    await expect(page.get_by_role("button", name="Remove create_ticket")).to_be_visible()
    await page.get_by_role("button", name="Remove get_weather").press("Enter")
    await expect(page.get_by_role("button", name="Remove get_weather")).to_have_count(0)
    found = admin.board.people.get_agent(agent, admin.board.admin)
    assert [admin.board.snapshot.find_by_id(each).tool.name for each in found.tools] == ["create_ticket"]  # type: ignore[union-attr]
    # Two people at once: what is taken off elsewhere meanwhile stays off.
    await page.get_by_role("button", name="Choose tools").press("Enter")
    await page.get_by_role("checkbox", name="echo").check()
    await admin.board.people.update_agent(agent, admin.board.admin, refs=["get_weather"])
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("button", name="Remove echo")).to_be_visible()
    await expect(page.get_by_role("button", name="Remove get_weather")).to_be_visible()
    await expect(page.get_by_role("button", name="Remove create_ticket")).to_have_count(0)
    await page.keyboard.press("g")
    await page.keyboard.press("v")
    await expect(page.get_by_text("No conversations yet")).to_be_visible()
    await page.keyboard.press("Control+k")
    await page.keyboard.type("helpd")
    await expect(page.get_by_role("dialog").get_by_text("helpdesk")).to_be_visible()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="helpdesk", level=1)).to_be_visible()


async def test_the_declarations_are_those_that_the_model_gets(admin: Visit) -> None:
    agent = await make_agent(admin, "get_weather", "create_ticket")
    page = await admin.open(f"agents/{agent}?tab=model&as=anthropic")
    await expect(page.get_by_label("Dialect", exact=True)).to_have_value("anthropic_messages")
    text = await page.get_by_role("region", name="Declarations").inner_text()
    url = f"{admin.url}/v1/agents/{agent}/definitions?as=anthropic_messages"
    assert json.loads(text) == await (await admin.context.request.get(url)).json()
    await page.get_by_label("Dialect", exact=True).select_option("gemini_generate_content")
    await expect(page.get_by_role("region", name="Declarations")).to_contain_text("functionDeclarations")
    await expect(page).to_have_url(re.compile("as=gemini_generate_content"))
    tokens = (await get_lint(admin, agent=agent, **{"for": "gemini_generate_content"}))["gemini_generate_content"]
    await expect(page.get_by_text(f"2 of 2 tools, about {tokens:,} tokens")).to_be_visible()
    await admin.open(f"agents/{agent}?tab=model&as=openia")
    await expect(page.get_by_text("The dialect openia does not exist")).to_be_visible()
    await page.get_by_role("button", name=re.compile("^Use openai")).click()
    await expect(page.get_by_role("region", name="Declarations")).to_be_visible()


async def test_a_key_is_shown_once_and_can_be_revoked(admin: Visit) -> None:
    agent = await make_agent(admin, "get_weather")
    page = await admin.open(f"agents/{agent}?tab=keys")
    await expect(page.get_by_text("No key is bound to this agent")).to_be_visible()
    await page.get_by_role("button", name="Create a key").click()
    await page.get_by_label("Name", exact=True).fill("bot")
    await page.get_by_role("button", name="Create key").click()
    dialog = page.get_by_role("dialog", name="Copy the new key now")
    key = await dialog.get_by_label("New key").input_value()
    caller = admin.board.snapshot.holder(key)
    assert caller.agent_id == agent
    await admin.board.call("get_weather", {"city": "Oslo"}, caller=caller)
    await page.keyboard.press("Escape")
    await dialog.get_by_role("button", name="Done").click()
    await expect(dialog).to_have_count(0)
    assert key not in await page.content()
    assert key not in await page.evaluate("JSON.stringify([location.href, {...localStorage}, {...sessionStorage}])")
    await page.get_by_role("link", name="Calls", exact=True).click()
    calls = page.get_by_role("table", name="Calls of the agent")
    await expect(calls).to_contain_text("get_weather")
    await page.go_back()
    await page.get_by_role("button", name="Revoke bot").click()
    await page.get_by_role("button", name="Revoke key").click()
    await expect(page.get_by_text("Revoked", exact=True)).to_be_visible()
    await page.get_by_role("button", name="Remove", exact=True).click()
    await expect(page.get_by_text("Remove the agent helpdesk?")).to_be_visible()
    await page.get_by_role("button", name="Remove the agent").click()
    await expect(page.get_by_text("No agents yet")).to_be_visible()


async def test_members_have_their_own_agents_and_hostile_names_are_text(visit: Visit) -> None:
    board = visit.board
    user = await board.people.create_user("ann", "member", board.admin)
    new = await board.people.create_key(user.id, board.admin)
    theirs = await make_agent(visit, "get_weather", name="of the admin")
    tool = {"name": "hostile", "tool_type": "mock", "description": HOSTILE, "input_schema": {"type": "object"}}
    await board.add({**tool, "config": {"mock_response": 1}, "is_public": True})
    agent = await make_agent(visit, "hostile", name=HOSTILE, caller=board.snapshot.holder(new.key))
    await visit.log_in(new.key)
    page = await visit.open("agents")
    await expect(page.get_by_text("U+202E")).to_be_visible()
    await expect(page.get_by_role("row")).to_have_count(2)
    await page.get_by_label("Filter by name or description").fill("nonesuch")
    await page.get_by_role("button", name="Remove the filter").click()
    await visit.open(f"agents/{agent}")
    await expect(page.get_by_role("heading", level=1)).to_contain_text("<img src=x")
    visit.expected.append("404 (Not Found)")
    await visit.open(f"agents/{theirs}")
    await expect(page.get_by_text("It may have been deleted, or it is not visible to you.")).to_be_visible()
    await page.get_by_role("link", name="All agents").click()
    await expect(page.get_by_text("U+202E")).to_be_visible()
    await visit.open("agents/evil")
    await expect(page.get_by_text("The address needs the id of an agent")).to_be_visible()
