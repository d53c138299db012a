"""Set up a board at start: migrations, the admin user, its key, the encryption root and the shipped tools."""

from __future__ import annotations

import base64
import os
import secrets as random
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from pegboard.journal.open_journal import open_chain
from pegboard.journal.signed_intents import sign_stored_entries
from pegboard.model.accounts import ROOT_ROW_NAME, Secret, User
from pegboard.model.call_errors import SecretUnreadable
from pegboard.model.ids import new_id
from pegboard.registry.account_macs import ADMIN_KEY_VARIABLE, AccountSigner, hash_key, sign_all_accounts
from pegboard.registry.accounts_service import ADMIN_NAME, build_key_row, generate_key
from pegboard.registry.shipped_tools import register_shipped_tools
from pegboard.storage import account_rows
from pegboard.storage.database import Change, Database, DatabaseUnusable, read_driver_message
from pegboard.storage.keyring import EnvironmentKeyring, FileKeyring, Keyring
from pegboard.storage.migrate import hold_startup_lock, migrate
from pegboard.storage.vault import Vault
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# Shorter keys are accepted with a warning, since existing boards use them.
MIN_ADVISED_KEY_LENGTH = 32


@dataclass(frozen=True, slots=True)
class StartedBoard:
    """A board that is ready to be opened; `new_key` is the admin's key if this start generated one."""

    admin: User
    vault: Vault
    new_key: str | None


async def start_board(
    database: Database,
    *,
    admin_key: str | None,
    secret_key: str | None,
    key_file: Path | None,
    credentials: Path | None,
) -> StartedBoard:
    """Migrate the database and create what is missing; safe if several processes start at the same time.

    Raises DatabaseUnusable if the database cannot be used.
    """
    try:
        return await _start_locked(database, admin_key, secret_key, key_file, credentials)
    except (OSError, SQLAlchemyError) as error:
        raise DatabaseUnusable(
            f"the database {database.shown_url} cannot be used: {read_driver_message(error)}"
        ) from error


async def _start_locked(
    database: Database, admin_key: str | None, secret_key: str | None, key_file: Path | None, credentials: Path | None
) -> StartedBoard:
    async with hold_startup_lock(database):
        if applied := await migrate(database):
            log.info("migrated", revision=applied[-1], applied=len(applied))
        async with database.read() as conn:
            fresh = await account_rows.find_user_by_name(conn, ADMIN_NAME) is None
        keyring = _open_keyring(secret_key, key_file, fresh)
        async with database.change() as change:
            admin = await account_rows.find_user_by_name(change.conn, ADMIN_NAME) or await _add_admin(change)
            vault = await _load_root(change, Vault(keyring), admin)
            signer = AccountSigner(vault)
            if fresh:
                await account_rows.users.save(
                    change.conn, signer.sign(admin, change.revision), revision=change.revision
                )
            if admin_key is not None:
                await _set_admin_key(change, admin, admin_key, vault, signer)
            new_key = None
            if fresh and admin_key is None:
                new_key = generate_key()
                row = build_key_row(new_key, admin.id, "first start", datetime.now(UTC), signer)
                await account_rows.keys.add(change.conn, signer.sign(row, change.revision), revision=change.revision)
            await register_shipped_tools(change, admin.id)
            if credentials is not None and fresh:
                # Write the file before the commit: otherwise a crash could leave a key in the database that was never
                # saved.
                write_private_file(credentials, f"{admin_key or new_key}\n")
    return StartedBoard(admin, vault, new_key)


def write_private_file(path: Path, text: str) -> None:
    """Write a file atomically with mode 0600."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.new")
    partial.unlink(missing_ok=True)
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def _open_keyring(secret_key: str | None, key_file: Path | None, fresh: bool) -> Keyring:
    if secret_key is not None:
        return EnvironmentKeyring(secret_key)
    if key_file is None:
        return EnvironmentKeyring(base64.b64encode(random.token_bytes(32)).decode())
    keyring = FileKeyring(key_file, create=fresh)
    if keyring.trouble is not None:
        log.error("keys_unreadable", why=keyring.trouble)
    return keyring


async def _add_admin(change: Change) -> User:
    """Create the admin user, not yet signed: the root key that signs is stored as a secret of the admin."""
    now = datetime.now(UTC)
    admin = User(new_id(), ADMIN_NAME, "admin", now, now)
    await account_rows.users.add(change.conn, admin, revision=change.revision)
    return admin


async def _load_root(change: Change, vault: Vault, admin: User) -> Vault:
    """Return the vault with the root key for digests, hash chains and MACs, which is stored encrypted in the database.

    If the root is older than the MACs of users and keys, they are signed here and the root is marked. If the root row
    is missing, existing rows are not signed: the row may have been removed to get forged rows signed.
    """
    if vault.keyring.trouble is not None:
        return vault
    kept = await account_rows.find_secret_by_name(change.conn, admin.id, ROOT_ROW_NAME)
    if kept is not None and kept.sealed is not None:
        try:
            rooted = vault.with_root(kept.sealed, kept.id)
        except SecretUnreadable as error:
            # Keep the row: it can be decrypted again with the right key. Until then no stored digest or MAC matches.
            log.exception("root_unreadable", why=error.message)
            return vault.without_root()
        if not rooted.has_signed_rows:
            await sign_all_accounts(change, AccountSigner(rooted))
            await sign_stored_entries(change.conn, open_chain(rooted))
            sealed = replace(kept, sealed=rooted.seal_root(kept.id), updated_at=datetime.now(UTC))
            await account_rows.secrets.put(change.conn, sealed, revision=change.revision)
        return rooted
    now = datetime.now(UTC)
    row_id = kept.id if kept is not None else new_id()
    row = Secret(row_id, admin.id, ROOT_ROW_NAME, vault.seal_root(row_id), now, now)
    await account_rows.secrets.put(change.conn, row, revision=change.revision)
    return vault.with_root(row.sealed or "", row.id)


async def _set_admin_key(change: Change, admin: User, key: str, vault: Vault, signer: AccountSigner) -> None:
    """Make the key from the settings a key of the admin, and revoke one that was set there before."""
    if not vault.is_rooted:
        return  # nothing can be signed, and `_open_keyring` or `_load_root` has logged why
    if len(key) < MIN_ADVISED_KEY_LENGTH:
        log.warning(
            "admin_key_short",
            length=len(key),
            advice=f"set {ADMIN_KEY_VARIABLE} to {MIN_ADVISED_KEY_LENGTH} characters or more",
        )
    now = datetime.now(UTC)
    row = await account_rows.find_key_by_hash(change.conn, signer.compute_stored_hash(hash_key(key)))
    if row is None:
        row = signer.sign(build_key_row(key, admin.id, ADMIN_KEY_VARIABLE, now, signer), change.revision)
        await account_rows.keys.add(change.conn, row, revision=change.revision)
    elif not signer.is_genuine(row) or row.user_id != admin.id:
        # The settings have priority over the row.
        log.error("admin_key_row_not_genuine", id=row.id)
        whole = replace(build_key_row(key, admin.id, ADMIN_KEY_VARIABLE, now, signer), id=row.id)
        await account_rows.keys.save(change.conn, signer.sign(whole, change.revision), revision=change.revision)
    elif row.revoked_at is not None:
        row = signer.sign(replace(row, revoked_at=None), change.revision)
        await account_rows.keys.save(change.conn, row, revision=change.revision)
    for other in await account_rows.list_user_keys(change.conn, admin.id):
        is_set = other.name == ADMIN_KEY_VARIABLE and other.revoked_at is None and other.id != row.id
        if is_set and signer.is_genuine(other):
            revoked = signer.sign(replace(other, revoked_at=now), change.revision)
            await account_rows.keys.save(change.conn, revoked, revision=change.revision)
