"""The structure of a JSON Schema document: which keywords contain schemas, and how a `$ref` is resolved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, unquote

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"

Path = tuple[str | int, ...]
Child = tuple[Path, Any]

# How a keyword contains schemas: one schema, a list, or a map.
_SAME_VALUE_KEYWORDS = {
    "allOf": "list", "anyOf": "list", "oneOf": "list", "not": "one", "if": "one", "then": "one", "else": "one",
}  # fmt: skip
_CHILD_KEYWORDS = {
    "properties": "map", "patternProperties": "map", "additionalProperties": "one", "propertyNames": "one",
    "contains": "one",
}  # fmt: skip
_Keywords = tuple[dict[str, str], dict[str, str], tuple[str, ...]]
_DRAFT_7_KEYWORDS: _Keywords = (
    {**_SAME_VALUE_KEYWORDS, "dependencies": "map"},
    {**_CHILD_KEYWORDS, "items": "any", "additionalItems": "one"},
    ("$ref",),
)
_DRAFT_2020_KEYWORDS: _Keywords = (
    {**_SAME_VALUE_KEYWORDS, "dependentSchemas": "map"},
    {
        **_CHILD_KEYWORDS,
        "items": "one",
        "prefixItems": "list",
        "unevaluatedItems": "one",
        "unevaluatedProperties": "one",
    },
    ("$ref", "$dynamicRef"),
)
_CONTAINERS = ("definitions", "$defs")


class SchemaDocument:
    """A schema whose references are resolved on demand, within the document only."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.root = schema
        self.is_2020 = "2020-12" in str(schema.get("$schema", ""))
        self._in_place, self._inside, self._references = _DRAFT_2020_KEYWORDS if self.is_2020 else _DRAFT_7_KEYWORDS
        self._anchors: dict[str, tuple[Path, Any]] | None = None

    def references(self, node: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Return the references of a schema as pairs of keyword and target."""
        return [(word, node[word]) for word in self._references if isinstance(node.get(word), str)]

    def resolve(self, reference: str) -> Any:
        """Return the schema that a local reference points to, or None."""
        if reference in ("", "#"):
            return self.root
        if not reference.startswith("#"):
            return None
        fragment = unquote(reference[1:])
        if not fragment.startswith("/"):
            return self._find_anchor(fragment)[1]
        try:
            found = follow_pointer(self.root, fragment)
        except LookupError:
            return None
        return found if isinstance(found, Mapping | bool) else None

    def pointer(self, reference: str) -> str:
        """Return the local reference as a JSON pointer; anchors are converted."""
        if reference in ("", "#") or reference.startswith("#/"):
            return reference or "#"
        return make_pointer(self._find_anchor(unquote(reference[1:]))[0])

    def iterate_in_place(self, node: Any) -> Iterator[Child]:
        """Yield the schemas that apply to the same value as this one, including the targets of references."""
        if not isinstance(node, Mapping):
            return
        for word, reference in self.references(node):
            target = self.resolve(reference)
            if target is not None:
                yield (word,), target
        if not self.has_overriding_reference(node):
            yield from _iterate_children(node, self._in_place)

    def inside(self, node: Any) -> Iterator[Child]:
        """Yield the schemas that apply to the properties or items of the value."""
        if isinstance(node, Mapping) and not self.has_overriding_reference(node):
            yield from _iterate_children(node, self._inside)

    def has_overriding_reference(self, node: Mapping[str, Any]) -> bool:
        """Return True if the schema has a `$ref` that makes its other keywords ineffective, as in Draft 7."""
        return not self.is_2020 and isinstance(node.get("$ref"), str)

    def iterate_schemas(self) -> Iterator[tuple[Path, Mapping[str, Any], bool]]:
        """Yield every schema with its path, and whether the whole document fails if this schema fails.

        A schema that is reached in both ways is yielded twice.
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
                (self._path(path, step, node), child, decides and step[0] not in _FAILABLE_KEYWORDS)
                for step, child in (*self.inside(node), *self.iterate_in_place(node))
            ]
            below += [
                (path + step, child, True) for step, child in _iterate_children(node, dict.fromkeys(_CONTAINERS, "map"))
            ]
            todo += reversed(below)

    def list_declared_names(self, start: Any = None) -> tuple[frozenset[str], bool]:
        """Return the property names that a schema declares, and whether it has no rule for other names.

        The schema is the root if `start` is None.
        """
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
            open_ended |= any(word in node for word in _EXTRA_PROPERTY_KEYWORDS)
            open_ended |= any(self.resolve(target) is None for _, target in self.references(node))
            todo += [child for _, child in self.iterate_in_place(node)]
        return frozenset(names), lists_properties and not open_ended

    def _path(self, path: Path, step: Path, node: Mapping[str, Any]) -> Path:
        """Return the path after this step; for a reference, the path of its target."""
        if step[0] not in self._references:
            return path + step
        return tuple(split_pointer(unquote(self.pointer(node[str(step[0])]))))

    def _find_anchor(self, anchor: str) -> tuple[Path, Any]:
        if self._anchors is None:
            self._anchors = {}
            for path, node in _iterate_all_schemas(self.root):
                for word in ("$anchor", "$dynamicAnchor", "$id"):
                    name = node.get(word)
                    if isinstance(name, str) and (word != "$id" or name.startswith("#")):
                        self._anchors.setdefault(name.removeprefix("#"), (path, node))
        return self._anchors.get(anchor, ((), None))


# Here a subschema may fail while the whole schema passes, so a check that gives up could make a value pass.
_FAILABLE_KEYWORDS = frozenset({"not", "if", "oneOf", "contains"})
_EXTRA_PROPERTY_KEYWORDS = ("additionalProperties", "patternProperties", "unevaluatedProperties")
_ALL_KEYWORDS = {
    **_DRAFT_7_KEYWORDS[0],
    **_DRAFT_7_KEYWORDS[1],
    **_DRAFT_2020_KEYWORDS[0],
    **_DRAFT_2020_KEYWORDS[1],
    "items": "any",
} | dict.fromkeys(_CONTAINERS, "map")


def split_pointer(pointer: str) -> list[str]:
    """Return the steps of a JSON pointer, such as `/properties/a`."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def follow_pointer(root: Any, pointer: str) -> Any:
    """Return the part of the document at this JSON pointer; raise LookupError if there is none."""
    found = root
    for key in split_pointer(pointer):
        if isinstance(found, Mapping):
            found = found[key]
        elif isinstance(found, list) and key.isascii() and key.isdigit():
            found = found[int(key[:9])]
        else:
            raise LookupError(key)
    return found


def make_pointer(path: Path) -> str:
    """Return the local reference to the schema at this path."""
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in path)
    return "#" + "".join("/" + quote(step, safe="~") for step in steps)


def find_nested_ids(schema: Mapping[str, Any]) -> list[Path]:
    """Return the paths of nested schemas that have an `$id` of their own."""
    return [
        path
        for path, node in _iterate_all_schemas(schema)
        if path and isinstance(node.get("$id"), str) and not node["$id"].startswith("#")
    ]


def _iterate_all_schemas(schema: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    todo: list[Child] = [((), schema)]
    while todo:
        path, node = todo.pop()
        if isinstance(node, Mapping):
            yield path, node
            todo += [(path + step, child) for step, child in _iterate_children(node, _ALL_KEYWORDS)]


def _iterate_children(node: Mapping[str, Any], keywords: Mapping[str, str]) -> Iterator[Child]:
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
