"""One server for the tests of a module, and the command line program as an admin and as a member."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from pegboard import Pegboard
from pegboard.testing import memory_board
from tests.board_surfaces import KEY
from tests.surfaces.cli.run_program import Program, serving


@pytest.fixture(scope="module")
def admin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """The program as the admin of a running board, with the key in its credentials file."""
    home = tmp_path_factory.mktemp("home")
    with serving(home) as url:
        yield Program({"PEGBOARD_HOME": str(home), "PEGBOARD_URL": url})


@pytest.fixture
def member(admin: Program, tmp_path: Path) -> Program:
    """The program as a new user without tools runs it."""
    name = f"member-{uuid4().hex[:8]}"
    admin.run("users", "add", name).done()
    key = admin.run("keys", "create", name).done().out.strip()
    return admin.but(PEGBOARD_KEY=key, PEGBOARD_HOME=str(tmp_path / "nowhere"))


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    """A fresh board in memory, in the test's own process."""
    async with memory_board(admin_key=KEY, drain_seconds=2) as fresh:
        yield fresh
