"""Limits of one read, write and search, so that one user's thread does not delay others."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.conversations import conversations as memory
from pegboard.conversations.conversations import MAX_MESSAGE_BYTES
from pegboard.model.api_errors import Invalid
from pegboard.model.conversation import Message
from pegboard.storage import conversation_rows as rows

DEEP = '{"a":' + "[" * 900 + "]" * 900 + "}"


def image(size: int) -> dict[str, Any]:
    """Return a user's message with an image of this many bytes."""
    source = {"type": "base64", "media_type": "image/png", "data": "A" * size}
    return {"role": "user", "content": [{"type": "text", "text": "look"}, {"type": "image", "source": source}]}


def build_call(identity: str, **arguments: Any) -> dict[str, Any]:
    """Return a model's message with one call."""
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": identity, "name": "math_eval", "arguments": arguments}],
    }


async def test_a_page_ends_early_if_its_messages_are_long_and_nothing_is_left_out(stored_board: Pegboard) -> None:
    me, threads = stored_board.admin, stored_board.threads
    thread = await threads.create(me)
    third = MAX_MESSAGE_BYTES // 3
    for size in (third, third, third, 3 * third - 1000, 2000, 10):
        await threads.add(thread.id, me, image(size))
    cursor: str | None = None
    counts: list[int] = []
    places: list[int] = []
    while cursor is not None or not counts:
        page = await threads.messages(thread.id, me, cursor=cursor, limit=4)
        history = await threads.history(thread.id, me, "anthropic", cursor=cursor, limit=4)
        assert history.next_cursor == page.next_cursor
        counts.append(len(page.items))
        places += [message.position for message in page.items]
        cursor = page.next_cursor
    assert counts == [2, 1, 1, 2]
    assert places == list(range(6))
    for dialect in ("memory", "openai"):  # which need no more of them than their text
        whole = await threads.history(thread.id, me, dialect, limit=6)
        assert [item["content"] for item in whole.items] == ["look\n[image]"] * 6
        assert whole.next_cursor is None


async def test_a_page_of_short_messages_is_as_long_as_was_asked_for(board: Pegboard) -> None:
    thread = await board.threads.create(board.admin)
    await board.threads.add(thread.id, board.admin, [{"role": "user", "content": "x"}] * 5)
    first = await board.threads.history(thread.id, board.admin, "openai", limit=4)
    rest = await board.threads.history(thread.id, board.admin, "openai", cursor=first.next_cursor, limit=4)
    assert (len(first.items), len(rest.items), rest.next_cursor) == (4, 1, None)
    empty = await board.threads.create(board.admin)
    assert (await board.threads.messages(empty.id, board.admin)).next_cursor is None


async def test_answers_are_searched_for_in_so_many_bytes_of_messages(
    stored_board: Pegboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    me, threads = stored_board.admin, stored_board.threads
    monkeypatch.setattr(memory, "MAX_LOOK_BACK_BYTES", 50_000)
    monkeypatch.setattr(memory, "MAX_MESSAGE_BYTES", 25_000)
    thread = await threads.create(me)
    for place in range(10):
        await threads.add(thread.id, me, build_call(f"c{place}", x="y" * 10_000))
    loaded: list[int] = []

    async def counted(*given: Any, **how: Any) -> list[Message]:
        found = await with_calls(*given, **how)
        loaded.append(len(found))
        return found

    with_calls = rows.list_messages_with_calls
    monkeypatch.setattr(rows, "list_messages_with_calls", counted)
    with pytest.raises(Invalid, match="fewer if they are long"):
        await threads.add(thread.id, me, {"role": "tool", "tool_call_id": "c0", "content": "1"})
    assert loaded == [2, 2, 1]
    (answered,) = await threads.add(thread.id, me, {"role": "tool", "tool_call_id": "c6", "content": "1"})
    assert answered.tool_calls[0]["result"] == "1"


async def test_others_get_their_turn_while_many_messages_are_added(
    board: Pegboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, at_once = 0, 0
    measured = memory.is_deeper_than  # type: ignore[attr-defined]

    def counted(value: Any, depth: int) -> bool:
        nonlocal done
        done += 1
        return measured(value, depth)

    async def other() -> None:
        nonlocal done, at_once
        while True:
            at_once, done = max(at_once, done), 0
            await asyncio.sleep(0)

    thread = await board.threads.create(board.admin)
    monkeypatch.setattr(memory, "is_deeper_than", counted)  # called once for each message
    waiting = asyncio.create_task(other())
    await board.threads.add(thread.id, board.admin, [{"role": "user", "content": "x"}] * 1000)
    waiting.cancel()
    with suppress(asyncio.CancelledError):
        await waiting
    assert (await board.threads.get(thread.id, board.admin)).messages == 1000
    assert 0 < at_once <= 200


async def test_arguments_that_are_too_deep_are_refused_and_not_a_fault_of_the_board(board: Pegboard) -> None:
    thread = await board.threads.create(board.admin)
    function = {"name": "math_eval", "arguments": DEEP}
    body = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": function}]}
    with pytest.raises(Invalid, match="more than 200 levels deep"):
        await board.threads.add(thread.id, board.admin, body)
    with pytest.raises(Invalid, match="more than 200 levels deep"):
        await board.run(body, thread=thread.id)
    assert (await board.threads.get(thread.id, board.admin)).messages == 0


async def test_what_is_added_returns_as_it_is_read_later(stored_board: Pegboard) -> None:
    me, threads = stored_board.admin, stored_board.threads
    thread = await threads.create(me)
    added = await threads.add(thread.id, me, {"role": "user", "content": "a\0b"})
    added += await threads.add(thread.id, me, build_call("c", n=10**30))
    assert [message.content for message in added] == ["a\ufffdb", None]
    assert list((await threads.messages(thread.id, me)).items) == added
