"""Adapt schemas to what providers accept, and convert a model's arguments back to the tool's own schema."""

from __future__ import annotations

from pegboard.dialects.schema_adapters.gemini_schema import to_gemini_schema
from pegboard.dialects.schema_adapters.inline_refs import inline_references
from pegboard.dialects.schema_adapters.optional_nulls import remove_optional_nulls
from pegboard.dialects.schema_adapters.rename_properties import fit_property_names, restore_property_names
from pegboard.dialects.schema_adapters.root_object import add_missing_items, flatten_root, remove_absent_nulls
from pegboard.dialects.schema_adapters.strict_schema import explain_not_strict, to_strict_schema

__all__ = [
    "add_missing_items",
    "explain_not_strict",
    "fit_property_names",
    "flatten_root",
    "inline_references",
    "remove_absent_nulls",
    "remove_optional_nulls",
    "restore_property_names",
    "to_gemini_schema",
    "to_strict_schema",
]
