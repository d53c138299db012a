"""The browser of the tests: unpacked by `make`, or another one that PEGBOARD_TEST_BROWSER or the PATH names."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from playwright.async_api import Browser, Playwright

# Beside the environment of the running Python, where `make` unpacks it.
FOLDER = Path(sys.prefix) / "browser"
AXE = FOLDER / "node_modules" / "axe-core" / "axe.min.js"
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_MISSING = (
    "No browser for the tests: `make test` unpacks one on Linux x86-64; elsewhere install Chromium, or set "
    "PEGBOARD_TEST_BROWSER to the path of one"
)


async def launch_browser(playwright: Playwright) -> Browser:
    """Return a running browser, with the arguments of Playwright."""
    path = find_browser()
    variables: dict[str, str | float | bool] = dict(os.environ)
    if path.parent == FOLDER:
        variables |= {"LD_LIBRARY_PATH": str(FOLDER / "al2023" / "lib"), "FONTCONFIG_FILE": str(FOLDER / "fonts.conf")}
    return await playwright.chromium.launch(executable_path=path, env=variables)


def find_browser() -> Path:
    """Return the path of a browser, or raise with what to do."""
    named = os.environ.get("PEGBOARD_TEST_BROWSER")
    installed = (found for name in _NAMES if (found := shutil.which(name)))
    for path in (named, FOLDER / "chromium", next(installed, None)):
        if path and Path(path).is_file():
            return Path(path)
    raise RuntimeError(_MISSING)
