"""The tools that every board has: the builtins and the baseline tools."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid5

from pegboard.baseline.baseline_tools import BASELINE_TOOLS, BaselineTool
from pegboard.kinds.builtin.base import Builtin
from pegboard.kinds.builtin.catalog import BUILTINS
from pegboard.model.tool import Kind, Tool
from pegboard.storage import tool_rows
from pegboard.storage.database import Change
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

_NAMESPACE = UUID("6f1c7a52-5b0e-5d5c-9a55-1f9f3c1d7e11")


def make_shipped_id(name: str) -> str:
    """Return the id of a shipped tool, which is the same on every board."""
    return str(uuid5(_NAMESPACE, name))


SHIPPED_IDS = frozenset(
    map(make_shipped_id, (*(builtin.name for builtin in BUILTINS), *(shipped.name for shipped in BASELINE_TOOLS)))
)


async def register_shipped_tools(change: Change, owner_id: str) -> None:
    """Register the builtins and the baseline tools as public tools, and update those that exist already.

    Deleted ones stay deleted. A tool whose name is taken by another tool is skipped with a warning in the log.
    """
    now = datetime.now(UTC)
    shipped = (
        *(_build_builtin_tool(builtin, owner_id, now) for builtin in BUILTINS),
        *(_build_baseline_tool(tool, owner_id, now) for tool in BASELINE_TOOLS),
    )
    hanging = {tool.id: tool for tool in await tool_rows.list_tools_by_id(change.conn, [tool.id for tool in shipped])}
    missing = [tool for tool in shipped if tool.id not in hanging]
    taken = await tool_rows.find_tools_by_name(change.conn, [tool.name for tool in missing])
    for tool in missing:
        if tool.name in taken:
            log.warning("shipped_tool_not_hung", tool=tool.name, why="another tool has its name")
    new = [tool for tool in missing if tool.name not in taken]
    await tool_rows.add_tools(change.conn, new, revision=change.revision, by=owner_id)
    for tool in shipped:
        present = hanging.get(tool.id)
        if present is not None and _list_definition_fields(present) != _list_definition_fields(tool):
            renewed = replace(
                present,
                description=tool.description,
                display_name=tool.display_name,
                config=tool.config,
                input_schema=tool.input_schema,
                output_schema=tool.output_schema,
                read_only=tool.read_only,
                idempotent=tool.idempotent,
                result_style=tool.result_style,
                version=present.version + 1,
                updated_at=tool.updated_at,
            )
            await tool_rows.save_tool(change.conn, renewed, revision=change.revision, by=owner_id)


def _build_builtin_tool(builtin: Builtin, owner_id: str, now: datetime) -> Tool:
    return Tool(
        make_shipped_id(builtin.name),
        owner_id,
        builtin.name,
        Kind.BUILTIN,
        {"operation": builtin.name},
        dict(builtin.input_schema),
        now,
        now,
        description=builtin.description,
        output_schema=dict(builtin.output_schema) if builtin.output_schema is not None else None,
        display_name=builtin.display_name,
        is_public=True,
        read_only=True,
        idempotent=True,
        tags=("builtin",),
    )


def _build_baseline_tool(shipped: BaselineTool, owner_id: str, now: datetime) -> Tool:
    return Tool(
        make_shipped_id(shipped.name),
        owner_id,
        shipped.name,
        Kind.INTERNAL,
        {"handler": shipped.name},
        dict(shipped.input_schema),
        now,
        now,
        description=shipped.description,
        output_schema=dict(shipped.output_schema),
        display_name=shipped.display_name,
        is_public=True,
        result_style="envelope",
        read_only=shipped.read_only,
        idempotent=shipped.idempotent,
        max_result_bytes=shipped.max_result_bytes,
        tags=("baseline",),
    )


def _list_definition_fields(tool: Tool) -> tuple[object, ...]:
    described = (tool.description, tool.display_name, tool.config, tool.input_schema, tool.output_schema)
    return (*described, tool.read_only, tool.idempotent, tool.result_style)
