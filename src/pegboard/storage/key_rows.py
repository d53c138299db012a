"""Rows of API keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Row, and_, bindparam, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.model.accounts import ApiKey
from pegboard.model.json_text import is_uuid
from pegboard.storage import board_tables
from pegboard.storage.board_tables import get_table

_keys = get_table(board_tables.ApiKey)
_KEY_COLUMNS = tuple(_keys.c[name] for name in ApiKey.__dataclass_fields__)


async def add_key(conn: AsyncConnection, key: ApiKey, *, revision: int) -> None:
    """Insert a new key."""
    await conn.execute(insert(_keys).values({**asdict(key), "revision": revision}))


async def save_key(conn: AsyncConnection, key: ApiKey, *, revision: int) -> None:
    """Update a key, for example as revoked; raise LookupError if there is no such key."""
    values = {**asdict(key), "revision": revision}
    done = await conn.execute(update(_keys).where(_keys.c.id == key.id).values(values))
    if done.rowcount == 0:
        raise LookupError(f"no key has the id {key.id}")


async def save_keys(conn: AsyncConnection, some_keys: Sequence[ApiKey]) -> None:
    """Update keys, each with its own revision."""
    if some_keys:
        step = update(_keys).where(_keys.c.id == bindparam("id_"))
        await conn.execute(step, [{**asdict(key), "id_": key.id} for key in some_keys])


async def get_key(conn: AsyncConnection, key_id: str) -> ApiKey | None:
    """Return the key with this id, revoked or not."""
    if not is_uuid(key_id):
        return None
    row = (await conn.execute(select(*_KEY_COLUMNS).where(_keys.c.id == key_id))).first()
    return _read_key(row) if row else None


async def find_key_by_hash(conn: AsyncConnection, key_hash: str) -> ApiKey | None:
    """Return the key with this hash, revoked or not."""
    row = (await conn.execute(select(*_KEY_COLUMNS).where(_keys.c.key_hash == key_hash))).first()
    return _read_key(row) if row else None


async def list_user_keys(conn: AsyncConnection, user_id: str) -> list[ApiKey]:
    """Return all keys that a user ever had, oldest first."""
    if not is_uuid(user_id):
        return []
    query = select(*_KEY_COLUMNS).where(_keys.c.user_id == user_id).order_by(_keys.c.id)
    return [_read_key(row) for row in await conn.execute(query)]


async def list_admin_keys(conn: AsyncConnection, now: datetime) -> list[ApiKey]:
    """Return all keys that are valid now and have the rights of an admin."""
    users = get_table(board_tables.User)
    query = select(*_KEY_COLUMNS).join(users, users.c.id == _keys.c.user_id)
    is_admins = and_(users.c.role == "admin", users.c.is_deleted.is_(False), _keys.c.agent_id.is_(None))
    is_valid = and_(_keys.c.revoked_at.is_(None), or_(_keys.c.expires_at.is_(None), _keys.c.expires_at > now))
    return [_read_key(row) for row in await conn.execute(query.where(is_admins, is_valid))]


async def list_changed_keys(conn: AsyncConnection, since: int) -> list[ApiKey]:
    """Return every key that changed after a revision, including revoked ones."""
    return [_read_key(row) for row in await conn.execute(select(*_KEY_COLUMNS).where(_keys.c.revision > since))]


def _read_key(row: Row[Any]) -> ApiKey:
    return ApiKey(**row._mapping)
