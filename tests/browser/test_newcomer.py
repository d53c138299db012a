"""The first minute of a newcomer, with the program that `make serve` starts."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread
from playwright.async_api import Browser, expect

from tests.browser.visit import TIMEOUT_MS
from tests.surfaces.cli.run_program import Program

A_MINUTE = 60


@asynccontextmanager
async def serve_demo(home: Path) -> AsyncIterator[str]:
    """Yield what `pegboard serve --demo` prints at its start, and stop it afterwards."""
    command = [sys.executable, "-m", "pegboard", "serve", "--demo", "--port", "0"]
    environment = Program({"PEGBOARD_HOME": str(home), "PYTHONUNBUFFERED": "1"}).full_environment()
    async with await anyio.open_process(command, env=environment, stderr=subprocess.STDOUT) as process:
        try:
            assert process.stdout is not None
            printed = ""
            async for part in process.stdout:
                printed += part.decode()
                if "Ctrl-C" in printed:
                    break
            yield printed
        finally:
            process.terminate()


async def test_a_newcomer_calls_a_tool_and_repeats_the_call_in_a_terminal(browser: Browser, tmp_path: Path) -> None:
    with anyio.fail_after(A_MINUTE):
        async with serve_demo(tmp_path / "home") as printed:
            address = re.search(r"http\S+#code=\S+", printed)
            key = re.search(r"Admin key.*\n  (\S+)", printed)
            assert address, printed
            assert key, printed
            context = await browser.new_context(permissions=["clipboard-read", "clipboard-write"])
            context.set_default_timeout(TIMEOUT_MS)
            page = await context.new_page()
            await page.goto(address[0])
            await page.get_by_role("link", name="Tools", exact=True).click()
            await page.get_by_role("link", name="get_weather").click()
            await page.get_by_label("city").fill("Lisbon")
            await page.get_by_role("button", name="Call").click()
            result = page.get_by_role("region", name="Result", exact=True)
            await expect(result.get_by_text("Succeeded")).to_be_visible()
            tabs = page.get_by_role("navigation", name="Tabs of the tool")
            await tabs.get_by_role("link", name="Executions").click()
            row = page.get_by_role("table", name="Executions").get_by_role("row").nth(1)
            await expect(row).to_contain_text("get_weather")
            await page.go_back()
            await page.get_by_label("city").fill("Oslo")
            await page.get_by_role("button", name="Copy as").click()
            await page.get_by_role("menuitem", name="curl", exact=True).click()
            await expect(page.get_by_text("Copied: curl")).to_be_visible()
            copied = str(await page.evaluate("navigator.clipboard.readText()"))
            await context.close()
            terminal = Program({"PEGBOARD_KEY": key[1]}).full_environment()
            done = await anyio.run_process(["sh", "-c", copied], env=terminal)
            assert b'"sky":"snow"' in done.stdout
