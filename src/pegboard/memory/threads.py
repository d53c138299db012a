"""Conversations of their owners: begun, added to, read, named and deleted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.core.call import Caller
from pegboard.core.ids import new_id
from pegboard.core.instants import read_instant, write_instant
from pegboard.core.memory import Message, Thread
from pegboard.core.refusals import Invalid, NotFound
from pegboard.memory.answering import Answering
from pegboard.memory.calls import all_of, checked, is_deep
from pegboard.memory.histories import History, history_of
from pegboard.memory.reading import Heard, Reading, content_of
from pegboard.memory.titles import checked_title, title_from
from pegboard.payloads import MAX_CALLS, Answered, Payloads
from pegboard.registry.pages import Page, a_version, an_id, cut, read_cursor, write_cursor
from pegboard.registry.registry import refuse_agents
from pegboard.stages.large_reads import LARGE
from pegboard.store import threads
from pegboard.store.database import Database
from pegboard.store.types import json_text

MAX_MESSAGES = 10_000
# Of one message; also what a page of them comes to, unless it is one that has grown by its answers.
MAX_MESSAGE_BYTES = 4 * 2**20
_LOOK_BACK_BYTES = 4 * MAX_MESSAGE_BYTES
_MAX_DEPTH = 200
_AT_ONCE = 100

T = TypeVar("T")


class Threads:
    """The conversations on this board. A user sees their own, also those of their agents.

    An agent's key sees and adds to the threads that keys of this agent began; it renames and deletes none.
    """

    def __init__(self, database: Database, payloads: Payloads) -> None:
        self._database = database
        self._payloads = payloads

    async def create(self, caller: Caller, title: str | None = None) -> Thread:
        """A new thread; without a title it is called after what its user says first."""
        now = datetime.now(UTC)
        thread = Thread(new_id(), caller.user_id, checked_title(title), 0, now, now, caller.agent_id)
        async with self._database.write() as conn:
            await threads.add(conn, thread)
        return thread

    async def get(self, thread_id: str, caller: Caller) -> Thread:
        """The caller's thread; raises NotFound if there is none, or if another user or agent has it."""
        async with self._database.read() as conn:
            return _there(await threads.get(conn, thread_id.lower(), *_whose(caller)), thread_id)

    async def page(self, caller: Caller, *, cursor: str | None = None, limit: int = 50) -> Page[Thread]:
        """The caller's threads, the one that changed last first."""
        place = read_cursor(cursor, _a_moment, an_id)
        before = None if place is None else (read_instant(place[0]), place[1])
        async with self._database.read() as conn:
            found = await threads.page(conn, *_whose(caller), before=before, limit=limit + 1)
        last = found[min(limit, len(found)) - 1] if found else None
        return cut(found, limit, [write_instant(last.updated_at), last.id] if last else None)

    async def rename(self, thread_id: str, caller: Caller, title: str | None) -> Thread:
        """The thread with its new title; without one it is called after what its user says next."""
        refuse_agents(caller)
        title = checked_title(title)
        async with self._database.write() as conn:
            found = await threads.rename(conn, thread_id.lower(), caller.user_id, title, datetime.now(UTC))
            return _there(found, thread_id)

    async def delete(self, thread_id: str, caller: Caller) -> None:
        """Delete the thread and all that was said in it."""
        refuse_agents(caller)
        async with self._database.write() as conn:
            if not await threads.remove(conn, thread_id.lower(), caller.user_id):
                raise _gone(thread_id)

    async def add(
        self,
        thread_id: str,
        caller: Caller,
        body: Mapping[str, Any] | Sequence[Any] | str,
        *,
        dialect: str | None = None,
        size: int = 0,
    ) -> list[Message]:
        """The messages that a body in any dialect comes to, each one added or with answers put into its calls.

        `size` is the length of the body in bytes if it was received as bytes: large bodies are read in a thread.

        Raises Invalid where nobody knows what the body is, or what an answer in it is for; then nothing is added.
        """
        reading = Reading(self._payloads.dialects, self._payloads, caller, dialect)
        if size > LARGE:
            heard = await self._payloads.large_reads.run(lambda: list(reading.read(body)), size, caller)
        else:
            heard = [one async for one in _in_turns(reading.read(body))]
        return await self._keep(thread_id, caller, heard)

    async def remember(self, thread_id: str, caller: Caller, answered: Answered, text: str | None) -> None:
        """Add what a model said, the calls that it made, and how they ended; raises NotFound where it is gone."""
        calls = all_of(answered)
        if len(calls) > MAX_CALLS:
            raise Invalid(f"{len(calls):,} calls in one message, at most {MAX_CALLS} are kept")
        if not calls and not text:
            await self.get(thread_id, caller)
            return
        now = datetime.now(UTC)
        heard = Heard("assistant", content_of(text), now, calls, dialect=answered.asked.dialect)
        await self._keep(thread_id, caller, [heard])

    async def messages(
        self, thread_id: str, caller: Caller, *, cursor: str | None = None, limit: int = 50
    ) -> Page[Message]:
        """Messages of the thread, oldest first: up to `limit`, and fewer where these are long."""
        return await self._page(thread_id, caller, cursor, limit)

    async def _page(
        self, thread_id: str, caller: Caller, cursor: str | None, limit: int, raw_of: str | None = None
    ) -> Page[Message]:
        place = read_cursor(cursor, a_version)
        async with self._database.read() as conn:
            thread = _there(await threads.get(conn, thread_id.lower(), *_whose(caller)), thread_id)
            after = place[0] if place else None
            sizes = await threads.sizes(conn, thread.id, after=after, limit=limit + 1, raw_of=raw_of)
            count = min(limit, threads.how_many(sizes, MAX_MESSAGE_BYTES))
            found = await threads.messages(conn, thread.id, after=after, limit=count, raw_of=raw_of)
        return Page(found, write_cursor([str(found[-1].position)]) if found and len(sizes) > count else None)

    async def history(
        self, thread_id: str, caller: Caller, dialect: str, *, cursor: str | None = None, limit: int = 50
    ) -> History:
        """Messages of the thread as this provider's own, to go on with there; and where the next ones begin."""
        spoken = self._payloads.dialects.named(dialect, "as")
        page = await self._page(thread_id, caller, cursor, limit, raw_of=spoken.name)
        return history_of(page.items, spoken)._replace(next_cursor=page.next_cursor)

    async def _keep(self, thread_id: str, caller: Caller, heard: Sequence[Heard]) -> list[Message]:
        """Everything or nothing of it, in one transaction that holds the thread."""
        new = sum(one.role is not None for one in heard)
        title = title_from(next((one.content for one in heard if one.role == "user"), None))
        async with self._database.write() as conn:
            now = datetime.now(UTC)
            grown = await threads.grow(
                conn, thread_id.lower(), caller.user_id, new, now, agent_id=caller.agent_id, title=title
            )
            thread = _there(grown, thread_id)
            if thread.messages > MAX_MESSAGES:
                raise Invalid(f"A thread holds at most {MAX_MESSAGES:,} messages; begin another one")
            return await self._kept(conn, thread, caller, heard, thread.messages - new)

    async def _kept(
        self, conn: AsyncConnection, thread: Thread, caller: Caller, heard: Sequence[Heard], first: int
    ) -> list[Message]:
        room = _LOOK_BACK_BYTES

        async def older(before: int, limit: int) -> list[Message]:
            nonlocal room
            if room <= 0:
                return []
            found = await threads.with_calls(
                conn, thread.id, before=before, limit=limit, room=min(room, MAX_MESSAGE_BYTES)
            )
            room -= sum(len(json_text(message.tool_calls)) for message in found)
            return found

        answering = Answering(older, first)
        touched: dict[int, None] = {}
        position = first
        for one in heard:
            if one.role is not None:
                answering.add(
                    Message(
                        new_id(),
                        thread.id,
                        position,
                        one.role,
                        one.content,
                        one.timestamp,
                        one.calls,
                        one.dialect,
                        one.raw,
                    )
                )
                touched[position] = None
                position += 1
            for answer in one.answers:
                touched[(await answering.put(answer)).position] = None
        messages = [self._checked(answering[place], caller) async for place in _in_turns(touched)]
        added = [message for message in messages if message.position >= first]
        if added:
            await threads.add_messages(conn, added)
        for message in messages:
            if message.position < first:
                await threads.put_calls(conn, message)
        return messages

    def _checked(self, message: Message, caller: Caller) -> Message:
        """The message as it is kept: bounded, and saying of each result whether it is one of its tool's."""
        snapshot = self._payloads.snapshot
        if is_deep([message.tool_calls, message.raw], _MAX_DEPTH):
            raise Invalid(f"A message nested more than {_MAX_DEPTH} levels deep is not kept")
        calls = tuple([checked(call, snapshot, caller) for call in message.tool_calls])
        size = len(json_text([calls, message.raw, message.content]))
        if size > MAX_MESSAGE_BYTES:
            raise Invalid(f"A message of {size:,} bytes, at most {MAX_MESSAGE_BYTES:,} are kept")
        return replace(message, tool_calls=calls)


async def _in_turns(items: Iterable[T]) -> AsyncIterator[T]:
    """The items, with a pause after every few in which others get their turn."""
    for place, item in enumerate(items, 1):
        yield item
        if place % _AT_ONCE == 0:
            await asyncio.sleep(0)


def _whose(caller: Caller) -> tuple[str, str | None]:
    """The owner and the agent whose threads this caller may use; without an agent, all of the owner."""
    return caller.user_id, caller.agent_id


def _a_moment(text: str) -> str:
    return write_instant(read_instant(text))


def _there(thread: Thread | None, thread_id: str) -> Thread:
    if thread is None:
        raise _gone(thread_id)
    return thread


def _gone(thread_id: str) -> NotFound:
    return NotFound(f"Thread '{thread_id[:100]}' not found")
