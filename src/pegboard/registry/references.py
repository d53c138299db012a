"""References to named secrets, `{{secret:NAME}}`, in tool definitions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# Only words that are known to be no secret may stand readable in front of a reference.
_SCHEMES = "api-?key|basic|bearer|digest|dpop|jwt|key|negotiate|oauth|privatetoken|ssws|token"
REFERENCE = re.compile(r"\{\{secret:([A-Za-z_][A-Za-z0-9_.-]{0,254})\}\}", re.ASCII)
_ONLY_REFERENCE = re.compile(rf"(?i:(?:{_SCHEMES}) +)?{REFERENCE.pattern}", re.ASCII)
# Fields that say where a credential goes or whose it is. An owner who refers to the credential itself by name has kept
# secrets out of them; without a reference they are masked like everything else.
_NAMES = ("header_name", "query_name", "username")


def is_only_reference(value: object) -> bool:
    """Whether the value refers to a named secret and holds nothing else, except perhaps a word such as Bearer."""
    return isinstance(value, str) and _ONLY_REFERENCE.fullmatch(value) is not None


def readable_values(auth: Mapping[str, Any]) -> dict[str, Any]:
    """The values of an auth_config that can be shown: references, and the names beside them."""
    found = _only_references(auth)
    if found:
        found |= {name: auth[name] for name in _NAMES if isinstance(auth.get(name), str)}
    return found


def _only_references(values: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            if inner := _only_references(value):
                found[name] = inner
        elif is_only_reference(value):
            found[name] = value
    return found
