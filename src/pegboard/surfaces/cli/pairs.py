"""Arguments typed as key=value, converted by the tool's schema, and as key:=json, sent as they are."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pegboard.surfaces.cli.failures import Usage

_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
_INTEGER = re.compile(r"-?(0|[1-9]\d*)")
_MOST_REFERENCES = 20


class Pair(NamedTuple):
    """One argument: its name, its text, and whether the text is JSON."""

    key: str
    text: str
    is_json: bool


@dataclass(frozen=True, slots=True)
class Pairs:
    """The arguments of a call as they were typed."""

    pairs: tuple[Pair, ...] = ()

    @property
    def body(self) -> bytes:
        """The JSON object, each key=value a string; Usage names a key that is given twice."""
        return self.body_for({})

    @property
    def has_texts(self) -> bool:
        """Whether a schema could change what is sent."""
        return any(not pair.is_json for pair in self.pairs)

    def body_for(self, schema: Mapping[str, Any]) -> bytes:
        """The JSON object, each key=value converted to the type that the schema declares for it.

        A text that does not fit its type is sent as a string, so that the board's refusal names what it expected. Each
        value stays as it was typed, so that no digit of a number is lost.
        """
        members: dict[str, str] = {}
        properties = schema.get("properties")
        for key in dict.fromkeys(pair.key for pair in self.pairs):
            given = [pair for pair in self.pairs if pair.key == key]
            declared = properties.get(key) if isinstance(properties, dict) else None
            members[key] = _member(given, _Declared(declared, schema))
        return ("{" + ",".join(f"{json.dumps(key)}:{text}" for key, text in members.items()) + "}").encode()


def read_pairs(words: Sequence[str]) -> Pairs:
    """The arguments that the words are; Usage names a word that is none."""
    pairs = []
    for place, word in enumerate(words):
        key, equals, text = word.partition("=")
        is_json = key.endswith(":")
        key = key.removesuffix(":")
        if word.startswith("-") and not is_json:
            name = key.lstrip("-")
            value = text if equals else (words[place + 1] if place + 1 < len(words) else "VALUE")
            raise Usage(f"No such option: {key}", [f"Arguments are written {name}={value}"] if name else [])
        if not equals and key:
            raise Usage(f"'{key}' has no value. Write {key}=TEXT, or {key}:=JSON.")
        if not key:
            raise Usage(f"'{word}' has no name. Write NAME=TEXT, or NAME:=JSON.")
        if is_json and not _is_json(text):
            raise Usage(f"{key}:={text} is not JSON", [f"A text is written {key}={text}"])
        pairs.append(Pair(key, text, is_json))
    return Pairs(tuple(pairs))


class _Declared:
    """What a schema declares for one value: its types, and the schema of an array's items."""

    def __init__(self, node: Any, root: Mapping[str, Any]) -> None:
        self._root = root
        self._nodes = self._branches(node, _MOST_REFERENCES)
        self.types = {name for one in self._nodes for name in _types(one)}

    @property
    def items(self) -> _Declared:
        """The schema of an array's items."""
        found = [one["items"] for one in self._nodes if isinstance(one.get("items"), dict)]
        return _Declared(found[0] if found else None, self._root)

    def _branches(self, node: Any, left: int) -> list[Mapping[str, Any]]:
        """The schema itself and the alternatives that it offers, local references followed."""
        if not isinstance(node, dict) or left == 0:
            return []
        found: list[Mapping[str, Any]] = [node]
        reference = node.get("$ref")
        if isinstance(reference, str) and reference.startswith("#/"):
            found += self._branches(self._referred(reference), left - 1)
        for word in ("anyOf", "oneOf", "allOf"):
            alternatives = node.get(word)
            for one in alternatives[:_MOST_REFERENCES] if isinstance(alternatives, list) else ():
                found += self._branches(one, left - 1)
        return found

    def _referred(self, reference: str) -> Any:
        node: Any = self._root
        for step in reference[2:].split("/"):
            node = node.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(node, dict) else None
        return node


def _types(node: Mapping[str, Any]) -> set[str]:
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


def _member(given: Sequence[Pair], declared: _Declared) -> str:
    """The JSON text of one member; a key that is repeated is an array."""
    is_array = "array" in declared.types
    if len(given) == 1:
        only = given[0]
        if only.is_json or not is_array or "string" in declared.types or only.text.lstrip().startswith("["):
            return only.text if only.is_json else _converted(only.text, declared)
    elif not is_array:
        raise Usage(f"'{given[0].key}' is given twice, and is no array")
    items = declared.items
    return "[" + ",".join(pair.text if pair.is_json else _converted(pair.text, items) for pair in given) + "]"


def _converted(text: str, declared: _Declared) -> str:
    """The text as JSON of the declared type; a string where a string may be meant, or where it fits no type."""
    types = declared.types
    fits = (
        ("integer" in types and _INTEGER.fullmatch(text))
        or ("number" in types and _NUMBER.fullmatch(text))
        or ("boolean" in types and text in ("true", "false"))
        or ("null" in types and text == "null")
        or ("array" in types and text.lstrip().startswith("[") and _is_json(text))
        or ("object" in types and text.lstrip().startswith("{") and _is_json(text))
    )
    return text if fits and "string" not in types else json.dumps(text)


def _is_json(text: str) -> bool:
    try:
        text.encode()
        json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
