"""Intents: committed before a call with effects runs, and removed when it is recorded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from pegboard import Pegboard
from pegboard.kinds.base import OpenTool, Prepared
from pegboard.model.call import ReadyCall
from pegboard.model.tool import Kind
from pegboard.storage.database import Database
from pegboard.testing import NoSettings, calls_of
from tests.surfaces.rest.clients import mock
from tests.unit.journal.standalone_journals import StandaloneJournal, start
from tests.unit.journal.two_boards import CountingTool, board_on, code, intents, use
from tests.waiting import until

CONFIGS: dict[Kind, dict[str, Any]] = {
    Kind.HTTP: {"url": "https://example.com", "method": "GET"},
    Kind.MCP: {"server_url": "https://example.com"},
    Kind.PYTHON: {"code": "def f(): pass"},
    Kind.SHELL: {"command": "true"},
    Kind.BUILTIN: {"operation": "echo"},
    Kind.MOCK: {"mock_response": 1},
    Kind.INTERNAL: {"handler": "h"},
    Kind.TABLE: {"tableName": "t", "fields": [{"name": "a", "dataType": "text"}]},
}


class Looking:
    """An executor whose tools return the intents that other connections see while they run."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def prepare(self, tool: OpenTool) -> Prepared:
        async def run(_call: ReadyCall) -> Any:
            return await intents(self._database)

        return Prepared(run)

    async def close(self) -> None:
        return


class TestWhich:
    @pytest.mark.parametrize("kind", list(Kind))
    async def test_every_kind_has_one_but_builtins_and_mocks(
        self, database: Database, database_url: str, tmp_path: Path, kind: Kind
    ) -> None:
        async with board_on(database_url, tmp_path / "home") as board:
            use(board, kind, Looking(database))
            await board.add(mock(tool_type=kind.value, config=CONFIGS[kind]))
            seen = (await board.call("quote")).output
            assert seen == ([] if kind in (Kind.BUILTIN, Kind.MOCK) else [["open", False]])
            assert await intents(database) == []
            assert [row.status for row in await calls_of(board)] == ["succeeded"]

    @pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.TABLE])
    async def test_a_tool_that_only_reads_has_none(
        self, database: Database, database_url: str, tmp_path: Path, kind: Kind
    ) -> None:
        async with board_on(database_url, tmp_path / "home") as board:
            use(board, kind, Looking(database))
            await board.add(mock("reads", tool_type=kind.value, config=CONFIGS[kind], read_only=True))
            assert (await board.call("reads")).output == []
            assert await intents(database) == []

    async def test_a_call_with_a_key_has_one_whatever_its_tool(
        self, database: Database, database_url: str, tmp_path: Path
    ) -> None:
        async with board_on(database_url, tmp_path / "home") as board:
            use(board, Kind.MOCK, Looking(database))
            await board.add(mock(read_only=True))
            assert (await board.call("quote", key="k")).output == [["open", True]]
            assert await intents(database) == [("done", True)]

    @pytest.mark.parametrize("error", [None, ValueError("no"), SystemExit(3)], ids=repr)
    async def test_it_is_gone_however_the_call_ends(
        self, database: Database, database_url: str, tmp_path: Path, error: BaseException | None
    ) -> None:
        async with board_on(database_url, tmp_path / "home") as board:

            @board.tool
            async def attempt() -> None:
                if error is not None:
                    raise error

            assert (await board.call("attempt")).success is (error is None)
            assert await intents(database) == []

    async def test_a_call_that_its_tool_cannot_run_leaves_none(
        self, database: Database, database_url: str, tmp_path: Path
    ) -> None:
        async with board_on(database_url, tmp_path / "home") as board:
            await board.add(mock(tool_type="table", config=CONFIGS[Kind.TABLE], input_schema={}))
            assert code(await board.call("quote")) == "table_not_found"
            assert await intents(database) == []


@dataclass
class Gated:
    """A board whose journal waits at a given point, and a tool on it."""

    board: Pegboard
    hand: StandaloneJournal
    note: CountingTool

    def shut(self) -> asyncio.Event:
        """Let the next transaction wait for the event returned."""
        self.hand.ledger.tried.clear()
        self.hand.ledger.gate = asyncio.Event()
        return self.hand.ledger.gate


@asynccontextmanager
async def gated(database: Database, url: str, tmp_path: Path) -> AsyncIterator[Gated]:
    hand = start(database, tmp_path / "spools")
    settings = NoSettings(home=tmp_path / "home", drain_seconds=1)
    async with Pegboard.open(url, settings=settings, journal=hand.journal) as board:
        await board.call("echo")
        yield Gated(board, hand, CountingTool(board, waits=True))


class TestCancelled:
    """A caller who disconnects at any point leaves a row, and no intent."""

    @pytest.fixture
    async def it(self, database: Database, database_url: str, tmp_path: Path) -> AsyncIterator[Gated]:
        async with gated(database, database_url, tmp_path) as made:
            yield made

    async def ends(self, it: Gated, call: asyncio.Task[Any], status: str, why: str | None) -> None:
        with anyio.fail_after(30), pytest.raises(asyncio.CancelledError):
            await call

        async def row() -> Any:
            found = await calls_of(it.board, "note")
            return found[0] if found else None

        ended = await until(row)
        assert (ended.status, ended.code) == (status, why)

        async def none() -> bool:
            return await intents(it.hand.database) == []

        await until(none)

    @pytest.mark.parametrize("twice", [False, True])
    async def test_while_the_intent_is_committed(self, it: Gated, twice: bool) -> None:
        gate = it.shut()
        call = asyncio.create_task(it.board.call("note"))
        await it.hand.ledger.tried.wait()
        call.cancel()
        await asyncio.sleep(0)
        if twice:
            call.cancel()
            await asyncio.sleep(0)
        gate.set()
        await self.ends(it, call, "refused", "cancelled")
        assert it.note.ran == []

    async def test_before_the_intent_is_examined(self, it: Gated) -> None:
        gate = it.shut()
        others = asyncio.create_task(it.board.call("echo"))
        await it.hand.ledger.tried.wait()
        call = asyncio.create_task(it.board.call("note"))
        await asyncio.sleep(0)
        call.cancel()
        await asyncio.sleep(0)
        gate.set()
        await self.ends(it, call, "refused", "cancelled")
        assert (await others).success
        assert it.note.ran == []

    @pytest.mark.parametrize("twice", [False, True])
    async def test_while_it_runs(self, it: Gated, twice: bool) -> None:
        call = asyncio.create_task(it.board.call("note"))
        await it.note.started.wait()
        assert await intents(it.hand.database) == [("open", False)]
        gate = it.shut()
        call.cancel()
        if twice:
            with anyio.fail_after(30):
                await it.hand.ledger.tried.wait()
            call.cancel()
            await asyncio.sleep(0)
        gate.set()
        await self.ends(it, call, "failed", "cancelled")

    async def test_while_it_is_recorded(self, it: Gated) -> None:
        call = asyncio.create_task(it.board.call("note"))
        await it.note.started.wait()
        gate = it.shut()
        it.note.go.set()
        with anyio.fail_after(30):
            await it.hand.ledger.tried.wait()
        call.cancel()
        await asyncio.sleep(0)
        gate.set()
        await self.ends(it, call, "succeeded", None)
