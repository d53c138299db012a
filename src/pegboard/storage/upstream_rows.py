"""Rows of imported MCP servers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import RowMapping, Select, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.model.json_text import is_uuid
from pegboard.model.mcp_peer import IDENTITY_FIELDS
from pegboard.model.registered_upstream import PinnedEntry, RegisteredUpstream
from pegboard.storage import board_tables
from pegboard.storage.board_tables import get_table
from pegboard.storage.column_types import has_id, is_not_deleted

_upstreams = get_table(board_tables.UpstreamRow)
_COLUMNS = tuple(column for column in _upstreams.columns if column.name != "revision")


async def add_upstream(conn: AsyncConnection, upstream: RegisteredUpstream, *, revision: int) -> None:
    """Insert a new row."""
    await conn.execute(insert(_upstreams).values({**_build_row(upstream), "revision": revision}))


async def save_upstream(conn: AsyncConnection, upstream: RegisteredUpstream, *, revision: int) -> None:
    """Update a row; raise LookupError if there is none with this id."""
    values = {**_build_row(upstream), "revision": revision}
    if (await conn.execute(update(_upstreams).where(_upstreams.c.id == upstream.id).values(values))).rowcount == 0:
        raise LookupError(f"no upstream has the id {upstream.id}")


async def get_upstream(conn: AsyncConnection, upstream_id: str) -> RegisteredUpstream | None:
    """Return the upstream with this id, unless it was removed."""
    if not is_uuid(upstream_id):
        return None
    query = select(*_COLUMNS).where(_upstreams.c.id == upstream_id, is_not_deleted(_upstreams.c.is_deleted))
    return next(iter(await _read_upstreams(conn, query)), None)


async def list_owned_upstreams(conn: AsyncConnection, owner_id: str) -> list[RegisteredUpstream]:
    """Return the upstreams of an owner, oldest first."""
    is_owned = has_id(_upstreams.c.owner_id, owner_id)
    query = select(*_COLUMNS).where(is_owned, is_not_deleted(_upstreams.c.is_deleted))
    return await _read_upstreams(conn, query.order_by(_upstreams.c.id))


async def list_changed_upstreams(conn: AsyncConnection, since: int) -> list[RegisteredUpstream]:
    """Return every upstream that changed after a revision, including removed ones."""
    return await _read_upstreams(conn, select(*_COLUMNS).where(_upstreams.c.revision > since))


async def _read_upstreams(conn: AsyncConnection, query: Select[Any]) -> list[RegisteredUpstream]:
    return [_read_upstream(row) for row in (await conn.execute(query)).mappings()]


def _read_upstream(row: RowMapping) -> RegisteredUpstream:
    fields: dict[str, Any] = dict(row)
    stored: Mapping[str, Any] = fields.pop("entries")
    entries = {
        kind: tuple(PinnedEntry(each["entry"][field], **each) for each in stored.get(kind, ()))
        for kind, field in IDENTITY_FIELDS.items()
    }
    return RegisteredUpstream(
        include=tuple(fields.pop("include")),
        tools=tuple(fields.pop("tools")),
        sealed_auth=fields.pop("auth_config"),
        entries={kind: found for kind, found in entries.items() if found},
        **fields,
    )


def _build_row(upstream: RegisteredUpstream) -> dict[str, Any]:
    row = {name: getattr(upstream, name) for name in RegisteredUpstream.__dataclass_fields__}
    auth = row.pop("sealed_auth")
    return {
        **row,
        "config": dict(upstream.config),
        "auth_config": None if auth is None else dict(auth),
        "include": list(upstream.include),
        "tools": list(upstream.tools),
        "entries": {
            kind: [{"digest": each.digest, "entry": dict(each.entry), "state": each.state} for each in entries]
            for kind, entries in upstream.entries.items()
        },
    }
