"""API keys, as rows."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sqlalchemy import Row, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.core.people import ApiKey
from pegboard.store import models
from pegboard.store.base_models import table_of
from pegboard.store.types import is_uuid

_keys = table_of(models.ApiKey)
_COLUMNS = tuple(_keys.c[name] for name in ApiKey.__dataclass_fields__)


async def add(conn: AsyncConnection, key: ApiKey, *, revision: int) -> None:
    """Keep a new key."""
    await conn.execute(insert(_keys).values(**asdict(key), revision=revision))


async def save(conn: AsyncConnection, key: ApiKey, *, revision: int) -> None:
    """Keep a key as it is now, revoked for one; LookupError if there is no such key."""
    done = await conn.execute(update(_keys).where(_keys.c.id == key.id).values(**asdict(key), revision=revision))
    if done.rowcount == 0:
        raise LookupError(f"no key has the id {key.id}")


async def get(conn: AsyncConnection, key_id: str) -> ApiKey | None:
    """The key with this id, revoked or not."""
    if not is_uuid(key_id):
        return None
    row = (await conn.execute(select(*_COLUMNS).where(_keys.c.id == key_id))).first()
    return _key(row) if row else None


async def of_user(conn: AsyncConnection, user_id: str) -> list[ApiKey]:
    """All keys a user ever had, oldest first."""
    if not is_uuid(user_id):
        return []
    query = select(*_COLUMNS).where(_keys.c.user_id == user_id).order_by(_keys.c.id)
    return [_key(row) for row in await conn.execute(query)]


async def changed(conn: AsyncConnection, since: int) -> list[ApiKey]:
    """Every key that changed after a revision, revoked ones included."""
    return [_key(row) for row in await conn.execute(select(*_COLUMNS).where(_keys.c.revision > since))]


def _key(row: Row[Any]) -> ApiKey:
    return ApiKey(**row._mapping)
