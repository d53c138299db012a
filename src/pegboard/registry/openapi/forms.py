"""The fields of forms: files among them, and how arrays and objects are written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pegboard.registry.openapi.media import is_json, kind_of_body
from pegboard.registry.openapi.parameters import Parameter, described, styled
from pegboard.registry.openapi.references import Unusable, kind_of
from pegboard.registry.openapi.schemas import Schema, Schemas

_FILE: Schema = {
    "type": "object",
    "properties": {
        "filename": {"type": "string"},
        "content_type": {"type": "string", "description": "Media type of the file"},
        "base64": {"type": "string", "description": "The bytes of the file in base64"},
        "text": {"type": "string", "description": "The content of the file, where it is text"},
    },
    "oneOf": [{"required": ["base64"]}, {"required": ["text"]}],
    "additionalProperties": False,
}
# How deep alternatives and items are looked into for files.
_DEPTH = 8
_COMBINED = ("anyOf", "oneOf", "allOf")


def form_fields(
    fields: list[Parameter], encoding: Any, schemas: Schemas, *, is_multipart: bool
) -> tuple[list[Parameter], dict[str, str]]:
    """The fields as a form has them, and the media types of those that have one; raises Unusable."""
    if encoding is not None and not isinstance(encoding, dict):
        raise Unusable(f"encoding of its body must be an object, not {kind_of(encoding)}")
    found: list[Parameter] = []
    part_types: dict[str, str] = {}
    for each in fields:
        said = (encoding or {}).get(each.name, {})
        if not isinstance(said, dict):
            raise Unusable(f"encoding of '{each.name[:100]}' must be an object, not {kind_of(said)}")
        style = styled("body", said, schemas.resolved(each.schema), f"the field '{each.name[:100]}'")
        media_type: Any = said.get("contentType")
        if is_json(media_type) and not is_multipart and "style" not in said:
            style = {"style": "json"}
        if is_multipart and kind_of_body(media_type) != "unknown" and "*" not in media_type:
            part_types[each.name] = media_type
        sent = with_files(each, schemas) if is_multipart else each
        found.append(replace(sent, style=style))
    return found, part_types


def with_files(parameter: Parameter, schemas: Schemas) -> Parameter:
    """The parameter with a file as an object where the document has bytes; for an array of files too."""
    schema = files_in(parameter.schema, schemas)
    return parameter if schema is parameter.schema else replace(parameter, schema=schema)


def files_in(schema: Any, schemas: Schemas, *, fields: bool = False, depth: int = 0) -> Any:
    """The schema with a file in place of bytes: itself, items, alternatives, and `fields` of an object if asked."""
    meant = schemas.resolved(schema)
    if not isinstance(meant, dict) or depth > _DEPTH:
        return schema
    if is_binary(meant):
        return file_schema(schema)
    changed: Schema = {}
    if "items" in meant:
        changed["items"] = files_in(meant["items"], schemas, depth=depth + 1)
    for word in _COMBINED:
        if word in meant:
            changed[word] = [files_in(each, schemas, fields=fields, depth=depth + 1) for each in meant[word]]
    if fields and "properties" in meant:
        changed["properties"] = {
            name: files_in(each, schemas, depth=depth + 1) for name, each in meant["properties"].items()
        }
    changed = {word: value for word, value in changed.items() if value != meant[word]}
    if not changed:
        return schema
    whole = {**meant, **changed}
    if "oneOf" in changed and "anyOf" not in whole:
        whole["anyOf"] = whole.pop("oneOf")  # a file may fit another alternative too
    return whole if schema is meant else described(whole, schema)


def file_schema(about: Schema, *, is_body: bool = False, has_type: bool = True) -> Schema:
    """The schema of a file, described as the schema that it stands for; a body has no file name."""
    dropped = {*(["filename"] if is_body else []), *([] if has_type else ["content_type"])}
    properties = {name: each for name, each in _FILE["properties"].items() if name not in dropped}
    whole = {**_FILE, "properties": properties}
    return described(whole, {word: about[word] for word in ("description", "deprecated") if word in about})


def is_binary(schema: Any) -> bool:
    """Whether the values are bytes rather than text."""
    if not isinstance(schema, dict) or "contentEncoding" in schema:
        return False
    kinds = schema.get("type", "string")
    if "string" not in (kinds if isinstance(kinds, list) else [kinds]):
        return False
    return schema.get("format") == "binary" or kind_of_body(schema.get("contentMediaType")) == "binary"
