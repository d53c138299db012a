"""What the journal and the caller get for an inserted row, or for one that a database refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.kinds.base import Output
from pegboard.kinds.table.config import DatabaseFailed, TableUnusable
from pegboard.model.call_errors import InDoubt
from pegboard.model.tool import Kind
from pegboard.testing import calls_of
from tests.surfaces.rest.clients import mock
from tests.unit.dialects.rendering import rendered
from tests.unit.journal.two_boards import board_on, code, use
from tests.unit.stages.test_printed import Script


async def run_steps(board: Pegboard, *steps: Any) -> Any:
    """Make one call for each step and return the results."""
    use(board, Kind.INTERNAL, Script(*steps))
    await board.add(mock(tool_type="internal", config={"handler": "h"}))
    return [await board.call("quote", key=str(number)) for number in range(len(steps))]


@pytest.fixture
def unique() -> DatabaseFailed:
    return DatabaseFailed("P2002", "no, not twice", field="a, b", sqlstate="23505")


async def test_the_row_is_named_if_one_was_inserted(database_url: str, tmp_path: Path) -> None:
    async with board_on(database_url, tmp_path / "home") as board:
        await run_steps(board, Output({"id": 7}, row_id="7"), 8)
        assert [row.row_id for row in await calls_of(board)] == ["7", None]


async def test_a_refused_row_is_reported_with_its_fields_and_both_codes(
    database_url: str, tmp_path: Path, unique: DatabaseFailed
) -> None:
    async with board_on(database_url, tmp_path / "home") as board:
        failed, unusable = await run_steps(board, unique, TableUnusable("table_not_found", "no table"))
        details = {"code": "P2002", "field": "a, b", "sqlstate": "23505"}
        error = {"type": "DATABASE_ERROR", "message": "no, not twice", "details": details}
        assert rendered(board.dialects["detailed"], failed) == {"success": False, "error": error}
        plain = rendered(board.dialects["plain"], failed)
        assert (plain["error"], plain["error_details"]["sqlstate"]) == ("no, not twice", "23505")
        assert (unusable.problem.type, code(unusable)) == ("CONFIG_ERROR", "table_not_found")
        rows = await calls_of(board)
        assert [(row.status, row.code, row.error) for row in rows] == [
            ("failed", "P2002", "no, not twice"),
            ("failed", "table_not_found", "no table"),
        ]


async def test_what_no_one_can_know_is_in_doubt_and_never_run_again(database_url: str, tmp_path: Path) -> None:
    async with board_on(database_url, tmp_path / "home") as board:
        (first,) = await run_steps(board, InDoubt("perhaps"))
        again = await board.call("quote", key="0")
        assert (code(first), code(again)) == ("in_doubt", "in_doubt")
        rows = await calls_of(board)
        assert rows[0].status == "in_doubt"
        assert rows[1].repeat_of == rows[0].id


async def test_a_refusal_leaves_the_key_free(database_url: str, tmp_path: Path, unique: DatabaseFailed) -> None:
    async with board_on(database_url, tmp_path / "home") as board:
        await run_steps(board, unique)
        use(board, Kind.INTERNAL, Script(1))
        board.snapshot.forget(lambda _: True)
        assert (await board.call("quote", key="0")).output == 1
