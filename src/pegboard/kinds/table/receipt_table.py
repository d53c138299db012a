"""The table of receipts in a database of table tools; its statements are the same for SQLite and PostgreSQL.

Written by hand and not with SQLAlchemy: the statements run on the connections of the inserts, which are those of the
drivers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any, Literal, NamedTuple

import orjson

from pegboard.journal.receipts import ExternalReceipt
from pegboard.kinds.table.config import TableUnusable
from pegboard.kinds.table.source import InsertFault

RECEIPT_TABLE = "pegboard_receipts"
CREATE_STATEMENT = (
    f"CREATE TABLE IF NOT EXISTS {RECEIPT_TABLE} (board_id TEXT NOT NULL, id TEXT NOT NULL, writer TEXT NOT NULL,"
    " entry TEXT, mac TEXT NOT NULL, written_at TEXT NOT NULL, set_aside_at TEXT, PRIMARY KEY (board_id, id))"
)
_COLUMNS = ", ".join(ExternalReceipt._fields)
INSERT_SQLITE = f"INSERT INTO {RECEIPT_TABLE} ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"  # noqa: S608 -- our own names
INSERT_POSTGRESQL = (
    f"INSERT INTO {RECEIPT_TABLE} ({_COLUMNS})"  # noqa: S608 -- our own names
    " SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])"
)
RECORDED_MESSAGE = "the call was given up and recorded so before its row was committed"


class _Syntax(NamedTuple):
    """How a database reads a list that is sent as JSON in the second parameter, and compares text."""

    listed: str
    collation: str


_SYNTAX = {
    "sqlite": _Syntax("json_each($2)", ""),
    "postgresql": _Syntax("jsonb_array_elements_text($2::text::jsonb) AS sent(value)", ' COLLATE "C"'),
}
_NO_SUCH_TABLE = "42P01"

# Runs a statement in a transaction of its own and returns its rows; raises InsertFault.
RunStatement = Callable[..., Awaitable[Sequence[Sequence[Any]]]]


class ReceiptTable:
    """The receipts of calls in one database; `run` executes a statement there."""

    def __init__(self, name: str, kind: Literal["sqlite", "postgresql"], run: RunStatement) -> None:
        self.name = name
        self.is_ready = False
        self._is_sqlite = kind == "sqlite"
        self._syntax = _SYNTAX[kind]
        self._run_statement = run

    async def prepare(self) -> None:
        """Create the table if it does not exist; raise InsertFault, or TableUnusable if the user lacks the rights."""
        if self.is_ready or await self._exists():
            self.is_ready = True
            return
        try:
            await self._run(CREATE_STATEMENT)
        except InsertFault as fault:
            if fault.sqlstate is None or fault.retry_after_ms is not None:
                raise  # the connection failed
            if not await self._exists():  # else another process created it at the same time
                raise TableUnusable("receipts_unusable", self._explain(fault)) from None
        self.is_ready = True

    async def list_ids(self, board_id: str, living: Collection[str], after: str, limit: int) -> list[str]:
        """Return the next ids of receipts that are neither void nor set aside nor written by a `living` writer."""
        collation = self._syntax.collation
        rows = await self._run(
            f"SELECT id FROM {RECEIPT_TABLE} WHERE board_id = $1 AND id{collation} > $3 AND entry IS NOT NULL"  # noqa: S608
            f" AND set_aside_at IS NULL AND writer NOT IN (SELECT value FROM {self._syntax.listed})"
            f" ORDER BY id{collation} LIMIT {limit}",
            board_id,
            _dump(living),
            after,
        )
        return [row[0] for row in rows]

    async def read(self, board_id: str, ids: Sequence[str]) -> list[ExternalReceipt]:
        """Return the receipts of these calls that are not set aside."""
        where = f"{self._those} AND set_aside_at IS NULL"
        rows = await self._run(f"SELECT {_COLUMNS} FROM {RECEIPT_TABLE} WHERE {where}", board_id, _dump(ids))  # noqa: S608
        return [ExternalReceipt(*row) for row in rows]

    async def void(self, board_id: str, ids: Sequence[str], now: str) -> None:
        """Insert void receipts for calls without a receipt; wait for receipts that are being written."""
        await self._run(
            f"INSERT INTO {RECEIPT_TABLE} (board_id, id, writer, mac, written_at)"  # noqa: S608 -- our own names
            f" SELECT CAST($1 AS text), value, '', '', CAST($3 AS text) FROM {self._syntax.listed}"
            " WHERE true ORDER BY value ON CONFLICT (board_id, id) DO NOTHING",
            board_id,
            _dump(ids),
            now,
        )

    async def set_aside(self, board_id: str, ids: Sequence[str], now: str) -> None:
        """Mark receipts that the board did not write."""
        await self._run(
            f"UPDATE {RECEIPT_TABLE} SET set_aside_at = $3 WHERE {self._those}",  # noqa: S608 -- our own names
            board_id,
            _dump(ids),
            now,
        )

    async def remove(self, board_id: str, ids: Sequence[str]) -> None:
        """Remove the receipts of these calls."""
        await self._run(f"DELETE FROM {RECEIPT_TABLE} WHERE {self._those}", board_id, _dump(ids))  # noqa: S608

    async def remove_void(self, board_id: str, before: str) -> None:
        """Remove the void receipts of calls with an id below `before`."""
        where = f"board_id = $1 AND entry IS NULL AND id{self._syntax.collation} < $2"
        await self._run(f"DELETE FROM {RECEIPT_TABLE} WHERE {where}", board_id, before)  # noqa: S608

    @property
    def _those(self) -> str:
        return f"board_id = $1 AND id IN (SELECT value FROM {self._syntax.listed})"  # noqa: S608 -- our own names

    async def _exists(self) -> bool:
        try:
            await self._run(f"SELECT 1 FROM {RECEIPT_TABLE} LIMIT 0")  # noqa: S608 -- our own name
        except InsertFault as fault:
            if fault.sqlstate == _NO_SUCH_TABLE:
                return False
            if fault.sqlstate is None or fault.retry_after_ms is not None:
                raise
            raise TableUnusable("receipts_unusable", self._explain(fault)) from None
        return True

    def _explain(self, fault: InsertFault) -> str:
        return (
            f"The table '{RECEIPT_TABLE}', which `receipts` needs in {self.name}, cannot be created or used:"
            f" {fault.message} ({fault.sqlstate}). Let a user with the rights run: {CREATE_STATEMENT}; and grant"
            " SELECT, INSERT, UPDATE and DELETE on it to the user of this URL; or remove `receipts` from the config"
        )

    async def _run(self, statement: str, *values: object) -> Sequence[Sequence[Any]]:
        # Numbered parameters are written ?1 for SQLite.
        return await self._run_statement(statement.replace("$", "?") if self._is_sqlite else statement, *values)


def _dump(ids: Collection[str]) -> str:
    return orjson.dumps(list(ids)).decode()
