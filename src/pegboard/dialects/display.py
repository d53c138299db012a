"""How a call reads to people: its tool's name in words, its arguments cut to size and without secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

from pegboard.dialects.readable import cut, in_one_line, named, readable, visible

NO_ARGUMENTS = "(no arguments)"
_SUMMARY = 200

_DISPLAY_NAMES = {
    "queryHandbook": "Query Handbook",
    "getTeamDirectory": "Team Directory",
    "createProjectTicket": "Create Ticket",
}
# Where a word of a name ends: before a capital that begins another, and at what is no letter or digit.
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+")


def get_tool_display_name(call: Any) -> str:
    """A tool's name in words, from a normalised call, one as memory keeps it, a tool, or the name itself.

    What has a display name of its own goes by that.
    """
    own = _field(call, "display_name")
    name = _field(call, "tool_name") or _field(call, "toolName") or _field(call, "name")
    if own or not name:
        return own or "Unknown"
    words = _WORDS.split(name)
    return _DISPLAY_NAMES.get(name) or " ".join(word[:1].upper() + word[1:] for word in words if word) or name


def format_tool_args(args: Mapping[str, Any] | None) -> str:
    """The arguments as indented JSON: long strings cut, secrets masked, SQL in one line; and plainly none if none.

    A string that holds JSON is shown as the JSON it holds.
    """
    if not args:
        return NO_ARGUMENTS
    return visible(orjson.dumps(readable(args), option=orjson.OPT_INDENT_2, default=named).decode())


def summary_of(display_name: str, arguments: Mapping[str, Any] | None) -> str:
    """A call in one line: what is used, and with what."""
    if not arguments or not isinstance(arguments, Mapping):
        return cut(in_one_line(display_name), _SUMMARY)
    parts = [f"{key}: {_short(value)}" for key, value in readable(arguments).items()]
    return cut(in_one_line(f"{display_name} ({', '.join(parts)})"), _SUMMARY)


def _field(call: Any, name: str) -> str:
    if isinstance(call, str):
        return call if name == "name" else ""
    value = call.get(name) if isinstance(call, Mapping) else getattr(call, name, None)
    return value if isinstance(value, str) else ""


def _short(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value, default=named).decode()
