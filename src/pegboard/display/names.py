"""Display text for calls: the tool's name in words, and its arguments shortened and with secrets masked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

from pegboard.display.readable import escape_invisible, to_display_text, to_one_line, to_readable, truncate_text

NO_ARGUMENTS = "(no arguments)"
_MAX_SUMMARY_CHARS = 200

_DISPLAY_NAMES = {
    "queryHandbook": "Query Handbook",
    "getTeamDirectory": "Team Directory",
    "createProjectTicket": "Create Ticket",
}
# Ends a word of a name: before a capital that starts another word, and at characters other than letters and digits.
_WORD_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+")


def get_tool_display_name(call: Any) -> str:
    """Return a tool's name in words, from a normalised call, a call in memory form, a tool, or the name itself.

    A `display_name` takes precedence.
    """
    own = _get_text_field(call, "display_name")
    name = _get_text_field(call, "tool_name") or _get_text_field(call, "toolName") or _get_text_field(call, "name")
    if own or not name:
        return own or "Unknown"
    words = _WORD_BOUNDARY.split(name)
    return _DISPLAY_NAMES.get(name) or " ".join(word[:1].upper() + word[1:] for word in words if word) or name


def format_tool_args(args: Mapping[str, Any] | None) -> str:
    """Return the arguments as indented JSON, with long strings cut, secrets masked and SQL on one line.

    A string that contains JSON is shown as that JSON. Without arguments, return "(no arguments)".
    """
    if not args:
        return NO_ARGUMENTS
    return escape_invisible(
        orjson.dumps(to_readable(args), option=orjson.OPT_INDENT_2, default=to_display_text).decode()
    )


def summarize_call(display_name: str, arguments: Mapping[str, Any] | None) -> str:
    """Return a call on one line: the tool's display name and the arguments."""
    if not arguments or not isinstance(arguments, Mapping):
        return truncate_text(to_one_line(display_name), _MAX_SUMMARY_CHARS)
    parts = [f"{key}: {_value_to_text(value)}" for key, value in to_readable(arguments).items()]
    return truncate_text(to_one_line(f"{display_name} ({', '.join(parts)})"), _MAX_SUMMARY_CHARS)


def _get_text_field(call: Any, name: str) -> str:
    if isinstance(call, str):
        return call if name == "name" else ""
    value = call.get(name) if isinstance(call, Mapping) else getattr(call, name, None)
    return value if isinstance(value, str) else ""


def _value_to_text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value, default=to_display_text).decode()
