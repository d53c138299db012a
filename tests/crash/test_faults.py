"""Faults around a server that runs, or that dies with unwritten rows."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread
import httpx
import pytest

from tests.crash.concurrent_callers import ConcurrentCallers, Received
from tests.crash.database_locks import hold_write_lock
from tests.crash.journal_contents import JournalRow, Reader, reader
from tests.crash.server_processes import Notes, Served, call, caller, code_of, serving, succeeded
from tests.servers import PostgresServer
from tests.waiting import until

SHORT = 0.4
RAN = ("ran-1", "ran-2", "ran-3")


@asynccontextmanager
async def notes_of(server: Served) -> AsyncIterator[tuple[Notes, httpx.AsyncClient]]:
    """The running server and a client."""
    async with serving(server), caller(server) as client:
        yield Notes(server, client), client


async def ended_well(server: Served, journal: Reader) -> dict[str, JournalRow]:
    """Stop the server in good order; the rows of what took effect, which are all there, by number."""
    assert await server.end(signal.SIGTERM) == 0
    await journal.settled(1)
    assert await journal.faults() == []
    assert server.spools() == []
    rows = [row for row in await journal.rows("note") if row.status != "refused" and row.repeat_of is None]
    assert sorted((row.n, row.id) for row in rows) == sorted(server.effects())
    return {row.n: row for row in rows}


async def refuses(client: httpx.AsyncClient) -> bool:
    """Return True if the server accepts no new connections."""
    try:
        async with httpx.AsyncClient(base_url=client.base_url, trust_env=False) as other:
            await other.get("/healthz")
    except httpx.TransportError:
        return True
    return False


async def test_a_server_asked_to_stop_lets_its_calls_end_and_records_them(database_url: str, tmp_path: Path) -> None:
    server = Served(database_url, tmp_path)
    async with notes_of(server) as (notes, client):
        async with anyio.create_task_group() as group:
            for n in RAN:
                group.start_soon(notes.send, n, n if n == "ran-1" else None)
            await notes.run(*RAN)
            server.process.send_signal(signal.SIGTERM)
            await until(lambda: refuses(client))
            await notes.let_end(*RAN)
            async with reader(database_url, server.home) as journal:
                rows = await ended_well(server, journal)
        assert {row.id for row in rows.values()} == notes.executions(*RAN)
        assert {row.status for row in rows.values()} == {"succeeded"}


async def test_a_call_that_outlasts_the_server_is_recorded_as_cancelled(database_url: str, tmp_path: Path) -> None:
    server = Served(database_url, tmp_path, drain=0.1)
    async with notes_of(server) as (notes, _):
        async with anyio.create_task_group() as group:
            group.start_soon(notes.send, "long")
            await notes.run("long")
            async with reader(database_url, server.home) as journal:
                rows = await ended_well(server, journal)
        assert (rows["long"].status, rows["long"].code) == ("failed", "cancelled")
        assert notes.answers["long"].status_code == 503


async def test_while_the_database_is_locked_what_ran_is_answered_and_nothing_new_runs(
    database_url: str, tmp_path: Path
) -> None:
    server = Served(database_url, tmp_path, patience=SHORT)
    async with notes_of(server) as (notes, client), reader(database_url, server.home) as journal:
        assert succeeded(await call(client, "note", "before"))
        async with anyio.create_task_group() as group:
            for n in RAN:
                group.start_soon(notes.send, n, n)
            await notes.run(*RAN)
            async with hold_write_lock(database_url):
                await notes.let_end(*RAN)
                for tool in ("note", "say", "nonesuch"):
                    refused = await call(client, tool, "meanwhile")
                    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
                    assert code_of(refused) == "unavailable"
                assert {row.n for row in await journal.rows()} == {"before"}
        await notes.work()
        again = await call(client, "note", RAN[0], gated=True, key=RAN[0])
        assert succeeded(again)
        assert again.headers["idempotent-replayed"] == "true"
        rows = await ended_well(server, journal)
        assert {rows[n].id for n in RAN} == notes.executions(*RAN)
        assert [(row.n, row.status) for row in sorted(rows.values(), key=lambda row: row.seq)] == [
            (n, "succeeded") for n in ("before", *RAN, "afterwards")
        ]


@pytest.mark.parametrize(
    ("database_url", "cut"), [("sqlite", 0), ("sqlite", 20), ("postgresql", 0)], indirect=["database_url"]
)
async def test_a_server_killed_with_rows_in_its_spool_is_completed_by_the_next(
    database_url: str, tmp_path: Path, cut: int
) -> None:
    server = Served(database_url, tmp_path, patience=SHORT)
    async with notes_of(server) as (notes, client), reader(database_url, server.home) as journal:
        async with anyio.create_task_group() as group:
            for n in RAN:
                group.start_soon(notes.send, n, n)
            await notes.run(*RAN)
            async with hold_write_lock(database_url):
                await notes.let_end(*RAN)
                await server.end(signal.SIGKILL)
        notes.executions(*RAN)
        (spool,) = server.spools()
        if cut:
            os.truncate(spool, len(spool.read_bytes().rstrip(b"\0")) - cut)
        assert await journal.rows() == []
        await server.start()
        again = await call(client, "note", RAN[0], gated=True, key=RAN[0])
        assert succeeded(again)
        assert again.headers["idempotent-replayed"] == "true"
        await journal.settled()
        rows = await ended_well(server, journal)
        values = {n: row.status for n, row in rows.items()}
        assert values == {**dict.fromkeys(RAN, "succeeded"), **({RAN[-1]: "in_doubt"} if cut else {})}
        assert len(server.spools("*.damaged")) == (1 if cut else 0)


async def test_a_database_that_is_restarted_costs_nothing_that_was_acknowledged(
    own_postgres: PostgresServer, tmp_path: Path
) -> None:
    server = Served(own_postgres.url, tmp_path, patience=SHORT)
    async with notes_of(server) as (_, client):
        callers = ConcurrentCallers(client, seed=1)
        async with anyio.create_task_group() as group:
            for place in range(8):
                group.start_soon(callers.call_on, place)
            callers.is_up.set()
            for _ in range(2):
                await callers.answered(40)
                await anyio.to_thread.run_sync(own_postgres.stop)
                await anyio.to_thread.run_sync(own_postgres.start)
            await callers.answered(40)
            callers.is_over = True
        async with reader(own_postgres.url, server.home) as journal:
            await journal.settled()
            assert await server.end(signal.SIGTERM) == 0
            received = Received(await journal.rows(), server.effects(), callers.log)
            assert not received.faults(), received.summary
            assert not callers.log.odd
            assert not received.in_doubt
            assert not await journal.faults()


@pytest.mark.parametrize("key", [None, "a key"])
async def test_a_caller_who_disconnects_before_the_commit_leaves_a_row(
    database_url: str, tmp_path: Path, key: str | None
) -> None:
    server = Served(database_url, tmp_path)
    async with notes_of(server) as (notes, client), reader(database_url, server.home) as journal:
        async with anyio.create_task_group() as group:
            going = anyio.CancelScope()

            async def until_gone() -> None:
                with going:
                    await notes.send("alone", key)

            group.start_soon(until_gone)
            await notes.run("alone")
            async with hold_write_lock(database_url):
                going.cancel()
                if key is not None:  # else it is cancelled: no caller could ask for its result
                    notes.open("alone")
        assert notes.answers == {}

        async def recorded() -> list[JournalRow]:
            return await journal.rows("note")

        (row,) = await until(recorded)
        if key is None:
            assert (row.status, row.code) == ("failed", "cancelled")
        else:
            again = await call(client, "note", "alone", key=key, gated=True)
            assert (again.json()["result"], again.headers["idempotent-replayed"]) == ("alone", "true")
            assert row.status == "succeeded"
        assert (await ended_well(server, journal))["alone"].id == row.id
