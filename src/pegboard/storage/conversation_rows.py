"""Rows of conversations: the threads of users and their messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import accumulate
from typing import Any

from sqlalchemy import (
    ColumnElement,
    RowMapping,
    Text,
    and_,
    case,
    delete,
    func,
    insert,
    or_,
    select,
    type_coerce,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.model.conversation import Message, Thread
from pegboard.storage import board_tables
from pegboard.storage.board_tables import get_table
from pegboard.storage.column_types import has_id

_threads = get_table(board_tables.Thread)
_messages = get_table(board_tables.Message)
_THREAD_COLUMNS = tuple(_threads.c[name] for name in Thread.__dataclass_fields__)
_MESSAGE_COLUMNS = tuple(_messages.c[name] for name in Message.__dataclass_fields__)
# Rows per statement, so that other tasks can run in between.
_MAX_ROWS_PER_STATEMENT = 200


async def add_thread(conn: AsyncConnection, thread: Thread) -> None:
    """Insert a new thread."""
    await conn.execute(insert(_threads).values(**asdict(thread)))


async def get_thread(
    conn: AsyncConnection, thread_id: str, owner_id: str, agent_id: str | None = None
) -> Thread | None:
    """Return the owner's thread with this id; with an `agent_id`, only if it belongs to that agent."""
    row = (
        (await conn.execute(select(*_THREAD_COLUMNS).where(_build_thread_condition(thread_id, owner_id, agent_id))))
        .mappings()
        .first()
    )
    return Thread(**row) if row else None


async def list_threads(
    conn: AsyncConnection,
    owner_id: str,
    agent_id: str | None = None,
    *,
    before: tuple[datetime, str] | None = None,
    limit: int,
) -> list[Thread]:
    """Return an owner's or an agent's threads, latest first; `before` is (updated_at, id) of the last one seen."""
    query = select(*_THREAD_COLUMNS).where(_build_owner_condition(owner_id, agent_id))
    if before is not None:
        changed, thread_id = before
        same = and_(_threads.c.updated_at == changed, _threads.c.id < thread_id)
        query = query.where(or_(_threads.c.updated_at < changed, same))
    query = query.order_by(_threads.c.updated_at.desc(), _threads.c.id.desc()).limit(limit)
    return [Thread(**row) for row in (await conn.execute(query)).mappings()]


async def rename_thread(
    conn: AsyncConnection, thread_id: str, owner_id: str, title: str | None, now: datetime
) -> Thread | None:
    """Set the title of the owner's thread and return it, or None if there is no such thread."""
    return await _update_thread(conn, _build_thread_condition(thread_id, owner_id), title=title, updated_at=now)


async def reserve_messages(
    conn: AsyncConnection,
    thread_id: str,
    owner_id: str,
    count: int,
    now: datetime,
    *,
    agent_id: str | None = None,
    title: str | None = None,
) -> Thread | None:
    """Reserve positions for `count` messages, set a missing title and return the thread; None if it does not exist.

    The row stays locked until the transaction ends, so that other writers of the thread wait.
    """
    return await _update_thread(
        conn,
        _build_thread_condition(thread_id, owner_id, agent_id),
        messages=_threads.c.messages + count,
        title=func.coalesce(_threads.c.title, title),
        updated_at=now,
    )


async def remove_thread(conn: AsyncConnection, thread_id: str, owner_id: str) -> bool:
    """Delete the owner's thread with all its messages; return whether it existed."""
    return (await conn.execute(delete(_threads).where(_build_thread_condition(thread_id, owner_id)))).rowcount > 0


async def add_messages(conn: AsyncConnection, messages: Sequence[Message]) -> None:
    """Insert new messages at their positions."""
    for start in range(0, len(messages), _MAX_ROWS_PER_STATEMENT):
        await conn.execute(
            insert(_messages),
            [_build_message_row(message) for message in messages[start : start + _MAX_ROWS_PER_STATEMENT]],
        )


async def list_messages(
    conn: AsyncConnection, thread_id: str, *, after: int | None = None, limit: int, raw_of: str | None = None
) -> list[Message]:
    """Return the messages of a thread, oldest first; `after` is the position of the last one seen.

    With `raw_of`, only messages of this dialect include `raw`.
    """
    columns = [_select_raw(raw_of).label("raw") if column is _messages.c.raw else column for column in _MESSAGE_COLUMNS]
    query = select(*columns).where(_build_after_condition(thread_id, after)).order_by(_messages.c.position).limit(limit)
    return [_read_message(row) for row in (await conn.execute(query)).mappings()]


async def list_message_sizes(
    conn: AsyncConnection, thread_id: str, *, after: int | None = None, limit: int, raw_of: str | None = None
) -> list[int]:
    """Return the stored sizes of those messages."""
    query = (
        select(_build_size_expression(_select_raw(raw_of)))
        .where(_build_after_condition(thread_id, after))
        .order_by(_messages.c.position)
        .limit(limit)
    )
    return list(await conn.scalars(query))


async def list_messages_with_calls(
    conn: AsyncConnection, thread_id: str, *, before: int, limit: int, room: int | None = None
) -> list[Message]:
    """Return the messages with calls before this position, latest first, as many as fit in `room` characters."""
    holds_calls = type_coerce(_messages.c.tool_calls, Text) != "[]"
    of_thread = and_(has_id(_messages.c.thread_id, thread_id), _messages.c.position < before, holds_calls)
    latest = _messages.c.position.desc()
    if room is not None:
        found = await conn.scalars(
            select(_build_size_expression(_messages.c.raw)).where(of_thread).order_by(latest).limit(limit)
        )
        limit = count_fitting(list(found), room)
    query = select(*_MESSAGE_COLUMNS).where(of_thread).order_by(latest).limit(limit)
    return [_read_message(row) for row in (await conn.execute(query)).mappings()]


def count_fitting(sizes: Sequence[int], room: int) -> int:
    """Return how many items, from the first on, fit in `room`; at least 1."""
    return max(1, sum(so_far <= room for so_far in accumulate(sizes)))


async def save_calls(conn: AsyncConnection, message: Message) -> None:
    """Update the calls of a message."""
    of_message = and_(_messages.c.thread_id == message.thread_id, _messages.c.position == message.position)
    await conn.execute(update(_messages).where(of_message).values(tool_calls=list(message.tool_calls)))


async def _update_thread(conn: AsyncConnection, which: ColumnElement[bool], **values: Any) -> Thread | None:
    step = update(_threads).where(which).values(**values)
    row = (await conn.execute(step.returning(*_THREAD_COLUMNS))).mappings().first()
    return Thread(**row) if row else None


def _build_thread_condition(thread_id: str, owner_id: str, agent_id: str | None = None) -> ColumnElement[bool]:
    return and_(has_id(_threads.c.id, thread_id), _build_owner_condition(owner_id, agent_id))


def _build_owner_condition(owner_id: str, agent_id: str | None) -> ColumnElement[bool]:
    """Return the condition for threads of this owner; with an `agent_id`, only those of that agent."""
    is_owners = has_id(_threads.c.owner_id, owner_id)
    return is_owners if agent_id is None else and_(is_owners, has_id(_threads.c.agent_id, agent_id))


def _build_after_condition(thread_id: str, after: int | None) -> ColumnElement[bool]:
    of_thread = has_id(_messages.c.thread_id, thread_id)
    return of_thread if after is None else and_(of_thread, _messages.c.position > after)


def _select_raw(raw_of: str | None) -> ColumnElement[Any]:
    raw = _messages.c.raw
    return raw if raw_of is None else case((_messages.c.dialect == raw_of, raw), else_=None)


def _build_size_expression(raw: ColumnElement[Any]) -> ColumnElement[int]:
    kept = (_messages.c.content, _messages.c.tool_calls, raw)
    lengths = [func.coalesce(func.length(type_coerce(column, Text)), 0) for column in kept]
    return lengths[0] + lengths[1] + lengths[2]


def _build_message_row(message: Message) -> dict[str, Any]:
    values = {name: getattr(message, name) for name in Message.__dataclass_fields__}
    return values | {"tool_calls": list(message.tool_calls)}


def _read_message(row: RowMapping) -> Message:
    return Message(**{**row, "tool_calls": tuple(row["tool_calls"])})
