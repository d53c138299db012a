"""The contents of a journal, read without the board that wrote it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from sqlalchemy import text

from pegboard.journal.audit import Audit
from pegboard.journal.hash_chain import HashChain
from pegboard.journal.open_journal import open_chain
from pegboard.storage.database import Database
from pegboard.storage.keyring import FileKeyring
from pegboard.storage.vault import Vault
from tests.waiting import until


class JournalRow(NamedTuple):
    """One row of the journal; `n` is the number in the arguments of its call."""

    id: str
    status: str
    code: str | None
    tool: str
    n: str
    repeat_of: str | None
    writer: int
    seq: int


class Reader:
    """Reads the journal and changes nothing in it."""

    def __init__(self, database: Database, chain: HashChain) -> None:
        self._database = database
        self._chain = chain

    async def rows(self, tool: str | None = None) -> list[JournalRow]:
        """Return every row, those of each writer in the order of its chain."""
        found = await self.all_of(
            "SELECT CAST(id AS TEXT), status, code, tool_name, CAST(arguments AS TEXT), repeat_of, writer, seq"
            " FROM executions ORDER BY writer, seq"
        )
        rows = [
            JournalRow(_dashed(run_id), status, code, name, _number(arguments), repeat_of, writer, seq)
            for run_id, status, code, name, arguments, repeat_of, writer, seq in found
        ]
        return [row for row in rows if tool is None or row.tool == tool]

    async def settled(self, seconds: float = 30.0) -> None:
        """Return once no call is open any more."""

        async def none_is_open() -> bool:
            return not await self.all_of("SELECT 1 FROM intents WHERE state = 'open'")

        await until(none_is_open, seconds)

    async def faults(self) -> list[str]:
        """Return the violations of the chain, including a wrong number of rows."""
        audit = Audit(self._database, self._chain)
        report = await audit.verify()
        checked, faults = report.checked, [finding.message for finding in report.findings]
        while report.next is not None:
            report = await audit.verify(next=report.next)
            checked += report.checked
            faults += [finding.message for finding in report.findings]
        rows = len(await self.rows())
        return faults if checked == rows else [*faults, f"{checked} rows were checked, there are {rows}"]

    async def close(self) -> None:
        """Close the connection to the database."""
        await self._database.close()

    async def all_of(self, statement: str, **values: Any) -> list[Any]:
        """Rows as they are."""
        async with self._database.read() as conn:
            return [tuple(row) for row in await conn.execute(text(statement), values)]


@asynccontextmanager
async def reader(url: str, home: Path) -> AsyncIterator[Reader]:
    """A reader of the journal of the board with this home."""
    opened = Reader(Database.create(url), open_chain(Vault(FileKeyring(home / "secret.key", create=False))))
    try:
        yield opened
    finally:
        await opened.close()


def _number(arguments: str | None) -> str:
    return str(orjson.loads(arguments)["n"]) if arguments else ""


def _dashed(text: str) -> str:
    plain = text.replace("-", "")
    return "-".join((plain[:8], plain[8:12], plain[12:16], plain[16:20], plain[20:]))
