"""`python -m tests.browser.screenshots`: write the pictures of the web console for README and the documentation.

Starts a board in a temporary folder, fills it with `pegboard demo traffic`, ends the server once while calls run, so
that some are in doubt, and opens each page in light and in dark.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import anyio
import httpx
from playwright.async_api import Browser, Page, ViewportSize, async_playwright, expect

from tests.browser.launch import launch_browser
from tests.servers import free_port

FOLDER = Path(__file__).parents[2] / "docs" / "_static" / "console"
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
MAX_BYTES = 200_000
CALLS = 400
IN_DOUBT = 3
_KEY = "a-key-for-pictures-0123456789abcdef"
_SIZE: ViewportSize = {"width": 1280, "height": 800}


@dataclass(frozen=True, slots=True)
class Picture:
    """One page of the console: the name of its file, its address, and what has to be done and shown there."""

    name: str
    path: str
    prepare: Callable[[Page], Awaitable[Any]]


async def _wait_for_heading(page: Page) -> None:
    await expect(page.get_by_role("heading", level=1)).to_be_visible()


async def _call_tool(page: Page) -> None:
    await page.get_by_label("order", exact=False).first.fill("1042")
    await page.get_by_role("button", name="Call", exact=True).click()
    await expect(page.get_by_role("region", name="Result", exact=True).get_by_text("Succeeded")).to_be_visible()


async def _open_failed_row(page: Page) -> None:
    row = page.get_by_role("table", name="Executions").get_by_role("row").nth(1)
    await row.get_by_role("link").first.click()
    await expect(page.get_by_role("complementary", name="Execution")).to_contain_text("Code execution_failed")


PICTURES = (
    Picture("overview", "overview", _wait_for_heading),
    Picture("tools", "tools", _wait_for_heading),
    Picture("try-it", "tools/shop_find_order", _call_tool),
    Picture("executions", "executions", _wait_for_heading),
    Picture("failed-call", "executions?status=failed", _open_failed_row),
    Picture("live", "live", _wait_for_heading),
)


class Server:
    """`pegboard serve` on one port and one folder, which can be killed and started again."""

    def __init__(self, home: Path) -> None:
        self.url = f"http://127.0.0.1:{free_port()}"
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PEGBOARD_")},
            "PEGBOARD_HOME": str(home),
            "PEGBOARD_LOG_LEVEL": "error",
            "PEGBOARD_ADMIN_KEY": _KEY,
            "PEGBOARD_KEY": _KEY,
            "PEGBOARD_URL": self.url,
        }
        self.client = httpx.AsyncClient(
            base_url=self.url, headers={"Authorization": f"Bearer {_KEY}"}, timeout=30, trust_env=False
        )

    async def run(self, *arguments: str) -> None:
        """Run a command of `pegboard` on this board."""
        await anyio.run_process([sys.executable, "-m", "pegboard", *arguments], env=self._environment, stdout=None)

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[asyncio.subprocess.Process]:
        """Run the server until the end of the block."""
        words = ["-m", "pegboard", "serve", "--demo", "--port", self.url.rpartition(":")[2]]
        process = await asyncio.create_subprocess_exec(
            sys.executable, *words, env=self._environment, stdout=asyncio.subprocess.DEVNULL
        )
        try:
            await self._wait_until(lambda: self.client.get("/readyz"), lambda reply: reply.status_code == 200)
            yield process
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()

    async def leave_calls_in_doubt(self, process: asyncio.subprocess.Process) -> None:
        """Kill the server while calls run that may have an effect."""
        calls = [
            asyncio.create_task(self.client.post("/v1/tools/shop_pack/call", json={"order": f"{2000 + number}"}))
            for number in range(2 * IN_DOUBT)
        ]
        await self._wait_until(lambda: self.client.get("/v1/calls"), lambda reply: reply.json()["total"] >= IN_DOUBT)
        process.send_signal(signal.SIGKILL)
        await asyncio.gather(*calls, return_exceptions=True)

    async def check_in_doubt(self) -> None:
        """Wait until the next server has recorded the calls in doubt."""
        path = "/v1/executions?status=in_doubt"
        await self._wait_until(lambda: self.client.get(path), lambda reply: len(reply.json()["items"]) > 0)

    async def _wait_until(
        self, ask: Callable[[], Awaitable[httpx.Response]], is_reached: Callable[[httpx.Response], bool]
    ) -> None:
        with anyio.fail_after(60):
            while True:
                try:
                    if is_reached(await ask()):
                        return
                except httpx.TransportError:
                    pass  # the server starts
                await anyio.sleep(0.01)


async def take_pictures(server: Server, browser: Browser) -> None:
    """Write the picture of each page in each scheme; raise if one is too large."""
    for scheme in SCHEMES:
        context = await browser.new_context(
            viewport=_SIZE, color_scheme=scheme, locale="en-GB", timezone_id="UTC", reduced_motion="reduce"
        )
        response = await context.request.post(f"{server.url}/v1/sessions", data={"key": _KEY})
        assert response.status == 201, await response.text()
        page = await context.new_page()
        for picture in PICTURES:
            await page.goto(f"{server.url}/console/{picture.path}")
            await picture.prepare(page)
            await wait_until_loaded(page)
            assert _KEY not in await page.content(), picture.name
            path = FOLDER / f"{picture.name}-{scheme}.png"
            await page.screenshot(path=path, animations="disabled", caret="hide")
            size = path.stat().st_size
            sys.stdout.write(f"{path.name}: {size / 1000:.0f} kB\n")
            assert size < MAX_BYTES, f"{path.name} has {size:,} bytes, at most {MAX_BYTES:,} are allowed"
        await context.close()


async def wait_until_loaded(page: Page) -> None:
    """Wait until no part of the page is an outline any more."""
    await expect(page.locator("[aria-busy=true], .mantine-Skeleton-root")).to_have_count(0)
    await page.evaluate("document.fonts.ready")


async def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=20_000)
    with tempfile.TemporaryDirectory(prefix="pegboard-") as folder:
        server = Server(Path(folder) / "home")
        async with server.client, async_playwright() as playwright:
            async with server.serve() as process:
                await server.run("demo", "traffic", "--calls", str(CALLS))
                await server.leave_calls_in_doubt(process)
            async with server.serve():
                await server.check_in_doubt()
                browser = await launch_browser(playwright)
                await take_pictures(server, browser)
                await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
