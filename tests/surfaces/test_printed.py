"""Printed output of a call through library, REST and command line, for users who may see the call."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest

from pegboard import Pegboard
from pegboard.kinds.base import OpenTool, Output, Prepared
from pegboard.model.api_errors import NotFound
from pegboard.model.call import ReadyCall
from pegboard.model.call_errors import ExecutionFailed
from pegboard.model.filters import ExecutionFilter
from pegboard.model.tool import Kind
from pegboard.testing import NoSettings, member
from tests.board_surfaces import KEY, served
from tests.surfaces.cli.run_program import Program
from tests.surfaces.rest.clients import client, good, mock, new_user, problem
from tests.unit.journal.two_boards import use

PRINTED = "fetching ☂\n\x1b[31mdone\x1b[0m\n"


class Printing:
    """Runs tools that print, and that fail if configured so."""

    def prepare(self, _tool: OpenTool) -> Prepared:
        async def run(call: ReadyCall) -> Any:
            if call.arguments.get("fail"):
                error = ExecutionFailed("stuck")
                error.printed = PRINTED
                raise error
            return Output({"n": 1}, PRINTED + "\0\ud800")

        return Prepared(run)

    async def close(self) -> None:
        return


@pytest.fixture
async def board(database_url: str, tmp_path: Path) -> AsyncIterator[Pegboard]:
    """A board on either database with a public tool that prints."""
    settings = NoSettings(home=tmp_path / "home", admin_key=KEY, drain_seconds=2)
    async with Pegboard.open(database_url, settings=settings) as fresh:
        use(fresh, Kind.MOCK, Printing())
        await fresh.add(mock(is_public=True))
        yield fresh


async def test_the_library_returns_it_to_users_who_may_see_the_call(board: Pegboard) -> None:
    ada, eve = await member(board, "ada"), await member(board, "eve")
    well = await board.call("quote", caller=ada)
    badly = await board.call("quote", {"fail": True}, caller=ada)
    assert (well.output, badly.success) == ({"n": 1}, False)
    for caller in (ada, board.admin):
        assert (await board.execution(well.run_id, caller=caller)).printed == PRINTED + "\ufffd?"
        assert (await board.execution(badly.run_id, caller=caller)).printed == PRINTED
    with pytest.raises(NotFound):
        await board.execution(well.run_id, caller=eve)
    assert (await board.executions(ExecutionFilter(), caller=eve)).items == []
    assert (await board.audit.verify()).findings == ()


async def test_rest_shows_it_with_the_execution_and_nowhere_else(board: Pegboard) -> None:
    async with client(board) as admin:
        (_, ada_key), (_, eve_key) = await new_user(admin, "ada"), await new_user(admin, "eve")
    async with client(board, ada_key) as ada, client(board, eve_key) as eve:
        answer = await ada.post("/v1/tools/quote/call", json={"fail": True})
        assert "fetching" not in answer.text
        path = f"/v1/executions/{answer.headers['x-execution-id']}"
        assert good(await ada.get(path))["printed"] == PRINTED
        assert [row["printed"] for row in good(await ada.get("/v1/executions"))["items"]] == [PRINTED]
        assert "fetching" not in json.dumps(problem(await eve.get(path), 404))
        assert good(await eve.get("/v1/executions"))["items"] == []


async def test_the_command_line_shows_it_without_obeying_it(board: Pegboard) -> None:
    result = await board.call("quote")
    async with served(board) as url:
        program = Program({"PEGBOARD_URL": url, "PEGBOARD_KEY": KEY})
        ran = await anyio.to_thread.run_sync(program.run, "audit", "show", result.run_id)
    assert ran.done().json["printed"] == PRINTED + "\ufffd?"
    assert "\x1b" not in ran.out
