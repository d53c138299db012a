"""Servers killed under load, and their journals compared with what their callers received."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from tests.crash.concurrent_callers import ConcurrentCallers, Received
from tests.crash.journal_contents import reader
from tests.crash.server_processes import Served, caller, serving

CALLERS = 24
# How many calls are acknowledged before a server is killed; 0: during the recovery of the last one's rows.
FEWEST, MOST = 0, 200
# A call that runs when the server is killed first.
HELD = "held"


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kills", [1, pytest.param(10, marks=pytest.mark.soak)])
async def test_nothing_acknowledged_is_lost_or_doubled_however_often_the_server_is_killed(
    kills: int, database_url: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    server = Served(database_url, tmp_path)
    async with serving(server), caller(server) as client:
        callers = ConcurrentCallers(client, seed)
        async with anyio.create_task_group() as group:
            for place in range(CALLERS):
                group.start_soon(callers.call_on, place)
            for kill in range(kills):
                callers.is_up.set()
                await callers.answered(chance.randint(FEWEST, MOST))
                if kill == 0:  # at the later kills the running calls are random
                    group.start_soon(callers.hold, HELD)
                    await server.took_effect(HELD)
                callers.lose()
                await server.end(signal.SIGKILL)
                await server.start()
            callers.is_over = True
            callers.is_up.set()
        async with reader(database_url, server.home) as journal:
            await journal.settled()
            assert await server.end(signal.SIGTERM) == 0
            rows = await journal.rows()
            faults = await journal.faults()
            writers = await journal.all_of("SELECT number, closed_at IS NOT NULL FROM writers ORDER BY number")
        received = Received(rows, server.effects(), callers.log)
        record_property("kills", received.summary)
        assert not callers.log.odd, f"seed {seed}"
        assert not received.faults(), f"seed {seed}: {received.summary}"
        assert not faults, f"seed {seed}"
        assert writers
        assert all(is_closed for _, is_closed in writers), f"seed {seed}: {writers}"
        assert not server.spools(), f"seed {seed}"
        assert HELD in {row.n for row in received.in_doubt}
