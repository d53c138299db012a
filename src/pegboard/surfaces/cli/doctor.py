"""Checks of a set-up, each with what to do about it."""

from __future__ import annotations

import importlib.util
import os
import platform
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pegboard.registry.first_run import LONG_KEY
from pegboard.surfaces.cli.client import find_key, open_client, read_settings
from pegboard.surfaces.cli.doctor_sandbox import examine_sandbox
from pegboard.surfaces.cli.doctor_store import examine_store
from pegboard.surfaces.cli.doctor_tables import examine_tables, judge_tables
from pegboard.surfaces.cli.failures import Failure, Refused, Usage
from pegboard.surfaces.cli.findings import Finding
from pegboard.surfaces.cli.routes import route
from pegboard.surfaces.cli.session import Session

if TYPE_CHECKING:
    from pegboard.settings import Settings

_OLDEST = (3, 11)


async def examine(session: Session) -> list[Finding]:
    """Everything there is to say about this machine's set-up and the board it talks to."""
    findings = [_python(), _uvloop()]
    try:
        settings = read_settings()
    except Usage as error:
        advice = "; ".join(error.lines) or "Correct the environment or pegboard.toml"
        return [*findings, Finding.bad("settings", error.message, advice), *await _server(session)]
    findings += [
        Finding.ok("settings", "valid"),
        _home(settings),
        *_credentials(session, settings),
        *_admin_key(settings),
    ]
    findings += await examine_store(settings)
    findings += await examine_tables(settings)
    findings += await examine_sandbox(settings)
    if settings.redis_url is not None:
        findings.append(await _redis(settings.redis_url.get_secret_value()))
    return findings + await _server(session)


def _python() -> Finding:
    version = platform.python_version()
    if sys.version_info < _OLDEST:
        return Finding.bad("python", version, "Use Python 3.11 or later")
    return Finding.ok("python", version)


def _uvloop() -> Finding:
    if sys.platform == "win32" or importlib.util.find_spec("uvloop"):
        return Finding.ok("uvloop", "installed")
    return Finding.warning("uvloop", "not installed", "The server is quicker with it: pip install uvloop")


def _home(settings: Settings) -> Finding:
    home = settings.home
    if not home.exists():
        return Finding.warning("home", f"{home} does not exist yet", "The first start makes it: pegboard serve")
    if not home.is_dir():
        return Finding.bad("home", f"{home} is no folder", "Move it away, or set PEGBOARD_HOME to a folder")
    if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        return Finding.bad("home", f"{home} cannot be written", f"Become its owner: chown -R $USER {home}")
    if exposed(home):
        return Finding.warning("home", f"{home} is open to other users", f"Close it: chmod 700 {home}")
    return Finding.ok("home", str(home))


def _credentials(session: Session, settings: Settings) -> list[Finding]:
    file = settings.credentials_file
    if not file.exists():
        if session.key or settings.admin_key is not None:
            return []
        advice = "The first start writes it: pegboard serve. For a board elsewhere, set PEGBOARD_KEY"
        return [Finding.warning("credentials", f"no {file}", advice)]
    if exposed(file):
        return [Finding.bad("credentials", f"{file} may be read by other users", f"Close it: chmod 600 {file}")]
    return [Finding.ok("credentials", str(file))]


def _admin_key(settings: Settings) -> list[Finding]:
    if settings.admin_key is None or len(settings.admin_key.get_secret_value()) >= LONG_KEY:
        return []
    advice = f"Set {LONG_KEY} random characters or more: openssl rand -hex 32"
    return [Finding.warning("admin key", "PEGBOARD_ADMIN_KEY is short", advice)]


async def _redis(url: str) -> Finding:
    from redis.asyncio import Redis  # noqa: PLC0415 -- only where it is set
    from redis.exceptions import RedisError  # noqa: PLC0415 -- only where it is set

    advice = "Start it, or correct PEGBOARD_REDIS_URL"
    try:
        async with Redis.from_url(url, socket_timeout=3, socket_connect_timeout=3) as redis:
            await redis.ping()
    except (RedisError, OSError, ValueError) as error:
        return Finding.bad("redis", f"cannot be reached: {error}", advice)
    return Finding.ok("redis", "answers")


async def _server(session: Session) -> list[Finding]:
    if session.local:
        return []
    try:
        async with open_client(session, keyless=True) as client:
            await client.send("GET", "/healthz")
            ready = await client.send("GET", "/readyz", any_status=True)
    except Failure as error:
        advice = " ".join(error.lines) or "Correct --url or PEGBOARD_URL"
        return [Finding.bad("server", error.message, advice)]
    reasons = "; ".join(map(str, ready.data.get("reasons", ())))
    if reasons:
        return [
            Finding.bad(
                "server", f"{session.url} is not ready: {reasons}", "Fix this; the board checks again by itself"
            )
        ]
    return [Finding.ok("server", f"{session.url} is ready"), *await _key(session)]


async def _key(session: Session) -> list[Finding]:
    tables: list[Finding] = []
    try:
        _, where = find_key(session)
        async with open_client(session) as client:
            me = (await client.get(route("me"))).data
            user = me["user"]
            if user["role"] == "admin" and me["agent_id"] is None:
                tables = judge_tables((await client.get(route("tables"))).data)
    except Refused as error:
        advice = f"{' '.join(error.lines)}. Does the server use another PEGBOARD_HOME or database?"
        return [Finding.bad("key", error.message, advice)]
    except Failure as error:
        return [Finding.bad("key", error.message, " ".join(error.lines) or "Set PEGBOARD_KEY")]
    return [Finding.ok("key", f"from {where}: {user['name']} ({user['role']})"), *tables]


def exposed(path: Path) -> bool:
    """Whether others than the owner may do anything with it."""
    return bool(stat.S_IMODE(path.stat().st_mode) & 0o077)
