"""One board for the attacks of a module; its state must be unchanged after each of them."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

# pytest explains the assertions of this module as in tests.
pytest.register_assert_rewrite("tests.confinement.targets")

from tests.confinement.targets import Target, target  # noqa: E402

# Only root can become another user.
collect_ignore = [] if os.geteuid() == 0 else ["test_as_another_user.py"]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """The event loop that a module's board and tests share."""
    return "asyncio"


@pytest.fixture(scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Target]:
    """The board of this module."""
    async with target(tmp_path_factory.mktemp("home")) as made:
        yield made


@pytest.fixture
async def board(opened: Target) -> AsyncIterator[Target]:
    """The board, whose state must be unchanged after the test."""
    yield opened
    await opened.check()


@pytest.fixture
def mark() -> str:
    """A number of seconds for `sleep` that no other process on the machine uses."""
    return f"{1000 + secrets.randbelow(10**6)}.{secrets.randbelow(10**9):09}"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder for a module's folders: a folder that stays the same needs only one zygote."""
    return tmp_path_factory.mktemp("place").resolve()


@pytest.fixture
def folder(place: Path) -> Path:
    """An empty folder in its own parent folder, which tools may see as any user."""
    shown = place / "shown"
    shown.mkdir(exist_ok=True)
    shown.chmod(0o777)
    for left in (*shown.iterdir(), *(other for other in place.iterdir() if other != shown)):
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left)
        else:
            left.unlink()
    return shown
