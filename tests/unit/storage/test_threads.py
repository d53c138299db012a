"""Threads and messages in the database."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError

from pegboard.model.accounts import User
from pegboard.model.conversation import Message, Thread
from pegboard.model.ids import new_id
from pegboard.storage import conversation_rows
from pegboard.storage.database import Database
from tests.unit.storage.sample_rows import NOW, kept_user

LATER = NOW + timedelta(days=1)


def a_thread(owner: User, **fields: Any) -> Thread:
    """A thread without messages."""
    basics = {"id": new_id(), "owner_id": owner.id, "title": None, "messages": 0, "created_at": NOW, "updated_at": NOW}
    return Thread(**{**basics, **fields})


def a_message(thread: Thread, position: int, **fields: Any) -> Message:
    """A user's message."""
    basics = {"id": new_id(), "thread_id": thread.id, "position": position, "role": "user", "content": "hi"}
    return Message(**{**basics, "timestamp": NOW, **fields})


@pytest.fixture
async def ada(database: Database) -> User:
    """A stored user."""
    return await kept_user(database, "ada")


async def kept(database: Database, *some: Thread) -> None:
    """Threads that are in the database."""
    async with database.write() as conn:
        for thread in some:
            await conversation_rows.add_thread(conn, thread)


async def test_a_thread_returns_to_its_owner_alone(database: Database, ada: User) -> None:
    bob = await kept_user(database, "bob")
    thread = a_thread(ada, title="Plans")
    await kept(database, thread)
    async with database.read() as conn:
        assert await conversation_rows.get_thread(conn, thread.id, ada.id) == thread
        assert await conversation_rows.get_thread(conn, thread.id, bob.id) is None
        assert await conversation_rows.get_thread(conn, "nonsense", ada.id) is None
        assert await conversation_rows.get_thread(conn, thread.id, "nonsense") is None


async def test_threads_are_paged_by_when_they_changed_and_then_by_id(database: Database, ada: User) -> None:
    first, second, third = a_thread(ada), a_thread(ada), a_thread(ada, updated_at=LATER)
    await kept(database, third, first, second, a_thread(await kept_user(database, "bob")))
    async with database.read() as conn:
        assert await conversation_rows.list_threads(conn, ada.id, limit=2) == [third, second]
        assert await conversation_rows.list_threads(conn, ada.id, before=(second.updated_at, second.id), limit=2) == [
            first
        ]
        assert await conversation_rows.list_threads(conn, "nonsense", limit=2) == []


async def test_a_thread_that_grows_takes_a_title_only_if_it_has_none(database: Database, ada: User) -> None:
    thread, named = a_thread(ada), a_thread(ada, title="Mine")
    await kept(database, thread, named)
    async with database.write() as conn:
        grown = await conversation_rows.reserve_messages(conn, thread.id, ada.id, 2, LATER, title="First words")
        assert grown == replace(thread, messages=2, title="First words", updated_at=LATER)
        still = await conversation_rows.reserve_messages(conn, named.id, ada.id, 1, LATER, title="First words")
        assert still == replace(named, messages=1, updated_at=LATER)
        assert await conversation_rows.reserve_messages(conn, new_id(), ada.id, 1, LATER) is None
        assert await conversation_rows.rename_thread(conn, named.id, ada.id, None, LATER) == replace(still, title=None)
        assert await conversation_rows.rename_thread(conn, named.id, new_id(), "Stolen", LATER) is None


async def test_messages_return_in_order_with_every_digit_and_key_in_its_place(database: Database, ada: User) -> None:
    thread = a_thread(ada)
    await kept(database, thread)
    call = {"id": "c1", "name": "add", "arguments": {"z": Decimal("0.10000000000000000000001"), "a": 1.5}, "result": 2}
    message = a_message(thread, 0)
    called = a_message(
        thread, 1, role="assistant", content=None, tool_calls=(call,), dialect="plain", raw={"b": 2**70, "a": 2}
    )
    async with database.write() as conn:
        await conversation_rows.add_messages(conn, [message, called])
    async with database.read() as conn:
        found = await conversation_rows.list_messages(conn, thread.id, limit=10)
        assert found == [message, called]
        assert list(found[1].tool_calls[0]["arguments"]) == ["z", "a"] and list(found[1].raw) == ["b", "a"]
        assert type(found[1].tool_calls[0]["arguments"]["a"]) is float
        assert await conversation_rows.list_messages(conn, thread.id, after=0, limit=10) == [called]
        assert await conversation_rows.list_messages(conn, thread.id, limit=1) == [message]
        assert await conversation_rows.list_messages_with_calls(conn, thread.id, before=9, limit=9) == [called]
        assert await conversation_rows.list_messages_with_calls(conn, thread.id, before=1, limit=9) == []


async def test_calls_are_kept_as_they_are_now(database: Database, ada: User) -> None:
    thread = a_thread(ada)
    await kept(database, thread)
    message = a_message(thread, 0, role="assistant", tool_calls=({"id": "c1", "name": "add", "arguments": {}},))
    answered = replace(message, tool_calls=({**message.tool_calls[0], "result": 3},))
    async with database.write() as conn:
        await conversation_rows.add_messages(conn, [message])
        await conversation_rows.save_calls(conn, answered)
        assert await conversation_rows.list_messages(conn, thread.id, limit=1) == [answered]


async def test_a_removed_thread_takes_its_messages_along(database: Database, ada: User) -> None:
    thread, other = a_thread(ada), a_thread(ada)
    await kept(database, thread, other)
    async with database.write() as conn:
        await conversation_rows.add_messages(conn, [a_message(thread, 0), a_message(other, 0)])
        assert not await conversation_rows.remove_thread(conn, thread.id, new_id())
        assert await conversation_rows.remove_thread(conn, thread.id, ada.id)
        assert not await conversation_rows.remove_thread(conn, thread.id, ada.id)
    async with database.read() as conn:
        assert await conversation_rows.list_messages(conn, thread.id, limit=10) == []
        assert len(await conversation_rows.list_messages(conn, other.id, limit=10)) == 1


async def test_no_two_messages_have_the_same_place_and_none_is_without_its_thread(
    database: Database, ada: User
) -> None:
    thread = a_thread(ada)
    await kept(database, thread)
    for wrong in ([a_message(thread, 0), a_message(thread, 0)], [a_message(replace(thread, id=new_id()), 0)]):
        with pytest.raises(IntegrityError):
            async with database.write() as conn:
                await conversation_rows.add_messages(conn, wrong)
