"""A database with credentials in it, for the tests of rotation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pegboard.model.accounts import Secret, User
from pegboard.model.ids import new_id
from pegboard.model.registered_upstream import RegisteredUpstream
from pegboard.model.tool import Kind, Tool
from pegboard.registry.secret_fields import seal_auth, seal_config, unseal_auth, unseal_config
from pegboard.storage import account_rows, sealed_rows, tool_rows, upstream_rows
from pegboard.storage.database import Database
from pegboard.storage.keyring import FileKeyring
from pegboard.storage.migrate import migrate
from pegboard.storage.vault import Vault

NOW = datetime(2026, 1, 2, tzinfo=UTC)
AUTH = {"type": "bearer", "token": "hunter2"}
CONFIG = {
    "url": "https://example.com",
    "method": "GET",
    "headers": {"X-Key": "swordfish", "Authorization": "Bearer {{secret:NAME}}"},
}
# For each tool: one header and the auth_config, in the tool itself and in its one version.
A_TOOL = 4


@dataclass(frozen=True, slots=True)
class Board:
    """A database with an owner, and the file with its keys."""

    database: Database
    key_file: Path
    owner: str

    def vault(self) -> Vault:
        """Return a vault as another process would open it."""
        return Vault(FileKeyring(self.key_file))

    async def add_tool(self, vault: Vault) -> Tool:
        tool_id = new_id()
        async with self.database.change() as change:
            tool = Tool(
                tool_id,
                self.owner,
                f"tool_{tool_id[-12:]}",
                Kind.HTTP,
                seal_config(CONFIG, vault, tool_id),
                {},
                NOW,
                NOW,
                sealed_auth=seal_auth(AUTH, vault, tool_id),
            )
            await tool_rows.add_tools(change.conn, [tool], revision=change.revision, by=self.owner)
        return tool

    async def add_secret(self, vault: Vault, value: str) -> Secret:
        secret_id = new_id()
        async with self.database.change() as change:
            secret = Secret(secret_id, self.owner, f"S{secret_id}", vault.seal(value, secret_id), NOW, NOW)
            await account_rows.secrets.put(change.conn, secret, revision=change.revision)
        return secret

    async def add_upstream(self, vault: Vault) -> None:
        upstream_id = new_id()
        upstream = RegisteredUpstream(
            upstream_id,
            self.owner,
            "server",
            "",
            seal_config(CONFIG, vault, upstream_id),
            NOW,
            NOW,
            sealed_auth=seal_auth(AUTH, vault, upstream_id),
        )
        async with self.database.change() as change:
            await upstream_rows.add_upstream(change.conn, upstream, revision=change.revision)

    async def fill(self, count: int) -> None:
        vault = self.vault()
        for number in range(count):
            await self.add_tool(vault)
            await self.add_secret(vault, f"value {number}")

    async def rows(self) -> list[sealed_rows.SealedRow]:
        async with self.database.read() as conn:
            found: list[sealed_rows.SealedRow] = []
            while more := await sealed_rows.list_sealed_rows(conn, after=found[-1] if found else None):
                found += more
            return found

    async def check(self, vault: Vault) -> set[str]:
        """The needed keys, after every value was compared with the original."""
        needed = set()

        def note(sealed: str) -> None:
            needed.add(sealed.split(":")[1])

        for row in await self.rows():
            if row.table == "secrets":
                assert vault.open(row.value, row.subject).startswith("value ")
                note(row.value)
                continue
            assert unseal_config(row.value["config"], vault, row.subject) == CONFIG
            assert unseal_auth(row.value["sealed_auth"], vault, row.subject) == AUTH
            note(row.value["config"]["headers"]["X-Key"]["$sealed"])
            note(row.value["sealed_auth"]["$sealed"])
        return needed


@asynccontextmanager
async def opened(url: str, key_file: Path) -> AsyncIterator[Board]:
    database = Database.create(url)
    try:
        await migrate(database)
        owner = User(new_id(), "owner", "admin", NOW, NOW)
        async with database.change() as change:
            await account_rows.users.add(change.conn, owner, revision=change.revision)
        FileKeyring(key_file, create=True)
        yield Board(database, key_file, owner.id)
    finally:
        await database.close()
