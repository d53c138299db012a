"""Servers that share a database: one completes what another left, and no live server is considered dead."""

from __future__ import annotations

import asyncio
import shutil
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from tests.crash.concurrent_callers import ConcurrentCallers, Received
from tests.crash.journal_contents import JournalRow, Reader, reader
from tests.crash.server_processes import Notes, Served, call, caller, code_of, serving, succeeded
from tests.waiting import until

PATIENT = 5.0


@asynccontextmanager
async def siblings(url: str, folder: Path, *outfits: dict[str, Any]) -> AsyncIterator[list[Served]]:
    """Servers on one database; on PostgreSQL they share only that and their keys, as on separate machines."""
    is_shared = url.startswith("postgresql")
    servers = [
        Served(url, folder, name=f"{place}", home=f"home-{place if is_shared else 0}", **{"patience": PATIENT, **more})
        for place, more in enumerate(outfits)
    ]
    first = servers[0]
    async with serving(first):
        for other in servers[1:]:
            other.home.mkdir(exist_ok=True)
            if other.home != first.home:
                shutil.copy(first.home / "secret.key", other.home)
        async with serving(*servers[1:]):
            yield servers


async def living(journal: Reader, *servers: Served) -> list[int]:
    """The writers of these servers, as far as they are not closed."""
    open_ones = dict(await journal.all_of("SELECT pid, number FROM writers WHERE closed_at IS NULL"))
    return [open_ones[server.process.pid] for server in servers if server.process.pid in open_ones]


async def test_of_two_servers_under_load_the_living_one_completes_what_the_dead_one_left(
    database_url: str, tmp_path: Path
) -> None:
    async with (
        siblings(database_url, tmp_path, {}, {}) as (one, other),
        caller(one) as client,
        caller(other) as its_client,
        reader(database_url, one.home) as journal,
    ):
        callers = ConcurrentCallers(client, 1)
        own_callers = ConcurrentCallers(its_client, 1, callers.log)
        async with anyio.create_task_group() as group:
            for place in range(16):
                group.start_soon((callers if place < 8 else own_callers).call_on, place)
            callers.is_up.set()
            own_callers.is_up.set()
            notes = Notes(other, its_client)
            group.start_soon(_unanswered, notes, "cut-off")
            await notes.run("cut-off")
            await callers.answered(100)
            own_callers.lose()
            await other.end(signal.SIGKILL)
            own_callers.client = client  # a caller of the dead process repeats the call, with its key, at the live one
            own_callers.is_up.set()
            await callers.answered(50)
            callers.is_over = own_callers.is_over = True
        await journal.settled()
        (number,) = await living(journal, one)
        assert await one.end(signal.SIGTERM) == 0
        received = Received(await journal.rows(), one.effects(), callers.log)
        assert not received.faults(), received.summary
        assert not callers.log.odd
        assert "cut-off" in {row.n for row in received.in_doubt}
        assert await journal.faults() == []
        assert {row.writer for row in received.in_doubt} == {number}


async def test_a_server_that_is_frozen_is_not_taken_for_dead_however_long(database_url: str, tmp_path: Path) -> None:
    # A frozen process renews nothing, and must not be frozen while it locks the database either.
    async with (
        siblings(database_url, tmp_path, {}, {"tend": 600.0}, {}) as (one, frozen, dead),
        caller(frozen) as client,
        caller(dead) as doomed,
        reader(database_url, one.home) as journal,
        anyio.create_task_group() as group,
    ):
        notes, last_notes = Notes(frozen, client), Notes(dead, doomed)
        group.start_soon(notes.send, "frozen", "a key")
        group.start_soon(_unanswered, last_notes, "dead")
        await notes.run("frozen", "dead")
        frozen.process.send_signal(signal.SIGSTOP)
        await dead.end(signal.SIGKILL)

        # The same observations of both are needed to know that this one is dead.
        async def doubted() -> list[JournalRow]:
            return [row for row in await journal.rows("note") if row.n == "dead"]

        (row,) = await until(doubted, 30)
        assert row.status == "in_doubt"
        frozen.process.send_signal(signal.SIGCONT)
        await notes.let_end("frozen")
        assert len(await living(journal, one, frozen)) == 2
        (run_id,) = notes.executions("frozen")
        assert [(row.id, row.status) for row in await journal.rows("note") if row.n == "frozen"] == [
            (run_id, "succeeded")
        ]
        assert await journal.faults() == []


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
async def test_a_server_cut_off_for_so_long_that_it_was_given_up_says_so_and_continues(
    database_url: str, tmp_path: Path
) -> None:
    async with (
        siblings(database_url, tmp_path, {}, {"tend": 600.0}) as (one, frozen),
        caller(frozen) as client,
        reader(database_url, one.home) as journal,
        anyio.create_task_group() as group,
    ):
        notes = Notes(frozen, client)
        group.start_soon(notes.send, "frozen", "a key")
        await notes.run("frozen")
        (number,) = await living(journal, frozen)
        frozen.process.send_signal(signal.SIGSTOP)
        await journal.all_of(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = :number",
            number=number,
        )
        await journal.settled()
        ((_, run_id),) = frozen.effects()
        assert [(row.id, row.status) for row in await journal.rows("note")] == [(run_id, "in_doubt")]
        frozen.process.send_signal(signal.SIGCONT)
        await notes.let_end("frozen")
        await notes.work()
        assert [new for new in await living(journal, frozen) if new != number], "it has begun a chain of its own anew"
        rows = [row for row in await journal.rows("note") if row.n == "frozen"]
        assert (rows[0].id, rows[0].status) == (run_id, "in_doubt")
        # A call that was reported as successful is successful in the journal.
        assert succeeded(notes.answers["frozen"]) == ((run_id, "succeeded") in {(r.repeat_of, r.status) for r in rows})
        for asked in (frozen, one):
            async with caller(asked) as again:
                await call(again, "note", "frozen", key="a key", gated=True)
        assert [n for n, _ in frozen.effects()].count("frozen") == 1
        assert await journal.faults() == []


async def _unanswered(notes: Notes, n: str) -> None:
    try:
        await notes.send(n)
    except httpx.TransportError:
        return
    raise AssertionError(f"answered: {notes.answers}")


async def test_ten_concurrent_calls_to_two_servers_with_one_key_have_one_effect(
    database_url: str, tmp_path: Path
) -> None:
    async with (
        siblings(database_url, tmp_path, {}, {}) as (one, other),
        caller(one) as client,
        caller(other) as its_client,
        reader(database_url, one.home) as journal,
    ):
        clients = [client, its_client] * 5
        answers = await asyncio.gather(*(call(asked, "note", "once", key="k", seconds=0.2) for asked in clients))
        assert all(map(succeeded, answers))
        assert [n for n, _ in one.effects()] == ["once"]
        assert {answer.json()["result"] for answer in answers} == {"once"}
        assert Counter(answer.headers.get("idempotent-replayed") for answer in answers) == {None: 1, "true": 9}
        for asked in (client, its_client):
            assert code_of(await call(asked, "note", "another", key="k", seconds=0.2)) == "idempotency_conflict"
            assert code_of(await call(asked, "note", "once", key="k", seconds=0.3)) == "idempotency_conflict"
        assert [n for n, _ in one.effects()] == ["once"]
        rows = [row for row in await journal.rows("note") if row.status == "succeeded"]
        ((_, run_id),) = one.effects()
        assert {row.id for row in rows} == {answer.headers["x-execution-id"] for answer in answers}
        assert Counter(row.repeat_of for row in rows) == {None: 1, run_id: 9}
        assert await journal.faults() == []
