"""Limits of providers for tool definitions: what they reject or ignore."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one provider's definitions; None if there is no known limit."""

    name: re.Pattern[str] | None = None
    description: int | None = None
    tools: int | None = None
    # The pattern for the keys of properties.
    property_name: re.Pattern[str] | None = None
    # JSON Schema keywords that are rejected, and those that are accepted but have no effect.
    refused: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    # Keywords that are rejected only at the root of a schema, and whether an array must have a schema for its items.
    root: frozenset[str] = frozenset()
    needs_items: bool = False
    depth: int | None = None
    properties: int | None = None
    # Whether a definition can contain a schema.
    has_schema: bool = True
    # Whether definitions are declared strict if OpenAI's strict mode can express them.
    strict: bool = False
