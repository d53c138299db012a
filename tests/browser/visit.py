"""A person at the console of a board of their own: pages in a real browser, and what went wrong in them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, Request, expect

from pegboard import Pegboard
from pegboard.surfaces.cli.board_server import DEMO_TOOLS
from pegboard.testing import memory_board
from tests.board_surfaces import KEY, served

# Generous, because several tests share the cores of a small machine; each wait ends as soon as it can.
TIMEOUT_MS = 30_000
expect.set_options(timeout=TIMEOUT_MS)


@dataclass
class Visit:
    """One browser context at one board."""

    board: Pegboard
    url: str
    context: BrowserContext
    page: Page
    problems: list[str] = field(default_factory=list)
    # Texts of console errors that a test causes on purpose, such as a refused log-in.
    expected: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Collect errors in the console, violations of the policy and requests to other origins."""
        self.context.on("console", self._read_message)
        self.context.on("weberror", lambda error: self.problems.append(f"error: {error.error}"))
        self.context.on("request", self._read_request)

    async def log_in(self, key: str = KEY) -> None:
        """Log in without the page."""
        response = await self.context.request.post(f"{self.url}/v1/sessions", data={"key": key})
        assert response.status == 201, await response.text()

    async def open(self, path: str) -> Page:
        """Open a page of the console."""
        await self.page.goto(f"{self.url}/console/{path}")
        return self.page

    def check(self) -> None:
        """Fail if something went wrong in a page."""
        unexpected = [each for each in self.problems if not any(text in each for text in self.expected)]
        assert not unexpected, "\n".join(unexpected)

    def _read_message(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"{message.type}: {message.text} ({message.location.get('url')})")

    def _read_request(self, request: Request) -> None:
        if not request.url.startswith((f"{self.url}/", "data:", "blob:")):
            self.problems.append(f"a request to {request.url}")


@asynccontextmanager
async def visiting(
    browser: Browser, *, settings: Mapping[str, Any] | None = None, **options: Any
) -> AsyncIterator[Visit]:
    """Yield a browser context at a board in memory with the demo tools; fail if a page had a problem."""
    given: dict[str, Any] = {
        "locale": "en-GB",
        "timezone_id": "Europe/Zurich",
        "viewport": {"width": 1280, "height": 800},
    }
    more = {"admin_key": KEY, "egress_allow": "127.0.0.1", **(settings or {})}
    async with memory_board(DEMO_TOOLS, **more) as board, served(board) as url:
        context = await browser.new_context(**given | options)
        context.set_default_timeout(TIMEOUT_MS)
        visit = Visit(board, url, context, await context.new_page())
        visit.watch()
        try:
            yield visit
        finally:
            # Before the server ends, so that no page sees it go.
            await context.close()
    visit.check()
