"""Messages of a conversation, written for people."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from textwrap import indent
from typing import Any

from pegboard.display.format import summarize_output
from pegboard.display.names import get_tool_display_name, summarize_call
from pegboard.surfaces.cli.output import colour_text, escape_control_characters, format_local_time

_INDENT = "  "


def format_message(message: Mapping[str, Any]) -> str:
    """Format a message as text: role, time, content, and each call with its result."""
    lines = [f"{colour_text(message['role'], 'green', sys.stdout)}  {format_local_time(message['timestamp'])}"]
    if message["content"]:
        lines.append(indent(escape_control_characters(message["content"]), _INDENT))
    for call in message["tool_calls"]:
        name = get_tool_display_name(call.get("name") or "unknown")
        lines.append(_INDENT + escape_control_characters(f"→ {summarize_call(name, call.get('arguments'))}"))
        lines.append(_INDENT * 2 + _format_outcome(call))
    return "\n".join(lines)


def _format_outcome(call: Mapping[str, Any]) -> str:
    if call.get("error") is not None:
        code = f" ({call['code']})" if call.get("code") else ""
        shown = colour_text(f"✗ {call['error']}{code}", "red", sys.stdout)
    elif "result" in call:
        shown = escape_control_characters(f"✓ {summarize_output(call['result'])}")
    else:
        shown = colour_text("? no result is known", "yellow", sys.stdout)
    notes = [f"{call['duration_ms']:,.1f} ms"] if call.get("duration_ms") is not None else []
    if (attempts := call.get("attempts") or 1) > 1:
        notes.append(f"{attempts} attempts")
    if call.get("result_valid") is False:
        notes.append("does not match its output_schema")
    return f"{shown}  {colour_text(', '.join(notes), 'dim', sys.stdout)}" if notes else shown
