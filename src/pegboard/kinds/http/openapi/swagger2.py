"""Reads the parameters and bodies of Swagger 2.0."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from pegboard.kinds.http.openapi.api_parameters import (
    MAX_PARAMETERS,
    NotedCache,
    OperationNotes,
    Parameter,
    Style,
    add_description,
    is_sendable,
    read_once,
)
from pegboard.kinds.http.openapi.convert_schema import Schema, SchemaConverter
from pegboard.kinds.http.openapi.document_references import (
    MergedObject,
    PartCache,
    Unusable,
    check_type,
    quote_reference,
)
from pegboard.kinds.http.openapi.media_types import classify_media_type
from pegboard.kinds.http.openapi.request_bodies import (
    RequestBody,
    RequestBodyReader,
    build_object_schema,
    convert_file_parameter,
)
from pegboard.kinds.import_names import clean_text

_SEPARATORS = {"csv": "a comma", "ssv": "a space", "tsv": "a tab", "pipes": "|"}
_QUERY_STYLES: dict[str, Style | None] = {
    "csv": {"style": "form", "explode": False},
    "ssv": {"style": "spaceDelimited"},
    "pipes": {"style": "pipeDelimited"},
    "multi": None,
}


class SwaggerReader:
    """Reads the parameters and bodies of Swagger 2.0 operations."""

    def __init__(self, document: Mapping[str, Any], schemas: SchemaConverter, bodies: RequestBodyReader) -> None:
        self._consumes = document.get("consumes") or []
        self._schemas = schemas
        self._bodies = bodies
        self._parameters: PartCache[Parameter] = PartCache()
        self._read: NotedCache[list[RequestBody]] = PartCache()

    def parameters(self, raws: list[dict[str, Any]], notes: OperationNotes) -> list[Parameter]:
        """Return the path, query and header parameters; others are noted, or raise Unusable if they are required."""
        found = []
        for raw in raws:
            name, place = raw["name"], raw["in"]
            if place in ("body", "formData"):
                continue
            what = f"the {place} parameter '{name[:100]}'"
            required = raw.get("required") is True or place == "path"
            if place not in ("path", "query", "header"):
                notes.leave_out(what, f"'{place[:20]}' is not a place of Swagger 2.0", required=required)
            elif is_sendable(name, place, what, notes, required=required):
                found.append(self._read_parameter(raw, place, what, required=required))
        return found

    def body(
        self, raws: list[dict[str, Any]], operation: Mapping[str, Any], notes: OperationNotes
    ) -> list[RequestBody]:
        """Return the bodies or the form of an operation, best first; raise Unusable."""
        whole = [raw for raw in raws if raw["in"] == "body"]
        fields = [raw for raw in raws if raw["in"] == "formData"]
        if not whole and not fields:
            return []
        media_types = operation.get("consumes") or self._consumes
        check_type(media_types, list, "consumes")
        if len(media_types) > MAX_PARAMETERS:
            raise Unusable(f"consumes names {len(media_types):,} types, and at most {MAX_PARAMETERS:,} are read")
        texts = [each for each in media_types if isinstance(each, str)]
        if whole and fields:
            raise Unusable("it has a body and a form, and a request has room for one")
        if fields:
            return [self._read_form(fields, texts, notes)]
        raw = whole[0]
        content = {media_type: {"schema": raw.get("schema", {})} for media_type in texts or ["application/json"]}
        return read_once(self._read, raw, notes, partial(self._bodies.read_content, content, raw), tuple(content))

    def _read_form(self, raws: list[dict[str, Any]], media_types: list[str], notes: OperationNotes) -> RequestBody:
        has_files = any(raw.get("type") == "file" for raw in raws)
        kinds = {classify_media_type(each) for each in media_types}
        is_multipart = has_files or ("multipart" in kinds and "form" not in kinds)
        fields = []
        for raw in raws:
            name, required = raw["name"], raw.get("required") is True
            what = f"the field '{name[:100]}'"
            if is_sendable(name, "body", what, notes, required=required):
                field = self._read_parameter(raw, "body", what, required=required)
                fields.append(convert_file_parameter(field, self._schemas) if is_multipart else field)
        needed = any(each.required for each in fields)
        return RequestBody(
            "multipart" if is_multipart else "form", build_object_schema(fields, None), needed, tuple(fields)
        )

    def _read_parameter(self, raw: dict[str, Any], place: str, what: str, *, required: bool) -> Parameter:
        return self._parameters.get(raw, lambda: self._new(raw, place, what, required=required), place)

    def _new(self, raw: dict[str, Any], place: str, what: str, *, required: bool) -> Parameter:
        convert = self._schemas.convert if isinstance(raw, MergedObject) else self._schemas.convert_cached
        schema = convert(raw["schema"] if "type" not in raw and "schema" in raw else raw, what)
        if not schema.keys() & {"type", "$ref", "allOf", "enum"}:
            schema = {"type": "string", **schema}
        style: Style | None = None
        if schema.get("type") == "array":
            schema, style = _apply_collection_format(schema, raw.get("collectionFormat", "csv"), place, what)
        return Parameter(raw["name"], place, add_description(schema, raw), required, style)


def _apply_collection_format(schema: Schema, how: Any, place: str, what: str) -> tuple[Schema, Style | None]:
    """Return an array's schema and style; a string schema if no style has this format."""
    if not isinstance(how, str) or how not in (*_SEPARATORS, "multi"):
        raise Unusable(f"{what} has the collectionFormat {quote_reference(how)}; known: csv, ssv, tsv, pipes, multi")
    if place in ("query", "body") and how in _QUERY_STYLES:
        return schema, _QUERY_STYLES[how]
    if how in ("csv", "multi"):
        return schema, None
    separated = f"Several values, separated by {_SEPARATORS[how]}."
    return {"type": "string", "description": f"{clean_text(schema.get('description'))}\n\n{separated}".strip()}, None
