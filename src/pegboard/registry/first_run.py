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
from pegboard.registry.people import ADMIN, add_user, key_row, mint_key
from pegboard.registry.shipped import hang_shipped
from pegboard.registry.snapshot import hash_key
from pegboard.store import keys, secrets, users
from pegboard.store.database import Change, Database, DatabaseUnusable
from pegboard.store.keyfile import FileKeyring
from pegboard.store.keyring import EnvironmentKeyring, Keyring
from pegboard.store.migrate import migrate, startup_lock
from pegboard.store.vault import Vault
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

SET_KEY = "PEGBOARD_ADMIN_KEY"
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
        raise DatabaseUnusable(f"the database {database.shown_url} cannot be used: {error}") from error


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
            admin = await users.named(change.conn, ADMIN) or await add_user(change, ADMIN, "admin")
            vault = await _rooted(change, Vault(keyring), admin)
            if admin_key is not None:
                await _set_admin_key(change, admin, admin_key)
            new_key = None
            if fresh and admin_key is None:
                new_key = mint_key()
                await keys.add(
                    change.conn, key_row(new_key, admin.id, "first start", datetime.now(UTC)), revision=change.revision
                )
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


async def _rooted(change: Change, vault: Vault, admin: User) -> Vault:
    """The vault with the root of digests and chains: the one in the database, wherever keys come from now."""
    if vault.keyring.trouble is not None:
        return vault
    kept = await secrets.named(change.conn, admin.id, ROOT)
    if kept is not None and kept.sealed is not None:
        try:
            return vault.with_root(kept.sealed, kept.id)
        except SecretUnreadable as error:
            # The row stays: with the right key it opens again. Until then digests fit nothing stored before.
            log.exception("root_unreadable", why=error.message)
            return Vault(vault.keyring, root=vault.keyring.root or random.token_bytes(32))
    now = datetime.now(UTC)
    row_id = kept.id if kept is not None else new_id()
    row = Secret(row_id, admin.id, ROOT, vault.new_root(row_id), now, now)
    await secrets.put(change.conn, row, revision=change.revision)
    return vault.with_root(row.sealed or "", row.id)


async def _set_admin_key(change: Change, admin: User, key: str) -> None:
    """The key from the settings is the admin's, and one that was set there before no longer is."""
    now = datetime.now(UTC)
    there = False
    for row in await keys.of_user(change.conn, admin.id):
        if row.key_hash == hash_key(key):
            there = True
            if row.revoked_at is not None:
                await keys.save(change.conn, replace(row, revoked_at=None), revision=change.revision)
        elif row.name == SET_KEY and row.revoked_at is None:
            await keys.save(change.conn, replace(row, revoked_at=now), revision=change.revision)
    if not there:
        await keys.add(change.conn, key_row(key, admin.id, SET_KEY, now), revision=change.revision)
