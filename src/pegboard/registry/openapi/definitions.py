"""The `$defs` of one input schema: what it refers to, near things first, and no more than there is room for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from pegboard.registry.openapi.references import Unusable
from pegboard.registry.openapi.schemas import DEFS, HELD, Schema, Schemas
from pegboard.registry.schemas import MAX_SUBSCHEMAS
from pegboard.registry.subschemas import DRAFT_2020, Document

# Bytes of JSON: what all that is measured may come to, and what is worth being measured only once.
ROOM_TO_MEASURE = 64_000_000
WORTH_KEEPING = 1_000

_MARGIN = 100


@dataclass(frozen=True, slots=True)
class Part:
    """One schema, how many there are in it, its size as JSON, and what it refers to, in the order a check goes."""

    schema: Schema | bool
    schemas: int
    size: int
    refers_to: tuple[str, ...]


class Definitions:
    """The parts of a document's schemas, measured once and put together for each operation."""

    def __init__(self, schemas: Schemas, beat: Callable[[], None] = lambda: None) -> None:
        self._schemas = schemas
        self._beat = beat
        self._parts: dict[str, Part] = {}
        self._kept: dict[int, Part] = {}
        self._room = ROOM_TO_MEASURE

    def start(self, schema: Schema) -> Part:
        """An input schema without `$defs`, measured as a whole; what tools share in it is measured once."""
        held = list(schema["properties"].values())
        hollow = {**schema, "properties": dict.fromkeys(schema["properties"], 0)}
        if "additionalProperties" in schema:
            held.append(schema["additionalProperties"])
            hollow["additionalProperties"] = 0
        parts = [self._measured(each) for each in held]
        size = _size(hollow) + sum(part.size - 1 for part in parts)
        refers_to = tuple(name for part in reversed(parts) for name in part.refers_to)
        return Part(schema, 1 + sum(part.schemas for part in parts), size, refers_to)

    def whole(self, start: Part, room: int) -> tuple[Schema, list[str]]:
        """The schema with its `$defs`, and the names of those for which there was no room; raises Unusable."""
        root = start.schema
        assert isinstance(root, dict)
        if not start.refers_to:
            return root, []
        kept = self._near(start, room - start.size)
        names = list(kept)
        most = _most(len(names), lambda count: _expanded(start, {name: kept[name] for name in names[:count]}))
        kept = {name: kept[name] for name in names[:most]}
        wanted = dict.fromkeys(name for part in (start, *kept.values()) for name in part.refers_to)
        cut = [name for name in wanted if name not in kept]
        defs = {name: part.schema for name, part in kept.items()}
        if cut:
            absent = frozenset(cut)
            root = _opened(root, absent)
            defs = {name: _opened(schema, absent) for name, schema in defs.items()}
        return ({**root, "$defs": defs} if defs else root), cut

    def _near(self, start: Part, room: int) -> dict[str, Part]:
        kept: dict[str, Part] = {}
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

    def _part(self, name: str) -> Part:
        if name not in self._parts:
            self._parts[name] = measured(self._schemas.named(name), self._beat)
        return self._parts[name]

    def _measured(self, schema: Schema | bool) -> Part:
        if id(schema) in self._kept:
            return self._kept[id(schema)]
        if self._room <= 0:
            raise Unusable("the document's schemas come to too much taken together; choose fewer with include")
        part = measured(schema, self._beat)
        if part.size >= WORTH_KEEPING:
            self._room -= part.size
            self._kept[id(schema)] = part  # which holds the schema, so that its id stays its own
        return part


def measured(schema: Schema | bool, beat: Callable[[], None] = lambda: None) -> Part:
    """The schema, measured; raises Unusable where it cannot be written as JSON."""
    size = _size(schema)
    document = Document({"$schema": DRAFT_2020})
    refers_to: list[str] = []
    count = 0
    # The order in which `check_schema` goes, on which it depends how it counts what refers back to itself.
    todo: list[Any] = [schema]
    while todo:
        beat()
        node = todo.pop()
        if isinstance(node, _Reference):
            refers_to.append(node.name)
            continue
        count += 1
        if isinstance(node, dict):
            todo += [_Reference(target.removeprefix(DEFS)) for _, target in document.references(node)]
            todo += [child for _, child in (*document.in_place(node), *document.inside(node))]
    return Part(schema, count, size, tuple(refers_to))


def _size(schema: Schema | bool) -> int:
    try:
        return len(orjson.dumps(schema))
    except (TypeError, ValueError) as error:
        raise Unusable(f"a schema cannot be written as JSON: {error}") from None


@dataclass(frozen=True, slots=True)
class _Reference:
    name: str


def _most(names: int, size: Callable[[int], int]) -> int:
    """How many of the names can be kept before following every reference comes to too much."""
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


def _expanded(start: Part, kept: dict[str, Part]) -> int:
    """How many schemas there are if each reference is followed, one back to where it stands counted once."""
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


def _opened(schema: Any, absent: Collection[str]) -> Any:
    """The schema, with anything allowed where it refers to what is absent; itself where it does not."""
    if not isinstance(schema, dict):
        return schema
    changed: dict[str, Any] = {}
    for word in schema.keys() & HELD.keys():
        value = schema[word]
        new = _opened_held(HELD[word], value, absent)
        if new != value:
            changed[word] = new
    name = str(schema.get("$ref", "")).removeprefix(DEFS)
    if not changed and name not in absent:
        return schema
    opened: Schema = {word: changed.get(word, value) for word, value in schema.items()}
    if name in absent:
        del opened["$ref"]
        opened.setdefault("description", name)
    # What is open fits more, so these would now refuse more.
    for word in ("not", "if", "unevaluatedProperties", "unevaluatedItems"):
        if word in changed or word.startswith("unevaluated"):
            opened.pop(word, None)
    if "oneOf" in changed:
        either = {"anyOf": opened.pop("oneOf")}
        opened |= {"allOf": [*list(opened.get("allOf", [])), either]} if "anyOf" in opened else either
    return opened


def _opened_held(how: str, value: Any, absent: Collection[str]) -> Any:
    if how == "one":
        return _opened(value, absent)
    if how == "list":
        return [_opened(item, absent) for item in value]
    return {key: _opened(item, absent) for key, item in value.items()}
