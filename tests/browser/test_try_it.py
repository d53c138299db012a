"""Calling a tool from its form, and what is shown of what others wrote."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest
from playwright.async_api import Page, expect

from pegboard.testing import calls_of
from tests.board_surfaces import KEY
from tests.browser.visit import Visit


def mock(name: str, response: Any, **definition: Any) -> dict[str, Any]:
    """A mock tool with this response."""
    schema = {"type": "object", "properties": {}}
    return {
        "name": name,
        "tool_type": "mock",
        "input_schema": schema,
        "config": {"mock_response": response},
        **definition,
    }


async def call(page: Page) -> None:
    """Press the button that makes the call."""
    await page.get_by_role("button", name="Call").click()


async def copy_as(visit: Visit, name: str) -> str:
    """Return what the menu puts on the clipboard."""
    await visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await visit.page.get_by_role("button", name="Copy as").click()
    await visit.page.get_by_role("menuitem", name=name, exact=True).click()
    await expect(visit.page.get_by_text(f"Copied: {name}")).to_be_visible()
    return str(await visit.page.evaluate("navigator.clipboard.readText()"))


async def test_a_newcomer_calls_a_tool_and_finds_its_row(admin: Visit) -> None:
    page = await admin.open("tools")
    await page.get_by_role("link", name="get_weather").click()
    await page.get_by_label("city").fill("Lisbon")
    await call(page)
    result = page.get_by_role("region", name="Result", exact=True)
    await expect(result.get_by_text("Succeeded")).to_be_visible()
    await expect(result.get_by_role("cell", name="clear")).to_be_visible()
    await page.get_by_role("link", name="Executions", exact=True).last.click()
    row = page.get_by_role("table", name="Executions").get_by_role("row").nth(1)
    await expect(row).to_contain_text("get_weather")
    await expect(row).to_contain_text("Succeeded")
    (recorded,) = await calls_of(admin.board, "get_weather")
    assert recorded.surface == "console"


async def test_the_keyboard_alone_fills_in_the_form_and_calls(admin: Visit) -> None:
    page = await admin.open("tools/get_weather")
    await page.get_by_label("city").focus()
    await page.keyboard.type("Oslo")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("cell", name="snow")).to_be_visible()


async def test_an_error_is_shown_at_the_field_that_it_names(admin: Visit) -> None:
    page = await admin.open("tools/get_weather")
    await call(page)
    await expect(page.get_by_label("city")).to_have_attribute("aria-invalid", "true")
    arguments = page.get_by_role("region", name="Arguments", exact=True)
    await expect(arguments.get_by_text("Field 'city' is required")).to_be_visible()
    result = page.get_by_role("region", name="Result", exact=True)
    await expect(result.get_by_text("missing", exact=True)).to_be_visible()


async def test_form_and_json_are_one_value_and_digits_are_kept(admin: Visit) -> None:
    page = await admin.open("tools/echo")
    await page.get_by_text("JSON", exact=True).first.click()
    editor = page.get_by_label("Arguments as JSON")
    await editor.fill('{"number": 0.12345678901234567890123}')
    await page.keyboard.press("Control+Enter")
    result = page.get_by_role("region", name="Result", exact=True)
    await expect(result.get_by_text("Succeeded")).to_be_visible()
    await result.get_by_text("Raw", exact=True).click()
    await expect(result.get_by_role("region", name="Result text")).to_contain_text("0.1234567890123456")
    await editor.fill("{")
    await expect(page.get_by_text("Not valid JSON")).to_be_visible()
    await expect(page.get_by_role("button", name="Call")).to_be_disabled()


async def test_what_is_typed_in_the_form_is_in_the_editor(admin: Visit) -> None:
    page = await admin.open("tools/get_weather")
    await page.get_by_label("city").fill("Bern")
    await page.get_by_text("JSON", exact=True).first.click()
    editor = page.get_by_label("Arguments as JSON")
    await expect(editor).to_contain_text('"Bern"')
    await editor.fill('{"city": "Oslo"}')
    await page.get_by_text("Form", exact=True).click()
    await expect(page.get_by_label("city")).to_have_value("Oslo")


@pytest.mark.parametrize("name", ["curl", "Command line", "Python (HTTP)"])
async def test_a_copied_call_succeeds_in_its_own_program(admin: Visit, tmp_path: Path, name: str) -> None:
    page = await admin.open("tools/get_weather")
    await page.get_by_label("city").fill('it\'s "Lisbon" $HOME')
    text = await copy_as(admin, name)
    assert KEY not in text
    shell = ["sh", "-c", text]
    command = [sys.executable, "-c", text] if name.startswith("Python") else shell
    variables = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "PEGBOARD_KEY": KEY, "HOME": str(tmp_path)}

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=60, check=False)

    ended = await anyio.to_thread.run_sync(run)
    assert ended.returncode == 0, ended.stderr
    assert "cloudy" in ended.stdout
    (recorded,) = await calls_of(admin.board, "get_weather")
    assert recorded.status == "succeeded"


HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=1</script>\u202etxt.\u200b javascript:alert(1)'


async def test_what_others_wrote_is_text_and_nothing_else(admin: Visit) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "title": HOSTILE, "description": HOSTILE}}}
    await admin.board.add(mock("hostile", {HOSTILE: HOSTILE}, description=HOSTILE, input_schema=schema))
    page = await admin.open("tools?q=hostile")
    await expect(page.get_by_role("link", name="hostile")).to_be_visible()
    await page.get_by_role("link", name="hostile").click()
    await call(page)
    for mode in ("Table", "Text", "JSON", "Raw"):
        await page.get_by_role("region", name="Result", exact=True).first.get_by_text(mode, exact=True).click()
        await expect(page.get_by_text("<script>document.title=1</script>").last).to_be_visible()
    assert await page.locator("img, main script").count() == 0
    assert "\u202e" not in await page.locator("main").inner_text()
    await expect(page).to_have_title("hostile · Pegboard")


async def test_a_result_of_a_megabyte_is_cut_and_can_be_downloaded(admin: Visit) -> None:
    await admin.board.add(mock("large", "x" * 1_000_000))
    page = await admin.open("tools/large")
    await call(page)
    await expect(page.get_by_text("The first 19.5 KiB of 976.6 KiB.")).to_be_visible()
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Download all").click()
    path = await (await download.value).path()
    assert path.stat().st_size >= 1_000_000


async def test_a_tool_that_does_not_exist_is_named_with_the_way_out(admin: Visit) -> None:
    admin.expected.append("404 (Not Found)")
    page = await admin.open("tools/no_such_tool")
    await expect(page.get_by_role("alert")).to_contain_text("no_such_tool")
    await expect(page.get_by_role("button", name="Try again")).to_be_visible()


DURATION = re.compile(r"^[\d.]+ ms$")
SCHEMAS: dict[str, Any] = {
    "recursive": {
        "type": "object",
        "properties": {"node": {"$ref": "#/$defs/N"}},
        "$defs": {"N": {"type": "object", "properties": {"v": {"type": "string"}, "next": {"$ref": "#/$defs/N"}}}},
    },
    "one of forty": {
        "type": "object",
        "properties": {
            "c": {"oneOf": [{"type": "object", "properties": {f"f{n}": {"type": "string"}}} for n in range(40)]}
        },
    },
    "conflict": {"type": "object", "properties": {"a": {"allOf": [{"type": "string"}, {"type": "integer"}]}}},
    "patterns": {"type": "object", "patternProperties": {"^x": {"type": "string"}}, "not": {"required": ["y"]}},
    "tuple": {
        "type": "object",
        "properties": {"t": {"type": "array", "items": [{"type": "string"}, {"type": "number"}]}},
    },
    "const and null": {
        "type": "object",
        "properties": {"k": {"const": 1}, "e": {"enum": ["a", None]}, "n": {"type": ["string", "null"]}},
    },
    "large": {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(2000)}},
    "empty": {},
}


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
async def test_every_schema_has_a_form_as_far_as_it_goes(admin: Visit, schema: dict[str, Any]) -> None:
    await admin.board.add(mock("any_schema", {"ok": True}, input_schema=schema))
    page = await admin.open("tools/any_schema")
    await call(page)
    await expect(page.get_by_role("region", name="Result", exact=True).first.get_by_text(DURATION)).to_be_visible()
    assert await page.evaluate("document.querySelectorAll('*').length") < 2000
