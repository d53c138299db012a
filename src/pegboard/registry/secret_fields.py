"""Credentials in tool definitions: sealed in the database, masked in responses, decrypted for calls.

A stored config has `{"$sealed": "pb1:…"}` for the values of `headers` and `env`, except those that only refer to a
named secret. A stored auth_config is `{"type": …, "fields": its field names, "shown": the values that only refer to a
named secret, "$sealed": "pb1:…"}`; without such values there is no "shown".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from pegboard.model.call_errors import SecretUnreadable
from pegboard.model.json_text import is_json_equal
from pegboard.model.secrets import MASK, SECRET_MAPS, is_only_reference, pick_readable_values, resolve_references
from pegboard.storage.vault import Vault

SEALED_KEY = "$sealed"
_URL_KEYS = frozenset({"url", "server_url"})


class MaskedValue(str):
    """A mask in a new config that stands for a stored value; a separate type, so that no request can contain one."""

    __slots__ = ("stored",)
    stored: Any

    @classmethod
    def of(cls, stored: Any) -> MaskedValue:
        """Return a mask that stands for this stored value."""
        kept = cls(MASK)
        kept.stored = stored
        return kept


class MaskedAuth(dict[str, Any]):
    """A masked auth_config that stands for the whole stored one."""

    def __init__(self, stored: Mapping[str, Any]) -> None:
        super().__init__(mask_auth(stored) or {})
        self.stored = dict(stored)


def seal_config(config: Mapping[str, Any], vault: Vault, tool_id: str) -> dict[str, Any]:
    """Return the config to store: credentials sealed for this tool, references to named secrets readable.

    Raises ValueError if a value is no string, or is a mask without a stored value.
    """

    def seal(group: str, name: str, value: object) -> object:
        if isinstance(value, MaskedValue):
            return value.stored
        if not isinstance(value, str):
            raise ValueError(f"config.{group}.{name} must be a string")
        if value == MASK:
            raise _build_nothing_stored_error(f"config.{group}.{name}")
        return value if is_only_reference(value) else {SEALED_KEY: vault.seal(value, tool_id)}

    for group in SECRET_MAPS:
        if not isinstance(config.get(group, {}), Mapping):
            raise ValueError(f"config.{group} must be an object of strings")
    return _map_values(config, seal)


def seal_auth(auth: Mapping[str, Any] | None, vault: Vault, tool_id: str) -> dict[str, Any] | None:
    """Return the auth_config to store, sealed as a whole; type, field names and references stay readable."""
    if auth is None:
        return None
    if isinstance(auth, MaskedAuth):
        return auth.stored
    # A mask without a stored value must not be stored as a credential: `_keep_masked_value` raises ValueError.
    whole = {name: _keep_masked_value(value, None, name, f"auth_config.{name}") for name, value in auth.items()}
    named = {name: value for name, value in whole.items() if name != "type"}
    shown = {"shown": readable} if (readable := pick_readable_values(named)) else {}
    return {
        "type": whole.get("type"),
        "fields": _list_names(named),
        **shown,
        SEALED_KEY: vault.seal(_dump_json(whole), tool_id),
    }


def mask_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the config for a response: every value that may be a credential is masked."""

    def mask(_group: str, _name: str, value: object) -> object:
        return value if is_only_reference(value) else MASK

    masked = _map_values(config, mask)
    return {name: MASK if name in SECRET_MAPS and isinstance(value, str) else value for name, value in masked.items()}


def mask_auth(auth: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the stored auth_config for a response: type and references to secrets are readable, the rest is masked."""
    if auth is None:
        return None
    return {"type": auth.get("type"), **_mask_values(auth.get("fields"), auth.get("shown"))}


def keep_masked(config: Mapping[str, Any], stored: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the new config for `seal_config`, with a `MaskedValue` for each mask.

    Raises ValueError if a mask has no stored value.
    """

    def keep(group: str, name: str, value: object) -> object:
        if value != MASK:
            return value
        before = (stored or {}).get(group) or {}
        if name not in before:
            raise _build_nothing_stored_error(f"config.{group}.{name}")
        return MaskedValue.of(before[name])

    return _map_values(config, keep)


def keep_masked_auth(
    auth: Mapping[str, Any] | None, stored: Mapping[str, Any] | None, vault: Vault, tool_id: str
) -> dict[str, Any] | None:
    """Return the new auth_config for `seal_auth`, with stored values for masks; raise ValueError if none is stored."""
    if auth is None:
        return None
    if stored is not None and is_json_equal(auth, mask_auth(stored), exact_numbers=True):
        # It is unchanged, so it does not have to be decryptable.
        return MaskedAuth(stored)
    if not has_mask(auth):
        return dict(auth)
    before = unseal_auth(stored, vault, tool_id) or {}
    return {name: _keep_masked_value(value, before, name, f"auth_config.{name}") for name, value in auth.items()}


def unseal_config(config: Mapping[str, Any], vault: Vault, tool_id: str) -> dict[str, Any]:
    """Return the config as its owner wrote it, with references; raise SecretUnreadable if decryption fails."""

    def unseal(group: str, name: str, value: object) -> object:
        sealed = _get_sealed_text(value)
        return value if sealed is None else _unseal(f"config.{group}.{name}", vault, sealed, tool_id)

    return _map_values(config, unseal)


def unseal_auth(auth: Mapping[str, Any] | None, vault: Vault, tool_id: str) -> dict[str, Any] | None:
    """Return the auth_config as its owner wrote it, with references; raise SecretUnreadable if decryption fails."""
    if auth is None:
        return None
    sealed = _get_sealed_text(auth)
    if sealed is None:
        raise SecretUnreadable("auth_config is stored in a form that this board does not read; set it again")
    plain = json.loads(_unseal("auth_config", vault, sealed, tool_id))
    assert isinstance(plain, dict)
    return plain


def open_config(config: Mapping[str, Any], vault: Vault, tool_id: str, secrets: Callable[[str], str]) -> dict[str, Any]:
    """Return the config for a call: decrypted, with every reference replaced by the owner's secret of that name."""

    def in_url(name: str) -> str:
        # Encoded, a secret stays within one component of the URL and cannot contain a placeholder.
        return quote(secrets(name), safe="")

    plain = unseal_config(config, vault, tool_id)
    return {key: resolve_references(value, in_url if key in _URL_KEYS else secrets) for key, value in plain.items()}


def open_auth(
    auth: Mapping[str, Any] | None, vault: Vault, tool_id: str, secrets: Callable[[str], str]
) -> dict[str, Any] | None:
    """Return the auth_config for a call: decrypted, with every reference replaced by the owner's secret."""
    opened = resolve_references(unseal_auth(auth, vault, tool_id), secrets)
    assert opened is None or isinstance(opened, dict)
    return opened


def are_equal_unsealed(  # noqa: PLR0917 -- two definitions of two parts each
    config_a: Mapping[str, Any],
    auth_a: Mapping[str, Any] | None,
    config_b: Mapping[str, Any],
    auth_b: Mapping[str, Any] | None,
    vault: Vault,
    tool_id: str,
) -> bool:
    """Return True if two stored definitions have the same plain text, or are stored identically.

    One that cannot be decrypted equals only itself.
    """
    if is_json_equal([config_a, auth_a], [config_b, auth_b], exact_numbers=True):
        return True
    try:
        return is_json_equal(
            [unseal_config(config_a, vault, tool_id), unseal_auth(auth_a, vault, tool_id)],
            [unseal_config(config_b, vault, tool_id), unseal_auth(auth_b, vault, tool_id)],
            exact_numbers=True,
        )
    except SecretUnreadable:
        return False


def map_sealed(
    config: Mapping[str, Any], auth: Mapping[str, Any] | None, change: Callable[[str], str]
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return a stored definition with `change` applied to every sealed text, as a key rotation does."""

    def change_value(_group: str, _name: str, value: object) -> object:
        sealed = _get_sealed_text(value)
        return value if sealed is None else {SEALED_KEY: change(sealed)}

    sealed_auth = _get_sealed_text(auth)
    new_auth = dict(auth) if auth is not None else None
    if new_auth is not None and sealed_auth is not None:
        new_auth[SEALED_KEY] = change(sealed_auth)
    return _map_values(config, change_value), new_auth


def _map_values(config: Mapping[str, Any], change: Callable[[str, str, object], object]) -> dict[str, Any]:
    changed = dict(config)
    for group in SECRET_MAPS:
        values = config.get(group)
        if isinstance(values, Mapping):
            changed[group] = {name: change(group, name, value) for name, value in values.items()}
    return changed


def _get_sealed_text(value: object) -> str | None:
    text = value.get(SEALED_KEY) if isinstance(value, Mapping) else None
    return text if isinstance(text, str) else None


def _unseal(path: str, vault: Vault, sealed: str, tool_id: str) -> str:
    try:
        return vault.open(sealed, tool_id)
    except SecretUnreadable as error:
        raise SecretUnreadable(f"{path} cannot be read. {error.message}") from None


def _list_names(values: Mapping[str, Any]) -> list[Any]:
    return [{name: _list_names(value)} if isinstance(value, Mapping) else name for name, value in values.items()]


def _mask_values(names: Any, readable: Any) -> dict[str, Any]:
    values = readable if isinstance(readable, Mapping) else {}
    shown: dict[str, Any] = {}
    for name in names or ():
        if isinstance(name, Mapping):
            shown.update({group: _mask_values(inner, values.get(group)) for group, inner in name.items()})
        else:
            shown[name] = values.get(name, MASK)
    return shown


def has_mask(values: Mapping[str, Any]) -> bool:
    """Return True if any value, at any depth, is a mask."""
    return MASK in _list_leaves(values)


def _list_leaves(values: Mapping[str, Any]) -> list[Any]:
    return [
        leaf for value in values.values() for leaf in (_list_leaves(value) if isinstance(value, Mapping) else [value])
    ]


def _keep_masked_value(value: Any, before: Any, name: str, path: str) -> Any:
    there = isinstance(before, Mapping) and name in before
    if isinstance(value, Mapping):
        inner = before[name] if there else None
        return {key: _keep_masked_value(item, inner, key, f"{path}.{key}") for key, item in value.items()}
    if value != MASK:
        return value
    if not there:
        raise _build_nothing_stored_error(path)
    return before[name]


def _build_nothing_stored_error(path: str) -> ValueError:
    return ValueError(f"{path} is '{MASK}', which keeps the stored value, but none is stored: give the value itself")


def _dump_json(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=_to_dict)


def _to_dict(value: object) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise ValueError(f"a value of type {type(value).__name__} is not JSON")
