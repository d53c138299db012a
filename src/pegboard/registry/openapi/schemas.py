"""Schemas of any version of OpenAPI and Swagger, said as JSON Schema 2020-12 for what is sent.

Keywords of OpenAPI's own are translated or dropped, properties that are only read are left out, and each `$ref` names
an entry of `$defs`, which is converted when somebody asks for it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from pegboard.registry.openapi.examples import fits, modest
from pegboard.registry.openapi.naming import digest_of
from pegboard.registry.openapi.references import References, Unusable, kind_of, shown
from pegboard.registry.openapi.texts import clean, cut_readably
from pegboard.registry.wide_integers import fit_keyword

Schema = dict[str, Any]

DEFS = "#/$defs/"
MAX_DEPTH = 48
TEXT_LENGTH = 2000
MOST_WARNINGS = 50

HELD = {
    "not": "one", "if": "one", "then": "one", "else": "one", "additionalProperties": "one", "propertyNames": "one",
    "contains": "one", "items": "one", "unevaluatedItems": "one", "unevaluatedProperties": "one",
    "allOf": "list", "anyOf": "list", "oneOf": "list", "prefixItems": "list",
    "properties": "map", "patternProperties": "map", "dependentSchemas": "map",
}  # fmt: skip
_COPIED = frozenset({
    "type", "enum", "const", "multipleOf", "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "maxLength",
    "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxContains", "minContains", "maxProperties",
    "minProperties", "required", "dependentRequired", "format", "contentEncoding", "contentMediaType", "default",
})  # fmt: skip
# What people write beside a $ref although versions before 3.1 pass over it; taking it does no harm.
_BESIDE = frozenset({"$ref", "description", "nullable", "x-nullable", "deprecated", "readOnly"})
_REFERENCES = ("$ref", "$dynamicRef")
_OUTSIDE = ("title", "description", "default", "deprecated")
# Types that no version knows, and that real documents have.
_MEANT = {
    "int": "integer", "int32": "integer", "int64": "integer", "long": "integer", "float": "number", "double": "number",
    "decimal": "number", "bool": "boolean", "str": "string", "text": "string", "date": "string", "datetime": "string",
    "date-time": "string", "uuid": "string", "list": "array", "dict": "object", "map": "object", "any": None,
}  # fmt: skip
_CONTAINERS = ("/components/schemas/", "/definitions/")
_NOT_IN_DEFS = re.compile(r"[^A-Za-z0-9_.-]+", re.ASCII)


class _At(NamedTuple):
    """Where in a document a schema stands, and which of its properties are hidden as they are only read."""

    what: str
    depth: int = 0
    hidden: frozenset[str] = frozenset()
    property: str = ""

    def below(self, hidden: frozenset[str] = frozenset()) -> _At:
        return _At(self.what, self.depth + 1, hidden, self.property)

    def under(self, name: str) -> _At:
        what = f"'{name[:100]}' in {self.what}" if self.depth == 1 else self.what
        return self._replace(what=what, property="" if self.depth == 1 else name[:100])


class Schemas:
    """The schemas of one document, converted one by one."""

    def __init__(self, references: References, *, is_old: bool, beat: Callable[[], None] = lambda: None) -> None:
        self._references = references
        self._is_old = is_old
        self._beat = beat
        self._kept: dict[tuple[int, str], tuple[Any, Schema | Unusable]] = {}
        self._names: dict[str, str] = {}
        self._nodes: dict[str, Any] = {}
        self._converted: dict[str, Schema | bool | Unusable] = {}
        self._hidden: dict[str, frozenset[str]] = {}
        self._only_read: dict[str, bool] = {}
        self._spellings: dict[str, Counter[str]] = {}
        self._warnings: dict[str, None] = {}

    @property
    def warnings(self) -> list[str]:
        """What was changed in the schemas converted so far."""
        return list(self._warnings)

    def converted(self, raw: Any, what: str = "a schema") -> Schema:
        """The schema as JSON Schema 2020-12 with references into `$defs`; raises Unusable."""
        found = self._convert(raw, _At(what))
        return found if isinstance(found, dict) else ({} if found else {"not": {}})

    def kept(self, raw: Any, what: str = "a schema") -> Schema:
        """The same for a part of the document itself, which many operations may share, converted once."""
        if (id(raw), what) not in self._kept:
            found: Schema | Unusable
            try:
                found = self.converted(raw, what)
            except Unusable as error:
                found = error
            self._kept[id(raw), what] = (raw, found)  # itself too, so that its id stays its own
        found = self._kept[id(raw), what][1]
        if isinstance(found, Unusable):
            raise Unusable(str(found))
        return found

    def named(self, name: str) -> Schema | bool:
        """The entry of `$defs` that a reference made here names; raises Unusable."""
        if name not in self._converted:
            try:
                self._converted[name] = self._convert(self._nodes[name], _At(f"the schema '{name}'"))
            except Unusable as error:
                self._converted[name] = error
        found = self._converted[name]
        if isinstance(found, Unusable):
            raise Unusable(str(found))
        return found

    def resolved(self, schema: Any) -> Schema | bool:
        """The schema behind one that is no more than a reference."""
        for _ in range(MAX_DEPTH):
            if not isinstance(schema, dict) or "$ref" not in schema:
                break
            schema = self.named(schema["$ref"].removeprefix(DEFS))
        return schema if isinstance(schema, dict | bool) else True

    def only_read(self, raw: Any, depth: int = 0) -> frozenset[str]:
        """The names of properties that a schema, or a part of its allOf, declares as only read."""
        if not isinstance(raw, dict) or depth > MAX_DEPTH:
            return frozenset()
        found: set[str] = set()
        pointer, node = self._target(raw)
        if pointer:
            if pointer not in self._hidden:
                self._hidden[pointer] = frozenset()
                self._hidden[pointer] = self.only_read(node, depth + 1)
            found |= self._hidden[pointer]
        properties, parts = raw.get("properties"), raw.get("allOf")
        if isinstance(properties, dict):
            found |= {name for name, item in properties.items() if isinstance(name, str) and self._is_only_read(item)}
        for part in parts if isinstance(parts, list) else ():
            found |= self.only_read(part, depth + 1)
        return frozenset(found)

    def _convert(self, raw: Any, at: _At) -> Schema | bool:
        self._beat()
        if isinstance(raw, bool):
            return raw
        if not isinstance(raw, dict):
            raise Unusable(f"{at.what} must be an object, not {kind_of(raw)}")
        if at.depth > MAX_DEPTH:
            raise Unusable(f"{at.what} is nested more than {MAX_DEPTH} levels deep")
        schema: Schema = {}
        for word in _REFERENCES:
            if word in raw:
                schema["$ref"] = DEFS + self._name(raw[word])
                if self._is_old:
                    raw = {key: value for key, value in raw.items() if key in _BESIDE}
        own = self.only_read(raw)
        hidden = at.hidden if own <= at.hidden else at.hidden | own
        for word, value in raw.items():
            if word in _COPIED:
                fit_keyword(schema, word, value, lambda text: self._warn(at, text))
            elif word == "items" and isinstance(value, list):  # a tuple, as older drafts say it
                schema["prefixItems"] = [self._convert(item, at.below()) for item in value]
            elif word in HELD:
                schema[word] = self._convert_held(word, value, at.below(hidden if word == "allOf" else frozenset()))
        _without(schema, hidden)
        _describe(schema, raw)
        _tidy(schema)
        return _nullable(schema) if raw.get("nullable") is True or raw.get("x-nullable") is True else schema

    def _warn(self, at: _At, text: str) -> None:
        if len(self._warnings) < MOST_WARNINGS:
            where = f"'{at.property}' in {at.what}" if at.property else at.what
            self._warnings[f"{where}: {text}"] = None

    def _convert_held(self, word: str, value: Any, at: _At) -> Any:
        how = HELD[word]
        if how == "one":
            return self._convert(value, at)
        if how == "list":
            if not isinstance(value, list):
                raise Unusable(f"{word} in {at.what} must be a list, not {kind_of(value)}")
            return [self._convert(item, at) for item in value]
        if not isinstance(value, dict):
            raise Unusable(f"{word} in {at.what} must be an object, not {kind_of(value)}")
        if not all(isinstance(name, str) for name in value):
            raise Unusable(f"{word} in {at.what} has a name that is no text")
        return {
            name: self._convert(item, at.under(name))
            for name, item in value.items()
            if not (word == "properties" and self._is_only_read(item))
        }

    def _name(self, reference: Any) -> str:
        pointer, node = self._references.find(reference)
        if not pointer:
            raise Unusable(f"{shown(reference)} names the whole document, which is no schema")
        if pointer not in self._names:
            name = self._free_name(pointer)
            self._names[pointer] = name
            self._nodes[name] = node
        return self._names[pointer]

    def _free_name(self, pointer: str) -> str:
        """A name that is the same whichever other schemas the document has."""
        last = pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
        name = _NOT_IN_DEFS.sub("_", last)[:100] or "schema"
        container = pointer.removesuffix(pointer.rpartition("/")[2])
        if container in _CONTAINERS and self._spelled_so(container, name) == 1 and name not in self._nodes:
            return name
        for length in range(6, 65, 2):
            longer = f"{name}_{digest_of(pointer, length)}"
            if longer not in self._nodes:
                return longer
        raise AssertionError("two pointers of one digest")

    def _spelled_so(self, container: str, name: str) -> int:
        if container not in self._spellings:
            siblings = self._references.find("#" + container.rstrip("/"))[1]
            self._spellings[container] = Counter(
                _NOT_IN_DEFS.sub("_", key)[:100] or "schema" for key in siblings if isinstance(key, str)
            )
        return self._spellings[container][name]

    def _is_only_read(self, raw: Any, depth: int = 0) -> bool:
        """Whether a property is never sent; also where only a reference or a part of an allOf says so."""
        self._beat()
        if not isinstance(raw, dict) or depth > MAX_DEPTH:
            return False
        if raw.get("readOnly") is True:
            return True
        pointer, node = self._target(raw)
        if pointer:
            if pointer not in self._only_read:
                self._only_read[pointer] = False  # for those that refer back to it
                self._only_read[pointer] = self._is_only_read(node, depth + 1)
            return self._only_read[pointer]
        parts = raw.get("allOf")
        return isinstance(parts, list) and any(self._is_only_read(part, depth + 1) for part in parts)

    def _target(self, raw: Schema) -> tuple[str, Any]:
        if "$ref" not in raw:
            return "", None
        try:
            return self._references.find(raw["$ref"])
        except Unusable:
            return "", None


def _without(schema: Schema, hidden: frozenset[str]) -> None:
    required = schema.get("required")
    if isinstance(required, list) and all(isinstance(name, str) for name in required):
        schema["required"] = [name for name in dict.fromkeys(required) if name not in hidden]
    if schema.get("required") in ([], True, False):  # a boolean is how Draft 3 said it of a property
        del schema["required"]


def _describe(schema: Schema, raw: Schema) -> None:
    description = cut_readably(clean(raw.get("description")), TEXT_LENGTH)
    title = clean(raw.get("title"))
    if description:
        schema["description"] = description
    elif title:
        schema["title"] = cut_readably(title, TEXT_LENGTH)
    if raw.get("deprecated") is True:
        schema["deprecated"] = True
    if examples := modest(raw):
        schema["examples"] = examples


def _tidy(schema: Schema) -> None:
    """Say in today's words what older versions said otherwise."""
    kind = schema.get("type")
    if kind == "file":
        schema |= {"type": "string", "format": "binary"}
    elif isinstance(kind, str):
        meant = _MEANT.get(kind.lower(), kind.lower())
        if meant is None:
            del schema["type"]
        else:
            schema["type"] = meant
    if "format" in schema and not isinstance(schema["format"], str):
        del schema["format"]
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(schema.get(exclusive), bool) and schema.pop(exclusive) and bound in schema:
            schema[exclusive] = schema.pop(bound)
    if "default" in schema and not fits(schema["default"], schema):
        del schema["default"]


def _nullable(schema: Schema) -> Schema:
    """The schema, which null fits too."""
    kinds = schema.get("type")
    if not schema.keys() & {"$ref", "allOf", "anyOf", "oneOf", "not", "const"}:
        if isinstance(kinds, str) and kinds != "null":
            schema["type"] = [kinds, "null"]
        elif isinstance(kinds, list) and "null" not in kinds:
            schema["type"] = [*kinds, "null"]
        if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
            schema["enum"] = [*schema["enum"], None]
        return schema
    outside: Schema = {word: schema.pop(word) for word in _OUTSIDE if word in schema}
    return {"anyOf": [schema, {"type": "null"}], **outside}
