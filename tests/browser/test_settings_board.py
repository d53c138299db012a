"""The settings of the board for admins: the journal, the file of tables, and the state of the server."""

from __future__ import annotations

import base64
import json
import re
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from playwright.async_api import Browser, Route, expect
from sqlalchemy import text

from pegboard.testing import calls_of
from tests.browser.test_executions import make_calls
from tests.browser.test_settings import speak
from tests.browser.visit import Visit, visiting
from tests.surfaces.rest.clients import good
from tests.table_databases import log_mood, make_mood_entries, write_tables
from tests.unit.kinds.mcp.changeable_server import ChangeableServer, tool
from tests.upstreams import answer, upstream


async def hold_request(_route: Route) -> None:
    """Leave a request without a response."""


async def test_a_row_that_was_changed_in_the_database_is_named_with_its_proof(admin: Visit) -> None:
    await make_calls(admin)
    row = (await calls_of(admin.board))[1]
    page = await admin.open("settings/journal")
    panel = page.get_by_role("region", name="Was the journal changed?")
    await expect(panel).to_contain_text("has not been verified yet")
    await page.route("**/v1/executions/verify", hold_request)
    await panel.get_by_role("button", name="Verify now").click()
    await expect(panel.get_by_role("status")).to_have_text("Verifying: 0 rows")
    await panel.get_by_role("button", name="Cancel").click()
    await expect(panel.get_by_role("status")).to_have_text("Cancelled: 0 rows")
    await page.unroute("**/v1/executions/verify")
    await panel.get_by_role("button", name="Verify now").click()
    await expect(panel.get_by_role("status")).to_have_text("Verified: 3 rows, all as the board wrote them")
    await expect(panel).to_contain_text("by admin")
    async with admin.board.database.write() as conn:
        await conn.execute(text("UPDATE executions SET caller = 'mallory' WHERE seq = 2"))
    await panel.get_by_role("button", name="Verify now").click()
    await expect(panel.get_by_role("alert")).to_contain_text(row.id)
    await expect(panel).to_contain_text("1 × rows changed")
    await panel.get_by_role("link", name="Show this row").click()
    execution = page.get_by_role("complementary", name="Execution")
    await expect(execution).to_contain_text(row.id)
    await expect(execution.get_by_text("Changed since the board wrote it")).to_be_visible()
    await page.go_back()
    await expect(panel).to_contain_text("1 × rows changed")


async def test_old_rows_are_counted_and_removed_after_a_question(admin: Visit) -> None:
    await make_calls(admin)
    last = (await calls_of(admin.board))[-1]
    page = await admin.open("settings/journal")
    panel = page.get_by_role("region", name="Remove old rows")
    later = last.finished_at.astimezone(ZoneInfo("Europe/Zurich")) + timedelta(milliseconds=1)
    await panel.get_by_label("Calls that finished before").fill(later.isoformat(timespec="milliseconds")[:23])
    await panel.get_by_role("button", name="Count").click()
    await panel.get_by_role("button", name="Remove 3 rows").click()
    confirm = page.get_by_role("dialog", name="Remove 3 rows from the journal?")
    await expect(confirm).to_contain_text("are deleted")
    await confirm.get_by_role("button", name="Remove 3 rows").click()
    await expect(panel.get_by_role("status")).to_have_text("Removed 3 rows.")
    assert await calls_of(admin.board) == []


async def test_the_encryption_key_is_rotated(browser: Browser) -> None:
    new, old = (base64.b64encode(bytes([number]) * 32).decode() for number in (1, 2))
    async with visiting(browser, settings={"secret_key": f"{new},{old}"}) as visit:
        await visit.board.secrets.put("TOKEN", "hush", visit.board.admin)
        await visit.log_in()
        page = await visit.open("settings/secrets")
        panel = page.get_by_role("region", name="Encryption key of the board")
        await panel.get_by_role("button", name="Rotate").click()
        await expect(panel.get_by_role("status")).to_contain_text(re.compile(r"Encrypted \d+ of \d+ values again"))
        assert visit.board.secrets.value(visit.board.admin.user_id, "TOKEN") == "hush"


async def test_the_state_of_each_table_is_shown_and_the_file_is_read_again(browser: Browser, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/mood.db"
    await make_mood_entries(url)
    file = write_tables(tmp_path / "tables.json", log_mood(public=True), database=url)
    async with visiting(browser, settings={"tables": file}) as visit:
        await visit.log_in()
        page = await visit.open("settings/tables")
        panel = page.get_by_role("region", name="Tables")
        await expect(panel.get_by_role("listitem")).to_have_count(1)
        await expect(panel.get_by_role("listitem")).to_contain_text("Ready")
        missing = log_mood(toolId="log-other", tableName="other_entries")
        write_tables(file, log_mood(public=True), missing, database=url)
        await panel.get_by_role("button", name="Read the file now").click()
        await expect(panel.get_by_text("does not exist")).to_be_visible()
        visit.expected.append("422")
        file.write_text(json.dumps({"tables": [{}]}), encoding="utf-8")
        await panel.get_by_role("button", name="Read the file now").click()
        await expect(panel.get_by_text("The file is not in use as it is now")).to_be_visible()


async def test_the_board_shows_its_checks_settings_and_the_servers_that_it_calls(admin: Visit) -> None:
    talker = ChangeableServer([tool("say")])
    async with upstream(talker.behave) as server, upstream(answer(503)) as failing:
        talker.server = server
        async with speak(admin) as api:
            good(await api.post("/v1/imports/mcp", json={"server_url": talker.url, "name": "talker"}))
        definition = {"name": "fetch", "tool_type": "http", "config": {"url": f"{failing.url}/x", "method": "GET"}}
        await admin.board.add({**definition, "input_schema": {"type": "object"}})
        for _ in range(5):
            await admin.board.call("fetch", {})
        page = await admin.open("settings/system")
        await expect(page.get_by_role("region", name="Board", exact=True)).to_contain_text("Serves calls")
        await expect(page.get_by_role("region", name="Checks").get_by_role("listitem").first).to_be_visible()
        origins = page.get_by_role("region", name="HTTP servers").get_by_role("listitem")
        await expect(origins).to_contain_text("Calls are refused")
        await expect(origins).to_contain_text("upstream_failed")
        await expect(page.get_by_role("region", name="MCP servers").get_by_role("listitem")).to_contain_text("talker")
        await page.keyboard.press("/")
        await page.keyboard.type("depth")
        settings = page.get_by_role("region", name="Settings of the server")
        await expect(settings.get_by_role("term")).to_have_text(["PEGBOARD_MAX_DEPTH"])
