"""What can be done with a row of the journal: replay, proof, export, and jumping to a time."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from playwright.async_api import expect

from pegboard.testing import calls_of
from tests.browser.visit import Visit

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
KEPT = {"keep_arguments": True, "keep_result": True}


async def record_call(visit: Visit, **definition: Any) -> str:
    """Make a call of a tool that keeps everything, and return its id."""
    tool = {"name": "keeper", "tool_type": "mock", "input_schema": SCHEMA, "config": {"mock_response": {"n": 1}}}
    await visit.board.add({**tool, **KEPT, **definition})
    await visit.board.call("keeper", {"city": "Oslo"})
    (row,) = await calls_of(visit.board)
    return str(row.id)


async def test_a_row_is_replayed_with_other_arguments_and_the_results_are_compared(admin: Visit) -> None:
    row = await record_call(admin, read_only=True)
    await admin.board.tools.update("keeper", {"config": {"mock_response": {"n": 2}}}, admin.board.admin)
    page = await admin.open(f"executions?open={row}")
    await page.get_by_role("button", name="Replay").click()
    await page.get_by_label("Arguments", exact=True).fill('{"city": "Bergen"}')
    await page.get_by_role("button", name="Run again").click()
    panel = page.get_by_role("complementary", name="Execution")
    await expect(panel.get_by_text("Different result")).to_be_visible()
    await expect(panel.get_by_text("Other arguments")).to_be_visible()
    difference = panel.get_by_role("list", name="Differences").get_by_role("listitem")
    await expect(difference).to_have_count(1)
    assert [text.strip() for text in await difference.get_by_role("definition").all_inner_texts()] == ["1", "2"]
    _, replayed = await calls_of(admin.board, "keeper")
    assert replayed.arguments == {"city": "Bergen"}
    await panel.get_by_role("link", name="Its row").click()
    await expect(panel).to_contain_text(replayed.id)


async def test_repeating_effects_is_asked_for_first(admin: Visit) -> None:
    @admin.board.tool(keep_arguments=True, keep_result=True)
    def keeper(city: str) -> str:
        """Write something down."""
        return f"kept {city}"

    await admin.board.call("keeper", {"city": "Oslo"})
    (called,) = await calls_of(admin.board)
    page = await admin.open(f"executions?open={called.id}")
    await expect(page.get_by_role("button", name="Replay")).to_be_visible()
    admin.expected.append("409 (Conflict)")
    await page.keyboard.press("r")
    await page.get_by_role("button", name="Run again").click()
    confirm = page.get_by_role("button", name="Run again and repeat its effects")
    await expect(confirm).to_be_visible()
    assert len(await calls_of(admin.board, "keeper")) == 1
    await confirm.click()
    await expect(page.get_by_text("Same result")).to_be_visible()
    assert len(await calls_of(admin.board, "keeper")) == 2


async def test_the_proof_of_a_row_says_whether_it_is_genuine(admin: Visit) -> None:
    row = await record_call(admin)
    page = await admin.open(f"executions?open={row}")
    await page.get_by_role("button", name="Proof").click()
    panel = page.get_by_role("complementary", name="Execution")
    await expect(panel.get_by_text("As the board wrote it")).to_be_visible()


async def test_the_journal_is_exported_and_a_time_jumped_to(admin: Visit) -> None:
    await record_call(admin)
    (row,) = await calls_of(admin.board)
    page = await admin.open("executions")
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Export").click()
    path = await (await download.value).path()
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert any(row.id in json.dumps(line) for line in lines)
    before = (row.started_at - timedelta(minutes=5)).astimezone(ZoneInfo("Europe/Zurich"))
    await page.get_by_label("Jump to a time").fill(before.strftime("%Y-%m-%dT%H:%M"))
    await expect(page.get_by_text("No call matches these filters")).to_be_visible()
    await page.get_by_role("button", name="Remove the filter: until").click()
    await expect(page.get_by_role("row")).to_have_count(2)
