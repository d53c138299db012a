"""Followed payloads: events in order, and exactly one end."""

from __future__ import annotations

import itertools

import anyio
import pytest

from pegboard.dialect_calls import PayloadRunner
from pegboard.model.api_errors import Invalid, NotFound
from pegboard.model.call_errors import Unavailable
from pegboard.testing import member
from tests.unit.runs.waiting_tools import read, results, waiting_tools
from tests.waiting import until


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
async def test_results_come_in_the_order_of_the_calls_however_they_end(order: tuple[int, ...]) -> None:
    async with waiting_tools() as waiting_board:
        feed = waiting_board.start("leaves", "leaves", "leaves")
        with waiting_board.following.reading(feed):
            await waiting_board.all_began(range(3))
            for place in order:
                waiting_board.release(place)
                await anyio.wait_all_tasks_blocked()
            events = await read(feed)
    assert results(events) == [0, 1, 2]
    names = [event.name for event in events]
    assert names[:3] == ["tool_use"] * 3
    assert [event.number for event in events] == sorted({event.number for event in events})
    used = {event.data["run_id"]: event.data["id"] for event in events if event.name == "tool_use"}
    values = {event.data["run_id"]: event.data["id"] for event in events if event.name == "tool_result"}
    assert used == values
    assert [call["id"] for call in events[-1].data["tool_calls"]] == list(used.values())
    assert [call["args"] for call in events[-1].data["tool_calls"]] == [{"n": 0}, {"n": 1}, {"n": 2}]


async def test_a_payload_is_found_by_its_own_id_and_by_those_of_its_calls_until_it_expires() -> None:
    async with waiting_tools(kept_seconds=0.2) as waiting_board:
        feed = waiting_board.start("leaves", "leaves")
        await waiting_board.all_began(range(2))
        ids = [feed.id, *feed.run_ids.values()]
        assert len(set(ids)) == 3
        assert all(waiting_board.following.find(one) is feed for one in ids)
        waiting_board.release(0, 1)
        events = await read(feed)
        assert [event.number for event in await read(feed, events[2].number)] == [e.number for e in events[3:]]

        async def forgotten() -> bool:
            return not any(waiting_board.following.find(one) for one in ids)

        await until(forgotten)
        # A caller who still reads it may do so to the end.
        assert await read(feed) == events


async def test_no_more_is_kept_of_what_is_over_than_there_is_room_for() -> None:
    async with waiting_tools(kept_bytes=20_000) as waiting_board:
        waiting_board.release(0)
        feeds = []
        for _ in range(10):
            feeds.append(waiting_board.start("leaves"))
            await read(feeds[-1])
        await anyio.wait_all_tasks_blocked()
        kept = [feed for feed in feeds if waiting_board.following.find(feed.id)]
        assert kept
        assert kept == feeds[-len(kept) :]
        assert sum(feed.size for feed in kept) <= 20_000
        # Not only the text of events counts, which is the smallest part of a short one.
        assert len(kept) < 5
        for feed in feeds:
            found = [waiting_board.following.find(one) for one in (feed.id, *feed.run_ids.values())]
            assert found == [feed if feed in kept else None] * 2


async def test_what_cannot_be_run_is_refused_before_anything_is_reported() -> None:
    async with waiting_tools() as waiting_board:
        with pytest.raises(Invalid, match="101 calls in one payload"):
            waiting_board.start(*["leaves"] * 101)
        with pytest.raises(Invalid, match="idempotency key"):
            waiting_board.start("leaves", key="")
        assert not waiting_board.following.running_count


async def test_a_user_who_follows_very_many_leaves_room_for_others() -> None:
    async with waiting_tools(max_followed=4) as waiting_board:
        feeds = [waiting_board.start("leaves") for _ in range(2)]
        with pytest.raises(Unavailable, match="You have 2 of at most 4 payloads that are followed") as refused:
            waiting_board.start("leaves")
        assert refused.value.retry_after_ms == 1000
        ada = await member(waiting_board.board, "ada")
        asked = waiting_board.board.payloads.read([{"name": "echo"}], "plain", ada)
        assert (await read(waiting_board.follow(asked, ada)))[-1].name == "complete"
        waiting_board.release(0)
        for feed in feeds:
            await read(feed)
        for feed in [waiting_board.start("leaves") for _ in range(2)]:  # all places were given back
            await read(feed)


async def test_calls_beyond_those_that_run_at_once_are_used_when_their_turn_comes() -> None:
    async with waiting_tools() as waiting_board:
        feed = waiting_board.start(*["leaves"] * 25)
        await waiting_board.all_began(range(20))
        assert [event.name for event in feed.events.after(0)] == ["tool_use"] * 20
        waiting_board.release(*range(25))
        events = await read(feed)
    assert results(events) == list(range(25))


async def test_a_fault_of_the_boards_own_is_one_error_that_says_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> str:
        raise RuntimeError("inner matters")

    async with waiting_tools() as waiting_board:
        monkeypatch.setattr(PayloadRunner, "outcome", broken)
        waiting_board.release(0, 1)
        events = await read(waiting_board.start("leaves", "leaves"))
    assert events[-1].name == "error"
    assert events[-1].data["code"] == "internal_error"
    assert b"inner" not in events[-1].frame


async def test_the_end_names_the_conversation_even_if_it_was_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    remembered: list[object] = []

    async def remember(thread_id: str, *rest: object) -> None:
        remembered.append(rest)
        if thread_id == "gone":
            raise NotFound("Thread 'gone' not found")

    async with waiting_tools() as waiting_board:
        monkeypatch.setattr(waiting_board.board.threads, "remember", remember)
        waiting_board.release(0)
        kept = (await read(waiting_board.start("leaves", thread_id="kept", text="hello", shape="openai")))[-1].data
        gone = (await read(waiting_board.start("leaves", thread_id="gone")))[-1].data
    assert (kept["thread_id"], kept["text"]) == ("kept", "hello")
    assert kept["answer"][0]["role"] == "tool"
    assert "thread_id" not in gone
    assert gone["thread_error"] == "Thread 'gone' not found"
    assert len(remembered) == 2


async def test_values_that_json_cannot_hold_are_reported() -> None:
    async with waiting_tools() as waiting_board:
        raw = [{"name": "echo", "arguments": {"n": 2**70, "s": "\ud800"}}, {"name": "echo", "arguments": {"n": 1}}]
        asked = waiting_board.board.payloads.read(raw, "plain", waiting_board.board.admin)
        events = await read(waiting_board.follow(asked, waiting_board.board.admin))
    assert [event.name for event in events if event.name != "tool_progress"] == ["tool_use"] * 2 + [
        "tool_result",
        "tool_result",
        "complete",
    ]
