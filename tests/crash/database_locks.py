"""Locks that keep all other connections from writing to a database."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg


@asynccontextmanager
async def hold_write_lock(url: str) -> AsyncIterator[None]:
    """A database that can be read and not written, for as long as this lasts."""
    file = url.partition("sqlite:///")[2]
    if file:
        connection = sqlite3.connect(file, isolation_level=None, timeout=10)
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield
        finally:
            connection.close()
        return
    driver = await asyncpg.connect(url.replace("+asyncpg", ""))
    try:
        async with driver.transaction():
            await driver.execute("LOCK TABLE intents, executions, writers IN EXCLUSIVE MODE")
            yield
    finally:
        await driver.close()
