"""The operations of an API document, each with the path it stands under and the name its tool will have."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pegboard.core.refusals import Fault, Invalid
from pegboard.registry.openapi.naming import told_apart
from pegboard.registry.openapi.pace import Pace
from pegboard.registry.openapi.references import References, Unusable, kind_of
from pegboard.registry.openapi.texts import clean, cut_readably, one_line
from pegboard.registry.taking import LeftOut

# Before any of them is chosen.
MOST_FOUND = 100_000

METHODS = ("get", "put", "post", "delete", "options", "head", "patch")

# What a path may hold beside operations.
_OTHERS = frozenset({"$ref", "summary", "description", "servers", "parameters"})


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: what the document says of it, and of its path."""

    method: str
    path: str
    name: str
    said: dict[str, Any]
    path_item: dict[str, Any]

    @property
    def route(self) -> str:
        """How people speak of it: `GET /users/{id}`."""
        return f"{self.method} {self.path}"


@dataclass(frozen=True, slots=True)
class _Found:
    method: str
    path: str
    said: Any
    path_item: dict[str, Any]


def operations_of(
    document: Mapping[str, Any], references: References, prefix: str, pace: Pace
) -> tuple[list[Operation], list[tuple[LeftOut, Sequence[str]]]]:
    """Every operation that could be a tool, and what cannot be one, with the names by which it may be asked for."""
    paths = document.get("paths")
    if not isinstance(paths, dict):
        what = "is missing" if paths is None else f"must be an object, not {kind_of(paths)}"
        raise Invalid.of("There is nothing to import", [Fault("paths", what)])
    found: list[_Found] = []
    others: list[tuple[LeftOut, Sequence[str]]] = []
    for path, given in paths.items():
        pace.beat()
        if str(path).startswith("x-"):
            continue
        try:
            item = _path_item(references, given)
            if not isinstance(path, str):
                raise Unusable(f"a path must be a text, not {kind_of(path)}")  # noqa: TRY301
        except Unusable as error:
            asked = [str(path), *(f"{method.upper()} {path}" for method in METHODS)]
            others.append((left_out(str(path), str(error)), asked))
            continue
        for method, said, why in _under(item):
            if len(found) + len(others) == MOST_FOUND:
                raise Invalid(f"The document has more than {MOST_FOUND:,} operations; give a smaller one")
            if why is None:
                found.append(_Found(method.upper(), path, said, item))
            else:
                route = f"{str(method).upper()} {path}"
                others.append((left_out(route, why), (route,)))
    names = told_apart(((each.method, each.path, _id(each.said)) for each in found), prefix, pace.beat)
    operations = []
    for each in found:
        name = names[each.method, each.path]
        if isinstance(each.said, dict):
            operations.append(Operation(each.method, each.path, name, each.said, each.path_item))
        else:
            route = f"{each.method} {each.path}"
            why = f"{route}: an operation must be an object, not {kind_of(each.said)}"
            others.append((left_out(name, why), (name, route)))
    return operations, others


class Include:
    """Which operations are wanted: those that one of some patterns names, or all if there are none."""

    def __init__(self, patterns: Sequence[str]) -> None:
        given: Any = patterns
        if isinstance(given, str) or not all(isinstance(pattern, str) and pattern for pattern in given):
            raise Invalid.of("The import is not valid", [Fault("include", "must be a list of patterns, as pets_*")])
        self._patterns = {pattern: pattern.lower() for pattern in patterns}
        self._unused = dict.fromkeys(self._patterns)

    def __call__(self, labels: Sequence[str]) -> bool:
        """Whether something that goes by any of these names is wanted."""
        if not self._patterns:
            return True
        lowered = [label.lower() for label in labels]
        fitting = [
            pattern
            for pattern, lower in self._patterns.items()
            if any(fnmatch.fnmatchcase(label, lower) for label in lowered)
        ]
        for pattern in fitting:
            self._unused.pop(pattern, None)
        return bool(fitting)

    def unused(self) -> list[LeftOut]:
        """The patterns that no operation was named by."""
        return [left_out(pattern, "no operation has a name, a route or a tag like this") for pattern in self._unused]


def labels_of(operation: Operation) -> list[str]:
    """The names that an operation goes by: its tool's, its own, its route and its tags."""
    tags = operation.said.get("tags")
    words = [operation.name, _id(operation.said), operation.route, *(tags if isinstance(tags, list) else ())]
    return [word for word in words if isinstance(word, str)]


def left_out(name: str, reason: str) -> LeftOut:
    """Something of the document that is left out, in words that can be sent anywhere."""
    return LeftOut(one_line(name, 300) or "?", cut_readably(clean(reason), 1000))


def _path_item(references: References, given: Any) -> dict[str, Any]:
    target = references.followed(given, "a path")
    if target is given or given.keys() == {"$ref"}:
        return target
    others = {word: value for word, value in target.items() if not str(word).startswith("x-")}
    return others | {word: value for word, value in given.items() if word != "$ref"}


def _under(item: Mapping[Any, Any]) -> Iterator[tuple[Any, Any, str | None]]:
    for word, said in item.items():
        if word in METHODS:
            yield word, said, None
        elif word == "trace":
            yield word, said, "TRACE only echoes a request, and tools do not send it"
        elif word == "additionalOperations" and isinstance(said, dict):
            yield from ((method, None, f"tools do not send {str(method)[:50]} requests") for method in said)
        elif word not in _OTHERS and not str(word).startswith("x-"):
            is_method = str(word).lower() in (*METHODS, "trace")
            why = "methods are written in lower case" if is_method else f"a path has no '{str(word)[:50]}'"
            yield word, said, "tools do not send QUERY requests" if word == "query" else why


def _id(said: Any) -> str | None:
    given = said.get("operationId") if isinstance(said, dict) else None
    return given if isinstance(given, str) and given else None
