"""How a call reads to people: its tool's name in words, its arguments cut to size and without secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import Any

import orjson

from pegboard.core.errors import MalformedArguments
from pegboard.core.tool import MASK
from pegboard.dialects.reading import json_of
from pegboard.registry.shown import is_secret

NO_ARGUMENTS = "(no arguments)"
LONGEST = 50
_MOST_ITEMS = 20
_MOST_KEYS = 50
_DEEPEST = 6
_SUMMARY = 200
_LONGEST_JSON = 100_000
_LONGEST_NUMBER = 150

_DISPLAY_NAMES = {
    "queryHandbook": "Query Handbook",
    "getTeamDirectory": "Team Directory",
    "createProjectTicket": "Create Ticket",
}
# Where a word of a name ends: before a capital that begins another, and at what is no letter or digit.
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+")
# Names under which credentials are handed over, beside those that every message hides.
_SECRET = re.compile(
    r"(?:^|[_\-. ])(?:pwd?|pass|tokens?|auth|bearer|jwt|creds|cookies?|session_?id|signature|pin|otp|cvv"
    r"|(?:private|ssh|signing|encryption|account|master|shared)[_-]?key)(?:$|[_\-. ])"
)
# Credentials within a text: those of an address, what proves a request, and the makes that go by their beginning.
_WITHIN = re.compile(
    r"(?<=://)[^/\s@]+(?=@)|(?<=\bBearer )[\w.~+/=-]{8,}|\b(?:sk|pk|rk)[-_][\w-]{12,}|\bgh[a-z]_\w{12,}"
    r"|\bgithub_pat_\w{12,}|\bxox[a-z]-[\w-]{10,}|\bAKIA[0-9A-Z]{16}\b|\beyJ[\w-]{10,}\.[\w-]+(?:\.[\w-]*)?",
    re.IGNORECASE,
)
# What is said to be one: `password=…`, `"apiKey": "…"`, `Authorization: Basic …`, `--token …`.
_SAID = re.compile(
    r"((?:passw(?:or)?d|passphrase|pwd|secret|token|credential|cookie|authorization"
    r"|(?:api|access|account|private)[_\- ]?key)(?:s|key|[_-][\w-]{1,20})?+\\{0,4}[\"']?\s*+[:=]\s*+\\{0,4}[\"']?"
    r"|--(?:password|token|secret|api-key)\s++)((?:basic|bearer)\s++)?[^\s\"'\\&;,})\]]+",
    re.IGNORECASE,
)
# A flag that the next item of a list is the value of.
_FLAG = re.compile(r"--?[A-Za-z][\w-]*")
_LABELS = ("name", "key", "header")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SQL = re.compile(r"\s*(?:select|insert|update|delete|with|create|alter|drop|merge)\s", re.IGNORECASE)


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
    return orjson.dumps(_readable(args, 0), option=orjson.OPT_INDENT_2, default=_named).decode()


def summary_of(display_name: str, arguments: Mapping[str, Any] | None) -> str:
    """A call in one line: what is used, and with what."""
    if not arguments or not isinstance(arguments, Mapping):
        return _cut(display_name, _SUMMARY)
    parts = [f"{key}: {_short(value)}" for key, value in _readable(arguments, 0).items()]
    return _cut(f"{display_name} ({', '.join(parts)})", _SUMMARY)


def _field(call: Any, name: str) -> str:
    if isinstance(call, str):
        return call if name == "name" else ""
    value = call.get(name) if isinstance(call, Mapping) else getattr(call, name, None)
    return value if isinstance(value, str) else ""


def _readable(value: Any, depth: int, name: str = "") -> Any:
    if name and _hides(name, value):
        return MASK
    if isinstance(value, str):
        held = _held(value) if depth < _DEEPEST else None
        return _cut(_text(value), LONGEST) if held is None else _container(held, depth, name)
    if isinstance(value, Mapping | list | tuple):
        return _container(value, depth, name)
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return str(value) if value.bit_length() < _LONGEST_NUMBER else f"(a number of {value.bit_length():,} bits)"
    return value if value is None or isinstance(value, bool | int | float) else _cut(_text(_named(value)), LONGEST)


def _hides(name: str, value: Any) -> bool:
    if value is None or value == "" or isinstance(value, bool):
        return False
    words = _CAMEL.sub("_", name).lower()
    # How many tokens a model may use is a number, and no secret.
    is_count = isinstance(value, int | float) and words.endswith("tokens")
    return not is_count and (is_secret(words) or _SECRET.search(words) is not None)


def _held(text: str) -> Any:
    """The object or list that a text holds as JSON, or None."""
    if len(text) > _LONGEST_JSON or text[:100].lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json_of(text)
    except MalformedArguments:
        return None


def _container(value: Any, depth: int, name: str) -> Any:
    if isinstance(value, Mapping):
        if depth >= _DEEPEST:
            return "{…}"
        return _object(value, depth)
    if depth >= _DEEPEST:
        return "[…]"
    shown, flag = [], ""
    for item in value[:_MOST_ITEMS]:
        shown.append(_readable(item, depth + 1, flag or name))
        flag = item if isinstance(item, str) and _FLAG.fullmatch(item) else ""
    return shown + ([f"… {len(value) - _MOST_ITEMS} more"] if len(value) > _MOST_ITEMS else [])


def _object(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    # {"name": "Authorization", "value": …} says elsewhere what its value is.
    labelled = any(isinstance(label := value.get(word), str) and _hides(label, label) for word in _LABELS)
    shown = {
        _cut(_text(str(key)), LONGEST): MASK if labelled and key == "value" else _readable(item, depth + 1, str(key))
        for key, item in islice(value.items(), _MOST_KEYS)
    }
    return shown if len(value) <= _MOST_KEYS else {**shown, "…": f"{len(value) - _MOST_KEYS} more"}


def _named(value: Any) -> str:
    """Something that is no JSON, in its own words, if it has any."""
    try:
        return str(value)
    except Exception:
        return f"({type(value).__name__})"


def _text(text: str) -> str:
    """A text that can be shown: no half characters, no credentials, and SQL without its line breaks."""
    text = text[:10_000].encode("utf-8", "replace").decode()
    text = _SAID.sub(lambda said: f"{said[1]}{said[2] or ''}{MASK}", _WITHIN.sub(MASK, text))
    return " ".join(text.split()) if _SQL.match(text) else text


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}..."


def _short(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value, default=_named).decode()
