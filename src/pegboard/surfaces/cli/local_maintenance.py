"""The work of the maintenance commands: `pegboard.maintenance` with the settings of this machine, and the server."""

from __future__ import annotations

import importlib.util
import os
import platform
import stat
import sys
from pathlib import Path
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from pegboard import maintenance
from pegboard.maintenance import CheckResult
from pegboard.model.api_errors import Conflict, Invalid
from pegboard.registry.first_start import MIN_ADVISED_KEY_LENGTH
from pegboard.settings import Settings
from pegboard.surfaces.cli.api_client import build_path, find_key, open_client
from pegboard.surfaces.cli.exit_codes import BoardUnreachable, CommandFailure, RequestRefused, UsageError
from pegboard.surfaces.cli.output import format_count
from pegboard.surfaces.cli.session import CliSession, read_settings


async def migrate_local_database(*, check: bool) -> list[str]:
    """Apply the missing migrations, or only list them if `check`, and return their revisions."""
    settings = read_settings()
    if check and (file := maintenance.find_missing_file(settings.database)):
        raise RequestRefused(f"There is no database yet: {file}", ["Create it with: pegboard migrate"])
    try:
        return await maintenance.migrate_database(settings.database, check=check)
    except ValueError as error:
        raise UsageError(f"PEGBOARD_DATABASE_URL: {error}") from None
    except OSError as error:
        raise BoardUnreachable(f"The database cannot be created: {error}") from None
    except Conflict as error:
        raise RequestRefused(str(error)) from None
    except maintenance.DatabaseUnreachable as error:
        raise BoardUnreachable(str(error)) from None


async def generate_local_tables(
    url: str, schema: str | None, names: list[str], password_variable: str
) -> maintenance.GeneratedTablesFile:
    """Return a tables file for these tables of a database, or for all."""
    try:
        made = await maintenance.generate_tables_file(url, schema, names, password_variable)
    except Invalid as error:
        raise UsageError(error.message) from None
    except ValueError as error:
        raise UsageError(f"--database: {error}") from None
    except maintenance.DatabaseUnreachable as error:
        raise BoardUnreachable(str(error)) from None
    if not made.document["tables"]:
        raise RequestRefused("The database has no table that can become a tool", made.notes)
    return made


def check_tables_status(report: dict[str, Any]) -> list[CheckResult]:
    """Check the tables that the server has loaded."""
    if report["file"] is None:
        return []
    findings = []
    if report["error"] is not None:
        kept = "the previous file stays in use" if report["loaded_at"] else "no table tools are served"
        message = f"{report['error']['message']}; {kept}"
        findings.append(
            CheckResult.bad(
                "tables in force", message, f"Correct {report['file']}; the server reads it again automatically"
            )
        )
    for item in report["items"]:
        for problem in item["problems"]:
            message = f"{item['tool_id']} is disabled: {problem['message']}"
            advice = "Correct it; the tool is then enabled again automatically"
            findings.append(CheckResult.bad("tables in force", message, advice))
    tables = format_count(len(report["items"]), "table")
    return findings or [CheckResult.ok("tables in force", f"{report['file']}: {tables}")]


async def run_checks(session: CliSession) -> list[CheckResult]:
    """Run all checks of this machine and of the board that the options select."""
    findings = [CheckResult.ok("python", platform.python_version()), _check_uvloop()]
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
    findings += await maintenance.check_store(settings)
    findings += await maintenance.check_tables_setting(settings)
    findings += await maintenance.check_sandbox(settings)
    findings += maintenance.check_kinds()
    if settings.redis_url is not None:
        findings.append(await _check_redis(settings.redis_url.get_secret_value()))
    return findings + await _check_server(session)


def _check_uvloop() -> CheckResult:
    if sys.platform == "win32" or importlib.util.find_spec("uvloop"):
        return CheckResult.ok("uvloop", "installed")
    return CheckResult.warning("uvloop", "not installed", "The server is faster with it: pip install uvloop")


def _check_home(settings: Settings) -> CheckResult:
    home = settings.home
    if not home.exists():
        return CheckResult.warning("home", f"{home} does not exist yet", "The first start creates it: pegboard serve")
    if not home.is_dir():
        return CheckResult.bad("home", f"{home} is not a folder", "Move it away, or set PEGBOARD_HOME to a folder")
    if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        return CheckResult.bad("home", f"{home} cannot be written", f"Become its owner: chown -R $USER {home}")
    if is_exposed(home):
        return CheckResult.warning("home", f"{home} is open to other users", f"Restrict it: chmod 700 {home}")
    return CheckResult.ok("home", str(home))


def _check_credentials(session: CliSession, settings: Settings) -> list[CheckResult]:
    file = settings.credentials_file
    if not file.exists():
        if session.key or settings.admin_key is not None:
            return []
        advice = "The first start writes it: pegboard serve. For a board elsewhere, set PEGBOARD_KEY"
        return [CheckResult.warning("credentials", f"no {file}", advice)]
    if is_exposed(file):
        return [CheckResult.bad("credentials", f"{file} may be read by other users", f"Restrict it: chmod 600 {file}")]
    return [CheckResult.ok("credentials", str(file))]


def _check_admin_key(settings: Settings) -> list[CheckResult]:
    if settings.admin_key is None or len(settings.admin_key.get_secret_value()) >= MIN_ADVISED_KEY_LENGTH:
        return []
    advice = f"Set {MIN_ADVISED_KEY_LENGTH} random characters or more: openssl rand -hex 32"
    return [CheckResult.warning("admin key", "PEGBOARD_ADMIN_KEY is short", advice)]


async def _check_redis(url: str) -> CheckResult:
    advice = "Start it, or correct PEGBOARD_REDIS_URL"
    try:
        async with Redis.from_url(url, socket_timeout=3, socket_connect_timeout=3) as redis:
            await redis.ping()
    except (RedisError, OSError, ValueError) as error:
        return CheckResult.bad("redis", f"cannot be reached: {error}", advice)
    return CheckResult.ok("redis", "responds")


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
        advice = "Fix this; the board checks again automatically"
        return [CheckResult.bad("server", f"{session.url} is not ready: {reasons}", advice)]
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
