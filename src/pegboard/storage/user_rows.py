"""Rows of users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Row, bindparam, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.model.accounts import User
from pegboard.model.json_text import is_uuid
from pegboard.storage import board_tables
from pegboard.storage.board_tables import get_table
from pegboard.storage.column_types import is_not_deleted, lower_ascii

_users = get_table(board_tables.User)
_USER_COLUMNS = tuple(_users.c[name] for name in User.__dataclass_fields__)


async def add_user(conn: AsyncConnection, user: User, *, revision: int) -> None:
    """Insert a new user."""
    await conn.execute(insert(_users).values({**asdict(user), "revision": revision}))


async def save_user(conn: AsyncConnection, user: User, *, revision: int) -> None:
    """Update a user; raise LookupError if there is no such user."""
    values = {**asdict(user), "revision": revision}
    done = await conn.execute(update(_users).where(_users.c.id == user.id).values(values))
    if done.rowcount == 0:
        raise LookupError(f"no user has the id {user.id}")


async def save_users(conn: AsyncConnection, some_users: Sequence[User]) -> None:
    """Update users, each with its own revision."""
    if some_users:
        step = update(_users).where(_users.c.id == bindparam("id_"))
        await conn.execute(step, [{**asdict(user), "id_": user.id} for user in some_users])


async def get_user(conn: AsyncConnection, user_id: str) -> User | None:
    """Return the user with this id, deleted or not."""
    if not is_uuid(user_id):
        return None
    row = (await conn.execute(select(*_USER_COLUMNS).where(_users.c.id == user_id))).first()
    return _read_user(row) if row else None


async def find_user_by_name(conn: AsyncConnection, name: str) -> User | None:
    """Return the user of this name, ignoring case, unless deleted."""
    query = select(*_USER_COLUMNS).where(
        func.lower(_users.c.name) == lower_ascii(name), is_not_deleted(_users.c.is_deleted)
    )
    row = (await conn.execute(query)).first()
    return _read_user(row) if row else None


async def list_users(conn: AsyncConnection, *, after: str | None = None, limit: int) -> list[User]:
    """Return users that are not deleted, oldest first; `after` is the id of the last one seen."""
    query = select(*_USER_COLUMNS).where(is_not_deleted(_users.c.is_deleted))
    if after is not None:
        query = query.where(_users.c.id > after)
    return [_read_user(row) for row in await conn.execute(query.order_by(_users.c.id).limit(limit))]


async def list_changed_users(conn: AsyncConnection, since: int) -> list[User]:
    """Return every user that changed after a revision, including deleted ones."""
    return [_read_user(row) for row in await conn.execute(select(*_USER_COLUMNS).where(_users.c.revision > since))]


def _read_user(row: Row[Any]) -> User:
    return User(**row._mapping)
