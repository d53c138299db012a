"""Clients that watch the whole board."""

from __future__ import annotations

import asyncio
import gc
import weakref

import anyio
import pytest

from pegboard.model.call import CallContext, Caller, ToolCall
from pegboard.model.call_errors import Unavailable
from pegboard.progress.board_watchers import BoardWatchers
from pegboard.progress.throttle import ProgressThrottle
from pegboard.testing import memory_board
from tests.waiting import until

OTHER_USER = Caller("u", "somebody")


async def test_calls_are_reported_only_while_a_user_watches() -> None:
    async with memory_board() as board:
        await board.call("echo", {"a": 1})
        assert board.watchers.events.last == 0
        with board.watchers.watch() as events:
            result = await board.call("echo", {"a": 1})
            await events.wait_for_more(events.last - 1)
        await board.call("echo", {"a": 1})
        started, finished = events.after(0)
    assert (started.name, finished.name) == ("started", "finished")
    assert started.data["run_id"] == finished.data["id"] == result.run_id
    assert finished.data["status"] == "succeeded"
    assert not {"arguments", "result", "printed"} & set(finished.data)
    assert started.owner_id == finished.owner_id == board.admin.user_id


async def test_progress_is_reported_without_what_the_tool_says() -> None:
    async with memory_board() as board:

        @board.tool
        async def walk(context: CallContext) -> None:
            context.progress(1, 2, "a secret")
            context.partial("another")

        with board.watchers.watch() as events:
            await board.call("walk")
            await events.wait_for_more(events.last - 1)
            seen = events.after(0)
    assert [event.name for event in seen][:2] == ["started", "progress"]
    assert seen[-1].name == "finished"
    assert seen[1].data["progress"] == 1
    assert seen[1].data["total"] == 2
    assert b"secret" not in b"".join(event.frame for event in seen)
    assert b"another" not in b"".join(event.frame for event in seen)


async def test_a_call_that_is_cancelled_while_it_runs_is_reported_too() -> None:
    async with memory_board() as board:
        running = anyio.Event()

        @board.tool
        async def wait() -> None:
            running.set()
            await anyio.sleep_forever()

        with board.watchers.watch() as events:
            call = asyncio.create_task(board.call("wait"))
            await running.wait()
            call.cancel()
            await asyncio.wait({call})

            async def ended() -> bool:
                return any(event.name == "finished" for event in events.after(0))

            await until(ended)
            assert events.after(0)[-1].data["code"] == "cancelled"
        del call
        gc.collect()
        assert not [one for one in gc.get_objects() if isinstance(one, ProgressThrottle)]


async def test_no_timer_is_left_when_the_last_watcher_leaves() -> None:
    attention: list[bool] = []
    watchers = BoardWatchers()
    watchers.on_watched_change = attention.append
    with watchers.watch(), watchers.watch():
        call = watchers.publish_start(ToolCall("x\ud800", {}), OTHER_USER, "r")
        assert call.on_progress is not None
    throttle = weakref.ref(call.on_progress)
    del call
    assert throttle() is None, "neither the watchers nor a timer refer to it"
    assert not watchers.is_watched
    assert attention == [True, False]
    watchers.close()
    *_, last = watchers.events.after(0)
    assert last.name == "error"
    assert watchers.events.is_over
    gone = weakref.ref(watchers.events)
    del watchers
    assert gone() is None, "no timer refers to it"


async def test_a_call_whose_row_cannot_be_kept_is_reported_as_that(monkeypatch: pytest.MonkeyPatch) -> None:
    async def record(*_: object) -> None:
        raise Unavailable("the disk is full")

    async with memory_board() as board:
        monkeypatch.setattr(board.journal, "record", record)
        with board.watchers.watch() as events:
            result = await board.call("echo", {})
            await events.wait_for_more(events.last - 1)
        assert not result.success
        assert events.after(0)[-1].data["code"] == "unrecorded"
