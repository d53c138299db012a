"""Shorten any value for display, mask secrets in it, and escape terminal control characters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from pegboard.json_schema.arguments_text import parse_json_text
from pegboard.model.call_errors import MalformedArguments
from pegboard.model.secrets import MASK, is_secret_name, mask_labelled_secrets

DEFAULT_MAX_CHARS = 50
_MAX_ITEMS = 20
_MAX_KEYS = 50
_MAX_VALUES = 500
_MAX_DEPTH = 6
_MAX_JSON_CHARS = 100_000
_MAX_MASKED_CHARS = 10_000
_MAX_NUMBER_BITS = 150

# Credentials within a text: user info of a URL, bearer tokens, and API keys that are recognised by their prefix.
_CREDENTIAL_IN_TEXT = re.compile(
    r"(?<=://)[^/\s@]+(?=@)|(?<=\bBearer )[\w.~+/=-]{8,}|\b(?:sk|pk|rk)[-_][\w-]{12,}|\bgh[a-z]_\w{12,}"
    r"|\bgithub_pat_\w{12,}|\bxox[a-z]-[\w-]{10,}|\bAKIA[0-9A-Z]{16}\b|\b(?-i:eyJ)[\w-]{10,}+(?:\.[\w-]+){0,2}",
    re.IGNORECASE,
)
# User info of a URL that was cut off before the `@`.
_TRUNCATED_URL_CREDENTIAL = re.compile(r"(?<=://)[^/\s@]+\Z")
# A command line flag, whose value is the next item of a list.
_COMMAND_FLAG = re.compile(r"--?[A-Za-z][\w-]*")
_LABEL_KEYS = ("name", "key", "header")
_SQL_START = re.compile(r"\s*(?:select|insert|update|delete|with|create|alter|drop|merge)\s", re.IGNORECASE)

# Control characters, characters that change the text direction, and invisible ones; joiners within words stay.
_INVISIBLE_CHARACTERS = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)


class _DisplayBudget(NamedTuple):
    """The longest text, and the remaining budget: each value costs one, and each 50 characters of text one more."""

    longest: int
    left: Iterator[int]

    def text(self, text: str) -> str:
        """Return the shortened text, and charge its length to the budget."""
        shown = _shorten_text(text, self.longest)
        for _ in islice(self.left, len(shown) // DEFAULT_MAX_CHARS):
            pass
        return shown


class FormattedText(str):
    """A text that is already formatted for display."""

    __slots__ = ()


class FormattedNumber(FormattedText):
    """A formatted number, which tables align to the right."""

    __slots__ = ()


def to_readable(value: Any, name: str = "", longest: int = DEFAULT_MAX_CHARS) -> Any:
    """Return the value as JSON for display: long texts and lists cut, secrets masked, JSON within texts parsed."""
    return _to_readable_value(value, name, _DisplayBudget(longest, iter(range(_MAX_VALUES))))


def _to_readable_value(value: Any, name: str, bounds: _DisplayBudget, depth: int = 0) -> Any:
    if name and is_secret_field(name, value):
        return MASK
    if isinstance(value, FormattedText):
        return value
    if isinstance(value, str):
        held = _parse_embedded_json(value) if depth < _MAX_DEPTH else None
        return bounds.text(value) if held is None else _shorten_container(held, name, bounds, depth)
    if isinstance(value, Mapping | list | tuple):
        return _shorten_container(value, name, bounds, depth)
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return str(value) if value.bit_length() < _MAX_NUMBER_BITS else f"(a number of {value.bit_length():,} bits)"
    return value if value is None or isinstance(value, bool | int | float) else bounds.text(to_display_text(value))


def is_secret_field(name: str, value: Any) -> bool:
    """Return True if a value with this field name is to be masked."""
    if value is None or value == "" or isinstance(value, bool):
        return False
    if isinstance(value, int | float) and name.lower().endswith("tokens"):
        return False  # a number of tokens
    return is_secret_name(name)


def _parse_embedded_json(text: str) -> Any:
    """Return the object or list that a text contains as JSON, or None."""
    if len(text) > _MAX_JSON_CHARS or text[:100].lstrip()[:1] not in ("{", "["):
        return None
    try:
        return parse_json_text(text)
    except MalformedArguments:
        return None


def _shorten_container(value: Any, name: str, bounds: _DisplayBudget, depth: int) -> Any:
    if isinstance(value, Mapping):
        return "{…}" if depth >= _MAX_DEPTH else _shorten_object(value, bounds, depth)
    if depth >= _MAX_DEPTH:
        return "[…]"
    items = zip(iter_named_items(value[:_MAX_ITEMS], name), bounds.left, strict=False)
    shown = [_to_readable_value(item, under, bounds, depth + 1) for (under, item), _ in items]
    return shown + ([f"… {len(value) - len(shown)} more"] if len(value) > len(shown) else [])


def iter_named_items(values: Sequence[Any], name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the items with their names: the command line flag before the item, or the name of the list."""
    flag = ""
    for item in values:
        yield flag or name, item
        flag = item if isinstance(item, str) and _COMMAND_FLAG.fullmatch(item) else ""


def has_secret_value(value: Mapping[Any, Any]) -> bool:
    """Return True for a pair such as {"name": "Authorization", "value": …}, whose name marks the value as secret."""
    return any(isinstance(label := value.get(word), str) and is_secret_field(label, label) for word in _LABEL_KEYS)


def _shorten_object(value: Mapping[Any, Any], bounds: _DisplayBudget, depth: int) -> dict[str, Any]:
    labelled = has_secret_value(value)
    shown, count = {}, 0
    for (key, item), _ in zip(islice(value.items(), _MAX_KEYS), bounds.left, strict=False):
        hidden = labelled and key == "value"
        shown[_shorten_text(str(key), DEFAULT_MAX_CHARS)] = (
            MASK if hidden else _to_readable_value(item, str(key), bounds, depth + 1)
        )
        count += 1
    return shown if len(value) <= count else {**shown, "…": f"{len(value) - count} more"}


def to_display_text(value: Any) -> str:
    """Return `str(value)` for a value that is not JSON, or the name of its type if that raises."""
    try:
        return str(value)
    except Exception:
        return f"({type(value).__name__})"


def _shorten_text(text: str, longest: int) -> str:
    text = mask_credentials(text, 4 * longest + 100)
    return truncate_text(" ".join(text.split()) if _SQL_START.match(text) else text, longest)


def mask_credentials(text: str, longest: int = _MAX_MASKED_CHARS) -> str:
    """Return the beginning of a text, with credentials masked and lone surrogates replaced."""
    if len(text) > longest:
        text = _TRUNCATED_URL_CREDENTIAL.sub(MASK, text[:longest])
    text = text.encode("utf-8", "replace").decode()
    return mask_labelled_secrets(_CREDENTIAL_IN_TEXT.sub(MASK, text))


def escape_invisible(text: str) -> str:
    """Return the text with invisible and control characters replaced by visible escapes, except line breaks."""
    return text if text.isascii() and text.isprintable() else _INVISIBLE_CHARACTERS.sub(_escape_character, text)


def to_one_line(text: str) -> str:
    """Return the text without line breaks, repeated spaces and invisible characters."""
    return escape_invisible(" ".join(text.split()))


def truncate_text(text: str, longest: int) -> str:
    """Return the text, cut and followed by "..." if it is longer than `longest`."""
    return text if len(text) <= longest else f"{text[:longest]}..."


def _escape_character(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code == 9:
        return "    "
    if code < 32:
        return chr(0x2400 + code)
    return f"‹U+{code:04X}›"
