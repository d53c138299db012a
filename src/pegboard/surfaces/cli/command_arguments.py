"""Arguments on the command line: key=value, converted by the tool's schema; key:=json, sent as it is; and times."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from pegboard.json_schema.schema_document import SchemaDocument
from pegboard.surfaces.cli.exit_codes import UsageError

_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
_INTEGER = re.compile(r"-?(0|[1-9]\d*)")
# The keywords whose schemas apply to the same value.
_BRANCH_KEYWORDS = ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf")


class ArgumentPair(NamedTuple):
    """One argument: its name, its text, and whether the text is JSON."""

    key: str
    text: str
    is_json: bool


@dataclass(frozen=True, slots=True)
class CommandLineArguments:
    """The arguments of a call from the command line."""

    pairs: tuple[ArgumentPair, ...] = ()

    @property
    def body(self) -> bytes:
        """The JSON object with each key=value as a string; raises UsageError if a key is repeated."""
        return self.encode_for_schema({})

    @property
    def has_texts(self) -> bool:
        """True if a schema could change the types of the values."""
        return any(not pair.is_json for pair in self.pairs)

    def encode_for_schema(self, schema: Mapping[str, Any]) -> bytes:
        """Return the JSON object, each key=value converted to the type that the schema declares for it.

        A text that does not match its type is sent as a string, so that the board's error names the expected type.
        Values are inserted as text, so that no digit of a number is lost.
        """
        members: dict[str, str] = {}
        document = SchemaDocument(schema)
        properties = schema.get("properties")
        for key in dict.fromkeys(pair.key for pair in self.pairs):
            given = [pair for pair in self.pairs if pair.key == key]
            declared = properties.get(key) if isinstance(properties, dict) else None
            members[key] = _encode_member(given, _DeclaredTypes(declared, document))
        return ("{" + ",".join(f"{json.dumps(key)}:{text}" for key, text in members.items()) + "}").encode()


def read_pairs(words: Sequence[str]) -> CommandLineArguments:
    """Parse words of the form key=value or key:=json; raise UsageError for any other word."""
    pairs = []
    for place, word in enumerate(words):
        key, equals, text = word.partition("=")
        is_json = key.endswith(":")
        key = key.removesuffix(":")
        if word.startswith("-") and not is_json:
            name = key.lstrip("-")
            value = text if equals else (words[place + 1] if place + 1 < len(words) else "VALUE")
            raise UsageError(f"No such option: {key}", [f"Arguments are written {name}={value}"] if name else [])
        if not equals and key:
            raise UsageError(f"'{key}' has no value. Write {key}=TEXT, or {key}:=JSON.")
        if not key:
            raise UsageError(f"'{word}' has no name. Write NAME=TEXT, or NAME:=JSON.")
        if is_json and not _is_json_text(text):
            raise UsageError(f"{key}:={text} is not JSON", [f"A text is written {key}={text}"])
        pairs.append(ArgumentPair(key, text, is_json))
    return CommandLineArguments(tuple(pairs))


class _DeclaredTypes:
    """The types that a schema declares for one value, and the schema of an array's items."""

    def __init__(self, node: Any, document: SchemaDocument) -> None:
        self._document = document
        self._nodes = self._list_branches(node)
        self.types = {name for one in self._nodes for name in _list_types(one)}

    @property
    def items(self) -> _DeclaredTypes:
        """The schema of an array's items."""
        found = [one["items"] for one in self._nodes if isinstance(one.get("items"), dict)]
        return _DeclaredTypes(found[0] if found else None, self._document)

    def _list_branches(self, node: Any) -> list[Mapping[str, Any]]:
        """Return the schema, the targets of its references, and its alternatives, each of them once."""
        found: dict[int, Mapping[str, Any]] = {}
        todo = [node]
        while todo:
            one = todo.pop(0)
            if isinstance(one, Mapping) and id(one) not in found:
                found[id(one)] = one
                below = [child for path, child in self._document.iterate_in_place(one) if path[0] in _BRANCH_KEYWORDS]
                todo = [*below, *todo]
        return list(found.values())


def _list_types(node: Mapping[str, Any]) -> set[str]:
    declared = node.get("type")
    if isinstance(declared, str):
        return {declared}
    if isinstance(declared, list):
        return {name for name in declared if isinstance(name, str)}
    values = node["enum"] if isinstance(node.get("enum"), list) else [node["const"]] if "const" in node else []
    return {_TYPE_NAMES[type(value)] for value in values if type(value) in _TYPE_NAMES}


_TYPE_NAMES: dict[type, str] = {
    str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object", type(None): "null",
}  # fmt: skip


def _encode_member(given: Sequence[ArgumentPair], declared: _DeclaredTypes) -> str:
    """Return the JSON text of one member; a repeated key becomes an array."""
    is_array = "array" in declared.types
    if len(given) == 1:
        only = given[0]
        if only.is_json or not is_array or "string" in declared.types or only.text.lstrip().startswith("["):
            return only.text if only.is_json else _convert_text(only.text, declared)
    elif not is_array:
        raise UsageError(f"'{given[0].key}' is given more than once, but is not an array")
    items = declared.items
    return "[" + ",".join(pair.text if pair.is_json else _convert_text(pair.text, items) for pair in given) + "]"


def _convert_text(text: str, declared: _DeclaredTypes) -> str:
    """Return the text as JSON of the declared type, or as a string if a string is allowed or no type matches."""
    types = declared.types
    fits = (
        ("integer" in types and _INTEGER.fullmatch(text))
        or ("number" in types and _NUMBER.fullmatch(text))
        or ("boolean" in types and text in ("true", "false"))
        or ("null" in types and text == "null")
        or ("array" in types and text.lstrip().startswith("[") and _is_json_text(text))
        or ("object" in types and text.lstrip().startswith("{") and _is_json_text(text))
    )
    return text if fits and "string" not in types else json.dumps(text)


def _is_json_text(text: str) -> bool:
    try:
        text.encode()
        json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_DURATION_PATTERN = re.compile(r"(\d{1,9})([smhdw])", re.ASCII)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_past_time(text: str | None, option: str) -> str | None:
    """Return the timestamp, or now minus the duration, in the format of the API."""
    return _parse_time(text, option, -1)


def parse_future_time(text: str | None, option: str) -> str | None:
    """Return the timestamp, or now plus the duration, in the format of the API."""
    return _parse_time(text, option, 1)


def _parse_time(text: str | None, option: str, direction: int) -> str | None:
    if text is None:
        return None
    span = _DURATION_PATTERN.fullmatch(text.strip())
    try:
        if span:
            moment = datetime.now(UTC) + direction * timedelta(**{_UNITS[span[2]]: int(span[1])})
        else:
            # A timestamp without a time zone is local time.
            moment = datetime.fromisoformat(text.strip()).astimezone(UTC)
    except (ValueError, OverflowError):
        raise UsageError(
            f"{option}: '{text}' is neither a time like 2026-01-31T12:00 nor a duration like 30m, 1h or 2d"
        ) from None
    return moment.isoformat()
