"""Tools with their owners' secrets filled in, ready for an executor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pegboard.core.errors import SecretUnreadable
from pegboard.core.tool import Tool
from pegboard.executors.base import OpenTool
from pegboard.registry.sealing import open_auth, open_config, references, resolved
from pegboard.store.vault import Vault


class Filled(NamedTuple):
    """A config and credentials with secrets filled in, and which secrets those are."""

    config: dict[str, Any]
    auth: Mapping[str, Any] | None
    secrets: frozenset[str]


class Opener:
    """Unseals what tools are stored with, and fills in the named secrets that they refer to."""

    def __init__(self, vault: Vault, secret: Callable[[str, str], str]) -> None:
        self._vault = vault
        # The value of an owner's secret, by the owner's id and its name; KeyError if there is none.
        self._secret = secret

    def open(self, tool: Tool) -> OpenTool:
        """The tool with its secrets readable; raises SecretUnreadable where one is not."""
        secret, used = self._noting(tool.owner_id)
        config = open_config(tool.config, self._vault, tool.id, secret)
        auth = open_auth(tool.sealed_auth, self._vault, tool.id, secret)
        return OpenTool(tool, config, auth, frozenset(used))

    def fill_in(self, owner_id: str, config: Mapping[str, Any], auth: Mapping[str, Any] | None) -> Filled:
        """What somebody wrote and nobody has stored yet, with that user's secrets in it."""
        secret, used = self._noting(owner_id)
        filled = open_config(config, self._vault, "", secret), resolved(auth, secret)
        return Filled(*filled, frozenset(used))

    def missing(self, owner_id: str, config: Mapping[str, Any], auth: Mapping[str, Any] | None) -> list[str]:
        """The names of secrets that an unsealed definition refers to and this user does not have."""
        found = []
        for name in sorted(references(config, auth)):
            try:
                self._secret(owner_id, name)
            except KeyError:
                found.append(name)
            except SecretUnreadable:
                continue  # it exists; `doctor` reports those that cannot be decrypted
        return found

    def _noting(self, owner_id: str) -> tuple[Callable[[str], str], set[str]]:
        """What gives an owner's secrets, and the set of those that it gave."""
        used: set[str] = set()

        def secret(name: str) -> str:
            value = self._secret(owner_id, name)
            used.add(value)
            return value

        return secret, used
