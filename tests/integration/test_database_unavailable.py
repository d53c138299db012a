"""A database that becomes unavailable and available again: clear errors, and calls work afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import anyio.to_thread
import httpx
import pytest

from pegboard import Pegboard
from pegboard.model.filters import ExecutionFilter
from pegboard.storage.database import Database, DatabaseUnusable
from pegboard.testing import NoSettings
from tests.board_surfaces import KEY
from tests.servers import PostgresServer
from tests.surfaces.rest.clients import client, good, mock, problem
from tests.unit.journal.standalone_journals import start
from tests.waiting import until


@pytest.fixture
async def board(own_postgres: PostgresServer, tmp_path: Path) -> AsyncIterator[Pegboard]:
    """A board on its own PostgreSQL server, whose journal gives up soon."""
    database = Database.create(own_postgres.url)
    journal = start(database, tmp_path / "spool", patience=0.3).journal
    settings = NoSettings(home=tmp_path, admin_key=KEY, drain_seconds=1)
    async with Pegboard.open(own_postgres.url, settings=settings, journal=journal) as opened:
        yield opened
    await database.close()


async def test_calls_and_changes_say_so_while_it_is_away_and_work_again_afterwards(
    board: Pegboard, own_postgres: PostgresServer
) -> None:
    ran: list[str] = []

    @board.handler("note")
    async def note(when: str) -> None:
        ran.append(when)

    async with client(board) as admin:
        good(await admin.post("/v1/tools", json=mock(tool_type="internal", config={"handler": "note"})), 201)
        assert good(await admin.post("/v1/tools/quote/call", json={"when": "before"}))["success"]

        await anyio.to_thread.run_sync(own_postgres.stop)
        first = await admin.post("/v1/tools/quote/call", json={"when": "while it went away"})
        second = await admin.post("/v1/tools/quote/call", json={"when": "when it was gone"})
        for answer in (first, second):
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
            assert answer.json()["error_details"]["code"] == "unavailable"
            assert answer.json()["error_details"]["retry_after_ms"] == 1000
            assert "record" in answer.json()["error"]
        assert ran == ["before"], "what cannot be recorded does not run"
        unknown = await admin.post("/v1/tools/nonesuch/call")
        assert unknown.status_code == 503
        batch = await admin.post("/v1/calls", json=[{"name": "quote"}])
        assert (batch.status_code, batch.headers["retry-after"]) == (503, "1")
        for answer in (
            await admin.get("/v1/tools"),
            await admin.get("/v1/executions"),
            await admin.post("/v1/tools", json=mock("other")),
            await admin.patch("/v1/tools/quote", json={"description": "d"}),
        ):
            assert "database cannot be reached" in problem(answer, 503)["detail"]
            assert answer.headers["retry-after"] == "1"
        not_ready = await admin.get("/readyz")
        assert (not_ready.status_code, not_ready.json()["status"]) == (503, "unavailable")
        assert good(await admin.get("/healthz")) == {"status": "ok"}
        assert good(await admin.get("/v1/tools/quote"))["name"] == "quote"

        await anyio.to_thread.run_sync(own_postgres.start)

        async def well() -> bool:
            return (await admin.post("/v1/tools/quote/call", json={"when": "after"})).status_code == 200

        await until(well, 10)
        assert good(await admin.get("/readyz")) == {"status": "ready"}
        assert good(await admin.patch("/v1/tools/quote", json={"description": "d"}))["version"] == 2
        rows = (await board.executions(ExecutionFilter(tool="quote"), limit=50)).items
        assert {(row.status, row.code) for row in rows if row.status != "succeeded"} <= {("refused", "unavailable")}
        assert len([row for row in rows if row.status == "succeeded"]) == len(ran)


async def test_a_call_that_ran_while_it_went_away_is_answered_from_the_spool_and_recorded_when_it_is_back(
    board: Pegboard, own_postgres: PostgresServer
) -> None:
    @board.tool
    async def stop() -> str:
        """Stops the database."""
        await anyio.to_thread.run_sync(own_postgres.stop)
        return "stopped"

    async with client(board) as admin:
        keyed = {"Idempotency-Key": "once"}
        stopped = good(await admin.post("/v1/tools/stop/call", headers=keyed))
        assert stopped["result"] == "stopped"
        await anyio.to_thread.run_sync(own_postgres.start)

        async def well() -> bool:
            return (await admin.post("/v1/tools/echo/call")).status_code == 200

        await until(well, 10)
        (row,) = (await board.executions(ExecutionFilter(tool="stop"), limit=5)).items
        assert row.status == "succeeded"
        again = await admin.post("/v1/tools/stop/call", headers=keyed)
        assert (good(again), again.headers["idempotent-replayed"]) == (stopped, "true")


async def test_changes_of_other_processes_during_the_outage_are_seen_afterwards(
    board: Pegboard, own_postgres: PostgresServer, tmp_path: Path
) -> None:
    await board.add(mock())
    await anyio.to_thread.run_sync(own_postgres.stop)
    await anyio.to_thread.run_sync(own_postgres.start)
    async with Pegboard.open(own_postgres.url, settings=NoSettings(home=tmp_path, admin_key=KEY)) as other:
        await other.tools.update("quote", {"config": {"mock_response": "changed"}}, other.admin)

        async def seen() -> bool:
            return bool((await board.call("quote")).output == "changed")

        await until(seen, 10)


async def test_a_call_that_runs_at_the_outage_is_recorded_if_the_database_returns_in_time(
    own_postgres: PostgresServer, tmp_path: Path
) -> None:
    settings = NoSettings(home=tmp_path, admin_key=KEY, drain_seconds=1)
    async with Pegboard.open(own_postgres.url, settings=settings) as board:

        @board.tool
        async def restart() -> str:
            """Restarts the database."""
            await anyio.to_thread.run_sync(own_postgres.stop)
            await anyio.to_thread.run_sync(own_postgres.start)
            return "restarted"

        result = await board.call("restart")
        assert result.output == "restarted"
        (row,) = (await board.executions(ExecutionFilter(tool="restart"), limit=5)).items
        assert (row.id, row.status) == (result.run_id, "succeeded")


async def test_a_board_whose_database_is_away_at_the_start_says_so(tmp_path: Path) -> None:
    settings = NoSettings(home=tmp_path, admin_key=KEY)
    with pytest.raises(DatabaseUnusable, match=r"postgresql://nobody:\*\*\*@127\.0\.0\.1:1/nothing cannot be used"):
        async with Pegboard.open("postgresql://nobody:hush@127.0.0.1:1/nothing", settings=settings):
            pass


async def test_an_admin_sees_the_reason_over_http(board: Pegboard, own_postgres: PostgresServer) -> None:
    async with client(board) as admin:
        await anyio.to_thread.run_sync(own_postgres.stop)
        reasons = (await admin.get("/readyz")).json()["reasons"]
        assert len(reasons) == 1
        assert "the database cannot be reached" in reasons[0]
        assert isinstance(admin, httpx.AsyncClient)
