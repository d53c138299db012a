"""Pegboard: the place where every tool that an LLM agent may call hangs."""

from pegboard.board import Pegboard
from pegboard.core.call import CallContext, Caller, ToolCall, ToolResult
from pegboard.core.definitions import ToolCreate
from pegboard.core.errors import ExecutionFailed, Problem, ToolError
from pegboard.core.refusals import Refusal
from pegboard.core.tool import Tool
from pegboard.settings import Settings

__version__ = "0.1.0"

__all__ = [
    "CallContext",
    "Caller",
    "ExecutionFailed",
    "Pegboard",
    "Problem",
    "Refusal",
    "Settings",
    "Tool",
    "ToolCall",
    "ToolCreate",
    "ToolError",
    "ToolResult",
]
