"""Rows of tools and their versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Boolean, ColumnElement, RowMapping, Select, func, insert, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.model.display_format import Display
from pegboard.model.filters import ToolFilter
from pegboard.model.ids import new_id
from pegboard.model.json_text import is_uuid, replace_unstorable
from pegboard.model.tool import MAX_ALIAS_LENGTH, Fallback, RateLimit, Retry, Tool, read_kind
from pegboard.storage import board_tables
from pegboard.storage.board_tables import get_table
from pegboard.storage.column_types import has_id, is_not_deleted, lower_ascii

_tools = get_table(board_tables.Tool)
_versions = get_table(board_tables.ToolVersion)

# Names per statement; databases limit the number of parameters.
_MAX_VALUES_PER_STATEMENT = 500
_COLUMNS = tuple(column for column in _tools.columns if column.name != "revision")
_OUTSIDE_DEFINITION = frozenset({"id", "owner_id", "version", "created_at", "updated_at", "is_deleted", "deleted_at"})


@dataclass(frozen=True, slots=True)
class StoredToolVersion:
    """The definition of a tool at one version; secret values stay encrypted in `definition`."""

    id: str
    tool_id: str
    version: int
    definition: Mapping[str, Any]
    created_at: datetime
    created_by: str


async def add_tools(conn: AsyncConnection, some: Sequence[Tool], *, revision: int, by: str) -> None:
    """Insert new tools and their first versions."""
    if some:
        await conn.execute(insert(_tools), [{**_build_tool_row(tool), "revision": revision} for tool in some])
        await conn.execute(insert(_versions), [_build_version_row(tool, by) for tool in some])


async def save_tool(conn: AsyncConnection, tool: Tool, *, revision: int, by: str) -> None:
    """Update a tool and insert its version if it is new; raise LookupError if there is no such tool."""
    changed_rows = await conn.execute(
        update(_tools).where(_tools.c.id == tool.id).values(**_build_tool_row(tool), revision=revision)
    )
    if changed_rows.rowcount == 0:
        raise LookupError(f"no tool has the id {tool.id}")
    known = select(_versions.c.id).where(_versions.c.tool_id == tool.id, _versions.c.version == tool.version)
    if (await conn.execute(known)).first() is None:
        await conn.execute(insert(_versions).values(_build_version_row(tool, by)))


async def get_tool(conn: AsyncConnection, tool_id: str) -> Tool | None:
    """Return the tool with this id, deleted or not."""
    return next(iter(await _read_tools(conn, select(*_COLUMNS).where(has_id(_tools.c.id, tool_id)))), None)


async def find_tool_by_name(conn: AsyncConnection, name: str) -> Tool | None:
    """Return the tool of this name, ignoring case, unless deleted."""
    query = select(*_COLUMNS).where(func.lower(_tools.c.name) == lower_ascii(name), is_not_deleted(_tools.c.is_deleted))
    return next(iter(await _read_tools(conn, query)), None)


async def find_tools_by_name(conn: AsyncConnection, names: Sequence[str]) -> dict[str, Tool]:
    """Return the tools of these names, ignoring case, that are not deleted, keyed by lowercase name."""
    found: dict[str, Tool] = {}
    lower = sorted({lower_ascii(name) for name in names})
    for start in range(0, len(lower), _MAX_VALUES_PER_STATEMENT):
        wanted = func.lower(_tools.c.name).in_(lower[start : start + _MAX_VALUES_PER_STATEMENT])
        query = select(*_COLUMNS).where(wanted, is_not_deleted(_tools.c.is_deleted))
        found.update({tool.name.lower(): tool for tool in await _read_tools(conn, query)})
    return found


async def find_deleted_by_name(conn: AsyncConnection, name: str) -> list[Tool]:
    """Return the deleted tools of this name, ignoring case, latest first."""
    query = select(*_COLUMNS).where(func.lower(_tools.c.name) == lower_ascii(name), _tools.c.is_deleted.is_(True))
    return await _read_tools(conn, query.order_by(_tools.c.deleted_at.desc()).limit(100))


async def list_tools_by_id(conn: AsyncConnection, ids: Sequence[str]) -> list[Tool]:
    """Return the tools with these ids, deleted or not."""
    found: list[Tool] = []
    for start in range(0, len(ids), _MAX_VALUES_PER_STATEMENT):
        some = ids[start : start + _MAX_VALUES_PER_STATEMENT]
        found += await _read_tools(conn, select(*_COLUMNS).where(_tools.c.id.in_(some)))
    return found


async def list_owned_tools(conn: AsyncConnection, owner_id: str) -> list[Tool]:
    """Return every tool of an owner that is not deleted, by name."""
    query = select(*_COLUMNS).where(has_id(_tools.c.owner_id, owner_id), is_not_deleted(_tools.c.is_deleted))
    return await _read_tools(conn, query.order_by(func.lower(_tools.c.name)))


async def list_nonportable_names(conn: AsyncConnection) -> list[tuple[str, str]]:
    """Return id and name of each tool, not deleted, whose name is too long or begins with a hyphen."""
    odd = or_(func.length(_tools.c.name) > MAX_ALIAS_LENGTH, _tools.c.name.like("-%"))
    rows = await conn.execute(select(_tools.c.id, _tools.c.name).where(odd, is_not_deleted(_tools.c.is_deleted)))
    return [(row.id, row.name) for row in rows]


async def list_tools(
    conn: AsyncConnection, wanted: ToolFilter, *, after: tuple[str, str] | None = None, limit: int
) -> list[Tool]:
    """Return tools ordered by name; `after` is (lowercase name, id) of the last one seen."""
    return await _read_tools(conn, build_tools_query(wanted, conn.dialect.name, after=after, limit=limit))


async def list_latest_tools(
    conn: AsyncConnection, wanted: ToolFilter, *, after: tuple[datetime, str] | None = None, limit: int
) -> list[Tool]:
    """Return tools, last updated first; `after` is (time of the update, id) of the last one seen."""
    query = select(*_COLUMNS).where(*_build_conditions(wanted, conn.dialect.name))
    moment, key = _tools.c.updated_at, _tools.c.id
    if after is not None:
        query = query.where(tuple_(moment, key) < tuple_(*after, types=[moment.type, key.type]))
    return await _read_tools(conn, query.order_by(moment.desc(), key.desc()).limit(limit))


async def count_tools(conn: AsyncConnection, wanted: ToolFilter) -> int:
    """Return the number of tools that match the filter."""
    query = select(func.count()).select_from(_tools).where(*_build_conditions(wanted, conn.dialect.name))
    return int((await conn.execute(query)).scalar_one())


async def list_versions(
    conn: AsyncConnection, tool_id: str, *, before: int | None = None, limit: int
) -> list[StoredToolVersion]:
    """Return versions of a tool, newest first; `before` is the last one seen."""
    if not is_uuid(tool_id):
        return []
    query = select(*_versions.columns).where(_versions.c.tool_id == tool_id)
    if before is not None:
        query = query.where(_versions.c.version < before)
    rows = await conn.execute(query.order_by(_versions.c.version.desc()).limit(limit))
    return [StoredToolVersion(**row) for row in rows.mappings()]


async def list_changed_tools(conn: AsyncConnection, since: int) -> list[Tool]:
    """Return every tool that changed after a revision, including deleted ones."""
    return await _read_tools(conn, select(*_COLUMNS).where(_tools.c.revision > since))


def build_version_definition(tool: Tool) -> dict[str, Any]:
    """Return the tool's own fields as JSON, as stored in its versions."""
    fields = {name: value for name, value in _build_tool_row(tool).items() if name not in _OUTSIDE_DEFINITION}
    fields["sealed_auth"] = fields.pop("auth_config")
    return fields


def build_tools_query(
    wanted: ToolFilter, dialect: str, *, after: tuple[str, str] | None, limit: int
) -> Select[tuple[Any, ...]]:
    """Return the query of `list_tools`."""
    query = select(*_COLUMNS).where(*_build_conditions(wanted, dialect))
    name, key = func.lower(_tools.c.name), _tools.c.id
    if after is not None:
        # The first condition is redundant, but SQLite can use its index only with it.
        query = query.where(name >= after[0], tuple_(name, key) > tuple_(*after, types=[name.type, key.type]))
    return query.order_by(name, key).limit(limit)


def _build_conditions(wanted: ToolFilter, dialect: str) -> list[ColumnElement[bool]]:
    columns = _tools.c
    conditions = [columns.is_deleted.is_(True) if wanted.deleted else is_not_deleted(columns.is_deleted)]
    if wanted.visible_to is not None:
        conditions.append(or_(has_id(columns.owner_id, wanted.visible_to), columns.is_public.is_(True)))
    if wanted.owner_id is not None:
        conditions.append(has_id(columns.owner_id, wanted.owner_id))
    if wanted.tool_type is not None:
        conditions.append(columns.tool_type == str(wanted.tool_type))
    if wanted.is_active is not None:
        conditions.append(columns.is_active.is_(wanted.is_active))
    if wanted.is_public is not None:
        conditions.append(columns.is_public.is_(wanted.is_public))
    if wanted.drifted is not None:
        conditions.append(columns.drifted.is_(wanted.drifted))
    if wanted.tag is not None:
        conditions.append(_build_tag_condition(replace_unstorable(wanted.tag), dialect))
    if wanted.q is not None:
        found = (
            column.icontains(replace_unstorable(wanted.q), autoescape=True)
            for column in (columns.name, columns.description)
        )
        conditions.append(or_(*found))
    return conditions


def _build_tag_condition(tag: str, dialect: str) -> ColumnElement[bool]:
    if dialect == "postgresql":
        return func.jsonb_exists(_tools.c.tags, tag, type_=Boolean())
    each = func.json_each(_tools.c.tags).table_valued("value")
    return select(each.c.value).where(each.c.value == tag).exists()


def _build_version_row(tool: Tool, by: str) -> dict[str, Any]:
    return {
        "id": new_id(),
        "tool_id": tool.id,
        "version": tool.version,
        "definition": build_version_definition(tool),
        "created_at": tool.updated_at,
        "created_by": by,
    }


def _build_tool_row(tool: Tool) -> dict[str, Any]:
    row = {name: getattr(tool, name) for name in Tool.__dataclass_fields__}
    row["auth_config"] = _to_dict(row.pop("sealed_auth"))
    for name in ("config", "input_schema", "output_schema"):
        row[name] = _to_dict(row[name])
    row["rate_limit"] = tool.rate_limit and tool.rate_limit.model_dump(mode="json")
    row["display"] = tool.display and tool.display.model_dump(mode="json", exclude_defaults=True)
    row["retry"] = tool.retry and tool.retry.model_dump(mode="json")
    # Unset fields stay unset: a fallback to the value null is not the same as none.
    row["fallback"] = tool.fallback and tool.fallback.model_dump(mode="json", exclude_unset=True)
    row["tool_type"] = str(tool.tool_type)
    row["tags"] = list(tool.tags)
    row["bound_tools"] = dict(tool.bound_tools) or None
    return row


def _to_dict(value: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if value is None else dict(value)


async def _read_tools(conn: AsyncConnection, query: Select[Any]) -> list[Tool]:
    return [_read_tool(row) for row in (await conn.execute(query)).mappings()]


def _read_tool(row: RowMapping) -> Tool:
    fields = dict(row)
    fields["sealed_auth"] = fields.pop("auth_config")
    return Tool(**read_stored_fields(fields))


def read_stored_fields(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a tool from their stored JSON values; those that are not stored are left out."""
    fields = {
        **stored,
        "tool_type": read_kind(stored["tool_type"]),
        "tags": tuple(stored.get("tags") or ()),
        "bound_tools": stored.get("bound_tools") or {},
    }
    for name, model in (("rate_limit", RateLimit), ("retry", Retry), ("fallback", Fallback), ("display", Display)):
        if fields.get(name) is not None:
            fields[name] = model.model_validate(fields[name])
    return fields


async def list_tool_names(conn: AsyncConnection, tool_id: str) -> list[str]:
    """Return every name that a tool has or had, deleted or not."""
    if not is_uuid(tool_id):
        return []
    now = select(_tools.c.name).where(_tools.c.id == tool_id)
    once = select(_versions.c.definition["name"].as_string()).where(_versions.c.tool_id == tool_id)
    return sorted(set((await conn.execute(now.union(once))).scalars()))
