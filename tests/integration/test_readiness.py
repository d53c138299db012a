"""/readyz answers 503 with the reason while calls cannot be served, the start warns, and the doctor agrees."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from pegboard import Pegboard
from pegboard.readiness import Readiness
from pegboard.stages.rate_limit import MemoryLimiter
from pegboard.surfaces.rest.server import ServerApplication
from pegboard.testing import NoSettings, memory_board
from tests.board_surfaces import KEY, served
from tests.surfaces.cli.run_program import Program
from tests.surfaces.rest.clients import client, good
from tests.valkey import ValkeyServer
from tests.waiting import until

NO_VALKEY = "calls cannot be counted: Valkey (PEGBOARD_REDIS_URL) does not respond"


async def test_it_is_not_ready_while_valkey_is_away(own_valkey: ValkeyServer) -> None:
    async with memory_board(admin_key=KEY, redis_url=own_valkey.url) as board, client(board) as admin:
        assert good(await admin.get("/readyz")) == {"status": "ready"}
        await anyio.to_thread.run_sync(own_valkey.stop)
        assert (await admin.post("/v1/tools/echo/call", json={})).status_code == 503
        answer = await admin.get("/readyz")
        assert (answer.status_code, answer.json()) == (503, {"status": "unavailable", "reasons": [NO_VALKEY]})
        await anyio.to_thread.run_sync(own_valkey.start)
        assert good(await admin.get("/readyz")) == {"status": "ready"}
        assert (await admin.post("/v1/tools/echo/call", json={})).status_code == 200


async def test_checking_costs_no_caller_a_call(own_valkey: ValkeyServer) -> None:
    rate = {"max_calls": 1, "period": "hour"}
    async with memory_board(admin_key=KEY, redis_url=own_valkey.url, key_rate=rate) as board:
        for _ in range(5):
            assert await board.ready() == []
        assert (await board.call("echo")).success


async def test_the_doctor_says_what_readyz_says(own_valkey: ValkeyServer, tmp_path: Path) -> None:
    async with memory_board(admin_key=KEY, redis_url=own_valkey.url) as board, served(board) as url:
        environment = {"PEGBOARD_HOME": str(tmp_path), "PEGBOARD_URL": url, "PEGBOARD_KEY": KEY}
        doctor = Program({**environment, "PEGBOARD_REDIS_URL": own_valkey.url})
        levels = {True: "ok", False: "bad"}
        for is_up in (True, False):
            if not is_up:
                await anyio.to_thread.run_sync(own_valkey.stop)
            found = (await anyio.to_thread.run_sync(lambda: doctor.run("doctor", "--json"))).json["findings"]
            values = {finding["check"]: finding for finding in found}
            assert (values["redis"]["level"], values["server"]["level"]) == (levels[is_up], levels[is_up])
        assert NO_VALKEY in values["server"]["message"]


async def test_the_start_warns_of_what_is_not_ready(
    own_valkey: ValkeyServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    own_valkey.stop()
    settings = NoSettings(home=tmp_path, database_url="memory", admin_key=KEY, redis_url=own_valkey.url)
    started, stop = asyncio.Event(), asyncio.Event()

    async def receive() -> dict[str, str]:
        if started.is_set():
            await stop.wait()
            return {"type": "lifespan.shutdown"}
        return {"type": "lifespan.startup"}

    async def send(message: object) -> None:
        started.set()

    application = ServerApplication(settings, "test")
    running = asyncio.create_task(application({"type": "lifespan"}, receive, send))
    with anyio.fail_after(30):
        await started.wait()
        assert f"not_ready reasons=['{NO_VALKEY}']" in caplog.text
        stop.set()
        await running


async def test_it_is_not_ready_while_another_process_keeps_the_database_from_writing(tmp_path: Path) -> None:
    file = tmp_path / "board.db"
    async with Pegboard.open(f"sqlite:///{file}", settings=NoSettings(home=tmp_path, admin_key=KEY)) as board:
        assert await board.ready() == []
        other = sqlite3.connect(file, isolation_level=None)
        try:
            other.execute("BEGIN IMMEDIATE")
            hasty = Readiness(board.database, board.journal, MemoryLimiter(), lambda: False, check_seconds=0.2)
            (reason,) = await hasty.reasons()
            assert reason.startswith("the database accepts no writes: ")
        finally:
            other.close()

        async def is_ready() -> bool:
            return not await board.ready()

        await until(is_ready)


async def test_it_is_not_ready_while_it_drains() -> None:
    async with memory_board(admin_key=KEY) as board:
        await board.drain()
        assert await board.ready() == ["the board is shutting down"]


async def test_requests_at_the_same_time_share_one_check() -> None:
    checks = 0

    class Counted(MemoryLimiter):
        async def check(self) -> None:
            nonlocal checks
            checks += 1
            await super().check()

    async with memory_board(admin_key=KEY) as board:
        readiness = Readiness(board.database, board.journal, Counted(), lambda: False)
        assert await asyncio.gather(*(readiness.reasons() for _ in range(50))) == [[]] * 50
        assert checks == 1
        await readiness.reasons()
        assert checks == 2
