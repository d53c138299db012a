"""Rows of users and keys that the board did not write give no rights."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from pegboard import Pegboard
from pegboard.model.accounts import ROOT_ROW_NAME, ApiKey, User
from pegboard.model.api_errors import NotFound, Unauthorised
from pegboard.model.ids import new_id
from pegboard.registry.account_macs import AccountSigner
from pegboard.registry.accounts_service import NewKey
from pegboard.storage import account_rows
from pegboard.storage.keyring import FileKeyring, KeyringError, encode_key
from pegboard.storage.vault import Vault
from pegboard.testing import NoSettings
from tests.board_surfaces import KEY

NOW = datetime(2026, 1, 2, tzinfo=UTC)
FORGED = "a-key-that-a-database-writer-chose"


@pytest.fixture
def settings(tmp_path: Path) -> NoSettings:
    return NoSettings(home=tmp_path / "home", admin_key=KEY)


async def a_member(board: Pegboard, name: str = "ada") -> tuple[User, NewKey]:
    """A member and their key."""
    user = await board.people.create_user(name, "member", board.admin)
    return user, await board.people.create_key(user.id, board.admin)


async def write(board: Pegboard, statement: str, **values: object) -> None:
    """Write to the database so that running processes read the change."""
    async with board.database.change() as change:
        await change.conn.execute(text(statement), {**values, "revision": change.revision})
    await board.snapshot.refresh()


async def test_a_key_that_was_inserted_is_not_known(
    database_url: str, settings: NoSettings, caplog: pytest.LogCaptureFixture
) -> None:
    hashed = hashlib.sha256(FORGED.encode()).hexdigest()
    async with Pegboard.open(database_url, settings=settings) as board:
        signer = AccountSigner(board.vault)
        for key_hash in (hashed, signer.compute_stored_hash(hashed)):
            row = ApiKey(new_id(), board.admin.user_id, "mine", "", key_hash, NOW, mac="0" * 64)
            async with board.database.change() as change:
                await account_rows.keys.add(change.conn, row, revision=change.revision)
        await board.snapshot.refresh()
        with pytest.raises(Unauthorised, match="not known"):
            board.snapshot.holder(FORGED)
        assert "rows_not_genuine" in caplog.text
    async with Pegboard.open(database_url, settings=settings) as board:
        with pytest.raises(Unauthorised, match="not known"):
            board.snapshot.holder(FORGED)


CHANGES = {
    "role of the user": "UPDATE users SET role = 'admin', revision = :revision WHERE id = :user",
    "name of the user": "UPDATE users SET name = 'root', revision = :revision WHERE id = :user",
    "user of the key": "UPDATE api_keys SET user_id = :admin, revision = :revision WHERE id = :key",
    "expiry": "UPDATE api_keys SET expires_at = :later, revision = :revision WHERE id = :key",
    "hash": "UPDATE api_keys SET key_hash = :hash, revision = :revision WHERE id = :key",
    "revision": "UPDATE api_keys SET revision = :revision WHERE id = :key",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_a_changed_row_gives_no_rights_in_this_process_and_after_a_restart(
    database_url: str, settings: NoSettings, change: str
) -> None:
    async with Pegboard.open(database_url, settings=settings) as board:
        user, made = await a_member(board)
        assert board.snapshot.holder(made.key).role == "member"
        known = {"user": user.id, "key": made.row.id, "admin": board.admin.user_id}
        known |= {"hash": AccountSigner(board.vault).compute_stored_hash(hashlib.sha256(FORGED.encode()).hexdigest())}
        is_sqlite = board.database.kind == "sqlite"
        values: dict[str, object] = {
            name: value.replace("-", "") if is_sqlite else value
            for name, value in known.items()
            if f":{name}" in change
        }
        if ":later" in change:
            later = datetime.now(UTC) + timedelta(days=1)
            values["later"] = later.strftime("%Y-%m-%d %H:%M:%S.%f") if is_sqlite else later
        await write(board, change, **values)
        assert_unknown_key(board, FORGED if ":hash" in change else made.key)
    async with Pegboard.open(database_url, settings=settings) as board:
        assert_unknown_key(board, made.key)
        assert_unknown_key(board, FORGED)
        assert board.snapshot.holder(KEY).is_admin


def assert_unknown_key(board: Pegboard, key: str) -> None:
    with pytest.raises(Unauthorised, match="not known"):
        board.snapshot.holder(key)


async def test_a_revoked_key_that_is_put_back_is_no_good_to_processes_that_run(
    database_url: str, settings: NoSettings
) -> None:
    async with Pegboard.open(database_url, settings=settings) as board:
        user, made = await a_member(board)
        async with board.database.read() as conn:
            before = await account_rows.keys.get(conn, made.row.id)
        assert before is not None
        await board.people.revoke_key(user.id, made.row.id, board.admin)
        async with board.database.change() as change:
            await account_rows.keys.save(change.conn, before, revision=before.revision)
        await board.snapshot.refresh()
        with pytest.raises(Unauthorised, match="revoked"):
            board.snapshot.holder(made.key)
        async with board.database.change() as change:
            await account_rows.keys.save(change.conn, before, revision=change.revision)
        await board.snapshot.refresh()
        assert_unknown_key(board, made.key)


async def test_changing_a_row_that_is_not_genuine_does_not_sign_it(database_url: str, settings: NoSettings) -> None:
    async with Pegboard.open(database_url, settings=settings) as board:
        user, made = await a_member(board)
        async with board.database.change() as change:
            await account_rows.users.save(change.conn, replace(user, role="admin"), revision=change.revision)
            await account_rows.keys.save(change.conn, replace(made.row, name="x"), revision=change.revision)
        with pytest.raises(NotFound):
            await board.people.remove_user(user.id, board.admin)
        with pytest.raises(NotFound):
            await board.people.revoke_key(user.id, made.row.id, board.admin)


async def test_the_settings_say_whose_key_it_is_whatever_was_made_of_its_row(
    database_url: str, settings: NoSettings
) -> None:
    async with Pegboard.open(database_url, settings=settings) as board:
        user, _ = await a_member(board)
        async with board.database.change() as change:
            row = await account_rows.find_key_by_hash(
                change.conn, AccountSigner(board.vault).compute_stored_hash(hashlib.sha256(KEY.encode()).hexdigest())
            )
            assert row is not None
            await account_rows.keys.save(change.conn, replace(row, user_id=user.id), revision=change.revision)
    async with Pegboard.open(database_url, settings=settings) as board:
        assert board.snapshot.holder(KEY).is_admin


async def test_rotating_the_encryption_key_keeps_users_and_keys(database_url: str, settings: NoSettings) -> None:
    async with Pegboard.open(database_url, settings=settings) as board:
        _, made = await a_member(board)
        assert (await board.rotate_secrets()).finished
        assert board.snapshot.holder(made.key).name == "ada"
    async with Pegboard.open(database_url, settings=settings) as board:
        assert board.snapshot.holder(made.key).name == "ada"
        assert board.snapshot.holder(KEY).is_admin


async def test_two_boards_accept_each_others_users_and_keys(database_url: str, settings: NoSettings) -> None:
    async with (
        Pegboard.open(database_url, settings=settings) as one,
        Pegboard.open(database_url, settings=settings) as two,
    ):
        user, made = await a_member(one)
        await two.snapshot.refresh()
        assert two.snapshot.holder(made.key).user_id == user.id
        await two.people.revoke_key(user.id, made.row.id, two.admin)
        await one.snapshot.refresh()
        with pytest.raises(Unauthorised, match="revoked"):
            one.snapshot.holder(made.key)


async def make_old(url: str, settings: NoSettings, plain: dict[str, str]) -> None:
    """Convert a database to its state before rows had MACs: keys as SHA-256, a root without the mark."""
    async with Pegboard.open(url, settings=settings) as board:
        vault = Vault(FileKeyring(settings.key_file))
        async with board.database.change() as change:
            for user in await account_rows.users.list_changed(change.conn, -1):
                await account_rows.users.save(change.conn, replace(user, mac=""), revision=change.revision)
            for key in await account_rows.keys.list_changed(change.conn, -1):
                text_of = plain[key.id]
                hashed = hashlib.sha256(text_of.encode()).hexdigest()
                old = replace(key, mac="", key_hash=hashed, prefix=text_of[:8])
                await account_rows.keys.save(change.conn, old, revision=change.revision)
            root = await account_rows.find_secret_by_name(change.conn, board.admin.user_id, ROOT_ROW_NAME)
            assert root is not None
            assert vault.keyring.root is not None
            old_root = replace(root, sealed=vault.seal(encode_key(vault.keyring.root), root.id))
            await account_rows.secrets.put(change.conn, old_root, revision=change.revision)


async def test_a_database_from_before_is_signed_once_and_its_keys_continue_working(
    database_url: str, settings: NoSettings
) -> None:
    async with Pegboard.open(database_url, settings=settings) as board:
        user, made = await a_member(board)
        async with board.database.read() as conn:
            [set_key] = await account_rows.list_user_keys(conn, board.admin.user_id)
    await make_old(database_url, settings, {made.row.id: made.key, set_key.id: KEY})
    async with Pegboard.open(database_url, settings=settings) as board:
        assert board.snapshot.holder(made.key).user_id == user.id
        assert board.snapshot.holder(KEY).is_admin
        async with board.database.read() as conn:
            stored = {row.id: row for row in await account_rows.keys.list_changed(conn, -1)}
        assert (stored[made.row.id].prefix, stored[set_key.id].prefix) == (made.key[:8], "")
        assert len(stored) == 2
        hashed = hashlib.sha256(KEY.encode()).hexdigest()
        assert hashed not in {row.key_hash for row in stored.values()}
        async with board.database.change() as change:  # and never again
            await account_rows.users.save(change.conn, replace(user, mac="", role="admin"), revision=change.revision)
    async with Pegboard.open(database_url, settings=settings) as board:
        assert_unknown_key(board, made.key)


async def test_removing_the_root_does_not_have_forged_rows_signed(database_url: str, settings: NoSettings) -> None:
    async with Pegboard.open(database_url, settings=settings) as board:
        user, made = await a_member(board)
        async with board.database.change() as change:
            await account_rows.users.save(change.conn, replace(user, mac="", role="admin"), revision=change.revision)
            await change.conn.execute(text("DELETE FROM secrets"))
    async with Pegboard.open(database_url, settings=settings) as board:
        assert_unknown_key(board, made.key)


async def test_nothing_of_a_key_that_was_set_is_stored_readable(database_url: str, settings: NoSettings) -> None:
    async with Pegboard.open(database_url, settings=settings) as board, board.database.read() as conn:
        [row] = await account_rows.list_user_keys(conn, board.admin.user_id)
        assert (row.name, row.prefix) == ("PEGBOARD_ADMIN_KEY", "")
        assert KEY[:8] not in str([tuple(each) for each in await conn.execute(text("SELECT * FROM api_keys"))])


@pytest.mark.parametrize(("key", "is_short"), [("k" * 31, True), ("k" * 32, False)])
async def test_a_short_key_works_and_a_longer_one_is_asked_for(
    key: str, is_short: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async with Pegboard.open("memory", settings=NoSettings(admin_key=key)) as board:
        assert board.snapshot.holder(key).is_admin
    assert ("admin_key_short" in caplog.text) is is_short


async def test_a_board_without_its_encryption_key_accepts_only_the_key_of_the_settings(
    database_url: str, settings: NoSettings
) -> None:
    async with Pegboard.open(database_url, settings=settings) as board:
        _, made = await a_member(board)
    stored = settings.key_file.read_bytes()
    settings.key_file.unlink()
    async with Pegboard.open(database_url, settings=settings) as board:
        assert_unknown_key(board, made.key)
        assert board.snapshot.holder(KEY).is_admin
        with pytest.raises(KeyringError, match="pegboard doctor"):
            await board.people.create_user("eve", "admin", board.admin)
        with pytest.raises(KeyringError, match="pegboard doctor"):
            await board.people.create_key(board.admin.user_id, board.admin)
    settings.key_file.write_bytes(stored)
    settings.key_file.chmod(0o600)
    async with Pegboard.open(database_url, settings=settings) as board:
        assert board.snapshot.holder(made.key).name == "ada"
