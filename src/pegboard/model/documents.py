"""Read YAML and JSON from untrusted sources, and write YAML that can be read back.

YAML is read with the rules of the YAML 1.2 core schema, so `on`, `no` and `12:30` are strings, and every key is a
string. What JSON cannot represent is rejected: tags, keys that are not scalars, numbers that are not finite. Duplicate
keys are rejected too, and aliases that refer to themselves or expand beyond a limit.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

MAX_DEPTH = 100
MAX_VALUES = 1_000_000

# The limit for the characters of a document with aliases expanded: this factor times its length, or the minimum.
MAX_EXPANSION_FACTOR = 4
MIN_CHARACTER_LIMIT = 16_000_000

_NULLS = {"", "~", "null", "Null", "NULL"}
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", re.ASCII)
_MERGE_KEY = "<<"
_YAML_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class DocumentError(Exception):
    """The text cannot be read; `line` is the line number from 1, if known."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


@dataclass(slots=True)
class YamlDocuments:
    """The documents of a text, and the lines in which its mappings begin."""

    values: list[Any] = field(default_factory=list)
    lines: dict[int, int] = field(default_factory=dict)

    def line_of(self, value: object) -> int | None:
        """Return the line in which this mapping (by identity) begins, or None if the text was not YAML."""
        return self.lines.get(id(value))


def read_text(raw: bytes) -> str:
    """Return the text decoded as UTF-8; raise DocumentError if it is not valid."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DocumentError("not UTF-8 text", line) from None


def read_json(text: str, number: Callable[[str], Any] | None = None) -> Any:
    """Return the value of a JSON text; raise DocumentError if it is not valid.

    `number` converts numbers with a point or an exponent; by default they become floats.
    """
    try:
        return json.loads(
            text, object_pairs_hook=_build_object, parse_constant=_read_finite, parse_float=number or _read_finite
        )
    except json.JSONDecodeError as error:
        raise DocumentError(f"not JSON: {error.msg}", error.lineno) from None
    except RecursionError:
        raise DocumentError("nested too deeply") from None
    except ValueError as error:
        raise DocumentError(str(error)) from None


def read_yaml(
    text: str, beat: Callable[[], None] | None = None, number: Callable[[str], Any] | None = None
) -> YamlDocuments:
    """Return all documents of a YAML text; raise DocumentError if it is not valid.

    `beat` is called for each value; an exception in it ends the reading. `number` converts numbers with a point or an
    exponent; by default they become floats.
    """
    characters = max(MAX_EXPANSION_FACTOR * len(text), MIN_CHARACTER_LIMIT)
    reader = _YamlReader(yaml.parse(text, Loader=_YAML_LOADER), characters, beat, number or _read_finite)
    try:
        found = YamlDocuments(list(reader.documents()), reader.lines)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise DocumentError(f"not YAML: {error.problem or error.context}", mark.line + 1 if mark else None) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1 if isinstance(error.position, int) else None
        raise DocumentError(f"not YAML: {error.reason}", line) from None
    except yaml.YAMLError as error:
        raise DocumentError(f"not YAML: {error}") from None
    return found


def read_json_or_yaml(text: str, beat: Callable[[], None] | None = None) -> YamlDocuments:
    """Return all documents of a text that is JSON or YAML; only mappings in YAML have lines.

    Raises DocumentError, as for JSON if the text begins like JSON.
    """
    if text.lstrip()[:1] not in ("{", "["):
        return read_yaml(text, beat)
    try:
        return YamlDocuments([read_json(text)])
    except DocumentError as error:
        try:
            return read_yaml(text, beat)  # YAML may begin with a brace too
        except DocumentError:
            raise error from None


def write_yaml(value: Any) -> str:
    """Return the value as YAML that `read_yaml` and YAML 1.1 readers read back as the same value."""
    text: str = yaml.dump(
        value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110, default_flow_style=False
    )
    return text


class _YamlReader:
    """Builds values from the parser's events, and counts values and characters."""

    def __init__(
        self, events: Iterator[Any], characters: int, beat: Callable[[], None] | None, number: Callable[[str], Any]
    ) -> None:
        self.lines: dict[int, int] = {}
        self._events = events
        self._anchors: dict[str, tuple[Any, int, int, int]] = {}
        self._count = 0
        self._characters = 0
        self._max_characters = characters
        self._beat = beat
        self._number = number

    def documents(self) -> Iterator[Any]:
        """Yield the value of each document."""
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                self._anchors = {}
                yield self._value(next(self._events), 0)[0]

    def _value(self, event: Any, depth: int) -> tuple[Any, int]:
        """Return the value that begins with this event, and its number of levels."""
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, depth, line)
        if event.tag is not None:
            raise DocumentError(f"tags such as {event.tag} are not accepted; quote the value if it is a text", line)
        before, characters = self._count, self._characters
        self._count_values(1, len(event.value) if isinstance(event, yaml.ScalarEvent) else 0, depth, line)
        value, height = self._read_untagged(event, depth, line)
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, self._count - before, self._characters - characters, height)
        return value, height

    def _read_untagged(self, event: Any, depth: int, line: int) -> tuple[Any, int]:
        if isinstance(event, yaml.ScalarEvent):
            return (_read_scalar(event.value, line, self._number) if event.implicit[0] else event.value), 0
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(depth)
        return self._mapping(depth, line)

    def _sequence(self, depth: int) -> tuple[list[Any], int]:
        items: list[Any] = []
        height = 0
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            item, levels = self._value(event, depth + 1)
            items.append(item)
            height = max(height, levels)
        return items, height + 1

    def _mapping(self, depth: int, begin: int) -> tuple[dict[str, Any], int]:
        given: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        seen: dict[str, int] = {}
        height = 0
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            line = event.start_mark.line + 1
            if not isinstance(event, yaml.ScalarEvent) or event.tag is not None:
                raise DocumentError("a key must be a plain text", line)
            key = event.value
            if key in seen:
                raise DocumentError(f"the key '{key}' is given twice, first in line {seen[key]}", line)
            seen[key] = line
            self._characters += len(key)
            value, levels = self._value(next(self._events), depth + 1)
            height = max(height, levels)
            if key == _MERGE_KEY and event.implicit[0]:
                merged = _merge_mappings(value, line)
            else:
                given[key] = value
        whole = {**{key: value for key, value in merged.items() if key not in given}, **given}
        self.lines[id(whole)] = begin
        return whole, height + 1

    def _alias(self, event: Any, depth: int, line: int) -> tuple[Any, int]:
        if event.anchor not in self._anchors:
            raise DocumentError(f"the alias *{event.anchor} refers to itself, or to nothing before it", line)
        value, size, characters, height = self._anchors[event.anchor]
        self._count_values(size, characters, depth + height, line)
        return value, height

    def _count_values(self, values: int, characters: int, depth: int, line: int) -> None:
        if self._beat is not None:
            self._beat()
        self._count += values
        self._characters += characters
        if self._characters > self._max_characters:
            raise DocumentError(f"more than {self._max_characters:,} characters, aliases counted in full", line)
        if self._count > MAX_VALUES:
            raise DocumentError(f"more than {MAX_VALUES:,} values, aliases counted in full", line)
        if depth > MAX_DEPTH:
            raise DocumentError(f"nested more than {MAX_DEPTH} levels deep", line)


def _merge_mappings(value: Any, line: int) -> dict[str, Any]:
    parts = value if isinstance(value, list) else [value]
    if not all(isinstance(part, dict) for part in parts):
        raise DocumentError("<< merges a mapping, or a list of them", line)
    merged: dict[str, Any] = {}
    for part in reversed(parts):
        merged.update(part)
    return merged


def _read_scalar(text: str, line: int, number: Callable[[str], Any]) -> Any:
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    try:
        if _INTEGER.fullmatch(text):
            return int(text, 0) if text.startswith(("0o", "0x")) else int(text)
        if _NOT_FINITE.fullmatch(text):
            return _read_finite(text.replace(".", ""))
        return number(text) if _FLOAT.fullmatch(text) else text
    except ValueError as error:
        raise DocumentError(str(error).partition(";")[0], line) from None


def _read_finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a number in JSON")
    return number


def _build_object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    whole = dict(members)
    if len(whole) < len(members):
        seen: set[str] = set()
        twice = next(key for key, _ in members if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key '{twice}' is given twice")
    return whole


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Quotes strings that YAML 1.1 or 1.2 would read as another type."""

    def ignore_aliases(self, data: Any) -> bool:
        """Always True: aliases are never written."""
        return True


def _represent_text(dumper: Any, value: str) -> Any:
    style = "|" if "\n" in value.strip("\n") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(f"(?:{_INTEGER.pattern})$"), list("-+0123456789"))
_Dumper.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(f"(?:{_FLOAT.pattern})$"), list("-+.0123456789"))
