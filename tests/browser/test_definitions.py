"""Registering and editing tools: the form, the YAML beside it, and versions that others save meanwhile."""

from __future__ import annotations

import re
from typing import Any

from playwright.async_api import Page, expect

from pegboard.registry.secret_fields import unseal_config
from pegboard.testing import member
from tests.browser.visit import Visit

VALID = "Valid: the server accepts it"


def mock(name: str, response: Any = 1, **definition: Any) -> dict[str, Any]:
    """A mock tool."""
    schema = {"type": "object", "properties": {}}
    return {
        "name": name,
        "tool_type": "mock",
        "input_schema": schema,
        "config": {"mock_response": response},
    } | definition


async def edit(visit: Visit, name: str) -> Page:
    """Open the tab that changes a tool."""
    page = await visit.open(f"tools/{name}?tab=edit")
    await expect(page.get_by_label("Definition as YAML")).to_be_visible()
    await expect(page.get_by_role("textbox", name="name", exact=True)).to_have_value(name)
    return page


async def write_yaml(page: Page, text: str) -> None:
    """Replace the YAML."""
    await page.get_by_label("Definition as YAML").fill(text)


async def test_a_tool_is_registered_from_the_form_of_its_kind(admin: Visit) -> None:
    admin.expected.append("422")
    page = await admin.open("tools")
    await page.get_by_role("link", name="New tool").click()
    await page.get_by_role("link", name=re.compile("^mock")).click()
    await expect(page).to_have_url(re.compile(r"/tools/new\?kind=mock"))
    await expect(page.get_by_text(VALID)).to_be_visible()
    name = page.get_by_role("textbox", name="name", exact=True)
    await name.fill("")
    form = page.get_by_role("region", name="Form")
    await expect(form.get_by_text("required").first).to_be_visible()
    await name.fill("my_weather")
    await expect(page.get_by_label("Definition as YAML")).to_contain_text("name: my_weather")
    await expect(page.get_by_text(VALID)).to_be_visible()
    await page.get_by_role("button", name="Register").click()
    await expect(page.get_by_role("heading", name="my_weather")).to_be_visible()
    await page.get_by_label("city").fill("Lisbon")
    await page.get_by_role("button", name="Call").click()
    await expect(page.get_by_text("Succeeded")).to_be_visible()


async def test_the_keyboard_alone_registers_a_tool(admin: Visit) -> None:
    page = await admin.open("tools/new")
    await page.get_by_role("link", name=re.compile("^python")).focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_text(VALID)).to_be_visible()
    await page.get_by_role("textbox", name="name", exact=True).focus()
    await page.keyboard.press("Control+A")
    await page.keyboard.type("tax_of")
    await page.get_by_label("code in Python").focus()
    await page.keyboard.press("Control+A")
    await page.keyboard.type("def tax_of(price: float) -> float:\nreturn price * 0.19")
    yaml = page.get_by_label("Definition as YAML")
    await expect(yaml).to_contain_text("return price * 0.19")
    await yaml.focus()
    await page.keyboard.press("Control+Enter")
    await expect(page.get_by_role("heading", name="tax_of")).to_be_visible()
    code = (await admin.board.tools.get("tax_of", admin.board.admin)).config["code"]
    assert code.splitlines() == ["def tax_of(price: float) -> float:", "    return price * 0.19"]


async def test_a_member_sees_why_they_may_not_register_a_kind(visit: Visit) -> None:
    caller = await member(visit.board, "ana")
    await visit.log_in((await visit.board.people.create_key(caller.user_id, visit.board.admin)).key)
    page = await visit.open("tools/new")
    await expect(page.get_by_text("Only admins may register shell tools")).to_be_visible()
    await expect(page.get_by_role("link", name=re.compile("^http"))).to_be_visible()
    await expect(page.get_by_role("link", name=re.compile("^shell"))).to_have_count(0)
    visit.expected.append("403")
    await visit.open("tools/new?kind=shell")
    await expect(page.get_by_role("status").get_by_text("Only admins may register shell tools")).to_be_visible()
    await visit.open("tools/get_weather?tab=edit")
    await expect(page.get_by_text("Only its owner and admins")).to_be_visible()


async def test_broken_yaml_is_kept_and_faults_are_shown_at_their_place(admin: Visit) -> None:
    admin.expected.append("422")
    page = await admin.open("tools/new?kind=mock")
    await expect(page.get_by_text(VALID)).to_be_visible()
    broken = "name: x\nconfig: [1,\nname: y\n"
    await write_yaml(page, broken)
    await expect(page.get_by_text("The form cannot show this definition")).to_be_visible()
    await expect(page.get_by_role("status").get_by_text(re.compile("^Line "))).not_to_have_count(0)
    await expect(page.locator(".cm-lintRange-error").first).to_be_visible()
    await expect(page.get_by_role("button", name="Register")).to_be_disabled()
    assert (await page.get_by_label("Definition as YAML").inner_text()).rstrip() == broken.rstrip()
    await write_yaml(page, "name: x\ntool_type: mock\nconfig:\n  unknown: 1\ninput_schema: {type: object}\n")
    await expect(page.get_by_role("status").get_by_text(re.compile("config.unknown"))).to_be_visible()
    await expect(page.locator(".cm-lintRange-error", has_text="unknown")).to_be_visible()
    for hostile in (
        "__proto__: {a: 1}\n",
        "config: !!python/object x\n",
        "a: &a [*a]\n",
        "- 1\n",
        "<script>\n",
        '"\u202e": 1\n',
    ):
        await write_yaml(page, hostile)
        await expect(page.get_by_role("status").locator("li").first).to_be_visible()
    await page.reload()
    await expect(page.get_by_text(VALID)).to_be_visible()


async def test_a_form_leaves_the_example_of_every_kind_as_it_is(admin: Visit) -> None:
    for kind in admin.board.kinds():
        page = await admin.open(f"tools/new?kind={kind.name}")
        await expect(page.get_by_text(VALID)).to_be_visible()
        await expect(page.get_by_role("textbox", name="name", exact=True).first).to_have_value(
            str((kind.example or {})["name"])
        )
        await expect(page.get_by_role("button", name="Start again from the example")).to_have_count(0)


async def test_hostile_and_large_values_are_text_and_leave_the_page_usable(admin: Visit) -> None:
    hostile = "<img src=x onerror=alert(1)><script>alert(1)</script>\u202etxt {{secret:X}}"
    schema = {
        "type": "object",
        "properties": {f"p{number}": {"type": "string", "title": hostile} for number in range(2000)}
        | {"__proto__": {"type": "string"}},
    }
    await admin.board.add(mock("hostile", {"x" * 60_000: hostile}, description=hostile, input_schema=schema))
    page = await edit(admin, "hostile")
    await page.get_by_label("description", exact=True).fill(f"{hostile} changed")
    await expect(page.get_by_text(VALID)).to_be_visible()
    changes = page.get_by_role("region", name="Changes")
    await expect(changes.get_by_role("listitem")).to_have_count(1)
    assert await page.locator("img:not(.cm-widgetBuffer), main script").count() == 0
    assert "\u202e" not in await changes.inner_text()
    assert not await page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert await page.evaluate("document.querySelectorAll('*').length") < 2000
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("Saved version 2")).to_be_visible()
    saved = await admin.board.tools.get("hostile", admin.board.admin)
    assert saved.input_schema == schema
    assert saved.config == {"mock_response": {"x" * 60_000: hostile}}


async def test_a_stored_secret_is_not_shown_and_stays_unless_it_is_replaced(admin: Visit) -> None:
    config = {"url": "http://127.0.0.1:9/x", "method": "GET", "headers": {"X-One": "hush-one", "X-Two": "hush-two"}}
    tool = await admin.board.add(mock("secretive") | {"tool_type": "http", "config": config})
    page = await edit(admin, "secretive")
    await page.get_by_role("textbox", name="url", exact=True).fill("http://127.0.0.1:9/y")
    await page.get_by_label("X-Two", exact=True).fill("hush-new")
    changes = page.get_by_role("region", name="Changes")
    await expect(changes.get_by_text("config.headers.X-Two")).to_be_visible()
    await expect(changes.get_by_text("a new value, not shown")).to_be_visible()
    await expect(changes.get_by_text("hush-new")).to_have_count(0)
    await expect(page.get_by_text(VALID)).to_be_visible()
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("Saved version 2")).to_be_visible()
    assert "hush" not in await page.content()
    saved = await admin.board.tools.get("secretive", admin.board.admin)
    plain = unseal_config(saved.config, admin.board.tools.vault, tool.id)
    assert plain["headers"] == {"X-One": "hush-one", "X-Two": "hush-new"}
    assert plain["url"] == "http://127.0.0.1:9/y"


async def test_a_change_in_the_form_keeps_every_digit_elsewhere(admin: Visit) -> None:
    tool = await admin.board.add(mock("digits", 9007199254740993, tags=["a"]))
    page = await admin.open("tools/digits?tab=edit")
    yaml = page.get_by_label("Definition as YAML")
    await expect(yaml).to_contain_text("mock_response: 9007199254740993")
    await page.get_by_label("description", exact=True).fill("typed in the form")
    await expect(page.get_by_text(VALID)).to_be_visible()
    await expect(page.get_by_role("region", name="Changes").get_by_role("listitem")).to_have_count(1)
    config = "config: {mock_response: 9007199254740995}"
    text = f"name: digits\ntool_type: mock\n{config}\ninput_schema: {{type: object}}\n"
    await write_yaml(page, text)
    await expect(page.get_by_text(VALID)).to_be_visible()
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("Saved version 2")).to_be_visible()
    saved = await admin.board.tools.get(tool.id, admin.board.admin)
    assert saved.config == {"mock_response": 9007199254740995}
    assert saved.tags == ()


async def test_a_version_of_another_user_is_a_choice_and_never_overwritten(admin: Visit) -> None:
    admin.expected.append("409")
    board = admin.board
    await board.add(mock("shared", 1, description="first", tags=["a"]))
    page = await edit(admin, "shared")
    await page.get_by_label("description", exact=True).fill("mine")
    await board.tools.update("shared", {"tags": ["theirs"], "timeout": 5}, board.admin)
    conflict = page.get_by_role("alert").filter(has_text="Version 2 was saved meanwhile")
    await expect(conflict).to_contain_text("theirs")
    await expect(page.get_by_role("button", name="Save")).to_be_disabled()
    await conflict.get_by_role("button", name="Make my changes to version 2").click()
    changes = page.get_by_role("region", name="Changes")
    await expect(changes.get_by_role("listitem")).to_have_count(1)
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("Saved version 3")).to_be_visible()
    saved = await board.tools.get("shared", board.admin)
    assert (saved.description, saved.tags, saved.timeout) == ("mine", ("theirs",), 5)

    await page.get_by_label("description", exact=True).fill("mine again")
    await board.tools.update("shared", {"description": "theirs"}, board.admin)
    await page.get_by_role("button", name="Take version 4").click()
    await expect(page.get_by_label("description", exact=True)).to_have_value("theirs")
    await page.get_by_role("button", name="Undo").click()
    await expect(page.get_by_label("description", exact=True)).to_have_value("mine again")
    assert (await board.tools.get("shared", board.admin)).description == "theirs"
    await page.get_by_role("button", name="Take version 4").click()
    # Without changes of one's own, there is no choice to make.
    await board.tools.update("shared", {"description": "theirs again"}, board.admin)
    await expect(page.get_by_label("description", exact=True)).to_have_value("theirs again")


async def test_what_happens_to_a_tool_is_shown_on_its_open_page(admin: Visit) -> None:
    admin.expected += ["404", "409"]
    board = admin.board
    tool = await board.add(mock("volatile"))
    page = await edit(admin, "volatile")
    await page.get_by_label("description", exact=True).fill("typed")
    await board.tools.update(tool.id, {"name": "renamed"}, board.admin)
    await expect(page.get_by_role("heading", name="renamed")).to_be_visible()
    await board.add(mock("volatile", description="another tool"))
    await expect(page.get_by_text("This tool was renamed")).to_be_visible()
    await page.get_by_role("link", name="Use its new address").click()
    await expect(page).to_have_url(re.compile(r"/tools/renamed\?tab=edit"))
    await expect(page.get_by_label("description", exact=True)).to_have_value("typed")
    now = await board.tools.get(tool.id, board.admin)
    await board.tools.flag([now])
    await expect(page.get_by_text("Drifted")).to_be_visible()
    await board.tools.delete(tool.id, board.admin)
    await expect(page.get_by_text("This tool was deleted")).to_be_visible()
    await expect(page.get_by_label("description", exact=True)).to_have_value("typed")
    await page.get_by_role("button", name="Restore it").click()
    await expect(page.get_by_text("This tool was deleted")).to_be_hidden()
    assert not (await board.tools.get(tool.id, board.admin)).is_deleted


async def test_a_session_that_ends_while_the_form_is_open_keeps_what_was_typed(admin: Visit) -> None:
    admin.expected.append("401")
    await admin.board.add(mock("kept"))
    page = await edit(admin, "kept")
    await page.context.clear_cookies()
    await page.get_by_label("description", exact=True).fill("typed after the end")
    dialog = page.get_by_role("dialog", name="Your session is over")
    await dialog.get_by_label("API key").fill("a-key-for-tests-0123456789")
    await dialog.get_by_role("button", name="Log in").click()
    await expect(dialog).to_be_hidden()
    await expect(page.get_by_label("description", exact=True)).to_have_value("typed after the end")
    await expect(page.get_by_text(VALID)).to_be_visible()
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("Saved version 2")).to_be_visible()
