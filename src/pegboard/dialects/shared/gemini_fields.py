"""Fields of Google's types, which are camelCase on the wire and snake_case in dumps of the Python SDK."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any


@cache
def get_snake_case_name(name: str) -> str:
    """Return the name of a field in dumps of the Python SDK."""
    return re.sub("([A-Z])", lambda found: f"_{found[1].lower()}", name)


def get_field(item: Mapping[str, Any], name: str) -> Any:
    """Return a field by its wire name, or by its name in dumps of the Python SDK."""
    value = item.get(name)
    return item.get(get_snake_case_name(name)) if value is None else value


def get_field_names(name: str) -> tuple[str, str]:
    """Return both names of a field."""
    return name, get_snake_case_name(name)
