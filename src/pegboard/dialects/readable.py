"""What is shown of any value: cut to size, without secrets, and without what a terminal would obey."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from pegboard.core.errors import MalformedArguments
from pegboard.core.tool import MASK
from pegboard.dialects.reading import json_of
from pegboard.registry.shown import is_secret

LONGEST = 50
_MOST_ITEMS = 20
_MOST_KEYS = 50
_MOST_VALUES = 500
_DEEPEST = 6
_LONGEST_JSON = 100_000
_LONGEST_TEXT = 10_000
_LONGEST_NUMBER = 150

# Names under which credentials are handed over, beside those that every message hides.
_SECRET = re.compile(
    r"(?:^|[_\-. ])(?:pwd?|pass|tokens?|auth|bearer|jwt|creds|cookies?|session_?id|signature|pin|otp|cvv"
    r"|(?:private|ssh|signing|encryption|account|master|shared)[_-]?key)(?:$|[_\-. ])"
)
# Credentials within a text: those of an address, what proves a request, and the makes that go by their beginning.
_WITHIN = re.compile(
    r"(?<=://)[^/\s@]+(?=@)|(?<=\bBearer )[\w.~+/=-]{8,}|\b(?:sk|pk|rk)[-_][\w-]{12,}|\bgh[a-z]_\w{12,}"
    r"|\bgithub_pat_\w{12,}|\bxox[a-z]-[\w-]{10,}|\bAKIA[0-9A-Z]{16}\b|\b(?-i:eyJ)[\w-]{10,}+(?:\.[\w-]+){0,2}",
    re.IGNORECASE,
)
# The same of an address that is cut off before it says that they are some.
_UNENDED = re.compile(r"(?<=://)[^/\s@]+\Z")
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

# What steers a terminal or turns the direction of a text, or is not to be seen at all; joiners within words stay.
_UNSEEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)


class _Bounds(NamedTuple):
    """How long a text may be, and how much more is shown: each value counts, and each 50 characters."""

    longest: int
    left: Iterator[int]

    def text(self, text: str) -> str:
        """The text as it is shown."""
        shown = _text(text, self.longest)
        for _ in islice(self.left, len(shown) // LONGEST):
            pass
        return shown


class Written(str):
    """A text that is already as people shall read it."""

    __slots__ = ()


class Figure(Written):
    """A number, so written."""

    __slots__ = ()


def readable(value: Any, name: str = "", longest: int = LONGEST) -> Any:
    """The value as JSON that can be shown: long texts and lists cut, secrets masked, and JSON within texts read."""
    return _readable(value, name, _Bounds(longest, iter(range(_MOST_VALUES))))


def _readable(value: Any, name: str, bounds: _Bounds, depth: int = 0) -> Any:
    if name and hides(name, value):
        return MASK
    if isinstance(value, Written):
        return value
    if isinstance(value, str):
        held = _held(value) if depth < _DEEPEST else None
        return bounds.text(value) if held is None else _container(held, name, bounds, depth)
    if isinstance(value, Mapping | list | tuple):
        return _container(value, name, bounds, depth)
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return str(value) if value.bit_length() < _LONGEST_NUMBER else f"(a number of {value.bit_length():,} bits)"
    return value if value is None or isinstance(value, bool | int | float) else bounds.text(named(value))


def hides(name: str, value: Any) -> bool:
    """Whether a value of that name is to be masked."""
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


def _container(value: Any, name: str, bounds: _Bounds, depth: int) -> Any:
    if isinstance(value, Mapping):
        return "{…}" if depth >= _DEEPEST else _object(value, bounds, depth)
    if depth >= _DEEPEST:
        return "[…]"
    items = zip(named_items(value[:_MOST_ITEMS], name), bounds.left, strict=False)
    shown = [_readable(item, under, bounds, depth + 1) for (under, item), _ in items]
    return shown + ([f"… {len(value) - len(shown)} more"] if len(value) > len(shown) else [])


def named_items(values: Sequence[Any], name: str = "") -> Iterator[tuple[str, Any]]:
    """The items with the name that each goes by: the flag before it, or the list's own."""
    flag = ""
    for item in values:
        yield flag or name, item
        flag = item if isinstance(item, str) and _FLAG.fullmatch(item) else ""


def has_secret_value(value: Mapping[Any, Any]) -> bool:
    """Whether it is like {"name": "Authorization", "value": …}, which says elsewhere what its value is."""
    return any(isinstance(label := value.get(word), str) and hides(label, label) for word in _LABELS)


def _object(value: Mapping[Any, Any], bounds: _Bounds, depth: int) -> dict[str, Any]:
    labelled = has_secret_value(value)
    shown, count = {}, 0
    for (key, item), _ in zip(islice(value.items(), _MOST_KEYS), bounds.left, strict=False):
        hidden = labelled and key == "value"
        shown[_text(str(key), LONGEST)] = MASK if hidden else _readable(item, str(key), bounds, depth + 1)
        count += 1
    return shown if len(value) <= count else {**shown, "…": f"{len(value) - count} more"}


def named(value: Any) -> str:
    """Something that is no JSON, in its own words, if it has any."""
    try:
        return str(value)
    except Exception:
        return f"({type(value).__name__})"


def _text(text: str, longest: int) -> str:
    text = masked(text, 4 * longest + 100)
    return cut(" ".join(text.split()) if _SQL.match(text) else text, longest)


def masked(text: str, longest: int = _LONGEST_TEXT) -> str:
    """The beginning of a text without half characters and without credentials."""
    if len(text) > longest:
        text = _UNENDED.sub(MASK, text[:longest])
    text = text.encode("utf-8", "replace").decode()
    return _SAID.sub(lambda said: f"{said[1]}{said[2] or ''}{MASK}", _WITHIN.sub(MASK, text))


def visible(text: str) -> str:
    """The text with a sign in place of each character that would not be seen but obeyed; line breaks stay."""
    return text if text.isascii() and text.isprintable() else _UNSEEN.sub(_sign, text)


def in_one_line(text: str) -> str:
    """The text without line breaks or wide gaps, and without what would not be seen."""
    return visible(" ".join(text.split()))


def cut(text: str, longest: int) -> str:
    """The text, or its beginning and dots."""
    return text if len(text) <= longest else f"{text[:longest]}..."


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code == 9:
        return "    "
    if code < 32:
        return chr(0x2400 + code)
    return f"‹U+{code:04X}›"
