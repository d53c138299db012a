"""The checks of `pegboard doctor`: settings, keys, database, tables file, sandbox, journal spools and server."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import platform
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from pegboard.journal.open_journal import get_spool_folder
from pegboard.journal.spool import Spool, list_spools
from pegboard.kinds.table.tables_file import read_file_bytes
from pegboard.model.api_errors import Invalid
from pegboard.model.call_errors import SecretUnreadable
from pegboard.registry.accounts_service import ADMIN_NAME
from pegboard.registry.first_start import MIN_ADVISED_KEY_LENGTH
from pegboard.registry.secret_fields import map_sealed
from pegboard.sandbox.kernel_features import KernelFeatures, detect_kernel_features
from pegboard.sandbox.libraries import Libraries
from pegboard.sandbox.limits import KERNEL_FEATURES
from pegboard.settings import split_comma_list
from pegboard.storage import secret_rows, user_rows
from pegboard.storage.database import Database
from pegboard.storage.keyring import EnvironmentKeyring, FileKeyring, Keyring, KeyringError
from pegboard.storage.migrate import SchemaTooNew, list_pending_revisions
from pegboard.storage.secret_rows import SealedRow
from pegboard.storage.vault import Vault
from pegboard.surfaces.cli import tables_check
from pegboard.surfaces.cli.api_client import find_key, open_client, read_settings
from pegboard.surfaces.cli.api_paths import build_path
from pegboard.surfaces.cli.exit_codes import CommandFailure, RequestRefused, UsageError
from pegboard.surfaces.cli.output import format_count
from pegboard.surfaces.cli.session import CliSession

if TYPE_CHECKING:
    from pegboard.settings import Settings


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check: its level, a message, and what to do."""

    check: str
    level: Literal["ok", "warning", "bad"]
    message: str
    advice: str | None = None

    @classmethod
    def ok(cls, check: str, message: str) -> CheckResult:
        """Return a passed check."""
        return cls(check, "ok", message)

    @classmethod
    def warning(cls, check: str, message: str, advice: str) -> CheckResult:
        """Return a check that works but could be improved."""
        return cls(check, "warning", message, advice)

    @classmethod
    def bad(cls, check: str, message: str, advice: str) -> CheckResult:
        """Return a failed check."""
        return cls(check, "bad", message, advice)


_SPOOL_CHECK_NAME = "journal spool"


def check_spools(folder: Path | None) -> list[CheckResult]:
    """Check that calls can be spooled while the database is unavailable, and that no spooled rows are left."""
    if folder is None:
        return []
    place = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(place, os.W_OK | os.X_OK):
        advice = f"Let the server write there: chown it to the server's user, or chmod u+rwx {place}"
        return [CheckResult.bad(_SPOOL_CHECK_NAME, f"{place} cannot be written", advice)]
    damaged = sorted(folder.glob("*.damaged"))
    waiting = sum(_count_spool_entries(path) for _, path in list_spools(folder))
    if damaged:
        names = ", ".join(path.name for path in damaged)
        advice = "Every whole entry in it was recorded. Keep it if you must know what else was there, else remove it"
        return [CheckResult.warning(_SPOOL_CHECK_NAME, f"{folder} holds what was damaged: {names}", advice)]
    if waiting:
        advice = "The next start of a server records them: pegboard serve"
        return [CheckResult.warning(_SPOOL_CHECK_NAME, f"{waiting} calls wait in {folder} to be recorded", advice)]
    return [CheckResult.ok(_SPOOL_CHECK_NAME, f"{folder}, nothing waiting")]


def _count_spool_entries(path: Path) -> int:
    """Return the number of entries that a dead writer left; 0 if its writer is alive."""
    spool = Spool.adopt(path)
    if spool is None:
        return 0
    try:
        return len(spool.read().entries)
    finally:
        spool.close(remove=False)


_ABILITY_TEXTS = {
    "landlock": "version {}: tools see only the files that they may",
    "namespaces": "tools have a file system, processes and a network of their own",
    "seccomp": "tools have only the system calls that they need",
}


async def check_sandbox(settings: Settings) -> list[CheckResult]:
    """Check how tools are confined for the current user, and which libraries they may use."""
    confining = check_abilities(await detect_kernel_features(), split_comma_list(settings.sandbox_without))
    return [*confining, check_libraries(split_comma_list(settings.python_libraries))]


def check_abilities(found: KernelFeatures, without: tuple[str, ...]) -> list[CheckResult]:
    """Check each kernel feature; `without` lists those that the board is configured to run without."""
    findings = [_check_ability(name, found, without) for name in KERNEL_FEATURES]
    if found.namespaces and not found.proc and "namespaces" not in without:
        why = found.reasons.get("proc", "the kernel refuses")
        advice = (
            "PEGBOARD_SANDBOX_MEMORY holds for each process of a call, not for all together. Docker shows /proc whole "
            "with --security-opt systempaths=unconfined"
        )
        findings.append(CheckResult.warning("sandbox proc", f"calls have no /proc of their own: {why}", advice))
    return findings


def check_libraries(allowed: tuple[str, ...]) -> CheckResult:
    """Check which of the allowed Python libraries are installed."""
    libraries = Libraries(allowed)
    missing = libraries.missing(libraries.allowed)
    installed = [name for name in libraries.allowed if name not in missing]
    text = f"installed: {', '.join(installed) or 'none'}"
    return CheckResult.ok("python libraries", f"{text}; not installed: {', '.join(missing)}" if missing else text)


def _check_ability(name: str, found: KernelFeatures, without: tuple[str, ...]) -> CheckResult:
    check = f"sandbox {name}"
    version = getattr(found, name)
    way_out = " ".join(found.missing([other for other in KERNEL_FEATURES if other != name]))
    if name in without:
        here = "the kernel has it" if version else "the kernel does not grant it"
        advice = way_out or "Confine them with it again: take it out of PEGBOARD_SANDBOX_WITHOUT"
        return CheckResult.warning(check, f"PEGBOARD_SANDBOX_WITHOUT lets tools run without; {here}", advice)
    if not version:
        return CheckResult.bad(check, "missing, so python and shell tools are refused", way_out)
    return CheckResult.ok(check, _ABILITY_TEXTS[name].format(version))


_DATABASE_TIMEOUT_SECONDS = 10
_MAX_SHOWN_ROWS = 3


async def check_store(settings: Settings) -> list[CheckResult]:
    """Check the encryption keys, the database and the stored credentials."""
    file = find_missing_file(settings.database)
    if file is not None:
        return [
            CheckResult.warning("database", f"{file} does not exist yet", "The first start makes it: pegboard serve")
        ]
    keys, keyring = _check_keyring(settings)
    try:
        database = Database.create(settings.database)
    except (ValueError, OSError) as error:
        return [keys, CheckResult.bad("database", str(error), "Correct PEGBOARD_DATABASE_URL")]
    try:
        return [keys, *await _check_database(database, keyring, settings.home)]
    finally:
        await database.close()


def find_missing_file(url: str) -> Path | None:
    """Return the file of an SQLite database that does not exist yet, else None; opening it would create it."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        return None
    if not parsed.drivername.startswith("sqlite") or not parsed.database or parsed.database == ":memory:":
        return None
    file = Path(parsed.database)
    return None if file.exists() else file


def _check_keyring(settings: Settings) -> tuple[CheckResult, Keyring | None]:
    if settings.secret_key is not None:
        try:
            keyring: Keyring = EnvironmentKeyring(settings.secret_key.get_secret_value())
        except KeyringError as error:
            return CheckResult.bad("encryption key", error.message, "Correct PEGBOARD_SECRET_KEY"), None
        return CheckResult.ok("encryption key", "from PEGBOARD_SECRET_KEY"), keyring
    try:
        keyring = FileKeyring(settings.key_file)
    except KeyringError as error:
        return CheckResult.bad("encryption key", error.message, f"Close it: chmod 600 {settings.key_file}"), None
    if keyring.trouble is not None:
        advice = "Without it every stored credential is lost: put the file back, then restart"
        return CheckResult.bad("encryption key", keyring.trouble, advice), None
    return CheckResult.ok("encryption key", str(settings.key_file)), keyring


async def _check_database(database: Database, keyring: Keyring | None, home: Path) -> list[CheckResult]:
    where = database.shown_url
    try:
        async with asyncio.timeout(_DATABASE_TIMEOUT_SECONDS):
            await database.ping()
            missing = await list_pending_revisions(database)
    except SchemaTooNew as error:
        return [CheckResult.ok("database", where), CheckResult.bad("migrations", str(error), "Install that version")]
    except Exception as error:
        why = str(error) or type(error).__name__
        return [
            CheckResult.bad(
                "database", f"{where} cannot be reached: {why}", "Start it, or correct PEGBOARD_DATABASE_URL"
            )
        ]
    findings = [CheckResult.ok("database", f"{where} answers")]
    if missing:
        return [
            *findings,
            CheckResult.bad("migrations", f"missing: {', '.join(missing)}", "Apply them: pegboard migrate"),
        ]
    findings.append(CheckResult.ok("migrations", "up to date"))
    if keyring is not None:
        findings.append(await _check_stored_credentials(database, Vault(keyring)))
    async with database.read() as conn:
        admin = await user_rows.find_user_by_name(conn, ADMIN_NAME)
    return [*findings, *(check_spools(get_spool_folder(database, home, admin.id)) if admin is not None else ())]


async def _check_stored_credentials(database: Database, vault: Vault) -> CheckResult:
    """Check that each stored credential can be decrypted."""
    count = 0
    shut: list[str] = []
    last: SealedRow | None = None
    while True:
        async with database.read() as conn:
            rows = await secret_rows.list_sealed_rows(conn, after=last)
        if not rows:
            break
        for row in rows:
            opened, faults = _decrypt_row(row, vault)
            count += opened
            shut += faults
        last = rows[-1]
    if not shut:
        return CheckResult.ok("stored credentials", f"all {count} can be decrypted")
    more = f", and {len(shut) - _MAX_SHOWN_ROWS} more" if len(shut) > _MAX_SHOWN_ROWS else ""
    advice = "Restore the key that encrypted them, or set them again (secrets set, tools edit)"
    return CheckResult.bad(
        "stored credentials", f"cannot be decrypted: {'; '.join(shut[:_MAX_SHOWN_ROWS])}{more}", advice
    )


def _decrypt_row(row: SealedRow, vault: Vault) -> tuple[int, list[str]]:
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


async def check_tables_setting(settings: Settings) -> list[CheckResult]:
    """Check the configured tables file against its databases."""
    file = settings.tables
    if file is None:
        return []
    advice = f"Correct it; look again with: pegboard tables check {file}"
    try:
        raw = read_file_bytes(file)
    except Invalid as error:
        return [CheckResult.bad("tables", error.message, "Correct PEGBOARD_TABLES")]
    checked = await tables_check.check_tables_file(raw, str(file), settings.database, os.environ)
    if checked.found:
        return [
            CheckResult.bad("tables", ": ".join(part for part in (str(file), one.place, one.message) if part), advice)
            for one in checked.found
        ]
    return [CheckResult.ok("tables", f"{file}: {checked.count}")]


def check_tables_status(report: dict[str, Any]) -> list[CheckResult]:
    """Check the tables that the server has loaded."""
    if report["file"] is None:
        return []
    findings = []
    if report["error"] is not None:
        kept = "the former stays in force" if report["loaded_at"] else "no table tools are served"
        message = f"{report['error']['message']}; {kept}"
        findings.append(
            CheckResult.bad(
                "tables in force", message, f"Correct {report['file']}; the server reads it again by itself"
            )
        )
    for item in report["items"]:
        for problem in item["problems"]:
            message = f"{item['tool_id']} is disabled: {problem['message']}"
            advice = "Put that right; the tool then serves again by itself"
            findings.append(CheckResult.bad("tables in force", message, advice))
    return findings or [
        CheckResult.ok("tables in force", f"{report['file']}: {format_count(len(report['items']), 'table')}")
    ]


_MIN_PYTHON_VERSION = (3, 11)


async def run_checks(session: CliSession) -> list[CheckResult]:
    """Run all checks of this machine and of the board that the options select."""
    findings = [_check_python(), _check_uvloop()]
    try:
        settings = read_settings()
    except UsageError as error:
        advice = "; ".join(error.lines) or "Correct the environment or pegboard.toml"
        return [*findings, CheckResult.bad("settings", error.message, advice), *await _check_server(session)]
    findings += [
        CheckResult.ok("settings", "valid"),
        _check_home(settings),
        *_check_credentials(session, settings),
        *_check_admin_key(settings),
    ]
    findings += await check_store(settings)
    findings += await check_tables_setting(settings)
    findings += await check_sandbox(settings)
    if settings.redis_url is not None:
        findings.append(await _check_redis(settings.redis_url.get_secret_value()))
    return findings + await _check_server(session)


def _check_python() -> CheckResult:
    version = platform.python_version()
    if sys.version_info < _MIN_PYTHON_VERSION:
        return CheckResult.bad("python", version, "Use Python 3.11 or later")
    return CheckResult.ok("python", version)


def _check_uvloop() -> CheckResult:
    if sys.platform == "win32" or importlib.util.find_spec("uvloop"):
        return CheckResult.ok("uvloop", "installed")
    return CheckResult.warning("uvloop", "not installed", "The server is quicker with it: pip install uvloop")


def _check_home(settings: Settings) -> CheckResult:
    home = settings.home
    if not home.exists():
        return CheckResult.warning("home", f"{home} does not exist yet", "The first start makes it: pegboard serve")
    if not home.is_dir():
        return CheckResult.bad("home", f"{home} is no folder", "Move it away, or set PEGBOARD_HOME to a folder")
    if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        return CheckResult.bad("home", f"{home} cannot be written", f"Become its owner: chown -R $USER {home}")
    if is_exposed(home):
        return CheckResult.warning("home", f"{home} is open to other users", f"Close it: chmod 700 {home}")
    return CheckResult.ok("home", str(home))


def _check_credentials(session: CliSession, settings: Settings) -> list[CheckResult]:
    file = settings.credentials_file
    if not file.exists():
        if session.key or settings.admin_key is not None:
            return []
        advice = "The first start writes it: pegboard serve. For a board elsewhere, set PEGBOARD_KEY"
        return [CheckResult.warning("credentials", f"no {file}", advice)]
    if is_exposed(file):
        return [CheckResult.bad("credentials", f"{file} may be read by other users", f"Close it: chmod 600 {file}")]
    return [CheckResult.ok("credentials", str(file))]


def _check_admin_key(settings: Settings) -> list[CheckResult]:
    if settings.admin_key is None or len(settings.admin_key.get_secret_value()) >= MIN_ADVISED_KEY_LENGTH:
        return []
    advice = f"Set {MIN_ADVISED_KEY_LENGTH} random characters or more: openssl rand -hex 32"
    return [CheckResult.warning("admin key", "PEGBOARD_ADMIN_KEY is short", advice)]


async def _check_redis(url: str) -> CheckResult:
    from redis.asyncio import Redis  # noqa: PLC0415 -- only where it is set
    from redis.exceptions import RedisError  # noqa: PLC0415 -- only where it is set

    advice = "Start it, or correct PEGBOARD_REDIS_URL"
    try:
        async with Redis.from_url(url, socket_timeout=3, socket_connect_timeout=3) as redis:
            await redis.ping()
    except (RedisError, OSError, ValueError) as error:
        return CheckResult.bad("redis", f"cannot be reached: {error}", advice)
    return CheckResult.ok("redis", "answers")


async def _check_server(session: CliSession) -> list[CheckResult]:
    if session.local:
        return []
    try:
        async with open_client(session, keyless=True) as client:
            await client.send("GET", "/healthz")
            ready = await client.send("GET", "/readyz", any_status=True)
    except CommandFailure as error:
        advice = " ".join(error.lines) or "Correct --url or PEGBOARD_URL"
        return [CheckResult.bad("server", error.message, advice)]
    reasons = "; ".join(map(str, ready.data.get("reasons", ())))
    if reasons:
        return [
            CheckResult.bad(
                "server", f"{session.url} is not ready: {reasons}", "Fix this; the board checks again by itself"
            )
        ]
    return [CheckResult.ok("server", f"{session.url} is ready"), *await _check_key(session)]


async def _check_key(session: CliSession) -> list[CheckResult]:
    tables: list[CheckResult] = []
    try:
        _, where = find_key(session)
        async with open_client(session) as client:
            me = (await client.get(build_path("me"))).data
            user = me["user"]
            if user["role"] == "admin" and me["agent_id"] is None:
                tables = check_tables_status((await client.get(build_path("tables"))).data)
    except RequestRefused as error:
        advice = f"{' '.join(error.lines)}. Does the server use another PEGBOARD_HOME or database?"
        return [CheckResult.bad("key", error.message, advice)]
    except CommandFailure as error:
        return [CheckResult.bad("key", error.message, " ".join(error.lines) or "Set PEGBOARD_KEY")]
    return [CheckResult.ok("key", f"from {where}: {user['name']} ({user['role']})"), *tables]


def is_exposed(path: Path) -> bool:
    """Return True if group or others have any permission on the file."""
    return bool(stat.S_IMODE(path.stat().st_mode) & 0o077)
