"""Explain why a schema does not follow its draft: what was expected, and what was received."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from jsonschema_rs import ValidationError, ValidationErrorKind

from pegboard.json_schema.problem_text import get_wording
from pegboard.json_schema.schema_document import Path
from pegboard.json_schema.value_text import format_value, shorten

_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
# Type names of other languages that are not similar to one of JSON Schema.
_TYPE_SYNONYMS = {
    "float": "number", "double": "number", "decimal": "number", "long": "integer", "dict": "object", "map": "object",
    "list": "array", "tuple": "array", "set": "array", "none": "null", "text": "string", "date": "string",
}  # fmt: skip
# The types of a schema itself.
_SCHEMA_TYPES = ["boolean", "object"]


def explain_draft_error(error: ValidationError) -> tuple[str, Path]:
    """Return the message for an error of the draft's meta-schema, and the path to it."""
    while isinstance(error.kind, ValidationErrorKind.AnyOf):
        # Take the deepest error, and among these prefer a branch that accepts the type of the value.
        inner = [item for branch in error.kind.context for item in branch]
        error = max(inner, key=lambda item: (len(item.instance_path), item.kind.name not in ("type", "enum")))
    value, path = error.instance, tuple(error.instance_path)
    limit: Any = next(iter(error.kind.as_dict().values()), None)
    if error.kind.name == "type" and sorted(limit) == _SCHEMA_TYPES:
        return f"must be a schema, which is an object, true or false, but received {format_received(value)}", path
    if error.kind.name == "format":
        return explain_format_error(limit, value), path
    words = get_wording(error.kind.name, limit, {error.kind.name: limit}, value)
    message = f"{words.says}, but received {format_received(value)}" if words.shows else words.says
    return message + (_suggest_type(value) if error.kind.name == "enum" else ""), path


def explain_format_error(name: str, value: Any) -> str:
    """Return the message for a text of the schema that does not have this format."""
    if name == "regex":
        return f"the pattern {format_received(value)} is not a regular expression that compiles"
    return f"must be a {name.replace('uri', 'URI').replace('-', ' ')}, but received {format_received(value)}"


def format_received(value: Any) -> str:
    """Return the value as a message contains it: strings in quotes, others as JSON."""
    return f"'{shorten(value)}'" if isinstance(value, str) else format_value(value)


def _suggest_type(value: Any) -> str:
    if not isinstance(value, str):
        return ""
    name = value[:40].lower()
    near = [_TYPE_SYNONYMS[name]] if name in _TYPE_SYNONYMS else get_close_matches(name, _TYPES, 1)
    return f"; did you mean '{near[0]}'?" if near else ""
