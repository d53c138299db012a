"""Readers that disconnect, and the calls that they followed."""

from __future__ import annotations

import asyncio
import gc
import weakref

import anyio

from pegboard.runs.followed_runs import FollowedRun
from pegboard.testing import calls_of
from tests.unit.runs.waiting_tools import read, results, waiting_tools
from tests.waiting import until


async def test_when_the_last_reader_is_gone_calls_end_or_continue_as_their_tools_say() -> None:
    async with waiting_tools(grace=0.01) as waiting_board:
        feed = waiting_board.start("leaves", "stays", "leaves", *["leaves"] * 20, "stays")
        with waiting_board.following.reading(feed), waiting_board.following.reading(feed):
            await waiting_board.all_began(range(20))

        async def cancelled() -> bool:
            return len(await calls_of(waiting_board.board, "leaves")) == 19

        await until(cancelled)
        await waiting_board.all_began([23])
        assert not feed.events.is_over
        waiting_board.release(1, 23)
        events = await read(feed)
        assert results(events) == ["cancelled", 1, *["cancelled"] * 21, 23]
        # Calls that had not begun are answered too, and the journal has only those that had.
        assert {row.code for row in await calls_of(waiting_board.board, "leaves")} == {"cancelled"}
        assert [row.status for row in await calls_of(waiting_board.board, "stays")] == ["succeeded"] * 2
        assert len(events[-1].data["tool_calls"]) == 24


async def test_calls_with_a_key_continue_whatever_their_tools_say() -> None:
    async with waiting_tools(grace=0.01) as waiting_board:
        feed = waiting_board.start("leaves", "leaves", key="k")
        with waiting_board.following.reading(feed):
            await waiting_board.all_began(range(2))
        await until(lambda: _has_left(feed))
        waiting_board.release(0, 1)
        assert results(await read(feed)) == [0, 1]


async def test_a_call_with_a_key_of_its_own_continues_and_is_reported_as_it_ended() -> None:
    async with waiting_tools(grace=0.01) as waiting_board:
        raw = [{"name": "leaves", "arguments": {"n": place}} for place in range(2)]
        asked = waiting_board.board.payloads.read(raw, "plain", waiting_board.board.admin)
        asked = asked._replace(calls=(asked.calls[0]._replace(key="k"), asked.calls[1]))
        feed = waiting_board.follow(asked, waiting_board.board.admin)
        with waiting_board.following.reading(feed):
            await waiting_board.all_began(range(2))

        async def cancelled() -> bool:
            return len(await calls_of(waiting_board.board, "leaves")) == 1

        await until(cancelled)
        assert not feed.events.is_over
        waiting_board.release(0)
        assert results(await read(feed)) == [0, "cancelled"]


async def test_one_that_no_one_ever_reads_is_given_up_too() -> None:
    async with waiting_tools(grace=0.01) as waiting_board:
        assert results(await read(waiting_board.start("leaves"))) == ["cancelled"]


async def test_a_caller_who_returns_in_time_finds_it_running() -> None:
    async with waiting_tools(grace=30) as waiting_board:
        feed = waiting_board.start("leaves")
        await waiting_board.all_began([0])
        first = feed.grace_timer
        assert first is not None
        with waiting_board.following.reading(feed):
            assert first.cancelled()
            assert feed.grace_timer is None
        second = feed.grace_timer
        assert second is not None
        assert second.when() > first.when()
        with waiting_board.following.reading(feed):
            waiting_board.release(0)
            assert results(await read(feed)) == [0]
        # A call that has ended cannot be abandoned.
        assert feed.grace_timer is None


async def test_closing_ends_all_of_it_with_one_error_and_leaves_nothing_behind() -> None:
    async with waiting_tools(grace=30) as waiting_board:
        before = asyncio.all_tasks()
        ended = waiting_board.start("leaves")
        waiting_board.release(0)
        assert results(await read(ended)) == [0]
        feeds = [waiting_board.start("stays", "leaves") for _ in range(3)]
        waiting_board.may_end.clear()
        running = waiting_board.start("leaves")
        await anyio.wait_all_tasks_blocked()
        fresh = waiting_board.start("leaves")  # not even begun
        await waiting_board.following.close()
        for feed in (*feeds, running, fresh):
            *_, last = await read(feed)
            assert (last.name, last.data["code"]) == ("error", "unavailable")
        assert (await read(ended))[-1].name == "complete"
        following = waiting_board.following
        assert not following.running_count
        assert not any(feed.grace_timer for feed in (ended, running, fresh, *feeds))
        waiting_board.release(0, 1)  # the detached ones end by themselves, without a reader

        async def at_rest() -> bool:
            return asyncio.all_tasks() <= before

        await until(at_rest)
        await following.close()
    gone = weakref.ref(following)
    waiting_board.following = waiting_board.board.calls.following = waiting_board.board.following
    del following
    gc.collect()
    assert gone() is None, "no timer refers to it"


async def test_what_waits_for_its_turn_when_all_of_it_is_closed_does_not_begin() -> None:
    async with waiting_tools(grace=30) as waiting_board:
        before = asyncio.all_tasks()
        feed = waiting_board.start(*["stays"] * 25)
        await waiting_board.all_began(range(20))
        await waiting_board.following.close()
        assert (await read(feed))[-1].data["code"] == "unavailable"
        waiting_board.release(*range(25))

        async def at_rest() -> bool:
            return asyncio.all_tasks() <= before

        await until(at_rest)
        assert [row.status for row in await calls_of(waiting_board.board, "stays")] == ["succeeded"] * 20


async def _has_left(feed: FollowedRun) -> bool:
    return feed.grace_timer is None
