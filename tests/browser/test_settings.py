"""The settings of users: keys, sessions, preferences, people and secrets."""

from __future__ import annotations

import re
from typing import Any

import httpx
from playwright.async_api import Locator, Page, expect

from tests.board_surfaces import KEY
from tests.browser.visit import Visit
from tests.surfaces.rest.clients import bearer, good, new_user

STORED = "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])"


def speak(visit: Visit, key: str = KEY) -> httpx.AsyncClient:
    """Return a client of the board with a key."""
    return httpx.AsyncClient(base_url=visit.url, headers=bearer(key))


async def log_in_elsewhere(visit: Visit, key: str = KEY) -> httpx.AsyncClient:
    """Return a client with a session of its own, as of another browser."""
    client = httpx.AsyncClient(base_url=visit.url, headers={"User-Agent": "Mozilla/5.0 (X11; Linux) Firefox/150.0"})
    response = await client.post("/v1/sessions", json={"key": key})
    assert response.status_code == 201, response.text
    return client


async def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until the target has the focus."""
    await expect(target).to_be_visible()
    for _ in range(80):
        if await target.evaluate("element => element === document.activeElement"):
            return
        await page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {target}")


async def test_a_new_key_is_shown_once_and_works_until_it_is_revoked(admin: Visit) -> None:
    page = await admin.open("settings")
    await expect(page).to_have_url(re.compile("settings/account"))
    await page.get_by_role("button", name="Create a key").click()
    dialog = page.get_by_role("dialog", name="Create a key")
    await dialog.get_by_label("Name").fill("laptop")
    await dialog.get_by_label("Expires").select_option("After 7 days")
    await dialog.get_by_role("button", name="Create key").click()
    shown = page.get_by_role("dialog", name="Copy the new key now")
    key = await shown.get_by_label("New key", exact=True).input_value()
    async with speak(admin, key) as program:
        good(await program.get("/v1/me"))
        await expect(shown.get_by_role("button", name="Copy the key")).to_be_visible()
        await shown.get_by_role("button", name="Done").click()
        await expect(shown).to_be_hidden()
        assert key not in await page.content()
        assert key not in await page.evaluate(STORED)
        row = page.get_by_role("listitem").filter(has_text="laptop")
        await expect(row).to_contain_text("Expires soon")
        await expect(row).to_contain_text("Used just now")
        await row.get_by_role("button", name="Revoke").click()
        confirm = page.get_by_role("dialog", name="Revoke the key “laptop”?")
        await expect(confirm).to_contain_text("This cannot be undone")
        await confirm.get_by_role("button", name="Revoke key").click()
        await expect(row).to_be_hidden()
        assert (await program.get("/v1/me")).status_code == 401
    await page.get_by_role("link", name="Show 1 revoked or expired").click()
    await expect(row).to_contain_text("Revoked")
    await expect(page).to_have_url(re.compile("keys=all"))


async def test_other_sessions_are_ended_and_the_own_one_logs_out(admin: Visit) -> None:
    first, second, third = [await log_in_elsewhere(admin) for _ in range(3)]
    caller = admin.board.admin
    for number in range(24):
        await admin.board.people.create_key(caller.user_id, caller, name=f"key {number}")
    page = await admin.open("settings/account")
    keys = page.get_by_role("region", name="Your keys").get_by_role("listitem")
    await expect(keys).to_have_count(20)
    await page.get_by_role("button", name="Show 5 of 5 more").click()
    await expect(keys).to_have_count(25)
    sessions = page.get_by_role("region", name="Your sessions").get_by_role("listitem")
    await expect(sessions).to_have_count(4)
    own = sessions.filter(has_text="This browser")
    await expect(own).to_contain_text("With the key PEGBOARD_ADMIN_KEY")
    await expect(own.get_by_role("button")).to_have_count(0)
    await sessions.filter(has_text="Firefox on Linux").last.get_by_role("button", name="End").click()
    await expect(sessions).to_have_count(3)
    assert (await first.get("/v1/me")).status_code == 401
    good(await third.get("/v1/me"))
    await page.get_by_role("button", name="End all 2 others").click()
    await expect(sessions).to_have_count(1)
    for client in (second, third):
        assert (await client.get("/v1/me")).status_code == 401
        await client.aclose()
    await first.aclose()
    await page.get_by_text("UTC", exact=True).click()
    await page.get_by_text("Dark", exact=True).click()
    assert await page.evaluate("localStorage['pegboard-time-zone']") == "utc"
    assert await page.evaluate("document.documentElement.dataset.mantineColorScheme") == "dark"
    admin.expected.append("401 (Unauthorized)")
    await page.get_by_role("button", name="Log out").click()
    await expect(page.get_by_label("API key")).to_be_visible()
    assert (await admin.context.request.get(f"{admin.url}/v1/me")).status == 401


async def test_a_session_that_is_ended_elsewhere_keeps_what_is_typed(visit: Visit) -> None:
    async with speak(visit) as board:
        user_id, key = await new_user(board, "ada")
        await visit.log_in(key)
        page = await visit.open("settings/account")
        await page.get_by_role("button", name="Create a key").click()
        name = page.get_by_role("dialog", name="Create a key").get_by_label("Name")
        await name.fill("half typed")
        second = await visit.context.new_page()
        await second.goto(f"{visit.url}/console/settings/account")
        await expect(second.get_by_role("heading", name="Your keys")).to_be_visible()
        # An admin revokes the key of the session while both pages are open.
        other = good(await board.post(f"/v1/users/{user_id}/keys", json={}), 201)["key"]
        rows = good(await board.get(f"/v1/users/{user_id}/keys"))["items"]
        old = next(row for row in rows if key.startswith(row["prefix"]))
        good(await board.delete(f"/v1/users/{user_id}/keys/{old['id']}"), 204)
        for tab in (page, second):
            await expect(tab.get_by_role("dialog", name="Your session is over")).to_be_visible()
        dialog = page.get_by_role("dialog", name="Your session is over")
        await dialog.get_by_label("API key").fill(other)
        await dialog.get_by_role("button", name="Log in").click()
        for tab in (page, second):
            await expect(tab.get_by_role("dialog", name="Your session is over")).to_be_hidden()
        await expect(name).to_have_value("half typed")
        await page.get_by_role("button", name="Create key").click()
        await expect(page.get_by_label("New key", exact=True)).to_be_visible()
        await expect(second.get_by_role("listitem").filter(has_text="half typed")).to_be_visible()


async def test_another_user_who_logs_in_sees_nothing_of_the_one_before(visit: Visit) -> None:
    async with speak(visit) as board:
        user_id, key = await new_user(board, "ada")
        await visit.log_in()
        page = await visit.open("settings/people")
        await expect(page.get_by_role("table", name="Users").get_by_text("ada")).to_be_visible()
        await visit.context.clear_cookies()
        visit.expected.append("403 (Forbidden)")  # the page still asks for the users of the board
        await board.patch(f"/v1/users/{user_id}", json={"name": "ada l."})
        dialog = page.get_by_role("dialog", name="Your session is over")
        await dialog.get_by_label("API key").fill(key)
        await dialog.get_by_role("button", name="Log in").click()
        await expect(page.get_by_text("Only admins can open People")).to_be_visible()
        await expect(page.get_by_role("table", name="Users")).to_be_hidden()


async def test_a_user_is_added_gets_a_key_is_changed_and_removed(admin: Visit) -> None:
    page = await admin.open("settings/people")
    await page.get_by_role("button", name="Add a user").click()
    dialog = page.get_by_role("dialog", name="Add a user")
    await dialog.get_by_label("Name").fill("admin")
    admin.expected.append("409 (Conflict)")
    await dialog.get_by_role("button", name="Add user").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("exists already")
    await dialog.get_by_label("Name").fill("ada")
    await dialog.get_by_role("button", name="Add user").click()
    panel = page.get_by_role("complementary", name="User")
    await expect(panel.get_by_role("heading", name="ada")).to_be_visible()
    await panel.get_by_role("button", name="Create a key").click()
    await page.get_by_role("button", name="Create key").click()
    key = await page.get_by_label("New key", exact=True).input_value()
    await page.get_by_role("button", name="Done").click()
    async with speak(admin, key) as ada, speak(admin) as other_admin:
        user_id = good(await ada.get("/v1/me"))["user"]["id"]
        await page.reload()  # the use of a key is no change that pages follow
        await expect(panel.get_by_role("listitem")).to_contain_text("Used just now")
        await panel.get_by_role("button", name="Rename or change the role").click()
        edit = page.get_by_role("dialog", name="Change ada")
        await edit.get_by_label("Name").fill("ada l.")
        # Another admin changes the same user meanwhile.
        good(await other_admin.patch(f"/v1/users/{user_id}", json={"role": "admin"}))
        changed = page.get_by_role("dialog").get_by_text("Another admin changed this user meanwhile")
        await expect(changed).to_be_visible()
        await expect(page.get_by_role("button", name="Save")).to_be_disabled()
        await page.get_by_role("button", name="Keep mine").click()
        await page.get_by_role("button", name="Save").click()
        await expect(panel.get_by_role("heading", name="ada l.")).to_be_visible()
        user = good(await other_admin.get(f"/v1/users/{user_id}"))
        assert (user["name"], user["role"]) == ("ada l.", "member")
        await panel.get_by_role("button", name="Remove").click()
        confirm = page.get_by_role("dialog", name="Remove the user “ada l.”?")
        await expect(confirm).to_contain_text("All keys and sessions of ada l. are refused at once")
        await confirm.get_by_role("button", name="Remove user").click()
        await expect(panel).to_be_hidden()
        await expect(page.get_by_role("table", name="Users").get_by_role("row")).to_have_count(2)
        assert (await ada.get("/v1/me")).status_code == 401


async def test_the_keyboard_alone_finds_a_user_and_the_reason_why_it_keeps_its_role(admin: Visit) -> None:
    page = await admin.open("overview")
    await expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    await page.keyboard.press("g")
    await page.keyboard.press("s")
    await tab_to(page, page.get_by_role("navigation", name="Settings").get_by_role("link", name="People"))
    await page.keyboard.press("Enter")
    await tab_to(page, page.get_by_role("table", name="Users").get_by_role("link", name="admin"))
    await page.keyboard.press("Enter")
    panel = page.get_by_role("complementary", name="User")
    await tab_to(page, panel.get_by_role("button", name="Rename or change the role"))
    await page.keyboard.press("Enter")
    await tab_to(page, page.get_by_label("Role"))
    await page.keyboard.press("m")
    admin.expected.append("409 (Conflict)")
    await tab_to(page, page.get_by_role("button", name="Save"))
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("is the board's own admin")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_be_hidden()
    await page.keyboard.press("Escape")
    await expect(panel).to_be_hidden()


async def test_a_secret_is_set_replaced_and_removed_and_never_shown(visit: Visit) -> None:
    async with speak(visit) as board:
        user_id, key = await new_user(board, "ada")
        await visit.log_in(key)
        page = await visit.open("settings/secrets")
        await expect(page.get_by_text("No secrets yet")).to_be_visible()
        for value, opener, submit in (
            ("first-hush", "Set a secret", "Set secret"),
            ("second-hush", "Replace the value of API_TOKEN", "Replace value"),
        ):
            await page.get_by_role("button", name=opener).click()
            dialog = page.get_by_role("dialog")
            if opener == "Set a secret":
                await dialog.get_by_label("Name").fill("API TOKEN")
                await expect(dialog.get_by_text("Begin with a letter")).to_be_visible()
                await dialog.get_by_label("Name").fill("API_TOKEN")
            await expect(dialog.get_by_label("Value", exact=True)).to_have_attribute("type", "password")
            await dialog.get_by_label("Value", exact=True).fill(value)
            await dialog.get_by_role("button", name=submit).click()
            await expect(dialog).to_be_hidden()
            assert value not in await page.content()
            assert value not in await page.evaluate(STORED)
        assert visit.board.secrets.value(user_id, "API_TOKEN") == "second-hush"
        config: dict[str, Any] = {"url": "http://127.0.0.1:9/", "method": "GET"}
        config["headers"] = {"X-Key": "{{secret:API_TOKEN}}"}
        tool = {"name": "fetch", "tool_type": "http", "input_schema": {"type": "object"}, "config": config}
        async with speak(visit, key) as ada:
            good(await ada.post("/v1/tools", json=tool), 201)
        await expect(page.get_by_role("listitem").get_by_role("link", name="fetch")).to_be_visible()
        await page.get_by_role("button", name="Remove API_TOKEN").click()
        confirm = page.get_by_role("dialog", name="Remove the secret “API_TOKEN”?")
        await expect(confirm).to_contain_text("Calls fail until you set it again: fetch.")
        await confirm.get_by_role("button", name="Remove secret").click()
        await expect(page.get_by_text("No secrets yet")).to_be_visible()


async def test_the_lines_of_a_pasted_secret_are_kept(admin: Visit) -> None:
    page = await admin.open("settings/secrets?new=secret")
    await page.get_by_label("Name").fill("PRIVATE_KEY")
    await page.get_by_label("Value", exact=True).evaluate(
        "(field, text) => { const clipboardData = new DataTransfer(); clipboardData.setData('text', text);"
        " field.dispatchEvent(new ClipboardEvent('paste', {clipboardData, bubbles: true, cancelable: true})) }",
        "BEGIN\nhush\nEND\n",
    )
    await expect(page.get_by_text("lines were pasted")).to_be_visible()
    await page.get_by_role("button", name="Set secret").click()
    await expect(page.get_by_role("listitem").filter(has_text="PRIVATE_KEY")).to_be_visible()
    await expect(page).not_to_have_url(re.compile("new="))
    assert admin.board.secrets.value(admin.board.admin.user_id, "PRIVATE_KEY") == "BEGIN\nhush\nEND\n"


async def test_members_see_their_sections_and_who_could_open_the_others(visit: Visit) -> None:
    async with speak(visit) as board:
        _, key = await new_user(board, "ada")
    await visit.log_in(key)
    refused: list[str] = []
    visit.page.on("response", lambda response: refused.append(response.url) if response.status == 403 else None)
    page = await visit.open("settings/account")
    links = page.get_by_role("navigation", name="Settings").get_by_role("link")
    await expect(links).to_have_text(["Account", "Secrets"])
    for words, offered in (("create a key", True), ("settings: people", False), ("add a user", False)):
        await page.keyboard.press("Control+k")
        await page.keyboard.type(words)
        if not offered:
            await expect(page.get_by_text("Nothing found")).to_be_visible()
        else:
            await page.keyboard.press("Enter")
            await expect(page.get_by_role("dialog", name="Create a key")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_be_hidden()
    for section in ("people", "journal", "tables", "system"):
        await visit.open(f"settings/{section}")
        await expect(page.get_by_role("alert")).to_contain_text(f"Only admins can open {section.capitalize()}")
    await visit.open("settings/nonsense")
    await expect(page.get_by_text("Settings have no section of this name")).to_be_visible()
    assert refused == []
