"""The parts of a JSON Schema document: which keywords hold schemas, and where a `$ref` leads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, unquote

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"

Path = tuple[str | int, ...]
Child = tuple[Path, Any]

# How a keyword holds schemas: one, a list of them, or a map of them.
_IN_PLACE = {
    "allOf": "list", "anyOf": "list", "oneOf": "list", "not": "one", "if": "one", "then": "one", "else": "one",
}  # fmt: skip
_INSIDE = {
    "properties": "map", "patternProperties": "map", "additionalProperties": "one", "propertyNames": "one",
    "contains": "one",
}  # fmt: skip
_Keywords = tuple[dict[str, str], dict[str, str], tuple[str, ...]]
_DRAFT_7: _Keywords = (
    {**_IN_PLACE, "dependencies": "map"},
    {**_INSIDE, "items": "any", "additionalItems": "one"},
    ("$ref",),
)
_DRAFT_2020: _Keywords = (
    {**_IN_PLACE, "dependentSchemas": "map"},
    {**_INSIDE, "items": "one", "prefixItems": "list", "unevaluatedItems": "one", "unevaluatedProperties": "one"},
    ("$ref", "$dynamicRef"),
)
_CONTAINERS = ("definitions", "$defs")


class Document:
    """A schema with its references resolved on demand; nothing outside it is ever looked at."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.root = schema
        self.is_2020 = "2020-12" in str(schema.get("$schema", ""))
        self._in_place, self._inside, self._references = _DRAFT_2020 if self.is_2020 else _DRAFT_7
        self._anchors: dict[str, tuple[Path, Any]] | None = None

    def references(self, node: Mapping[str, Any]) -> list[tuple[str, str]]:
        """The references a schema makes, as keyword and target."""
        return [(word, node[word]) for word in self._references if isinstance(node.get(word), str)]

    def resolve(self, reference: str) -> Any:
        """The schema that a local reference names, or None."""
        if reference in ("", "#"):
            return self.root
        if not reference.startswith("#"):
            return None
        fragment = unquote(reference[1:])
        if not fragment.startswith("/"):
            return self._named(fragment)[1]
        found: Any = self.root
        for step in fragment[1:].split("/"):
            key = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, Mapping) and key in found:
                found = found[key]
            elif isinstance(found, list) and key.isascii() and key.isdigit() and int(key[:9]) < len(found):
                found = found[int(key[:9])]
            else:
                return None
        return found if isinstance(found, Mapping | bool) else None

    def pointer(self, reference: str) -> str:
        """The local reference as a pointer, which names of anchors are not."""
        if reference in ("", "#") or reference.startswith("#/"):
            return reference or "#"
        return pointer_to(self._named(unquote(reference[1:]))[0])

    def in_place(self, node: Any) -> Iterator[Child]:
        """The schemas that apply to the same value as this one, those behind references included."""
        if not isinstance(node, Mapping):
            return
        for word, reference in self.references(node):
            target = self.resolve(reference)
            if target is not None:
                yield (word,), target
        if not self.overrides(node):
            yield from _held(node, self._in_place)

    def inside(self, node: Any) -> Iterator[Child]:
        """The schemas that apply to what is inside the value."""
        if isinstance(node, Mapping) and not self.overrides(node):
            yield from _held(node, self._inside)

    def overrides(self, node: Mapping[str, Any]) -> bool:
        """Whether a reference makes everything beside it count for nothing, as in Draft 7."""
        return not self.is_2020 and isinstance(node.get("$ref"), str)

    def everything(self) -> Iterator[tuple[Path, Mapping[str, Any], bool]]:
        """Every schema of the document with its path, and whether failing it always means failing the whole.

        A schema that is reached both ways comes twice.
        """
        seen: set[tuple[int, bool]] = set()
        todo: list[tuple[Path, Any, bool]] = [((), self.root, True)]
        while todo:
            path, node, decides = todo.pop()
            if not isinstance(node, Mapping) or (id(node), decides) in seen:
                continue
            seen.add((id(node), decides))
            yield path, node, decides
            below = [
                (self._path(path, step, node), child, decides and step[0] not in _MAY_FAIL)
                for step, child in (*self.inside(node), *self.in_place(node))
            ]
            below += [(path + step, child, True) for step, child in _held(node, dict.fromkeys(_CONTAINERS, "map"))]
            todo += reversed(below)

    def declared(self, start: Any = None) -> tuple[frozenset[str], bool]:
        """The names that a schema, the root if none is given, speaks of, and whether it is silent about any other."""
        names: set[str] = set()
        lists_properties, open_ended = False, False
        seen: set[int] = set()
        todo: list[Any] = [self.root if start is None else start]
        while todo:
            node = todo.pop()
            if not isinstance(node, Mapping) or id(node) in seen:
                continue
            seen.add(id(node))
            lists_properties |= "properties" in node
            for word in ("properties", "dependencies", "dependentRequired"):
                held = node.get(word)
                if isinstance(held, Mapping):
                    names.update(held)
                    names.update(name for value in held.values() if isinstance(value, list) for name in value)
            names.update(node.get("required", ()))
            open_ended |= any(word in node for word in _EXTRAS)
            open_ended |= any(self.resolve(target) is None for _, target in self.references(node))
            todo += [child for _, child in self.in_place(node)]
        return frozenset(names), lists_properties and not open_ended

    def _path(self, path: Path, step: Path, node: Mapping[str, Any]) -> Path:
        """The path one step on; a reference leads to where its target stands."""
        if step[0] not in self._references:
            return path + step
        steps = unquote(self.pointer(node[str(step[0])])).split("/")[1:]
        return tuple(name.replace("~1", "/").replace("~0", "~") for name in steps)

    def _named(self, anchor: str) -> tuple[Path, Any]:
        if self._anchors is None:
            self._anchors = {}
            for path, node in _all_held(self.root):
                for word in ("$anchor", "$dynamicAnchor", "$id"):
                    name = node.get(word)
                    if isinstance(name, str) and (word != "$id" or name.startswith("#")):
                        self._anchors.setdefault(name.removeprefix("#"), (path, node))
        return self._anchors.get(anchor, ((), None))


# Where a subschema may fail and the whole still hold, so that a check that gives up would count as a pass.
_MAY_FAIL = frozenset({"not", "if", "oneOf", "contains"})
_EXTRAS = ("additionalProperties", "patternProperties", "unevaluatedProperties")
_EVERYWHERE = {**_DRAFT_7[0], **_DRAFT_7[1], **_DRAFT_2020[0], **_DRAFT_2020[1], "items": "any"} | dict.fromkeys(
    _CONTAINERS, "map"
)


def pointer_to(path: Path) -> str:
    """The local reference that names what lies at the path."""
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in path)
    return "#" + "".join("/" + quote(step, safe="~") for step in steps)


def nested_ids(schema: Mapping[str, Any]) -> list[Path]:
    """Where schemas inside this one claim an address of their own."""
    return [
        path
        for path, node in _all_held(schema)
        if path and isinstance(node.get("$id"), str) and not node["$id"].startswith("#")
    ]


def _all_held(schema: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    todo: list[Child] = [((), schema)]
    while todo:
        path, node = todo.pop()
        if isinstance(node, Mapping):
            yield path, node
            todo += [(path + step, child) for step, child in _held(node, _EVERYWHERE)]


def _held(node: Mapping[str, Any], keywords: Mapping[str, str]) -> Iterator[Child]:
    for word, value in node.items():
        how = keywords.get(word)
        if how is None:
            continue
        if how == "map":
            if isinstance(value, Mapping):
                yield from (((word, name), child) for name, child in value.items() if not isinstance(child, list))
        elif isinstance(value, list):
            if how != "one":
                yield from (((word, index), child) for index, child in enumerate(value))
        elif how != "list":
            yield (word,), value
