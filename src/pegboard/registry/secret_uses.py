"""Which tools and imported MCP servers of a user refer to which secrets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from pegboard.model.call_errors import SecretUnreadable
from pegboard.model.secrets import list_secret_names
from pegboard.registry.secret_fields import unseal_auth, unseal_config
from pegboard.registry.snapshot import Snapshot
from pegboard.storage.vault import Vault


class SecretUse(NamedTuple):
    """A tool or an imported MCP server that refers to a secret."""

    type: Literal["tool", "upstream"]
    id: str
    name: str


class Definition(NamedTuple):
    """The stored config and credentials of a tool or an imported MCP server."""

    use: SecretUse
    config: Mapping[str, Any]
    sealed_auth: Mapping[str, Any] | None


def list_owned_definitions(snapshot: Snapshot, owner_id: str) -> list[Definition]:
    """Return the tools and the imported servers of a user; only these can use the secrets of that user."""
    tools = (item.tool for item in snapshot.iterate_tools() if item.tool.owner_id == owner_id)
    return [
        *(Definition(SecretUse("tool", tool.id, tool.name), tool.config, tool.sealed_auth) for tool in tools),
        *(
            Definition(SecretUse("upstream", each.id, each.name), each.config, each.sealed_auth)
            for each in snapshot.upstreams.list_owned(owner_id)
        ),
    ]


def find_secret_uses(definitions: Iterable[Definition], vault: Vault) -> dict[str, list[SecretUse]]:
    """Return what refers to each secret, by its name.

    Of a definition that cannot be decrypted, only the references that are stored readable are found.
    """
    found: dict[str, list[SecretUse]] = {}
    for use, config, sealed_auth in definitions:
        for name in sorted(_list_names(use.id, config, sealed_auth, vault)):
            found.setdefault(name, []).append(use)
    return found


def _list_names(
    row_id: str, config: Mapping[str, Any], sealed_auth: Mapping[str, Any] | None, vault: Vault
) -> set[str]:
    try:
        return list_secret_names(unseal_config(config, vault, row_id), unseal_auth(sealed_auth, vault, row_id))
    except SecretUnreadable:
        return list_secret_names(config, sealed_auth)
