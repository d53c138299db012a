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


async def test_when_the_last_reader_is_gone_calls_end_or_go_on_as_their_tools_say() -> None:
    async with waiting_tools(grace=0.01) as server:
        feed = server.start("leaves", "stays", "leaves", *["leaves"] * 20, "stays")
        with server.following.reading(feed), server.following.reading(feed):
            await server.all_began(range(20))

        async def cancelled() -> bool:
            return len(await calls_of(server.board, "leaves")) == 19

        await until(cancelled)
        await server.all_began([23])
        assert not feed.events.is_over
        server.release(1, 23)
        events = await read(feed)
        assert results(events) == ["cancelled", 1, *["cancelled"] * 21, 23]
        # Calls that had not begun are answered too, and the journal has only those that had.
        assert {row.code for row in await calls_of(server.board, "leaves")} == {"cancelled"}
        assert [row.status for row in await calls_of(server.board, "stays")] == ["succeeded"] * 2
        assert len(events[-1].data["tool_calls"]) == 24


async def test_calls_with_a_key_go_on_whatever_their_tools_say() -> None:
    async with waiting_tools(grace=0.01) as server:
        feed = server.start("leaves", "leaves", key="k")
        with server.following.reading(feed):
            await server.all_began(range(2))
        await until(lambda: _has_left(feed))
        server.release(0, 1)
        assert results(await read(feed)) == [0, 1]


async def test_a_call_with_a_key_of_its_own_goes_on_and_is_reported_as_it_ended() -> None:
    async with waiting_tools(grace=0.01) as server:
        raw = [{"name": "leaves", "arguments": {"n": place}} for place in range(2)]
        asked = server.board.payloads.read(raw, "plain", server.board.admin)
        asked = asked._replace(calls=(asked.calls[0]._replace(key="k"), asked.calls[1]))
        feed = server.follow(asked, server.board.admin)
        with server.following.reading(feed):
            await server.all_began(range(2))

        async def cancelled() -> bool:
            return len(await calls_of(server.board, "leaves")) == 1

        await until(cancelled)
        assert not feed.events.is_over
        server.release(0)
        assert results(await read(feed)) == [0, "cancelled"]


async def test_one_that_no_one_ever_reads_is_given_up_too() -> None:
    async with waiting_tools(grace=0.01) as server:
        assert results(await read(server.start("leaves"))) == ["cancelled"]


async def test_a_caller_who_comes_back_in_time_finds_it_running() -> None:
    async with waiting_tools(grace=30) as server:
        feed = server.start("leaves")
        await server.all_began([0])
        first = feed.grace_timer
        assert first is not None
        with server.following.reading(feed):
            assert first.cancelled()
            assert feed.grace_timer is None
        second = feed.grace_timer
        assert second is not None
        assert second.when() > first.when()
        with server.following.reading(feed):
            server.release(0)
            assert results(await read(feed)) == [0]
        # A call that has ended cannot be abandoned.
        assert feed.grace_timer is None


async def test_closing_ends_all_of_it_with_one_error_and_leaves_nothing_behind() -> None:
    async with waiting_tools(grace=30) as server:
        before = asyncio.all_tasks()
        ended = server.start("leaves")
        server.release(0)
        assert results(await read(ended)) == [0]
        feeds = [server.start("stays", "leaves") for _ in range(3)]
        server.may_end.clear()
        running = server.start("leaves")
        await anyio.wait_all_tasks_blocked()
        fresh = server.start("leaves")  # not even begun
        await server.following.close()
        for feed in (*feeds, running, fresh):
            *_, last = await read(feed)
            assert (last.name, last.data["code"]) == ("error", "unavailable")
        assert (await read(ended))[-1].name == "complete"
        following = server.following
        assert not following.running_count
        assert not any(feed.grace_timer for feed in (ended, running, fresh, *feeds))
        server.release(0, 1)  # the detached ones end by themselves, without a reader

        async def at_rest() -> bool:
            return asyncio.all_tasks() <= before

        await until(at_rest)
        await following.close()
    gone = weakref.ref(following)
    server.following = server.board.calls.following = server.board.following
    del following
    gc.collect()
    assert gone() is None, "no timer refers to it"


async def test_what_waits_for_its_turn_when_all_of_it_is_closed_does_not_begin() -> None:
    async with waiting_tools(grace=30) as server:
        before = asyncio.all_tasks()
        feed = server.start(*["stays"] * 25)
        await server.all_began(range(20))
        await server.following.close()
        assert (await read(feed))[-1].data["code"] == "unavailable"
        server.release(*range(25))

        async def at_rest() -> bool:
            return asyncio.all_tasks() <= before

        await until(at_rest)
        assert [row.status for row in await calls_of(server.board, "stays")] == ["succeeded"] * 20


async def _has_left(feed: FollowedRun) -> bool:
    return feed.grace_timer is None
