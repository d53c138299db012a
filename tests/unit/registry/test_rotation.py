"""Key rotation: what changes, what does not, and what prevents it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pegboard.model.ids import new_id
from pegboard.registry.key_rotation import UnreadableRow, rotate_keys
from pegboard.storage import account_rows, sealed_rows, tool_rows, upstream_rows
from pegboard.storage.database import read_revision
from pegboard.storage.keyring import EnvironmentKeyring, FileKeyring, Key, KeyringError, encode_key
from pegboard.storage.vault import Vault
from tests.unit.registry.sealed_board import A_TOOL, Board, opened


@pytest.fixture
async def board(tmp_path: Path) -> AsyncIterator[Board]:
    async with opened(f"sqlite:///{tmp_path}/board.db", tmp_path / "secret.key") as made:
        yield made


async def damage(board: Board, row: sealed_rows.SealedRow) -> str:
    """Overwrite a secret's row with a text that its key cannot decrypt."""
    damaged = Vault(FileKeyring(board.key_file)).seal("of another row", new_id())
    async with board.database.change() as change:
        assert await sealed_rows.replace_sealed_value(change.conn, row, damaged, revision=change.revision)
    return damaged


async def test_everything_is_encrypted_again_and_the_old_key_is_gone(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path / "secret.key") as board:
        await board.fill(3)
        old = board.vault().keyring.primary
        report = await rotate_keys(board.database, board.vault(), batch=2, grace=0)
        fresh = board.vault()
        assert (report.finished, report.note, report.skipped) == (True, None, ())
        assert report.sealed == report.total == 3 * (A_TOOL + 1)
        assert report.key_id == fresh.keyring.primary.id != old.id
        assert fresh.keyring.get(old.id) is None
        assert await board.check(fresh) == {report.key_id}


async def test_the_credentials_of_imported_servers_are_encrypted_again(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path / "secret.key") as board:
        await board.add_upstream(board.vault())
        async with board.database.read() as conn:
            seen = await read_revision(conn)
        report = await rotate_keys(board.database, board.vault(), grace=0)
        assert (report.finished, report.sealed) == (True, 2)
        assert await board.check(board.vault()) == {report.key_id}
        async with board.database.read() as conn:
            assert len(await upstream_rows.list_changed_upstreams(conn, seen)) == 1


async def test_servers_hear_of_the_rows_that_changed(board: Board) -> None:
    await board.fill(2)
    async with board.database.read() as conn:
        seen = await read_revision(conn)
    await rotate_keys(board.database, board.vault(), grace=0)
    async with board.database.read() as conn:
        assert len(await tool_rows.list_changed_tools(conn, seen)) == 2
        assert len(await account_rows.secrets.list_changed(conn, seen)) == 2


async def test_nothing_but_the_ciphertexts_changes(board: Board) -> None:
    tool = await board.add_tool(board.vault())
    await rotate_keys(board.database, board.vault(), grace=0)
    async with board.database.read() as conn:
        after = await tool_rows.get_tool(conn, tool.id)
    assert after is not None
    assert replace(after, config=tool.config, sealed_auth=tool.sealed_auth) == tool
    assert after.config["headers"]["Authorization"] == "Bearer {{secret:NAME}}"


async def test_progress_is_reported_as_it_goes(board: Board) -> None:
    await board.fill(2)
    received: list[tuple[int, int]] = []
    await rotate_keys(
        board.database, board.vault(), grace=0, on_progress=lambda sealed, seen: received.append((sealed, seen))
    )
    total = 2 * (A_TOOL + 1)
    assert received[0] == (1, 1)
    assert received[-1] == (total, total)
    assert [sealed for sealed, _ in received] == sorted(sealed for sealed, _ in received)


async def test_a_board_without_credentials_rotates_too(board: Board) -> None:
    report = await rotate_keys(board.database, board.vault(), grace=0)
    assert (report.finished, report.sealed, report.total) == (True, 0, 0)


async def test_a_value_that_cannot_be_opened_is_reported_and_left_and_keeps_the_old_key(board: Board) -> None:
    await board.fill(2)
    row = next(row for row in await board.rows() if row.table == "secrets")
    damaged = await damage(board, row)
    old = board.vault().keyring.primary
    for _again in range(2):
        report = await rotate_keys(board.database, board.vault(), grace=0)
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
    report = await rotate_keys(board.database, board.vault(), grace=0, force=True)
    assert report.finished
    assert report.skipped == (UnreadableRow("secrets", row.id, report.skipped[0].reason),)
    assert len(board.vault().keyring.keys) == 1
    assert {row.id: row.value for row in await board.rows()}[row.id] == damaged


async def test_the_good_values_of_a_row_are_encrypted_again_beside_a_damaged_one(board: Board) -> None:
    vault = board.vault()
    tool = await board.add_tool(vault)
    row = next(row for row in await board.rows() if row.table == "tools")
    broken: dict[str, Any] = {"$sealed": vault.seal("of another tool", new_id())}
    headers = {**tool.config["headers"], "Broken": broken}
    async with board.database.change() as change:
        value = {**row.value, "config": {**row.value["config"], "headers": headers}}
        assert await sealed_rows.replace_sealed_value(change.conn, row, value, revision=change.revision)
    report = await rotate_keys(board.database, board.vault(), grace=0)
    assert [(skipped.table, skipped.id) for skipped in report.skipped] == [("tools", tool.id)]
    async with board.database.read() as conn:
        after = await tool_rows.get_tool(conn, tool.id)
    assert after is not None
    assert after.config["headers"]["Broken"] == broken
    assert after.config["headers"]["X-Key"]["$sealed"].startswith(f"pb1:{report.key_id}:")


async def test_keys_of_the_environment_rotate_to_the_first_and_say_which_to_drop(board: Board) -> None:
    old, new = (encode_key(bytes([number]) * 32) for number in (1, 2))
    await board.add_secret(Vault(EnvironmentKeyring(old)), "value x")
    with pytest.raises(KeyringError, match="holds one key"):
        await rotate_keys(board.database, Vault(EnvironmentKeyring(old)), grace=0)
    report = await rotate_keys(board.database, Vault(EnvironmentKeyring(f"{new},{old}")), grace=0)
    assert report.finished
    assert report.note is not None
    assert Key.of(bytes([1]) * 32).id in report.note
    assert await board.check(Vault(EnvironmentKeyring(new))) == {report.key_id}


async def test_a_user_who_continues_with_the_old_key_keeps_it_alive(board: Board) -> None:
    old, new = (encode_key(bytes([number]) * 32) for number in (1, 2))
    stale = Vault(EnvironmentKeyring(old))
    secret = await board.add_secret(stale, "value x")
    loop = asyncio.get_running_loop()

    async def write_again() -> None:
        async with board.database.change() as change:
            again = replace(secret, sealed=stale.seal("value y", secret.id))
            await account_rows.secrets.put(change.conn, again, revision=change.revision)

    writes: list[asyncio.Task[None]] = []
    report = await rotate_keys(
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

    report = await rotate_keys(board.database, board.vault(), grace=0, on_progress=meddle)
    assert not report.finished
    assert report.note is not None
    assert f"another rotation, to key {begun[0].id}" in report.note
    assert await board.check(board.vault()) <= {key.id for key in board.vault().keyring.keys}
