"""Reads the bodies of an operation: media types, fields of objects and forms, and files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pegboard.kinds.http.openapi.api_parameters import (
    MAX_PARAMETERS,
    NotedCache,
    OperationNotes,
    Parameter,
    add_description,
    choose_style,
    is_scalar,
    read_once,
)
from pegboard.kinds.http.openapi.convert_schema import DEFS_PREFIX, Schema, SchemaConverter
from pegboard.kinds.http.openapi.document_references import (
    DocumentReferences,
    PartCache,
    Unusable,
    check_type,
)
from pegboard.kinds.http.openapi.media_types import (
    choose_content_type,
    classify_media_type,
    rank_media_type,
    strip_media_type,
)

MAX_DEPTH = 8
MAX_PARTS = 200

# An object schema with other keywords cannot be split into fields.
_FLATTENABLE_KEYWORDS = frozenset({
    "$ref", "type", "title", "description", "properties", "required", "additionalProperties", "allOf", "examples",
    "deprecated",
})  # fmt: skip


@dataclass(slots=True)
class FlatObject:
    """The fields of an object, empty if it cannot be split, and the schema of additional properties, if any."""

    properties: dict[str, Any] = field(default_factory=dict)
    required: dict[str, None] = field(default_factory=dict)
    rest: Any = None
    parts: int = 0


class BodyFlattener:
    """Splits the bodies of one document into fields."""

    def __init__(self, references: DocumentReferences, schemas: SchemaConverter) -> None:
        self._references = references
        self._schemas = schemas

    def flatten(self, raw: Any, schema: Schema) -> FlatObject:
        """Return the fields of a schema, given in its original and converted forms; raise Unusable."""
        if isinstance(raw, dict) and "discriminator" in self._references.resolve_object(raw, "its body"):
            return FlatObject()  # subtypes may have further fields, which would be dropped
        found = FlatObject()
        if not self._add(found, schema, 0) or not found.properties:
            return FlatObject()
        hidden = self._schemas.list_read_only(raw)
        found.required = {name: None for name in found.required if name in found.properties or name not in hidden}
        for name in found.required:
            found.properties.setdefault(name, {})
        return found if len(found.properties) <= MAX_PARAMETERS else FlatObject()

    def _add(self, found: FlatObject, schema: Any, depth: int) -> bool:
        """Add the schema's fields; return False if that is not possible."""
        found.parts += 1
        is_too_large = depth > MAX_DEPTH or found.parts > MAX_PARTS
        if is_too_large or not isinstance(schema, dict) or schema.keys() - _FLATTENABLE_KEYWORDS:
            return False
        if schema.get("type", "object") not in ("object", ["object"], ["object", "null"], ["null", "object"]) or (
            len(schema.get("properties", ())) > MAX_PARAMETERS
        ):
            return False
        parts = [self._schemas.get_converted(schema["$ref"].removeprefix(DEFS_PREFIX))] if "$ref" in schema else []
        parts += schema.get("allOf", ())
        if not all(self._add(found, part, depth + 1) for part in parts):
            return False
        own, required = schema.get("properties", {}), schema.get("required", [])
        if "additionalProperties" in schema:
            if parts or (depth and found.properties):
                return False  # it concerns only the properties of this schema
            found.rest = schema["additionalProperties"]
        elif found.rest is not None and own:
            return False
        for name, item in own.items():
            before = found.properties.get(name, item)
            found.properties[name] = item if before == item else {"allOf": [before, item]}
        if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
            raise Unusable("required in its body must be a list of names")
        found.required |= dict.fromkeys(required)
        return True


_FILE_SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "filename": {"type": "string"},
        "content_type": {"type": "string", "description": "Media type of the file"},
        "base64": {"type": "string", "description": "The bytes of the file in base64"},
        "text": {"type": "string", "description": "The content of the file, if it is text"},
    },
    "oneOf": [{"required": ["base64"]}, {"required": ["text"]}],
    "additionalProperties": False,
}
# How deep alternatives and items are searched for files.
_MAX_FILE_DEPTH = 8
_COMBINING_KEYWORDS = ("anyOf", "oneOf", "allOf")


def convert_form_fields(
    fields: list[Parameter], encoding: Any, schemas: SchemaConverter, *, is_multipart: bool
) -> tuple[list[Parameter], dict[str, str]]:
    """Return the fields with their form styles, and the media types of parts; raise Unusable."""
    if encoding is not None:
        check_type(encoding, dict, "encoding of its body")
    found: list[Parameter] = []
    part_types: dict[str, str] = {}
    for each in fields:
        options = (encoding or {}).get(each.name, {})
        check_type(options, dict, f"encoding of '{each.name[:100]}'")
        style = choose_style("body", options, schemas.resolve_references(each.schema), f"the field '{each.name[:100]}'")
        media_type: Any = options.get("contentType")
        if classify_media_type(media_type) == "json" and not is_multipart and "style" not in options:
            style = {"style": "json"}
        if is_multipart and classify_media_type(media_type) != "unknown" and "*" not in media_type:
            part_types[each.name] = media_type
        sent = convert_file_parameter(each, schemas) if is_multipart else each
        found.append(replace(sent, style=style))
    return found, part_types


def convert_file_parameter(parameter: Parameter, schemas: SchemaConverter) -> Parameter:
    """Return the parameter with a file object instead of bytes, also within an array."""
    schema = replace_bytes_with_files(parameter.schema, schemas)
    return parameter if schema is parameter.schema else replace(parameter, schema=schema)


def replace_bytes_with_files(schema: Any, schemas: SchemaConverter, *, fields: bool = False, depth: int = 0) -> Any:
    """Return the schema with files instead of bytes: itself, items, alternatives and, with `fields`, properties."""
    meant = schemas.resolve_references(schema)
    if not isinstance(meant, dict) or depth > _MAX_FILE_DEPTH:
        return schema
    if is_binary(meant):
        return build_file_schema(schema)
    changed: Schema = {}
    if "items" in meant:
        changed["items"] = replace_bytes_with_files(meant["items"], schemas, depth=depth + 1)
    for word in _COMBINING_KEYWORDS:
        if word in meant:
            changed[word] = [
                replace_bytes_with_files(each, schemas, fields=fields, depth=depth + 1) for each in meant[word]
            ]
    if fields and "properties" in meant:
        changed["properties"] = {
            name: replace_bytes_with_files(each, schemas, depth=depth + 1) for name, each in meant["properties"].items()
        }
    changed = {word: value for word, value in changed.items() if value != meant[word]}
    if not changed:
        return schema
    whole = {**meant, **changed}
    if "oneOf" in changed and "anyOf" not in whole:
        whole["anyOf"] = whole.pop("oneOf")  # a file may match another alternative too
    return whole if schema is meant else add_description(whole, schema)


def build_file_schema(about: Schema, *, is_body: bool = False, has_type: bool = True) -> Schema:
    """Return the schema of a file with the description of the original; a body has no file name."""
    dropped = {*(["filename"] if is_body else []), *([] if has_type else ["content_type"])}
    properties = {name: each for name, each in _FILE_SCHEMA["properties"].items() if name not in dropped}
    whole = {**_FILE_SCHEMA, "properties": properties}
    return add_description(whole, {word: about[word] for word in ("description", "deprecated") if word in about})


def is_binary(schema: Any) -> bool:
    """True if the values are bytes and not text."""
    if not isinstance(schema, dict) or "contentEncoding" in schema:
        return False
    kinds = schema.get("type", "string")
    if "string" not in (kinds if isinstance(kinds, list) else [kinds]):
        return False
    return schema.get("format") == "binary" or classify_media_type(schema.get("contentMediaType")) == "binary"


_EXAMPLE_KEYS = ("example", "examples")

# Maximum number of additional tools of one operation, for media types with other content.
MAX_OTHER_BODIES = 4


@dataclass(frozen=True, slots=True)
class RequestBody:
    """A request body: its format, its schema as one value, and its fields if it can be split."""

    format: str
    whole: Schema
    required: bool
    fields: tuple[Parameter, ...] = ()
    rest: Any = None
    content_type: str | None = None
    part_types: Mapping[str, str] = field(default_factory=dict)
    media_type: str = ""


class _UnsupportedMediaType(Exception):
    """A media type that tools cannot send; the message is the reason."""


class RequestBodyReader:
    """Reads bodies, each one once."""

    def __init__(self, references: DocumentReferences, schemas: SchemaConverter) -> None:
        self._references = references
        self._schemas = schemas
        self._flattening = BodyFlattener(references, schemas)
        self._read: NotedCache[list[RequestBody]] = PartCache()

    def read(self, raw: Any, notes: OperationNotes) -> list[RequestBody]:
        """Return the bodies of an OpenAPI 3 operation, best first; empty if none can be sent; raise Unusable."""
        if raw is None:
            return []
        body = self._references.resolve_object(raw, "requestBody")
        return read_once(self._read, body, notes, partial(self.read_content, body.get("content"), body))

    def read_content(self, content: Any, about: dict[str, Any], notes: OperationNotes) -> list[RequestBody]:
        """Return the body for the best media type, followed by those for media types with content that it cannot
        carry.

        `about` contains `required` and the description of the body.
        """
        check_type(content, dict, "content of requestBody")
        if len(content) > MAX_PARAMETERS:
            raise Unusable(f"its body has {len(content):,} media types, and at most {MAX_PARAMETERS:,} are read")
        why = "it names no media type"
        found: list[RequestBody] = []
        for media_type in self._sort_media_types(content):
            what, entry = f"its body as {str(media_type)[:100]}", content[media_type]
            if found and not self._loses_content(found[0], content[found[0].media_type], media_type, entry):
                continue
            if len(found) > MAX_OTHER_BODIES:
                notes.leave_out(what, f"at most {MAX_OTHER_BODIES + 1} tools are made of one operation")
                continue
            try:
                found.append(self._of_type(media_type, entry, about))
            except _UnsupportedMediaType as error:
                why = str(error)
                if found:
                    notes.leave_out(what, why)
            except Unusable as error:
                if not found:
                    raise
                notes.leave_out(what, str(error))
        if not found:
            notes.leave_out("its body", why, required=about.get("required") is True)
        elif classify_media_type(found[0].media_type) == "xml":
            notes.leave_out("the structure of its body", f"{found[0].media_type} is written as text")
        return found

    def _sort_media_types(self, content: Mapping[Any, Any]) -> list[Any]:
        """Return the media types, best first; multipart precedes others with the same schema if it contains files."""
        order = sorted(content, key=rank_media_type)
        for media_type in order[1:]:
            entry, best = content[media_type], content[order[0]]
            if not isinstance(entry, dict) or not isinstance(best, dict) or entry.get("schema") != best.get("schema"):
                continue
            if classify_media_type(media_type) == "multipart" and self._has_files(entry.get("schema", {})):
                return [media_type, *(each for each in order if each != media_type)]
        return order

    def _has_files(self, raw: Any) -> bool:
        try:
            schema = self._schemas.convert_cached(raw)
            return replace_bytes_with_files(schema, self._schemas, fields=True) is not schema
        except Unusable:
            return False

    def _of_type(self, media_type: Any, entry: Any, about: dict[str, Any]) -> RequestBody:
        kind = classify_media_type(media_type)
        if kind == "unknown":
            raise _UnsupportedMediaType(f"'{str(media_type)[:100]}' is not a media type")
        check_type(entry, dict, f"the body as {media_type}")
        required, raw = about.get("required") is True, entry.get("schema", {})
        whole = schema = self._schemas.convert_cached(raw, "its body")
        words = {
            "description": about.get("description"),
            **{word: entry[word] for word in _EXAMPLE_KEYS if word in entry},
        }
        sent_as = choose_content_type(media_type)
        if kind in ("text", "xml", "binary"):
            form, whole = self._text(media_type, kind, schema)
            # A pattern such as image/* cannot be sent: the argument contains the type.
            sent_as = None if form == "binary" and "*" in media_type else sent_as
            return RequestBody(
                form, add_description(whole, words), required, content_type=sent_as, media_type=media_type
            )
        flat = self._flattening.flatten(raw, schema)
        fields = [Parameter(name, "body", item, name in flat.required) for name, item in flat.properties.items()]
        part_types: dict[str, str] = {}
        if kind != "json":
            is_multipart = kind == "multipart"
            fields, part_types = convert_form_fields(
                fields, entry.get("encoding"), self._schemas, is_multipart=is_multipart
            )
            if fields:
                whole = build_object_schema(fields, flat.rest)
            elif is_multipart:
                whole = replace_bytes_with_files(schema, self._schemas, fields=True)
        whole = add_description(whole, words)
        return RequestBody(kind, whole, required, tuple(fields), flat.rest, sent_as, part_types, media_type)

    def _text(self, media_type: str, kind: str, schema: Schema) -> tuple[str, Schema]:
        """Return the format and the schema of a body that is one value."""
        meant = self._schemas.resolve_references(schema)
        if kind == "binary" and strip_media_type(media_type).startswith("multipart/"):
            raise _UnsupportedMediaType(f"{media_type} has parts without names; multipart/form-data can be sent")
        if kind == "binary" and (not is_scalar(meant) or is_binary(meant)):
            about = {"description": f"The body as {media_type}", **schema}
            return "binary", build_file_schema(about, is_body=True, has_type="*" in media_type)
        if kind == "text" and is_scalar(meant) and not is_binary(meant):
            return "text", schema
        return "text", {"type": "string", "description": f"The body as {media_type}"}

    def _loses_content(self, body: RequestBody, chosen: dict[str, Any], other: Any, entry: Any) -> bool:
        """True if another media type can carry something that the chosen one cannot."""
        kind = classify_media_type(other)
        if kind not in ("form", "multipart", "binary") or not isinstance(entry, dict):
            return False
        if kind == "binary":
            # Generators list every media type of a framework for the same object.
            is_same = entry.get("schema", {}) == chosen.get("schema", {})
            return body.format not in ("text", "binary") and not (is_same and body.fields)
        if kind == "form" and entry.get("schema") == chosen.get("schema"):
            return False
        try:
            flat = self._flattening.flatten(
                entry.get("schema", {}), self._schemas.convert_cached(entry.get("schema", {}))
            )
        except Unusable:
            return True
        known = {each.name for each in body.fields}
        if kind == "multipart" and body.format != "multipart" and self._has_files(entry.get("schema", {})):
            return True
        return bool(known and flat.properties.keys() - known)


def build_object_schema(fields: list[Parameter], rest: Any) -> Schema:
    """Return the schema of the object with these fields."""
    whole: Schema = {"type": "object", "properties": {each.name: each.schema for each in fields}}
    if required := [each.name for each in fields if each.required]:
        whole["required"] = required
    return whole if rest is None else {**whole, "additionalProperties": rest}
