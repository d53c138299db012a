"""Messages of a conversation, written for people."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from textwrap import indent
from typing import Any

from pegboard.dialects.display import get_tool_display_name, summary_of
from pegboard.dialects.formats import said_of
from pegboard.surfaces.cli.output import moment, painted, plain

_INDENT = "  "


def written(message: Mapping[str, Any]) -> str:
    """Who said it and when, what was said, and each call with what came of it."""
    lines = [f"{painted(message['role'], 'green', sys.stdout)}  {moment(message['timestamp'])}"]
    if message["content"]:
        lines.append(indent(plain(message["content"]), _INDENT))
    for call in message["tool_calls"]:
        lines.append(_INDENT + plain(f"→ {_summary(call)}"))
        lines.append(_INDENT * 2 + _outcome(call))
    return "\n".join(lines)


def _summary(call: Mapping[str, Any]) -> str:
    arguments = call.get("arguments")
    return summary_of(get_tool_display_name(call.get("name") or "unknown"), arguments)


def _outcome(call: Mapping[str, Any]) -> str:
    if call.get("error") is not None:
        code = f" ({call['code']})" if call.get("code") else ""
        shown = painted(f"✗ {call['error']}{code}", "red", sys.stdout)
    elif "result" in call:
        shown = plain(f"✓ {said_of(call['result'])}")
    else:
        shown = painted("? no answer is known", "yellow", sys.stdout)
    notes = [f"{call['duration_ms']:,.1f} ms"] if call.get("duration_ms") is not None else []
    if (attempts := call.get("attempts") or 1) > 1:
        notes.append(f"{attempts} attempts")
    if call.get("result_valid") is False:
        notes.append("not what its output_schema says")
    return f"{shown}  {painted(', '.join(notes), 'dim', sys.stdout)}" if notes else shown
