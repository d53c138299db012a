"""Schemas as providers take them, and what a model sends under those, as the tool's own schema means it."""

from __future__ import annotations

from pegboard.dialects.adapting.gemini import gemini_schema
from pegboard.dialects.adapting.inlining import inlined
from pegboard.dialects.adapting.names import fitted_names, own_names
from pegboard.dialects.adapting.nulls import without_nulls
from pegboard.dialects.adapting.root import flat_root, with_items, without_absent
from pegboard.dialects.adapting.strict import strict_schema, why_not_strict

__all__ = [
    "fitted_names",
    "flat_root",
    "gemini_schema",
    "inlined",
    "own_names",
    "strict_schema",
    "why_not_strict",
    "with_items",
    "without_absent",
    "without_nulls",
]
