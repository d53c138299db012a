"""Named secrets, which tool configs refer to as {{secret:NAME}}."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

from pegboard.core.call import Caller
from pegboard.core.ids import new_id
from pegboard.core.people import Secret
from pegboard.core.refusals import Fault, Invalid, NotFound
from pegboard.registry.pages import Page, an_id, cut, read_cursor
from pegboard.registry.registry import refuse_agents
from pegboard.registry.snapshot import Snapshot
from pegboard.store import secrets
from pegboard.store.database import Database
from pegboard.store.vault import Vault

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,254}", re.ASCII)
MAX_BYTES = 64 * 1024


class NamedSecrets:
    """Keeps each user's named secrets; values go in and never come out but into a tool of their owner."""

    def __init__(self, database: Database, snapshot: Snapshot, vault: Vault) -> None:
        self._database = database
        self._snapshot = snapshot
        self._vault = vault

    async def put(self, name: str, value: str, caller: Caller) -> Secret:
        """The secret, new or renewed; tools that refer to it use the new value from the next call on."""
        refuse_agents(caller)
        if not _NAME.fullmatch(name):
            rule = "a secret's name starts with a letter or underscore and has letters, digits, '_', '.', '-' only"
            raise Invalid.of("The secret was not set", [Fault("name", rule)])
        if not value:
            raise Invalid.of("The secret was not set", [Fault("value", "is empty; give at least one character")])
        if len(value.encode("utf-8", "surrogatepass")) > MAX_BYTES:
            raise Invalid.of("The secret was not set", [Fault("value", f"longer than {MAX_BYTES:,} bytes")])
        now = datetime.now(UTC)
        async with self._database.change() as change:
            secret = await secrets.named(change.conn, caller.user_id, name)
            secret = secret or Secret(new_id(), caller.user_id, name, None, now, now)
            secret = replace(secret, sealed=self._vault.seal(value, secret.id), updated_at=now)
            await secrets.put(change.conn, secret, revision=change.revision)
        await self._snapshot.refresh()
        return secret

    async def page(self, caller: Caller, *, cursor: str | None, limit: int) -> Page[Secret]:
        """The caller's secrets, without their values."""
        refuse_agents(caller)
        place = read_cursor(cursor, an_id)
        async with self._database.read() as conn:
            found = await secrets.page(conn, caller.user_id, after=place[0] if place else None, limit=limit + 1)
        listed = cut(found, limit, [found[min(limit, len(found)) - 1].id] if found else None)
        return Page([secret for secret in listed.items if _NAME.fullmatch(secret.name)], listed.next_cursor)

    async def remove(self, name: str, caller: Caller) -> None:
        """The secret's value is gone; tools that refer to it say so when called."""
        refuse_agents(caller)
        async with self._database.change() as change:
            secret = await secrets.named(change.conn, caller.user_id, name)
            if secret is None or secret.sealed is None or not _NAME.fullmatch(name):
                raise NotFound(f"Secret '{name}' not found")
            gone = replace(secret, sealed=None, updated_at=datetime.now(UTC))
            await secrets.put(change.conn, gone, revision=change.revision)
        await self._snapshot.refresh()

    def value(self, owner_id: str, name: str) -> str:
        """The plain value, for a tool of this owner; KeyError where there is none."""
        secret = self._snapshot.secret(owner_id, name)
        if secret is None or secret.sealed is None:
            raise KeyError(name)
        return self._vault.open(secret.sealed, secret.id)
