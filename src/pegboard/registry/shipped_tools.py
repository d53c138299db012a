"""The tools that every board has: the builtins and the baseline tools."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
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


# The fields that follow the code; an admin may have changed the others.
_FOLLOWING_FIELDS = (
    "description",
    "display_name",
    "config",
    "input_schema",
    "output_schema",
    "read_only",
    "idempotent",
    "result_style",
)


def _make_shipped_id(name: str) -> str:
    """Return the id of a shipped tool, which is the same on every board."""
    return str(uuid5(_NAMESPACE, name))


SHIPPED_IDS = frozenset(
    _make_shipped_id(name) for name in [*(it.name for it in BUILTINS), *(it.name for it in BASELINE_TOOLS)]
)


async def register_shipped_tools(change: Change, owner_id: str) -> None:
    """Register the builtins and the baseline tools as public tools, and update those that exist already.

    Deleted ones stay deleted. A tool whose name is taken by another tool is skipped with a warning in the log.
    """
    shipped = _build_shipped_tools(owner_id, datetime.now(UTC))
    registered = {
        tool.id: tool for tool in await tool_rows.list_tools_by_id(change.conn, [tool.id for tool in shipped])
    }
    missing = [tool for tool in shipped if tool.id not in registered]
    taken = await tool_rows.find_tools_by_name(change.conn, [tool.name for tool in missing])
    for tool in missing:
        if tool.name in taken:
            log.warning("shipped_tool_not_hung", tool=tool.name, why="another tool has its name")
    new = [tool for tool in missing if tool.name not in taken]
    await tool_rows.add_tools(change.conn, new, revision=change.revision, by=owner_id)
    for tool in shipped:
        present = registered.get(tool.id)
        following = {name: getattr(tool, name) for name in _FOLLOWING_FIELDS}
        if present is not None and any(getattr(present, name) != value for name, value in following.items()):
            renewed = replace(present, **following, version=present.version + 1, updated_at=tool.updated_at)
            await tool_rows.save_tool(change.conn, renewed, revision=change.revision, by=owner_id)


def _build_shipped_tools(owner_id: str, now: datetime) -> list[Tool]:
    def build(shipped: Builtin | BaselineTool, kind: Kind, config: dict[str, str], **fields: Any) -> Tool:
        return Tool(
            _make_shipped_id(shipped.name),
            owner_id,
            shipped.name,
            kind,
            config,
            dict(shipped.input_schema),
            now,
            now,
            description=shipped.description,
            output_schema=dict(shipped.output_schema) if shipped.output_schema is not None else None,
            display_name=shipped.display_name,
            is_public=True,
            **fields,
        )

    builtins = [
        build(each, Kind.BUILTIN, {"operation": each.name}, read_only=True, idempotent=True, tags=("builtin",))
        for each in BUILTINS
    ]
    return builtins + [
        build(
            each,
            Kind.INTERNAL,
            {"handler": each.name},
            result_style="envelope",
            read_only=each.read_only,
            idempotent=each.idempotent,
            max_result_bytes=each.max_result_bytes,
            tags=("baseline",),
        )
        for each in BASELINE_TOOLS
    ]
