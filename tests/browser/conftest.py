"""One browser for the tests of a module, and one context and board for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, async_playwright

from tests.browser.launch import launch_browser
from tests.browser.visit import Visit, visiting


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """One event loop for a module, because the browser belongs to it."""
    return "asyncio"


@pytest.fixture(scope="module")
async def browser(anyio_backend: str) -> AsyncIterator[Browser]:
    """A running browser."""
    async with async_playwright() as playwright:
        browser = await launch_browser(playwright)
        yield browser
        await browser.close()


@pytest.fixture
async def visit(browser: Browser) -> AsyncIterator[Visit]:
    """A browser context that is not logged in."""
    async with visiting(browser) as visit:
        visit.expected.append("401 (Unauthorized)")
        yield visit


@pytest.fixture
async def admin(browser: Browser) -> AsyncIterator[Visit]:
    """A browser context of the admin."""
    async with visiting(browser) as visit:
        await visit.log_in()
        yield visit
