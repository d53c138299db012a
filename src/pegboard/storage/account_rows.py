"""Rows of users, API keys, agents and named secrets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from sqlalchemy import ColumnElement, RowMapping, Table, and_, bindparam, delete, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.model.accounts import Agent, ApiKey, Secret, User
from pegboard.model.json_text import is_uuid
from pegboard.storage import board_tables
from pegboard.storage.board_tables import get_table
from pegboard.storage.column_types import has_id, is_not_deleted, lower_ascii

T = TypeVar("T", User, ApiKey, Agent, Secret)

_users = get_table(board_tables.User)
_keys = get_table(board_tables.ApiKey)
_agents = get_table(board_tables.Agent)
_secrets = get_table(board_tables.Secret)


class AccountRows(Generic[T]):
    """The rows of one table as objects; each has an id, and the revision at which it changed."""

    def __init__(
        self, model: type[T], table: Table, what: str, is_listed: ColumnElement[bool], read: Callable[[RowMapping], T]
    ) -> None:
        self._table = table
        self._what = what
        self._is_listed = is_listed
        self._read: Callable[[RowMapping], T] = read
        self._columns = tuple(table.c[name] for name in model.__dataclass_fields__)

    async def add(self, conn: AsyncConnection, item: T, *, revision: int) -> None:
        """Insert a new row."""
        await conn.execute(insert(self._table).values({**asdict(item), "revision": revision}))

    async def save(self, conn: AsyncConnection, item: T, *, revision: int) -> None:
        """Update a row; raise LookupError if there is none with this id."""
        if not await self._update(conn, item, revision):
            raise LookupError(f"no {self._what} has the id {item.id}")

    async def put(self, conn: AsyncConnection, item: T, *, revision: int) -> None:
        """Insert or update a row."""
        if not await self._update(conn, item, revision):
            await self.add(conn, item, revision=revision)

    async def save_all(self, conn: AsyncConnection, items: Sequence[T]) -> None:
        """Update rows, each with its own revision."""
        if items:
            step = update(self._table).where(self._table.c.id == bindparam("id_"))
            await conn.execute(step, [{**asdict(item), "id_": item.id} for item in items])

    async def get(self, conn: AsyncConnection, item_id: str) -> T | None:
        """Return the row with this id, whether or not it was deleted, revoked or removed."""
        return await self.find(conn, self._table.c.id == item_id) if is_uuid(item_id) else None

    async def find(self, conn: AsyncConnection, *conditions: ColumnElement[bool]) -> T | None:
        """Return the row that matches the conditions, or None."""
        row = (await conn.execute(select(*self._columns).where(*conditions))).mappings().first()
        return self._read(row) if row else None

    async def find_all(self, conn: AsyncConnection, *conditions: ColumnElement[bool]) -> list[T]:
        """Return the rows that match the conditions, oldest first."""
        query = select(*self._columns).where(*conditions).order_by(self._table.c.id)
        return [self._read(row) for row in (await conn.execute(query)).mappings()]

    async def page(
        self, conn: AsyncConnection, owner_id: str | None = None, *, after: str | None = None, limit: int
    ) -> list[T]:
        """Return rows that are not deleted, of one owner or all, oldest first; `after` is the last id seen."""
        query = select(*self._columns).where(self._is_listed)
        if owner_id is not None:
            query = query.where(has_id(self._table.c.owner_id, owner_id))
        if after is not None:
            query = query.where(self._table.c.id > after)
        query = query.order_by(self._table.c.id).limit(limit)
        return [self._read(row) for row in (await conn.execute(query)).mappings()]

    async def list_changed(self, conn: AsyncConnection, since: int) -> list[T]:
        """Return every row that changed after a revision, including deleted ones."""
        query = select(*self._columns).where(self._table.c.revision > since)
        return [self._read(row) for row in (await conn.execute(query)).mappings()]

    async def _update(self, conn: AsyncConnection, item: T, revision: int) -> bool:
        values = {**asdict(item), "revision": revision}
        return (await conn.execute(update(self._table).where(self._table.c.id == item.id).values(values))).rowcount > 0


users = AccountRows(User, _users, "user", is_not_deleted(_users.c.is_deleted), lambda row: User(**row))
keys = AccountRows(ApiKey, _keys, "key", _keys.c.revoked_at.is_(None), lambda row: ApiKey(**row))
agents = AccountRows(
    Agent,
    _agents,
    "agent",
    is_not_deleted(_agents.c.is_deleted),
    lambda row: Agent(**{**row, "tools": tuple(row["tools"])}),
)
secrets = AccountRows(Secret, _secrets, "secret", _secrets.c.sealed.is_not(None), lambda row: Secret(**row))


async def find_user_by_name(conn: AsyncConnection, name: str) -> User | None:
    """Return the user of this name, ignoring case, unless deleted."""
    is_named = func.lower(_users.c.name) == lower_ascii(name)
    return await users.find(conn, is_named, is_not_deleted(_users.c.is_deleted))


async def find_agent_by_name(conn: AsyncConnection, owner_id: str, name: str) -> Agent | None:
    """Return the owner's agent of this name, ignoring case, unless deleted."""
    is_named = func.lower(_agents.c.name) == lower_ascii(name)
    is_owners = has_id(_agents.c.owner_id, owner_id)
    return await agents.find(conn, is_owners, is_named, is_not_deleted(_agents.c.is_deleted))


async def find_secret_by_name(conn: AsyncConnection, owner_id: str, name: str) -> Secret | None:
    """Return the owner's secret of exactly this name, removed or not."""
    return await secrets.find(conn, has_id(_secrets.c.owner_id, owner_id), _secrets.c.name == name)


async def find_key_by_hash(conn: AsyncConnection, key_hash: str) -> ApiKey | None:
    """Return the key with this hash, revoked or not."""
    return await keys.find(conn, _keys.c.key_hash == key_hash)


async def list_user_keys(conn: AsyncConnection, user_id: str) -> list[ApiKey]:
    """Return all keys that a user ever had, oldest first, without sessions."""
    return await keys.find_all(conn, has_id(_keys.c.user_id, user_id), _keys.c.kind == "key")


async def list_changed_keys(conn: AsyncConnection, since: int, now: datetime) -> list[ApiKey]:
    """Return the keys that changed after a revision, and the sessions that are not over for a day."""
    is_recent_session = and_(_keys.c.kind == "session", _keys.c.expires_at > now - timedelta(days=1))
    is_key = _keys.c.kind.not_in(("session", "code"))
    return await keys.find_all(conn, _keys.c.revision > since, or_(is_key, is_recent_session))


async def list_live_sessions(conn: AsyncConnection, user_id: str, now: datetime) -> list[ApiKey]:
    """Return the sessions of a user that are neither expired nor revoked, oldest first."""
    is_live = and_(_keys.c.kind == "session", _keys.c.revoked_at.is_(None), _keys.c.expires_at > now)
    return await keys.find_all(conn, has_id(_keys.c.user_id, user_id), is_live)


async def delete_code(conn: AsyncConnection, code_id: str) -> bool:
    """Delete a code because it is used; return False if it is gone already."""
    return (await conn.execute(delete(_keys).where(_keys.c.id == code_id, _keys.c.kind == "code"))).rowcount > 0


async def delete_expired_codes(conn: AsyncConnection, now: datetime) -> None:
    """Delete the codes that can no longer be used."""
    await conn.execute(delete(_keys).where(_keys.c.kind == "code", _keys.c.expires_at <= now))


async def save_key_uses(conn: AsyncConnection, uses: Mapping[str, datetime]) -> None:
    """Record when keys were last used, unless a later use is recorded."""
    is_earlier = or_(_keys.c.last_used_at.is_(None), _keys.c.last_used_at < bindparam("used_at"))
    step = update(_keys).where(_keys.c.id == bindparam("id_"), is_earlier).values(last_used_at=bindparam("used_at"))
    await conn.execute(step, [{"id_": key_id, "used_at": used_at} for key_id, used_at in uses.items()])


async def list_session_uses(conn: AsyncConnection, now: datetime) -> dict[str, datetime]:
    """Return when each session that is neither expired nor revoked was last used."""
    is_live = and_(_keys.c.kind == "session", _keys.c.revoked_at.is_(None), _keys.c.expires_at > now)
    query = select(_keys.c.id, _keys.c.last_used_at).where(is_live, _keys.c.last_used_at.is_not(None))
    return {row.id: row.last_used_at for row in await conn.execute(query)}


async def list_admin_keys(conn: AsyncConnection, now: datetime) -> list[ApiKey]:
    """Return all keys that are valid now and have the rights of an admin."""
    admins = select(_users.c.id).where(_users.c.role == "admin", _users.c.is_deleted.is_(False))
    is_admins = and_(_keys.c.user_id.in_(admins), _keys.c.agent_id.is_(None), _keys.c.kind == "key")
    is_valid = and_(_keys.c.revoked_at.is_(None), or_(_keys.c.expires_at.is_(None), _keys.c.expires_at > now))
    return await keys.find_all(conn, is_admins, is_valid)
