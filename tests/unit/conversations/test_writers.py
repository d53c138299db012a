"""Concurrent writers to one thread, and one thread that is deleted at the same time."""

from __future__ import annotations

import asyncio
from collections import Counter

from pegboard import Pegboard
from pegboard.model.api_errors import NotFound


async def test_writers_to_one_thread_keep_their_order_and_lose_nothing(stored_board: Pegboard) -> None:
    threads, me = stored_board.threads, stored_board.admin
    thread = await threads.create(me)

    async def write(name: str) -> None:
        for number in range(10):
            pair = [
                {"role": "user", "content": f"{name}{number}"},
                {"role": "assistant", "content": f"{name}{number}!"},
            ]
            await threads.add(thread.id, me, pair)

    await asyncio.gather(write("a"), write("b"), write("c"))
    found = [message.content or "" for message in (await threads.messages(thread.id, me, limit=200)).items]
    assert (await threads.get(thread.id, me)).messages == len(found) == 60
    for name in "abc":
        own = [text for text in found if text.startswith(name)]
        assert own == [f"{name}{number}{mark}" for number in range(10) for mark in ("", "!")]
    # Messages that are added together stay together.
    assert all(found[place + 1] == f"{found[place]}!" for place in range(0, 60, 2))


async def test_each_of_many_answers_at_once_finds_its_call(stored_board: Pegboard) -> None:
    threads, me = stored_board.threads, stored_board.admin
    thread = await threads.create(me)
    calls = [{"id": f"c{number}", "name": "add", "arguments": {}} for number in range(20)]
    await threads.add(thread.id, me, {"role": "assistant", "content": None, "tool_calls": calls})
    answers = ({"role": "tool", "tool_call_id": f"c{number}", "content": str(number)} for number in range(20))
    await asyncio.gather(*(threads.add(thread.id, me, answer) for answer in answers))
    (message,) = (await threads.messages(thread.id, me)).items
    assert [call["result"] for call in message.tool_calls] == [str(number) for number in range(20)]


async def test_a_thread_deleted_while_written_is_gone_whole(stored_board: Pegboard) -> None:
    threads, me = stored_board.threads, stored_board.admin
    thread = await threads.create(me)
    begun = asyncio.Event()
    outcomes: Counter[str] = Counter()

    async def write() -> None:
        while True:
            try:
                await threads.add(
                    thread.id, me, [{"role": "user", "content": "one"}, {"role": "user", "content": "two"}]
                )
                outcomes["added"] += 1
                begun.set()
            except NotFound:
                outcomes["gone"] += 1
                return

    writers = [asyncio.create_task(write()) for _ in range(3)]
    await asyncio.wait_for(begun.wait(), 30)
    await threads.delete(thread.id, me)
    await asyncio.wait_for(asyncio.gather(*writers), 30)
    assert outcomes["gone"] == 3 and outcomes["added"] >= 1
    async with stored_board.database.read() as conn:
        left = (await conn.exec_driver_sql("SELECT count(*) FROM messages")).scalar_one()
    assert left == 0
