"""Named secrets, which tool configs refer to as {{secret:NAME}}, and the decrypted configs for executors."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pegboard.kinds.base import InjectedConfig, OpenTool
from pegboard.model.accounts import Secret, refuse_agents
from pegboard.model.api_errors import Fault, Invalid, NotFound
from pegboard.model.call import Caller
from pegboard.model.call_errors import SecretUnreadable
from pegboard.model.ids import new_id
from pegboard.model.page import Page, cut_page, read_id_cursor
from pegboard.model.secrets import list_secret_names, resolve_references
from pegboard.model.tool import Tool
from pegboard.registry.secret_fields import open_auth, open_config
from pegboard.registry.secret_uses import SecretUse, find_secret_uses, list_owned_definitions
from pegboard.registry.snapshot import Snapshot
from pegboard.storage import account_rows
from pegboard.storage.database import Database
from pegboard.storage.vault import Vault

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,254}", re.ASCII)
MAX_SECRET_BYTES = 64 * 1024


class NamedSecrets:
    """Stores each user's named secrets; a value is never returned, only passed to tools of its owner."""

    def __init__(self, database: Database, snapshot: Snapshot, vault: Vault) -> None:
        self._database = database
        self._snapshot = snapshot
        self._vault = vault

    async def put(self, name: str, value: str, caller: Caller) -> Secret:
        """Create or replace the secret and return it; tools that refer to it use the new value from the next call on.

        Raises Invalid if the name is not valid, or the value is empty or longer than MAX_SECRET_BYTES.
        """
        refuse_agents(caller)
        if not _NAME.fullmatch(name):
            rule = "a secret's name starts with a letter or underscore and has letters, digits, '_', '.', '-' only"
            raise Invalid.of("The secret was not set", [Fault("name", rule)])
        if not value:
            raise Invalid.of("The secret was not set", [Fault("value", "is empty; give at least one character")])
        if len(value.encode("utf-8", "surrogatepass")) > MAX_SECRET_BYTES:
            raise Invalid.of("The secret was not set", [Fault("value", f"longer than {MAX_SECRET_BYTES:,} bytes")])
        now = datetime.now(UTC)
        async with self._database.change() as change:
            secret = await account_rows.find_secret_by_name(change.conn, caller.user_id, name)
            secret = secret or Secret(new_id(), caller.user_id, name, None, now, now)
            secret = replace(secret, sealed=self._vault.seal(value, secret.id), updated_at=now)
            await account_rows.secrets.put(change.conn, secret, revision=change.revision)
        await self._snapshot.refresh()
        return secret

    async def page(self, caller: Caller, *, cursor: str | None, limit: int) -> Page[Secret]:
        """Return one page of the caller's secrets, without their values."""
        refuse_agents(caller)
        after = read_id_cursor(cursor)
        async with self._database.read() as conn:
            found = await account_rows.secrets.page(conn, caller.user_id, after=after, limit=limit + 1)
        listed = cut_page(found, limit, lambda secret: [secret.id])
        return Page([secret for secret in listed.items if _NAME.fullmatch(secret.name)], listed.next_cursor)

    async def find_uses(self, caller: Caller) -> dict[str, list[SecretUse]]:
        """Return the tools and imported servers of the caller that refer to each secret, by its name."""
        refuse_agents(caller)
        definitions = list_owned_definitions(self._snapshot, caller.user_id)
        # In an OS thread, because a user may have thousands of tools with encrypted credentials.
        return await asyncio.to_thread(find_secret_uses, definitions, self._vault)

    async def remove(self, name: str, caller: Caller) -> None:
        """Delete the secret's value; tools that refer to it fail. Raise NotFound if there is no such secret."""
        refuse_agents(caller)
        async with self._database.change() as change:
            secret = await account_rows.find_secret_by_name(change.conn, caller.user_id, name)
            if secret is None or secret.sealed is None or not _NAME.fullmatch(name):
                raise NotFound(f"Secret '{name}' not found")
            gone = replace(secret, sealed=None, updated_at=datetime.now(UTC))
            await account_rows.secrets.put(change.conn, gone, revision=change.revision)
        await self._snapshot.refresh()

    def value(self, owner_id: str, name: str) -> str:
        """Return the decrypted value, for a tool of this owner; raise KeyError if there is none."""
        secret = self._snapshot.secret(owner_id, name)
        if secret is None or secret.sealed is None:
            raise KeyError(name)
        return self._vault.open(secret.sealed, secret.id)


class SecretInjector:
    """Decrypts the stored configs of tools, and fills in the named secrets that they refer to."""

    def __init__(self, vault: Vault, secret: Callable[[str, str], str]) -> None:
        self._vault = vault
        # Returns the value of a secret, given the owner's id and its name; raises KeyError if there is none.
        self._secret = secret

    def open(self, tool: Tool) -> OpenTool:
        """Return the tool with its secrets decrypted; raise SecretUnreadable if one cannot be."""
        return OpenTool(tool, *self.open_fields(tool.owner_id, tool.id, tool.config, tool.sealed_auth))

    def open_fields(
        self, owner_id: str, row_id: str, config: Mapping[str, Any], sealed_auth: Mapping[str, Any] | None
    ) -> InjectedConfig:
        """Return a stored config and auth_config of this row with their secrets decrypted; raise SecretUnreadable."""
        secret, used = self._track_secrets(owner_id)
        opened = open_config(config, self._vault, row_id, secret), open_auth(sealed_auth, self._vault, row_id, secret)
        return InjectedConfig(*opened, frozenset(used))

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
