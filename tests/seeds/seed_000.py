"""The tables and the tools of seed 000's examples, called through the library and REST."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

import httpx

from pegboard import Pegboard
from pegboard.registry.build_tool import build_tool_response
from pegboard.testing import calls_of
from tests.table_databases import rows_of, run_sql
from tests.unit.dialects.rendering import answer_of

# The id and the message are those of the seed's example of a success.
EXAMPLE_ID = "550e8400-e29b-41d4-a716-446655440000"
LOGGED = "Successfully logged mood entry for {user_id} at {timestamp}"
MOODS = ["happy", "sad", "neutral", "anxious"]
LEVELS = ["sedentary", "light", "moderate", "active", "very_active"]

MOOD = {
    "user_id": "user_123",
    "mood": "happy",
    "energy_level": 8,
    "notes": "Great day today!",
    "timestamp": "2025-10-05T14:30:00Z",
}
NOTE = {"content": "Call back", "created_at": "2025-10-05T14:30:00Z"}
FORM = {
    "user_id": "user_123",
    "weight": 70.25,
    "height": 180,
    "is_smoker": False,
    "activity_level": "moderate",
    "recorded_at": "2025-10-05T14:30:00Z",
}
WHOLE_FORM = {**FORM, "notes": "Feels fine", "metadata": {"source": {"app": "telegram", "build": [1, 2, 3]}}}

# {key}, {instant} and {json} are the types that a database of either kind has for them.
CREATE = (
    """CREATE TABLE mood_entries (
        id {key} PRIMARY KEY,
        user_id VARCHAR(50) NOT NULL,
        mood TEXT NOT NULL,
        energy_level INTEGER NOT NULL,
        notes VARCHAR(500) CONSTRAINT no_spam CHECK (notes <> 'spam'),
        timestamp {instant} NOT NULL,
        UNIQUE (user_id, timestamp)
    )""",
    "CREATE TABLE notes (id {key} PRIMARY KEY, content TEXT NOT NULL, created_at {instant} NOT NULL)",
    """CREATE TABLE health_forms (
        id {key} PRIMARY KEY,
        user_id VARCHAR(50) NOT NULL,
        weight NUMERIC(5, 2) NOT NULL,
        height INTEGER NOT NULL,
        is_smoker BOOLEAN NOT NULL,
        activity_level TEXT NOT NULL,
        notes TEXT,
        recorded_at {instant} NOT NULL,
        metadata {json}
    )""",
)
_TYPES = {
    "sqlite": {"key": "UUID NOT NULL", "instant": "TIMESTAMP", "json": "JSON"},
    "postgresql": {"key": "UUID", "instant": "TIMESTAMPTZ", "json": "JSONB"},
}


def field(name: str, kind: str, **more: Any) -> dict[str, Any]:
    """A required field, unless `more` overrides that."""
    return {"name": name, "dataType": kind, "required": True, **more}


def table(tool: str, name: str, *fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a table as the file lists it."""
    named = {"toolId": tool, "displayName": tool.replace("-", " ").title(), "description": f"Insert into {name}"}
    return {**named, "tableName": name, "fields": fields, **more}


LOG_MOOD = table(
    "log-mood",
    "mood_entries",
    field("user_id", "text", maxLength=50, label="User ID"),
    field("mood", "enum", enumValues=MOODS),
    field("energy_level", "integer", min=1, max=10),
    field("notes", "text", maxLength=500, required=False),
    field("timestamp", "datetime"),
    displayName="Mood log",
    description="Log how somebody feels",
)
ADD_NOTE = table(
    "add-note",
    "notes",
    field("content", "text", maxLength=1000),
    field("created_at", "datetime"),
    description="Add a quick note",
    successMessage="Note added successfully",
)
SUBMIT_FORM = table(
    "submit-health-form",
    "health_forms",
    field("user_id", "text", maxLength=50),
    field("weight", "numeric", min=0, max=500, scale=2),
    field("height", "integer", min=0, max=300),
    field("is_smoker", "boolean"),
    field("activity_level", "enum", enumValues=LEVELS),
    field("notes", "text", maxLength=1000, required=False),
    field("recorded_at", "datetime"),
    field("metadata", "json", required=False),
    description="Submit comprehensive health tracking form",
)


def types(url: str) -> dict[str, str]:
    """Return the names of the types of keys, instants and JSON in the database."""
    return _TYPES["sqlite" if url.startswith("sqlite") else "postgresql"]


async def create(url: str, *statements: str) -> None:
    """Make tables, their types those of the database."""
    await run_sql(url, *(statement.format(**types(url)) for statement in statements))


async def count(url: str, name: str = "mood_entries") -> int:
    """How many rows a table has."""
    [[rows]] = await rows_of(url, f'SELECT count(*) FROM "{name}"')
    return int(rows)


async def read_only_row(url: str, query: str) -> tuple[Any, ...]:
    """Return the only row of a query, with instants in UTC and JSON as data on either database."""
    [row] = await rows_of(url, query)
    return tuple(_read(value) for value in row)


def _read(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%SZ")
    return json.loads(value) if isinstance(value, str) and value.startswith("{") else value


class Way(Protocol):
    """A way to the tools of a board."""

    async def text(self, tool: str, arguments: Any) -> bytes:
        """Make a call and return the response as text."""

    async def tool(self, name: str) -> dict[str, Any]:
        """Return the tool as the board shows it."""

    async def journal(self, tool: str) -> list[dict[str, Any]]:
        """Return the rows of the tool's calls, oldest first."""

    async def reload(self) -> None:
        """Reload the tables file."""


class LibraryWay:
    """From the same process."""

    def __init__(self, board: Pegboard) -> None:
        self._board = board

    async def text(self, tool: str, arguments: Any) -> bytes:
        result = await self._board.call(tool, arguments)
        return self._board.dialects[result.result_style].render_json(answer_of(result))

    async def tool(self, name: str) -> dict[str, Any]:
        found = await self._board.tools.get(name, self._board.admin)
        return dict(build_tool_response(found, self._board.admin).model_dump(mode="json"))

    async def journal(self, tool: str) -> list[dict[str, Any]]:
        return [row._asdict() for row in await calls_of(self._board, tool)]

    async def reload(self) -> None:
        await self._board.tables.reload()


class RestWay:
    """Over HTTP."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def text(self, tool: str, arguments: Any) -> bytes:
        answer = await self._client.post(f"/v1/tools/{tool}/call", json=arguments)
        assert answer.status_code == 200, answer.text
        return answer.content

    async def tool(self, name: str) -> dict[str, Any]:
        return dict((await self._client.get(f"/v1/tools/{name}")).raise_for_status().json())

    async def journal(self, tool: str) -> list[dict[str, Any]]:
        answer = await self._client.get("/v1/executions", params={"tool": tool, "limit": 200})
        items: list[dict[str, Any]] = answer.raise_for_status().json()["items"]
        moments = ("started_at", "finished_at")
        return [{**row, **{key: datetime.fromisoformat(row[key]) for key in moments}} for row in reversed(items)]

    async def reload(self) -> None:
        (await self._client.post("/v1/tables/reload")).raise_for_status()


async def call(way: Way, tool: str, arguments: Any) -> dict[str, Any]:
    """Make a call and return the response."""
    return dict(json.loads(await way.text(tool, arguments)))


async def inserted(way: Way, tool: str, arguments: Any) -> dict[str, Any]:
    """The data of a call that must succeed."""
    answer = await call(way, tool, arguments)
    assert answer["success"] is True, answer
    return dict(answer["data"])


async def failed(way: Way, tool: str, arguments: Any) -> dict[str, Any]:
    """The error of a call that must fail."""
    answer = await call(way, tool, arguments)
    assert answer["success"] is False, answer
    assert set(answer) == {"success", "error"}
    return dict(answer["error"])


async def call_invalid(way: Way, tool: str, arguments: Any) -> dict[str, Any]:
    """Return the error of a call whose arguments are invalid."""
    error = await failed(way, tool, arguments)
    assert error["type"] == "VALIDATION_ERROR", error
    return error


def without(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The row without these fields."""
    return {name: value for name, value in row.items() if name not in names}
