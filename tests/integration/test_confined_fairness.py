"""Confined calls of several users who want more slots than there are: each user gets a share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from pegboard import Pegboard
from pegboard.concurrency.fair_queue import MAX_WAITING_CALLS
from pegboard.model.call import Caller, ToolResult
from pegboard.sandbox.sandbox import SandboxStats
from pegboard.testing import NoSettings, calls_of, member
from tests.board_surfaces import KEY, served
from tests.integration.confined_board import answer_of, python, shell
from tests.surfaces.rest.clients import bearer, client, good, new_user
from tests.waiting import until

PLACES = 4
QUEUED = 200
Slow = list[asyncio.Task[httpx.Response]]


@pytest.fixture
async def board(tmp_path: Path) -> AsyncIterator[Pegboard]:
    """A board with few slots, and with tools that occupy theirs for a while."""
    home = tmp_path / "home"
    settings = NoSettings(home=home, admin_key=KEY, sandbox_children=PLACES, drain_seconds=1)
    async with Pegboard.open(f"sqlite:///{home}/board.db", settings=settings) as fresh:
        more: dict[str, Any] = {"is_public": True, "timeout": 100}
        await fresh.add(shell("sleep {seconds}", "seconds", name="slow", **more))
        await fresh.add(python("def f(n: int): return n * n", "quick", is_public=True, keep_arguments=True))
        assert (await fresh.call("slow", {"seconds": "0"})).success
        assert (await fresh.call("quick", {"n": 2})).success
        yield fresh


def admission(board: Pegboard) -> SandboxStats:
    """Return how many calls have a slot on this board, and how many wait for one."""
    return board.confinement.sandbox.stats()


async def waits(board: Pegboard, calls: int) -> None:
    """Wait until this many calls wait for a slot."""

    async def look() -> bool:
        return admission(board).waiting >= calls

    await until(look, 30)


async def is_idle(board: Pegboard) -> None:
    """Wait until no call has a place, nor waits for one."""

    async def look() -> bool:
        return admission(board).waiting == admission(board).running == 0

    await until(look, 60)


async def test_hundreds_of_waiting_slow_calls_keep_no_other_user_from_running(board: Pegboard) -> None:
    limits = httpx.Limits(max_connections=None)
    async with client(board) as admin, served(board) as url:
        keys = [(await new_user(admin, name))[1] for name in ("ada", "bob")]
        async with (
            httpx.AsyncClient(base_url=url, headers=bearer(keys[0]), timeout=200, limits=limits) as ada,
            httpx.AsyncClient(base_url=url, headers=bearer(keys[1]), timeout=200, limits=limits) as bob,
        ):
            hers = [
                asyncio.create_task(ada.post("/v1/tools/slow/call", json={"seconds": "0.1"})) for _ in range(QUEUED)
            ]
            await waits(board, QUEUED - PLACES - 20)

            async def square(n: int) -> int:
                answer = good(await bob.post("/v1/tools/quick/call", json={"n": n}))
                assert answer["success"], answer
                return int(answer["result"])

            before = done_of(hers)
            assert [await square(n) for n in range(5)] == [n * n for n in range(5)]
            # In the order of arrival, all of her calls would have been first.
            assert done_of(hers) - before <= QUEUED // 4
            assert await asyncio.gather(*(square(n) for n in range(10))) == [n * n for n in range(10)]
            assert done_of(hers) - before <= QUEUED // 2
            echoed = [await bob.post("/v1/tools/echo/call", json={"n": n}) for n in range(20)]
            assert all(answer.json()["success"] for answer in echoed)
            assert done_of(hers) < QUEUED
            answers = [good(answer) for answer in await asyncio.gather(*hers)]
            assert sum(answer["success"] for answer in answers) == QUEUED
    await is_idle(board)


def done_of(calls: Slow) -> int:
    """How many of these are over."""
    return sum(call.done() for call in calls)


async def start(board: Pegboard, caller: Caller, calls: int, seconds: float) -> list[asyncio.Task[ToolResult]]:
    """Start this many slow calls of a user."""
    arguments = {"seconds": str(seconds)}
    return [asyncio.create_task(board.call("slow", arguments, caller=caller)) for _ in range(calls)]


async def take_all_slots(board: Pegboard) -> list[asyncio.Task[ToolResult]]:
    """Start slow calls until all slots are taken, each by another user, because no user gets all of them."""
    await is_idle(board)  # a call that was answered occupies its slot until its processes have ended
    calls = [call for n in range(PLACES) for call in await start(board, await member(board, f"user{n}"), 1, 60)]

    async def are_all() -> bool:
        return admission(board).running == PLACES

    await until(are_all)
    return calls


async def test_more_than_a_user_may_have_waiting_are_refused_and_others_are_not(board: Pegboard) -> None:
    ada, bob = await member(board, "ada"), await member(board, "bob")
    hers = await start(board, ada, PLACES + MAX_WAITING_CALLS + 100, 1)

    async def refused() -> list[ToolResult]:
        found = [call.result() for call in hers if call.done() and not call.result().success]
        return found if len(found) >= 50 else []

    for result in await until(refused, 30):
        problem = result.problem
        assert problem is not None
        assert (problem.code, problem.did_run) == ("unavailable", False)
        assert f"{MAX_WAITING_CALLS} calls of this user wait already" in problem.message
        assert problem.retry_after_ms is not None
    assert answer_of(await board.call("quick", {"n": 3}, caller=bob)) == 9
    for call in hers:
        call.cancel()
    await asyncio.gather(*hers, return_exceptions=True)
    await is_idle(board)
    assert answer_of(await board.call("quick", {"n": 4}, caller=ada)) == 16


async def test_a_call_that_finds_no_place_in_its_time_did_not_run_and_its_key_is_free(board: Pegboard) -> None:
    bob = await member(board, "bob")
    await board.tools.update("quick", {"timeout": 0.5}, board.admin)
    hers = await take_all_slots(board)
    late = await board.call("quick", {"n": 3}, caller=bob, key="k")
    assert late.problem is not None
    assert (late.problem.code, late.problem.did_run, late.problem.retryable) == ("unavailable", False, True)
    assert f"all {PLACES} places were taken until its deadline (PEGBOARD_SANDBOX_CHILDREN)" in late.problem.message
    assert 0 < (late.problem.retry_after_ms or 0) <= 60_000
    for call in hers:
        call.cancel()
    await asyncio.gather(*hers, return_exceptions=True)
    await is_idle(board)
    await board.tools.update("quick", {"timeout": 20}, board.admin)
    assert answer_of(await board.call("quick", {"n": 3}, caller=bob, key="k")) == 9
    rows = [(row.status, row.code, row.repeat_of) for row in await calls_of(board, "quick")]
    assert rows[1:] == [("failed", "unavailable", None), ("succeeded", None, None)]


async def test_a_cancelled_waiting_call_leaves_the_queue(board: Pegboard) -> None:
    hers = await take_all_slots(board)
    waiting = await start(board, await member(board, "ada"), 50, 60)
    await waits(board, 50)
    for call in waiting:
        call.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert (admission(board).waiting, admission(board).running) == (0, PLACES)
    for call in hers:
        call.cancel()
    await asyncio.gather(*hers, return_exceptions=True)
    await is_idle(board)
    rows = await calls_of(board, "slow")
    assert {row.code for row in rows[1:]} == {"cancelled"}
