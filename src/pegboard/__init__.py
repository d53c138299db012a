"""Pegboard: a server and library for every tool that an LLM agent may call."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pegboard.version import __version__ as __version__

if TYPE_CHECKING:
    from pegboard.board import Pegboard
    from pegboard.dialects.normalize import (
        NormalizedToolCall,
        map_tool_calls_for_memory,
        normalize_tool_call,
        normalize_tool_calls,
    )
    from pegboard.display.names import format_tool_args, get_tool_display_name
    from pegboard.model.api_errors import Refusal
    from pegboard.model.baseline_finding import composite_hash
    from pegboard.model.call import CallContext, Caller, ToolCall, ToolResult
    from pegboard.model.call_errors import ExecutionFailed, Problem, ToolError
    from pegboard.model.tool import Tool
    from pegboard.registry.tool_create import ToolCreate
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

_MODULE_BY_NAME = {
    "CallContext": "model.call",
    "Caller": "model.call",
    "ExecutionFailed": "model.call_errors",
    "NormalizedToolCall": "dialects.normalize",
    "Pegboard": "board",
    "Problem": "model.call_errors",
    "Refusal": "model.api_errors",
    "Settings": "settings",
    "Tool": "model.tool",
    "ToolCall": "model.call",
    "ToolCreate": "registry.tool_create",
    "ToolError": "model.call_errors",
    "ToolResult": "model.call",
    "composite_hash": "model.baseline_finding",
    "create_app": "surfaces.rest.app",
    "format_tool_args": "display.names",
    "get_tool_display_name": "display.names",
    "map_tool_calls_for_memory": "dialects.normalize",
    "normalize_tool_call": "dialects.normalize",
    "normalize_tool_calls": "dialects.normalize",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first access, so that the command line starts without importing the board."""
    if name not in _MODULE_BY_NAME:
        raise AttributeError(f"module 'pegboard' has no attribute '{name}'")
    return getattr(import_module(f"pegboard.{_MODULE_BY_NAME[name]}"), name)
