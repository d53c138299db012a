"""A PostgreSQL server with the default settings of initdb: acknowledged transactions are on disk."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.load import Measured
from tests import servers

# Every contender keeps its connections between rounds, and the default limit is 100.
_SETTINGS = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "max_connections": "400"}


@dataclass(frozen=True, slots=True)
class Ordinary:
    """A running server."""

    binaries: Path
    port: int

    def url(self, database: str, driver: str = "") -> str:
        """Return the URL of a database; `driver` is a suffix of the scheme, such as `+asyncpg`."""
        return f"postgresql{driver}://postgres@127.0.0.1:{self.port}/{database}"

    def ask(self, database: str, *statements: str) -> str:
        """Run these statements with psql and return the output."""
        commands = [part for statement in statements for part in ("-c", statement)]
        output = subprocess.run(
            [
                *(str(self.binaries / "psql"), "--no-psqlrc", "-qAt", "-v", "ON_ERROR_STOP=1"),
                *("-d", self.url(database), *commands),
            ],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
        return output.strip()

    def pgbench(
        self, script: str, variables: Mapping[str, str], *, database: str, clients: int, seconds: int, folder: Path
    ) -> Measured:
        """Run pgbench with prepared statements and return its results."""
        (folder / "script.sql").write_text(script)
        defined = [part for name, value in variables.items() for part in ("-D", f"{name}={value}")]
        for log in folder.glob("log.*"):
            log.unlink()
        where = ["-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres"]
        how = ["-n", "-M", "prepared", "-c", str(clients), "-j", "2", "-T", str(seconds), "-l", "--log-prefix", "log"]
        output = subprocess.run(
            [str(self.binaries / "pgbench"), *where, *how, *defined, "-f", "script.sql", database],
            check=True,
            capture_output=True,
            text=True,
            cwd=folder,
        ).stdout
        rate = next(float(line.split()[2]) for line in output.splitlines() if line.startswith("tps"))
        failed = next(int(line.split(":")[1].split()[0]) for line in output.splitlines() if "failed trans" in line)
        logged = (line.split() for log in folder.glob("log.*") for line in log.read_text().splitlines())
        took = tuple(int(words[2]) / 1000 for words in logged)
        # The rate of pgbench excludes the connection time.
        return Measured(len(took), len(took) / rate, took, failed)


@contextmanager
def ordinary_postgres() -> Iterator[Ordinary]:
    """Run a server with PostgreSQL's default settings, except for the maximum number of connections."""
    with servers.postgres() as made:
        port = servers.free_port()
        data = made.folder / "ordinary"
        binaries = made.binaries
        subprocess.run(
            [str(binaries / "initdb"), "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8"],
            check=True,
            capture_output=True,
            cwd="/",
            **servers.as_user(made.user),
        )
        settings = {**_SETTINGS, "port": str(port)}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        server = servers.Server(
            [str(binaries / "postgres"), "-D", str(data), *options],
            data.with_suffix(".log"),
            lambda: _is_ready(data),
            made.user,
        )
        with servers.running(server):
            yield Ordinary(binaries, port)


def _is_ready(data: Path) -> bool:
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return False
    return len(lines) > 7 and lines[7].strip() == "ready"
