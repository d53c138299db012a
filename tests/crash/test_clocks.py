"""A clock that jumps: every guarantee of the journal still applies."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.model import ids
from pegboard.model.filters import ExecutionFilter
from pegboard.storage.database import Database
from pegboard.storage.migrate import migrate
from pegboard.testing import NoSettings
from tests.crash.journal_contents import Reader, reader
from tests.crash.standalone_journals import Process, chain, ready
from tests.waiting import until

HOUR = timedelta(hours=1)


class Clock:
    """The current time of this process."""

    def __init__(self) -> None:
        self.ahead = timedelta(0)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of everything in the package."""
    made = Clock()
    new_id = ids.make_id_factory(lambda: time.time_ns() + int(made.ahead / timedelta(microseconds=1)) * 1000)

    class Kind(type):
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, datetime)

    class Moment(datetime, metaclass=Kind):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + made.ahead

    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] != "pegboard":
            continue
        if getattr(module, "datetime", None) is datetime:
            monkeypatch.setattr(module, "datetime", Moment)
        if getattr(module, "new_id", None) is ids.new_id and module is not ids:
            monkeypatch.setattr(module, "new_id", new_id)
    return made


@pytest.mark.parametrize("jump", [-HOUR, HOUR])
async def test_calls_and_keys_outlast_a_clock_that_jumps_and_jumps_back(
    database_url: str, tmp_path: Path, clock: Clock, jump: timedelta
) -> None:
    ran: list[int] = []
    async with Pegboard.open(database_url, settings=NoSettings(home=tmp_path)) as board:

        @board.tool
        async def note(n: int) -> int:
            """Notes a number."""
            ran.append(n)
            return n

        results = [await board.call("note", {"n": 1}, key="before")]
        clock.ahead = jump
        results.append(await board.call("note", {"n": 2}, key="after"))
        results.append(await board.call("note", {"n": 3}))
        again = [await board.call("note", {"n": 1}, key="before")]
        clock.ahead = timedelta(0)
        results.append(await board.call("note", {"n": 4}))
        again.append(await board.call("note", {"n": 2}, key="after"))
        assert ran == [1, 2, 3, 4]
        assert [result.output for result in results] == ran
        assert [result.repeat_of for result in again] == [results[0].run_id, results[1].run_id]
        listed = (await board.executions(ExecutionFilter(tool="note"), limit=10)).items
        assert {row.id for row in listed} == {result.run_id for result in (*results, *again)}
        moments = {row.id: row.started_at for row in listed}
        away = moments[results[1].run_id] - moments[results[0].run_id]
        assert abs(away - jump) < timedelta(minutes=5), "the clock did not jump"
    async with reader(database_url, tmp_path) as journal:
        assert [row.id for row in await journal.rows()] == [
            result.run_id for result in (*results[:3], again[0], results[3], again[1])
        ]
        assert await journal.faults() == []


@pytest.mark.parametrize("jump", [-HOUR, HOUR])
async def test_a_jump_makes_no_one_dead_and_hides_no_one_who_is(tmp_path: Path, clock: Clock, jump: timedelta) -> None:
    url, spools = f"sqlite:///{tmp_path}/board.db", tmp_path / "spools"
    database = Database.create(url)
    await migrate(database)
    living, dying = Process(url, spools), Process(url, spools)
    here, second = ready(), ready()
    await living.begin(here)
    await dying.begin(second)
    clock.ahead = jump
    await dying.crash()
    other = Process(url, spools)
    await other.look()
    journal = Reader(database, chain())

    async def recovered() -> bool:
        # A look that met a locked database is repeated.
        return [(row.id, row.status) for row in await journal.rows()] == [(second.run_id, "in_doubt")]

    await until(recovered)
    await living.end(here)
    assert await journal.faults() == []
    assert {row.id for row in await journal.rows()} == {here.run_id, second.run_id}
    (row,) = await journal.all_of("SELECT started_at, finished_at FROM executions WHERE status = 'in_doubt'")
    assert datetime.fromisoformat(row[0]).replace(tzinfo=UTC) < datetime.now(UTC)
    for process in (living, other):
        await process.close()
    await journal.close()
