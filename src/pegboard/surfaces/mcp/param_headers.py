"""The arguments of a tool that clients repeat in Mcp-Param-* headers, as `x-mcp-header` in its schema declares them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from typing import Any, NamedTuple

from pegboard.surfaces.mcp.header_values import PARAM_PREFIX, decode_header_value
from pegboard.surfaces.mcp.protocol import HEADER_MISMATCH, ProtocolError

KEYWORD = "x-mcp-header"
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+", re.ASCII)
_TYPES = frozenset({"string", "integer", "boolean"})
_DECIMAL = re.compile(r"-?[0-9]+(?:\.0+)?", re.ASCII)
_MAX_DIGITS = 1000
_SCHEMA_KEYWORDS = frozenset({
    "items", "contains", "unevaluatedItems", "additionalProperties", "propertyNames", "unevaluatedProperties", "not",
    "if", "then", "else", "contentSchema", "additionalItems",
})  # fmt: skip
_LIST_KEYWORDS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
_MAP_KEYWORDS = frozenset({"patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"})


class ParamHeader(NamedTuple):
    """One argument, by the names of the properties that lead to it, and its header."""

    path: tuple[str, ...]
    header: bytes
    is_integer: bool

    def check(self, arguments: Mapping[str, Any], headers: Mapping[bytes, bytes], duplicates: Set[bytes]) -> None:
        """Raise ProtocolError unless the header and the argument are both missing or equal."""
        name, argument = self.header.decode(), ".".join(self.path)
        if self.header in duplicates:
            raise ProtocolError(HEADER_MISMATCH, f"The header {name} was sent more than once")
        value = self._find_argument(arguments)
        sent, expected = headers.get(self.header), _format_value(value)
        if expected is None:
            if sent is not None:
                raise ProtocolError(HEADER_MISMATCH, f"The header {name} was sent without the argument '{argument}'")
        elif sent is None:
            raise ProtocolError(HEADER_MISMATCH, f"The header {name} is missing: it repeats the argument '{argument}'")
        elif not self._is_equal(decode_header_value(sent), expected, value):
            raise ProtocolError(HEADER_MISMATCH, f"The header {name} must be the same as the argument '{argument}'")

    def format_argument(self, arguments: Mapping[str, Any]) -> str | None:
        """Return the argument as text, or None if no header repeats it."""
        return _format_value(self._find_argument(arguments))

    def _find_argument(self, arguments: Mapping[str, Any]) -> Any:
        value: Any = arguments
        for key in self.path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    def _is_equal(self, sent: str | None, expected: str, value: Any) -> bool:
        if sent == expected:
            return True
        is_whole = isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1
        if sent is None or not self.is_integer or not is_whole or not _DECIMAL.fullmatch(sent):
            return False
        whole = sent.partition(".")[0]
        return len(whole) <= _MAX_DIGITS and int(whole) == int(value)


def find_param_headers(schema: Mapping[str, Any]) -> tuple[ParamHeader, ...]:
    """Return the arguments with a header; none if a declaration is not valid, since clients then send no headers."""
    found: dict[bytes, ParamHeader] = {}
    for path, node in _iterate_schemas(schema):
        if KEYWORD not in node:
            continue
        token, kind = node[KEYWORD], node.get("type")
        if not path or not isinstance(token, str) or not _TOKEN.fullmatch(token) or kind not in _TYPES:
            return ()
        header = PARAM_PREFIX + token.lower().encode()
        if header in found:
            return ()
        found[header] = ParamHeader(path, header, kind == "integer")
    return tuple(found.values())


def _iterate_schemas(root: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...] | None, Mapping[str, Any]]]:
    """Yield each schema with the properties that lead to it, or None if other keywords lead to it."""
    todo: list[tuple[tuple[str, ...] | None, Any]] = [((), root)]
    while todo:
        path, node = todo.pop()
        if not isinstance(node, Mapping):
            continue
        yield path, node
        for word, value in node.items():
            if word == "properties" and isinstance(value, Mapping):
                todo += [(None if path is None else (*path, name), inner) for name, inner in value.items()]
            elif word in _LIST_KEYWORDS and isinstance(value, list):
                todo += [(None, inner) for inner in value]
            elif word in _SCHEMA_KEYWORDS:
                todo.append((None, value))
            elif word in _MAP_KEYWORDS and isinstance(value, Mapping):
                todo += [(None, inner) for inner in value.values()]


def _format_value(value: Any) -> str | None:
    """Return the value as clients write it in a header; None if they send no header for it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None
