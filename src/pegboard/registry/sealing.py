"""Credentials in tool definitions: sealed to be stored, masked to be shown, opened to be used.

A stored config has `{"$sealed": "pb1:…"}` for the values of `headers` and `env`, except those that only refer to a
named secret. A stored auth_config is `{"type": …, "fields": the names in it, "shown": those of its values that only
refer to a named secret, "$sealed": "pb1:…"}`; without such values there is no "shown".
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from pegboard.core.configs import SECRET_MAPS
from pegboard.core.errors import SecretUnreadable
from pegboard.core.tool import MASK
from pegboard.registry.references import REFERENCE, is_only_reference, readable_values
from pegboard.store.vault import Vault

SEALED = "$sealed"
_URLS = frozenset({"url", "server_url"})


class Kept(str):
    """A masked value of a new config that stands for a stored one; a type, so that nothing a caller sends is one."""

    __slots__ = ("stored",)
    stored: Any

    @classmethod
    def of(cls, stored: Any) -> Kept:
        """A mask that stands for this stored value."""
        kept = cls(MASK)
        kept.stored = stored
        return kept


class KeptAuth(dict[str, Any]):
    """A masked auth_config that stands for the stored one as a whole."""

    def __init__(self, stored: Mapping[str, Any]) -> None:
        super().__init__(mask_auth(stored) or {})
        self.stored = dict(stored)


def seal_config(config: Mapping[str, Any], vault: Vault, tool_id: str) -> dict[str, Any]:
    """The config to store: credentials sealed for this tool, references to named secrets readable."""

    def seal(group: str, name: str, value: object) -> object:
        if isinstance(value, Kept):
            return value.stored
        if not isinstance(value, str):
            raise ValueError(f"config.{group}.{name} must be a string")
        if value == MASK:
            raise _nothing_to_keep(f"config.{group}.{name}")
        return value if is_only_reference(value) else {SEALED: vault.seal(value, tool_id)}

    for group in SECRET_MAPS:
        if not isinstance(config.get(group, {}), Mapping):
            raise ValueError(f"config.{group} must be an object of strings")
    return _each_value(config, seal)


def seal_auth(auth: Mapping[str, Any] | None, vault: Vault, tool_id: str) -> dict[str, Any] | None:
    """The auth_config to store: sealed as a whole; its type, names and references to secrets stay readable."""
    if auth is None:
        return None
    if isinstance(auth, KeptAuth):
        return auth.stored
    # A mask that was not kept must not be taken for a credential.
    whole = {name: _kept(value, None, name, f"auth_config.{name}") for name, value in auth.items()}
    named = {name: value for name, value in whole.items() if name != "type"}
    shown = {"shown": readable} if (readable := readable_values(named)) else {}
    return {"type": whole.get("type"), "fields": _names(named), **shown, SEALED: vault.seal(_json(whole), tool_id)}


def mask_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """The config to show: a mask for every value that may be a credential."""

    def mask(_group: str, _name: str, value: object) -> object:
        return value if is_only_reference(value) else MASK

    masked = _each_value(config, mask)
    return {name: MASK if name in SECRET_MAPS and isinstance(value, str) else value for name, value in masked.items()}


def mask_auth(auth: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The stored auth_config to show: its type, references to secrets, and a mask for everything else in it."""
    if auth is None:
        return None
    return {"type": auth.get("type"), **_masked(auth.get("fields"), auth.get("shown"))}


def keep_masked(config: Mapping[str, Any], stored: Mapping[str, Any] | None) -> dict[str, Any]:
    """A new config, ready for `seal_config`, in which a mask means the value stored so far."""

    def keep(group: str, name: str, value: object) -> object:
        if value != MASK:
            return value
        before = (stored or {}).get(group) or {}
        if name not in before:
            raise _nothing_to_keep(f"config.{group}.{name}")
        return Kept.of(before[name])

    return _each_value(config, keep)


def keep_masked_auth(
    auth: Mapping[str, Any] | None, stored: Mapping[str, Any] | None, vault: Vault, tool_id: str
) -> dict[str, Any] | None:
    """A new auth_config, ready for `seal_auth`, in which a mask means the value stored so far."""
    if auth is None:
        return None
    if stored is not None and _same(auth, mask_auth(stored)):
        # Nothing changes, so it need not even be readable.
        return KeptAuth(stored)
    if not has_mask(auth):
        return dict(auth)
    before = unseal_auth(stored, vault, tool_id) or {}
    return {name: _kept(value, before, name, f"auth_config.{name}") for name, value in auth.items()}


def unseal_config(config: Mapping[str, Any], vault: Vault, tool_id: str) -> dict[str, Any]:
    """The config as its owner wrote it, references included."""

    def unseal(group: str, name: str, value: object) -> object:
        sealed = _sealed_text(value)
        return value if sealed is None else _opened(f"config.{group}.{name}", vault, sealed, tool_id)

    return _each_value(config, unseal)


def unseal_auth(auth: Mapping[str, Any] | None, vault: Vault, tool_id: str) -> dict[str, Any] | None:
    """The auth_config as its owner wrote it, references included."""
    if auth is None:
        return None
    sealed = _sealed_text(auth)
    if sealed is None:
        raise SecretUnreadable("auth_config is stored in a form that this board does not read; set it anew")
    plain = json.loads(_opened("auth_config", vault, sealed, tool_id))
    assert isinstance(plain, dict)
    return plain


def open_config(config: Mapping[str, Any], vault: Vault, tool_id: str, secrets: Callable[[str], str]) -> dict[str, Any]:
    """The config to run with: unsealed, every reference replaced by the owner's secret of that name."""

    def in_url(name: str) -> str:
        # Encoded, a secret stays one piece of the URL, and nothing in it reads like a placeholder.
        return quote(secrets(name), safe="")

    plain = unseal_config(config, vault, tool_id)
    return {key: resolved(value, in_url if key in _URLS else secrets) for key, value in plain.items()}


def open_auth(
    auth: Mapping[str, Any] | None, vault: Vault, tool_id: str, secrets: Callable[[str], str]
) -> dict[str, Any] | None:
    """The auth_config to run with: unsealed, every reference replaced by the owner's secret of that name."""
    opened = resolved(unseal_auth(auth, vault, tool_id), secrets)
    assert opened is None or isinstance(opened, dict)
    return opened


def references(config: Mapping[str, Any], auth: Mapping[str, Any] | None) -> set[str]:
    """The named secrets that a definition, not sealed, refers to."""
    found: set[str] = set()

    def note(name: str) -> str:
        found.add(name)
        return ""

    resolved(config, note)
    resolved(auth, note)
    return found


def equal_when_opened(  # noqa: PLR0917 -- two definitions of two parts each
    config_a: Mapping[str, Any],
    auth_a: Mapping[str, Any] | None,
    config_b: Mapping[str, Any],
    auth_b: Mapping[str, Any] | None,
    vault: Vault,
    tool_id: str,
) -> bool:
    """Whether two stored definitions say the same; one that cannot be opened equals only itself."""
    if _same([config_a, auth_a], [config_b, auth_b]):
        return True
    try:
        return _same(
            [unseal_config(config_a, vault, tool_id), unseal_auth(auth_a, vault, tool_id)],
            [unseal_config(config_b, vault, tool_id), unseal_auth(auth_b, vault, tool_id)],
        )
    except SecretUnreadable:
        return False


def map_sealed(
    config: Mapping[str, Any], auth: Mapping[str, Any] | None, change: Callable[[str], str]
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """A stored definition with every sealed text in it changed, as a rotation does."""

    def changed(_group: str, _name: str, value: object) -> object:
        sealed = _sealed_text(value)
        return value if sealed is None else {SEALED: change(sealed)}

    sealed_auth = _sealed_text(auth)
    new_auth = dict(auth) if auth is not None else None
    if new_auth is not None and sealed_auth is not None:
        new_auth[SEALED] = change(sealed_auth)
    return _each_value(config, changed), new_auth


def _each_value(config: Mapping[str, Any], change: Callable[[str, str, object], object]) -> dict[str, Any]:
    changed = dict(config)
    for group in SECRET_MAPS:
        values = config.get(group)
        if isinstance(values, Mapping):
            changed[group] = {name: change(group, name, value) for name, value in values.items()}
    return changed


def _sealed_text(value: object) -> str | None:
    text = value.get(SEALED) if isinstance(value, Mapping) else None
    return text if isinstance(text, str) else None


def _opened(path: str, vault: Vault, sealed: str, tool_id: str) -> str:
    try:
        return vault.open(sealed, tool_id)
    except SecretUnreadable as error:
        raise SecretUnreadable(f"{path} cannot be read. {error.message}") from None


def resolved(value: Any, secrets: Callable[[str], str]) -> Any:
    """The value with every reference in it, at any depth, replaced by the secret of that name."""

    def secret(match: re.Match[str]) -> str:
        name = match[1]
        try:
            return secrets(name)
        except KeyError:
            raise SecretUnreadable(
                f"Secret '{name}' does not exist; the tool's owner can set it with: pegboard secrets set {name}"
            ) from None

    # One pass over the text: what a secret contains is not looked into.
    if isinstance(value, str):
        return REFERENCE.sub(secret, value)
    if isinstance(value, Mapping):
        return {name: resolved(item, secrets) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [resolved(item, secrets) for item in value]
    return value


def _names(values: Mapping[str, Any]) -> list[Any]:
    return [{name: _names(value)} if isinstance(value, Mapping) else name for name, value in values.items()]


def _masked(names: Any, readable: Any) -> dict[str, Any]:
    values = readable if isinstance(readable, Mapping) else {}
    shown: dict[str, Any] = {}
    for name in names or ():
        if isinstance(name, Mapping):
            shown.update({group: _masked(inner, values.get(group)) for group, inner in name.items()})
        else:
            shown[name] = values.get(name, MASK)
    return shown


def has_mask(values: Mapping[str, Any]) -> bool:
    """Whether a value in it, at any depth, is a mask."""
    return MASK in _leaves(values)


def _leaves(values: Mapping[str, Any]) -> list[Any]:
    return [leaf for value in values.values() for leaf in (_leaves(value) if isinstance(value, Mapping) else [value])]


def _kept(value: Any, before: Any, name: str, path: str) -> Any:
    there = isinstance(before, Mapping) and name in before
    if isinstance(value, Mapping):
        inner = before[name] if there else None
        return {key: _kept(item, inner, key, f"{path}.{key}") for key, item in value.items()}
    if value != MASK:
        return value
    if not there:
        raise _nothing_to_keep(path)
    return before[name]


def _nothing_to_keep(path: str) -> ValueError:
    return ValueError(f"{path} is '{MASK}', which keeps the stored value, but none is stored: give the value itself")


def _same(a: object, b: object) -> bool:
    return _json(a) == _json(b)


def _json(value: object) -> str:
    # As text, so that true, 1 and 1.0 differ; sorted, since the order of names says nothing.
    return json.dumps(value, sort_keys=True, default=_as_dict)


def _as_dict(value: object) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise ValueError(f"a value of type {type(value).__name__} is not JSON")
