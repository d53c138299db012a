"""How a call reads to people: its tool's name in words, its arguments cut to size and without secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

from pegboard.core.tool import MASK

NO_ARGUMENTS = "(no arguments)"
LONGEST = 50
_MOST_ITEMS = 20
_DEEPEST = 6
_SUMMARY = 200

_DISPLAY_NAMES = {
    "queryHandbook": "Query Handbook",
    "getTeamDirectory": "Team Directory",
    "createProjectTicket": "Create Ticket",
}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
# Names under which credentials are handed over. A few that merely count tokens are none.
_SECRET = re.compile(
    r"(?:^|[_\-.])(?:password|passwd|pwd|passphrase|secret|token|api_?key|apikey|access_?key|private_?key|auth|"
    r"authorization|bearer|cookie|credentials?|session_?id|signature|pin|otp|cvv)s?(?:$|[_\-.])"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SQL = re.compile(r"\s*(?:select|insert|update|delete|with|create|alter|drop|merge)\s", re.IGNORECASE)


def get_tool_display_name(call: Any) -> str:
    """A tool's name in words, from a normalised call, or from the name itself."""
    name = call if isinstance(call, str) else getattr(call, "tool_name", "")
    known = _DISPLAY_NAMES.get(name)
    if known is not None:
        return known
    words = _WORD.findall(name)
    return " ".join(word[:1].upper() + word[1:] for word in words) or name


def format_tool_args(args: Mapping[str, Any] | None) -> str:
    """The arguments as indented JSON: long strings cut, secrets masked, SQL in one line, and plainly none if none."""
    if not args:
        return NO_ARGUMENTS
    return orjson.dumps(_readable(args, 0), option=orjson.OPT_INDENT_2, default=str).decode()


def summary_of(display_name: str, arguments: Mapping[str, Any] | None) -> str:
    """A call in one line: what is used, and with what."""
    if not arguments:
        return display_name
    parts = [f"{key}: {_short(value)}" for key, value in _readable(arguments, 0).items()]
    return _cut(f"{display_name} ({', '.join(parts)})", _SUMMARY)


def _readable(value: Any, depth: int, name: str = "") -> Any:
    if name and _SECRET.search(_CAMEL.sub("_", name).lower()) and value not in (None, "", True, False):
        return MASK
    if isinstance(value, str):
        return _cut(_text(value), LONGEST)
    if isinstance(value, Mapping | list | tuple):
        return _container(value, depth, name)
    return str(value) if isinstance(value, int) and not -(2**63) <= value < 2**64 else value


def _container(value: Any, depth: int, name: str) -> Any:
    if isinstance(value, Mapping):
        if depth >= _DEEPEST:
            return "{…}"
        return {_cut(_text(str(key)), LONGEST): _readable(item, depth + 1, str(key)) for key, item in value.items()}
    if depth >= _DEEPEST:
        return "[…]"
    shown = [_readable(item, depth + 1, name) for item in value[:_MOST_ITEMS]]
    return shown + ([f"… {len(value) - _MOST_ITEMS} more"] if len(value) > _MOST_ITEMS else [])


def _text(text: str) -> str:
    """A text that can be shown: no half characters, and SQL without its line breaks."""
    text = text[:10_000].encode("utf-8", "replace").decode()
    return " ".join(text.split()) if _SQL.match(text) else text


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}..."


def _short(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value, default=str).decode()
