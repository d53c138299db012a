"""Complete rows for the tests of the store, with the fields that a test is about."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.model.accounts import Agent, ApiKey, Secret, User
from pegboard.model.call import Execution
from pegboard.model.ids import new_id
from pegboard.model.tool import Kind, Tool
from pegboard.storage import account_rows, journal_tables
from pegboard.storage.database import Database

NOW = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)


def a_user(name: str = "ada", **fields: Any) -> User:
    """A member."""
    return User(**{"id": new_id(), "name": name, "role": "member", "created_at": NOW, "updated_at": NOW, **fields})


def a_tool(owner: User, name: str = "add", **fields: Any) -> Tool:
    """A mock tool."""
    basics = {"config": {"mock_response": 1}, "input_schema": {"type": "object"}, "created_at": NOW, "updated_at": NOW}
    return Tool(**{"id": new_id(), "owner_id": owner.id, "name": name, "tool_type": Kind.MOCK, **basics, **fields})


def a_key(user: User, **fields: Any) -> ApiKey:
    """A key that never expires."""
    made = new_id()
    basics = {"name": "laptop", "prefix": "pb_abc", "key_hash": f"hash of {made}", "created_at": NOW}
    return ApiKey(**{"id": made, "user_id": user.id, **basics, **fields})


def an_agent(owner: User, name: str = "helper", **fields: Any) -> Agent:
    """An agent without tools."""
    basics = {"tools": (), "created_at": NOW, "updated_at": NOW}
    return Agent(**{"id": new_id(), "owner_id": owner.id, "name": name, **basics, **fields})


def a_secret(owner: User, name: str = "TOKEN", **fields: Any) -> Secret:
    """A sealed secret."""
    basics = {"sealed": "v1.key.nonce", "created_at": NOW, "updated_at": NOW}
    return Secret(**{"id": new_id(), "owner_id": owner.id, "name": name, **basics, **fields})


def an_execution(**fields: Any) -> Execution:
    """A call that succeeded."""
    basics = {"tool_name": "add", "status": "succeeded", "started_at": NOW, "finished_at": NOW, "elapsed_ms": 1.5}
    who = {"caller_id": new_id(), "caller": "ada", "surface": "library", "dialect": "plain"}
    return Execution(**{"id": new_id(), **basics, **who, **fields})


async def kept_user(database: Database, name: str = "ada", **fields: Any) -> User:
    """A stored user."""
    user = a_user(name, **fields)
    async with database.change() as change:
        await account_rows.users.add(change.conn, user, revision=change.revision)
    return user


async def add_executions(conn: AsyncConnection, rows: Iterable[Execution]) -> None:
    """Add rows to the journal without a hash chain."""
    table = journal_tables.executions
    await conn.execute(insert(table), [row._asdict() for row in rows])
