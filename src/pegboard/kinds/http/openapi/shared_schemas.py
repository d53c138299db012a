"""Builds the `$defs` of an input schema from its references, nearest first, within a size limit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from pegboard.json_schema.compile import MAX_SUBSCHEMAS
from pegboard.json_schema.schema_document import DRAFT_2020, SchemaDocument
from pegboard.kinds.http.openapi.convert_schema import DEFS_PREFIX, SUBSCHEMA_KEYWORDS, Schema, SchemaConverter
from pegboard.kinds.http.openapi.document_references import Unusable

# In bytes of JSON: the limit of all measured schemas, and the minimum size to cache a measurement.
MAX_MEASURED_BYTES = 64_000_000
MIN_CACHED_BYTES = 1_000

_MARGIN = 100


@dataclass(frozen=True, slots=True)
class MeasuredSchema:
    """A schema, its number of subschemas, its size as JSON, and its references in the order of check_schema."""

    schema: Schema | bool
    schemas: int
    size: int
    refers_to: tuple[str, ...]


class SharedSchemas:
    """The schemas of a document, measured once and combined for each operation."""

    def __init__(self, schemas: SchemaConverter, beat: Callable[[], None] = lambda: None) -> None:
        self._schemas = schemas
        self._beat = beat
        self._parts: dict[str, MeasuredSchema] = {}
        self._kept: dict[int, MeasuredSchema] = {}
        self._room = MAX_MEASURED_BYTES

    def start(self, schema: Schema) -> MeasuredSchema:
        """Measure an input schema without `$defs`; parts that tools share are measured once."""
        held = list(schema["properties"].values())
        hollow = {**schema, "properties": dict.fromkeys(schema["properties"], 0)}
        if "additionalProperties" in schema:
            held.append(schema["additionalProperties"])
            hollow["additionalProperties"] = 0
        parts = [self._measure_cached(each) for each in held]
        size = _measure_json(hollow) + sum(part.size - 1 for part in parts)
        refers_to = tuple(name for part in reversed(parts) for name in part.refers_to)
        return MeasuredSchema(schema, 1 + sum(part.schemas for part in parts), size, refers_to)

    def build_schema(self, start: MeasuredSchema, room: int) -> tuple[Schema, list[str]]:
        """Return the schema with its `$defs`, and the names that did not fit; raise Unusable."""
        root = start.schema
        assert isinstance(root, dict)
        if not start.refers_to:
            return root, []
        kept = self._select_nearest(start, room - start.size)
        names = list(kept)
        most = _count_keepable(
            len(names), lambda count: _count_expanded(start, {name: kept[name] for name in names[:count]})
        )
        kept = {name: kept[name] for name in names[:most]}
        wanted = dict.fromkeys(name for part in (start, *kept.values()) for name in part.refers_to)
        cut = [name for name in wanted if name not in kept]
        defs = {name: part.schema for name, part in kept.items()}
        if cut:
            absent = frozenset(cut)
            root = _replace_absent(root, absent)
            defs = {name: _replace_absent(schema, absent) for name, schema in defs.items()}
        return ({**root, "$defs": defs} if defs else root), cut

    def _select_nearest(self, start: MeasuredSchema, room: int) -> dict[str, MeasuredSchema]:
        kept: dict[str, MeasuredSchema] = {}
        level: Sequence[str] = tuple(dict.fromkeys(reversed(start.refers_to)))
        seen = set(level)
        while level:
            below: list[str] = []
            for name in level:
                part = self._part(name)
                room_for_it = part.size + len(name) + 4
                if room_for_it > room:
                    continue
                room -= room_for_it
                kept[name] = part
                for further in reversed(part.refers_to):
                    if further not in seen:
                        seen.add(further)
                        below.append(further)
            level = below
        return kept

    def _part(self, name: str) -> MeasuredSchema:
        if name not in self._parts:
            self._parts[name] = measure_schema(self._schemas.get_converted(name), self._beat)
        return self._parts[name]

    def _measure_cached(self, schema: Schema | bool) -> MeasuredSchema:
        if id(schema) in self._kept:
            return self._kept[id(schema)]
        if self._room <= 0:
            raise Unusable("the document's schemas are too large in total; select fewer operations with include")
        part = measure_schema(schema, self._beat)
        if part.size >= MIN_CACHED_BYTES:
            self._room -= part.size
            self._kept[id(schema)] = part  # the part keeps the schema alive, so that its id is not reused
        return part


def measure_schema(schema: Schema | bool, beat: Callable[[], None] = lambda: None) -> MeasuredSchema:
    """Measure the schema; raise Unusable if it cannot be written as JSON."""
    size = _measure_json(schema)
    document = SchemaDocument({"$schema": DRAFT_2020})
    refers_to: list[str] = []
    count = 0
    # Use the order of `check_schema`, because its count of recursive references depends on the order.
    todo: list[Any] = [schema]
    while todo:
        beat()
        node = todo.pop()
        if isinstance(node, _Reference):
            refers_to.append(node.name)
            continue
        count += 1
        if isinstance(node, dict):
            todo += [_Reference(target.removeprefix(DEFS_PREFIX)) for _, target in document.references(node)]
            todo += [child for _, child in (*document.iterate_in_place(node), *document.inside(node))]
    return MeasuredSchema(schema, count, size, tuple(refers_to))


def _measure_json(schema: Schema | bool) -> int:
    try:
        return len(orjson.dumps(schema))
    except (TypeError, ValueError) as error:
        raise Unusable(f"a schema cannot be written as JSON: {error}") from None


@dataclass(frozen=True, slots=True)
class _Reference:
    name: str


def _count_keepable(names: int, size: Callable[[int], int]) -> int:
    """Return how many names can be kept before the expanded references exceed the limit."""
    if size(names) <= MAX_SUBSCHEMAS - _MARGIN:
        return names
    low, high = 0, names - 1
    while low < high:
        middle = (low + high + 1) // 2
        if size(middle) <= MAX_SUBSCHEMAS - _MARGIN:
            low = middle
        else:
            high = middle - 1
    return low


def _count_expanded(start: MeasuredSchema, kept: dict[str, MeasuredSchema]) -> int:
    """Return the number of schemas with all references expanded; a recursive reference counts once."""
    parts = {"": start, **kept}
    sizes: dict[str, int] = {}
    open_now: set[str] = set()
    todo: list[tuple[str, bool]] = [("", False)]
    while todo:
        name, is_leaving = todo.pop()
        part = parts[name]
        if is_leaving:
            open_now.discard(name)
            size = part.schemas + sum(sizes.get(other, 1) for other in part.refers_to if other in kept)
            sizes[name] = min(size, MAX_SUBSCHEMAS + 1)
        elif name not in open_now and name not in sizes:
            open_now.add(name)
            todo.append((name, True))
            todo += [(other, False) for other in reversed(part.refers_to) if other in kept]
    return sizes[""]


def _replace_absent(schema: Any, absent: Collection[str]) -> Any:
    """Return the schema with references to absent schemas replaced by any value; the same object if there are none."""
    if not isinstance(schema, dict):
        return schema
    changed: dict[str, Any] = {}
    for word in schema.keys() & SUBSCHEMA_KEYWORDS.keys():
        value = schema[word]
        new = _replace_absent_children(SUBSCHEMA_KEYWORDS[word], value, absent)
        if new != value:
            changed[word] = new
    name = str(schema.get("$ref", "")).removeprefix(DEFS_PREFIX)
    if not changed and name not in absent:
        return schema
    opened: Schema = {word: changed.get(word, value) for word, value in schema.items()}
    if name in absent:
        del opened["$ref"]
        opened.setdefault("description", name)
    # A schema without its reference accepts more, so that these keywords would reject more.
    for word in ("not", "if", "unevaluatedProperties", "unevaluatedItems"):
        if word in changed or word.startswith("unevaluated"):
            opened.pop(word, None)
    if "oneOf" in changed:
        either = {"anyOf": opened.pop("oneOf")}
        opened |= {"allOf": [*list(opened.get("allOf", [])), either]} if "anyOf" in opened else either
    return opened


def _replace_absent_children(how: str, value: Any, absent: Collection[str]) -> Any:
    if how == "one":
        return _replace_absent(value, absent)
    if how == "list":
        return [_replace_absent(item, absent) for item in value]
    return {key: _replace_absent(item, absent) for key, item in value.items()}
