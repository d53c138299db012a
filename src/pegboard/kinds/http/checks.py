"""Checks of an http tool at registration."""

from __future__ import annotations

from pegboard.json_schema.schema_document import SchemaDocument
from pegboard.kinds.base import Registration
from pegboard.kinds.http.config import HttpConfig
from pegboard.model.api_errors import Fault
from pegboard.model.tool import Kind

# How many names an error message lists.
_MAX_LISTED_NAMES = 20


def find_url_faults(registration: Registration) -> list[Fault]:
    """Return a fault for each URL placeholder that is no parameter; an unchanged URL and schema are not checked."""
    config: HttpConfig = registration.config
    before, input_schema = registration.before, registration.definition.input_schema
    if before.tool_type == Kind.HTTP and (before.config.get("url"), before.input_schema) == (config.url, input_schema):
        return []
    if input_schema.get("additionalProperties") not in (None, False) or input_schema.get("patternProperties"):
        return []  # a call may have properties that are not listed
    names, _ = SchemaDocument(input_schema).list_declared_names()
    known = f"they are {', '.join(sorted(names)[:_MAX_LISTED_NAMES])}" if names else "there are none"
    return [
        Fault("config.url", f"{{{name}}} is not among the properties of input_schema ({known})")
        for name in dict.fromkeys(config.placeholders)
        if name not in names
    ]
