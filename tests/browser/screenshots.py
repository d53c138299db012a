"""`python -m tests.browser.screenshots [NAME…]`: write the pictures of the web console for README and the guide.

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
from typing import Literal

import anyio
import httpx
from playwright.async_api import Browser, Page, ViewportSize, async_playwright, expect

from pegboard.surfaces.cli.demo_tools import THREAD_TITLE
from tests.browser.launch import launch_browser
from tests.servers import free_port

FOLDER = Path(__file__).parents[2] / "docs" / "_static" / "console"
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
MAX_BYTES = 200_000
CALLS = 400
IN_DOUBT = 3
_KEY = "a-key-for-pictures-0123456789abcdef"
_SIZE: ViewportSize = {"width": 1280, "height": 800}


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
        self._packing: list[asyncio.Task[httpx.Response]] = []

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

    def start_packing(self, calls: int) -> None:
        """Start calls that take some time, one after the other."""
        for number in range(calls):
            call = self.client.post("/v1/tools/shop_pack/call", json={"order": f"{2000 + number}"})
            self._packing.append(asyncio.create_task(call))

    async def finish_packing(self) -> None:
        """Wait until these calls have ended, or the server has."""
        await asyncio.gather(*self._packing, return_exceptions=True)
        self._packing.clear()

    async def leave_calls_in_doubt(self, process: asyncio.subprocess.Process) -> None:
        """Kill the server while calls run that may have an effect."""
        self.start_packing(2 * IN_DOUBT)
        await self._wait_until(lambda: self.client.get("/v1/calls"), lambda reply: reply.json()["total"] >= IN_DOUBT)
        process.send_signal(signal.SIGKILL)
        await self.finish_packing()

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


async def _do_nothing(_page: Page, _server: Server) -> None:
    pass


async def _wait_for_rankings(page: Page, _server: Server) -> None:
    await expect(page.get_by_role("link", name="shop_find_order").first).to_be_visible()


async def _call_tool(page: Page, _server: Server) -> None:
    await page.get_by_label("order", exact=False).first.fill("1042")
    await page.get_by_role("button", name="Call", exact=True).click()
    await expect(page.get_by_role("region", name="Result", exact=True).get_by_text("Succeeded")).to_be_visible()


async def _wait_for_editor(page: Page, _server: Server) -> None:
    await expect(page.locator(".cm-content").last).to_be_visible()
    await expect(page.get_by_text("Checking", exact=True)).to_be_hidden()


async def _open_agent(page: Page, _server: Server) -> None:
    await page.get_by_role("link", name="demo-support").first.click()
    await expect(page.get_by_text("tokens").first).to_be_visible()


async def _open_conversation(page: Page, _server: Server) -> None:
    await page.get_by_role("link", name=THREAD_TITLE).first.click()
    await expect(page.get_by_text("is packed and goes to Lisbon")).to_be_visible()


async def _verify_journal(page: Page, _server: Server) -> None:
    await page.get_by_role("button", name="Verify now").click()
    await expect(page.get_by_text("As the board wrote it")).to_be_visible()


async def _open_first_row(page: Page, _server: Server) -> None:
    row = page.get_by_role("table", name="Executions").get_by_role("row").nth(1)
    await row.get_by_role("link").first.click()
    await expect(page.get_by_role("complementary", name="Execution").get_by_role("alert")).to_contain_text("Code")


async def _watch_calls(page: Page, server: Server) -> None:
    await server.run("demo", "traffic", "--calls", "30", "--seed", "2")
    server.start_packing(12)
    await expect(page.get_by_role("progressbar", name="Progress of shop_pack").first).to_be_visible()


@dataclass(frozen=True, slots=True)
class Picture:
    """One page of the console: the name of its file, its address, a text that it shows, and what to do there."""

    name: str
    path: str
    text: str
    prepare: Callable[[Page, Server], Awaitable[None]] = _do_nothing


PICTURES = (
    Picture("overview", "overview", "drifted", _wait_for_rankings),
    Picture("tools", "tools?q=shop_", "shop_find_order"),
    Picture("try-it", "tools/shop_find_order", "Number of the order", _call_tool),
    Picture("model-view", "tools/shop_refund?tab=model&as=anthropic,gemini", "tokens"),
    Picture("edit", "tools/shop_refund?tab=edit", "Refund", _wait_for_editor),
    Picture("new-tool", "tools/new", "New tool"),
    Picture("executions", "executions", "shop_pack"),
    Picture("failed-call", "executions?status=failed", "shop_total", _open_first_row),
    Picture("imports", "imports?tab=changes", "shop_price"),
    Picture("agent", "agents", "demo-support", _open_agent),
    Picture("conversation", "conversations", THREAD_TITLE, _open_conversation),
    Picture("connect", "connect?way=cursor&tool=shop_find_order", "mcpServers"),
    Picture("people", "settings/people", "demo-ana"),
    Picture("journal", "settings/journal", "Verify now", _verify_journal),
    Picture("system", "settings/system", "Database"),
    Picture("live", "live", "Running", _watch_calls),
)


async def take_pictures(server: Server, browser: Browser, names: list[str]) -> None:
    """Write these pictures, or all, in each scheme; raise if one is too large."""
    for scheme in SCHEMES:
        context = await browser.new_context(
            viewport=_SIZE, color_scheme=scheme, locale="en-GB", timezone_id="UTC", reduced_motion="reduce"
        )
        response = await context.request.post(f"{server.url}/v1/sessions", data={"key": _KEY})
        assert response.status == 201, await response.text()
        page = await context.new_page()
        for picture in [each for each in PICTURES if each.name in names or not names]:
            await page.goto(f"{server.url}/console/{picture.path}")
            await expect(page.get_by_text(picture.text).first).to_be_visible()
            await picture.prepare(page, server)
            await wait_until_loaded(page)
            assert _KEY not in await page.content(), picture.name
            path = FOLDER / f"{picture.name}-{scheme}.png"
            await page.screenshot(path=path, animations="disabled", caret="hide")
            await server.finish_packing()
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
                await take_pictures(server, browser, sys.argv[1:])
                await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
