"""The tools that are on every board."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid5

from pegboard.builtins.base import Builtin
from pegboard.builtins.baseline.tools import BASELINE_TOOLS, BaselineTool
from pegboard.builtins.catalog import BUILTINS
from pegboard.core.tool import Kind, Tool
from pegboard.store import tools
from pegboard.store.database import Change
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

_NAMESPACE = UUID("6f1c7a52-5b0e-5d5c-9a55-1f9f3c1d7e11")


def shipped_id(name: str) -> str:
    """The id of a shipped tool, the same on every board."""
    return str(uuid5(_NAMESPACE, name))


SHIPPED_IDS = frozenset(
    map(shipped_id, (*(builtin.name for builtin in BUILTINS), *(shipped.name for shipped in BASELINE_TOOLS)))
)


async def hang_shipped(change: Change, owner_id: str) -> None:
    """Hang the builtins and the tools of the baseline for all, and bring those that hang already up to date.

    Removed ones stay removed.
    """
    now = datetime.now(UTC)
    shipped = (
        *(_builtin(builtin, owner_id, now) for builtin in BUILTINS),
        *(_of_baseline(tool, owner_id, now) for tool in BASELINE_TOOLS),
    )
    hanging = {tool.id: tool for tool in await tools.all_with_ids(change.conn, [tool.id for tool in shipped])}
    missing = [tool for tool in shipped if tool.id not in hanging]
    taken = await tools.all_named(change.conn, [tool.name for tool in missing])
    for tool in missing:
        if tool.name in taken:
            log.warning("shipped_tool_not_hung", tool=tool.name, why="another tool has its name")
    new = [tool for tool in missing if tool.name not in taken]
    await tools.add_all(change.conn, new, revision=change.revision, by=owner_id)
    for tool in shipped:
        present = hanging.get(tool.id)
        if present is not None and _definition(present) != _definition(tool):
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
            await tools.save(change.conn, renewed, revision=change.revision, by=owner_id)


def _builtin(builtin: Builtin, owner_id: str, now: datetime) -> Tool:
    return Tool(
        shipped_id(builtin.name),
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


def _of_baseline(shipped: BaselineTool, owner_id: str, now: datetime) -> Tool:
    return Tool(
        shipped_id(shipped.name),
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


def _definition(tool: Tool) -> tuple[object, ...]:
    described = (tool.description, tool.display_name, tool.config, tool.input_schema, tool.output_schema)
    return (*described, tool.read_only, tool.idempotent, tool.result_style)
