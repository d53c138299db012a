"""References to named secrets, `{{secret:NAME}}`, in tool definitions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from pegboard.model.call_errors import SecretUnreadable

# Only words that are certainly no secret may be readable in front of a reference.
_SCHEMES = "api-?key|basic|bearer|digest|dpop|jwt|key|negotiate|oauth|privatetoken|ssws|token"
SECRET_REFERENCE = re.compile(r"\{\{secret:([A-Za-z_][A-Za-z0-9_.-]{0,254})\}\}", re.ASCII)
# In a URL, also a reference with an invalid name is not a placeholder for an argument.
REFERENCE_WITH_ANY_NAME = re.compile(r"\{\{secret:[^{}]*\}\}")
_ONLY_REFERENCE = re.compile(rf"(?i:(?:{_SCHEMES}) +)?{SECRET_REFERENCE.pattern}", re.ASCII)
# Fields for the place of a credential or the name of its user. They are shown if the credential itself is a reference
# to a secret; otherwise they are masked like all other values.
_READABLE_KEYS = ("header_name", "query_name", "username")


def is_only_reference(value: object) -> bool:
    """Return True if the value is only a reference to a named secret, optionally after a scheme such as Bearer."""
    return isinstance(value, str) and _ONLY_REFERENCE.fullmatch(value) is not None


def pick_readable_values(auth: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of an auth_config that may be shown: references, and the readable fields beside them."""
    found = _pick_references(auth)
    if found:
        found |= {name: auth[name] for name in _READABLE_KEYS if isinstance(auth.get(name), str)}
    return found


def _pick_references(values: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            if inner := _pick_references(value):
                found[name] = inner
        elif is_only_reference(value):
            found[name] = value
    return found


def list_secret_names(config: Mapping[str, Any], auth: Mapping[str, Any] | None) -> set[str]:
    """Return the names of the secrets that an unsealed definition refers to."""
    found: set[str] = set()

    def note(name: str) -> str:
        found.add(name)
        return ""

    resolve_references(config, note)
    resolve_references(auth, note)
    return found


def resolve_references(value: Any, secrets: Callable[[str], str]) -> Any:
    """Return the value with every reference in it, at any depth, replaced by the secret of that name.

    Raises SecretUnreadable if there is no such secret.
    """

    def secret(match: re.Match[str]) -> str:
        name = match[1]
        try:
            return secrets(name)
        except KeyError:
            raise SecretUnreadable(
                f"Secret '{name}' does not exist; the tool's owner can set it with: pegboard secrets set {name}"
            ) from None

    # A single pass: references inside a secret's value are not resolved.
    if isinstance(value, str):
        return SECRET_REFERENCE.sub(secret, value)
    if isinstance(value, Mapping):
        return {name: resolve_references(item, secrets) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [resolve_references(item, secrets) for item in value]
    return value
