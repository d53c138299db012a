"""Disks that lose unsynced data, that are full, and that cannot be written."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from pathlib import Path

import anyio
import pytest

from pegboard.storage.database import Database
from pegboard.storage.migrate import migrate
from tests import servers
from tests.crash.database_locks import hold_write_lock
from tests.crash.journal_contents import Reader, reader
from tests.crash.server_processes import Notes, Served, call, caller, code_of, serving, succeeded
from tests.crash.standalone_journals import Process, chain, ready

SHORT = 0.4
FRAME = 24 + 4096
HEADER = 32
ROOM = 64 * 1024


@asynccontextmanager
async def reading(folder: Path) -> AsyncIterator[Reader]:
    """A reader of the journal in a folder."""
    opened = Reader(Database.create(f"sqlite:///{folder}/board.db"), chain())
    try:
        yield opened
    finally:
        await opened.close()


async def write_and_lose_power(folder: Path, calls: int) -> list[str]:
    """Return the rows that a journal acknowledged; its files in the folder are as they were at a power failure."""
    before = folder / "before"
    before.mkdir()
    url = f"sqlite:///{before}/board.db"
    database = Database.create(url)
    await migrate(database)
    await database.close()
    process = Process(url, before / "spool")
    acknowledged = []
    for _ in range(calls):
        one = ready()
        await process.begin(one)
        acknowledged.append((await process.end(one)).id)
    await process.begin(ready())
    for name in ("board.db", "board.db-wal"):
        shutil.copy(before / name, folder / name)
    await process.crash()
    return acknowledged


async def test_wherever_the_log_is_torn_the_journal_opens_and_what_is_left_of_it_is_whole(tmp_path: Path) -> None:
    acknowledged = await write_and_lose_power(tmp_path, 3)
    log = (tmp_path / "board.db-wal").read_bytes()
    after = (b"", log[HEADER : HEADER + FRAME], bytes(FRAME), os.urandom(FRAME // 2))
    frames = (len(log) - HEADER) // FRAME
    seen = []
    for place in range(frames + len(after)):
        torn = log[: HEADER + place * FRAME] + after[place % len(after)]
        folder = tmp_path / str(place)
        folder.mkdir()
        shutil.copy(tmp_path / "board.db", folder)
        (folder / "board.db-wal").write_bytes(torn)
        async with reading(folder) as journal:
            seen.append([row.id for row in await journal.rows()])
            assert await journal.faults() == []
    assert all(rows == acknowledged[: len(rows)] for rows in seen), "what is left is the beginning"
    assert {len(rows) for rows in seen} == set(range(len(acknowledged) + 1))
    assert seen[frames:] == [acknowledged] * len(after), "what was synced is there, whatever follows it"


async def test_a_board_continues_after_its_log_was_torn(tmp_path: Path) -> None:
    acknowledged = await write_and_lose_power(tmp_path, 3)
    log = tmp_path / "board.db-wal"
    log.write_bytes(log.read_bytes()[:-FRAME] + os.urandom(FRAME // 2))
    async with reading(tmp_path) as journal:
        process = Process(f"sqlite:///{tmp_path}/board.db", tmp_path / "spool")
        one = ready()
        await process.begin(one)
        await process.end(one)
        await process.look()
        rows = await journal.rows()
        assert [row.id for row in rows if row.status == "succeeded"] == [*acknowledged, one.run_id]
        assert await journal.faults() == []
        await process.close()


async def test_a_server_whose_log_ends_in_rubbish_starts_and_has_lost_nothing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/board.db"
    server = Served(url, tmp_path)
    async with serving(server), caller(server) as client, reader(url, server.home) as journal:
        answers = [await call(client, "note", str(n)) for n in range(5)]
        await server.end(signal.SIGKILL)
        with (tmp_path / "board.db-wal").open("ab") as log:
            log.write(os.urandom(3 * FRAME))
        await server.start()
        answers.append(await call(client, "note", "more"))
        assert await server.end(signal.SIGTERM) == 0
        assert all(map(succeeded, answers))
        assert [row.id for row in await journal.rows("note")] == [one.headers["x-execution-id"] for one in answers]
        assert await journal.faults() == []


@contextmanager
def full(server: Served, room: int) -> Iterator[None]:
    """Limit the size of the server's files to this many bytes, which has the effect of a full disk."""
    pid = server.process.pid
    limits = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)


async def test_when_the_database_has_no_more_room_what_ran_goes_to_the_room_that_was_kept_for_it(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path}/board.db"
    server = Served(url, tmp_path, patience=SHORT)
    async with serving(server), caller(server) as client, reader(url, server.home) as journal:
        notes = Notes(server, client)
        async with anyio.create_task_group() as group:
            group.start_soon(notes.send, "ran", "ran")
            await notes.run("ran")
            assert (tmp_path / "board.db-wal").stat().st_size > ROOM
            with full(server, ROOM):
                await notes.let_end("ran")
                refused = await call(client, "note", "refused")
                assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
                assert await journal.rows("note") == []
        await notes.work()
        assert await server.end(signal.SIGTERM) == 0
        rows = await journal.rows("note")
        assert {(row.n, row.id) for row in rows if row.status == "succeeded"} == set(server.effects())
        assert {row.id for row in rows if row.n == "ran"} == notes.executions("ran")
        assert await journal.faults() == []
        assert server.spools() == []


@pytest.mark.parametrize(
    ("database_url", "dies"), [("sqlite", False), ("sqlite", True), ("postgresql", True)], indirect=["database_url"]
)
async def test_when_nothing_can_be_written_at_all_the_caller_is_informed_and_the_row_arrives_later(
    database_url: str, tmp_path: Path, dies: bool
) -> None:
    server = Served(database_url, tmp_path, patience=SHORT)
    async with serving(server), caller(server) as client, reader(database_url, server.home) as journal:
        notes = Notes(server, client)
        async with anyio.create_task_group() as group:
            group.start_soon(notes.send, "ran", "ran")
            await notes.run("ran")
            async with hold_write_lock(database_url):
                with full(server, 0):
                    await notes.let_end("ran")
                    received = notes.answers["ran"]
                    assert (received.status_code, code_of(received)) == (503, "unrecorded")
                    refused = await call(client, "note", "refused")
                    assert (refused.status_code, code_of(refused)) == (503, "unavailable")
                    if dies:
                        await server.end(signal.SIGKILL)
        if dies:
            await server.start()
        await notes.work()
        again = await call(client, "note", "ran", key="ran", gated=True)
        assert code_of(again) == ("in_doubt" if dies else "")
        await journal.settled()
        assert await server.end(signal.SIGTERM) == 0
        (row,) = [row for row in await journal.rows("note") if row.n == "ran" and row.id == server.effects()[0][1]]
        assert row.status == ("in_doubt" if dies else "succeeded")
        assert len([n for n, _ in server.effects() if n == "ran"]) == 1
        assert await journal.faults() == []


READ_ONLY = """
import asyncio, os, sys
from pathlib import Path
from pegboard import Pegboard
from pegboard.testing import NoSettings

async def call(folder):
    async with Pegboard.open(f"sqlite:///{folder}/board.db", settings=NoSettings(home=folder)) as board:
        print((await board.call("echo", {"n": 1})).success)

folder = Path(sys.argv[1])
asyncio.run(call(folder))
for path in (*folder.iterdir(), folder):
    path.chmod(0o555 if path.is_dir() else 0o444)
if os.geteuid() == 0:  # who may write whatever the modes say
    os.setegid(65534)
    os.seteuid(65534)
asyncio.run(call(folder))
"""


def test_a_database_that_may_only_be_read_is_named_at_the_start_and_left_alone() -> None:
    with tempfile.TemporaryDirectory(dir=servers.open_folder()) as name:
        folder = Path(name)
        folder.chmod(0o755)
        ended = subprocess.run(
            [sys.executable, "-c", READ_ONLY, name], capture_output=True, text=True, check=False, timeout=60
        )
        folder.chmod(0o755)
        assert ended.stdout == "True\n", "the second board opened"
        assert ended.returncode == 1
        assert str(folder / "board.db") in ended.stderr.splitlines()[-1]
        with closing(sqlite3.connect(folder / "board.db")) as connection:
            assert connection.execute("SELECT count(*) FROM executions").fetchone() == (1,)
