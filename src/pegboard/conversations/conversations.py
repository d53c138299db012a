"""Create, extend, read, rename and delete conversations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.conversations.provider_history import History, build_history
from pegboard.conversations.read_messages import IncomingMessage, MessageReader, check_content
from pegboard.conversations.stored_calls import (
    ResultMatcher,
    check_result,
    check_title,
    derive_title,
    is_deeper_than,
    list_memory_forms,
)
from pegboard.dialect_calls import MAX_PAYLOAD_CALLS, AnsweredCalls, PayloadRunner
from pegboard.model.accounts import refuse_agents
from pegboard.model.api_errors import Invalid, NotFound
from pegboard.model.call import Caller
from pegboard.model.conversation import Message, Thread
from pegboard.model.ids import new_id
from pegboard.model.json_text import json_text
from pegboard.model.page import Page, cut_page, read_cursor, read_id, read_version, write_cursor
from pegboard.model.timestamps import read_instant, write_instant
from pegboard.stages.large_reads import LARGE_BYTES
from pegboard.storage import conversation_rows
from pegboard.storage.database import Database

MAX_MESSAGES = 10_000
# Limit of one message, and of one page of messages. A page may exceed it only for one message that grew by answers.
MAX_MESSAGE_BYTES = 4 * 2**20
MAX_LOOK_BACK_BYTES = 4 * MAX_MESSAGE_BYTES
_MAX_DEPTH = 200
_ITEMS_PER_PAUSE = 100

T = TypeVar("T")


class Conversations:
    """The conversations on this board. A user has access to their own threads, including those of their agents.

    A key of an agent can read and extend the threads that keys of this agent created; it cannot rename or delete
    them.
    """

    def __init__(self, database: Database, payloads: PayloadRunner) -> None:
        self._database = database
        self._payloads = payloads

    async def create(self, caller: Caller, title: str | None = None) -> Thread:
        """Create a thread; without a title, it is titled after the first user message."""
        now = datetime.now(UTC)
        thread = Thread(new_id(), caller.user_id, check_title(title), 0, now, now, caller.agent_id)
        async with self._database.write() as conn:
            await conversation_rows.add_thread(conn, thread)
        return thread

    async def get(self, thread_id: str, caller: Caller) -> Thread:
        """Return the caller's thread; raise NotFound if it does not exist or belongs to another user or agent."""
        async with self._database.read() as conn:
            return await _get_thread(conn, thread_id, caller)

    async def page(self, caller: Caller, *, cursor: str | None = None, limit: int = 50) -> Page[Thread]:
        """Return the caller's threads, most recently changed first."""
        place = read_cursor(cursor, lambda text: write_instant(read_instant(text)), read_id)
        before = None if place is None else (read_instant(place[0]), place[1])
        async with self._database.read() as conn:
            found = await conversation_rows.list_threads(
                conn, caller.user_id, caller.agent_id, before=before, limit=limit + 1
            )
        return cut_page(found, limit, lambda thread: [write_instant(thread.updated_at), thread.id])

    async def rename(self, thread_id: str, caller: Caller, title: str | None) -> Thread:
        """Set the title and return the thread; with None, the thread is titled after the next user message."""
        refuse_agents(caller)
        title = check_title(title)
        async with self._database.write() as conn:
            found = await conversation_rows.rename_thread(
                conn, thread_id.lower(), caller.user_id, title, datetime.now(UTC)
            )
            return _require_thread(found, thread_id)

    async def delete(self, thread_id: str, caller: Caller) -> None:
        """Delete the thread and all its messages; raise NotFound if it does not exist."""
        refuse_agents(caller)
        async with self._database.write() as conn:
            if not await conversation_rows.remove_thread(conn, thread_id.lower(), caller.user_id):
                raise _build_not_found(thread_id)

    async def add(
        self,
        thread_id: str,
        caller: Caller,
        body: Mapping[str, Any] | Sequence[Any] | str,
        *,
        dialect: str | None = None,
        size: int = 0,
    ) -> list[Message]:
        """Add the messages of a body in any dialect; return those that were added or got answers.

        `size` is the length of the body in bytes if it was received as bytes: large bodies are read in an OS thread.

        Raise Invalid if the body is not recognised or an answer in it matches no call; then nothing is added.
        """
        reading = MessageReader(self._payloads.dialects, self._payloads, caller, dialect)
        if size > LARGE_BYTES:
            incoming = await self._payloads.large_reads.run(lambda: list(reading.read(body)), size, caller)
        else:
            incoming = [one async for one in _iterate_with_pauses(reading.read(body))]
        return await self._keep(thread_id, caller, incoming)

    async def remember(self, thread_id: str, caller: Caller, answered: AnsweredCalls, text: str | None) -> None:
        """Add a model's text, calls and results as one message; raise NotFound if the thread does not exist."""
        calls = list_memory_forms(answered)
        if len(calls) > MAX_PAYLOAD_CALLS:
            raise Invalid(f"{len(calls):,} calls in one message, at most {MAX_PAYLOAD_CALLS} are kept")
        if not calls and not text:
            await self.get(thread_id, caller)
            return
        now = datetime.now(UTC)
        incoming = IncomingMessage("assistant", check_content(text), now, calls, dialect=answered.asked.dialect)
        await self._keep(thread_id, caller, [incoming])

    async def messages(
        self,
        thread_id: str,
        caller: Caller,
        *,
        cursor: str | None = None,
        limit: int = 50,
        raw_of: str | None = None,
    ) -> Page[Message]:
        """Return messages of the thread, oldest first: up to `limit`, fewer if they are long.

        With `raw_of`, only messages of this dialect include `raw`.
        """
        place = read_cursor(cursor, read_version)
        async with self._database.read() as conn:
            thread = await _get_thread(conn, thread_id, caller)
            after = place[0] if place else None
            sizes = await conversation_rows.list_message_sizes(
                conn, thread.id, after=after, limit=limit + 1, raw_of=raw_of
            )
            count = min(limit, conversation_rows.count_fitting(sizes, MAX_MESSAGE_BYTES))
            found = await conversation_rows.list_messages(conn, thread.id, after=after, limit=count, raw_of=raw_of)
        return Page(found, write_cursor([str(found[-1].position)]) if found and len(sizes) > count else None)

    async def history(
        self, thread_id: str, caller: Caller, dialect: str, *, cursor: str | None = None, limit: int = 50
    ) -> History:
        """Return messages of the thread in a provider's dialect, and the cursor of the next page."""
        chosen = self._payloads.dialects.named(dialect, "as")
        page = await self.messages(thread_id, caller, cursor=cursor, limit=limit, raw_of=chosen.name)
        return build_history(page.items, chosen)._replace(next_cursor=page.next_cursor)

    async def _keep(self, thread_id: str, caller: Caller, incoming: Sequence[IncomingMessage]) -> list[Message]:
        """Store all messages or none, in one transaction that locks the thread."""
        new = sum(one.role is not None for one in incoming)
        title = derive_title(next((one.content for one in incoming if one.role == "user"), None))
        async with self._database.write() as conn:
            now = datetime.now(UTC)
            reserved = await conversation_rows.reserve_messages(
                conn, thread_id.lower(), caller.user_id, new, now, agent_id=caller.agent_id, title=title
            )
            thread = _require_thread(reserved, thread_id)
            if thread.messages > MAX_MESSAGES:
                raise Invalid(f"A thread has at most {MAX_MESSAGES:,} messages; create another one")
            return await self._insert_messages(conn, thread, caller, incoming, thread.messages - new)

    async def _insert_messages(
        self, conn: AsyncConnection, thread: Thread, caller: Caller, incoming: Sequence[IncomingMessage], first: int
    ) -> list[Message]:
        room = MAX_LOOK_BACK_BYTES

        async def older(before: int, limit: int) -> list[Message]:
            nonlocal room
            if room <= 0:
                return []
            found = await conversation_rows.list_messages_with_calls(
                conn, thread.id, before=before, limit=limit, room=min(room, MAX_MESSAGE_BYTES)
            )
            room -= sum(len(json_text(message.tool_calls)) for message in found)
            return found

        matcher = ResultMatcher(older, first)
        touched: dict[int, None] = {}
        position = first
        for one in incoming:
            if one.role is not None:
                given = (one.role, one.content, one.timestamp, one.calls, one.dialect, one.raw)
                matcher.add(Message(new_id(), thread.id, position, *given))
                touched[position] = None
                position += 1
            for answer in one.answers:
                touched[(await matcher.put(answer)).position] = None
        messages = [self._check_message(matcher[place], caller) async for place in _iterate_with_pauses(touched)]
        added = [message for message in messages if message.position >= first]
        if added:
            await conversation_rows.add_messages(conn, added)
        for message in messages:
            if message.position < first:
                await conversation_rows.save_calls(conn, message)
        return messages

    def _check_message(self, message: Message, caller: Caller) -> Message:
        """Return the message with its results checked; raise Invalid if it is too large or nested too deeply."""
        snapshot = self._payloads.snapshot
        if is_deeper_than([message.tool_calls, message.raw], _MAX_DEPTH):
            raise Invalid(f"A message nested more than {_MAX_DEPTH} levels deep is not kept")
        calls = tuple([check_result(call, snapshot, caller) for call in message.tool_calls])
        size = len(json_text([calls, message.raw, message.content]))
        if size > MAX_MESSAGE_BYTES:
            raise Invalid(f"A message of {size:,} bytes, at most {MAX_MESSAGE_BYTES:,} are kept")
        return replace(message, tool_calls=calls)


async def _iterate_with_pauses(items: Iterable[T]) -> AsyncIterator[T]:
    """Yield the items, and yield to the event loop after every 100."""
    for place, item in enumerate(items, 1):
        yield item
        if place % _ITEMS_PER_PAUSE == 0:
            await asyncio.sleep(0)


async def _get_thread(conn: AsyncConnection, thread_id: str, caller: Caller) -> Thread:
    found = await conversation_rows.get_thread(conn, thread_id.lower(), caller.user_id, caller.agent_id)
    return _require_thread(found, thread_id)


def _require_thread(thread: Thread | None, thread_id: str) -> Thread:
    if thread is None:
        raise _build_not_found(thread_id)
    return thread


def _build_not_found(thread_id: str) -> NotFound:
    return NotFound(f"Thread '{thread_id[:100]}' not found")
