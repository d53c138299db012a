"""Pegboard: the place where every tool that an LLM agent may call hangs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pegboard.core.version import __version__ as __version__

if TYPE_CHECKING:
    from pegboard.board import Pegboard
    from pegboard.core.call import CallContext, Caller, ToolCall, ToolResult
    from pegboard.core.definitions import ToolCreate
    from pegboard.core.errors import ExecutionFailed, Problem, ToolError
    from pegboard.core.findings import composite_hash
    from pegboard.core.refusals import Refusal
    from pegboard.core.tool import Tool
    from pegboard.dialects.display import format_tool_args, get_tool_display_name
    from pegboard.dialects.lenient import (
        NormalizedToolCall,
        map_tool_calls_for_memory,
        normalize_tool_call,
        normalize_tool_calls,
    )
    from pegboard.settings import Settings
    from pegboard.surfaces.rest.app import create_app

__all__ = [
    "CallContext",
    "Caller",
    "ExecutionFailed",
    "NormalizedToolCall",
    "Pegboard",
    "Problem",
    "Refusal",
    "Settings",
    "Tool",
    "ToolCall",
    "ToolCreate",
    "ToolError",
    "ToolResult",
    "composite_hash",
    "create_app",
    "format_tool_args",
    "get_tool_display_name",
    "map_tool_calls_for_memory",
    "normalize_tool_call",
    "normalize_tool_calls",
]

_HOME = {
    "CallContext": "core.call",
    "Caller": "core.call",
    "ExecutionFailed": "core.errors",
    "NormalizedToolCall": "dialects.lenient",
    "Pegboard": "board",
    "Problem": "core.errors",
    "Refusal": "core.refusals",
    "Settings": "settings",
    "Tool": "core.tool",
    "ToolCall": "core.call",
    "ToolCreate": "core.definitions",
    "ToolError": "core.errors",
    "ToolResult": "core.call",
    "composite_hash": "core.findings",
    "create_app": "surfaces.rest.app",
    "format_tool_args": "dialects.display",
    "get_tool_display_name": "dialects.display",
    "map_tool_calls_for_memory": "dialects.lenient",
    "normalize_tool_call": "dialects.lenient",
    "normalize_tool_calls": "dialects.lenient",
}


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first asked for, so that the command line starts without the board."""
    if name not in _HOME:
        raise AttributeError(f"module 'pegboard' has no attribute '{name}'")
    return getattr(import_module(f"pegboard.{_HOME[name]}"), name)
