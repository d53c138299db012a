"""Tools and their versions, as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Boolean, ColumnElement, Row, Select, func, insert, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.core.display import Display
from pegboard.core.ids import new_id
from pegboard.core.tool import ALIAS_LENGTH, Fallback, Kind, RateLimit, Retry, Tool
from pegboard.store import models
from pegboard.store.base_models import table_of
from pegboard.store.types import has_id, is_not_deleted, is_uuid, lowered, storable

_tools = table_of(models.Tool)
_versions = table_of(models.ToolVersion)

# Names asked for in one statement; databases bound how many values one may have.
_AT_ONCE = 500
_COLUMNS = tuple(column for column in _tools.columns if column.name != "revision")
_OUTSIDE_DEFINITION = frozenset({"id", "owner_id", "version", "created_at", "updated_at", "is_deleted", "deleted_at"})


@dataclass(frozen=True, slots=True)
class ToolFilter:
    """Which tools a list holds; None means no matter."""

    visible_to: str | None = None
    owner_id: str | None = None
    tool_type: Kind | None = None
    is_active: bool | None = None
    is_public: bool | None = None
    tag: str | None = None
    q: str | None = None
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class ToolVersion:
    """What a tool was at one version; values that are secret stay sealed in `definition`."""

    id: str
    tool_id: str
    version: int
    definition: Mapping[str, Any]
    created_at: datetime
    created_by: str


async def add(conn: AsyncConnection, tool: Tool, *, revision: int, by: str) -> None:
    """Keep a new tool and its first version."""
    await conn.execute(insert(_tools).values(**_row(tool), revision=revision))
    await _add_version(conn, tool, by)


async def add_all(conn: AsyncConnection, some: Sequence[Tool], *, revision: int, by: str) -> None:
    """Keep many new tools and their first versions."""
    if some:
        await conn.execute(insert(_tools), [{**_row(tool), "revision": revision} for tool in some])
        await conn.execute(insert(_versions), [_version(tool, by) for tool in some])


async def save(conn: AsyncConnection, tool: Tool, *, revision: int, by: str) -> None:
    """Keep a tool as it is now, and its version if that is a new one; LookupError if there is no such tool."""
    changed_rows = await conn.execute(
        update(_tools).where(_tools.c.id == tool.id).values(**_row(tool), revision=revision)
    )
    if changed_rows.rowcount == 0:
        raise LookupError(f"no tool has the id {tool.id}")
    known = select(_versions.c.id).where(_versions.c.tool_id == tool.id, _versions.c.version == tool.version)
    if (await conn.execute(known)).first() is None:
        await _add_version(conn, tool, by)


async def get(conn: AsyncConnection, tool_id: str) -> Tool | None:
    """The tool with this id, deleted or not."""
    if not is_uuid(tool_id):
        return None
    row = (await conn.execute(select(*_COLUMNS).where(_tools.c.id == tool_id))).first()
    return _tool(row) if row else None


async def named(conn: AsyncConnection, name: str) -> Tool | None:
    """The tool of this name, in whatever case, among those not deleted."""
    query = select(*_COLUMNS).where(func.lower(_tools.c.name) == lowered(name), is_not_deleted(_tools.c.is_deleted))
    row = (await conn.execute(query)).first()
    return _tool(row) if row else None


async def all_named(conn: AsyncConnection, names: Sequence[str]) -> dict[str, Tool]:
    """Those of these names, in whatever case, that tools not deleted have, and their tools, by name in lower case."""
    found: dict[str, Tool] = {}
    lower = sorted({lowered(name) for name in names})
    for start in range(0, len(lower), _AT_ONCE):
        wanted = func.lower(_tools.c.name).in_(lower[start : start + _AT_ONCE])
        for row in await conn.execute(select(*_COLUMNS).where(wanted, is_not_deleted(_tools.c.is_deleted))):
            found[row.name.lower()] = _tool(row)
    return found


async def deleted_named(conn: AsyncConnection, name: str) -> list[Tool]:
    """The deleted tools of this name, in whatever case, the latest first."""
    query = select(*_COLUMNS).where(func.lower(_tools.c.name) == lowered(name), _tools.c.is_deleted.is_(True))
    return [_tool(row) for row in await conn.execute(query.order_by(_tools.c.deleted_at.desc()).limit(100))]


async def all_with_ids(conn: AsyncConnection, ids: Sequence[str]) -> list[Tool]:
    """The tools of these ids, deleted or not."""
    found: list[Tool] = []
    for start in range(0, len(ids), _AT_ONCE):
        rows = await conn.execute(select(*_COLUMNS).where(_tools.c.id.in_(ids[start : start + _AT_ONCE])))
        found += [_tool(row) for row in rows]
    return found


async def all_owned(conn: AsyncConnection, owner_id: str) -> list[Tool]:
    """Every tool of an owner, not deleted, by name."""
    query = select(*_COLUMNS).where(has_id(_tools.c.owner_id, owner_id), is_not_deleted(_tools.c.is_deleted))
    return [_tool(row) for row in await conn.execute(query.order_by(func.lower(_tools.c.name)))]


async def oddly_named(conn: AsyncConnection) -> list[tuple[str, str]]:
    """Id and name of each tool, not deleted, whose name is too long or starts too oddly for every provider."""
    odd = or_(func.length(_tools.c.name) > ALIAS_LENGTH, _tools.c.name.like("-%"))
    rows = await conn.execute(select(_tools.c.id, _tools.c.name).where(odd, is_not_deleted(_tools.c.is_deleted)))
    return [(row.id, row.name) for row in rows]


async def page(
    conn: AsyncConnection, wanted: ToolFilter, *, after: tuple[str, str] | None = None, limit: int
) -> list[Tool]:
    """Tools in the order of their names; `after` is (name in lower case, id) of the last one seen."""
    rows = await conn.execute(page_query(wanted, conn.dialect.name, after=after, limit=limit))
    return [_tool(row) for row in rows]


async def versions(conn: AsyncConnection, tool_id: str, *, before: int | None = None, limit: int) -> list[ToolVersion]:
    """Versions of a tool, newest first; `before` is the last one seen."""
    if not is_uuid(tool_id):
        return []
    query = select(*_versions.columns).where(_versions.c.tool_id == tool_id)
    if before is not None:
        query = query.where(_versions.c.version < before)
    rows = await conn.execute(query.order_by(_versions.c.version.desc()).limit(limit))
    return [ToolVersion(**row._mapping) for row in rows]


async def changed(conn: AsyncConnection, since: int) -> list[Tool]:
    """Every tool that changed after a revision, deleted ones included."""
    rows = await conn.execute(select(*_COLUMNS).where(_tools.c.revision > since))
    return [_tool(row) for row in rows]


def definition_of(tool: Tool) -> dict[str, Any]:
    """The tool's own fields as JSON, as its versions keep them."""
    fields = {name: value for name, value in _row(tool).items() if name not in _OUTSIDE_DEFINITION}
    fields["sealed_auth"] = fields.pop("auth_config")
    return fields


def page_query(
    wanted: ToolFilter, dialect: str, *, after: tuple[str, str] | None, limit: int
) -> Select[tuple[Any, ...]]:
    """The query behind `page`."""
    query = select(*_COLUMNS).where(*_conditions(wanted, dialect))
    name, key = func.lower(_tools.c.name), _tools.c.id
    if after is not None:
        # The first condition says nothing new, but SQLite finds the place in its index by it alone.
        query = query.where(name >= after[0], tuple_(name, key) > tuple_(*after, types=[name.type, key.type]))
    return query.order_by(name, key).limit(limit)


def _conditions(wanted: ToolFilter, dialect: str) -> list[ColumnElement[bool]]:
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
    if wanted.tag is not None:
        conditions.append(_has_tag(storable(wanted.tag), dialect))
    if wanted.q is not None:
        found = (
            column.icontains(storable(wanted.q), autoescape=True) for column in (columns.name, columns.description)
        )
        conditions.append(or_(*found))
    return conditions


def _has_tag(tag: str, dialect: str) -> ColumnElement[bool]:
    if dialect == "postgresql":
        return func.jsonb_exists(_tools.c.tags, tag, type_=Boolean())
    each = func.json_each(_tools.c.tags).table_valued("value")
    return select(each.c.value).where(each.c.value == tag).exists()


async def _add_version(conn: AsyncConnection, tool: Tool, by: str) -> None:
    await conn.execute(insert(_versions).values(_version(tool, by)))


def _version(tool: Tool, by: str) -> dict[str, Any]:
    return {
        "id": new_id(),
        "tool_id": tool.id,
        "version": tool.version,
        "definition": definition_of(tool),
        "created_at": tool.updated_at,
        "created_by": by,
    }


def _row(tool: Tool) -> dict[str, Any]:
    row = {name: getattr(tool, name) for name in Tool.__dataclass_fields__}
    row["auth_config"] = _plain(row.pop("sealed_auth"))
    for name in ("config", "input_schema", "output_schema"):
        row[name] = _plain(row[name])
    row["rate_limit"] = tool.rate_limit and tool.rate_limit.model_dump(mode="json")
    row["display"] = tool.display and tool.display.model_dump(mode="json", exclude_defaults=True)
    row["retry"] = tool.retry and tool.retry.model_dump(mode="json")
    # What was not set stays unset: a fallback to the value null is not the same as none.
    row["fallback"] = tool.fallback and tool.fallback.model_dump(mode="json", exclude_unset=True)
    row["tool_type"] = str(tool.tool_type)
    row["tags"] = list(tool.tags)
    row["bound_tools"] = dict(tool.bound_tools) or None
    return row


def _plain(value: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if value is None else dict(value)


def _tool(row: Row[Any]) -> Tool:
    fields = dict(row._mapping)
    fields["sealed_auth"] = fields.pop("auth_config")
    fields["tool_type"] = Kind(fields["tool_type"])
    fields["tags"] = tuple(fields["tags"])
    fields["bound_tools"] = fields["bound_tools"] or {}
    for name, model in (("rate_limit", RateLimit), ("retry", Retry), ("fallback", Fallback), ("display", Display)):
        if fields[name] is not None:
            fields[name] = model.model_validate(fields[name])
    return Tool(**fields)


async def names_of(conn: AsyncConnection, tool_id: str) -> list[str]:
    """Every name that a tool has or had, deleted or not."""
    if not is_uuid(tool_id):
        return []
    now = select(_tools.c.name).where(_tools.c.id == tool_id)
    once = select(_versions.c.definition["name"].as_string()).where(_versions.c.tool_id == tool_id)
    return sorted(set((await conn.execute(now.union(once))).scalars()))
