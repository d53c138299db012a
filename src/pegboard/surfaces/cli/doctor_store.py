"""Checks of what the board keeps: its keys, its database, the credentials in it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from pegboard.core.errors import SecretUnreadable
from pegboard.journal.start import spool_folder
from pegboard.registry.people import ADMIN
from pegboard.registry.sealing import map_sealed
from pegboard.store import secrets, users
from pegboard.store.database import Database
from pegboard.store.keyfile import FileKeyring
from pegboard.store.keyring import EnvironmentKeyring, Keyring, KeyringError
from pegboard.store.migrate import SchemaTooNew, pending
from pegboard.store.secrets import SealedRow
from pegboard.store.vault import Vault
from pegboard.surfaces.cli.doctor_journal import examine_spools
from pegboard.surfaces.cli.findings import Finding

if TYPE_CHECKING:
    from pegboard.settings import Settings

_SECONDS = 10
_SHOWN = 3


async def examine_store(settings: Settings) -> list[Finding]:
    """How the keys, the database and everything sealed in it are."""
    file = missing_file(settings.database)
    if file is not None:
        return [Finding.warning("database", f"{file} does not exist yet", "The first start makes it: pegboard serve")]
    keys, keyring = _keys(settings)
    try:
        database = Database.create(settings.database)
    except (ValueError, OSError) as error:
        return [keys, Finding.bad("database", str(error), "Correct PEGBOARD_DATABASE_URL")]
    try:
        return [keys, *await _database(database, keyring, settings.home)]
    finally:
        await database.close()


def missing_file(url: str) -> Path | None:
    """The file of an SQLite database that is not there yet; opening it would make it."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        return None
    if not parsed.drivername.startswith("sqlite") or not parsed.database or parsed.database == ":memory:":
        return None
    file = Path(parsed.database)
    return None if file.exists() else file


def _keys(settings: Settings) -> tuple[Finding, Keyring | None]:
    if settings.secret_key is not None:
        try:
            keyring: Keyring = EnvironmentKeyring(settings.secret_key.get_secret_value())
        except KeyringError as error:
            return Finding.bad("encryption key", error.message, "Correct PEGBOARD_SECRET_KEY"), None
        return Finding.ok("encryption key", "from PEGBOARD_SECRET_KEY"), keyring
    try:
        keyring = FileKeyring(settings.key_file)
    except KeyringError as error:
        return Finding.bad("encryption key", error.message, f"Close it: chmod 600 {settings.key_file}"), None
    if keyring.trouble is not None:
        advice = "Without it every stored credential is lost: put the file back, then restart"
        return Finding.bad("encryption key", keyring.trouble, advice), None
    return Finding.ok("encryption key", str(settings.key_file)), keyring


async def _database(database: Database, keyring: Keyring | None, home: Path) -> list[Finding]:
    where = database.shown_url
    try:
        async with asyncio.timeout(_SECONDS):
            await database.ping()
            missing = await pending(database)
    except SchemaTooNew as error:
        return [Finding.ok("database", where), Finding.bad("migrations", str(error), "Install that version")]
    except Exception as error:
        why = str(error) or type(error).__name__
        return [
            Finding.bad("database", f"{where} cannot be reached: {why}", "Start it, or correct PEGBOARD_DATABASE_URL")
        ]
    findings = [Finding.ok("database", f"{where} answers")]
    if missing:
        return [*findings, Finding.bad("migrations", f"missing: {', '.join(missing)}", "Apply them: pegboard migrate")]
    findings.append(Finding.ok("migrations", "up to date"))
    if keyring is not None:
        findings.append(await _sealed(database, Vault(keyring)))
    async with database.read() as conn:
        admin = await users.named(conn, ADMIN)
    return [*findings, *(examine_spools(spool_folder(database, home, admin.id)) if admin is not None else ())]


async def _sealed(database: Database, vault: Vault) -> Finding:
    """Whether each stored credential can be decrypted."""
    count = 0
    shut: list[str] = []
    last: SealedRow | None = None
    while True:
        async with database.read() as conn:
            rows = await secrets.sealed(conn, after=last)
        if not rows:
            break
        for row in rows:
            opened, faults = _opened(row, vault)
            count += opened
            shut += faults
        last = rows[-1]
    if not shut:
        return Finding.ok("stored credentials", f"all {count} can be decrypted")
    more = f", and {len(shut) - _SHOWN} more" if len(shut) > _SHOWN else ""
    advice = "Restore the key that encrypted them, or set them again (secrets set, tools edit)"
    return Finding.bad("stored credentials", f"cannot be decrypted: {'; '.join(shut[:_SHOWN])}{more}", advice)


def _opened(row: SealedRow, vault: Vault) -> tuple[int, list[str]]:
    count = 0
    faults: list[str] = []

    def try_one(text: str) -> str:
        nonlocal count
        count += 1
        try:
            vault.open(text, row.subject)
        except SecretUnreadable as error:
            faults.append(f"{row.table} {row.id} ({error.message})")
        return text

    if row.table in ("secrets", "intents"):
        try_one(row.value)
    else:
        map_sealed(row.value.get("config") or {}, row.value.get("sealed_auth"), try_one)
    return count, faults
