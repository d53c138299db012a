"""Users, as rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Row, bindparam, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.core.people import User
from pegboard.store import models
from pegboard.store.base_models import table_of
from pegboard.store.types import is_not_deleted, is_uuid, lowered

_users = table_of(models.User)
_COLUMNS = tuple(_users.c[name] for name in User.__dataclass_fields__)


async def add(conn: AsyncConnection, user: User, *, revision: int) -> None:
    """Keep a new user."""
    await conn.execute(insert(_users).values({**asdict(user), "revision": revision}))


async def save(conn: AsyncConnection, user: User, *, revision: int) -> None:
    """Keep a user as they are now; LookupError if there is no such user."""
    values = {**asdict(user), "revision": revision}
    done = await conn.execute(update(_users).where(_users.c.id == user.id).values(values))
    if done.rowcount == 0:
        raise LookupError(f"no user has the id {user.id}")


async def save_all(conn: AsyncConnection, some_users: Sequence[User]) -> None:
    """Keep users as they are now, each with its own revision."""
    if some_users:
        step = update(_users).where(_users.c.id == bindparam("id_"))
        await conn.execute(step, [{**asdict(user), "id_": user.id} for user in some_users])


async def get(conn: AsyncConnection, user_id: str) -> User | None:
    """The user with this id, deleted or not."""
    if not is_uuid(user_id):
        return None
    row = (await conn.execute(select(*_COLUMNS).where(_users.c.id == user_id))).first()
    return _user(row) if row else None


async def named(conn: AsyncConnection, name: str) -> User | None:
    """The user of this name, in whatever case, among those not deleted."""
    query = select(*_COLUMNS).where(func.lower(_users.c.name) == lowered(name), is_not_deleted(_users.c.is_deleted))
    row = (await conn.execute(query)).first()
    return _user(row) if row else None


async def page(conn: AsyncConnection, *, after: str | None = None, limit: int) -> list[User]:
    """Users not deleted, oldest first; `after` is the id of the last one seen."""
    query = select(*_COLUMNS).where(is_not_deleted(_users.c.is_deleted))
    if after is not None:
        query = query.where(_users.c.id > after)
    return [_user(row) for row in await conn.execute(query.order_by(_users.c.id).limit(limit))]


async def changed(conn: AsyncConnection, since: int) -> list[User]:
    """Every user who changed after a revision, deleted ones included."""
    return [_user(row) for row in await conn.execute(select(*_COLUMNS).where(_users.c.revision > since))]


def _user(row: Row[Any]) -> User:
    return User(**row._mapping)
