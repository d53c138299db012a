"""What a provider refuses or ignores in a tool's definition."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of one provider's definitions; None where it sets none that is known."""

    name: re.Pattern[str] | None = None
    description: int | None = None
    tools: int | None = None
    # What the keys of properties must look like.
    property_name: re.Pattern[str] | None = None
    # Keywords of JSON Schema that it refuses, and those it accepts and does not mind.
    refused: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    # Keywords that it refuses at the root of a schema only, and whether an array has to have a schema for its items.
    root: frozenset[str] = frozenset()
    needs_items: bool = False
    depth: int | None = None
    properties: int | None = None
    # Whether a definition has a place for the schema at all.
    has_schema: bool = True
    # Whether definitions are declared strict wherever OpenAI's strict mode can express them.
    strict: bool = False
