"""Fixtures for real servers and empty databases, and the settings of the test run."""

from __future__ import annotations

import asyncio
import gc
import logging
import shutil
import signal
from collections.abc import AsyncIterator, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import redis
from hypothesis import HealthCheck, settings

from pegboard.kinds.table import sources
from pegboard.kinds.table.sqlite_source import SqliteSource
from pegboard.storage.database import SQLITE_PRAGMAS, Database
from pegboard.storage.migrate import migrate
from tests import servers
from tests.compiled_statements import CompiledStatements
from tests.valkey import ValkeyServer

# Each run uses the same examples, so that a failure is caused by a change; `make fuzz` tries 1,000 others.
# No deadline, because the time of an example depends more on the machine than on the code.
_STEADY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True, max_examples=25)
settings.register_profile("steady", _STEADY)
settings.register_profile("fuzz", _STEADY, derandomize=False, max_examples=1000)
settings.load_profile("steady")

_LONGEST = (
    "tests/confinement/test_as_another_user.py",
    "tests/integration/test_thousand_confined_calls.py",
    "tests/docs/test_shell.py",
    "tests/packaging/test_wheel.py",
    "tests/unit/contract/test_plugin.py",
)


def pytest_configure() -> None:
    """Restore SIGINT and SIGQUIT for child processes: a shell ignores them for commands in the background."""
    gc.disable()  # almost all objects of the collection stay alive
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGQUIT) is signal.SIG_IGN:
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest tests first, so that no worker runs one alone at the end."""
    items.sort(key=lambda item: not item.nodeid.startswith(_LONGEST))


def pytest_collection_finish() -> None:
    """Exclude the collected tests from later garbage collections, as the server does with its start-up objects."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Escape lone surrogates in captured output, because pytest-xdist cannot send them to its main process."""
    report = yield
    report.sections = [(name, text.encode("utf-8", "backslashreplace").decode()) for name, text in report.sections]
    return report


@pytest.fixture(autouse=True)
def restored_logging() -> Iterator[None]:
    """Restore the levels and handlers of logging, which programs that run inside a test configure.

    A handler that is left writes the warnings of all later tests to a closed stream; fixtures of modules may leave one.
    """
    loggers = [logging.getLogger(), logging.getLogger("pegboard")]
    for logger in loggers:
        logger.handlers[:] = [each for each in logger.handlers if not _is_closed(each)]
    before = [(logger, logger.level, logger.handlers[:]) for logger in loggers]
    yield
    for logger, level, handlers in before:
        logger.setLevel(level)
        logger.handlers[:] = handlers


def _is_closed(handler: logging.Handler) -> bool:
    return isinstance(handler, logging.StreamHandler) and bool(getattr(handler.stream, "closed", False))


@pytest.fixture
def anyio_backend() -> str:
    """The event loop of every async test."""
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def missing_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Replace the user's data folder, and fail if a test writes to it."""
    folder = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(folder))
        yield
    assert not list(folder.iterdir()), "a test wrote to the user's own data folder"


@pytest.fixture(scope="session", autouse=True)
def cheap_databases() -> Iterator[None]:
    """Run SQLite with `synchronous = OFF`, like the PostgreSQL test servers, because no test turns the machine off.

    The databases of a test process also share the compiled statements; each engine compiles its own otherwise.
    """
    statements = CompiledStatements()
    assert "synchronous = FULL" in SQLITE_PRAGMAS
    pragmas = (*SQLITE_PRAGMAS, "synchronous = OFF")

    class FastSource(SqliteSource):
        def __init__(self, file: Path | None, **options: Any) -> None:
            super().__init__(file, pragmas=pragmas, **options)

    create_durable = Database.create

    def create(url: str, *, pragmas: Sequence[str] = pragmas) -> Database:
        made = create_durable(url, pragmas=pragmas)
        made.engine.sync_engine.update_execution_options(compiled_cache=statements)
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Database, "create", create)
        patch.setattr(sources, "SqliteSource", FastSource)
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[servers.Postgres]:
    """A factory of PostgreSQL servers."""
    with servers.postgres(in_memory=True) as made:
        yield made


@pytest.fixture(scope="session")
def shared_postgres(postgres: servers.Postgres) -> Iterator[servers.PostgresServer]:
    """The PostgreSQL server that tests share; they must not stop it."""
    server = postgres.server()
    with servers.running(server):
        yield server


@pytest.fixture
def postgres_url(shared_postgres: servers.PostgresServer) -> Iterator[str]:
    """The URL of an empty PostgreSQL database."""
    with shared_postgres.fresh_database() as url:
        yield url


@pytest.fixture
def own_postgres(postgres: servers.Postgres) -> Iterator[servers.PostgresServer]:
    """A PostgreSQL server that the test may stop and start."""
    server = postgres.server()
    with servers.running(server):
        yield server
    server.remove()


@pytest.fixture(scope="session")
def shared_valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ValkeyServer]:
    """The Valkey server that tests share; they must not stop it."""
    server = ValkeyServer(tmp_path_factory.mktemp("valkey"))
    with servers.running(server):
        yield server


@pytest.fixture
def valkey_url(shared_valkey: ValkeyServer) -> str:
    """The URL of an empty Valkey."""
    with redis.Redis.from_url(shared_valkey.url) as client:
        client.flushall()
    return shared_valkey.url


@pytest.fixture
def own_valkey(tmp_path: Path) -> Iterator[ValkeyServer]:
    """A Valkey server that the test may stop and start."""
    server = ValkeyServer(tmp_path)
    with servers.running(server):
        yield server


async def _migrated(url: str) -> None:
    made = Database.create(url)
    await migrate(made)
    await made.close()


@pytest.fixture(scope="session")
def migrated_postgres(shared_postgres: servers.PostgresServer) -> Iterator[str]:
    """The name of a migrated, empty PostgreSQL database, used as a template."""
    with shared_postgres.fresh_database() as url:
        asyncio.run(_migrated(url))
        yield url.rpartition("/")[2]


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a migrated, empty SQLite database."""
    file = tmp_path_factory.mktemp("migrated") / "board.db"
    asyncio.run(_migrated(f"sqlite:///{file}"))
    assert [path.name for path in file.parent.iterdir()] == [file.name], "the file alone is the whole database"
    return file


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a migrated, empty database, SQLite or PostgreSQL."""
    if request.param == "sqlite":
        shutil.copyfile(request.getfixturevalue("migrated_sqlite"), tmp_path / "board.db")
        yield f"sqlite:///{tmp_path}/board.db"
        return
    template: str = request.getfixturevalue("migrated_postgres")
    shared: servers.PostgresServer = request.getfixturevalue("shared_postgres")
    with shared.fresh_database(template) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database without tables, SQLite or PostgreSQL."""
    url: str = request.getfixturevalue("postgres_url") if request.param == "postgresql" else ""
    return url or f"sqlite:///{tmp_path}/board.db"


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """An open, migrated, empty database, SQLite or PostgreSQL."""
    opened = Database.create(database_url)
    yield opened
    await opened.close()
