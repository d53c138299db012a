"""Rotating keys, also while the board is in use and when killed on the way."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pegboard.core.errors import SecretUnreadable
from pegboard.core.ids import new_id
from pegboard.core.people import Secret, User
from pegboard.core.tool import Kind, Tool
from pegboard.registry.rotation import Skipped, rotate
from pegboard.registry.sealing import seal_auth, seal_config, unseal_auth, unseal_config
from pegboard.store import secrets, tools, users
from pegboard.store.database import Database, revision_of
from pegboard.store.keyfile import FileKeyring
from pegboard.store.keyring import EnvironmentKeyring, Key, KeyringError, encode_key
from pegboard.store.migrate import migrate
from pegboard.store.vault import Vault

NOW = datetime(2026, 1, 2, tzinfo=UTC)
AUTH = {"type": "bearer", "token": "hunter2"}
CONFIG = {
    "url": "https://example.com",
    "method": "GET",
    "headers": {"X-Key": "swordfish", "Authorization": "Bearer {{secret:NAME}}"},
}
# Of each tool: one header and the auth_config, in the tool itself and in its one version.
A_TOOL = 4


@dataclass(frozen=True, slots=True)
class Board:
    """A database with an owner, and the file with the keys to it."""

    database: Database
    key_file: Path
    owner: str

    def vault(self) -> Vault:
        """A vault as another process would open it."""
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
            await tools.add(change.conn, tool, revision=change.revision, by=self.owner)
        return tool

    async def add_secret(self, vault: Vault, value: str) -> Secret:
        secret_id = new_id()
        async with self.database.change() as change:
            secret = Secret(secret_id, self.owner, f"S{secret_id}", vault.seal(value, secret_id), NOW, NOW)
            await secrets.put(change.conn, secret, revision=change.revision)
        return secret

    async def fill(self, count: int) -> None:
        vault = self.vault()
        for number in range(count):
            await self.add_tool(vault)
            await self.add_secret(vault, f"value {number}")

    async def rows(self) -> list[secrets.SealedRow]:
        async with self.database.read() as conn:
            found: list[secrets.SealedRow] = []
            while more := await secrets.sealed(conn, after=found[-1] if found else None):
                found += more
            return found

    async def check(self, vault: Vault) -> set[str]:
        """The keys that are needed, after every value was found to be what it was."""
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
            await users.add(change.conn, owner, revision=change.revision)
        FileKeyring(key_file, create=True)
        yield Board(database, key_file, owner.id)
    finally:
        await database.close()


@pytest.fixture
async def board(tmp_path: Path) -> AsyncIterator[Board]:
    async with opened(f"sqlite:///{tmp_path}/board.db", tmp_path / "secret.key") as made:
        yield made


async def damage(board: Board, row: secrets.SealedRow) -> str:
    """Overwrite a secret's row with a text that its key does not open."""
    damaged = Vault(FileKeyring(board.key_file)).seal("of another row", new_id())
    async with board.database.change() as change:
        assert await secrets.replace(change.conn, row, damaged, revision=change.revision)
    return damaged


async def test_everything_is_encrypted_anew_and_the_old_key_is_gone(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path / "secret.key") as board:
        await board.fill(3)
        old = board.vault().keyring.primary
        report = await rotate(board.database, board.vault(), batch=2, grace=0)
        fresh = board.vault()
        assert (report.finished, report.note, report.skipped) == (True, None, ())
        assert report.sealed == report.total == 3 * (A_TOOL + 1)
        assert report.key_id == fresh.keyring.primary.id != old.id
        assert fresh.keyring.get(old.id) is None
        assert await board.check(fresh) == {report.key_id}


async def test_servers_hear_of_the_rows_that_changed(board: Board) -> None:
    await board.fill(2)
    async with board.database.read() as conn:
        seen = await revision_of(conn)
    await rotate(board.database, board.vault(), grace=0)
    async with board.database.read() as conn:
        assert len(await tools.changed(conn, seen)) == 2
        assert len(await secrets.changed(conn, seen)) == 2


async def test_nothing_but_the_ciphertexts_changes(board: Board) -> None:
    tool = await board.add_tool(board.vault())
    await rotate(board.database, board.vault(), grace=0)
    async with board.database.read() as conn:
        after = await tools.get(conn, tool.id)
    assert after is not None
    assert replace(after, config=tool.config, sealed_auth=tool.sealed_auth) == tool
    assert after.config["headers"]["Authorization"] == "Bearer {{secret:NAME}}"


async def test_progress_is_told_as_it_goes(board: Board) -> None:
    await board.fill(2)
    told: list[tuple[int, int]] = []
    await rotate(board.database, board.vault(), grace=0, on_progress=lambda sealed, seen: told.append((sealed, seen)))
    total = 2 * (A_TOOL + 1)
    assert told[0] == (1, 1)
    assert told[-1] == (total, total)
    assert [sealed for sealed, _ in told] == sorted(sealed for sealed, _ in told)


async def test_a_board_without_credentials_rotates_too(board: Board) -> None:
    report = await rotate(board.database, board.vault(), grace=0)
    assert (report.finished, report.sealed, report.total) == (True, 0, 0)


async def test_a_value_that_cannot_be_opened_is_reported_and_left_and_keeps_the_old_key(board: Board) -> None:
    await board.fill(2)
    row = next(row for row in await board.rows() if row.table == "secrets")
    damaged = await damage(board, row)
    old = board.vault().keyring.primary
    for _again in range(2):
        report = await rotate(board.database, board.vault(), grace=0)
        assert not report.finished
        assert [(skipped.table, skipped.id) for skipped in report.skipped] == [("secrets", row.id)]
        assert f"key {old.id} does not open it" in report.skipped[0].reason
        assert report.note is not None
        assert "The old keys are kept: 1 stored values cannot be opened" in report.note
        assert [key.id for key in board.vault().keyring.keys] == [report.key_id, old.id]
    kept = {row.id: row.value for row in await board.rows()}
    assert kept[row.id] == damaged


async def test_values_that_cannot_be_opened_can_be_given_up(board: Board) -> None:
    await board.fill(1)
    row = next(row for row in await board.rows() if row.table == "secrets")
    damaged = await damage(board, row)
    report = await rotate(board.database, board.vault(), grace=0, force=True)
    assert report.finished
    assert report.skipped == (Skipped("secrets", row.id, report.skipped[0].reason),)
    assert len(board.vault().keyring.keys) == 1
    assert {row.id: row.value for row in await board.rows()}[row.id] == damaged


async def test_the_good_values_of_a_row_are_encrypted_anew_beside_a_damaged_one(board: Board) -> None:
    vault = board.vault()
    tool = await board.add_tool(vault)
    row = next(row for row in await board.rows() if row.table == "tools")
    broken: dict[str, Any] = {"$sealed": vault.seal("of another tool", new_id())}
    headers = {**tool.config["headers"], "Broken": broken}
    async with board.database.change() as change:
        value = {**row.value, "config": {**row.value["config"], "headers": headers}}
        assert await secrets.replace(change.conn, row, value, revision=change.revision)
    report = await rotate(board.database, board.vault(), grace=0)
    assert [(skipped.table, skipped.id) for skipped in report.skipped] == [("tools", tool.id)]
    async with board.database.read() as conn:
        after = await tools.get(conn, tool.id)
    assert after is not None
    assert after.config["headers"]["Broken"] == broken
    assert after.config["headers"]["X-Key"]["$sealed"].startswith(f"pb1:{report.key_id}:")


async def test_keys_of_the_environment_rotate_to_the_first_and_say_which_to_drop(board: Board) -> None:
    old, new = (encode_key(bytes([number]) * 32) for number in (1, 2))
    await board.add_secret(Vault(EnvironmentKeyring(old)), "value x")
    with pytest.raises(KeyringError, match="holds one key"):
        await rotate(board.database, Vault(EnvironmentKeyring(old)), grace=0)
    report = await rotate(board.database, Vault(EnvironmentKeyring(f"{new},{old}")), grace=0)
    assert report.finished
    assert report.note is not None
    assert Key.of(bytes([1]) * 32).id in report.note
    assert await board.check(Vault(EnvironmentKeyring(new))) == {report.key_id}


async def test_somebody_who_goes_on_with_the_old_key_keeps_it_alive(board: Board) -> None:
    old, new = (encode_key(bytes([number]) * 32) for number in (1, 2))
    stale = Vault(EnvironmentKeyring(old))
    secret = await board.add_secret(stale, "value x")
    loop = asyncio.get_running_loop()

    async def write_again() -> None:
        async with board.database.change() as change:
            again = replace(secret, sealed=stale.seal("value y", secret.id))
            await secrets.put(change.conn, again, revision=change.revision)

    writes: list[asyncio.Task[None]] = []
    report = await rotate(
        board.database,
        Vault(EnvironmentKeyring(f"{new},{old}")),
        grace=0,
        on_progress=lambda _sealed, _seen: writes.append(loop.create_task(write_again())),
    )
    await asyncio.gather(*writes)
    assert not report.finished
    assert report.note is not None
    assert "another process still encrypts" in report.note


async def test_a_later_rotation_is_not_robbed_of_its_keys(board: Board) -> None:
    await board.fill(1)
    other = FileKeyring(board.key_file)
    begun: list[Key] = []

    def meddle(_sealed: int, _seen: int) -> None:
        if not begun:
            other.finish_rotation(other.primary)
            begun.append(other.begin_rotation())

    report = await rotate(board.database, board.vault(), grace=0, on_progress=meddle)
    assert not report.finished
    assert report.note is not None
    assert f"another rotation, to key {begun[0].id}" in report.note
    assert await board.check(board.vault()) <= {key.id for key in board.vault().keyring.keys}


async def test_it_rotates_while_others_write_and_read_and_nothing_is_lost(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path / "secret.key") as board:
        await board.fill(5)
        server = board.vault()
        written = asyncio.Event()
        ended = asyncio.Event()
        count = 0

        async def write() -> None:
            nonlocal count
            while not ended.is_set():
                await board.add_tool(server)
                secret = await board.add_secret(server, f"value {count}")
                async with board.database.change() as change:
                    again = replace(secret, sealed=server.seal("value again", secret.id))
                    await secrets.put(change.conn, again, revision=change.revision)
                count += 1
                written.set()

        async def read() -> None:
            while not ended.is_set():
                await board.check(server)

        async with asyncio.TaskGroup() as group:
            group.create_task(write())
            group.create_task(read())
            await written.wait()
            for _ in range(2):
                written.clear()
                report = await rotate(board.database, board.vault(), batch=3, grace=0)
                assert (report.finished, report.skipped) == (True, ())
                await written.wait()
            ended.set()
        assert count >= 3
        assert await board.check(board.vault()) == {report.key_id}


_ROTATE = """
import asyncio, sys
from pathlib import Path
from pegboard.registry.rotation import rotate
from pegboard.store.database import Database
from pegboard.store.keyfile import FileKeyring
from pegboard.store.vault import Vault

url, key_file, stop_at = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
steps = 0

def on_progress(sealed, seen):
    global steps
    steps += 1
    if steps == stop_at:
        print("here", flush=True)
        sys.stdin.read()

async def main():
    await rotate(Database.create(url), Vault(FileKeyring(key_file)), on_progress=on_progress, grace=0, batch=2)

asyncio.run(main())
"""


@pytest.mark.parametrize("stop_at", [1, 5, 9, 27], ids=["first row", "midway", "last row", "before the old key goes"])
async def test_killed_on_the_way_it_goes_on_where_it_was(board: Board, stop_at: int) -> None:
    await board.fill(3)
    old = board.vault().keyring.primary
    # Three passes over three secrets, three tools and three versions.
    child = subprocess.Popen(
        [sys.executable, "-c", _ROTATE, board.database.shown_url, str(board.key_file), str(stop_at)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "here\n"
    finally:
        child.kill()
        child.communicate(timeout=30)
    begun = board.vault()
    assert [key.id for key in begun.keyring.keys[1:]] == [old.id]
    assert len(await board.check(begun)) == (2 if stop_at < 9 else 1)
    report = await rotate(board.database, begun, grace=0)
    assert report.finished
    assert report.key_id == begun.keyring.primary.id
    assert report.total == 3 * (A_TOOL + 1)
    assert await board.check(board.vault()) == {report.key_id}
    with pytest.raises(SecretUnreadable):
        board.vault().open(Vault(EnvironmentKeyring(encode_key(old.secret))).seal("x", old.id), old.id)
