"""Migrate and check the database, the journal spools, the sandbox and the tables file of this machine."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from pegboard.journal.open_journal import get_spool_folder
from pegboard.journal.spool import Spool, list_spools
from pegboard.kinds.catalog import list_plugin_kinds
from pegboard.kinds.libraries import Libraries
from pegboard.kinds.table.config import TableEntry
from pegboard.kinds.table.insert_plan import check_table_config, find_wider_fields
from pegboard.kinds.table.receipt_table import RECEIPT_TABLE
from pegboard.kinds.table.source import InsertFault, TableSource
from pegboard.kinds.table.sources import BOARD_TABLES, exclude_board_table, open_source
from pegboard.kinds.table.tables_file import read_file_bytes, read_tables_file, read_tool_ids, resolve_addresses
from pegboard.model.api_errors import Conflict, Fault, Invalid
from pegboard.model.call_errors import SecretUnreadable, ToolError
from pegboard.model.secrets import is_secret_name
from pegboard.registry.accounts_service import ADMIN_NAME
from pegboard.registry.key_rotation import map_sealed_texts
from pegboard.sandbox.kernel_features import KernelFeatures, detect_kernel_features
from pegboard.sandbox.limits import KERNEL_FEATURES
from pegboard.settings import Settings, split_comma_list
from pegboard.storage import account_rows, sealed_rows
from pegboard.storage.database import Database, read_driver_message
from pegboard.storage.keyring import EnvironmentKeyring, FileKeyring, Keyring, KeyringError
from pegboard.storage.migrate import SchemaTooNew, list_pending_revisions, migrate
from pegboard.storage.sealed_rows import SealedRow
from pegboard.storage.vault import Vault


class DatabaseUnreachable(Exception):
    """A database does not respond, or refuses an operation."""


async def migrate_database(url: str, *, check: bool) -> list[str]:
    """Apply the missing migrations, or only list them if `check`, and return their revisions.

    Raises ValueError for an invalid URL, OSError if the file cannot be created, Conflict if a later version of Pegboard
    created the database, and DatabaseUnreachable.
    """
    database = Database.create(url)
    try:
        return await (list_pending_revisions(database) if check else migrate(database))
    except SchemaTooNew as error:
        raise Conflict(str(error)) from None
    except Exception as error:
        raise DatabaseUnreachable(
            f"The database {database.shown_url} cannot be reached: {read_driver_message(error)}"
        ) from None
    finally:
        await database.close()


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
        advice = f"Make it writable for the server: chown it to the server's user, or chmod u+rwx {place}"
        return [CheckResult.bad(_SPOOL_CHECK_NAME, f"{place} cannot be written", advice)]
    damaged = sorted(folder.glob("*.damaged"))
    waiting = sum(_count_spool_entries(path) for _, path in list_spools(folder))
    if damaged:
        names = ", ".join(path.name for path in damaged)
        advice = "Every complete entry in it was recorded. Keep it to examine the rest, or remove it"
        return [CheckResult.warning(_SPOOL_CHECK_NAME, f"{folder} contains damaged files: {names}", advice)]
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
            "PEGBOARD_SANDBOX_MEMORY limits each process of a call, not all together. Docker shows /proc whole "
            "with --security-opt systempaths=unconfined"
        )
        findings.append(CheckResult.warning("sandbox proc", f"calls have no /proc of their own: {why}", advice))
    return findings


def check_kinds() -> list[CheckResult]:
    """List the kinds of tools that installed packages add, if any."""
    names = [kind.name for kind in list_plugin_kinds()]
    return [CheckResult.ok("kinds of tools", f"of installed packages: {', '.join(names)}")] if names else []


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
        here = "the kernel supports it" if version else "the kernel does not support it"
        advice = way_out or "To confine them with it again, remove it from PEGBOARD_SANDBOX_WITHOUT"
        return CheckResult.warning(check, f"PEGBOARD_SANDBOX_WITHOUT lets tools run without; {here}", advice)
    if not version:
        return CheckResult.bad(check, "missing, so python and shell tools are refused", way_out)
    return CheckResult.ok(check, _ABILITY_TEXTS[name].format(version))


async def check_running_board(settings: Settings) -> list[CheckResult]:
    """Run the checks of an open board that need neither its terminal nor its keys."""
    store = [] if settings.database == "memory" else await check_store(settings)
    return [*store, *await check_tables_setting(settings), *await check_sandbox(settings), *check_kinds()]


_DATABASE_TIMEOUT_SECONDS = 10
_MAX_SHOWN_ROWS = 3


async def check_store(settings: Settings) -> list[CheckResult]:
    """Check the encryption keys, the database and the stored credentials."""
    file = find_missing_file(settings.database)
    if file is not None:
        advice = "The first start creates it: pegboard serve"
        return [CheckResult.warning("database", f"{file} does not exist yet", advice)]
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
        return CheckResult.bad("encryption key", error.message, f"Restrict it: chmod 600 {settings.key_file}"), None
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
        message = f"{where} cannot be reached: {str(error) or type(error).__name__}"
        return [CheckResult.bad("database", message, "Start it, or correct PEGBOARD_DATABASE_URL")]
    findings = [CheckResult.ok("database", f"{where} responds")]
    if missing:
        message = f"missing: {', '.join(missing)}"
        return [*findings, CheckResult.bad("migrations", message, "Apply them: pegboard migrate")]
    findings.append(CheckResult.ok("migrations", "up to date"))
    if keyring is not None:
        findings.append(await _check_stored_credentials(database, Vault(keyring)))
    async with database.read() as conn:
        admin = await account_rows.find_user_by_name(conn, ADMIN_NAME)
    return [*findings, *(check_spools(get_spool_folder(database, home, admin.id)) if admin is not None else ())]


async def _check_stored_credentials(database: Database, vault: Vault) -> CheckResult:
    """Check that each stored credential can be decrypted."""
    count = 0
    unreadable: list[str] = []
    last: SealedRow | None = None
    while True:
        async with database.read() as conn:
            rows = await sealed_rows.list_sealed_rows(conn, after=last)
        if not rows:
            break
        for row in rows:
            opened, faults = _decrypt_row(row, vault)
            count += opened
            unreadable += faults
        last = rows[-1]
    if not unreadable:
        return CheckResult.ok("stored credentials", f"all {count} can be decrypted")
    more = f", and {len(unreadable) - _MAX_SHOWN_ROWS} more" if len(unreadable) > _MAX_SHOWN_ROWS else ""
    message = f"cannot be decrypted: {'; '.join(unreadable[:_MAX_SHOWN_ROWS])}{more}"
    advice = "Restore the key that encrypted them, or set them again (secrets set, tools edit)"
    return CheckResult.bad("stored credentials", message, advice)


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

    map_sealed_texts(row, try_one)
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
    checked = await check_tables_file(raw, str(file), settings.database, os.environ)
    if checked.found:
        return [
            CheckResult.bad("tables", ": ".join(part for part in (str(file), one.place, one.message) if part), advice)
            for one in checked.found
        ]
    return [CheckResult.ok("tables", f"{file}: {checked.count}")]


@dataclass(frozen=True, slots=True)
class TablesFileProblem:
    """A problem of a tables file: its path in the file, the tool that it concerns, and a message."""

    path: str
    code: str
    message: str
    tool_id: str | None = None

    @property
    def place(self) -> str:
        """The path and the tool, for messages."""
        return self.path if self.tool_id is None else f"{self.path} ({self.tool_id})"


@dataclass(frozen=True, slots=True)
class TablesFileCheck:
    """The result of checking a tables file."""

    tables: int = 0
    tools: int = 0
    found: list[TablesFileProblem] = field(default_factory=list)

    @property
    def count(self) -> str:
        """The number of tables and tools, as text."""
        return f"{_format_count(self.tables, 'table')}, {_format_count(self.tools, 'tool')}"


async def check_tables_file(raw: bytes, file: str, own: str, environ: Mapping[str, str]) -> TablesFileCheck:
    """Return every problem of the file, and between it and its databases; `own` is the URL of the board's database."""
    try:
        read = read_tables_file(raw, file)
        in_own = read.database is None and any(entry.source is None for entry in read.tables)
        where = resolve_addresses(read.model_copy(update={"database": own}) if in_own else read, environ)
    except Invalid as error:
        tool_ids = read_tool_ids(raw, file)
        faults = [
            TablesFileProblem(fault.field, "invalid", fault.message, _find_tool_id(fault, tool_ids))
            for fault in error.faults
        ]
        return TablesFileCheck(found=faults or [TablesFileProblem("", "invalid", error.message)])
    found: list[TablesFileProblem] = []
    async with AsyncExitStack() as stack:
        sources: dict[str | None, TableSource] = {}
        for name in {entry.source: None for entry in read.tables}:
            sources[name] = open_source(where[name])
            stack.push_async_callback(sources[name].close)
        for place, entry in enumerate(read.tables):
            is_own = in_own and entry.source is None
            found += await _check_table(entry, f"tables.{place}", sources[entry.source], is_own=is_own)
    tools = sum(2 if entry.batch else 1 for entry in read.tables)
    return TablesFileCheck(len(read.tables), tools, list(dict.fromkeys(found)))


async def _check_table(entry: TableEntry, path: str, source: TableSource, *, is_own: bool) -> list[TablesFileProblem]:
    try:
        facts = await source.facts(entry.schema_, entry.tableName)
    except (InsertFault, ToolError) as error:
        where = "database" if entry.source is None else f"sources.{entry.source}"
        return [TablesFileProblem(where, error.code, f"{source.shown_url}: {error.message}")]
    if facts is not None:
        facts = exclude_board_table(facts, is_own=is_own)
    names = [each.name for each in entry.fields]
    return [
        TablesFileProblem(
            f"{path}.fields.{names.index(finding.field)}" if finding.field in names else path,
            finding.code,
            finding.message,
            entry.toolId,
        )
        for finding in [*check_table_config(entry, facts, source.kind), *find_wider_fields(entry, facts)]
    ]


def _find_tool_id(fault: Fault, tool_ids: Mapping[int, str]) -> str | None:
    """Return the tool id of the table that the path of a fault refers to."""
    under, _, rest = fault.field.partition(".")
    place = rest.partition(".")[0]
    return tool_ids.get(int(place)) if under == "tables" and place.isdecimal() else None


@dataclass(frozen=True, slots=True)
class GeneratedTablesFile:
    """A tables file generated from a database, with notes on its tables."""

    document: dict[str, Any]
    notes: list[str]


async def generate_tables_file(
    url: str, schema: str | None, names: Sequence[str], password_variable: str
) -> GeneratedTablesFile:
    """Generate a tables file for these tables of a database, or for all; a URL with a password is not written to it.

    Raises ValueError for an invalid URL, Invalid if a table does not exist, and DatabaseUnreachable.
    """
    source = open_source(url)
    parsed = make_url(url)
    has_password = parsed.password is not None or any(is_secret_name(key) for key in parsed.query)
    try:
        entries, notes = await _generate_entries(source, schema, names)
    except (InsertFault, ToolError) as error:
        raise DatabaseUnreachable(f"{source.shown_url}: {error.message}") from None
    finally:
        await source.close()
    return GeneratedTablesFile(
        {"database": {"env": password_variable} if has_password else url, "tables": entries}, notes
    )


async def _generate_entries(
    source: TableSource, schema: str | None, names: Sequence[str]
) -> tuple[list[dict[str, Any]], list[str]]:
    # Its parser of SQL takes 130 ms to import, and no other command needs it.
    from pegboard.kinds.table.introspect import generate_entry  # noqa: PLC0415 -- start-up time

    there = await source.tables(schema)
    own = BOARD_TABLES if "board_state" in there else frozenset()
    entries: list[dict[str, Any]] = []
    notes: list[str] = []
    taken: set[str] = set()
    for name in names or [name for name in there if name not in own and name != RECEIPT_TABLE]:
        facts = await source.facts(schema, name)
        if facts is None:
            raise Invalid(f"There is no table '{name}'; there are: {', '.join(there) or 'none'}")
        entry, noted = generate_entry(facts, source.kind)
        notes += [f"{name}: {note}" for note in noted]
        if entry is not None:
            entry["toolId"] = _make_unique(entry["toolId"], taken)
            entries.append({key: value for key, value in entry.items() if key != "schema" or schema is not None})
    return entries, notes


def _make_unique(tool_id: str, taken: set[str]) -> str:
    number, name = 2, tool_id
    while name in taken:
        name, number = f"{tool_id}-{number}", number + 1
    taken.add(name)
    return name


def _format_count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
