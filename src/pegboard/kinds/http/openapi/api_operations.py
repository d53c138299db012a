"""Lists the operations of an API document with their paths and the names of their tools."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pegboard.kinds.http.openapi.document_references import DocumentReferences, Unusable, check_type, describe_json_type
from pegboard.kinds.http.openapi.import_pace import ImportProgress
from pegboard.kinds.http.openapi.naming import assign_unique_names, make_one_line
from pegboard.kinds.import_names import clean_text, shorten_text
from pegboard.model.api_errors import Fault, Invalid
from pegboard.model.import_report import LeftOut

# The limit before operations are selected.
MAX_FOUND_OPERATIONS = 100_000

METHODS = ("get", "put", "post", "delete", "options", "head", "patch")

# Keys of a path item that are not operations.
_NON_METHOD_KEYS = frozenset({"$ref", "summary", "description", "servers", "parameters"})


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the document, with its path item."""

    method: str
    path: str
    name: str
    definition: dict[str, Any]
    path_item: dict[str, Any]

    @property
    def route(self) -> str:
        """Method and path: `GET /users/{id}`."""
        return f"{self.method} {self.path}"


def list_operations(
    document: Mapping[str, Any], references: DocumentReferences, prefix: str, pace: ImportProgress
) -> tuple[list[Operation], list[tuple[LeftOut, Sequence[str]]]]:
    """Return the operations that could be tools, and those left out, with the labels by which they can be selected."""
    paths = document.get("paths")
    if not isinstance(paths, dict):
        what = "is missing" if paths is None else f"must be an object, not {describe_json_type(paths)}"
        raise Invalid.of("There is nothing to import", [Fault("paths", what)])
    found: list[Operation] = []
    others: list[tuple[LeftOut, Sequence[str]]] = []
    for path, given in paths.items():
        pace.beat()
        if str(path).startswith("x-"):
            continue
        try:
            item = _resolve_path_item(references, given)
            check_type(path, str, "a path")
        except Unusable as error:
            asked = [str(path), *(f"{method.upper()} {path}" for method in METHODS)]
            others.append((make_left_out(str(path), str(error)), asked))
            continue
        for method, definition, why in _iterate_operations(item):
            if len(found) + len(others) == MAX_FOUND_OPERATIONS:
                raise Invalid(f"The document has more than {MAX_FOUND_OPERATIONS:,} operations; give a smaller one")
            if why is None:
                found.append(Operation(method.upper(), path, "", definition, item))
            else:
                route = f"{str(method).upper()} {path}"
                others.append((make_left_out(route, why), (route,)))
    names = assign_unique_names(
        ((each.method, each.path, _get_operation_id(each.definition)) for each in found), prefix, pace.beat
    )
    operations = []
    for each in found:
        name = names[each.method, each.path]
        try:
            check_type(each.definition, dict, f"{each.route}: an operation")
        except Unusable as error:
            others.append((make_left_out(name, str(error)), (name, each.route)))
        else:
            operations.append(replace(each, name=name))
    return operations, others


class OperationSelection:
    """Selects operations by patterns; without patterns it selects all."""

    def __init__(self, patterns: Sequence[str]) -> None:
        given: Any = patterns
        if isinstance(given, str) or not all(isinstance(pattern, str) and pattern for pattern in given):
            raise Invalid.of("The import is not valid", [Fault("include", "must be a list of patterns, as pets_*")])
        self._patterns = {pattern: pattern.lower() for pattern in patterns}
        self._unused_patterns = dict.fromkeys(self._patterns)

    def __call__(self, labels: Sequence[str]) -> bool:
        """True if an operation with these labels is selected."""
        if not self._patterns:
            return True
        lowered = [label.lower() for label in labels]
        fitting = [
            pattern
            for pattern, lower in self._patterns.items()
            if any(fnmatch.fnmatchcase(label, lower) for label in lowered)
        ]
        for pattern in fitting:
            self._unused_patterns.pop(pattern, None)
        return bool(fitting)

    def list_unused(self) -> list[LeftOut]:
        """Return the patterns that matched no operation."""
        return [
            make_left_out(pattern, "no operation has a name, a route or a tag like this")
            for pattern in self._unused_patterns
        ]


def list_labels(operation: Operation) -> list[str]:
    """Return the labels of an operation: its tool's name, its operationId, its route and its tags."""
    tags = operation.definition.get("tags")
    words = [
        operation.name,
        _get_operation_id(operation.definition),
        operation.route,
        *(tags if isinstance(tags, list) else ()),
    ]
    return [word for word in words if isinstance(word, str)]


def make_left_out(name: str, reason: str) -> LeftOut:
    """Return a report of a part that is left out, as text that can be stored."""
    return LeftOut(make_one_line(name, 300) or "?", shorten_text(clean_text(reason), 1000))


def _resolve_path_item(references: DocumentReferences, given: Any) -> dict[str, Any]:
    target = references.resolve_object(given, "a path")
    if target is given or given.keys() == {"$ref"}:
        return target
    others = {word: value for word, value in target.items() if not str(word).startswith("x-")}
    return others | {word: value for word, value in given.items() if word != "$ref"}


def _iterate_operations(item: Mapping[Any, Any]) -> Iterator[tuple[Any, Any, str | None]]:
    for word, definition in item.items():
        if word in METHODS:
            yield word, definition, None
        elif word == "trace":
            yield word, definition, "tools do not send TRACE requests"
        elif word == "additionalOperations" and isinstance(definition, dict):
            yield from ((method, None, f"tools do not send {str(method)[:50]} requests") for method in definition)
        elif word not in _NON_METHOD_KEYS and not str(word).startswith("x-"):
            is_method = str(word).lower() in (*METHODS, "trace")
            why = "methods are written in lower case" if is_method else f"a path has no '{str(word)[:50]}'"
            yield word, definition, "tools do not send QUERY requests" if word == "query" else why


def _get_operation_id(definition: Any) -> str | None:
    given = definition.get("operationId") if isinstance(definition, dict) else None
    return given if isinstance(given, str) and given else None
