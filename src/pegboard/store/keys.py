"""API keys, as rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Row, and_, bindparam, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.core.people import ApiKey
from pegboard.store import models
from pegboard.store.base_models import table_of
from pegboard.store.types import is_uuid

_keys = table_of(models.ApiKey)
_COLUMNS = tuple(_keys.c[name] for name in ApiKey.__dataclass_fields__)


async def add(conn: AsyncConnection, key: ApiKey, *, revision: int) -> None:
    """Keep a new key."""
    await conn.execute(insert(_keys).values({**asdict(key), "revision": revision}))


async def save(conn: AsyncConnection, key: ApiKey, *, revision: int) -> None:
    """Keep a key as it is now, revoked for one; LookupError if there is no such key."""
    values = {**asdict(key), "revision": revision}
    done = await conn.execute(update(_keys).where(_keys.c.id == key.id).values(values))
    if done.rowcount == 0:
        raise LookupError(f"no key has the id {key.id}")


async def save_all(conn: AsyncConnection, some_keys: Sequence[ApiKey]) -> None:
    """Keep keys as they are now, each with its own revision."""
    if some_keys:
        step = update(_keys).where(_keys.c.id == bindparam("id_"))
        await conn.execute(step, [{**asdict(key), "id_": key.id} for key in some_keys])


async def get(conn: AsyncConnection, key_id: str) -> ApiKey | None:
    """The key with this id, revoked or not."""
    if not is_uuid(key_id):
        return None
    row = (await conn.execute(select(*_COLUMNS).where(_keys.c.id == key_id))).first()
    return _key(row) if row else None


async def with_hash(conn: AsyncConnection, key_hash: str) -> ApiKey | None:
    """The key of this hash, revoked or not."""
    row = (await conn.execute(select(*_COLUMNS).where(_keys.c.key_hash == key_hash))).first()
    return _key(row) if row else None


async def of_user(conn: AsyncConnection, user_id: str) -> list[ApiKey]:
    """All keys a user ever had, oldest first."""
    if not is_uuid(user_id):
        return []
    query = select(*_COLUMNS).where(_keys.c.user_id == user_id).order_by(_keys.c.id)
    return [_key(row) for row in await conn.execute(query)]


async def of_admins(conn: AsyncConnection, now: datetime) -> list[ApiKey]:
    """All keys that are valid now and have an admin's rights."""
    users = table_of(models.User)
    query = select(*_COLUMNS).join(users, users.c.id == _keys.c.user_id)
    is_admins = and_(users.c.role == "admin", users.c.is_deleted.is_(False), _keys.c.agent_id.is_(None))
    is_valid = and_(_keys.c.revoked_at.is_(None), or_(_keys.c.expires_at.is_(None), _keys.c.expires_at > now))
    return [_key(row) for row in await conn.execute(query.where(is_admins, is_valid))]


async def changed(conn: AsyncConnection, since: int) -> list[ApiKey]:
    """Every key that changed after a revision, revoked ones included."""
    return [_key(row) for row in await conn.execute(select(*_COLUMNS).where(_keys.c.revision > since))]


def _key(row: Row[Any]) -> ApiKey:
    return ApiKey(**row._mapping)
