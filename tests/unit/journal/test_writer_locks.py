"""Live and dead writers: a live one, frozen or not, is never considered dead."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, Mock

import anyio.to_thread
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from pegboard.journal.spool import Spool, SpoolContent, get_spool_path, list_spools
from pegboard.journal.writer_locks import FileLeases, MemoryLeases, ObservedLeases, hold_writer_lock
from pegboard.model.ids import new_id
from pegboard.storage.database import Database
from tests.servers import PostgresServer
from tests.waiting import until

GRACE = 10.0

_SPOOLING = """
import sys
from pathlib import Path
from pegboard.journal.spool import Spool
spool = Spool.create(Path(sys.argv[1]), sys.argv[2])
spool.append([b"kept"])
print("ready", flush=True)
sys.stdin.read()
"""
_HOLDING = """
import asyncio, sys
from pegboard.journal.writer_locks import hold_writer_lock as hold
from pegboard.storage.database import Database
async def main():
    async with Database.create(sys.argv[1]).connect_driver() as driver:
        await hold(driver, int(sys.argv[2]))
        print("ready", flush=True)
        sys.stdin.read()
asyncio.run(main())
"""


@contextmanager
def running(program: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Start a process and return when it has reported that it is ready."""
    command = [sys.executable, "-c", program, *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            yield child
        finally:
            child.kill()


def freeze(child: subprocess.Popen[str]) -> None:
    child.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WNOWAIT)


def kill(child: subprocess.Popen[str]) -> None:
    child.kill()
    child.wait()


async def test_a_writer_in_another_process_lives_until_it_is_killed(tmp_path: Path) -> None:
    leases, writer_id = FileLeases(tmp_path), new_id()
    path = get_spool_path(tmp_path, writer_id)
    with running(_SPOOLING, str(tmp_path), writer_id) as child:
        assert await leases.find_dead_writers([(1, writer_id, 0)]) == set()
        assert Spool.adopt(path) is None
        freeze(child)
        assert await leases.find_dead_writers([(1, writer_id, 0)]) == set()
        assert Spool.adopt(path) is None
        kill(child)
    assert await leases.find_dead_writers([(1, writer_id, 0)]) == {1}
    adopted = Spool.adopt(path)
    assert adopted is not None
    assert adopted.read() == SpoolContent([b"kept"], damaged=False)
    # While one process recovers it, no other does.
    assert Spool.adopt(path) is None
    assert await leases.find_dead_writers([(1, writer_id, 0)]) == set()
    adopted.close(remove=True)
    assert await leases.find_dead_writers([(1, writer_id, 0)]) == {1}


async def test_two_writers_of_one_process_are_two(tmp_path: Path) -> None:
    one, other = (Spool.create(tmp_path, new_id()) for _ in range(2))
    both = [(1, one.path.stem, 0), (2, other.path.stem, 0)]
    assert await FileLeases(tmp_path).find_dead_writers(both) == set()
    assert Spool.adopt(other.path) is None
    other.close(remove=False)
    assert await FileLeases(tmp_path).find_dead_writers(both) == {2}
    assert await FileLeases(tmp_path).find_dead_writers(both) == {2}, "to ask is not to hold"
    one.close(remove=False)


async def test_those_who_ask_do_not_look_alive_to_each_other(tmp_path: Path) -> None:
    spool = Spool.create(tmp_path, new_id())
    spool.close(remove=False)
    with spool.path.open("rb") as asking:
        fcntl.flock(asking, fcntl.LOCK_SH)
        assert await FileLeases(tmp_path).find_dead_writers([(1, spool.path.stem, 0)]) == {1}


async def test_no_writer_is_dead_if_its_lock_cannot_be_checked(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    linked = new_id()
    get_spool_path(tmp_path, linked).symlink_to(tmp_path / "elsewhere")
    assert await FileLeases(tmp_path).find_dead_writers([(1, linked, 0), (2, "no id", 0), (3, new_id(), 0)]) == {3}
    assert "lease_not_readable" in caplog.text
    assert await FileLeases(tmp_path / "not mounted").find_dead_writers([(1, new_id(), 0)]) == set()
    assert await MemoryLeases().find_dead_writers([(1, new_id(), 0)]) == set()


@pytest.mark.parametrize("successor", [None, b"a new file"])
def test_a_file_taken_away_before_it_is_locked_is_not_adopted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, successor: bytes | None
) -> None:
    spool = Spool.create(tmp_path, new_id())
    flock = fcntl.flock

    def lock_late(descriptor: int, operation: int) -> None:
        monkeypatch.undo()
        spool.close(remove=True)
        if successor is not None:
            spool.path.write_bytes(successor)
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", lock_late)
    assert Spool.adopt(spool.path) is None
    assert list_spools(tmp_path) == ([] if successor is None else [(spool.path.stem, spool.path)])


def test_a_spool_that_was_moved_away_knows_it_and_removes_no_other(tmp_path: Path) -> None:
    spool = Spool.create(tmp_path, new_id())
    assert spool.is_in_place
    spool.path.rename(tmp_path / "moved")
    assert not spool.is_in_place
    spool.path.write_bytes(b"somebody else's")
    spool.close(remove=True)
    assert spool.path.read_bytes() == b"somebody else's"


def test_a_damaged_file_is_set_aside_and_found_no_more(tmp_path: Path) -> None:
    spool = Spool.create(tmp_path, new_id())
    spool.append([b"a"])
    with pytest.raises(RuntimeError, match="keeps its name"):
        spool.set_aside()
    os.truncate(spool.path, 20)
    spool.close(remove=False)
    raw = spool.path.read_bytes()
    adopted = Spool.adopt(spool.path)
    assert adopted is not None
    assert adopted.read() == SpoolContent([], damaged=True)
    assert not adopted.is_empty
    aside = adopted.set_aside()
    adopted.close(remove=True)
    assert (aside.name, aside.read_bytes()) == (spool.path.name + ".damaged", raw)
    assert list_spools(tmp_path) == []


def test_only_spools_are_found_oldest_first(tmp_path: Path) -> None:
    assert list_spools(tmp_path / "none") == []
    ids = [new_id() for _ in range(3)]
    for writer_id in reversed(ids):
        Spool.create(tmp_path, writer_id).close(remove=False)
    for name in ("notes.spool", f"{new_id()}.spool.new", f"{new_id()}.spool.damaged", new_id(), f"{new_id()}.SPOOL"):
        (tmp_path / name).touch()
    (tmp_path / f"{new_id()}.spool").mkdir()
    (tmp_path / f"{new_id()}.spool").symlink_to(tmp_path / f"{ids[0]}.spool")
    assert list_spools(tmp_path) == [(writer_id, tmp_path / f"{writer_id}.spool") for writer_id in ids]
    for wrong in ("", "..", f"../{ids[0]}", ids[0].upper(), f"{ids[0]}\n"):
        with pytest.raises(ValueError, match="not the id of a writer"):
            get_spool_path(tmp_path, wrong)


@dataclass
class Watch:
    """Looks at the first writer of a board, while time passes as configured."""

    database: Database
    now: float = 1000.0

    def __post_init__(self) -> None:
        self.leases = ObservedLeases(self.database.read, grace=GRACE, clock=lambda: self.now)

    async def after(self, *pauses: float, beat: int = 7) -> list[set[int]]:
        """Return what checks reported, with this many seconds before each."""
        received = []
        for pause in pauses:
            self.now += pause
            received.append(await self.leases.find_dead_writers([(1, "id", beat)]))
        return received

    async def is_unlocked(self) -> bool:
        async with self.database.read() as conn:
            counted = await conn.execute(text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"))
            return bool(counted.scalar_one() == 0)


@asynccontextmanager
async def watching(url: str) -> AsyncIterator[Watch]:
    database = Database.create(url)
    yield Watch(database)
    await database.close()


@pytest.fixture
async def watch(postgres_url: str) -> AsyncIterator[Watch]:
    async with watching(postgres_url) as watch:
        yield watch


async def test_a_writer_without_lock_and_beat_is_dead_after_the_grace(watch: Watch) -> None:
    assert await watch.after(0, 5, 4.9, 0.1, 0.1) == [set(), set(), set(), set(), {1}]
    assert await watch.leases.find_dead_writers([(2, "id", 0)]) == set()
    assert await watch.is_unlocked(), "looking leaves nothing behind"


async def test_a_writer_that_holds_its_lock_is_alive_however_long_its_lease_is_old(
    watch: Watch, shared_postgres: PostgresServer
) -> None:
    async with watch.database.connect_driver() as driver:
        await hold_writer_lock(driver, 1)
        assert await watch.after(*[5] * 10) == [set()] * 10
        # A writer that lost its connection gets the lock again before the server has noticed.
        async with watch.database.connect_driver() as again:
            with anyio.fail_after(30):
                await hold_writer_lock(again, 1)
            assert await again.fetchval("SELECT current_setting('tcp_keepalives_idle')") == "5"
        assert await watch.after(*[5] * 5) == [set()] * 5
        with shared_postgres.fresh_database() as url:
            async with watching(url) as elsewhere:
                assert (await elsewhere.after(*[5] * 5))[-1] == {1}, "another board has a first writer of its own"


async def test_a_process_lives_while_it_is_frozen_and_is_gone_when_killed(watch: Watch, postgres_url: str) -> None:
    with running(_HOLDING, postgres_url, "1") as child:
        freeze(child)
        assert await watch.after(*[5] * 10) == [set()] * 10
        kill(child)
        await until(watch.is_unlocked)
    assert await watch.after(5, 5, 5, 5) == [set(), set(), set(), {1}]


async def test_a_server_that_was_restarted_condemns_no_one(own_postgres: PostgresServer) -> None:
    async with watching(own_postgres.url) as watch:
        assert await watch.after(4, 4) == [set()] * 2
        await anyio.to_thread.run_sync(own_postgres.stop)
        with pytest.raises(OSError, match=r"Connect|connect"):
            await watch.after(1)
        await anyio.to_thread.run_sync(own_postgres.start)
        assert await watch.after(1, 4, 4) == [set()] * 3
        await anyio.to_thread.run_sync(own_postgres.stop)
        await anyio.to_thread.run_sync(own_postgres.start)
        assert await watch.after(1, 4, 4, 2, 1) == [set(), set(), set(), set(), {1}]


looks = st.tuples(st.integers(1, 12), st.sampled_from(["silent"] * 8 + ["held", "beat", "failed", "restarted"]))


@given(st.lists(looks, max_size=30))
def test_only_an_unbroken_silence_of_the_grace_is_death(looks: list[tuple[int, str]]) -> None:
    anyio.run(observe, looks)


async def observe(looks: list[tuple[int, str]]) -> None:
    server, beat, silent = 0, 0, list[float]()

    @asynccontextmanager
    async def connection() -> AsyncIterator[Any]:
        result = Mock(one=lambda: (server, [1] if what == "held" else []))
        yield Mock(execute=AsyncMock(return_value=result, side_effect=ConnectionError if what == "failed" else None))

    watch = Watch(Mock(read=connection))
    for pause, what in looks:
        beat += what == "beat"
        server += what == "restarted"
        if what != "silent" or pause > GRACE:
            silent = []
        if what == "failed":
            with pytest.raises(ConnectionError):
                await watch.after(pause, beat=beat)
            continue
        expected = {1} if silent and silent[-1] - silent[0] >= GRACE else set()
        assert await watch.after(pause, beat=beat) == [expected]
        silent = [] if what == "held" else [*silent, watch.now]
