"""Programs that insert the same row: pgbench, Pegboard, an asyncpg pool, genai-toolbox and hand-written code."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import asyncpg
import orjson

from bench.harness import Running, command
from bench.load import Measured
from bench.postgresql import Ordinary
from bench.servers import KEY
from tests.servers import free_port

CLIENTS = 100
# The fastest here of 4 (the default), 20, 50 and 100.
TOOLBOX_CONNECTIONS = 20
MOODS = ["happy", "sad", "neutral", "anxious"]
ARGUMENTS: dict[str, Any] = {
    "user_id": "user_123",
    "mood": "happy",
    "energy": 8,
    "amount": 1234.56,
    "noted_at": "2025-10-05T14:30:00Z",
}
BODY = orjson.dumps(ARGUMENTS)
_VALUES = ("user_123", "happy", 8, Decimal("1234.56"), datetime.fromisoformat("2025-10-05T14:30:00Z"))
_MADE = """
CREATE TABLE {table} (
  id bigserial PRIMARY KEY,
  user_id text NOT NULL,
  mood text NOT NULL,
  energy integer NOT NULL,
  amount numeric(10, 2) NOT NULL,
  noted_at timestamptz NOT NULL
)
"""
_FIELDS: list[dict[str, Any]] = [
    {"name": "user_id", "dataType": "text", "maxLength": 50},
    {"name": "mood", "dataType": "enum", "enumValues": MOODS},
    {"name": "energy", "dataType": "integer", "min": 1, "max": 10},
    {"name": "amount", "dataType": "numeric", "min": 0, "precision": 10, "scale": 2},
    {"name": "noted_at", "dataType": "datetime"},
]


def make_table(table: str) -> str:
    """Return the SQL that creates the table."""
    return _MADE.format(table=table)


def insert(table: str, places: Sequence[str]) -> str:
    """Return the SQL that inserts the row and returns its key, with these placeholders."""
    return f"INSERT INTO {table} ({', '.join(ARGUMENTS)}) VALUES ({', '.join(places)}) RETURNING id"


def pgbench(server: Ordinary, database: str, table: str, folder: Path) -> Callable[[float], Measured]:
    """Return a function that runs pgbench inserts for a number of seconds, rounded to whole seconds."""
    script = insert(table, [f":{name}" for name in ARGUMENTS]) + ";"
    variables = {name: str(value) for name, value in ARGUMENTS.items()}

    def run(seconds: float) -> Measured:
        whole = max(1, round(seconds))
        return server.pgbench(script, variables, database=database, clients=CLIENTS, seconds=whole, folder=folder)

    return run


async def pooled(pool: asyncpg.Pool, table: str, seconds: float) -> Measured:
    """Insert from concurrent tasks over an asyncpg pool, without validation."""
    statement = insert(table, [f"${place}" for place in range(1, len(_VALUES) + 1)])
    took: list[float] = []
    begun = time.perf_counter()
    end = begun + seconds

    async def work() -> None:
        while (before := time.perf_counter()) < end:
            await pool.fetchval(statement, *_VALUES)
            took.append((time.perf_counter() - before) * 1000)

    await asyncio.gather(*(work() for _ in range(CLIENTS)))
    return Measured(len(took), time.perf_counter() - begun, tuple(took), 0)


def entry(table: str) -> dict[str, Any]:
    """Return the entry of the table in a tables file; the tool has the table's name."""
    fields = [{**field, "label": field["name"], "required": True} for field in _FIELDS]
    return {
        "toolId": table,
        "displayName": table,
        "description": "Note how somebody feels",
        "tableName": table,
        "fields": fields,
    }


@contextmanager
def board(folder: Path, tables: Sequence[str], *, own: str | None, database: str | None) -> Iterator[Running]:
    """Run `pegboard serve` with these tables, in `own` unless `database` is given; `own` None means SQLite."""
    folder.mkdir()
    listed: dict[str, Any] = {"tables": [entry(table) for table in tables]}
    if database is not None:
        listed["database"] = database
    file = folder / "tables.json"
    file.write_bytes(orjson.dumps(listed))
    settings = {"HOME": str(folder / "home"), "ADMIN_KEY": KEY, "TABLES": str(file), "LOG_LEVEL": "error"}
    if own is not None:
        settings["DATABASE_URL"] = own
    port = free_port()
    program = Path(sys.executable).with_name("pegboard")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PEGBOARD_")}
    environment |= {f"PEGBOARD_{name}": value for name, value in settings.items()}
    with command("pegboard", port, [str(program), "serve", "--port", str(port)], environment) as running:
        yield running


def toolbox_program() -> Path | None:
    """Return the program of genai-toolbox, or None if its package is not installed."""
    packages = Path(sys.executable).parent.parent / "peers/node_modules/@toolbox-sdk"
    return next(iter(packages.glob("server-*/bin/toolbox")), None)


@contextmanager
def toolbox(program: Path, folder: Path, server: Ordinary, database: str, table: str) -> Iterator[Running]:
    """Run genai-toolbox with a tool that has the table's name."""
    folder.mkdir()
    kinds = {"user_id": "string", "mood": "string", "energy": "integer", "amount": "float", "noted_at": "string"}
    limits: dict[str, dict[str, Any]] = {"mood": {"allowedValues": MOODS}, "energy": {"minValue": 1, "maxValue": 10}}
    source = {
        "kind": "source",
        "name": "measured",
        "type": "postgres",
        "host": "127.0.0.1",
        "port": server.port,
        "database": database,
        "user": "postgres",
        "password": "none",
        "queryParams": {"pool_max_conns": str(TOOLBOX_CONNECTIONS)},
    }
    tool = {
        "kind": "tool",
        "name": table,
        "type": "postgres-sql",
        "source": "measured",
        "description": "Note how somebody feels",
        "statement": insert(table, [f"${place}" for place in range(1, len(kinds) + 1)]),
        "parameters": [
            {"name": name, "type": kind, "description": name, **limits.get(name, {})} for name, kind in kinds.items()
        ],
    }
    file = folder / "tools.yaml"
    file.write_bytes(b"\n---\n".join(map(orjson.dumps, (source, tool))))
    port = free_port()
    how = ["--enable-api", "--disable-reload", "--disable-version-check", "--log-level", "ERROR"]
    arguments = [str(program), "--config", str(file), "--port", str(port), *how]
    with command("toolbox", port, arguments, os.environ) as running:
        yield running
