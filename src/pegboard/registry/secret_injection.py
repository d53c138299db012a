"""Fill the secrets of a tool's owner into its config, for an executor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pegboard.kinds.base import InjectedConfig, OpenTool
from pegboard.model.call_errors import SecretUnreadable
from pegboard.model.secrets import list_secret_names, resolve_references
from pegboard.model.tool import Tool
from pegboard.registry.secret_fields import open_auth, open_config
from pegboard.storage.vault import Vault


class SecretInjector:
    """Decrypts the stored configs of tools, and fills in the named secrets that they refer to."""

    def __init__(self, vault: Vault, secret: Callable[[str, str], str]) -> None:
        self._vault = vault
        # Returns the value of a secret, given the owner's id and its name; raises KeyError if there is none.
        self._secret = secret

    def open(self, tool: Tool) -> OpenTool:
        """Return the tool with its secrets decrypted; raise SecretUnreadable if one cannot be."""
        secret, used = self._track_secrets(tool.owner_id)
        config = open_config(tool.config, self._vault, tool.id, secret)
        auth = open_auth(tool.sealed_auth, self._vault, tool.id, secret)
        return OpenTool(tool, config, auth, frozenset(used))

    def fill_in(self, owner_id: str, config: Mapping[str, Any], auth: Mapping[str, Any] | None) -> InjectedConfig:
        """Resolve {{secret:NAME}} in an unsaved config and auth_config with that user's secrets."""
        secret, used = self._track_secrets(owner_id)
        filled = open_config(config, self._vault, "", secret), resolve_references(auth, secret)
        return InjectedConfig(*filled, frozenset(used))

    def missing(self, owner_id: str, config: Mapping[str, Any], auth: Mapping[str, Any] | None) -> list[str]:
        """Return the names of secrets that an unsealed definition refers to and this user does not have."""
        found = []
        for name in sorted(list_secret_names(config, auth)):
            try:
                self._secret(owner_id, name)
            except KeyError:
                found.append(name)
            except SecretUnreadable:
                continue  # it exists; `doctor` reports those that cannot be decrypted
        return found

    def _track_secrets(self, owner_id: str) -> tuple[Callable[[str], str], set[str]]:
        """Return a function that looks up an owner's secrets, and the set of the values that it has returned."""
        used: set[str] = set()

        def secret(name: str) -> str:
            value = self._secret(owner_id, name)
            used.add(value)
            return value

        return secret, used
