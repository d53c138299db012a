"""Conversations of their owners: begun, added to, read, named and deleted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.core.call import Caller
from pegboard.core.ids import new_id
from pegboard.core.instants import read_instant, write_instant
from pegboard.core.memory import Message, Thread
from pegboard.core.refusals import Invalid, NotFound
from pegboard.memory.answering import Answering
from pegboard.memory.calls import all_of, checked
from pegboard.memory.histories import History, history_of
from pegboard.memory.reading import Heard, Reading, content_of
from pegboard.memory.titles import checked_title, title_from
from pegboard.payloads import MAX_CALLS, Answered, Payloads
from pegboard.registry.arguments import as_decimals
from pegboard.registry.pages import Page, a_version, an_id, cut, read_cursor
from pegboard.store import threads
from pegboard.store.database import Database
from pegboard.store.types import json_text

MAX_MESSAGES = 10_000
MAX_MESSAGE_BYTES = 4 * 2**20


class Threads:
    """The conversations on this board; each is its owner's alone, and an agent's key uses its user's."""

    def __init__(self, database: Database, payloads: Payloads) -> None:
        self._database = database
        self._payloads = payloads

    async def create(self, caller: Caller, title: str | None = None) -> Thread:
        """A new thread; without a title it is called after what its user says first."""
        now = datetime.now(UTC)
        thread = Thread(new_id(), caller.user_id, checked_title(title), 0, now, now)
        async with self._database.write() as conn:
            await threads.add(conn, thread)
        return thread

    async def get(self, thread_id: str, caller: Caller) -> Thread:
        """The caller's thread; NotFound where it is gone, or somebody else's."""
        async with self._database.read() as conn:
            return _there(await threads.get(conn, thread_id.lower(), caller.user_id), thread_id)

    async def page(self, caller: Caller, *, cursor: str | None = None, limit: int = 50) -> Page[Thread]:
        """The caller's threads, the one that changed last first."""
        place = read_cursor(cursor, _a_moment, an_id)
        before = None if place is None else (read_instant(place[0]), place[1])
        async with self._database.read() as conn:
            found = await threads.page(conn, caller.user_id, before=before, limit=limit + 1)
        last = found[min(limit, len(found)) - 1] if found else None
        return cut(found, limit, [write_instant(last.updated_at), last.id] if last else None)

    async def rename(self, thread_id: str, caller: Caller, title: str | None) -> Thread:
        """The thread with its new title; without one it is called after what its user says next."""
        title = checked_title(title)
        async with self._database.write() as conn:
            found = await threads.rename(conn, thread_id.lower(), caller.user_id, title, datetime.now(UTC))
            return _there(found, thread_id)

    async def delete(self, thread_id: str, caller: Caller) -> None:
        """Delete the thread and all that was said in it."""
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
    ) -> list[Message]:
        """The messages that a body in any dialect comes to, each one added or with answers put into its calls.

        Raises Invalid where nobody knows what the body is, or what an answer in it is for; then nothing is added.
        """
        heard = Reading(self._payloads.dialects, self._payloads, caller, dialect).read(body)
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
        """Messages of the thread, oldest first."""
        place = read_cursor(cursor, a_version)
        async with self._database.read() as conn:
            thread = _there(await threads.get(conn, thread_id.lower(), caller.user_id), thread_id)
            found = await threads.messages(conn, thread.id, after=place[0] if place else None, limit=limit + 1)
        return cut(found, limit, [str(found[min(limit, len(found)) - 1].position)] if found else None)

    async def history(
        self, thread_id: str, caller: Caller, dialect: str, *, cursor: str | None = None, limit: int = 50
    ) -> History:
        """Messages of the thread as this provider's own, to go on with there."""
        spoken = self._payloads.dialects.named(dialect, "as")
        page = await self.messages(thread_id, caller, cursor=cursor, limit=limit)
        return history_of(page.items, spoken)

    async def _keep(self, thread_id: str, caller: Caller, heard: Sequence[Heard]) -> list[Message]:
        """Everything or nothing of it, in one transaction that holds the thread."""
        new = sum(one.role is not None for one in heard)
        title = title_from(next((one.content for one in heard if one.role == "user"), None))
        async with self._database.write() as conn:
            now = datetime.now(UTC)
            grown = await threads.grow(conn, thread_id.lower(), caller.user_id, new, now, title=title)
            thread = _there(grown, thread_id)
            if thread.messages > MAX_MESSAGES:
                raise Invalid(f"A thread holds at most {MAX_MESSAGES:,} messages; begin another one")
            return await self._kept(conn, thread, caller, heard, thread.messages - new)

    async def _kept(
        self, conn: AsyncConnection, thread: Thread, caller: Caller, heard: Sequence[Heard], first: int
    ) -> list[Message]:
        async def older(before: int, limit: int) -> list[Message]:
            return await threads.with_calls(conn, thread.id, before=before, limit=limit)

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
        messages = [self._checked(answering[place], caller) for place in touched]
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
        calls = tuple([as_decimals(checked(call, snapshot, caller)) for call in message.tool_calls])
        raw = as_decimals(message.raw)
        size = len(json_text([calls, raw, message.content]))
        if size > MAX_MESSAGE_BYTES:
            raise Invalid(f"A message of {size:,} bytes, at most {MAX_MESSAGE_BYTES:,} are kept")
        return replace(message, tool_calls=calls, raw=raw)


def _a_moment(text: str) -> str:
    return write_instant(read_instant(text))


def _there(thread: Thread | None, thread_id: str) -> Thread:
    if thread is None:
        raise _gone(thread_id)
    return thread


def _gone(thread_id: str) -> NotFound:
    return NotFound(f"Thread '{thread_id[:100]}' not found")
