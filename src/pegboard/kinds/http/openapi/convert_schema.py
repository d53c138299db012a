"""Converts schemas of all versions of OpenAPI and Swagger to JSON Schema 2020-12 for requests.

OpenAPI keywords are translated or dropped, and read-only properties are left out. Each `$ref` names an entry of
`$defs`, which is converted on demand. Examples and defaults are kept if they are small and match the schema.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import orjson

from pegboard.json_schema.compile import compile_validator
from pegboard.json_schema.schema_document import DRAFT_2020, split_pointer
from pegboard.json_schema.storable_json import find_unstorable
from pegboard.json_schema.wide_integers import fit_keyword
from pegboard.kinds.http.openapi.document_references import (
    DocumentReferences,
    PartCache,
    Unusable,
    check_type,
    quote_reference,
)
from pegboard.kinds.import_names import clean_text, make_short_digest, shorten_text

MAX_EXAMPLES = 3
MAX_EXAMPLE_BYTES = 400

_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int, float),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
_SIMPLE_KEYWORDS = frozenset(
    {"type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
) | {
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "multipleOf",
    "default",
    "description",
    "title",
    "examples",
    "deprecated",
    "contentEncoding",
    "contentMediaType",
}


def pick_examples(raw: dict[str, Any]) -> list[Any]:
    """Return a few examples of a schema, a parameter or a body, none of them large."""
    given: list[Any] = [raw["example"]] if "example" in raw else []
    several = raw.get("examples")
    if isinstance(several, dict):
        given += [each["value"] for each in several.values() if isinstance(each, dict) and "value" in each]
    elif isinstance(several, list):
        given += several
    kept: list[Any] = []
    room = MAX_EXAMPLE_BYTES
    for value in given:
        if len(kept) == MAX_EXAMPLES:
            break
        size = _measure_example(value)
        if size <= room and value not in kept:
            kept.append(value)
            room -= size
    return kept


def fits_schema(value: Any, schema: dict[str, Any]) -> bool:
    """True if a default matches its schema, without following references."""
    kinds = schema.get("type")
    named = [kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(kind, str)]
    if named and not any(_is_of_type(value, kind) for kind in named):
        return False
    if isinstance(schema.get("enum"), list) and value not in schema["enum"]:
        return False
    if not schema.keys() - {"type", "enum", "default", "description", "title", "examples", "format"} or (
        schema.keys() - _SIMPLE_KEYWORDS
    ):
        return "format" not in schema or _is_valid_for_schema(value, {"format": schema["format"]})
    return _is_valid_for_schema(value, schema)


def _is_valid_for_schema(value: Any, schema: dict[str, Any]) -> bool:
    try:
        return compile_validator({"$schema": DRAFT_2020, **schema}).is_valid(value)
    except ValueError:
        return True  # an invalid schema is reported when the whole schema is checked


def _is_of_type(value: Any, kind: str) -> bool:
    if kind not in _PYTHON_TYPES:
        return True
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _PYTHON_TYPES[kind])


def _measure_example(value: Any) -> int:
    if isinstance(value, str) and len(value) > MAX_EXAMPLE_BYTES:
        return MAX_EXAMPLE_BYTES + 1
    try:
        return len(orjson.dumps(value)) if not find_unstorable({"": value}) else MAX_EXAMPLE_BYTES + 1
    except (TypeError, ValueError):
        return MAX_EXAMPLE_BYTES + 1


Schema = dict[str, Any]

DEFS_PREFIX = "#/$defs/"
MAX_DEPTH = 48
MAX_TEXT_LENGTH = 2000
MAX_WARNINGS = 50

SUBSCHEMA_KEYWORDS = {
    "not": "one", "if": "one", "then": "one", "else": "one", "additionalProperties": "one", "propertyNames": "one",
    "contains": "one", "items": "one", "unevaluatedItems": "one", "unevaluatedProperties": "one",
    "allOf": "list", "anyOf": "list", "oneOf": "list", "prefixItems": "list",
    "properties": "map", "patternProperties": "map", "dependentSchemas": "map",
}  # fmt: skip
_COPIED_KEYWORDS = frozenset({
    "type", "enum", "const", "multipleOf", "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "maxLength",
    "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxContains", "minContains", "maxProperties",
    "minProperties", "required", "dependentRequired", "format", "contentEncoding", "contentMediaType", "default",
})  # fmt: skip
# Siblings of a $ref, which versions before 3.1 ignore, but documents use; keeping them does no harm.
_REFERENCE_SIBLINGS = frozenset({"$ref", "description", "nullable", "x-nullable", "deprecated", "readOnly"})
_REFERENCE_KEYWORDS = ("$ref", "$dynamicRef")
_ANNOTATION_KEYWORDS = ("title", "description", "default", "deprecated")
# Types that no version defines but that real documents contain.
_TYPE_SYNONYMS = {
    "int": "integer", "int32": "integer", "int64": "integer", "long": "integer", "float": "number", "double": "number",
    "decimal": "number", "bool": "boolean", "str": "string", "text": "string", "date": "string", "datetime": "string",
    "date-time": "string", "uuid": "string", "list": "array", "dict": "object", "map": "object", "any": None,
}  # fmt: skip
_CONTAINERS = ("/components/schemas/", "/definitions/")
_NOT_IN_DEFS = re.compile(r"[^A-Za-z0-9_.-]+", re.ASCII)


class _SchemaContext(NamedTuple):
    """The position of a schema in the document, and the names of its hidden read-only properties."""

    what: str
    depth: int = 0
    hidden: frozenset[str] = frozenset()
    property: str = ""

    def below(self, hidden: frozenset[str] = frozenset()) -> _SchemaContext:
        return _SchemaContext(self.what, self.depth + 1, hidden, self.property)

    def under(self, name: str) -> _SchemaContext:
        what = f"'{name[:100]}' in {self.what}" if self.depth == 1 else self.what
        return self._replace(what=what, property="" if self.depth == 1 else name[:100])


class SchemaConverter:
    """Converts the schemas of one document on demand."""

    def __init__(
        self, references: DocumentReferences, *, is_old: bool, beat: Callable[[], None] = lambda: None
    ) -> None:
        self._references = references
        self._is_before_3_1 = is_old
        self._beat = beat
        self._cache: PartCache[Schema] = PartCache()
        self._names: dict[str, str] = {}
        self._nodes: dict[str, Any] = {}
        self._converted: PartCache[Schema | bool] = PartCache()
        self._hidden: dict[str, frozenset[str]] = {}
        self._read_only_names: dict[str, bool] = {}
        self._spellings: dict[str, Counter[str]] = {}
        self._warnings: dict[str, None] = {}

    @property
    def warnings(self) -> list[str]:
        """The changes made to the schemas converted so far."""
        return list(self._warnings)

    def convert(self, raw: Any, what: str = "a schema") -> Schema:
        """Convert the schema to JSON Schema 2020-12 with references into `$defs`; raise Unusable."""
        found = self._convert(raw, _SchemaContext(what))
        return found if isinstance(found, dict) else ({} if found else {"not": {}})

    def convert_cached(self, raw: Any, what: str = "a schema") -> Schema:
        """Convert a part of the document once and cache it, because many operations may share it; raise Unusable."""
        return self._cache.get(raw, lambda: self.convert(raw, what), what)

    def get_converted(self, name: str) -> Schema | bool:
        """Return the entry of `$defs` that a converted reference names; raise Unusable."""
        node = self._nodes[name]
        return self._converted.get(node, lambda: self._convert(node, _SchemaContext(f"the schema '{name}'")), name)

    def resolve_references(self, schema: Any) -> Schema | bool:
        """Follow references and return the schema itself."""
        for _ in range(MAX_DEPTH):
            if not isinstance(schema, dict) or "$ref" not in schema:
                break
            schema = self.get_converted(schema["$ref"].removeprefix(DEFS_PREFIX))
        return schema if isinstance(schema, dict | bool) else True

    def list_read_only(self, raw: Any, depth: int = 0) -> frozenset[str]:
        """Return the names of the read-only properties of a schema, including those in its allOf."""
        if not isinstance(raw, dict) or depth > MAX_DEPTH:
            return frozenset()
        found: set[str] = set()
        pointer, node = self._target(raw)
        if pointer:
            if pointer not in self._hidden:
                self._hidden[pointer] = frozenset()
                self._hidden[pointer] = self.list_read_only(node, depth + 1)
            found |= self._hidden[pointer]
        properties, parts = raw.get("properties"), raw.get("allOf")
        if isinstance(properties, dict):
            found |= {name for name, item in properties.items() if isinstance(name, str) and self._is_read_only(item)}
        for part in parts if isinstance(parts, list) else ():
            found |= self.list_read_only(part, depth + 1)
        return frozenset(found)

    def _convert(self, raw: Any, at: _SchemaContext) -> Schema | bool:
        self._beat()
        if isinstance(raw, bool):
            return raw
        check_type(raw, dict, at.what)
        if at.depth > MAX_DEPTH:
            raise Unusable(f"{at.what} is nested more than {MAX_DEPTH} levels deep")
        schema: Schema = {}
        for word in _REFERENCE_KEYWORDS:
            if word in raw:
                schema["$ref"] = DEFS_PREFIX + self._name(raw[word])
                if self._is_before_3_1:
                    raw = {key: value for key, value in raw.items() if key in _REFERENCE_SIBLINGS}
        own = self.list_read_only(raw)
        hidden = at.hidden if own <= at.hidden else at.hidden | own
        for word, value in raw.items():
            if word in _COPIED_KEYWORDS:
                fit_keyword(schema, word, value, lambda text: self._warn(at, text))
            elif word == "items" and isinstance(value, list):  # a tuple in older drafts
                schema["prefixItems"] = [self._convert(item, at.below()) for item in value]
            elif word in SUBSCHEMA_KEYWORDS:
                schema[word] = self._convert_subschema(
                    word, value, at.below(hidden if word == "allOf" else frozenset())
                )
        _hide_properties(schema, hidden)
        _describe(schema, raw)
        _modernize_keywords(schema)
        return _make_nullable(schema) if raw.get("nullable") is True or raw.get("x-nullable") is True else schema

    def _warn(self, at: _SchemaContext, text: str) -> None:
        if len(self._warnings) < MAX_WARNINGS:
            where = f"'{at.property}' in {at.what}" if at.property else at.what
            self._warnings[f"{where}: {text}"] = None

    def _convert_subschema(self, word: str, value: Any, at: _SchemaContext) -> Any:
        how = SUBSCHEMA_KEYWORDS[word]
        if how == "one":
            return self._convert(value, at)
        if how == "list":
            check_type(value, list, f"{word} in {at.what}")
            return [self._convert(item, at) for item in value]
        check_type(value, dict, f"{word} in {at.what}")
        if not all(isinstance(name, str) for name in value):
            raise Unusable(f"{word} in {at.what} has a name that is not a text")
        return {
            name: self._convert(item, at.under(name))
            for name, item in value.items()
            if not (word == "properties" and self._is_read_only(item))
        }

    def _name(self, reference: Any) -> str:
        pointer, node = self._references.find(reference)
        if not pointer:
            raise Unusable(f"{quote_reference(reference)} names the whole document, which is not a schema")
        if pointer not in self._names:
            name = self._free_name(pointer)
            self._names[pointer] = name
            self._nodes[name] = node
        return self._names[pointer]

    def _free_name(self, pointer: str) -> str:
        """Return a name that does not depend on the document's other schemas."""
        last = pointer.rpartition("/")[2]  # an anchor has no slash
        container = pointer.removesuffix(last)
        name = _NOT_IN_DEFS.sub("_", split_pointer(f"/{last}")[0])[:100] or "schema"
        if container in _CONTAINERS and self._count_spellings(container, name) == 1 and name not in self._nodes:
            return name
        for length in range(6, 65, 2):
            longer = f"{name}_{make_short_digest(pointer, length)}"
            if longer not in self._nodes:
                return longer
        raise AssertionError("two pointers of one digest")

    def _count_spellings(self, container: str, name: str) -> int:
        if container not in self._spellings:
            siblings = self._references.find("#" + container.rstrip("/"))[1]
            self._spellings[container] = Counter(
                _NOT_IN_DEFS.sub("_", key)[:100] or "schema" for key in siblings if isinstance(key, str)
            )
        return self._spellings[container][name]

    def _is_read_only(self, raw: Any, depth: int = 0) -> bool:
        """True if a property is never sent, also if only a reference or a part of an allOf declares that."""
        self._beat()
        if not isinstance(raw, dict) or depth > MAX_DEPTH:
            return False
        if raw.get("readOnly") is True:
            return True
        pointer, node = self._target(raw)
        if pointer:
            if pointer not in self._read_only_names:
                self._read_only_names[pointer] = False  # for references back to it
                self._read_only_names[pointer] = self._is_read_only(node, depth + 1)
            return self._read_only_names[pointer]
        parts = raw.get("allOf")
        return isinstance(parts, list) and any(self._is_read_only(part, depth + 1) for part in parts)

    def _target(self, raw: Schema) -> tuple[str, Any]:
        if "$ref" not in raw:
            return "", None
        try:
            return self._references.find(raw["$ref"])
        except Unusable:
            return "", None


def _hide_properties(schema: Schema, hidden: frozenset[str]) -> None:
    required = schema.get("required")
    if isinstance(required, list) and all(isinstance(name, str) for name in required):
        schema["required"] = [name for name in dict.fromkeys(required) if name not in hidden]
    if schema.get("required") in ([], True, False):  # a boolean is Draft 3's form for a property
        del schema["required"]


def _describe(schema: Schema, raw: Schema) -> None:
    description = shorten_text(clean_text(raw.get("description")), MAX_TEXT_LENGTH)
    title = clean_text(raw.get("title"))
    if description:
        schema["description"] = description
    elif title:
        schema["title"] = shorten_text(title, MAX_TEXT_LENGTH)
    if raw.get("deprecated") is True:
        schema["deprecated"] = True
    if examples := pick_examples(raw):
        schema["examples"] = examples


def _modernize_keywords(schema: Schema) -> None:
    """Replace the keywords of older versions by current ones."""
    kind = schema.get("type")
    if kind == "file":
        schema |= {"type": "string", "format": "binary"}
    elif isinstance(kind, str):
        meant = _TYPE_SYNONYMS.get(kind.lower(), kind.lower())
        if meant is None:
            del schema["type"]
        else:
            schema["type"] = meant
    if "format" in schema and not isinstance(schema["format"], str):
        del schema["format"]
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(schema.get(exclusive), bool) and schema.pop(exclusive) and bound in schema:
            schema[exclusive] = schema.pop(bound)
    if "default" in schema and not fits_schema(schema["default"], schema):
        del schema["default"]


def _make_nullable(schema: Schema) -> Schema:
    """Return the schema extended to allow null."""
    kinds = schema.get("type")
    if not schema.keys() & {"$ref", "allOf", "anyOf", "oneOf", "not", "const"}:
        if isinstance(kinds, str) and kinds != "null":
            schema["type"] = [kinds, "null"]
        elif isinstance(kinds, list) and "null" not in kinds:
            schema["type"] = [*kinds, "null"]
        if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
            schema["enum"] = [*schema["enum"], None]
        return schema
    outside: Schema = {word: schema.pop(word) for word in _ANNOTATION_KEYWORDS if word in schema}
    return {"anyOf": [schema, {"type": "null"}], **outside}
