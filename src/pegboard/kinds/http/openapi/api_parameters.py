"""Reads the parameters of an operation in OpenAPI 3."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from pegboard.kinds.config_fields import check_header
from pegboard.kinds.http.openapi.convert_schema import MAX_TEXT_LENGTH, Schema, SchemaConverter, pick_examples
from pegboard.kinds.http.openapi.document_references import (
    DocumentReferences,
    PartCache,
    Unusable,
    check_type,
    quote_reference,
)
from pegboard.kinds.http.openapi.media_types import classify_media_type
from pegboard.kinds.http.openapi.naming import join_paragraphs
from pegboard.kinds.import_names import clean_text, shorten_text

T = TypeVar("T")
Style = dict[str, Any]

# More than any real API has; bounds the work per operation.
MAX_PARAMETERS = 1000

SCALAR_TYPES = frozenset({"string", "integer", "number", "boolean", "null"})

_STYLES: dict[str, tuple[str, ...]] = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
    "cookie": ("form",),
    "body": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
}
# OpenAPI defines these elsewhere: in the media types and in the security schemes.
_IGNORED_HEADERS = frozenset({"accept", "content-type", "authorization"})
_HEADER_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a request: its place, its name and its style."""

    name: str
    place: str
    schema: Schema
    required: bool = False
    style: Style | None = None


@dataclass(slots=True)
class OperationNotes:
    """Parts of an operation that are left out while the rest is imported."""

    texts: list[str] = field(default_factory=list)

    def leave_out(self, what: str, why: str, *, required: bool = False) -> None:
        """Record a part that cannot be expressed; raise Unusable if the operation requires it."""
        if required:
            raise Unusable(f"{what} is required, and {why}")
        self.texts.append(f"without {what}: {why}")


NotedCache = PartCache[tuple[T, list[str]]]


def read_once(
    cache: NotedCache[T],
    part: Any,
    notes: OperationNotes,
    read: Callable[[OperationNotes], T],
    key: Hashable = None,
) -> T:
    """Return what `read` returned for this part of the document the first time, and add the notes from then."""

    def compute() -> tuple[T, list[str]]:
        own = OperationNotes()
        return read(own), own.texts

    found, texts = cache.get(part, compute, key)
    notes.texts += texts
    return found


def list_declared_parameters(references: DocumentReferences, *holders: Any) -> list[dict[str, Any]]:
    """Return the parameters of a path and its operation; the operation's replace the path's."""
    count = sum(len(given) for given in holders if isinstance(given, list))
    if count > MAX_PARAMETERS:
        raise Unusable(f"it has {count:,} parameters, and a tool takes at most {MAX_PARAMETERS:,}")
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for given in holders:
        if given is None:
            continue
        check_type(given, list, "parameters")
        for each in given:
            raw = references.resolve_object(each, "a parameter")
            name, place = raw.get("name"), raw.get("in")
            if not isinstance(place, str):
                raise Unusable(f"a parameter must name its place with `in`; {quote_reference(name)} does not")
            if not isinstance(name, str) or not name:
                raise Unusable(f"a parameter in {place[:20]} must have a name, which is a text")
            found[place, name.lower() if place == "header" else "" if place == "body" else name] = raw
    return list(found.values())


class ParameterReader:
    """Reads parameters, each one once."""

    def __init__(self, schemas: SchemaConverter) -> None:
        self._schemas = schemas
        self._read: NotedCache[Parameter | None] = PartCache()

    def read(self, raws: list[dict[str, Any]], notes: OperationNotes) -> list[Parameter]:
        """Return the parameters that can be sent; others are noted, or raise Unusable if they are required."""
        found = (read_once(self._read, raw, notes, partial(self._new, raw)) for raw in raws)
        return [parameter for parameter in found if parameter is not None]

    def _new(self, raw: dict[str, Any], notes: OperationNotes) -> Parameter | None:
        name, place = raw["name"], raw["in"]
        required = raw.get("required") is True or place == "path"
        what = f"the {place} parameter '{name[:100]}'"
        if place not in ("path", "query", "header", "cookie"):
            notes.leave_out(what, f"'{place[:20]}' is not a place that tools can send to", required=required)
            return None
        if not is_sendable(name, place, what, notes, required=required):
            return None
        if "content" in raw:
            schema, style = self._read_content_schema(raw, what, notes, required=required)
            if schema is None:
                return None
        elif "schema" in raw:
            schema = self._schemas.convert_cached(raw["schema"], what)
            style = choose_style(place, raw, self._schemas.resolve_references(schema), what)
        else:
            schema, style = {"type": "string"}, None
        return Parameter(name, place, add_description(schema, raw), required, style)

    def _read_content_schema(
        self, raw: dict[str, Any], what: str, notes: OperationNotes, *, required: bool
    ) -> tuple[Schema | None, Style | None]:
        content = raw["content"]
        if not isinstance(content, dict) or len(content) != 1:
            raise Unusable(f"content of {what} must be an object with one media type")
        media_type, entry = next(iter(content.items()))
        check_type(entry, dict, f"content of {what}")
        schema = self._schemas.convert_cached(entry.get("schema", {}), what)
        kind = classify_media_type(media_type)
        if kind == "json":
            return schema, {"style": "json"}
        if kind == "text":
            return (schema if is_scalar(self._schemas.resolve_references(schema)) else {"type": "string"}), None
        notes.leave_out(what, f"its media type is {str(media_type)[:100]}", required=required)
        return None, None


def is_sendable(name: str, place: str, what: str, notes: OperationNotes, *, required: bool) -> bool:
    """True if a parameter with this name can be sent in its place; if not, add a note."""
    if place == "header":
        if name.lower() in _IGNORED_HEADERS:
            return False
        try:
            check_header(name)
        except ValueError as error:
            is_own = _HEADER_TOKEN.fullmatch(name) is not None
            notes.leave_out(what, str(error), required=required and not is_own)
            return False
    if place == "cookie" and not _HEADER_TOKEN.fullmatch(name):
        notes.leave_out(what, "a cookie cannot have this name", required=required)
        return False
    if "{{" in name:
        # In a config, that would refer to a secret of the importing user.
        notes.leave_out(what, "its name holds '{{'", required=required)
        return False
    return True


def choose_style(place: str, raw: dict[str, Any], schema: Any, what: str) -> Style | None:
    """Return the style of the values, or None if it is the default in this place."""
    usual = _STYLES[place][0]
    style, explode = raw.get("style", usual), raw.get("explode")
    if style == "cookie" and place == "cookie":
        style = "form"
    if style not in _STYLES[place]:
        raise Unusable(f"{what} has the style {quote_reference(style)}; known there: {', '.join(_STYLES[place])}")
    if explode is not None:
        check_type(explode, bool, f"explode of {what}")
    found: Style = {"style": style}
    if is_scalar(schema):
        if style in ("spaceDelimited", "pipeDelimited", "deepObject"):
            found["style"] = usual
    elif explode is not None and explode != (style == "form") and style != "deepObject":
        found["explode"] = explode
    if raw.get("allowReserved") is True and place in ("query", "body"):
        found["allow_reserved"] = True
    return None if found == {"style": usual} else found


def is_scalar(schema: Any) -> bool:
    """True if every value of the schema is a scalar: no array, no object."""
    if not isinstance(schema, dict):
        return False
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return bool(kinds) and all(isinstance(kind, str) and kind in SCALAR_TYPES for kind in kinds)
    return isinstance(kinds, str) and kinds in SCALAR_TYPES


def add_description(schema: Schema, raw: dict[str, Any]) -> Schema:
    """Return the schema with the description, examples and deprecation of its parameter or body."""
    is_deprecated = raw.get("deprecated") is True or schema.get("deprecated") is True
    text = join_paragraphs(clean_text(raw.get("description")), schema.get("description", ""))
    if is_deprecated:
        text = f"Deprecated. {text}".strip()
    whole = dict(schema)
    if text:
        whole.pop("title", None)
        whole["description"] = shorten_text(text, MAX_TEXT_LENGTH)
    if is_deprecated:
        whole["deprecated"] = True
    if "examples" not in whole and (examples := pick_examples(raw)):
        whole["examples"] = examples
    return whole
