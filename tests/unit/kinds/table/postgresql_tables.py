"""Tables on PostgreSQL to insert into, entries for them, and a proxy to the server that can be cut."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
from sqlalchemy import make_url

from pegboard.kinds.table.postgresql_source import PostgresqlSource
from pegboard.kinds.table.source import InsertAnswer, InsertEntry, InsertRow, RowKey
from pegboard.kinds.table.table_schema import TableSchema
from pegboard.model.ids import new_id

COMMIT = b"Q\x00\x00\x00\x0bCOMMIT\x00"


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Any]:
    """A connection of another client."""
    conn = await asyncpg.connect(url.replace("+asyncpg", ""))
    try:
        yield conn
    finally:
        conn.terminate()


async def run(url: str, script: str) -> None:
    """Have another connection run statements and close."""
    async with connected(url) as conn:
        await conn.execute(script)


async def fetch_rows(url: str, query: str) -> list[Any]:
    """Run a query over another connection and return the rows."""
    async with connected(url) as conn:
        return [tuple(row) for row in await conn.fetch(query)]


@asynccontextmanager
async def opened(url: str, script: str = "", **options: Any) -> AsyncIterator[PostgresqlSource]:
    """A source whose database has run the script first."""
    if script:
        await run(url, script)
    source = PostgresqlSource(url, **options)
    try:
        yield source
    finally:
        await source.close()


async def facts_of(source: PostgresqlSource, table: str, schema: str | None = None) -> TableSchema:
    """Return the schema of an existing table."""
    facts = await source.facts(schema, table)
    assert facts is not None
    return facts


def entry(facts: TableSchema, *rows: dict[str, Any], run_id: str | None = None, seconds: float = 30) -> InsertEntry:
    """Rows for a table, answered with their keys."""
    made = tuple(InsertRow(tuple(row), tuple(row.values())) for row in rows)
    return InsertEntry(facts, made, run_id or new_id(), return_keys, time.monotonic() + seconds)


def return_keys(keys: Sequence[RowKey]) -> InsertAnswer:
    """Return the keys unchanged, the first one as the row's id."""
    return InsertAnswer([list(map(str, key)) for key in keys], str(keys[0][0]) if keys and keys[0] else None)


async def insert(source: PostgresqlSource, table: str, *rows: dict[str, Any], **options: Any) -> Any:
    """The keys of rows that are committed now; raises Fault."""
    return (await source.insert(entry(await facts_of(source, table), *rows, **options))).output


async def insert_concurrently(source: PostgresqlSource, entries: Sequence[InsertEntry]) -> list[Any]:
    """Return the result or the exception of each of many concurrent inserts."""
    answers: list[Any] = await asyncio.gather(*(source.insert(one) for one in entries), return_exceptions=True)
    return answers


async def nothing() -> object:
    """Do nothing at COMMIT, which is the default."""
    return None


class DatabaseProxy:
    """A proxy to the server; the next COMMIT gets no response, whether or not the server receives it."""

    def __init__(self, url: str) -> None:
        self._to = make_url(url)
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        # What happens to the next COMMIT: None forwards it.
        self.reaches: bool | None = None
        self.meanwhile: Callable[[], Awaitable[object]] = nothing
        self.cuts = 0
        # Whether the connection to the server stays open after the cut.
        self.is_quiet = False

    @property
    def url(self) -> str:
        """The address of the proxy."""
        assert self._server is not None
        port = self._server.sockets[0].getsockname()[1]
        return self._to.set(host="127.0.0.1", port=port).render_as_string(hide_password=False)

    async def __aenter__(self) -> DatabaseProxy:
        self._server = await asyncio.start_server(self._met, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._open:
            writer.transport.abort()
        await self._server.wait_closed()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _met(self, here: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            server_reader, on = await asyncio.open_connection(self._to.host, self._to.port)
        except OSError:
            back.transport.abort()
            return
        self._open |= {back, on}
        answers = asyncio.create_task(self._pump(server_reader, back))
        try:
            await self._watched(here, on, back, answers)
        except OSError:
            pass
        finally:
            answers.cancel()
            await asyncio.wait([answers])
            for writer in (back,) if self.is_quiet else (back, on):
                writer.transport.abort()
                self._open.discard(writer)

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65536):
                sink.write(data)
        except OSError:
            pass
        sink.close()

    async def _watched(
        self,
        here: asyncio.StreamReader,
        on: asyncio.StreamWriter,
        back: asyncio.StreamWriter,
        answers: asyncio.Task[None],
    ) -> None:
        while data := await here.read(65536):
            if COMMIT not in data or self.reaches is None:
                on.write(data)
                continue
            reaches, self.reaches = self.reaches, None
            self.cuts += 1
            if reaches:
                answers.cancel()
                await asyncio.wait([answers])
                on.write(data)
                await self._committed(on)
            await self.meanwhile()
            return

    async def _committed(self, on: asyncio.StreamWriter) -> None:
        """Return when the server has answered every statement."""
        async with connected(self._to.render_as_string(hide_password=False)) as conn:
            while await conn.fetchval(  # noqa: ASYNC110 -- only the server knows
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pegboard' AND state <> 'idle'"
            ):
                await asyncio.sleep(0.005)
