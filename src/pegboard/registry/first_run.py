"""What a board needs before it can take calls: tables, an admin, a key, the shipped tools."""

from __future__ import annotations

import base64
import os
import secrets as random
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from pegboard.core.errors import SecretUnreadable
from pegboard.core.ids import new_id
from pegboard.core.people import Secret, User
from pegboard.journal.intents import sign_stored
from pegboard.journal.start import chain_of
from pegboard.registry.people import ADMIN, key_row, mint_key
from pegboard.registry.shipped import hang_shipped
from pegboard.registry.signing import SET_KEY, PeopleSigner, hash_key, sign_all
from pegboard.store import keys, secrets, users
from pegboard.store.database import Change, Database, DatabaseUnusable, driver_message
from pegboard.store.keyfile import FileKeyring
from pegboard.store.keyring import EnvironmentKeyring, Keyring
from pegboard.store.migrate import migrate, startup_lock
from pegboard.store.vault import Vault
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# What is asked of a key that is set. Shorter ones go on working, since boards were set up with them.
LONG_KEY = 32
# No {{secret:…}} can spell this name, so no tool can ever read the row.
ROOT = "$root"


@dataclass(frozen=True, slots=True)
class Started:
    """A board ready to be opened; `new_key` is the admin's key where this start made it."""

    admin: User
    vault: Vault
    new_key: str | None


async def start(
    database: Database,
    *,
    admin_key: str | None,
    secret_key: str | None,
    key_file: Path | None,
    credentials: Path | None,
) -> Started:
    """Bring the store up to date and set up what is missing; safe when several processes start at once.

    Raises DatabaseUnusable where the database cannot be used.
    """
    try:
        return await _start(database, admin_key, secret_key, key_file, credentials)
    except (OSError, SQLAlchemyError) as error:
        raise DatabaseUnusable(f"the database {database.shown_url} cannot be used: {driver_message(error)}") from error


async def _start(
    database: Database, admin_key: str | None, secret_key: str | None, key_file: Path | None, credentials: Path | None
) -> Started:
    async with startup_lock(database):
        for applied in await migrate(database):
            log.info("migrated", revision=applied)
        async with database.read() as conn:
            fresh = await users.named(conn, ADMIN) is None
        keyring = _keyring(secret_key, key_file, fresh)
        async with database.change() as change:
            admin = await users.named(change.conn, ADMIN) or await _add_admin(change)
            vault = await _rooted(change, Vault(keyring), admin)
            signer = PeopleSigner(vault)
            if fresh:
                await users.save(change.conn, signer.sign(admin, change.revision), revision=change.revision)
            if admin_key is not None:
                await _set_admin_key(change, admin, admin_key, vault, signer)
            new_key = None
            if fresh and admin_key is None:
                new_key = mint_key()
                row = key_row(new_key, admin.id, "first start", datetime.now(UTC), signer)
                await keys.add(change.conn, signer.sign(row, change.revision), revision=change.revision)
            await hang_shipped(change, admin.id)
            if credentials is not None and fresh:
                # Before the commit: a key that is in the store and nowhere else would be lost.
                write_private(credentials, f"{admin_key or new_key}\n")
    return Started(admin, vault, new_key)


def write_private(path: Path, text: str) -> None:
    """Write a file that only this user can read, whole or not at all."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.new")
    partial.unlink(missing_ok=True)
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def _keyring(secret_key: str | None, key_file: Path | None, fresh: bool) -> Keyring:
    if secret_key is not None:
        return EnvironmentKeyring(secret_key)
    if key_file is None:
        return EnvironmentKeyring(base64.b64encode(random.token_bytes(32)).decode())
    keyring = FileKeyring(key_file, create=fresh)
    if keyring.trouble is not None:
        log.error("keys_unreadable", why=keyring.trouble)
    return keyring


async def _add_admin(change: Change) -> User:
    """The board's admin, not signed yet: the root that signs is kept for the admin."""
    now = datetime.now(UTC)
    admin = User(new_id(), ADMIN, "admin", now, now)
    await users.add(change.conn, admin, revision=change.revision)
    return admin


async def _rooted(change: Change, vault: Vault, admin: User) -> Vault:
    """The vault with the root of digests, chains and MACs: the one in the database, wherever keys come from now.

    Where the root is from before users and keys had MACs, they are signed here, and the root says so from now on. Where
    there is no root, nothing is signed: the row may have been removed to have forged rows signed.
    """
    if vault.keyring.trouble is not None:
        return vault
    kept = await secrets.named(change.conn, admin.id, ROOT)
    if kept is not None and kept.sealed is not None:
        try:
            rooted = vault.with_root(kept.sealed, kept.id)
        except SecretUnreadable as error:
            # The row stays: with the right key it opens again. Until then digests and MACs fit nothing stored before.
            log.exception("root_unreadable", why=error.message)
            return vault.without_root()
        if not rooted.has_signed_rows:
            await sign_all(change, PeopleSigner(rooted))
            await sign_stored(change.conn, chain_of(rooted))
            sealed = replace(kept, sealed=rooted.seal_root(kept.id), updated_at=datetime.now(UTC))
            await secrets.put(change.conn, sealed, revision=change.revision)
        return rooted
    now = datetime.now(UTC)
    row_id = kept.id if kept is not None else new_id()
    row = Secret(row_id, admin.id, ROOT, vault.seal_root(row_id), now, now)
    await secrets.put(change.conn, row, revision=change.revision)
    return vault.with_root(row.sealed or "", row.id)


async def _set_admin_key(change: Change, admin: User, key: str, vault: Vault, signer: PeopleSigner) -> None:
    """Make the key from the settings the admin's, and revoke one that was set there before."""
    if not vault.is_rooted:
        return  # nothing can be signed, and `_keyring` or `_rooted` has logged why
    if len(key) < LONG_KEY:
        log.warning("admin_key_short", length=len(key), advice=f"set {SET_KEY} to {LONG_KEY} characters or more")
    now = datetime.now(UTC)
    row = await keys.with_hash(change.conn, signer.hash_of(hash_key(key)))
    if row is None:
        row = signer.sign(key_row(key, admin.id, SET_KEY, now, signer), change.revision)
        await keys.add(change.conn, row, revision=change.revision)
    elif not signer.is_genuine(row) or row.user_id != admin.id:
        # The settings say whose key this is, whatever was made of its row.
        log.error("admin_key_row_not_genuine", id=row.id)
        whole = replace(key_row(key, admin.id, SET_KEY, now, signer), id=row.id)
        await keys.save(change.conn, signer.sign(whole, change.revision), revision=change.revision)
    elif row.revoked_at is not None:
        row = signer.sign(replace(row, revoked_at=None), change.revision)
        await keys.save(change.conn, row, revision=change.revision)
    for other in await keys.of_user(change.conn, admin.id):
        is_set = other.name == SET_KEY and other.revoked_at is None and other.id != row.id
        if is_set and signer.is_genuine(other):
            revoked = signer.sign(replace(other, revoked_at=now), change.revision)
            await keys.save(change.conn, revoked, revision=change.revision)
