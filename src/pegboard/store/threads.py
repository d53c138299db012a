"""Conversations, as rows: threads of their owners, and the messages in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import accumulate
from typing import Any

from sqlalchemy import ColumnElement, Row, Text, and_, case, delete, func, insert, or_, select, type_coerce, update
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.core.memory import Message, Thread
from pegboard.store import memory_models
from pegboard.store.base_models import table_of
from pegboard.store.types import has_id

_threads = table_of(memory_models.Thread)
_messages = table_of(memory_models.Message)
_COLUMNS = tuple(_threads.c[name] for name in Thread.__dataclass_fields__)
_MESSAGE_COLUMNS = tuple(_messages.c[name] for name in Message.__dataclass_fields__)
# How many rows are written at a time, so that others get their turn in between.
_AT_ONCE = 200


async def add(conn: AsyncConnection, thread: Thread) -> None:
    """Keep a new thread."""
    await conn.execute(insert(_threads).values(**asdict(thread)))


async def get(conn: AsyncConnection, thread_id: str, owner_id: str, agent_id: str | None = None) -> Thread | None:
    """The owner's thread with this id; with an `agent_id`, only if it is that agent's."""
    row = (await conn.execute(select(*_COLUMNS).where(_is_owners(thread_id, owner_id, agent_id)))).first()
    return Thread(**row._mapping) if row else None


async def page(
    conn: AsyncConnection,
    owner_id: str,
    agent_id: str | None = None,
    *,
    before: tuple[datetime, str] | None = None,
    limit: int,
) -> list[Thread]:
    """An owner's or an agent's threads, latest first; `before` is when the last one seen changed, and its id."""
    query = select(*_COLUMNS).where(_belongs_to(owner_id, agent_id))
    if before is not None:
        changed, thread_id = before
        same = and_(_threads.c.updated_at == changed, _threads.c.id < thread_id)
        query = query.where(or_(_threads.c.updated_at < changed, same))
    query = query.order_by(_threads.c.updated_at.desc(), _threads.c.id.desc()).limit(limit)
    return [Thread(**row._mapping) for row in await conn.execute(query)]


async def rename(
    conn: AsyncConnection, thread_id: str, owner_id: str, title: str | None, now: datetime
) -> Thread | None:
    """The owner's thread with its new title, or None where there is no such thread."""
    return await _change(conn, _is_owners(thread_id, owner_id), title=title, updated_at=now)


async def grow(
    conn: AsyncConnection,
    thread_id: str,
    owner_id: str,
    count: int,
    now: datetime,
    *,
    agent_id: str | None = None,
    title: str | None = None,
) -> Thread | None:
    """The thread with room for `count` more messages, and this title if it has none; None if there is no such thread.

    The row stays locked until the transaction ends, so that other writers of the thread wait.
    """
    return await _change(
        conn,
        _is_owners(thread_id, owner_id, agent_id),
        messages=_threads.c.messages + count,
        title=func.coalesce(_threads.c.title, title),
        updated_at=now,
    )


async def remove(conn: AsyncConnection, thread_id: str, owner_id: str) -> bool:
    """Remove the owner's thread with all its messages; whether it was there."""
    return (await conn.execute(delete(_threads).where(_is_owners(thread_id, owner_id)))).rowcount > 0


async def add_messages(conn: AsyncConnection, messages: Sequence[Message]) -> None:
    """Keep new messages, each in its place."""
    for start in range(0, len(messages), _AT_ONCE):
        await conn.execute(insert(_messages), [_row(message) for message in messages[start : start + _AT_ONCE]])


async def messages(
    conn: AsyncConnection, thread_id: str, *, after: int | None = None, limit: int, raw_of: str | None = None
) -> list[Message]:
    """The messages of a thread, oldest first; `after` is the place of the last one seen.

    With `raw_of` only those of this dialect say how they came.
    """
    columns = [_raw(raw_of).label("raw") if column is _messages.c.raw else column for column in _MESSAGE_COLUMNS]
    query = select(*columns).where(_are_next(thread_id, after)).order_by(_messages.c.position).limit(limit)
    return [_message(row) for row in await conn.execute(query)]


async def sizes(
    conn: AsyncConnection, thread_id: str, *, after: int | None = None, limit: int, raw_of: str | None = None
) -> list[int]:
    """How long those messages are, as they are kept."""
    query = select(_size(_raw(raw_of))).where(_are_next(thread_id, after)).order_by(_messages.c.position).limit(limit)
    return list(await conn.scalars(query))


async def with_calls(
    conn: AsyncConnection, thread_id: str, *, before: int, limit: int, room: int | None = None
) -> list[Message]:
    """The messages of a thread before this place that hold calls, latest first; so many as there is room for."""
    holds_calls = type_coerce(_messages.c.tool_calls, Text) != "[]"
    of_thread = and_(has_id(_messages.c.thread_id, thread_id), _messages.c.position < before, holds_calls)
    latest = _messages.c.position.desc()
    if room is not None:
        found = await conn.scalars(select(_size(_messages.c.raw)).where(of_thread).order_by(latest).limit(limit))
        limit = how_many(list(found), room)
    query = select(*_MESSAGE_COLUMNS).where(of_thread).order_by(latest).limit(limit)
    return [_message(row) for row in await conn.execute(query)]


def how_many(sizes: Sequence[int], room: int) -> int:
    """How many of these, from the first on, there is room for: the first one always has its place."""
    return max(1, sum(so_far <= room for so_far in accumulate(sizes)))


async def put_calls(conn: AsyncConnection, message: Message) -> None:
    """Keep the calls of a message as they are now."""
    of_message = and_(_messages.c.thread_id == message.thread_id, _messages.c.position == message.position)
    await conn.execute(update(_messages).where(of_message).values(tool_calls=list(message.tool_calls)))


async def _change(conn: AsyncConnection, which: ColumnElement[bool], **values: Any) -> Thread | None:
    step = update(_threads).where(which).values(**values)
    row = (await conn.execute(step.returning(*_COLUMNS))).first()
    return Thread(**row._mapping) if row else None


def _is_owners(thread_id: str, owner_id: str, agent_id: str | None = None) -> ColumnElement[bool]:
    return and_(has_id(_threads.c.id, thread_id), _belongs_to(owner_id, agent_id))


def _belongs_to(owner_id: str, agent_id: str | None) -> ColumnElement[bool]:
    """Threads of this owner; with an `agent_id`, those of that agent alone."""
    is_owners = has_id(_threads.c.owner_id, owner_id)
    return is_owners if agent_id is None else and_(is_owners, has_id(_threads.c.agent_id, agent_id))


def _are_next(thread_id: str, after: int | None) -> ColumnElement[bool]:
    of_thread = has_id(_messages.c.thread_id, thread_id)
    return of_thread if after is None else and_(of_thread, _messages.c.position > after)


def _raw(raw_of: str | None) -> ColumnElement[Any]:
    raw = _messages.c.raw
    return raw if raw_of is None else case((_messages.c.dialect == raw_of, raw), else_=None)


def _size(raw: ColumnElement[Any]) -> ColumnElement[int]:
    kept = (_messages.c.content, _messages.c.tool_calls, raw)
    lengths = [func.coalesce(func.length(type_coerce(column, Text)), 0) for column in kept]
    return lengths[0] + lengths[1] + lengths[2]


def _row(message: Message) -> dict[str, Any]:
    values = {name: getattr(message, name) for name in Message.__dataclass_fields__}
    return values | {"tool_calls": list(message.tool_calls)}


def _message(row: Row[Any]) -> Message:
    return Message(**{**row._mapping, "tool_calls": tuple(row.tool_calls)})
